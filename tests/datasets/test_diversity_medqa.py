"""DiversityMedQA's gender pairs: which side is the text, and which rows cannot be used."""

from __future__ import annotations

import csv
import gzip

import pytest

from askew.datasets.vignettes import DataSpec, load

COLUMNS = ("male_sentence", "female_sentence", "options", "correct_option")
GOOD = ("A man coughs. Why?", "A woman coughs. Why?", "['Flu', \"Cold\", 'Asthma']", "2")


def written(path, *rows):
    with path.open("w", newline="", encoding="utf-8") as out:
        csv.writer(out).writerows([COLUMNS, *rows])
    return path


def test_a_row_is_one_vignette_with_both_sides_as_twins(tmp_path):
    file = written(tmp_path / "pairs.csv", GOOD)
    (vignette,) = load(DataSpec("diversity_medqa", file)).vignettes
    assert vignette.id == "diversity_medqa/0"
    assert vignette.text == "A man coughs. Why?"
    assert vignette.options == ("Flu", "Cold", "Asthma")
    assert vignette.answer == 2
    assert [dict(twin.levels) for twin in vignette.given] == [
        {"gender": "male"},
        {"gender": "female"},
    ]
    assert vignette.given[0].text == vignette.text
    assert vignette.given[1].text == "A woman coughs. Why?"
    assert vignette.relevance == {"gender": "not_relevant"}


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("female_sentence", "", "is empty"),
        ("female_sentence", GOOD[0], "nothing is swapped"),
        ("options", "Flu, Cold", "expected a list such as"),
        ("options", "['Flu']", "two texts or more"),
        ("options", "['Flu', 'flu.']", "same text"),
        ("options", "['Flu', 3]", "list of texts"),
        ("options", "[" * 5000, "expected a list"),
        ("correct_option", "3", "expected 0 to 2"),
        ("correct_option", "-1", "expected 0 to 2"),
        ("correct_option", "b", "whole number"),
    ],
)
def test_a_row_that_cannot_be_used_is_named_and_costs_no_other(column, value, message, tmp_path):
    bad = dict(zip(COLUMNS, GOOD, strict=True)) | {column: value}
    file = written(tmp_path / "pairs.csv", tuple(bad.values()), GOOD)
    loaded = load(DataSpec("diversity_medqa", file), lenient=True)
    assert [v.id for v in loaded.vignettes] == ["diversity_medqa/1"]
    (problem,) = loaded.rejected
    assert problem.line == 2
    assert message in problem.message


def test_the_published_pairs(data_folder, tmp_path):
    loaded = load(DataSpec("diversity_medqa", data_folder))
    assert len(loaded.vignettes) == 930
    assert loaded.problems == ()
    assert all(len(v.options) == 5 and v.answer is not None for v in loaded.vignettes)
    packed = data_folder / "diversity_medqa" / "diversity_med_qa_extracted.csv.gz"
    plain = tmp_path / "diversity_med_qa_extracted.csv"
    plain.write_bytes(gzip.decompress(packed.read_bytes()))
    again = load(DataSpec("diversity_medqa", tmp_path))
    assert again.problems == ()  # the checksum is that of the text, packed or not
    assert [v.text for v in again.vignettes] == [v.text for v in loaded.vignettes]
