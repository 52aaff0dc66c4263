"""Reading gold triplets: what is there, and what is refused with file, line, field and mend."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from askew.datasets.gold_triplets import read_gold
from askew.errors import DataError
from askew.vignettes import Relation, Span, Status

ROW = {
    "id": "one",
    "source": "own",
    "tags": ["family_history"],
    "text": "A 6-month-old boy. His aunt has asthma.",
    "triplets": [
        {
            "h": "patient",
            "r": "has_age",
            "t": 6,
            "unit": "month",
            "qualifier": "exact",
            "status": "present",
            "span": [2, 13],
            "evidence": "6-month-old",
        },
        {
            "h": "patient",
            "r": "family_history",
            "t": "asthma",
            "relative": "aunt",
            "relative_lenient": True,
            "status": "present",
            "status_lenient": True,
            "optional": True,
            "alt": ["bronchial asthma"],
            "r_alt": ["has_condition"],
        },
    ],
    "perturb": {
        "impossible_gender": [],
        "impossible_age": ["20-35"],
        "implausible_age": ["1-10"],
        "reason": "an infant",
    },
}


def write(folder: Path, *rows: object) -> Path:
    path = folder / "gold.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_a_record_is_read_whole(tmp_path):
    (record,) = read_gold(write(tmp_path, ROW))
    age, asthma = record.triplets
    assert (record.id, record.tags, record.reason) == ("one", ("family_history",), "an infant")
    assert (age.value, age.unit, age.span) == (6, "month", Span(2, 13))
    assert asthma.relation is Relation.FAMILY_HISTORY
    assert asthma.status is Status.PRESENT
    assert asthma.alternatives == ("bronchial asthma",)
    assert (asthma.relative, asthma.any_relative, asthma.any_status) == ("aunt", True, True)
    assert (asthma.optional, asthma.other_relations) == (True, (Relation.HAS_CONDITION,))
    assert record.impossible == {"age": ("20-35",)}
    assert record.odd == {"age": ("1-10",)}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"r": "has_pet"}, r"gold\.jsonl:2: field 'triplets\[0\]\.r' is 'has_pet', expected"),
        ({"status": "gone"}, r"triplets\[0\]\.status"),
        ({"t": "six"}, r"triplets\[0\]\.t' is 'six', expected a whole number"),
        ({"unit": "moons"}, r"triplets\[0\]\.unit"),
        ({"span": [2, "x"]}, r"triplets\[0\]\.span"),
        ({"evidence": "7-month-old"}, r"expected the text at its span, '6-month-old'"),
    ],
)
def test_a_bad_field_is_named_with_its_line(tmp_path, change, message):
    bad = {**ROW, "id": "two", "triplets": [{**ROW["triplets"][0], **change}]}
    with pytest.raises(DataError, match=message):
        read_gold(write(tmp_path, ROW, bad))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({**ROW, "text": ""}, "field 'text'"),
        ({**ROW, "triplets": "none"}, "field 'triplets'"),
        ({**ROW, "triplets": [7]}, r"field 'triplets\[0\]'"),
        ({**ROW, "perturb": 3}, "field 'perturb'"),
    ],
)
def test_a_record_of_another_form_is_refused(tmp_path, row, message):
    with pytest.raises(DataError, match=message):
        read_gold(write(tmp_path, row))


def test_two_records_of_one_id_are_refused(tmp_path):
    with pytest.raises(DataError, match=r"gold\.jsonl:2: field 'id'"):
        read_gold(write(tmp_path, ROW, ROW))


def test_a_line_that_is_no_json_is_refused(tmp_path):
    path = write(tmp_path, ROW)
    path.write_text(path.read_text() + "{broken\n")
    with pytest.raises(DataError, match=r"gold\.jsonl:2"):
        read_gold(path)


def test_an_empty_file_is_refused(tmp_path):
    with pytest.raises(DataError, match="no gold records"):
        read_gold(write(tmp_path))


@pytest.mark.skipif("ASKEW_DATA" not in os.environ, reason="ASKEW_DATA is not set: no gold")
def test_the_development_half_holds_what_its_readme_says():
    records = read_gold(Path(os.environ["ASKEW_DATA"]) / "medkg_gold" / "dev.jsonl")
    triplets = [triplet for record in records for triplet in record.triplets]
    assert len(records) == 30
    assert len(triplets) == 208
    assert sum(not triplet.optional for triplet in triplets) == 199


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"tags": 7}, "tags"),
        ({"source": ["x"]}, "source"),
        ({"perturb": {"reason": 7}}, "perturb.reason"),
        ({"perturb": {"impossible_gender": "male"}}, "perturb.impossible_gender"),
        ({"triplets": [{"range": "ab"}]}, "range"),
        ({"triplets": [{"range": [1]}]}, "range"),
        ({"triplets": [{"alt": [7]}]}, "alt"),
        ({"triplets": [{"optional": "no"}]}, "optional"),
        ({"triplets": [{"qualifier": "about"}]}, "qualifier"),
        ({"triplets": [{"relative": 7}]}, "relative"),
        ({"triplets": [{"span": [-3, 2]}]}, "span"),
        ({"triplets": [{"span": [5, 2]}]}, "span"),
        ({"triplets": [{"span": [0, 10**9]}]}, "span"),
        ({"triplets": [{"status": {}}]}, "status"),
    ],
)
def test_a_field_of_another_kind_is_named(tmp_path, change, field):
    fact = {"r": "has_symptom", "t": "cough", "status": "present"}
    triplets = [{**fact, **one} for one in change.get("triplets", [])]
    row = {"id": "a", "text": "A cough.", **change, "triplets": triplets}
    path = tmp_path / "gold.jsonl"
    path.write_text(json.dumps(row) + "\n")
    with pytest.raises(DataError, match=rf"gold\.jsonl:1: field '(triplets\[0\]\.)?{field}'"):
        read_gold(path)
