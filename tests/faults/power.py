"""What a loss of power leaves of a run folder, as a model of what a disk may forget.

The system writes to the disk when it likes. What was written since the last `fsync` may be there,
or not, or in part, sector by sector and in any order. A snapshot stops a real run at some moment,
copies its folder, and knows how much of the ledger's log had been synced by then; `damaged` makes
of it what a disk may hold afterwards.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import struct
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from askew.errors import RunError
from askew.models import ledger as ledger_module
from askew.models.ledger import Ledger
from askew.models.ledgerfile import CallRecord, State
from tests.faults.killed import Tally
from tests.faults.scripted import is_right, shown_by
from tests.faults.starting import Started

SECTOR = 512
_HEADER, _FRAME = 32, 24
_NOTES = "synced.txt"  # where a process notes how much of its log is on the disk
DAMAGES = ("whole", "cut", "cut at a sector", "dropped", "garbage", "zeros", "some sectors", "more")


def note_syncs() -> None:
    """In the process of the run: after each sync, note where the log ends and which log it is."""
    notes = os.open(os.environ["ASKEW_NOTE_SYNCS"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    sync = Ledger.sync

    def noting(ledger: Ledger) -> None:
        sync(ledger)
        log = ledger.path.with_name(ledger.path.name + "-wal")
        end, salt = end_of(log)
        os.write(notes, f"{end} {salt}\n".encode())

    Ledger.sync = noting  # type: ignore[method-assign]


def end_of(log: Path) -> tuple[int, str]:
    """Where the last frame of a write-ahead log ends, and the salt that tells it from older ones.

    https://sqlite.org/fileformat2.html#walformat
    """
    with suppress_missing(), log.open("rb") as file:
        header = file.read(_HEADER)
        if len(header) == _HEADER:
            page = struct.unpack(">I", header[8:12])[0]
            salt, end = header[16:24], _HEADER
            while len(frame := file.read(_FRAME)) == _FRAME and frame[8:16] == salt:
                end += _FRAME + page
                file.seek(end)
            return end, salt.hex()
    return 0, ""


@contextmanager
def suppress_missing() -> Iterator[None]:
    """A file that is not there yet is empty."""
    try:
        yield
    except FileNotFoundError:
        return


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A run folder at one moment.

    Attributes:
        folder: the copy.
        synced: bytes of the log that were on the disk.
        end: bytes of the log that were written.
        seen: how often the server was shown what.
    """

    folder: Path
    synced: int
    end: int
    seen: Counter[str]

    @property
    def log(self) -> Path:
        """The ledger's log."""
        return self.folder / "run.sqlite-wal"


@contextmanager
def stopped(process: Started) -> Iterator[None]:
    """Stand still, so that what is copied is of one moment."""
    process.signal(signal.SIGSTOP)
    state = Path(f"/proc/{process.pid}/stat")
    for _ in range(2000):
        try:
            if state.read_text().rsplit(") ", 1)[1][0] in "TZX":
                break
        except FileNotFoundError:
            break
        time.sleep(0.001)
    try:
        yield
    finally:
        process.signal(signal.SIGCONT)


def end_noted(notes: Path, folder: Path) -> tuple[int, int]:
    """How much of the log in `folder` had been synced, and where it ends."""
    end, salt = end_of(folder / "run.sqlite-wal")
    lines = notes.read_text().splitlines() if notes.exists() else []
    synced = 0
    for line in reversed(lines):
        noted, _, of = line.partition(" ")
        if of == salt:  # else the log was begun anew, and what stood in the last one is on the disk
            synced = int(noted)
            break
    return min(synced, end), end


def damaged(shot: Snapshot, place: Path, damage: str, rng: random.Random) -> Path:
    """A copy of the snapshot with what the disk may hold of it; the folder of the run."""
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(shot.folder, place)
    log = place / "run.sqlite-wal"
    (place / "run.sqlite-shm").unlink(missing_ok=True)  # memory alone
    if not log.is_file():
        return place
    data = bytearray(log.read_bytes())
    start, end = shot.synced, shot.end
    room = range(start, max(start + 1, end))
    match damage:
        case "cut":
            del data[rng.choice(room) :]
        case "cut at a sector":
            del data[max(start, rng.choice(room) // SECTOR * SECTOR) :]
        case "dropped":
            del data[start:]
        case "garbage" | "zeros":
            at = rng.choice(room)
            data[at:end] = rng.randbytes(end - at) if damage == "garbage" else bytes(end - at)
        case "some sectors":
            for at in range(start, end, SECTOR):
                if rng.random() < 0.3:
                    last = min(at + SECTOR, end)
                    data[at:last] = bytes(last - at)
        case "more":
            data[end:] = rng.randbytes(rng.randrange(1, 9000))
    log.write_bytes(data)
    return place


def after_reboot(folder: Path) -> list[CallRecord]:
    """Open the ledger as the next start does after a reboot, and close it.

    Raises:
        RunError: it does not open.
        AssertionError: it is damaged.
    """
    boot = ledger_module._boot_id
    ledger_module._boot_id = lambda: "the next boot"
    try:
        with Ledger.open(folder / "run.sqlite") as opened:
            records = list(opened.records())
    finally:
        ledger_module._boot_id = boot
    with closing(sqlite3.connect(folder / "run.sqlite")) as database:
        found = database.execute("PRAGMA integrity_check").fetchall()
    assert found == [("ok",)], found
    return records


def judge(shot: Snapshot, place: Path, damage: str, rng: random.Random, tally: Tally) -> None:
    """Damage a snapshot and hold what is left to the promise of a loss of power."""
    tally.injected += 1
    synced = {one.key for one in after_reboot(damaged(shot, place, "dropped", rng)) if one.reply}
    try:
        records = after_reboot(damaged(shot, place, damage, rng))
    except (RunError, AssertionError) as trouble:
        tally.broken(f"{damage}: {trouble}")
        return
    had = {one.key for one in records if one.reply}
    tally.lost += len(synced - had)
    if any(not is_right(one) for one in records):
        tally.broken(f"{damage}: a reply is not what the server said")
    listed: Counter[str] = Counter()
    for one in records:
        if one.state is not State.PLANNED or one.doubts:
            listed[shown_by(one.call)] += max(1, one.doubts + (one.reply is not None))
    over = sum(max(0, count - listed[shown]) for shown, count in shot.seen.items())
    if over:
        tally.twice += over
        tally.notes.append(f"{damage}: {over} calls that had left show as not sent")
