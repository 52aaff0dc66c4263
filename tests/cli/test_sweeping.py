"""`askew sweep` as people use it: plan, run, kill, resume; table, JSON, CSV and page."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from askew.cli.app import app
from askew.errors import ConfigError
from askew.models.ledgerfile import read_records
from askew.run.sweep_budget import taken
from tests.models.servers import Answer, FaultServer, Seen, chat_body

MODULE = "python/tests.run.scripted_auditee"
HOSTILE = "=cmd <script>alert(1)</script> \u202e **x**"
BASE = """
[models.target]
name = "python/tests.run.scripted_auditee:target"
[flex]
items = 3
controls = 3
prompt = "flex"
scoring = "reply"
"""


def sweep_file(folder: Path, text: str) -> Path:
    (folder / "run.toml").write_text(BASE, encoding="utf-8")
    (folder / "s.toml").write_text(f'base = "run.toml"\n{text}', encoding="utf-8")
    return folder / "s.toml"


def askew(*arguments: str | Path, code: int = 0) -> str:
    done = CliRunner().invoke(app, [str(one) for one in arguments])
    assert done.exit_code == code, (done.output, done.exception)
    return done.stdout


def test_a_plan_asks_nothing_and_leaves_nothing(tmp_path):
    file = sweep_file(tmp_path, "seeds = [0, 1]")
    planned = json.loads(askew("sweep", file, "--out", tmp_path / "out", "--plan", "--json"))
    assert list(planned["cells"]) == [
        "python-tests.run.scripted_auditee-target.seed-0",
        "python-tests.run.scripted_auditee-target.seed-1",
    ]
    assert planned["new"] == sum(one["new"] for one in planned["cells"].values()) > 0
    assert not (tmp_path / "out").exists()
    assert "All 2 cells together" in askew("sweep", file, "--out", tmp_path / "out", "--plan")


def test_paid_calls_want_a_yes(tmp_path):
    file = sweep_file(tmp_path, "")
    done = CliRunner().invoke(app, ["sweep", str(file), "--out", str(tmp_path / "out")])
    assert isinstance(done.exception, ConfigError)
    assert "Add --yes" in str(done.exception)
    assert not (tmp_path / "out").exists()


def test_the_end_is_a_table_json_csv_and_a_page_with_the_same_figures(tmp_path):
    file = sweep_file(
        tmp_path, f'[[models]]\nname = "{MODULE}:target"\nlabel = "leans"\n[[data]]\nlabel = "few"'
    )
    out = tmp_path / "out"
    shown = askew("sweep", file, "--out", out, "--yes")
    assert "leans" in shown
    assert "1 of 1 cell complete" in shown
    read = json.loads(askew("sweep", file, "--out", out, "--yes", "--json"))
    (cell,) = read["cells"]
    asr = cell["audits"]["flex"]["figures"]["attack_success_rate"]
    assert cell["state"] == "complete"
    (row,) = csv.DictReader(io.StringIO(askew("sweep", file, "--out", out, "--yes", "--csv")))
    assert float(row["FLEX Attack success"]) == asr["value"]
    assert float(row["FLEX Attack success lower"]) == asr["lower"]
    page = (out / "sweep.html").read_text(encoding="utf-8")
    assert "./leans.few.seed-0/report.html" in page
    assert (out / "leans.few.seed-0" / "report.html").is_file()
    for outside in ("http://", "https://", "<script", "src="):
        assert outside not in page


def test_text_of_models_cannot_steer_page_or_terminal(tmp_path):
    from askew.report.sweep import SweptCell, sweep_table, write_sweep

    cell = SweptCell(
        HOSTILE, HOSTILE, "\x1b[2J", 0, "failed", f"\x1b]0;x\x07 {HOSTILE}", 0, None, tmp_path / "n"
    )
    page = write_sweep(tmp_path, HOSTILE, [cell]).read_text(encoding="utf-8")
    assert "<script" not in page
    assert "\x1b" not in page
    assert "\u202e" not in page
    assert json.loads((tmp_path / "sweep.json").read_text())["cells"][0]["money"] is None
    assert not any("\x1b" in str(note) for note in sweep_table([cell]).notes)


def test_two_forms_at_once_are_refused(tmp_path):
    done = CliRunner().invoke(app, ["sweep", str(sweep_file(tmp_path, "")), "--json", "--csv"])
    assert "Choose one" in str(done.exception)


def command(file: Path, out: Path) -> subprocess.Popen[str]:
    main = "from askew.cli import main; main()"
    return subprocess.Popen(
        [sys.executable, "-c", main, "sweep", str(file), "--out", str(out), "--yes"],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "ASKEW_TEST_KEY": "k"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_sweep_that_was_stopped_goes_on_and_pays_for_nothing_twice(tmp_path, monkeypatch, how):
    monkeypatch.setenv("ASKEW_TEST_KEY", "k")

    def slowly(seen: Seen) -> Answer:
        return Answer(chat_body("B"), delay=0.05)

    with FaultServer(slowly) as server:
        served = "".join(
            f'[[models]]\nname = "openai/{name}"\nbase_url = "{server.url}"\n'
            f'api_key_env = "ASKEW_TEST_KEY"\nconcurrency = 2\n'
            for name in ("a", "b")
        )
        file, out = sweep_file(tmp_path, served), tmp_path / "out"
        running = command(file, out)
        deadline = time.monotonic() + 120
        while len(server.seen) < 6 and time.monotonic() < deadline:
            time.sleep(0.02)
        running.send_signal(how)
        said = running.communicate(timeout=120)
        if how is not signal.SIGKILL:
            assert running.returncode == 4, said
            assert "the same command goes on" in said[1]
            states = {one["state"] for one in json.loads((out / "sweep.json").read_text())["cells"]}
            assert states == {"not finished"}
        asked = len(server.seen)
        done = CliRunner().invoke(app, ["sweep", str(file), "--out", str(out), "--yes"])
        records = [one for cell in out.glob("*/run.sqlite") for one in read_records(cell)]
        lost = sum(one.state == "unknown" for one in records)
        # What was under way when it was killed is in doubt, and is not paid for again unasked.
        assert lost <= (4 if how is signal.SIGKILL else 0)
        assert done.exit_code == (4 if lost else 0), done.output
        assert len(server.seen) - asked <= len(records) - asked + lost
        assert all(one.attempts == 1 for one in records)
        assert sum(taken(cell.parent).ended for cell in out.glob("*/run.sqlite")) == len(records)
