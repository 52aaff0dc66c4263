"""The vignettes of Zack et al.: slots, references, twins, and files that are not as published."""

from __future__ import annotations

import csv
import re
from itertools import product

import pytest

from askew.datasets.vignettes import DataSpec, load
from askew.datasets.zack import fill_slots
from askew.errors import ConfigError, DataError

NURSE = ("case", "gender", "race", "text", "system", "prompt", "options")
LIKERT = ("1. Disagree", "2. Neutral", "3. Agree")
WORDS = {"M": ("man", "his"), "F": ("woman", "her")}
RACES = ("caucasian", "african-american", "hispanic", "asian")


def nurse_row(gender, race, case="Case #1", ask="Statement: This patient needs rest.", more=""):
    noun, pronoun = WORDS[gender]
    text = f"A 48-year-old {race} {noun} has pain in {pronoun} arm.{more}"
    prompt = f"Situation: {text}\n\n{ask}\n" + "\n".join(LIKERT) + "\n\nFirst, think."
    return (case, gender, race, text, "Rate it.", prompt, repr(list(LIKERT)))


def written(path, columns, rows):
    with path.open("w", newline="", encoding="utf-8-sig") as out:
        csv.writer(out).writerows([columns, *rows])
    return path


@pytest.fixture
def nurse_file(tmp_path):
    def make(rows):
        return written(tmp_path / "nurses.csv", NURSE, rows)

    return make


def cells(**changes):
    return [nurse_row(gender, race, **changes) for gender, race in product("MF", RACES)]


def test_eight_rows_of_a_question_are_one_vignette_with_eight_twins(nurse_file):
    other = "Question: What would you do?"
    loaded = load(DataSpec("zack_nurse", nurse_file([*cells(), *cells(ask=other)])))
    first, second = loaded.vignettes
    assert (first.id, second.id) == ("zack_nurse/case-1-q1", "zack_nurse/case-1-q2")
    assert first.text == "A 48-year-old caucasian man has pain in his arm."
    assert first.question == "How far do you agree with this statement? This patient needs rest."
    assert second.question == "What would you do?"
    assert first.options == ("Disagree", "Neutral", "Agree")
    assert first.answer is None
    levels = [(twin.levels["gender"], twin.levels["race"]) for twin in first.given]
    assert levels == list(product(("male", "female"), ("White", "Black", "Hispanic", "Asian")))
    assert "woman" in first.given[-1].text
    assert "asian" in first.given[-1].text
    assert [p.kind for p in loaded.problems] == ["note"]  # not the published version


def test_a_missing_a_repeated_and_a_contradicting_patient_are_told(nurse_file):
    rows = cells()
    contradicting = nurse_row("M", "asian", more=" He sings.")
    loaded = load(
        DataSpec("zack_nurse", nurse_file([*rows[:7], rows[0], contradicting])), lenient=True
    )
    (vignette,) = loaded.vignettes
    assert len(vignette.given) == 7
    kinds = [p.kind for p in loaded.problems[1:]]
    assert kinds == ["duplicate", "rejected", "note"]
    assert "other text than line" in loaded.rejected[0].message
    assert "7 of 8 patients" in loaded.problems[-1].message


def test_twins_that_differ_in_more_than_gender_and_race_are_noted(nurse_file):
    rows = cells()
    rows[3] = nurse_row("M", "asian", more=" Anxious.")
    loaded = load(DataSpec("zack_nurse", nurse_file(rows)))
    assert "more than gender and race: anxious" in loaded.problems[-1].message


@pytest.mark.parametrize(
    ("place", "value", "field", "message"),
    [
        (1, "X", "gender", "expected m, f"),
        (2, "martian", "race", "expected caucasian"),
        (3, "Another text.", "prompt", "does not hold the text"),
        (6, "agree", "options", "expected a list"),
        (6, "['1. Disagree', '2. Agree']", "options", "other options than line"),
    ],
)
def test_a_row_that_cannot_be_used_is_named(place, value, field, message, nurse_file):
    rows = cells()
    row = list(rows[-1])
    row[place] = value
    path = nurse_file([*rows[:-1], row])
    with pytest.raises(DataError, match=rf"record 'Case #1': field '{field}': .*{message}"):
        load(DataSpec("zack_nurse", path))
    assert len(load(DataSpec("zack_nurse", path), lenient=True).vignettes[0].given) == 7


CASES = ("title", "Case one liner", "DDx", "", "")
CASE = (
    "Chest pain - 11",
    "An @Race @Sex  presents with pain in his back. ",
    "Reflux,\nPanic,",
    "",
    "",
)


def test_a_case_is_neutral_with_eight_filled_twins_and_a_reference_in_order(tmp_path):
    file = written(tmp_path / "ED_cases.csv", CASES, [CASE])
    (vignette,) = load(DataSpec("zack_cases", file)).vignettes
    assert vignette.id == "zack_cases/ed_cases-chest-pain-11"
    assert vignette.text == "A patient presents with pain in their back."
    assert vignette.reference == ("Reflux", "Panic")
    texts = {tuple(twin.levels.values()): twin.text for twin in vignette.given}
    assert len(texts) == 8
    assert texts["female", "Asian"] == "An Asian female presents with pain in her back."
    assert texts["male", "White"] == "A Caucasian male presents with pain in his back."


@pytest.mark.parametrize(
    ("reference", "read"),
    [
        ("A,\nB (c, d)\nE,\n", ("A", "B (c, d)", "E")),
        ("A, B, E", ("A", "B", "E")),
        ("A,\r\n\r\nB", ("A", "B")),
    ],
)
def test_a_reference_is_read_with_and_without_its_commas(reference, read, tmp_path):
    rows = [("One 1", "A 40-year-old @Race @Sex coughs.", reference)]
    file = written(tmp_path / "pharyngitis.csv", ("Case", "one line", "DDx"), rows)
    assert load(DataSpec("zack_cases", file)).vignettes[0].reference == read


def test_slots_leave_no_trace_and_change_nothing_else():
    line = "A 54- year- old obese @Race @Sex  with HIV, @ home , coughs."
    filled = fill_slots(line, None, None)
    assert filled == "A 54-year-old obese patient with HIV, @ home, coughs."


def test_a_case_without_slots_or_without_a_reference_is_named(tmp_path):
    rows = [("A 1", "A 40-year-old man coughs.", "Flu"), ("B 2", "A @Race @Sex coughs.", " ,\n, ")]
    file = written(tmp_path / "cases.csv", ("title", "Case one liner", "DDx"), rows)
    loaded = load(DataSpec("zack_cases", file), lenient=True)
    assert loaded.vignettes == ()
    assert [p.field for p in loaded.rejected] == ["text", "DDx"]


def test_an_unknown_part_is_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"no part 'cats'.*cases, cad"):
        load(DataSpec("zack_cases", tmp_path, {"parts": "cats"}))


def test_a_folder_that_lacks_a_file_says_which(tmp_path):
    written(tmp_path / "ED_cases.csv", CASES, [CASE])
    loaded = load(DataSpec("zack_cases", tmp_path))
    lacking = [p.message for p in loaded.problems if "left out" in p.message]
    assert [m.split(":")[0] for m in lacking] == [
        "holds no Outpt_chest_pain.csv",
        "holds no Outpt_dyspnea.csv",
        "holds no pharyngitis.csv",
    ]


def test_the_published_nurse_items(data_folder):
    loaded = load(DataSpec("zack_nurse", data_folder))
    assert len(loaded.vignettes) == 24
    assert sum(len(v.given) for v in loaded.vignettes) == 192
    assert {len(v.options) for v in loaded.vignettes} == {2, 4, 5}
    assert all("man" in v.text and v.answer is None for v in loaded.vignettes)
    assert not any(re.match(r"\d|[a-d]\)", o) for v in loaded.vignettes for o in v.options)
    # In case 2 the men's texts hold words that were broken at line ends, the women's do not.
    (note,) = loaded.problems
    assert note.record == "Case #2"


def test_the_published_cases(data_folder):
    loaded = load(DataSpec("zack_cases", data_folder))
    assert len(loaded.vignettes) == 21
    assert loaded.problems == ()
    assert len(loaded.checksums) == 4
    for vignette in loaded.vignettes:
        for text in (vignette.text, *(twin.text for twin in vignette.given)):
            assert "@" not in text
            assert "  " not in text
            assert re.match(r"(A|An) \d+-year-old ", text)
        assert not re.search(r"\b(he|she|his|her|him|man|woman|fe?male)\b", vignette.text)
        assert 4 <= len(vignette.reference) <= 11
        assert not any(part.endswith(",") or "\n" in part for part in vignette.reference)


def test_the_published_cad_vignette_is_read_on_request(data_folder):
    loaded = load(DataSpec("zack_cases", data_folder, {"parts": ["cad"]}))
    (vignette,) = loaded.vignettes
    assert [dict(twin.levels) for twin in vignette.given] == [
        {"gender": "male"},
        {"gender": "female"},
    ]
    assert "referred by his" in vignette.text
    assert "referred by her" in vignette.given[1].text


def test_a_clone_of_the_repository_is_a_folder_too(tmp_path):
    nested = tmp_path / "data_to_share" / "healer_cases" / "ED_cases"
    nested.mkdir(parents=True)
    written(nested / "ED_cases.csv", CASES, [CASE])
    prompts = tmp_path / "data_to_share" / "prompts"
    prompts.mkdir()
    for gender, pronoun in (("male", "He"), ("female", "She")):
        (prompts / f"CAD_vignette_1_{gender}.txt").write_bytes(f"{pronoun} tires.\r\n".encode())
    loaded = load(DataSpec("zack_cases", tmp_path, {"parts": ["cases", "cad"]}))
    assert [v.id for v in loaded.vignettes] == [
        "zack_cases/ed_cases-chest-pain-11",
        "zack_cases/cad-1",
    ]
    assert [twin.text for twin in loaded.vignettes[1].given] == ["He tires.", "She tires."]
    assert sorted(loaded.checksums) == [
        "data_to_share/healer_cases/ED_cases/ED_cases.csv",
        "data_to_share/prompts/CAD_vignette_1_female.txt",
        "data_to_share/prompts/CAD_vignette_1_male.txt",
    ]
