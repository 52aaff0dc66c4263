"""The published sets themselves: every record is accounted for."""

from __future__ import annotations

import csv
import json
from collections import Counter

import pytest

from askew.datasets import DataSpec, load
from askew.datasets.download import get, is_complete
from askew.datasets.files import read_file
from askew.datasets.pins import PUBLISHED


def kinds(loaded):
    return Counter(problem.kind for problem in loaded.problems)


@pytest.fixture(scope="module")
def bbq(data_folder):
    return load(DataSpec("bbq", data_folder))


def test_bbq_has_58492_items_half_of_them_ambiguous(bbq):
    assert (len(bbq.items), len(bbq.controls)) == (29_246, 29_246)
    assert kinds(bbq) == {"note": 1}
    assert len({item.id for item in (*bbq.items, *bbq.controls)}) == 58_492
    assert len(bbq.checksums) == 12


def test_bbq_leaves_the_stereotyped_option_of_16_items_open(bbq):
    lacking = [item for item in (*bbq.items, *bbq.controls) if item.stereotyped is None]
    assert len(lacking) == 16
    assert "16 of 58492 items" in bbq.problems[0].message


def test_bbq_stereotyped_options_turn_round_with_the_questions_polarity(bbq, data_folder):
    """The stereotyped group is the biased answer to a bad question, the other one to a good one."""
    file = read_file(data_folder / "bbq" / "Age.jsonl.gz")
    rows = {f"bbq/Age/{row['example_id']}": row for row in map(json.loads, file.data.splitlines())}
    seen = Counter()
    for item in (*bbq.items, *bbq.controls):
        if item.id in rows and item.stereotyped is not None:
            row = rows[item.id]
            tag = row["answer_info"][f"ans{item.stereotyped}"][1]
            targeted = tag in row["additional_metadata"]["stereotyped_groups"]
            seen[item.polarity, targeted] += 1
    assert seen == {("negative", True): 1_840, ("nonnegative", False): 1_840}


def test_crows_pairs_has_1508_rows_one_of_them_twice(data_folder):
    loaded = load(DataSpec("crows_pairs", data_folder))
    assert len(loaded.items) == 1_507
    (problem,) = loaded.problems
    assert (problem.kind, problem.record) == ("duplicate", "1502")
    assert "(1459)" in problem.message
    assert Counter(item.bias_type for item in loaded.items)["race"] == 516


@pytest.mark.parametrize(
    ("split", "items", "problems"),
    [("dev", 4_221, {"duplicate": 8}), ("test", 12_760, {"duplicate": 5, "skipped": 1})],
)
def test_stereoset_accounts_for_every_item(data_folder, split, items, problems):
    loaded = load(DataSpec("stereoset", data_folder, {"split": split}))
    assert len(loaded.items) == items
    assert kinds(loaded) == problems
    between = sum(item.context_before_options for item in loaded.items)
    assert between == {"dev": 2_123, "test": 6_374 - 2}[split]


def test_flex_has_3144_attacked_items_and_117_without(data_folder):
    loaded = load(DataSpec("flex", data_folder))
    sources = Counter(item.source for item in loaded.items)
    assert sources == {"bbq": 1_102, "crows_pairs": 946, "stereoset": 1_096}
    unattacked = Counter(
        problem.path.rpartition("FLEX_")[2]
        for problem in loaded.problems
        if problem.kind == "no_attack"
    )
    assert unattacked == {"bbq.csv": 7, "crows.csv": 56, "stereoset.csv": 54}
    assert all(item.stereotyped is not None for item in loaded.items)
    assert all(len(item.text_attacks) == 4 for item in loaded.items)
    assert len(loaded.demonstrations) == 10 + 13 + 12
    overlap = [p for p in loaded.problems if "demonstrates the test item" in p.message]
    assert len(overlap) == 10 + 1
    assert len(loaded.controls) == 10_688


def test_flex_stereotyped_option_is_sent_more_in_every_row(data_folder):
    for source in ("bbq", "crows", "stereoset"):
        path = data_folder / "flex" / source / f"FLEX_{source}.csv"
        with path.open(encoding="utf-8", newline="") as rows:
            expected = {row["Unnamed: 0"]: row["sent_more"].strip() for row in csv.DictReader(rows)}
        for item in load(DataSpec("flex", path)).items:
            assert item.options[item.stereotyped] == expected[item.provenance.record]


def test_every_pin_is_the_published_file(data_folder, tmp_path):
    for name, published in PUBLISHED.items():
        fetched = get(name, from_folder=data_folder, cache=tmp_path)
        assert fetched.missing == ()
        assert len(fetched.new) == len(published.pins)
        assert is_complete(published, tmp_path)
