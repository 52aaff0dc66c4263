"""`askew table` and the end of a run on clinical run folders."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from askew.cli.app import app
from askew.cli.figures import one_sentence, show_figures
from askew.runfolder import RunFolder
from tests.report.clinical_runs import MODEL, judged, make_clinical_run
from tests.report.runs import make_run, starter_items

LAYOUTS = ("run", "table-1", "table-2", "table-3", "table-5", "table-6", "figure-5")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    path = tmp_path_factory.mktemp("clinical") / "toy-run"
    return make_clinical_run(path, forms=("direct", "single"), judges=judged())


@pytest.fixture(scope="module")
def flex_folder(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    return make_run(tmp_path_factory.mktemp("flex") / "run", starter_items()[:12])


def table(*arguments: object):
    return CliRunner().invoke(app, ["table", *map(str, arguments)])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("form", ["terminal", "markdown", "csv", "json"])
def test_every_layout_prints_in_every_form(folder, layout, form):
    done = table(folder.path, "--layout", layout, "--format", form)
    assert done.exit_code == 0, done.output
    assert done.output.strip()
    if form == "json":
        assert all(one["title"] for one in json.loads(done.output))


def test_the_csv_of_table_1_holds_the_estimates(folder):
    done = table(folder.path, "--layout", "table-1", "--format", "csv")
    (row,) = csv.DictReader(io.StringIO(done.output))
    quality = folder.read_estimates()["clinical"]["judges"]["quality"]["toy/judge"]["toy"]
    assert float(row["toy Factual consistency"]) == quality["factual_consistency"]["value"]
    assert row["toy Coherence"] == ""  # undefined, never 0


def test_several_runs_are_several_targets(folder, tmp_path):
    def other(estimates):
        estimates["model"] = "toy/second"

    second = make_clinical_run(tmp_path / "second", judges=judged(), change=other)
    done = table(folder.path, second.path, "--layout", "table-3", "--format", "json")
    scores = json.loads(done.output)[0]
    assert [row["Target"] for row in scores["rows"]] == [MODEL, "toy/second"]


def test_a_layout_of_another_audit_is_refused_by_name(folder, flex_folder):
    for path, layout, known in (
        (folder.path, "figure-3", "table-2"),
        (flex_folder.path, "table-3", "figure-4"),
    ):
        done = table(path, "--layout", layout)
        assert done.exit_code != 0
        assert f"layout {layout} is of another audit" in str(done.exception)
        assert known in str(done.exception)


@pytest.mark.parametrize("option", ["--non-answers", "--normalise", "--paraphrase"])
def test_a_clinical_run_is_not_read_by_rules_of_flex(tmp_path, option):
    folder = make_clinical_run(tmp_path / "run")
    folder.settings.write_text("[clinical]\nanswers = ['direct']\n", encoding="utf-8")
    before = folder.estimates.read_bytes()
    done = CliRunner().invoke(app, ["score", str(folder.path), option, "wrong"])
    assert done.exit_code != 0
    assert f"{option}: an option of FLEX" in str(done.exception)
    assert "--set" in str(done.exception)
    assert folder.estimates.read_bytes() == before


def test_runs_of_two_audits_are_not_mixed(folder, flex_folder):
    done = table(folder.path, flex_folder.path)
    assert done.exit_code != 0
    assert "different audits" in str(done.exception)


def test_flex_runs_print_as_before(flex_folder):
    done = table(flex_folder.path, "--format", "markdown")
    assert done.exit_code == 0
    assert "does fairness hold?" in done.output


@pytest.mark.parametrize("width", [80, 120])
def test_a_run_ends_with_the_verdicts_the_sentence_and_the_report(
    folder, width, capsys, monkeypatch
):
    monkeypatch.setenv("COLUMNS", str(width))
    show_figures(folder, json=False)
    said = capsys.readouterr().out
    assert "do the answers move with the patient?" in said
    assert "shows a difference" in said
    assert f"More tables: askew table {folder.path}" in said
    assert f"Report: {folder.report}" in said
    drawn = said.partition("toy/doctor: of")[0].splitlines()
    assert len(drawn) > 8
    assert max(map(len, drawn)) <= width


def test_json_prints_the_estimates_as_they_are(folder, capsys):
    show_figures(folder, json=True)
    assert json.loads(capsys.readouterr().out) == folder.read_estimates()


def test_every_audit_has_its_sentence(folder, flex_folder):
    assert "declared comparison" in one_sentence("clinical", folder.read_estimates())
    assert "pairs" in one_sentence("flex", flex_folder.read_estimates())
    assert Path(folder.path).name == "toy-run"
