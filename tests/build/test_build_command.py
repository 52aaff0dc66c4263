"""`askew flex build` as a user meets it: a real process, its output, its exit code, a `kill -9`."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from askew.cli import main
from askew.datasets import DataSpec, load
from tests.build.planted import Planted, by_hash
from tests.models.servers import FaultServer, error

CONCURRENCY = 4


@pytest.fixture
def planted() -> Iterator[tuple[Planted, FaultServer]]:
    handler = Planted(dude=10)
    with FaultServer(handler) as server:
        yield handler, server


def command(server: FaultServer, *more: str) -> list[str]:
    return [
        *("flex", "build", "--model", "openai/toy", "--base-url", server.url),
        *("--items", "6", "--set", "build.controls=0", "--set", "models.target.max_tokens=8"),
        *("--concurrency", str(CONCURRENCY), "--out", "set", *more),
    ]


def askew(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from askew.cli import main; main()", *arguments],
        cwd=folder,
        env={"PATH": "", "COLUMNS": "120", "HOME": str(folder), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture
def here(tmp_path, monkeypatch, capsys) -> Callable[..., tuple[int, str, str]]:
    """`askew …` in this process, which is quicker: its exit code, output and errors."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")

    def askew_here(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["askew", *arguments])
        with pytest.raises(SystemExit) as end:
            main()
        said = capsys.readouterr()
        return int(end.value.code or 0), said.out, said.err

    return askew_here


def started(server: FaultServer, folder: Path, *more: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [
            *(sys.executable, "-c", "from askew.cli import main; main()"),
            *command(server, "--yes", *more),
        ],
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def wait_for(server: FaultServer, requests: int, process: subprocess.Popen[bytes]) -> None:
    """Until the server has seen so many."""
    deadline = time.monotonic() + 60
    while len(server.seen) < requests and time.monotonic() < deadline:
        assert process.poll() is None, "the build ended too soon"
        time.sleep(0.002)


def report_of(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "set" / "build.json").read_text())


def test_a_build_ends_with_the_funnel_the_rates_and_the_folder(tmp_path, planted):
    done = askew(*command(planted[1], "--yes"), folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "6 items, 6 neutral without an attack, 6 given a scenario" in done.stdout
    assert "on fresh replies" in done.stdout
    assert "winner's curse" in done.stdout
    assert "not fit to select on: 0 control items" in done.stdout
    assert "Set: set" in done.stdout
    calls = report_of(tmp_path)["calls"]
    assert f"{calls['selection']:,} calls; the paper's way takes {calls['as_the_paper']:,}" in (
        done.stdout
    )


@pytest.mark.slow
def test_a_set_is_built_once_and_is_a_data_set_like_any_other(tmp_path, planted):
    assert askew(*command(planted[1], "--yes"), folder=tmp_path).returncode == 0
    again = askew(*command(planted[1], "--yes", "--json"), folder=tmp_path)
    assert again.returncode == 0
    assert json.loads(again.stdout)["calls"]["asked"] == 0
    ran = askew(
        *("run", "--data", "flex=set", "--model", "openai/toy", "--base-url", planted[1].url),
        *("--set", "flex.controls=0", "--yes"),
        folder=tmp_path,
    )
    assert ran.returncode == 0, ran.stderr


def test_a_plan_asks_nothing_and_leaves_nothing_behind(tmp_path, planted, here):
    code, out, errors = here(*command(planted[1], "--plan", "--json"))
    assert code == 0, errors
    plan = json.loads(out)
    assert plan["items"] == 6
    assert plan["calls_as_the_paper"] == 6 + 5 * plan["scenarios"]
    assert plan["calls_at_most"] == 6 + 5 * plan["scenarios"] + 3 * 5 * 6
    assert plan["calls_if_all_work"] == 6 * (1 + 5 + 15)
    assert plan["calls_at_least"] == 6
    assert not planted[0].seen
    assert list(tmp_path.iterdir()) == []
    assert f"at most {plan['calls_at_most']:,}" in here(*command(planted[1], "--plan"))[1]


def test_paid_calls_are_not_made_unasked(planted, here, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    code, _, errors = here(*command(planted[1]))
    assert code == 3
    assert "Add --yes" in errors
    assert not planted[0].seen


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--biased-from", "6"], "biased_from is 6 of 5 replies"),
        (["--rotations", "all", "--replies", "5"], "use a multiple of 3"),
        (["--set", "build.repliez=5"], "build.repliez"),
        (["--scoring", "letter"], "build.scoring is 'letter'"),
        (["--budget-money", "1"], "needs the price of openai/toy"),
        (["--sources", "bqq"], "unknown data set 'bqq'"),
        (["--base-url", "http://192.0.2.1/v1", "--local-only"], "local_only is set"),
        (["--attacker", "gpt-4o"], "models.attacker.name is 'gpt-4o'"),
        (["--set", "models.referee.name=a/b"], "[models.judge]"),
    ],
)
def test_what_cannot_be_built_is_said_before_anything_is_asked(tmp_path, planted, here, more, said):
    code, _, errors = here(*command(planted[1], "--yes", *more))
    assert code == 3
    assert said in errors
    assert not planted[0].seen
    assert not (tmp_path / "set").exists()


def test_rules_on_the_command_line_take_the_place_of_a_files_attacker(tmp_path, planted, here):
    (tmp_path / "my.toml").write_text(
        f'[models.target]\nname = "openai/toy"\nbase_url = "{planted[1].url}"\n'
        '[models.attacker]\nname = "openai/costly"\n[build]\nitems = 2\n'
    )
    code, out, _ = here("flex", "build", "my.toml", "--attacker", "rules", "--plan")
    assert code == 0
    assert "rules" in out
    assert "costly" not in out


def test_a_spent_budget_ends_with_4_and_the_way_on(tmp_path, planted, here):
    code, _, errors = here(*command(planted[1], "--yes", "--budget-calls", "30"))
    assert code == 4
    assert "stopped early (budget) at" in errors
    assert "run the same command again" in errors
    assert sum(planted[0].seen.values()) <= 30
    assert report_of(tmp_path)["complete"] is False
    code, _, errors = here(*command(planted[1], "--yes"))
    assert code == 0, errors
    assert report_of(tmp_path)["complete"] is True


def test_an_endpoint_that_lets_nobody_in_ends_with_4_and_says_why(tmp_path, here):
    with FaultServer(lambda seen: error(401, "bad key")) as server:
        code, _, errors = here(*command(server, "--yes"))
    assert code == 4
    assert "bad key" in errors
    assert report_of(tmp_path)["missing"]["stopped"] == "fatal"
    assert not (tmp_path / "set" / "data").exists()


@pytest.mark.slow
def test_ctrl_c_stops_cleanly_and_ends_with_4(tmp_path):
    planted = Planted(dude=10)

    def slowly(seen):
        return replace(planted(seen), delay=0.02)

    with FaultServer(slowly) as server:
        process = started(server, tmp_path)
        wait_for(server, 30, process)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 4
        assert report_of(tmp_path)["missing"]["stopped"] == "interrupted"
        assert not (tmp_path / "set" / "SHA256SUMS").exists()


@pytest.mark.slow
def test_after_kill_9_no_answer_that_was_received_is_asked_for_again(tmp_path):
    """Killed three times at work, then let through: the same set, and no reply paid for twice."""
    with FaultServer(by_hash) as server:
        arguments = command(server, "--yes", "--unknown", "retry")
        kills = 3
        for kill in range(1, kills + 1):
            process = started(server, tmp_path, "--unknown", "retry")
            wait_for(server, 30 * kill, process)
            process.kill()
            process.wait()
            assert report_of(tmp_path)["complete"] is False
            assert not (tmp_path / "set" / "SHA256SUMS").exists()
        done = askew(*arguments, folder=tmp_path)
        assert done.returncode == 0, done.stderr
        seen = len(server.seen)
    whole = tmp_path / "whole"
    whole.mkdir()
    with FaultServer(by_hash) as server:
        assert askew(*command(server, "--yes"), folder=whole).returncode == 0
        needed = len(server.seen)
    assert needed <= seen <= needed + kills * CONCURRENCY
    assert report_of(tmp_path)["fresh"] == report_of(whole)["fresh"]
    both = [load(DataSpec("flex", folder / "set")).items for folder in (tmp_path, whole)]
    assert [item.assigned for item in both[0]] == [item.assigned for item in both[1]]
