"""The faults of the soak: one function each, which injects it into a real run and looks after.

A scenario takes a `Place` and returns what came of one round of it. Add one to `SCENARIOS`, with
how often it comes in a lap, and it takes part.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from tests.faults import machine
from tests.faults.killed import Tally, Watched, left_alone, random_moment
from tests.faults.power import DAMAGES, Snapshot, damaged, end_noted, judge, stopped
from tests.faults.scripted import KINDS, Work, asked_for, reply, work
from tests.faults.starting import Started, Starter
from tests.models.servers import FaultServer

from askew.errors import RunError
from askew.manifest import check_manifest
from askew.models.ledgerfile import read_records

ENDS = 3  # exit code of a command that was refused or could not write


@dataclass(frozen=True, slots=True)
class Place:
    """What a round of a scenario works with."""

    folder: Path  # new and empty
    rng: random.Random
    starter: Starter
    server: FaultServer
    known: dict[str, tuple[dict[str, Any], int]]  # by kind: what a run left alone comes to

    def work(self, kind: str, name: str = "run") -> Work:
        """Work of a kind in a folder of its own."""
        folder = self.folder / name / "in"
        folder.mkdir(parents=True)
        return work(kind, self.server.url, folder)

    def alone(self, kind: str) -> tuple[dict[str, Any], int]:
        """The figures of work that nobody ends, and its requests; run once a soak."""
        if kind not in self.known:
            self.known[kind] = left_alone(self.work(kind, "alone"), self.starter, self.server)
        return self.known[kind]

    def ended(self, kind: str) -> Work:
        """Work of a kind that has ended."""
        done = self.work(kind, "ended")
        process = self.starter.start(*done.arguments, folder=done.out.parent)
        if process.wait() != 0:
            raise AssertionError(process.said)
        return done


Scenario = Callable[[Place], Tally]


def kill_driver(place: Place, kind: str, kills: int) -> Tally:
    """`kill -9` of the process that asks, at random moments of its work."""
    tally = Tally(f"kill -9 of the driver: {kind}")
    figures, needed = place.alone(kind)
    watched = Watched(place.work(kind), place.server, place.starter, tally)
    for _ in range(kills):
        process = watched.start()
        random_moment(watched, process, needed, place.rng)
        watched.end(process)
    watched.finish(figures)
    return tally


def interrupt(place: Place, kind: str) -> Tally:
    """SIGINT, SIGTERM or SIGHUP at random moments; sometimes a second one right after."""
    tally = Tally("SIGINT, SIGTERM, SIGHUP")
    figures, needed = place.alone(kind)
    watched = Watched(place.work(kind), place.server, place.starter, tally)
    for _ in range(3):
        number = place.rng.choice((signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
        process = watched.start()
        random_moment(watched, process, needed, place.rng)
        if place.rng.random() < 0.3:
            process.signal(number)
            time.sleep(place.rng.uniform(0, 0.02))
        watched.end(process, number)
        if "Traceback" in process.said and "KeyboardInterrupt" not in process.said:
            tally.broken(f"a traceback: {process.said[-500:]}")
    watched.finish(figures)
    return tally


def kill_written(place: Place) -> Tally:
    """`kill -9` of an export, a report, an evidence pack, a score: whole files or none."""
    tally = Tally("kill -9 of exports, evidence, score")
    done = place.ended("flex")
    figures, folder = done.figures(), place.folder / "written"
    folder.mkdir()
    commands = {
        "rows.csv": ("export", "rows", str(done.out), "rows.csv"),
        "rows.parquet": ("export", "rows", str(done.out), "rows.parquet"),
        "pack.zip": ("export", "evidence", str(done.out), "pack.zip", "--with-calls"),
        "page.html": ("compare", str(done.out), str(done.out), "--out", "page.html"),
    }
    whole: dict[str, bytes] = {}
    seconds: dict[str, float] = {}
    for name, command in commands.items():
        began = time.monotonic()
        process = place.starter.start(*command, folder=folder)
        if process.wait() != 0:
            raise AssertionError(process.said)
        whole[name], seconds[name] = (folder / name).read_bytes(), time.monotonic() - began
    for name, command in commands.items():
        for before in (b"what stood there", None):
            (folder / name).unlink(missing_ok=True)
            if before is not None:
                (folder / name).write_bytes(before)
            _killed_within(place, tally, command, folder, seconds[name])
            found = (folder / name).read_bytes() if (folder / name).exists() else None
            if found not in (before, whole[name]):
                tally.broken(f"{name} is neither what it was nor what was to be written")
    pack = ("export", "evidence", str(done.out), "pack", "--with-calls")
    _killed_within(place, tally, pack, folder, seconds["pack.zip"])
    if (folder / "pack").exists():
        checked = subprocess.run(
            ["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=folder / "pack", check=False
        )
        if checked.returncode:
            tally.broken("an evidence pack is there and not whole")
    for _ in range(4):
        _killed_within(place, tally, ("score", str(done.out)), folder, 2.0)
        if (done.out / "MANIFEST").exists():
            for fault in check_manifest(done.out):
                if fault.kind.value != "extra":  # what a killed process has left goes later
                    tally.broken(f"MANIFEST claims what is not there: {fault}")
        if done.figures() != figures:
            tally.broken("estimates.json is not what it was")
        if not (done.out / "report.html").read_text("utf-8").rstrip().endswith("</html>"):
            tally.broken("report.html is not whole")
    if place.starter.start("score", str(done.out), folder=folder).wait() != 0:
        tally.broken("a score after the kills does not end")
    for fault in check_manifest(done.out):
        tally.broken(f"after the last score: {fault}")
    return tally


def _killed_within(
    place: Place, tally: Tally, command: tuple[str, ...], folder: Path, seconds: float
) -> None:
    process = place.starter.start(*command, folder=folder)
    time.sleep(place.rng.uniform(0, seconds))
    if process.kill() == -signal.SIGKILL:
        tally.injected += 1


def kill_survey(place: Place) -> Tally:
    """`kill -9` of the survey's server among votes: what was said to be saved is there."""
    from benchmarks.soak.voting import votes_through_kills

    return votes_through_kills(place.folder, place.rng, place.starter, kills=6)


def power(place: Place, kind: str) -> Tally:
    """A loss of power at random moments of a run, and what a disk may hold afterwards."""
    tally = Tally("loss of power")
    figures, needed = place.alone(kind)
    done = place.work(kind)
    notes = done.out.parent / "synced.txt"
    begun = len(place.server.seen)
    process = place.starter.start(
        *done.arguments, folder=done.out.parent, settings={"ASKEW_NOTE_SYNCS": str(notes)}
    )
    last: tuple[Snapshot, Path] | None = None
    number = 0
    while process.poll() is None and number < 5:
        wanted = len(place.server.seen) + place.rng.randrange(1, max(2, needed // 5))
        while len(place.server.seen) < wanted and process.poll() is None:
            time.sleep(0.001)
        time.sleep(place.rng.uniform(0, 0.02))
        shot = _snapshot(place, process, done, notes, begun, place.folder / f"shot{number}")
        if shot is None:
            continue
        number += 1
        for damage in DAMAGES:
            copy = place.folder / "left" / "out"
            judge(shot, copy, damage, place.rng, tally)
            last = (shot, copy)
    process.kill()
    if last is not None:
        _goes_on(place, replace(done, out=last[1]), last[0], figures, tally)
    return tally


def _snapshot(
    place: Place, process: Started, done: Work, notes: Path, begun: int, copy: Path
) -> Snapshot | None:
    with stopped(process):
        time.sleep(0.05)  # what had left before it stood still has arrived by then
        if not done.ledger.is_file():
            return None
        import shutil

        shutil.copytree(done.out, copy)
        synced, end = end_noted(notes, copy)
        seen = asked_for(place.server, begun)
    return Snapshot(copy, synced, end, seen)


def _goes_on(
    place: Place, left: Work, shot: Snapshot, figures: dict[str, Any], tally: Tally
) -> None:
    """The run goes on with what the disk has kept, and comes to the same figures."""
    damaged(shot, left.out, place.rng.choice(DAMAGES), place.rng)
    arguments = [*left.arguments]
    if "--out" not in arguments:
        arguments += ["--out", str(left.out)]
    else:
        arguments[arguments.index("--out") + 1] = str(left.out)
    process = place.starter.start(*arguments, folder=left.out.parent)
    if process.wait() != 0:
        tally.broken(f"it does not go on after a loss of power: {process.said[-500:]}")
    elif left.figures() != figures:
        tally.broken("after a loss of power the figures differ")


def full_disk(place: Place, kind: str) -> Tally:
    """A disk that is full at some point, of the run or of its report; then it has room again."""
    tally = Tally("disk full")
    figures, needed = place.alone(kind)
    disk = place.folder / "disk"
    fills_up = place.rng.random() < 0.5  # on the way; else it is too small from the beginning
    with machine.small_disk(disk, 6000 if fills_up else place.rng.randrange(900, 1350)):
        done = work(kind, place.server.url, disk)
        watched = Watched(done, place.server, place.starter, tally)
        process = watched.start()
        if fills_up:
            watched.reach(process, place.rng.randrange(1, needed + 1))
            machine.fill(disk)
        ends = time.monotonic() + 300
        while process.poll() is None and time.monotonic() < ends:
            time.sleep(0.01)
        if process.wait() not in (0, ENDS, 4):
            tally.broken(f"ended with {process.wait()}")
        if process.wait():
            tally.injected += 1
        machine.resize(disk, 64 * 1024)
        if "Traceback" in process.said:
            tally.broken(f"a traceback: {process.said[-600:]}")
        watched.look()
        watched.finish(figures)
    return tally


def at_once(place: Place, kind: str) -> Tally:
    """Three processes started on one folder at the same moment, and a score beside them."""
    tally = Tally("several processes on one folder")
    figures, _ = place.alone(kind)
    watched = Watched(place.work(kind), place.server, place.starter, tally)
    folders = [watched.work.out.parent]
    for name in ("second", "third"):
        folders.append(place.folder / name)
        folders[-1].mkdir()
    begun = [place.starter.start(*watched.work.arguments, folder=folder) for folder in folders]
    time.sleep(place.rng.uniform(0, 1.0))
    score = place.folder / "score"
    score.mkdir()
    begun.append(place.starter.start("score", str(watched.work.out), folder=score))
    codes = [process.wait() for process in begun]
    tally.injected += len(begun)
    for process, code in zip(begun, codes, strict=True):
        if code not in (0, ENDS) or "Traceback" in process.said:
            tally.broken(f"ended with {code}: {process.said[-500:]}")
    if 0 not in codes[:3]:
        tally.broken("none of the processes has run")
    watched.look()
    watched.finish(figures)
    if watched.tally.repeats:
        tally.broken("a request was seen twice")
    return tally


def moved(place: Place, kind: str) -> Tally:
    """The folder is moved under a running run, which stops; then it goes on where it lies."""
    tally = Tally("folder moved or deleted under a run")
    figures, needed = place.alone(kind)
    done = place.work(kind)
    watched = Watched(done, place.server, place.starter, tally)
    process = watched.start()
    watched.reach(process, place.rng.randrange(1, max(2, needed // 2)))
    there = done.out.with_name("moved")
    done.out.rename(there)
    tally.injected += 1
    code = process.wait()
    if code == 0 or "Traceback" in process.said or "moved" not in process.said:
        tally.broken(f"ended with {code}: {process.said[-500:]}")
    if done.out.exists():
        tally.broken("a folder was made anew in the old place")
    there.rename(done.out)
    watched.look()
    watched.finish(figures)
    return tally


def backward(place: Place, kind: str) -> Tally:
    """A clock that goes back a minute twenty times a second."""
    tally = Tally("clock going backwards")
    settings = machine.backward_clock(place.folder)
    if settings is None:
        return tally
    figures, _ = place.alone(kind)
    done = place.work(kind)
    watched = Watched(done, place.server, place.starter, tally)
    command = [sys.executable, "-c", "from askew.cli import main; main()", *done.arguments]
    with (done.out.parent / "clock.log").open("wb") as log:
        process = subprocess.Popen(
            command, cwd=done.out.parent, env={**os.environ, **settings}, stdout=log, stderr=log
        )
        code = process.wait(600)
    tally.injected += 1
    said = (done.out.parent / "clock.log").read_text("utf-8", "replace")
    if code or "Traceback" in said:
        tally.broken(f"ended with {code}: {said[-500:]}")
    watched.look()
    watched.finish(figures)
    with suppress(RunError):
        times = [one.received_at or 0 for one in read_records(done.ledger)]
        if times == sorted(times):
            tally.broken("the clock did not go back: nothing was shown")
    return tally


def _scenarios() -> Iterator[tuple[str, Scenario]]:
    for kind in KINDS:
        yield f"kill {kind}", partial(kill_driver, kind=kind, kills=6)
    yield "kill survey", kill_survey
    yield "kill exports", kill_written
    for kind in ("flex", "audit"):
        yield f"power {kind}", partial(power, kind=kind)
        yield f"signals {kind}", partial(interrupt, kind=kind)
    for kind in ("flex", "boundary"):
        yield f"at once {kind}", partial(at_once, kind=kind)
        yield f"moved {kind}", partial(moved, kind=kind)
    if machine.may_mount():
        yield "disk full flex", partial(full_disk, kind="flex")
        yield "disk full boundary", partial(full_disk, kind="boundary")
    yield "clock flex", partial(backward, kind="flex")


SCENARIOS: dict[str, Scenario] = dict(_scenarios())


@contextmanager
def places(known: Path) -> Iterator[Callable[[Path, random.Random], Place]]:
    """Makes places for rounds, with one server and one starter for all of them.

    Args:
        known: a file that keeps what runs left alone come to.
    """
    kept = json.loads(known.read_text("utf-8")) if known.is_file() else {}
    found = {kind: (one[0], one[1]) for kind, one in kept.items()}
    with ExitStack() as stack:
        server = stack.enter_context(FaultServer(reply))
        starter = stack.enter_context(Starter())

        def place(folder: Path, rng: random.Random) -> Place:
            folder.mkdir(parents=True)
            server.seen.clear()
            return Place(folder, rng, starter, server, found)

        yield place
        known.write_text(json.dumps(found), encoding="utf-8")
