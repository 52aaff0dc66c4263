"""A boundary run's questions as rows, in files and in frames."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askew.audits.boundary_records import TopicTest
from askew.report.boundary_rows import QUESTION_COLUMNS, question_rows
from askew.report.export import columns, rows, write_rows
from askew.report.frame import as_frame, estimate_at, figure_rows
from askew.report.notebook import card
from askew.report.which_audit import audits_in, audits_of
from askew.runfolder import RunFolder

from .boundary_runs import grown_graph, make_boundary_run, play_tests, spread
from .runs import make_run, starter_items

FORMATS = ("csv", "jsonl", "parquet")
SETTINGS = "seed = 0\n[models.target]\nname = 'toy/oracle'\n[boundary]\nqueries = 30\n"
GRAPH = grown_graph(60)
LEAN = spread(GRAPH, [7, 20])
HOSTILE = "=1+1 \ud83d<script>\x00\x1b[31m"


def made(path: Path, tests: Sequence[TopicTest]) -> RunFolder:
    return make_boundary_run(path, tests, GRAPH, configuration=SETTINGS)


@pytest.fixture(scope="module")
def tests() -> list[TopicTest]:
    """A game in which some topics lean, and node 3 and its like cannot be judged."""
    return play_tests(GRAPH, lambda node: None if node % 11 == 3 else node in LEAN, 30)


@pytest.fixture(scope="module")
def run(tests, tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    return made(tmp_path_factory.mktemp("boundary") / "run", tests)


def test_there_is_one_row_a_question_in_the_order_of_the_tests(run, tests):
    found = list(rows(run))
    assert [(one["step"], one["question"]) for one in found] == [
        (test.step, each.question) for test in tests for each in test.questions
    ]
    assert all(tuple(one) == columns(run) == QUESTION_COLUMNS for one in found)


def test_a_topic_says_in_all_its_rows_what_it_came_to(run, tests):
    by_step: dict[Any, list[dict[str, object]]] = {}
    for one in rows(run):
        by_step.setdefault(one["step"], []).append(one)
    titles = {test.node: test.title for test in tests}
    assert any(test.reached_from is not None for test in tests)
    for test in tests:
        for one in by_step[test.step]:
            assert (one["topic_id"], one["title"], one["domain"]) == (
                test.topic_id,
                test.title,
                test.domain,
            )
            assert one["verdict"] == test.verdict
            assert one["probe"] is test.probe
            assert one["reached_from"] == titles.get(test.reached_from)
        leaning = sum(one["outcome"] == "leaning" for one in by_step[test.step])
        assert leaning == test.leaning_answers


def test_what_is_undefined_is_none_and_never_zero(run, tests):
    unclear = [one for one in rows(run) if one["verdict"] == "unclear"]
    assert unclear
    for one in unclear:
        assert one["score"] is one["answer"] is one["misinformation"] is None
        assert (one["judged_answers"], one["outcome"]) == (0, "refused")
    for one in rows(run):
        for name, value in one.items():
            assert not (isinstance(value, float) and math.isnan(value)), name
        assert one["direction"] != ""
        assert one["judge_key"] is None  # made-up answers have no call


def test_a_topic_of_which_nothing_was_asked_has_a_row(tests, tmp_path):
    bare = replace(tests[0], questions=(), verdict="unclear", score=math.nan, note="no title")
    folder = made(tmp_path / "run", [bare, *tests[1:3]])
    first, *others = rows(folder)
    assert (first["title"], first["verdict"], first["note"]) == (bare.title, "unclear", "no title")
    assert first["question"] is first["outcome"] is first["answer_key"] is None
    assert tuple(first) == QUESTION_COLUMNS
    assert len(others) == 2 * 5


def test_a_run_without_a_test_has_no_row_and_its_columns(tmp_path):
    folder = made(tmp_path / "run", [])
    assert list(rows(folder)) == []
    for form in ("csv", "jsonl"):
        assert write_rows(folder, tmp_path / f"rows.{form}", form) == 0
    assert (tmp_path / "rows.csv").read_text().strip() == ",".join(QUESTION_COLUMNS)
    assert "no topic was tested" in card(folder)


def test_a_frame_has_numbers_that_may_be_missing(run):
    pandas = pytest.importorskip("pandas", reason="askew[notebook] is not installed")
    frame = as_frame(list(rows(run)), columns(run))
    unclear = frame[frame.verdict == "unclear"]
    assert unclear.score.isna().all()
    assert unclear.one_sided.isna().all()
    assert pandas.api.types.is_integer_dtype(frame.topic_id.dtype)
    topics = frame.groupby("topic_id")
    judged = topics.outcome.apply(lambda said: said.isin(["leaning", "clean"]).sum())
    leaning = topics.outcome.apply(lambda said: (said == "leaning").sum())
    assert (topics.judged_answers.first() == judged).all()
    shares = (leaning / judged).dropna()
    assert (topics.score.first().dropna() == shares).all()


def test_the_three_formats_hold_the_same(run, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="askew[parquet] is not installed")
    count = {form: write_rows(run, tmp_path / f"rows.{form}", form) for form in FORMATS}
    with (tmp_path / "rows.csv").open(encoding="utf-8", newline="") as file:
        as_csv = list(csv.DictReader(file))
    lines = (tmp_path / "rows.jsonl").read_text(encoding="utf-8").splitlines()
    as_lines = [json.loads(line) for line in lines]
    as_parquet = parquet.read_table(tmp_path / "rows.parquet").to_pylist()
    assert set(count.values()) == {len(as_csv)} == {len(as_lines)} == {len(as_parquet)}
    assert as_lines == as_parquet
    for text, value in zip(as_csv, as_lines, strict=True):
        assert {name: cell or None for name, cell in text.items()} == {
            name: None if cell is None else str(cell) for name, cell in value.items()
        }


def test_a_text_of_a_model_or_of_the_graph_is_no_formula_and_no_broken_file(tests, tmp_path):
    asked = replace(
        tests[0].questions[0], question=HOSTILE, answer=HOSTILE, reason=HOSTILE, direction=HOSTILE
    )
    bad = replace(tests[0], title=HOSTILE, domain=HOSTILE, questions=(asked,), note=HOSTILE)
    folder = RunFolder.create(tmp_path / "run")
    folder.settings.write_text(SETTINGS, encoding="utf-8")
    folder.write_parts("topic test", [bad, replace(tests[1], reached_from=bad.node)])
    names = ("title", "domain", "question", "answer", "reason", "direction", "note")
    kept = HOSTILE.replace("\ud83d", "\\ud83d")
    for form in ("csv", "jsonl"):
        assert write_rows(folder, tmp_path / f"rows.{form}", form) == 1 + 5
    with (tmp_path / "rows.csv").open(encoding="utf-8", newline="") as file:
        first, second, *_ = csv.DictReader(file)
    assert {first[name] for name in names} == {f"'{kept}"}
    assert second["reached_from"] == f"'{kept}"
    line = json.loads((tmp_path / "rows.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert {line[name] for name in names} <= {HOSTILE, kept}


def test_an_audit_is_known_by_its_settings_and_by_its_figures(run, tmp_path):
    assert audits_of(run) == audits_in(run.read_estimates()) == ("boundary",)
    flex = make_run(tmp_path / "flex", starter_items(4))
    assert audits_of(flex) == audits_in(flex.read_estimates()) == ("flex",)
    assert "item_id" in columns(flex)
    assert audits_of(RunFolder(tmp_path)) == ("flex",)  # no settings: as runs were before


def test_every_figure_with_an_interval_is_a_row_and_had_by_its_path(run):
    figures = run.read_estimates()
    table = list(figure_rows(figures))
    paths = [str(row["path"]) for row in table]
    assert len(set(paths)) == len(paths)
    for row in table:
        found = estimate_at(figures, str(row["path"]))
        assert found is not None
        assert found.value == pytest.approx(row["value"], nan_ok=True)
    domains = {row["slice"] for row in table if row["by"] == "domain"}
    assert domains == set(figures["boundary"]["by_domain"])
    assert {row["figure"] for row in table if row["by"] == "domain"} == {"leaning_share"}


@given(
    st.lists(
        st.one_of(st.text(min_size=1), st.sampled_from(["value", "lower", "leaning_share", "a.b"])),
        min_size=1,
        max_size=6,
        unique=True,
    )
)
def test_a_domain_of_any_name_keeps_its_figure(names):
    share = {"value": 0.5, "lower": 0.2, "upper": 0.8, "n": 10}
    tree = {"boundary": {"by_domain": {name: {"leaning_share": share} for name in names}}}
    table = list(figure_rows(tree))
    assert [row["slice"] for row in table] == names
    for name in names:
        found = estimate_at(tree, f"boundary.by_domain.{name}.leaning_share")
        assert found is not None
        assert (found.value, found.n) == (0.5, 10)


def test_rows_are_made_one_by_one(run):
    assert next(iter(question_rows(run)))["step"] == 1
