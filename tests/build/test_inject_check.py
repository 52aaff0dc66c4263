"""The check of the pairs by people: a blind sample out, verdicts in."""

from __future__ import annotations

import csv
import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askew.build.inject_check import COLUMNS, KEY, LINES, SHEET, draw, read_check, write_check
from askew.build.inject_pairs import TopicPair
from askew.errors import DataError


def pair(number, slant="left", answer=None):
    return TopicPair(
        number, number, f"T{number}", slant, f"Q{number}?", answer or f"A{number}.", "t"
    )


PAIRS = {
    "one": [pair(n) for n in range(6)] + [pair(n, "neutral") for n in range(6, 10)],
    "two": [pair(n, "right", f"B{n}.") for n in range(6)] + [pair(6, "neutral")],
}


@pytest.fixture
def folder(tmp_path):
    write_check(tmp_path, draw(PAIRS, 300, seed=0))
    return tmp_path / "check"


def fill(folder, verdict, name="filled.csv"):
    """A rater's sheet: `verdict` says what goes under `flagged`, by the pair's slant."""
    slants = {one["id"]: one["slant"] for one in json.loads((folder / KEY).read_text())["pairs"]}
    rows = list(csv.DictReader((folder / SHEET).read_text().splitlines()))
    path = folder / name
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        for place, row in enumerate(rows):
            writer.writerow({**row, "flagged": verdict(slants[row["id"]], place)})
    return path


def test_the_sheet_is_blind_and_the_key_knows(folder):
    shown = (folder / SHEET).read_text() + (folder / LINES).read_text()
    for word in ("left", "right", "neutral", "one", "two"):
        assert word not in shown
    key = json.loads((folder / KEY).read_text())
    assert (
        len(key["pairs"]) == key["drawn_from"] == 16
    )  # the neutral one of both models is drawn once
    slants = [one["slant"] for one in key["pairs"]]
    assert slants != sorted(slants)


@given(st.integers(1, 30), st.integers(0, 5))
@settings(deadline=None)
def test_a_sample_is_drawn_without_repeats_and_the_same_again(most, seed):
    drawn = draw(PAIRS, most, seed)
    assert len(drawn.pairs) == min(most, 16)
    assert len({(one.question, one.answer) for _, one in drawn.pairs}) == len(drawn.pairs)
    assert drawn == draw(PAIRS, most, seed)


def test_shares_are_those_of_the_flags(folder):
    sheet = fill(folder, lambda slant, place: "no" if slant == "neutral" else "yes")
    found = read_check(folder / KEY, [sheet])
    assert (found.slanted.value, found.neutral.value) == (1.0, 0.0)
    assert found.flagged.value == pytest.approx(12 / 16)
    assert found.flagged.lower < 12 / 16 < found.flagged.upper
    assert (found.raters, found.unanswered, found.undecided) == (1, 0, 0)
    assert math.isnan(found.agreement)


def test_the_papers_own_count_has_its_interval(tmp_path):
    pairs = {"m": [pair(n) for n in range(300)]}
    write_check(tmp_path, draw(pairs, 300, 0))
    sheet = fill(tmp_path / "check", lambda slant, place: "yes" if place < 11 else "no")
    found = read_check(tmp_path / "check" / KEY, [sheet])
    assert found.flagged.value == pytest.approx(0.0367, abs=1e-4)
    assert (round(found.flagged.lower, 3), round(found.flagged.upper, 3)) == (0.021, 0.064)
    assert math.isnan(found.neutral.value)


def test_the_majority_decides_and_ties_count_for_nothing(folder):
    sheets = [
        fill(folder, lambda slant, place: "yes", "a.csv"),
        fill(folder, lambda slant, place: "yes" if place < 4 else "", "b.csv"),
        fill(folder, lambda slant, place: "no" if place < 8 else "", "c.csv"),
    ]
    found = read_check(folder / KEY, sheets)
    assert found.raters == 3
    assert found.undecided == 4  # yes against no
    assert found.flagged.n == 12
    assert found.flagged.value == 1.0
    assert found.agreement == pytest.approx((4 * (1 / 3) + 4 * 0) / 8)


def test_json_lines_and_spreadsheets_with_semicolons_are_read(folder):
    lines = [json.loads(line) for line in (folder / LINES).read_text().splitlines()]
    path = folder / "filled.jsonl"
    path.write_text("\n".join(json.dumps({**one, "flagged": True}) for one in lines) + "\n\n")
    assert read_check(folder / KEY, [path]).flagged.value == 1.0
    semicolons = folder / "de.csv"
    body = "\n".join(f"{one['id']};YES" for one in lines)
    semicolons.write_text("\ufeffid;flagged\n" + body + "\n", encoding="utf-8")
    assert read_check(folder / KEY, [semicolons]).flagged.n == 16


def test_a_sheet_that_is_being_filled_in_is_not_written_over(folder):
    fill(folder, lambda slant, place: "yes", SHEET)
    write_check(folder.parent, draw(PAIRS, 300, seed=0))
    assert read_check(folder / KEY, [folder / SHEET]).flagged.value == 1.0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("id,flagged\nP99,yes\n", "line|P99"),
        ("id,flagged\nP01,perhaps\n", "'perhaps', expected yes, no"),
        ("id,flagged\nP01,yes\nP01,no\n", "each id once"),
        ("id,remark\nP01,yes\n", "no column 'flagged'"),
        ("", "no column 'id'"),
        ("id,flagged\nP01,\n", "no pair has a verdict"),
        ('{"id": 3}\n', "an object with an id"),
        ("{]\n", "not JSON"),
    ],
)
def test_sheets_that_cannot_be_read_name_the_mend(text, words, folder):
    path = folder / "bad"
    path.write_text(text)
    with pytest.raises(DataError, match=words):
        read_check(folder / KEY, [path])


def test_keys_that_are_none_are_named(folder, tmp_path):
    for text in ("{", "[]", "{}", '{"format": "askew injection check 1", "pairs": []}'):
        (tmp_path / "k.json").write_text(text)
        with pytest.raises(DataError, match=r"key\.json that was written"):
            read_check(tmp_path / "k.json", [folder / SHEET])
    with pytest.raises(DataError, match="cannot be read"):
        read_check(tmp_path / "gone.json", [folder / SHEET])
    (folder / "latin.csv").write_bytes(b"id,flagged\nP01,\xff\n")
    with pytest.raises(DataError, match="not UTF-8"):
        read_check(folder / KEY, [folder / "latin.csv"])
    with pytest.raises(DataError, match="no sheet"):
        read_check(folder / KEY, [])
    with pytest.raises(DataError, match="no pairs to draw"):
        draw({}, 3, 0)
