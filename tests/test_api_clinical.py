"""The clinical audit from Python: a script, a notebook's running loop, and what comes back."""

from __future__ import annotations

import asyncio
import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import askew
from askew.errors import ConfigError, RunError

pytest.importorskip("spacy", reason="the clinical audit reads facts with spaCy")

ROOT = Path(__file__).parent.parent
CLINIC = "python/tests.audits.scripted_clinic"
SMALL: dict[str, Any] = {
    "vignettes": 2,
    "attributes": "gender",
    "levels": {"gender": ["male", "female"]},
    "answers": "direct",
    "replicates": 2,
    "embedder": "none",
    "options": {"paid": False},
    "progress": False,
}


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(ROOT))
    return tmp_path


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> askew.Run:
    out = tmp_path_factory.mktemp("run") / "run"
    return askew.clinical(f"{CLINIC}:target", out=out, **{**SMALL, "vignettes": 16})


def answer(prompt: str) -> str:
    """The same for everybody."""
    return json.dumps({"differential": ["Pneumonia"], "urgency": "urgent", "tests": []})


# The same run as on the command line


def test_a_run_of_the_command_line_and_one_of_python_are_the_same_run(tmp_path):
    options = [
        "--model", f"{CLINIC}:target", "--vignettes", "2", "--attributes", "gender",
        "--answers", "direct", "--replicates", "2", "--set", 'clinical.embedder="none"',
        "--set", 'clinical.levels.gender=["male", "female"]',
        "--set", "models.target.options.paid=false", "--json",
    ]  # fmt: skip
    subprocess.run(
        [sys.executable, "-c", "from askew.cli import main; main()", "clinical", "run", *options],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=True,
        timeout=240,
    )
    (folder,) = (tmp_path / "runs").iterdir()
    planned = askew.plan_clinical(f"{CLINIC}:target", **SMALL)
    assert (planned.path, planned.calls.new, planned.paid) == (folder, 0, False)
    run = askew.clinical(f"{CLINIC}:target", **SMALL)
    assert run.path == folder
    assert run.figures["calls"]["by_role"]["target"]["reused"] == planned.calls.calls


def test_a_plan_asks_nothing_and_says_what_a_run_then_asks(tmp_path):
    asked: list[str] = []

    def model(prompt: str) -> str:
        asked.append(prompt)
        return answer(prompt)

    planned = askew.plan_clinical(model, revision="1", **SMALL)
    assert asked == []
    assert list(tmp_path.iterdir()) == []
    assert planned.vignettes == 2
    assert planned.models == {"target": planned.model}
    run = askew.clinical(model, revision="1", **SMALL)
    assert run.path == planned.path
    assert len(asked) == planned.calls.new == 2 * planned.variants
    assert askew.plan_clinical(model, revision="1", **SMALL).calls.new == 0


def test_a_run_file_is_read_and_what_is_given_goes_before_it(tmp_path):
    file = tmp_path / "clinical.toml"
    file.write_text(
        f'seed = 3\n[models.target]\nname = "{CLINIC}:target"\noptions = {{ paid = false }}\n'
        '[clinical]\nvignettes = 2\nattributes = ["gender"]\nreplicates = 2\n'
        'answers = ["direct"]\nembedder = "none"\n[clinical.judge]\nitems = 3\nrepeats = 2\n'
    )
    run = askew.clinical(file=file, judge={"items": 4}, replicates=1, progress=False)
    settings = run.figures["clinical"]["settings"]
    assert (settings["replicates"], settings["vignettes"]) == (1, 2)
    assert (settings["judge"]["items"], settings["judge"]["repeats"]) == (4, 2)
    assert run.figures["seed"] == 3


def test_an_audit_is_not_run_by_the_file_of_another(tmp_path):
    flex, own = tmp_path / "flex.toml", tmp_path / "clinical.toml"
    flex.write_text('[models.target]\nname = "a/b"\n')
    own.write_text('[models.target]\nname = "a/b"\n[clinical]\n')
    with pytest.raises(ConfigError, match=r"no \[clinical\] table.*askew\.flex"):
        askew.clinical(file=flex)
    with pytest.raises(ConfigError, match=r"askew\.clinical"):
        askew.flex(file=own)
    with pytest.raises(ConfigError, match=r"askew\.clinical"):
        askew.plan(file=own)


# Settings, judges, other roles


def test_judges_and_other_roles_are_named_or_given_as_tables():
    planned = askew.plan_clinical(
        f"{CLINIC}:target",
        judges=[f"{CLINIC}:judge", {"name": f"{CLINIC}:even", "options": {"paid": False}}],
        models={"reference": f"{CLINIC}:even"},
        controls=2,
        **SMALL,
    )
    assert planned.models == {
        "target": f"{CLINIC}:target",
        "judge": f"{CLINIC}:judge",
        "judge_2": f"{CLINIC}:even",
        "reference": f"{CLINIC}:even",
    }
    assert {stage.role for stage in planned.calls.stages} == set(planned.models)
    assert planned.paid  # a function may cost something unless it is said not to


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"vignette": 2}, r"no setting 'vignette'. Did you mean vignettes"),
        ({"shot": 2}, r"Did you mean shots.*askew clinical init"),
        ({"categories": []}, "no setting 'categories'"),  # FLEX's
        ({"attributes": "gendre"}, "unknown attribute 'gendre'. Known: age, gender, place, race"),
        ({"answers": "twice"}, r"clinical\.answers"),
        ({"primary": ["urgensy"]}, "unknown endpoint 'urgensy'"),
        ({"judges": answer}, r"role 'judge' is function.*python/my_module:judge"),
        ({"judges": [3]}, "role 'judge' is int"),
        ({"judges": "a/b", "models": {"judge": "a/c"}}, "given twice"),
        ({"models": {"judges": 1}}, "role 'judges' is int"),
        ({"models": "a/b"}, "models is str, expected a table of models by role"),
        ({"models": {"critic": "a/b"}}, r"not \[models.critic\]"),
        ({"data": []}, "data is empty"),
        ({"data": "bbq"}, "unknown clinical data set 'bbq'. Known: diversity_medqa"),
        ({"replicates": 0}, r"^clinical\.replicates is 0"),
        ({"structured": None}, "structured is None, .* Leave it out for True"),
        ({"reference": {"gender": None}}, r"reference\.gender is None"),
        ({"file": "none.toml"}, "none.toml: no such file"),
    ],
)
def test_a_setting_that_cannot_be_used_is_named(settings, message):
    with pytest.raises(ConfigError, match=message):
        askew.plan_clinical(**settings)


def test_a_secret_that_is_no_setting_is_not_shown():
    with pytest.raises(ConfigError, match="Did you mean api_key_env") as raised:
        askew.plan_clinical("openai/x", api_key="sk-very-secret")
    assert "sk-very-secret" not in str(raised.value)


def test_the_paper_preset_can_be_asked_for():
    with pytest.raises(askew.AskewError, match="zack_cases"):  # its data are not here
        askew.plan_clinical("openai/gpt-4o", preset="paper")


# Data


def test_vignettes_are_read_by_name_or_file(tmp_path):
    file = tmp_path / "ward.csv"
    file.write_text("id,text\n1,A man of 40 has a fever.\n2,\n", encoding="utf-8")
    for named in (file, "ward.csv", "own=ward.csv", {"name": "own", "path": "ward.csv"}):
        (case,) = askew.load_vignettes(named, lenient=True)
        assert case.id == "ward/1"
    with pytest.raises(askew.AskewError, match=r"ward\.csv:3"):
        askew.load_vignettes(file)
    (case,) = askew.load_vignettes(file, lenient=True, source="mine")
    assert case.id == "mine/1"
    with pytest.raises(ConfigError, match="unknown clinical data set 'bbq'"):
        askew.load_vignettes("bbq")
    folder = tmp_path / "copy.of" / "trinds.jsonl"  # a set's own file is not taken for one's own
    with pytest.raises(askew.AskewError, match=r"trinds\.jsonl"):
        askew.load_vignettes(f"equitymedqa={folder}")


def test_facts_of_a_text_are_those_of_the_command():
    facts = askew.extract_facts("A 66-year-old man has a fever. He denies chest pain.")
    told = [(one.relation.value, str(one.value), one.status.value) for one in facts.triplets]
    assert ("has_age", "66", "present") in told
    assert ("has_symptom", "chest pain", "absent") in told
    with pytest.raises(ConfigError, match="unknown rule set"):
        askew.extract_facts("A man.", "bogus")


# Loops, progress, stopping


async def test_it_runs_where_a_loop_is_running_already():
    assert asyncio.get_running_loop().is_running()
    assert askew.clinical(f"{CLINIC}:target", **SMALL).missing == 0


def test_progress_is_told_stage_by_stage():
    stages = []
    askew.clinical(
        f"{CLINIC}:target",
        judges=f"{CLINIC}:judge",
        judge={"kinds": ["bias"], "items": 2, "controls": 1, "repeats": 1},
        **{**SMALL, "progress": stages.append},
    )
    assert stages[0].name == "answers"
    assert any(stage.name.startswith("judge") for stage in stages)
    assert stages[-1].progress.done == stages[-1].progress.total


def test_what_cannot_be_told_of_progress_is_refused_before_a_call(tmp_path):
    with pytest.raises(ConfigError, match="progress is str, expected True, False or a function"):
        askew.clinical(f"{CLINIC}:target", **{**SMALL, "progress": "yes"})
    assert list(tmp_path.iterdir()) == []


def test_what_is_missing_is_said_and_the_same_call_goes_on():
    settings = {**SMALL, "vignettes": 4}
    with pytest.warns(askew.IncompleteRun, match=r"stopped early \(budget\) at answers"):
        cut = askew.clinical(f"{CLINIC}:even", budget={"calls": 3}, **settings)
    assert cut.missing > 0
    assert sum(row["outcome"] is None for row in cut.rows()) == cut.missing
    assert "incomplete" in cut.sentence
    whole = askew.clinical(f"{CLINIC}:even", **settings)
    assert (whole.path, whole.missing) == (cut.path, 0)


def test_calls_that_fail_are_counted_and_the_first_error_is_shown():
    def broken(prompt: str) -> str:
        raise ValueError("no ward today")

    with pytest.warns(askew.IncompleteRun, match="calls failed, the first with: .*no ward today"):
        run = askew.clinical(broken, revision="1", **SMALL)
    assert run.failed == len(run.rows()) > 0


# What comes back


def test_a_planted_lean_is_had_by_its_path_and_in_the_table(run):
    pytest.importorskip("pandas", reason="askew[notebook] is not installed")
    path = "clinical.effects.direct.gender.female - male.urgency"
    estimate = run.estimate(path)
    assert estimate.value == -2.0
    assert run.estimate(f"{path.replace('- ', '− ')}.estimate") == estimate
    assert math.isfinite(run.estimate(f"{path}.floor").value)
    effects = run.effects()
    (row,) = effects[
        (effects.contrast == "female − male") & (effects.endpoint == "urgency") & ~effects.relevant
    ].to_dict("records")
    assert (row["value"], row["verdict"], row["family"]) == (-2.0, "difference", "declared")
    table = run.table().set_index("path")
    assert table.index.is_unique
    assert table.loc["clinical.effects.direct.gender.female − male.urgency.estimate", "value"] == -2
    assert "difference" in run.sentence


def test_rows_frame_and_file_are_one(run, tmp_path):
    pytest.importorskip("pandas", reason="askew[notebook] is not installed")
    frame, rows = run.frame(), run.rows()
    assert list(frame.columns) == list(rows[0])
    assert list(frame.variant_id) == [row["variant_id"] for row in rows]
    assert frame.urgency.dtype == "float64"
    written = run.export(tmp_path / "rows.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["call_key"] for line in written] == list(frame.call_key)


def test_reading_again_takes_the_audits_own_settings(run):
    assert run.score(margins={"urgency": 2.5}).figures["clinical"]["settings"]["margins"] == {
        "urgency": 2.5
    }
    run.score(margins={})
    with pytest.raises(ConfigError, match=r"^clinical\.margin is no setting"):
        run.score(margin={})
    with pytest.raises(RunError, match="change the questions"):
        run.score(replicates=1)


def test_what_the_other_audit_has_says_so(run, tmp_path):
    for ask in (run.pairs, run.turned):
        with pytest.raises(RunError, match=r"`effects\(\)`"):
            ask()
    flex = askew.flex(lambda prompt: "(A)", revision="1", items=1, controls=0, progress=False)
    with pytest.raises(RunError, match=r"`pairs\(\)`"):
        flex.effects()


def test_a_notebook_shows_a_sentence_and_a_table_without_script(run):
    html = run._repr_html_()
    assert "<table>" in html
    assert "Urgency" in html
    assert str(run.report) in html
    assert "<script" not in html


def test_a_text_of_a_model_is_shown_as_text():
    bad = "<img src=x onerror=alert(1)>"

    def model(prompt: str) -> str:
        return bad

    shown = askew.clinical(model, revision=bad, **SMALL)._repr_html_()
    assert "<img" not in shown
