"""The command line as a user meets it: a real process, its output and its exit code."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

PLANTED = Path(__file__).parent.parent / "audits"


def askew(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from askew.cli import main; main()", *arguments],
        cwd=folder,
        env={"PYTHONPATH": str(PLANTED), "PATH": "", "COLUMNS": "120", "HOME": str(folder)},
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
    ],
)
def test_what_is_wrong_is_said_in_one_line_with_its_mend(arguments, said, tmp_path):
    done = askew(*arguments, folder=tmp_path)
    assert done.returncode == 3
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


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
