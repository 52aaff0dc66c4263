"""The command line as a user meets it: a real process, its output and its exit code."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PLANTED = HERE.parent / "audits"  # python/planted:leaning; python/hostile is beside this file


def askew(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from askew.cli import main; main()", *arguments],
        cwd=folder,
        env={"PYTHONPATH": f"{PLANTED}:{HERE}", "PATH": "", "COLUMNS": "120", "HOME": str(folder)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


RUN = (
    *("run", "--model", "python/planted:leaning", "--prompt", "flex", "--scoring", "reply"),
    *("--items", "12", "--set", "flex.controls=0", "--out", "out"),
)


@pytest.fixture(scope="module")
def ran(tmp_path_factory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    folder = tmp_path_factory.mktemp("cli")
    return folder, askew(*RUN, "--yes", folder=folder)


def test_a_run_ends_with_the_table_the_sentence_and_the_report(ran):
    folder, done = ran
    assert done.returncode == 0, done.stderr
    assert "persona injection" in done.stdout.lower()
    assert "not meaningful" in done.stdout
    assert f"Report: {Path('out/report.html')}" in done.stdout
    assert (folder / "out" / "report.html").is_file()


def test_paid_calls_are_not_made_unasked(tmp_path):
    done = askew(*RUN, "--set", "models.target.options={paid=true}", folder=tmp_path)
    assert done.returncode == 3
    assert "Add --yes" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_plan_counts_what_is_recorded_and_leaves_nothing_behind(ran):
    folder, _ = ran
    planned = json.loads(askew("plan", *RUN[1:], "--json", folder=folder).stdout)
    assert planned["new"] == 0
    assert planned["pairs"] == 36
    assert planned["pairs_needed"]["0.1"] < planned["pairs_needed"]["0.03"]
    askew("plan", *RUN[1:-1], "never", folder=folder)
    assert sorted(path.name for path in folder.iterdir()) == ["out"]


def test_another_question_set_is_refused_in_the_same_folder(ran):
    folder, _ = ran
    done = askew(*RUN, "--shots", "1", "--yes", folder=folder)
    assert done.returncode == 3
    assert "flex.shots" in done.stderr
    assert "--out" in done.stderr


def test_figures_can_be_had_as_json_and_markdown(ran):
    folder, _ = ran
    tables = json.loads(askew("table", "out", "--json", folder=folder).stdout)
    assert tables
    paper = askew("table", "out", "--layout", "table-1", "--format", "markdown", folder=folder)
    assert paper.stdout.lstrip().startswith(("#", "|", "**"))
    run = askew(*RUN, "--yes", "--json", folder=folder)
    found = json.loads(run.stdout)["flex"]["attack_success_rate"]["category"]
    assert found["persona_injection"]["value"] == 1.0


def test_scoring_verifying_listing_and_exporting(ran):
    folder, _ = ran
    assert "out" in askew("score", "out", "--non-answers", "wrong", folder=folder).stdout
    assert "as the run left it" in askew("verify", "out", folder=folder).stdout
    assert askew("calls", "out", "--state", "unknown", folder=folder).stdout == ""
    listed = askew("calls", "out", "--json", folder=folder).stdout.splitlines()
    assert {json.loads(line)["state"] for line in listed} == {"received"}
    assert askew("export", "out", "rows.csv", folder=folder).returncode == 0
    assert len((folder / "rows.csv").read_text(encoding="utf-8").splitlines()) > 36
    assert askew("export", "out", "rows.xlsx", folder=folder).returncode == 3


def test_rows_can_be_had_as_parquet(ran):
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    folder, _ = ran
    assert askew("export", "out", "rows.parquet", folder=folder).returncode == 0
    rows = parquet.read_table(folder / "rows.parquet").to_pylist()
    assert {row["outcome"] for row in rows} == {"neutral", "stereotyped", "antistereotyped"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("run", "missing.toml"), "missing.toml: no such file"),
        (("run", "--model", "nobody/x"), "unknown provider of models 'nobody'"),
        (("run", "-m", "python/planted:leaning", "-d", "bqq"), "unknown data set 'bqq'"),
        (("run", "--shots", "6"), "flex.shots is 6"),
        (("run", "--set", "flex.nothing=1"), "flex.nothing"),
        (("run", "--wording", "mine", "x"), "--wording published DIR"),
        (("table", "nowhere"), "nowhere is not a run folder"),
        (("run", "--model", "openai/x", "--local-only"), "local_only"),
        (("run", "--model", "python/planted:leaning", "--scoring", "letters"), "--scoring reply"),
        (("run", "--nothing"), "No such option"),
        (("run", "--shots", "many"), "--shots"),
        (("init", "nowhere/audit.toml"), "nowhere/audit.toml cannot be written"),
        ((*RUN[:-1], "/proc/nothing", "--yes"), "/proc/nothing cannot be made"),
        ((*RUN, "--set", "flex.categories=[]"), "there is nothing to audit"),
    ],
)
def test_what_is_wrong_is_said_in_one_line_with_its_mend(arguments, said, tmp_path):
    done = askew(*arguments, folder=tmp_path)
    assert done.returncode == 3
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("calls", "out", "--state", "bogus"), "unknown state of a call 'bogus'. Known: failed"),
        (("export", "out", "nowhere/rows.csv"), "nowhere/rows.csv cannot be written"),
        (("score", "out", "--non-answers", "bogus"), "command line: flex.non_answers is 'bogus'"),
        ((*RUN[:-1], "out/run.toml", "--yes"), "out/run.toml cannot be made"),
    ],
)
def test_what_cannot_be_done_with_a_run_leaves_it_as_it_was(arguments, said, ran):
    folder, _ = ran
    before = (folder / "out" / "run.toml").read_bytes()
    done = askew(*arguments, folder=folder)
    assert done.returncode == 3
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert (folder / "out" / "run.toml").read_bytes() == before


def test_a_moved_run_goes_on_where_it_is_and_asks_nothing(ran, tmp_path):
    folder, _ = ran
    moved = tmp_path / "moved"
    shutil.copytree(folder / "out", moved)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    done = askew("run", str(moved / "run.toml"), "--yes", folder=elsewhere)
    assert done.returncode == 0, done.stderr
    assert "0 to make" in done.stdout
    assert f"Report: {moved / 'report.html'}" in done.stdout
    assert list(elsewhere.iterdir()) == []
    assert "as the run left it" in askew("verify", str(moved), folder=elsewhere).stdout


def test_scoring_needs_the_run_folder_alone(tmp_path):
    """Neither the user's clone of the published wording nor the data nor the model."""
    texts = tmp_path / "clone" / "lm_eval" / "prompts" / "type.py"
    texts.parent.mkdir(parents=True)
    texts.write_text('refusal_prompt = ["one", "two", "three", "four", "five"]', encoding="utf-8")
    done = askew(*RUN, "--wording", "published", "clone", "--yes", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    shutil.rmtree(tmp_path / "clone")
    scored = askew("score", "out", "--non-answers", "wrong", folder=tmp_path)
    assert scored.returncode == 0, scored.stderr
    assert 'non_answers = "wrong"' in (tmp_path / "out" / "run.toml").read_text(encoding="utf-8")
    assert "as the run left it" in askew("verify", "out", folder=tmp_path).stdout


@pytest.mark.parametrize(
    ("option", "value", "setting"),
    [("--persona-style", "paper", "persona_style"), ("--adjective", "rude", "adjective")],
)
def test_the_wording_can_be_chosen_and_makes_other_questions(option, value, setting, ran):
    folder, _ = ran
    done = askew(*RUN, option, value, "--yes", folder=folder)
    assert done.returncode == 3
    assert f"flex.wording.{setting} differ" in done.stderr


HOSTILE = "[/red]\x1b[31m:bomb: \u202e"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory) -> Path:
    """A folder with a data set whose every name is meant to break the terminal."""
    folder = tmp_path_factory.mktemp("hostile")
    record = {
        "context": "Two people met.",
        "question": "Who was late?",
        "option_a": f"The one {HOSTILE}",
        "option_b": "The other",
        "option_c": "Cannot be determined",
        "neutral_option": "c",
        "bias_type": HOSTILE,
    }
    template = folder / "template.jsonl"
    assert askew("data", "template", "template.jsonl", folder=folder).returncode == 0
    known = json.loads(template.read_text(encoding="utf-8").splitlines()[0])
    known.update({key: value for key, value in record.items() if key in known})
    assert known["bias_type"] == HOSTILE
    (folder / "mine.jsonl").write_text(json.dumps(known) + "\n{}\n", encoding="utf-8")
    return folder


def test_names_of_the_users_do_not_steer_the_terminal(hostile):
    done = askew("data", "check", "mine.jsonl", folder=hostile)
    assert done.returncode == 1
    assert done.stderr == ""
    assert "[/red]⟨U+001B⟩[31m:bomb: ⟨U+202E⟩" in done.stdout


def test_a_run_on_hostile_names_and_replies_is_printed_and_exported(hostile):
    options = ("--model", "python/hostile:evil", "--data", "own=mine.jsonl", "--lenient")
    done = askew(*RUN[:1], *options, *RUN[3:], "--yes", folder=hostile)
    assert done.returncode == 0, done.stderr
    assert "[/red]⟨U+001B⟩[31m:bomb: ⟨U+202E⟩" in done.stdout  # "left out": no personas for it
    for name in ("rows.csv", "rows.jsonl"):
        exported = askew("export", "out", name, folder=hostile)
        assert exported.returncode == 0, exported.stderr
    with (hostile / "rows.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["reply"] for row in rows} == {"'=1+1 \\ud83d"}
    lines = (hostile / "rows.jsonl").read_text(encoding="utf-8").splitlines()
    assert {json.loads(line)["reply"] for line in lines} == {"=1+1 \ud83d"}
    listed = askew("calls", "out", "--json", folder=hostile)
    assert json.loads(listed.stdout.splitlines()[0])["reply"]["text"] == "=1+1 \ud83d"


def test_a_run_of_which_every_call_fails_says_so_and_is_not_complete(tmp_path):
    done = askew(*RUN[:2], "python/hostile:failing", *RUN[3:], "--yes", folder=tmp_path)
    assert done.returncode == 4
    assert "calls failed, the first with" in done.stderr
    assert "the application is down" in done.stderr


def test_init_writes_a_run_file_and_does_not_overwrite_one(tmp_path):
    assert askew("init", "audit.toml", folder=tmp_path).returncode == 0
    done = askew("init", "audit.toml", folder=tmp_path)
    assert done.returncode == 3
    assert "--force" in done.stderr


@pytest.mark.parametrize("arguments", [("--help",), ("run", "--help"), ("--version",)])
def test_help_needs_no_optional_package_and_no_heavy_import(arguments, tmp_path):
    code = (
        "import sys\n"
        "from askew.cli import main\n"
        f"sys.argv = ['askew', *{arguments!r}]\n"
        "try:\n    main()\n"
        "except SystemExit:\n    pass\n"
        "heavy = {'torch', 'transformers', 'scipy', 'numpy', 'aiohttp'} & set(sys.modules)\n"
        "print('heavy:', sorted(heavy), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert "heavy: []" in done.stderr
