"""`askew audit`: the plan before money is spent, presets as files, several models side by side."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from askew.cli.app import app
from askew.models.ledgerfile import read_records
from askew.runfile import read_run_file

TARGET = "python/tests.run.scripted_auditee:target"
OTHER = "python/tests.run.scripted_auditee:stubborn"
SMALL = (
    *("--set", "flex.items=4", "--set", "flex.controls=4", "--set", "flex.prompt=flex"),
    *("--set", "clinical.vignettes=2", "--set", "clinical.replicates=1"),
    *("--set", "clinical.embedder=none", "--set", "boundary.vectors=hashed"),
    *("--set", "boundary.queries=5", "--set", "boundary.policy=neighbour_share"),
)


def invoke(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(one) for one in arguments])


def audit(*arguments: object) -> Result:
    return invoke("audit", *SMALL, *arguments)


@pytest.fixture(scope="module")
def ran(tmp_path_factory) -> tuple[Path, Result]:
    out = tmp_path_factory.mktemp("audit") / "run"
    return out, audit("-m", TARGET, "--out", out, "--yes")


def test_the_plan_names_each_part_and_asks_nothing(tmp_path):
    done = audit("-m", TARGET, "--out", tmp_path / "run", "--plan", "--json")
    assert done.exit_code == 0, done.output
    planned = json.loads(done.stdout)
    assert list(planned["parts"]) == ["boundary", "clinical", "flex"]
    assert (
        planned["new"]
        == planned["calls"]
        == sum(part["calls"] for part in planned["parts"].values())
    )
    assert all(part["seconds"] is not None for part in planned["parts"].values())
    assert not (tmp_path / "run").exists()
    said = audit("-m", TARGET, "--out", tmp_path / "run", "--plan").output
    for name in ("flex", "clinical", "boundary", "all", "money", "time"):
        assert name in said


def test_nothing_is_asked_unless_somebody_agrees(tmp_path):
    done = audit("-m", TARGET, "--out", tmp_path / "run")
    assert done.exit_code != 0
    assert "Add --yes" in str(done.exception)
    assert not (tmp_path / "run").exists()


def test_it_ends_with_a_sentence_of_each_audit_and_one_report(ran):
    out, done = ran
    assert done.exit_code == 0, done.output
    assert done.output.count("Report: ") == 1
    for said in ("does fairness hold?", "do the answers move", "topics of the"):
        assert said in done.output
    for number, part in enumerate(("flex", "clinical", "boundary"), start=1):
        assert f"Part {number} of 3: {part}" in done.output
    assert (out / "report.html").is_file()


def test_json_is_estimates_json_and_nothing_else(ran):
    out, _ = ran
    again = audit("-m", TARGET, "--out", out, "--yes", "--json")
    assert json.loads(again.stdout) == json.loads((out / "estimates.json").read_text("utf-8"))


def test_a_budget_stops_the_run_and_names_what_was_not_started(tmp_path):
    done = audit("-m", TARGET, "--out", tmp_path / "run", "--yes", "--budget-calls", 3)
    assert done.exit_code == 4
    assert "The budget of 3 calls is below" in done.output
    assert "flex stopped early (budget)" in done.output
    assert "not started: clinical, boundary" in done.output
    assert sum(one.attempts for one in read_records(tmp_path / "run" / "run.sqlite")) == 3


def test_a_preset_is_written_as_a_file_that_runs(tmp_path):
    file = tmp_path / "audit.toml"
    done = audit("-m", TARGET, "--preset", "standard", "--write", file)
    assert done.exit_code == 0, done.output
    run = read_run_file(file)
    assert run.audits == ("flex", "clinical", "boundary")
    assert run.flex.items == 4
    assert "# askew audit, preset 'standard'" in file.read_text(encoding="utf-8")
    assert "is there already" in str(audit("-m", TARGET, "--write", file).exception)
    planned = invoke("plan", file, "--only", "boundary,flex", "--json")
    assert planned.exit_code == 0, planned.output
    assert sorted(json.loads(planned.stdout)["parts"]) == ["boundary", "flex"]


def test_a_part_of_a_run_is_run_alone(ran):
    out, _ = ran
    before = json.loads((out / "estimates.json").read_text("utf-8"))
    done = invoke(
        "run", out / "run.toml", "--only", "boundary", "--set", "boundary.queries=7", "-y"
    )
    assert done.exit_code == 0, done.output
    after = json.loads((out / "estimates.json").read_text("utf-8"))
    assert after["boundary"]["topics"]["tested"] == 7
    assert after["flex"] == before["flex"]
    assert "unknown audit" in str(invoke("run", out / "run.toml", "--only", "x", "-y").exception)


def test_several_models_stand_side_by_side(tmp_path):
    done = audit("-m", TARGET, "-m", OTHER, "--out", tmp_path / "both", "-y")
    assert done.exit_code == 0, done.output
    folders = [one for one in (tmp_path / "both").iterdir() if one.is_dir()]
    assert len(folders) == 2
    page = (tmp_path / "both" / "compare.html").read_text(encoding="utf-8")
    assert "stubborn" in page
    assert "Side by side: " in done.output


def test_several_models_share_the_budget(tmp_path):
    done = audit(
        *("-m", TARGET, "-m", OTHER, "--out", tmp_path / "both", "-y"),
        *("--budget-calls", 30),
    )
    assert done.exit_code == 4
    made = (tmp_path / "both").glob("*/run.sqlite")
    assert sum(one.attempts for path in made for one in read_records(path)) == 30


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--preset", "swift"), "unknown preset 'swift'"),
        (("--audits", "flex,survey"), "unknown audit 'survey'"),
        (("--audits", " , "), "no audit is named"),
        (("-m", TARGET, "-m", TARGET), "is given twice"),
        (("-m", TARGET, "-m", OTHER, "--write", "x.toml"), "--write takes one model"),
        (("--audits", "flex", "--graph", "x"), "no [boundary] table"),
    ],
)
def test_what_cannot_be_is_said(arguments, said):
    assert said in str(invoke("audit", "--yes", *arguments).exception)


def test_the_plans_of_several_models_are_one_object_and_the_budget_is_of_all(tmp_path):
    both = ("-m", TARGET, "-m", OTHER, "--out", tmp_path / "both", "--plan", "--audits", "flex")
    few = ("--set", "flex.items=4", "--set", "flex.controls=4", "--set", "flex.prompt=flex")
    done = invoke("audit", *few, *both, "--json")
    planned = json.loads(done.stdout)
    assert list(planned["models"]) == [OTHER, TARGET]
    each = [one["new"] for one in planned["models"].values()]
    assert planned["new"] == sum(each)
    # Enough for each of them, and too little for both.
    said = invoke("audit", *few, *both, "--budget-calls", max(each)).output
    assert said.count("is below the") == 1
    assert f"All models together: {sum(each):,} calls" in said


def test_a_resumed_run_says_what_of_its_budget_is_spent(ran):
    out, _ = ran
    spent = sum(one.attempts for one in read_records(out / "run.sqlite"))
    done = audit(
        *("-m", TARGET, "--out", out, "--plan", "--budget-calls", spent + 1),
        *("--set", "boundary.queries=12"),
    )
    assert f"of which {spent:,} are spent, is below" in " ".join(done.output.split())
    again = audit("-m", TARGET, "--out", out, "--plan", "--budget-calls", spent)
    assert "is below" not in again.output


def test_models_whose_names_come_to_one_folder_are_refused():
    said = str(invoke("audit", "-m", "a/b:c", "-m", "a/b-c", "--out", "both").exception)
    assert "a/b:c and a/b-c would have the same folder, a-b-c" in said


@pytest.mark.parametrize("command", ["run", "plan"])
def test_only_has_to_name_something(ran, command):
    out, _ = ran
    assert "names no audit" in str(invoke(command, out / "run.toml", "--only", " , ").exception)
