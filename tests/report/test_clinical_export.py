"""A clinical run's answers and comparisons as rows, in files and in frames."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path

import pytest
from typer.testing import CliRunner

from askew.audits.clinical_answers import Ask
from askew.report.clinical_rows import EFFECT_COLUMNS, effect_rows
from askew.report.clinical_run import ClinicalRun
from askew.report.export import columns, rows, write_rows
from askew.report.frame import as_frame, estimate_at, figure_rows
from askew.report.which_audit import audits_of
from askew.run import clinical
from askew.runfile import checked
from askew.runfolder import RunFolder
from askew.scores.endpoints import ENDPOINTS
from askew.vignettes import Variant

from .runs import make_run, starter_items

pytest.importorskip("spacy", reason="the clinical audit reads facts with spaCy")

MODULE = "python/tests.audits.scripted_clinic"
INSURED = {
    "name": "length",  # a name that an endpoint has as well
    "levels": ["private insurance", "Medicaid"],
    "phrase": "The patient is insured by {}.",
}
HOSTILE = "=1+1 \ud83d"


def hostile(text: str) -> str:
    """A reply that a spreadsheet would run and that UTF-8 cannot hold."""
    return HOSTILE


async def ran(out: Path, target: str = f"{MODULE}:target", **changes: object) -> RunFolder:
    values = {
        "out": str(out),
        "models": {"target": {"name": target, "options": {"paid": False}}},
        "clinical": {
            "vignettes": 3,
            "attributes": ["gender"],
            "levels": {"gender": ["male", "female"]},
            "declared": [INSURED],
            "answers": ["direct", "chained"],
            "replicates": 2,
            "embedder": "none",
        },
    }
    done = await clinical.execute(clinical.prepare(checked(values, changes)))
    return done.folder


@pytest.fixture
async def run(tmp_path) -> RunFolder:
    return await ran(tmp_path / "run")


async def test_there_is_one_row_an_answer_with_a_column_an_attribute_and_an_endpoint(run):
    found = list(rows(run))
    asks = run.read_parts("ask", Ask)
    assert [(one["variant_id"], one["form"], one["replicate"]) for one in found] == [
        (ask.variant_id, ask.form, ask.replicate) for ask in asks
    ]
    assert [one["call_key"] for one in found] == [ask.keys[-1] for ask in asks]
    names = columns(run)
    assert all(tuple(one) == names for one in found)
    one_answer = [each.name for each in ENDPOINTS.values() if each.kind != "distance"]
    assert [name for name in names if name in ENDPOINTS] == one_answer
    assert [name for name in names if name.startswith("level_")] == [
        "level_gender",
        "level_length",
    ]


async def test_a_level_is_that_of_the_arm_and_of_the_original_that_it_has_already(run):
    variants = {one.id: one for one in run.read_parts("variant", Variant)}
    found = list(rows(run))
    original = {one["level_gender"] for one in found if one["arm"] == "original"}
    assert original <= {"male", "female"}
    for one in found:
        if one["arm"] != "original":
            levels = variants[str(one["variant_id"])].levels
            assert one["levels"] == levels
            assert one["level_gender"] == levels.get("gender")
            assert one["level_length"] == levels.get("length")


async def test_means_of_the_rows_are_the_means_that_the_run_reports(run):
    pytest.importorskip("pandas", reason="askew[notebook] is not installed")
    frame = as_frame(list(rows(run)), columns(run))
    means = run.read_estimates()["clinical"]["means"]
    for (form, arm), part in frame.groupby(["form", "arm"]):
        for endpoint in ("urgency", "tests_offered", "length", "option_right"):
            mean = part.groupby("variant_id")[endpoint].mean().mean()
            known = means[form][arm][endpoint]
            assert mean == pytest.approx(math.nan if known is None else known, nan_ok=True)


async def test_the_difference_of_two_levels_is_in_the_rows(tmp_path):
    pytest.importorskip("pandas", reason="askew[notebook] is not installed")
    folder = await ran(tmp_path / "run", **{"clinical.declared": [], "clinical.vignettes": 12})
    frame = as_frame(list(rows(folder)), columns(folder))
    direct = frame[(frame.form == "direct") & (frame.arm != "neutral")]
    means = direct.groupby(["vignette_id", "level_gender"]).urgency.mean().unstack()
    shift = (means["female"] - means["male"]).dropna()
    figures = folder.read_estimates()
    path = "clinical.effects.direct.gender{}.female - male.urgency"
    found = [estimate_at(figures, path.format(part)) for part in ("", " (ought to matter)")]
    parts = [one for one in found if one is not None]
    total = sum(one.value * one.n for one in parts)
    assert (shift.sum(), len(shift)) == (pytest.approx(total), sum(one.n for one in parts))


async def test_what_a_reply_does_not_settle_is_nothing_and_an_empty_list_is_a_list(tmp_path):
    changes = {"clinical.declared": [], "clinical.answers": ["direct"]}
    plain = await ran(tmp_path / "even", f"{MODULE}:even", **changes)
    assert {json.dumps(one["tests"]) for one in rows(plain)} == {"[]"}
    odd = await ran(tmp_path / "odd", f"python/{__name__}:hostile", **changes)
    for one in rows(odd):
        assert one["outcome"] == "unreadable"
        assert one["rule"]
        assert one["tests"] is one["urgency"] is one["differential"] is None
        assert one["refusal"] == 0.0


async def test_a_run_that_was_stopped_has_a_row_for_what_it_lacks(tmp_path):
    folder = await ran(tmp_path / "run", **{"budget.calls": 2})
    found = list(rows(folder))
    assert len(found) == len(folder.read_parts("ask", Ask))
    had = [one for one in found if one["outcome"] is not None]
    assert 0 < len(had) <= 2
    assert {one["reply"] for one in found if one not in had} == {None}


async def test_the_three_formats_hold_the_same(run, tmp_path):
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
    first = as_lines[0]
    assert json.loads(first["levels"]) == {}
    assert len(json.loads(first["differential"])) == 3


FORMATS = ("csv", "jsonl", "parquet")


async def test_a_text_of_a_model_is_no_formula_and_no_broken_file(tmp_path):
    folder = await ran(
        tmp_path / "run", f"python/{__name__}:hostile", **{"clinical.answers": ["direct"]}
    )
    for form in ("csv", "jsonl"):
        assert write_rows(folder, tmp_path / f"rows.{form}", form)
    with (tmp_path / "rows.csv").open(encoding="utf-8", newline="") as file:
        assert {one["reply"] for one in csv.DictReader(file)} == {"'=1+1 \\ud83d"}


async def test_every_comparison_has_a_row_with_its_verdict(run):
    figures = run.read_estimates()
    found = list(effect_rows(ClinicalRun("", figures)))
    assert all(tuple(one) == EFFECT_COLUMNS for one in found)
    paths = {row["path"] for row in figure_rows(figures)}
    for one in found:
        part = "interactions" if one["interaction"] else "effects"
        ought = " (ought to matter)" if one["relevant"] else ""
        path = (
            f"clinical.{part}.{one['form']}.{one['attribute']}{ought}.{one['contrast']}."
            f"{one['endpoint']}.estimate"
        )
        assert path in paths
        estimate = estimate_at(figures, path)
        assert estimate is not None
        assert one["value"] == pytest.approx(estimate.value, nan_ok=True)
        assert one["verdict"] in ("difference", "equivalent within the margin", "cannot tell")
    assert {one["interaction"] for one in found} == {True, False}


def test_a_path_may_be_typed_with_a_hyphen_and_means_what_the_file_has_first():
    share = {"value": 0.5, "lower": 0.2, "upper": 0.8, "n": 10}
    other = {**share, "value": 0.1}
    tree = {"clinical": {"a − b": {"urgency": {"estimate": share}}, "a - b": {"urgency": other}}}
    for path, value in (
        ("clinical.a − b.urgency.estimate", 0.5),
        ("clinical.a − b.urgency", 0.5),
        ("clinical.a - b.urgency", 0.1),
    ):
        found = estimate_at(tree, path)
        assert found is not None
        assert found.value == value
    assert estimate_at(tree, "clinical.a - c.urgency") is None


async def test_tools_of_multiple_choice_tasks_are_refused_by_name(run, tmp_path, monkeypatch):
    from askew.cli.app import app
    from askew.errors import RunError

    monkeypatch.chdir(tmp_path)
    settings = str(run.settings)
    for arguments in (
        ["export", "lm-eval", "tasks", settings],
        ["export", "inspect", str(run.path), "log.eval"],
    ):
        done = CliRunner().invoke(app, arguments)
        assert isinstance(done.exception, RunError), done.output
        assert "askew export rows" in str(done.exception)
    assert not (tmp_path / "tasks").exists()
    assert not (tmp_path / "log.eval").exists()
    done = CliRunner().invoke(app, ["export", str(run.path), "rows.csv"])
    assert done.exit_code == 0, done.output


def test_a_run_of_the_other_audit_is_none_of_this(tmp_path):
    folder = make_run(tmp_path / "flex", starter_items(4))
    assert audits_of(folder) == ("flex",)
    assert "item_id" in columns(folder)
