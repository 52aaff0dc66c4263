"""What a worker has in place of the ledger: the calls of its leases, and a line to the owner."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol, TypeVar

from askew.engines.messages import Exchanged, Kind, Lease, LeasedCall
from askew.errors import RunError
from askew.models.budget import Limits
from askew.models.callkey import call_from_json
from askew.models.dispatch import Stop, StopKind
from askew.models.ledger import Entry, Settlement
from askew.models.ledgerfile import State, WriteFailed
from askew.models.ledgerowner import Attempt, Result

Answer = TypeVar("Answer", Lease, Exchanged)

_ASK_AGAIN_SECONDS = 0.1  # where the owner has nothing at present, or has just started anew
_FORGOTTEN_SECONDS = 300.0  # that an owner may take to be told of the work again


class GivenUp(RunError):
    """The owner counts this worker as dead: others have its calls."""


class Owner(Protocol):
    """What a worker asks of the owner (`leases.LedgerOwner`); each call returns when it is done."""

    def lease(self, name: str, worker: str, number: int, room: int, idle: bool) -> Lease:
        """See `LedgerOwner`."""
        ...

    def exchange(
        self,
        name: str,
        worker: str,
        results: Sequence[Result],
        wanted: Sequence[Attempt],
        ahead: Sequence[int] = (),
    ) -> Exchanged:
        """See `LedgerOwner`."""
        ...

    def leave(self, name: str, worker: str) -> None:
        """See `LedgerOwner`."""
        ...

    def free_space(self) -> None:
        """See `LedgerOwner`."""
        ...


class LeasedLedger:
    """The part of the ledger that one worker has leased (`dispatch.Outbox`, `dispatch.Source`).

    Args:
        owner: of the ledger.
        name: of the piece of work.
        worker: who works here.
        halt: told when the owner wants no more calls to be sent.
        sleep: waits; blocks whatever else this worker does.
    """

    def __init__(
        self,
        owner: Owner,
        name: str,
        worker: str,
        halt: Callable[[Stop], None],
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._owner = owner
        self._name = name
        self._worker = worker
        self._halt = halt
        self._sleep = sleep
        self._numbers: dict[int, int] = {}  # how often each leased call was sent
        self._settlements: list[Settlement] = []
        self._ahead: list[int] = []
        self._questions = 0
        self._ask_at = 0.0
        self._finished = False
        self.under_way = False

    @property
    def held(self) -> list[int]:
        """The calls that are leased and not done with."""
        return list(self._numbers)

    # Where calls come from

    @property
    def finished(self) -> bool:
        """Whether no more calls will come."""
        return self._finished

    def wait(self) -> float:
        """Seconds until it is worth asking for more."""
        return self._ask_at - time.monotonic()

    def more(self, room: int, idle: bool) -> Sequence[Entry]:
        """Lease more calls; none where the owner has none at present."""
        self._questions += 1
        if idle:
            self._numbers.clear()
        lease = self._asked(
            lambda: self._owner.lease(self._name, self._worker, self._questions, room, idle)
        )
        match lease.kind:
            case Kind.WAIT:
                self._ask_at = time.monotonic() + _ASK_AGAIN_SECONDS
            case Kind.REFUSED:
                mend = "Raise it and start the same run again to go on."
                self._finished = True
                self._halt(Stop(StopKind.BUDGET, f"{lease.message}. {mend}"))
            case Kind.DONE:
                self._finished = True
        self._numbers.update((call.id, call.attempts) for call in lease.calls)
        return [_entry(call) for call in lease.calls]

    # What is sent and settled

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """What is settled inside goes out together with what is reserved."""
        try:
            yield
        except BaseException:
            self._settlements = []
            raise
        self.sync()

    def arm(self, batch: Iterable[Entry], ahead: Iterable[Entry] = ()) -> None:
        """The owner arms calls when they are reserved; here it is noted what will follow them."""
        self._ahead = [entry.id for entry in ahead]

    def settle(self, settlements: Sequence[Settlement]) -> None:
        """Tell the owner what attempts came to, with the next reservation."""
        self._settlements = list(settlements)

    def reserve_and_mark_sent(
        self, entries: Sequence[Entry], limits: Limits
    ) -> tuple[list[Entry], str | None]:
        """See `Ledger`; the limits are the owner's."""
        settlements = self._settlements
        results = [self._result(done) for done in settlements]
        by_id = {entry.id: entry for entry in entries}
        wanted = [Attempt(entry.id, self._numbers[entry.id] + 1) for entry in entries]
        exchanged = self._asked(
            lambda: self._owner.exchange(
                self._name, self._worker, results, wanted, self._ahead if wanted else ()
            )
        )
        self._settlements = []
        for done in settlements:
            self._note(done)
        for attempt in exchanged.reserved.accepted:
            entry = by_id[attempt.id]
            entry.state, entry.reserved = State.SENT, entry.bound
            entry.reply = entry.error = None
            self._numbers[entry.id] = attempt.number
        for attempt in exchanged.reserved.answered:
            by_id[attempt.id].state = State.RECEIVED
            self._numbers.pop(attempt.id, None)
        refusal = exchanged.reserved.refusal
        self.under_way = refusal is not None and exchanged.under_way
        if exchanged.kind is Kind.DONE:
            self._finished = True
            self._halt(Stop(StopKind.INTERRUPTED, "The work was ended."))
        return [by_id[attempt.id] for attempt in exchanged.reserved.accepted], refusal

    def sync(self) -> None:
        """Tell the owner what is not told yet; it syncs on its own."""
        if self._settlements:
            self.reserve_and_mark_sent([], Limits())

    def sync_due_in(self) -> float | None:
        """When to look whether the budget has room again, where calls wait for that."""
        return _ASK_AGAIN_SECONDS if self.under_way else None

    def free_space(self) -> None:
        """See `Ledger`."""
        self._owner.free_space()

    def leave(self) -> None:
        """Give back what was not sent."""
        self._numbers.clear()
        self._owner.leave(self._name, self._worker)

    def _result(self, done: Settlement) -> Result:
        attempt = Attempt(done.entry.id, self._numbers[done.entry.id])
        return Result(attempt, done.state, done.cost, done.reply, done.error)

    def _note(self, done: Settlement) -> None:
        entry = done.entry
        entry.state, entry.reply, entry.error = done.state, None, done.error
        if done.state in (State.RECEIVED, State.FAILED):
            self._numbers.pop(entry.id, None)

    def _asked(self, ask: Callable[[], Answer]) -> Answer:
        """Ask the owner until it knows what the work is.

        Raises:
            GivenUp: others have this worker's calls.
            WriteFailed: the disk is full.
        """
        deadline = time.monotonic() + _FORGOTTEN_SECONDS
        while (answer := ask()).kind is Kind.FORGOTTEN and time.monotonic() < deadline:
            self._sleep(_ASK_AGAIN_SECONDS)
        if answer.kind is Kind.FULL:
            raise WriteFailed(answer.message)
        if answer.kind in (Kind.GONE, Kind.FORGOTTEN):
            raise GivenUp(f"worker {self._worker} was given up; others have its calls")
        return answer


def _entry(call: LeasedCall) -> Entry:
    # The key is the ledger's affair.
    return Entry(call.id, "", call_from_json(call.request), call.bound, State.PLANNED)
