"""One list of calls on its way to one model: what to send next, and what came back.

A single loop does all of it. Each turn judges the attempts that have ended, chooses the next ones,
and writes both into the ledger in one transaction before it lets them go; then it sleeps until
something ends or a wait is over.
"""

from __future__ import annotations

import asyncio
import heapq
import math
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice
from typing import Literal, Protocol

from askew.errors import ConfigError, MissingDependency, ModelError
from askew.models.base import Fatal, Model, RateLimited, ServerFault
from askew.models.budget import NOTHING, Cost, Limits, Price, cost_of_call
from askew.models.checked_reply import checked
from askew.models.interrupts import Interrupts
from askew.models.ledger import Entry, Settlement
from askew.models.ledgerfile import State, WriteFailed
from askew.models.masking import without_known_secrets
from askew.models.pace import Pace, PaceSettings
from askew.privacy.known_secrets import mask
from askew.records import Finish, Reply

_ARMED_AHEAD = 64
_SECONDS_BETWEEN_SIGNS = 1.0  # of life, while nothing happens
_SLOW_SECONDS = 20.0  # without a first reply, after which that is said
_TROUBLE_CHARACTERS = 200
_LARGEST_BATCH = 64  # so that progress moves, and a crash costs no more than this


@dataclass(frozen=True, kw_only=True, slots=True)
class RunnerSettings:
    """How calls are sent and repeated."""

    # What to do with calls that may have been answered and billed. Calls to unpaid models are
    # asked again in any case.
    unknown: Literal["skip", "retry"] = "skip"
    concurrency: int | None = None  # at most so many calls under way; None: the model's own word
    max_attempts: int = 5  # times that a call is sent before it counts as failed
    max_refusals: int = 20  # times that the server may put one call off with "slow down"
    grace_seconds: float = 30.0  # how long calls under way may take after the first Ctrl-C
    pace: PaceSettings = field(default_factory=PaceSettings)


class StopKind(StrEnum):
    """Why calls are left."""

    BUDGET = "budget"
    INTERRUPTED = "interrupted"
    CIRCUIT_BREAKER = "circuit breaker"
    FATAL = "fatal"
    DISK = "disk"


@dataclass(frozen=True, slots=True)
class Stop:
    """An early end, with one line for the user."""

    kind: StopKind
    message: str


@dataclass(slots=True, eq=False)
class _Attempt:
    """Calls that go out together: as many as the model takes at once."""

    entries: list[Entry]
    tries: int = 0
    refusals: int = 0
    sent_at: float = 0.0
    outcome: Sequence[Reply] | BaseException = ()


class Outbox(Protocol):
    """What a dispatch needs of the ledger in which its calls stand; see `Ledger`."""

    @property
    def under_way(self) -> bool:
        """See `Ledger`."""
        ...

    def transaction(self) -> AbstractContextManager[None]:
        """See `Ledger`."""
        ...

    def arm(self, batch: Iterable[Entry], ahead: Iterable[Entry] = ()) -> None:
        """See `Ledger`."""
        ...

    def sync(self) -> None:
        """See `Ledger`."""
        ...

    def sync_due_in(self) -> float | None:
        """See `Ledger`."""
        ...

    def reserve_and_mark_sent(
        self, entries: Sequence[Entry], limits: Limits
    ) -> tuple[list[Entry], str | None]:
        """See `Ledger`; one that is answered already is not accepted, and its state says so."""
        ...

    def settle(self, settlements: Sequence[Settlement]) -> None:
        """See `Ledger`."""
        ...

    def free_space(self) -> None:
        """See `Ledger`."""
        ...


class Source(Protocol):
    """Where a dispatch gets more calls from when those that it was given run out."""

    @property
    def finished(self) -> bool:
        """Whether none will come any more."""
        ...

    def wait(self) -> float:
        """Seconds until it is worth asking again."""
        ...

    def more(self, room: int, idle: bool) -> Sequence[Entry]:
        """The next calls.

        Args:
            room: how many are wanted at most.
            idle: whether nothing else is left to do.
        """
        ...


class Dispatch:
    """Sends entries to a model until all are settled or something stops it."""

    def __init__(
        self,
        model: Model,
        entries: Sequence[Entry],
        *,
        ledger: Outbox,
        limits: Limits,
        price: Price | None,
        settings: RunnerSettings,
        pace: Pace,
        interrupts: Interrupts,
        settled: Callable[[], None] = lambda: None,
        source: Source | None = None,
    ) -> None:
        """`settled` is called after each turn that has settled something."""
        self._source = source
        self._model = model
        self._ledger = ledger
        self._limits = limits
        self._price = price
        self._settings = settings
        self._pace = pace
        self._interrupts = interrupts
        self._settled = settled
        self._fresh = deque(entries)
        self._retries: list[tuple[float, int, _Attempt]] = []  # a heap by the time to send
        self._tasks: dict[asyncio.Future[Sequence[Reply]], _Attempt] = {}
        self._ended: list[_Attempt] = []
        self._settlements: list[Settlement] = []  # judged, not written yet
        self._budget_waits = False  # for calls under way to give back what they did not need
        self._grace_ends: float | None = None
        self._defect: BaseException | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._trouble = ""  # the last one that may pass, in its own words
        self.stop: Stop | None = None
        self.tally: Counter[State] = Counter()  # calls that have come to their end here

    @property
    def concurrency(self) -> int:
        """How many attempts may be under way at present."""
        return self._pace.concurrency

    @property
    def waiting(self) -> str:
        """What is waited for and why, where nothing can be sent for a while; "" else."""
        if self.stop:
            return ""
        now = time.monotonic()
        seconds = self._pace.held_for(now)
        if not seconds and not self._tasks and self._retries:
            seconds = self._retries[0][0] - now
        if seconds > 0:
            return f"waiting {math.ceil(seconds)} s: {self._trouble}"
        began = min((attempt.sent_at for attempt in self._tasks.values()), default=now)
        if not self._pace.replies and now - began > _SLOW_SECONDS:
            return f"no reply for {round(now - began)} s"
        return ""

    def wake(self) -> None:
        """End the present sleep: something has changed."""
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def halt(self, stop: Stop) -> None:
        """Send nothing more; what is under way may end."""
        self.stop = self.stop or stop
        self.wake()

    async def run(self, report: Callable[[], None]) -> None:
        """Send and settle; `stop` says afterwards whether it ended early.

        Args:
            report: called after each turn.

        Raises:
            WriteFailed: the disk is full, and not even the last replies could be written.
            Exception: whatever the model raises that is none of its errors.
        """
        try:
            while True:
                self._turn()
                report()
                if (
                    not self._tasks
                    and not self._ended
                    and (self.stop or not (self._fresh or self._retries or self._more_will_come))
                ):
                    break
                await self._sleep()
        except BaseException:
            await self._abandon()
            raise
        if self._ledger.sync_due_in() is not None:
            self._sync()  # the caller may take its time before it asks anything more
        if self._defect is not None:
            raise self._defect
        if self._settlements and self.stop:
            raise WriteFailed(
                f"{self.stop.message} {len(self._settlements)} replies could not be written any "
                "more; they will show as unknown."
            )

    # One turn

    def _turn(self) -> None:
        now = time.monotonic()
        self._heed_interrupts(now)
        ended, self._ended = self._ended, []
        for attempt in ended:
            self._judge(attempt, now)
        chosen = self._choose(now)
        try:
            self._write(chosen)
        except WriteFailed as trouble:
            self._put_back(chosen)
            self._save_the_last(trouble)
        self._heed_breaker()
        if self._ledger.sync_due_in() == 0.0:
            self._sync()

    def _write(self, chosen: list[_Attempt]) -> None:
        """Settle what was judged and let go what was chosen, as far as the budget reaches."""
        entries = [entry for attempt in chosen for entry in attempt.entries]
        self._budget_waits = False
        if entries:
            self._ledger.arm(entries, islice(self._fresh, _ARMED_AHEAD))
        elif not self._settlements:
            return
        with self._ledger.transaction():
            self._ledger.settle(self._settlements)
            sent, refusal = self._ledger.reserve_and_mark_sent(entries, self._limits)
        if self._settlements:
            self._settlements = []
            self._settled()
        self._send(chosen, sent)
        if refusal is not None:
            # What is under way may give back a part of its reservation.
            self._budget_waits = self._ledger.under_way
            if not self._budget_waits:
                mend = "Raise it and start the same run again to go on."
                self._halt(StopKind.BUDGET, f"{refusal}. {mend}")

    def _sync(self) -> None:
        try:
            self._ledger.sync()
        except WriteFailed as trouble:
            self._save_the_last(trouble)

    def _send(self, chosen: list[_Attempt], accepted: Sequence[Entry]) -> None:
        """Let go what was accepted of the attempts, and put the rest back."""
        going = set(map(id, accepted))
        left: list[_Attempt] = []
        for attempt in chosen:
            sent = [entry for entry in attempt.entries if id(entry) in going]
            rest = [entry for entry in attempt.entries if id(entry) not in going]
            answered = sum(entry.state is State.RECEIVED for entry in rest)
            self.tally[State.RECEIVED] += answered
            if len(rest) > answered:
                still = [entry for entry in rest if entry.state is not State.RECEIVED]
                left.append(_Attempt(still, attempt.tries, attempt.refusals))
            if sent:
                attempt.entries = sent
                attempt.tries += 1
                attempt.sent_at = time.monotonic()
                task = asyncio.ensure_future(self._model.ask([entry.call for entry in sent]))
                self._tasks[task] = attempt
                task.add_done_callback(self._end)
        self._put_back(left)

    def _end(self, task: asyncio.Future[Sequence[Reply]]) -> None:
        attempt = self._tasks.pop(task)
        if task.cancelled():
            attempt.outcome = asyncio.CancelledError()
        else:
            attempt.outcome = task.exception() or task.result()
        self._ended.append(attempt)
        self.wake()

    def _choose(self, now: float) -> list[_Attempt]:
        if self.stop or self._pace.held_for(now):
            return []
        chosen = []
        room = self._pace.room(len(self._tasks))
        self._ask_for_more(room)
        for _ in range(room):
            if self._retries and self._retries[0][0] < now:
                chosen.append(heapq.heappop(self._retries)[2])
            elif self._fresh:
                size = min(self._model.batch, _LARGEST_BATCH, len(self._fresh))
                chosen.append(_Attempt([self._fresh.popleft() for _ in range(size)]))
            else:
                break
        return chosen

    @property
    def _more_will_come(self) -> bool:
        return self._source is not None and not self._source.finished

    def _ask_for_more(self, room: int) -> None:
        """Have as many calls at hand as may be sent now and in the turn after."""
        wanted = 2 * room * min(self._model.batch, _LARGEST_BATCH) - len(self._fresh)
        if self._source is None or self._source.finished or not room or wanted <= 0:
            return
        idle = not (self._fresh or self._retries or self._tasks or self._settlements)
        if self._source.wait() <= 0:
            self._fresh.extend(self._source.more(wanted, idle))

    def _put_back(self, chosen: list[_Attempt]) -> None:
        for attempt in reversed(chosen):
            if attempt.tries or attempt.refusals:
                self._retry_in(attempt, 0.0)
            else:
                self._fresh.extendleft(reversed(attempt.entries))

    def _retry_in(self, attempt: _Attempt, seconds: float) -> None:
        # The id only keeps attempts of the same moment apart.
        when = time.monotonic() + seconds
        heapq.heappush(self._retries, (when, attempt.entries[0].id, attempt))

    # What an attempt came to

    def _judge(self, attempt: _Attempt, now: float) -> None:
        outcome, pace = attempt.outcome, self._pace
        match outcome:
            case RateLimited():
                self._trouble = mask(str(outcome))[:_TROUBLE_CHARACTERS]
                pace.slow_down(attempt.sent_at, now, outcome.wait_seconds)
                self._put_off(attempt, outcome)
            case ServerFault():
                self._trouble = mask(str(outcome))[:_TROUBLE_CHARACTERS]
                left_over = not self._fresh and pace.replies > 0
                pace.fault(attempt.sent_at, now, outcome.wait_seconds, left_over=left_over)
                self._fault(attempt, outcome)
            case Fatal():
                self._settle(attempt, State.PLANNED, NOTHING, str(outcome))
                self._halt(StopKind.FATAL, str(outcome))
            case ConfigError() | MissingDependency():
                self._settle(attempt, State.PLANNED, NOTHING, str(outcome))
                self._fall_over(outcome)
            case asyncio.CancelledError():
                self._leave_unknown(attempt, "stopped before the reply came")
            case BaseException():
                self._leave_unknown(attempt, repr(outcome))
                self._fall_over(outcome)
            case _:
                self._replied(attempt, outcome)

    def _replied(self, attempt: _Attempt, replies: Sequence[Reply]) -> None:
        if len(replies) != len(attempt.entries):
            defect = ModelError(
                f"{self._model.name} returned {len(replies)} replies to {len(attempt.entries)} "
                "calls. A model has to return one reply a call, in order."
            )
            self._leave_unknown(attempt, str(defect))
            self._fall_over(defect)
            return
        self._pace.replied()
        for entry, said in zip(attempt.entries, replies, strict=True):
            reply = without_known_secrets(checked(said, entry.call))
            state = State.FAILED if reply.finish is Finish.ERROR else State.RECEIVED
            cost = self._cost(reply)
            self._settlements.append(Settlement(entry, state, cost, reply, reply.error))
            self.tally[state] += 1

    def _cost(self, reply: Reply) -> Cost | None:
        """The real cost; None = unknown, the reservation stands."""
        used = (reply.prompt_tokens, reply.completion_tokens)
        if used == (None, None) and reply.finish is Finish.ERROR:
            return cost_of_call(self._price, 0, 0)  # refused as it stands: nothing was computed
        if used[0] is None or used[1] is None:
            return None
        return cost_of_call(self._price, used[0], used[1])

    def _put_off(self, attempt: _Attempt, trouble: RateLimited) -> None:
        """The server did nothing for these calls, so they cost nothing."""
        attempt.tries -= 1
        attempt.refusals += 1
        wait = trouble.wait_seconds
        if attempt.refusals >= self._settings.max_refusals:
            self._fail(attempt, NOTHING, f"put off {attempt.refusals} times, at last: {trouble}")
            return
        self._settle(attempt, State.PLANNED, NOTHING, str(trouble))
        # If the server named a time, that holds up everybody, and this call needs no other.
        self._retry_in(attempt, 0.0 if wait is not None else self._pace.wait(attempt.refusals))
        if wait is not None and wait > self._settings.pace.longest_server_wait_seconds:
            self._halt(
                StopKind.FATAL,
                f"{self._model.name} asks to wait for {wait:,.0f} s ({trouble}). "
                "Start the same run again when that is over.",
            )

    def _fault(self, attempt: _Attempt, trouble: ServerFault) -> None:
        unclear = trouble.sent and not trouble.answered
        last = attempt.tries >= self._settings.max_attempts
        if unclear and self._model.paid and (last or self._settings.unknown == "skip"):
            self._leave_unknown(attempt, str(trouble))
            return
        cost: Cost | None = cost_of_call(self._price, 0, 0) if trouble.answered else NOTHING
        if trouble.billed:
            cost = None
        if last:
            what = f"failed {attempt.tries} times, at last: {trouble}"
            self._fail(attempt, None if unclear else cost, what)
        elif unclear:
            self._settle(attempt, State.UNKNOWN, None, str(trouble))
            self._retry_in(attempt, self._pace.wait(attempt.tries))
        else:
            self._settle(attempt, State.PLANNED, cost, str(trouble))
            wait = trouble.wait_seconds
            self._retry_in(attempt, self._pace.wait(attempt.tries) if wait is None else wait)

    def _fail(self, attempt: _Attempt, cost: Cost | None, error: str) -> None:
        reply = Reply(finish=Finish.ERROR, error=mask(error))
        self._settle(attempt, State.FAILED, cost, error, reply)
        self.tally[State.FAILED] += len(attempt.entries)

    def _leave_unknown(self, attempt: _Attempt, error: str) -> None:
        self._settle(attempt, State.UNKNOWN, None, error)
        self.tally[State.UNKNOWN] += len(attempt.entries)

    def _settle(
        self,
        attempt: _Attempt,
        state: State,
        cost: Cost | None,
        error: str,
        reply: Reply | None = None,
    ) -> None:
        self._settlements.extend(
            Settlement(entry, state, cost, reply, mask(error)) for entry in attempt.entries
        )

    # Stopping

    def _halt(self, kind: StopKind, message: str) -> None:
        self.stop = self.stop or Stop(kind, mask(message))

    def _fall_over(self, defect: BaseException) -> None:
        """What no resume will cure: raised once everything under way is settled."""
        self._defect = self._defect or defect
        self._halt(StopKind.FATAL, str(defect))

    def _heed_interrupts(self, now: float) -> None:
        if not self._interrupts.count:
            return
        self._halt(StopKind.INTERRUPTED, "Interrupted. Start the same run again to go on.")
        if self._grace_ends is None:
            self._grace_ends = now + self._settings.grace_seconds
        if self._interrupts.count > 1 or now >= self._grace_ends:
            for task in self._tasks:
                task.cancel()

    def _heed_breaker(self) -> None:
        # Calls that alone are left and fail one after the other are the calls' fault, and the
        # bound on attempts ends them; the breaker is for an endpoint that answers nobody.
        if self._pace.given_up and (self._fresh or not self._pace.replies):
            self._halt(
                StopKind.CIRCUIT_BREAKER,
                f"{self._model.name} has not answered for {self._settings.pace.give_up_after} "
                f"attempts in a row, at last: {self._trouble}. See that it is up, then start the "
                "same run again.",
            )

    def _save_the_last(self, trouble: WriteFailed) -> None:
        """The disk is full: send no more, and make room for the replies that are under way."""
        if self.stop is None or self.stop.kind is not StopKind.DISK:
            self.stop = Stop(StopKind.DISK, str(trouble))
            self._ledger.free_space()
            self._turn()

    async def _abandon(self) -> None:
        """Cancelled, or a defect here: write down what has come, call the rest unknown."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        now = time.monotonic()
        ended, self._ended = self._ended, []
        for attempt in ended:
            self._judge(attempt, now)
        self._ledger.settle(self._settlements)
        self._settlements = []
        self._ledger.sync()

    # Waiting

    async def _sleep(self) -> None:
        if self._ended:
            return
        loop = asyncio.get_running_loop()
        self._waiter = loop.create_future()
        timeout = self._timeout(time.monotonic())
        timer = None if timeout is None else loop.call_later(timeout, self.wake)
        try:
            await self._waiter
        finally:
            self._waiter = None
            if timer is not None:
                timer.cancel()

    def _timeout(self, now: float) -> float | None:
        """Seconds until there is something to do, should nothing end before."""
        waits: list[float | None] = [self._ledger.sync_due_in(), _SECONDS_BETWEEN_SIGNS]
        if self.stop:
            waits.append(None if self._grace_ends is None else self._grace_ends - now)
        elif self._pace.room(len(self._tasks)) and not self._budget_waits:
            if held := self._pace.held_for(now):
                waits.append(held)
            else:
                if self._retries:
                    waits.append(self._retries[0][0] - now)
                if self._source is not None and not self._source.finished and not self._fresh:
                    waits.append(self._source.wait())
        known = [wait for wait in waits if wait is not None]
        return max(0.001, min(known)) if known else None
