"""The commands on run folders, given a boundary run: each works, or says what to do instead."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import askew
from askew.cli.app import app
from askew.runfolder import RunFolder

TOPICS = "python/tests.audits.scripted_leanings"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return askew.boundary(
        f"{TOPICS}:target",
        judge=f"{TOPICS}:judge",
        generator=f"{TOPICS}:generator",
        domains="economy",
        policy="neighbour_share",
        start="Economy",
        queries=8,
        questions=3,
        vectors="hashed",
        out=tmp_path_factory.mktemp("boundary") / "run",
        progress=False,
    ).path


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def invoke(*arguments: object):
    return CliRunner().invoke(app, list(map(str, arguments)))


@pytest.mark.parametrize("short", [True, False])
def test_rows_are_exported_with_their_topics(run, tmp_path, short):
    done = invoke("export", *([] if short else ["rows"]), run, "rows.csv")
    assert done.exit_code == 0, done.output
    assert "24 rows" in done.output
    with (tmp_path / "rows.csv").open(encoding="utf-8", newline="") as file:
        found = list(csv.DictReader(file))
    assert found[0]["title"] == "Economy"
    assert {row["verdict"] for row in found} == {"leaning", "clean"}


def test_tools_of_multiple_choice_tasks_are_refused_by_name(run, tmp_path):
    for arguments in (
        ["export", "lm-eval", "tasks", run / "run.toml"],
        ["export", "inspect", run, "log.eval"],
    ):
        done = invoke(*arguments)
        assert done.exit_code != 0
        assert "is of the boundary audit" in str(done.exception)
        assert "`askew export rows`" in str(done.exception)
    assert list(tmp_path.iterdir()) == []


def test_a_run_is_read_again_by_its_own_rules_and_not_by_those_of_flex(run):
    before = (run / "estimates.json").read_bytes()
    for option, value in (
        ("--non-answers", "wrong"),
        ("--normalise", "sum"),
        ("--paraphrase", "neutral"),
    ):
        done = invoke("score", run, option, value)
        assert done.exit_code != 0
        assert f"{option}: an option of FLEX" in str(done.exception)
        assert "is a boundary run" in str(done.exception)
        assert "--set boundary.threshold=0.8" in str(done.exception)
    for key in ("flex.items=3", "clinical.primary=[]"):
        done = invoke("score", run, "--set", key)
        assert "no [" in str(done.exception)
    assert (run / "estimates.json").read_bytes() == before
    done = invoke("score", run, "--set", "boundary.threshold=0.8")
    assert done.exit_code == 0, done.output
    assert "8 topics" in done.output
    figures = json.loads((run / "estimates.json").read_text(encoding="utf-8"))
    assert figures["boundary"]["settings"]["threshold"] == 0.8
    assert RunFolder.open(run).verify() == []


def test_table_calls_and_verify_know_the_run(run):
    done = invoke("table", run, "--json")
    assert done.exit_code == 0, done.output
    assert len(json.loads(done.output)) == 4
    assert len(invoke("calls", run, "--state", "received").output.splitlines()) == 8 + 2 * 24
    assert "as the run left it" in invoke("verify", run).output


def test_a_survey_of_it_says_what_it_needs(run):
    done = invoke("survey", "export", run, "--out", "survey.json")
    assert done.exit_code != 0
    assert "no clinical answers" in str(done.exception)
    assert "clinical run" in str(done.exception)


def test_run_and_plan_take_its_file_and_refuse_the_options_of_flex(run):
    done = invoke("plan", run / "run.toml", "--json")
    assert done.exit_code == 0, done.output
    roles = {one["role"]: one for one in json.loads(done.output)["roles"]}
    assert (roles["target"]["calls"], roles["target"]["new"]) == (24, 0)
    done = invoke("plan", run / "run.toml", "--items", "3")
    assert done.exit_code != 0
    assert "no [" in str(done.exception)
