"""A loss of power, a full disk, a clock that goes back."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time

import pytest

from askew.models.base import ModelSpec
from askew.models.ledger import Ledger
from askew.models.ledgerfile import read_records
from askew.models.registry import load_model
from askew.models.runner import Runner
from askew.records import Call, Prompt
from tests.faults import machine
from tests.faults.killed import Tally, Watched
from tests.faults.power import DAMAGES, Snapshot, end_noted, judge, stopped
from tests.faults.scripted import asked_for, work

SHOTS = 4


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="reads whether a process stands still")
def test_after_a_loss_of_power_nothing_synced_is_gone_and_every_doubt_is_owned_up_to(
    tmp_path, starter, server
):
    import shutil

    rng, tally = random.Random(0), Tally("power")
    done, notes = work("flex", server.url, tmp_path), tmp_path / "synced.txt"
    begun = len(server.seen)
    process = starter.start(
        *done.arguments, folder=tmp_path, settings={"ASKEW_NOTE_SYNCS": str(notes)}
    )
    tails = 0
    for number in range(SHOTS):
        wanted = len(server.seen) + 5
        while len(server.seen) < wanted and process.poll() is None:
            time.sleep(0.001)
        time.sleep(rng.uniform(0, 0.03))
        with stopped(process):
            time.sleep(0.05)
            copy = tmp_path / f"shot{number}"
            shutil.copytree(done.out, copy)
            synced, end = end_noted(notes, copy)
            shot = Snapshot(copy, synced, end, asked_for(server, begun))
        tails += end - synced
        for damage in DAMAGES:
            judge(shot, tmp_path / "left", damage, rng, tally)
    process.kill()
    assert tally.kept, tally
    assert tally.injected == SHOTS * len(DAMAGES)
    if not tails:
        pytest.skip("each moment was right after a sync: the disk had nothing to forget")


@pytest.mark.skipif(not machine.may_mount(), reason="mounting takes root")
@pytest.mark.parametrize("full", ["from the start", "among the calls", "at the report"])
def test_a_full_disk_is_said_and_the_run_goes_on_with_more_room(
    tmp_path, starter, server, alone, full
):
    tally, disk = Tally("disk full"), tmp_path / "disk"
    with machine.small_disk(disk, 1150 if full == "from the start" else 6000):
        watched = Watched(work("flex", server.url, disk), server, starter, tally)
        process = starter.start(*watched.work.arguments, folder=tmp_path)
        if full != "from the start":
            watched.reach(process, 8 if full == "among the calls" else alone[1])
            machine.fill(disk)
        code = process.wait()
        said = " ".join(process.said.split())
        # The room that is kept for the last replies may be enough for the report as well.
        assert code in ((0, 3, 4) if full == "at the report" else (3, 4)), said
        assert "Traceback" not in said
        if code:
            assert "space" in said or "megabytes" in said, said
        watched.look()
        machine.resize(disk, 64 * 1024)
        watched.finish(alone[0])
    assert tally.kept, tally
    assert tally.repeats == 0


def test_an_export_on_a_full_disk_leaves_what_was_there(tmp_path, starter, server):
    done = work("flex", server.url, tmp_path)
    assert starter.start(*done.arguments, folder=tmp_path).wait() == 0
    other = tmp_path / "other"
    other.mkdir()
    for name, command in {
        "rows.csv": ("export", "rows", str(done.out), "rows.csv"),
        "pack.zip": ("export", "evidence", str(done.out), "pack.zip", "--with-calls"),
        "page.html": ("compare", str(done.out), str(done.out), "--out", "page.html"),
    }.items():
        (other / name).write_bytes(b"what stood there")
        process = starter.start(*command, folder=other, limits={"FSIZE": 4096})
        assert process.wait() == 3, (name, process.said)
        assert "cannot be written" in process.said
        assert (other / name).read_bytes() == b"what stood there"
    assert sorted(one.name for one in other.iterdir()) == [
        "log.txt", "pack.zip", "page.html", "rows.csv"
    ]  # fmt: skip


def test_a_clock_that_goes_back_changes_no_figure_and_makes_no_time_negative(
    tmp_path, starter, server, alone
):
    settings = machine.backward_clock(tmp_path)
    if settings is None:
        pytest.skip("takes a C compiler")
    tally = Tally("clock")
    watched = Watched(work("flex", server.url, tmp_path), server, starter, tally)
    command = [sys.executable, "-c", "from askew.cli import main; main()"]
    before = time.monotonic()
    done = subprocess.run(
        [*command, *watched.work.arguments],
        cwd=tmp_path,
        env={**os.environ, **settings, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert time.monotonic() - before < 120  # no wait was counted by that clock
    records = list(read_records(watched.work.ledger))
    received = [one.received_at or 0.0 for one in records]
    assert received != sorted(received)  # else the clock did not go back
    watched.look()
    watched.finish(alone[0])
    assert tally.kept, tally


async def test_what_took_less_than_no_time_is_no_ground_for_a_plan(tmp_path):
    model = load_model(ModelSpec(name="python/builtins:str"))
    calls = [Call(Prompt(text=f"question {number}")) for number in range(4)]
    with Ledger.open(tmp_path / "run.sqlite") as ledger:
        runner = Runner(ledger)
        await runner.ask(model, calls[:2])
        ledger._database.execute("UPDATE calls SET received_at = sent_at - 3600")
        assert runner.plan(model, calls).seconds is None
        ledger._database.execute("UPDATE calls SET received_at = sent_at + 2 WHERE id = 1")
        assert runner.plan(model, calls).seconds > 0
