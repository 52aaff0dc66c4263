"""A run that is ended again and again in its course, and what became of its calls.

A *promise* is counted each time that it is broken: an answer that the ledger held and holds no
more, or holds otherwise (lost); a request that the server saw again without having been listed
as unknown (twice); figures that are not those of a run that was left alone (wrong).
"""

from __future__ import annotations

import random
import signal
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from askew.errors import RunError
from askew.manifest import check_manifest
from askew.models.ledgerfile import CallRecord, State, read_records
from tests.faults.scripted import AT_ONCE, Work, asked_for, is_right, shown_by
from tests.faults.starting import Started, Starter
from tests.models.servers import FaultServer


@dataclass(slots=True)
class Tally:
    """What came of one fault. All but `injected` and `repeats` are broken promises."""

    fault: str
    injected: int = 0
    lost: int = 0  # answers that had been received and are gone, or that no start could get
    twice: int = 0  # requests seen again that had not been listed as unknown
    wrong: int = 0  # figures, replies or files that are not as they must be
    doubts: int = 0  # more calls unknown after a kill than were under way
    repeats: int = 0  # requests seen again that had been listed: the price of `--unknown retry`
    notes: list[str] = field(default_factory=list)  # of broken promises

    @property
    def kept(self) -> bool:
        """Whether every promise was."""
        return not (self.lost or self.twice or self.wrong or self.doubts or self.notes)

    def broken(self, what: str) -> None:
        """Note a promise that was not kept."""
        self.wrong += 1
        self.notes.append(what)


class Watched:
    """One piece of work, ended at some moments, and looked at after each.

    Args:
        work: the command.
        server: that it asks.
        starter: of its processes.
        tally: told what comes of it.
        waits: the longest that is waited for anything, in seconds.
    """

    def __init__(
        self, work: Work, server: FaultServer, starter: Starter, tally: Tally, waits: float = 600
    ) -> None:
        self.work, self.server, self.starter, self.tally = work, server, starter, tally
        self._begun = len(server.seen)
        self._waits = waits
        self._received: dict[str, str] = {}  # by the call's key
        self._doubts = 0

    def start(self, *more: str) -> Started:
        """Start it, or go on with it."""
        folder = self.work.out.parent
        return self.starter.start(*self.work.arguments, *more, folder=folder)

    @property
    def requests(self) -> int:
        """How many the server has seen of it."""
        return len(self.server.seen) - self._begun

    def reach(self, process: Started, requests: int) -> None:
        """Wait until the server has seen so many, or the process has ended."""
        self._until(process, lambda: self.requests >= requests)

    def _until(self, process: Started, reached: object) -> None:
        ends = time.monotonic() + self._waits
        while not reached() and process.poll() is None:  # type: ignore[operator]  # a function
            if time.monotonic() > ends:
                process.kill()
                raise AssertionError(f"nothing more came for {self._waits:g} s: {process.said}")
            time.sleep(0.001)

    def end(self, process: Started, number: int = signal.SIGKILL) -> int:
        """End it by a signal, and look at what it left; its exit code."""
        process.signal(number)
        code = process.wait()
        if code == -number or number != signal.SIGKILL:
            self.tally.injected += 1
        self.look()
        return code

    def look(self) -> None:
        """Compare the ledger with what it held before and with what the server has said."""
        records = self._records()
        doubts = sum(one.doubts + (one.state is State.SENT) for one in records)
        if doubts - self._doubts > AT_ONCE:
            self.tally.doubts += 1
            self.tally.notes.append(f"{doubts - self._doubts} calls in doubt after one kill")
        self._doubts = doubts
        now = {one.key: one.reply.text or "" for one in records if one.reply is not None}
        for key, text in self._received.items():
            if now.get(key) != text:
                self.tally.lost += 1
        self._received |= now
        if wrong := [one for one in records if not is_right(one)]:
            self.tally.broken(f"{len(wrong)} replies are not what the server said")
        self._count(records)

    def _records(self) -> list[CallRecord]:
        if not self.work.ledger.is_file():
            return []
        try:
            return list(read_records(self.work.ledger))
        except RunError as trouble:
            if "no such table" in str(trouble):
                return []  # ended before it had any
            self.tally.broken(str(trouble))
            return []

    def _count(self, records: list[CallRecord]) -> None:
        """What the server has seen more often than the ledger owns up to."""
        listed: Counter[str] = Counter()
        for one in records:
            if one.state is not State.PLANNED or one.attempts:
                listed[shown_by(one.call)] += 1 + one.doubts
        seen = asked_for(self.server, self._begun)
        over = sum(max(0, count - listed[shown]) for shown, count in seen.items())
        self.tally.twice += over
        if over:
            self.tally.notes.append(f"{over} requests seen that the ledger does not own up to")

    def finish(self, figures: dict[str, object]) -> None:
        """Let it come to its end, and hold it to the figures of a run that was left alone."""
        process = self.start()
        ends = time.monotonic() + self._waits
        while process.poll() is None and time.monotonic() < ends:
            time.sleep(0.005)
        if process.poll() is None:
            process.kill()
        if process.wait() != 0:
            self.tally.broken(f"the last start ended with {process.wait()}: {process.said[-600:]}")
            return
        self.look()
        records = self._records()
        self.tally.lost += sum(one.reply is None for one in records)
        repeats = asked_for(self.server, self._begun).total() - len(records)
        self.tally.repeats += max(0, repeats)
        if self.work.figures() != figures:
            self.tally.broken("the figures are not those of a run that was left alone")
        if self.work.kind != "build":
            for fault in check_manifest(self.work.out):
                self.tally.broken(f"MANIFEST: {fault}")
        left = [one.name for one in self.work.out.glob(".*")]
        if left:
            self.tally.broken(f"left behind: {', '.join(left)}")


def left_alone(work: Work, starter: Starter, server: FaultServer) -> tuple[dict[str, object], int]:
    """The figures of work that nobody ends, and how many requests it takes."""
    begun = len(server.seen)
    process = starter.start(*work.arguments, folder=work.out.parent)
    if process.wait() != 0:
        raise AssertionError(process.said)
    return work.figures(), len(server.seen) - begun


def random_moment(watched: Watched, process: Started, needed: int, rng: random.Random) -> None:
    """Wait for a moment that lies anywhere in the work: among its calls, before or after them."""
    if watched.requests < needed and rng.random() < 0.7:
        ahead = max(1, (needed - watched.requests) // 2)
        watched.reach(process, watched.requests + rng.randrange(1, ahead + 1))
        time.sleep(rng.uniform(0, 0.03))
    else:
        watched.reach(process, needed)
        time.sleep(rng.uniform(0, 1.5))


def size_of(path: Path) -> int:
    """Bytes of a file, 0 where it is not there."""
    return path.stat().st_size if path.is_file() else 0
