"""One list of calls on its way over Ray's workers: who works on it, who has died, what has come."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from askew.engines.messages import Status, Terms
from askew.engines.worker import Job, Outcome
from askew.errors import AskewError, RunError
from askew.models.budget import Spending
from askew.models.dispatch import Stop, StopKind
from askew.models.interrupts import Interrupts
from askew.models.ledger import Entry, Ledger
from askew.models.ledgerfile import State

if TYPE_CHECKING:
    from askew.engines.ray_engine import RayEngine

_LOOK_SECONDS = 0.1  # between two looks at how far the work has come
_HELD_SECONDS = 30.0  # that a living worker may take to say what it holds
_DEATHS_IN_A_ROW = 4  # of workers, without a single call coming to its end
_AFTER_GRACE_SECONDS = 15.0  # before workers that do not stop are ended
_TROUBLE_CHARACTERS = 300


class RaySending:
    """Sends entries through Ray's workers until all are settled or something stops it.

    Args:
        engine: whose workers.
        ledger: open in this process, where the entries stand.
        entries: what is to be sent.
        terms: the same for the owner.
        job: the same for the workers.
        at_work: how many workers take part.
        at_once: attempts that one worker has under way at the start.
        interrupts: counts what asks the run to stop.
    """

    def __init__(
        self,
        engine: RayEngine,
        ledger: Ledger,
        entries: Sequence[Entry],
        terms: Terms,
        job: Job,
        *,
        at_work: int,
        at_once: int,
        interrupts: Interrupts,
    ) -> None:
        self._engine = engine
        self._ledger = ledger
        self._entries = entries
        self._terms = terms
        self._job = job
        self._at_work = at_work
        self._at_once = at_once
        self._interrupts = interrupts
        self._heeded = 0  # of the interrupts
        self._end_workers_at: float | None = None
        self._owner: Any = None
        self._workers: dict[str, Any] = {}
        self._parts: dict[asyncio.Future[Outcome], str] = {}  # what each worker does -> its name
        self._references: dict[str, Any] = {}  # the same as Ray knows it, by worker
        self._deaths = 0  # since a call came to its end
        self._changed = asyncio.Event()
        self._defect: AskewError | None = None
        self.waiting = ""
        self.stop: Stop | None = None
        self.tally: Counter[State] = Counter()

    @property
    def concurrency(self) -> int:
        """How many attempts may be under way, as the workers begin."""
        return max(1, len(self._parts)) * self._at_once

    def wake(self) -> None:
        """Look again: something has changed."""
        self._changed.set()

    async def run(self, report: Callable[[], None]) -> None:
        """Send and settle; `stop` says afterwards whether it ended early.

        Raises:
            ConfigError: the cluster does not answer; a worker's model is another one.
            AskewError: what else no resume will cure.
        """
        self.waiting = "Ray starts"
        report()
        self._owner = self._engine.owner(self._ledger)
        try:
            await self._begin()
            while not await self._finished(report):
                await self._sleep()
        except self._engine.ray.exceptions.RayError as trouble:
            why = " ".join(str(trouble).split())[:_TROUBLE_CHARACTERS]
            raise RunError(f"the owner of {self._ledger.path} failed on Ray: {why}") from trouble
        except BaseException:
            await asyncio.shield(self._abandon())
            raise
        finally:
            with suppress(self._engine.ray.exceptions.RayError):
                await _awaited(self._owner.end.remote(self._job.name))
            parts = [self._references[name] for name in self._parts.values()]
            self._engine.ending(self._job.name, parts)
            for part in self._parts:
                part.cancel()
            self._ledger.read_again(self._entries)
        if self._defect is not None:
            raise self._defect

    async def _begin(self) -> None:
        """Tell the owner of the work, and set the workers to it."""
        for over in self._engine.over():
            await _awaited(self._owner.end.remote(over))
        self._workers = dict(list(self._engine.workers().items())[: self._at_work])
        await _awaited(
            self._owner.begin.remote(
                self._job.name, self._terms, {name: [] for name in self._workers}
            )
        )
        for name, worker in self._workers.items():
            self._set_to_work(name, worker)

    def _set_to_work(self, name: str, worker: Any) -> None:
        reference = worker.work.remote(self._job, self._owner)
        self._references[name] = reference
        part = asyncio.ensure_future(_awaited(reference))
        self._parts[part] = name
        part.add_done_callback(self._look_at)

    def _look_at(self, part: asyncio.Future[Outcome]) -> None:
        if not part.cancelled():
            part.exception()  # is asked for, or asyncio complains where nobody waits any more
        self.wake()

    async def _sleep(self) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._changed.wait(), _LOOK_SECONDS)
        self._changed.clear()

    async def _finished(self, report: Callable[[], None]) -> bool:
        """One look at everything; whether nothing is left to do."""
        await self._heed_interrupts()
        for part in [part for part in self._parts if part.done()]:
            await self._part_ended(self._parts.pop(part), part)
        status = await self._status()
        if status is None:
            return False
        if sum(status.tally.values()) > self.tally.total():
            self._deaths = 0
        if status.full and self.stop is None:
            await _awaited(self._owner.free_space.remote())
            await self._halt(Stop(StopKind.DISK, status.full))
        self.tally = Counter(status.tally)
        self._ledger.spent_elsewhere(Spending(status.spent))
        working = status.leased or self.tally.total()
        self.waiting = "" if working or self.stop else "a worker starts"
        report()
        if status.done:
            return True
        if not self._parts and self.stop is None:
            for name, worker in self._workers.items():  # the owner was started anew meanwhile
                self._set_to_work(name, worker)
        return not self._parts

    async def _status(self) -> Status | None:
        """How far the work has come; None: the owner was told of it again and has to be asked."""
        status: Status = await _awaited(self._owner.status.remote(self._job.name))
        if status.known:
            return status
        names = list(self._workers)
        held = await asyncio.gather(*(self._held_by(name) for name in names))
        await _awaited(
            self._owner.begin.remote(
                self._job.name,
                self._terms,
                {name: ids for name, ids in zip(names, held, strict=True) if ids is not None},
            )
        )
        if self.stop is not None:
            await _awaited(self._owner.stop.remote(self._job.name))
        return None

    async def _held_by(self, name: str) -> list[int] | None:
        """The calls that a worker holds; None: it has died."""
        told = self._workers[name].held.remote(self._job.name)
        try:
            held: list[int] = await asyncio.wait_for(_awaited(told), _HELD_SECONDS)
        except TimeoutError:
            return []  # it has not started, or hangs: what it sent in that time is fenced off
        except self._engine.ray.exceptions.RayError:
            return None
        return held

    # Workers

    async def _part_ended(self, name: str, part: asyncio.Future[Outcome]) -> None:
        try:
            outcome = part.result()
        except self._engine.ray.exceptions.RayError as death:
            await self._replace(name, death)
            return
        if outcome.given_up:
            await self._replace(name, RunError("it was given up"))
        elif outcome.defect is not None:
            self._defect = self._defect or outcome.defect
            await self._halt(Stop(StopKind.FATAL, str(outcome.defect)))
        elif outcome.stop is not None:
            await self._halt(outcome.stop)

    async def _replace(self, name: str, death: Exception) -> None:
        """A worker has died: others have its calls, and a new one takes its place."""
        worker = self._workers.pop(name, None)
        self._engine.lost(name)
        if worker is not None:
            self._engine.ray.kill(worker)  # where it only cannot be reached, it must not go on
        await _awaited(self._owner.gone.remote(name))
        self._deaths += 1
        if self._deaths >= _DEATHS_IN_A_ROW + len(self._workers):
            why = " ".join(str(death).split())[:_TROUBLE_CHARACTERS]
            await self._halt(
                Stop(StopKind.FATAL, f"Ray's workers end one after the other, at last: {why}")
            )
        if self.stop is not None:
            return
        for other, actor in self._engine.workers().items():
            if other not in self._workers and len(self._workers) < self._at_work:
                self._workers[other] = actor
                await _awaited(self._owner.join.remote(other))
                self._set_to_work(other, actor)

    # Stopping

    async def _halt(self, stop: Stop) -> None:
        """Send nothing more; what is under way may end."""
        self.stop = self.stop or stop
        await _awaited(self._owner.stop.remote(self._job.name))
        for name in self._parts.values():
            if name in self._workers:
                self._workers[name].halt.remote(self._job.name, self.stop)

    async def _heed_interrupts(self) -> None:
        if self._interrupts.count > self._heeded:
            first = self._heeded == 0
            self._heeded = self._interrupts.count
            now = time.monotonic()
            grace = self._job.settings.grace_seconds if self._heeded == 1 else 0.0
            self._end_workers_at = now + grace + _AFTER_GRACE_SECONDS
            if first:
                message = "Interrupted. Start the same run again to go on."
                self.stop = self.stop or Stop(StopKind.INTERRUPTED, message)
                await _awaited(self._owner.stop.remote(self._job.name))
            for worker in self._workers.values():
                for _ in range(min(2, self._heeded)):
                    worker.interrupt.remote(self._job.name)
        if self._end_workers_at is not None and time.monotonic() > self._end_workers_at:
            for name in list(self._parts.values()):
                await self._replace(name, RunError("it did not stop"))
            self._parts.clear()

    async def _abandon(self) -> None:
        """Cancelled, or a defect: have the workers write down what has come, and stop."""
        with suppress(self._engine.ray.exceptions.RayError):
            await _awaited(self._owner.stop.remote(self._job.name))
            for worker in self._workers.values():
                for _ in range(2):
                    worker.interrupt.remote(self._job.name)
            if self._parts:
                await asyncio.wait(self._parts, timeout=_AFTER_GRACE_SECONDS)


async def _awaited(reference: Any) -> Any:
    """What an actor returns; what askew itself raised there is raised here as it was."""
    try:
        return await reference
    except AskewError as trouble:  # Ray's own class of errors beside, with a trace in its text
        raise getattr(trouble, "cause", trouble) from None
