"""Run folders: what is written is read back, whole or not at all."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askew.errors import RunError
from askew.records import (
    Assignment,
    AttackCategory,
    ContextCondition,
    Item,
    Outcome,
    Provenance,
    Scenario,
    Score,
)
from askew.runfolder import Question, RunFolder, item_from_json, json_text, whole_file

TEXT = st.text(st.characters(codec="utf-8"), max_size=20)
ITEMS = st.builds(
    Item,
    id=TEXT,
    source=TEXT,
    bias_type=TEXT,
    context=TEXT,
    question=TEXT,
    options=st.tuples(TEXT, TEXT, TEXT),
    neutral=st.integers(0, 2),
    answer=st.integers(0, 2),
    condition=st.sampled_from(ContextCondition),
    provenance=st.builds(Provenance, TEXT, st.integers(0, 9), TEXT),
    stereotyped=st.none() | st.integers(0, 2),
    polarity=st.sampled_from([None, "negative", "nonnegative"]),
    assigned=st.none() | st.builds(Assignment, st.sampled_from(AttackCategory), st.integers(0, 9)),
    text_attacks=st.dictionaries(TEXT, TEXT, max_size=2),
)


@given(ITEMS)
def test_an_item_comes_back_as_it_was(item):
    from dataclasses import asdict

    assert item_from_json(json.loads(json.dumps(asdict(item), ensure_ascii=False))) == item


def item(name: str) -> Item:
    return Item(
        id=name,
        source="made up",
        bias_type="age",
        context="",
        question="Who?",
        options=("a", "b", "c"),
        neutral=2,
        answer=2,
        condition=ContextCondition.AMBIGUOUS,
        provenance=Provenance("here", 1),
    )


def folder(tmp_path: Path) -> RunFolder:
    made = RunFolder.create(tmp_path / "run")
    dan = Scenario(AttackCategory.COMPETING_OBJECTIVES, "dan")
    questions = [
        Question("i", "source", (0, 1, 2), "k1"),
        Question("i", "attacked", (2, 1, 0), "k2", dan, replicate=1),
    ]
    made.write_questions([item("i")], questions)
    return made


def test_questions_and_scores_come_back_in_order(tmp_path):
    made = folder(tmp_path)
    second = made.read_questions()[1]
    assert second.scenario == Scenario(AttackCategory.COMPETING_OBJECTIVES, "dan")
    score = Score(
        "i", "attacked", Outcome.REFUSED, None, None, "rule", (2, 1, 0), second.scenario, 1
    )
    made.write_scores([None, score])
    assert made.read_scores() == [None, score]


def test_undefined_figures_are_null_and_never_zero(tmp_path):
    made = folder(tmp_path)
    made.write_estimates({"value": math.nan, "deep": [{"upper": math.inf}]})
    assert made.read_estimates() == {"value": None, "deep": [{"upper": None}]}
    assert "NaN" not in made.estimates.read_text(encoding="utf-8")


def test_the_manifest_tells_a_changed_and_a_missing_file(tmp_path):
    made = folder(tmp_path)
    made.write_estimates({"a": 1})
    made.report.write_text("page", encoding="utf-8")
    made.write_manifest()
    assert made.verify() == []
    made.estimates.write_text("{}", encoding="utf-8")
    made.report.unlink()
    assert made.verify() == [
        "estimates.json: changed since the run ended",
        "report.html: missing",
    ]


def test_a_folder_that_is_no_run_is_refused(tmp_path):
    with pytest.raises(RunError, match=r"not a run folder"):
        RunFolder.open(tmp_path)


def test_a_run_without_figures_says_how_to_get_them(tmp_path):
    with pytest.raises(RunError, match="askew score"):
        folder(tmp_path).read_estimates()


@given(st.dictionaries(TEXT, st.floats() | TEXT))
def test_json_is_valid_for_every_parser(values):
    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    json.loads(json_text(values), parse_constant=refuse)


def test_half_a_surrogate_pair_is_kept(tmp_path):
    made = RunFolder.create(tmp_path / "run")
    written = replace(item("i"), context="half \ud83d")
    made.write_questions([written], [])
    assert made.read_items()["i"] == written
    made.write_estimates({"half": "\ud83d"})
    assert made.read_estimates() == {"half": "\ud83d"}


def test_a_folder_that_cannot_be_made_says_so(tmp_path):
    file = tmp_path / "file"
    file.touch()
    for path in (file, file / "below"):
        with pytest.raises(RunError, match="--out"):
            RunFolder.create(path)


def test_a_damaged_database_is_said_to_be_damaged(tmp_path):
    (tmp_path / "run.sqlite").write_text("no database " * 99, encoding="utf-8")
    with pytest.raises(RunError, match=r"run\.sqlite"):
        RunFolder.open(tmp_path).read_items()


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path):
    path = tmp_path / "file.txt"
    path.write_text("before", encoding="utf-8")

    def stop_half_way() -> None:
        with whole_file(path) as part:
            part.write_text("half", encoding="utf-8")
            raise ValueError("half way")

    with pytest.raises(ValueError, match="half way"):
        stop_half_way()
    assert path.read_text(encoding="utf-8") == "before"
    assert list(tmp_path.iterdir()) == [path]
