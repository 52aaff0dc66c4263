"""The owner of a run's ledger: who may send which call, under one budget.

Workers take *leases*: calls in the order of planning, a share at a time, that nobody else is given
meanwhile. What a lease may cost at most is held back from the budget at once, so that a budget of
calls goes to the first ones in order, however many workers ask; the cost itself is reserved, and
the call marked as sent, in one transaction before it leaves (`OwnedLedger`). All that must outlast
the owner stands in the ledger; leases are its memory alone, and whoever lends it the ledger tells
a restarted owner which calls the living workers still hold.

Nothing here knows of Ray.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from askew.engines.messages import Exchanged, Item, Kind, Lease, LeasedCall, Status, Terms
from askew.models.budget import NOTHING, Cost, Limits, Spending
from askew.models.ledgerfile import State, WriteFailed
from askew.models.ledgerowner import Attempt, Fenced, OwnedLedger, Reserved, Result, Row
from askew.records import Finish, Reply

SMALLEST_LEASE = 8  # towards the end, so that the last calls are spread over the workers


@dataclass(slots=True)
class _Work:
    """A piece of work in progress."""

    terms: Terms
    items: dict[int, Item]
    places: dict[int, int]  # id -> place in the order
    queue: list[tuple[int, int]] = field(default_factory=list)  # a heap of (place, id)
    leases: dict[str, set[int]] = field(default_factory=dict)  # worker -> ids
    held_back: dict[int, Cost] = field(default_factory=dict)  # of leased calls never sent yet
    last: dict[str, tuple[int, Lease]] = field(default_factory=dict)  # worker -> its last lease
    ended: dict[int, State] = field(default_factory=dict)
    tally: Counter[State] = field(default_factory=Counter)  # of `ended`, kept as it grows
    deaths: Counter[int] = field(default_factory=Counter)
    stopped: bool = False

    def put_back(self, ids: Sequence[int]) -> None:
        for id_ in ids:
            heapq.heappush(self.queue, (self.places[id_], id_))


@dataclass(frozen=True, slots=True)
class _Beside(Limits):
    """Limits that count what is held back for leased calls as spent."""

    held: Spending = field(default_factory=Spending)

    def refusal(self, role: str, wanted: Cost, spent: Spending) -> str | None:
        together = spent.copy()
        for other, cost in self.held.roles.items():
            together.change(other, cost)
        return Limits.refusal(self, role, wanted, together)


class LedgerOwner:
    """Serves one ledger to workers; every method may be called again with the same result.

    Args:
        ledger: taken from the process that has the run open.
    """

    def __init__(self, ledger: OwnedLedger) -> None:
        self._ledger = ledger
        self._work: dict[str, _Work] = {}
        self._over: set[str] = set()
        self._living: set[str] = set()
        self._held = Spending()  # back, for leased calls of all work

    # Told by the one who lends the ledger

    def begin(self, name: str, terms: Terms, held: Mapping[str, Sequence[int]]) -> None:
        """Start a piece of work, or take it up again after a restart.

        Args:
            name: of the work.
            terms: what is to be sent.
            held: the calls that each living worker has leased and not done with, by worker.
        """
        self._living |= held.keys()
        if name in self._work:
            return
        items = {item.id: item for item in terms.items}
        places = {item.id: place for place, item in enumerate(terms.items)}
        work = _Work(terms, items, places)
        for worker, ids in held.items():
            work.leases[worker] = {id_ for id_ in ids if id_ in items}
        taken = {id_ for ids in work.leases.values() for id_ in ids}
        orphans = []
        for row in self._ledger.rows(list(items)).values():
            tried = row.attempts > items[row.id].attempts
            if row.state is State.RECEIVED or (row.state is State.FAILED and tried):
                self._end(work, row.id, row.state)
                # What is held is settled by its holder, who may have sent it once more.
            elif row.id in taken:
                if not tried:
                    self._hold_back(work, row.id)
            elif row.state is State.SENT:
                orphans.append(row)
            elif row.state is State.UNKNOWN and tried and not terms.asks_unknown:
                self._end(work, row.id, State.UNKNOWN)
            else:
                work.put_back([row.id])
        self._work[name] = work
        self._orphaned(work, orphans)

    def join(self, worker: str) -> None:
        """Let a worker take leases."""
        self._living.add(worker)

    def gone(self, worker: str) -> None:
        """A worker has died or is given up: what it holds goes to others, or is in doubt."""
        self._living.discard(worker)
        for work in self._work.values():
            ids = work.leases.pop(worker, set())
            rows = list(self._ledger.rows(list(ids)).values())
            self._ledger.settle_attempts([_in_doubt(row) for row in rows if _answered_late(row)])
            self._orphaned(work, [row for row in rows if row.state is State.SENT])
            self._free(work, [row for row in rows if row.state is not State.SENT])

    def stop(self, name: str) -> None:
        """Lease no more calls of a piece of work."""
        if name in self._work:
            self._work[name].stopped = True

    def end(self, name: str) -> None:
        """Forget a piece of work: whoever asks for it is told that it is done."""
        work = self._work.pop(name, None)
        if work is not None:
            for id_ in list(work.held_back):
                self._let_go(work, id_)
        self._over.add(name)

    def status(self, name: str) -> Status:
        """How far a piece of work has come; syncs the ledger where that is due."""
        full = ""
        try:
            if self._ledger.sync_due_in() == 0.0:
                self._ledger.sync()
        except WriteFailed as trouble:
            full = str(trouble)
        work = self._work.get(name)
        spent = self._ledger.spending.roles
        if work is None:
            return Status(False, spent=spent)
        leased = sum(map(len, work.leases.values()))
        done = not leased and (work.stopped or not work.queue)
        return Status(True, done, +work.tally, spent, leased, full)

    def close(self) -> None:
        """Write everything to disk and give the ledger back."""
        self._ledger.close()

    # Asked by workers

    def lease(self, name: str, worker: str, number: int, room: int, idle: bool) -> Lease:
        """More calls for a worker.

        Args:
            name: of the work.
            worker: who asks.
            number: counts this worker's questions; the same one again is given the same answer.
            room: how many are wanted at most.
            idle: whether the worker is done with all that it was given.
        """
        if name in self._over:
            return Lease(Kind.DONE)
        work = self._work.get(name)
        if work is None:
            return Lease(Kind.FORGOTTEN)
        if worker not in self._living:
            return Lease(Kind.GONE)
        if worker in work.last and work.last[worker][0] == number:
            return work.last[worker][1]
        if idle:
            self._done_with(work, worker)
        lease = self._granted(work, worker, room)
        work.last[worker] = (number, lease)
        return lease

    def exchange(
        self,
        name: str,
        worker: str,
        results: Sequence[Result],
        wanted: Sequence[Attempt],
        ahead: Sequence[int] = (),
    ) -> Exchanged:
        """Write down results, and reserve and mark as sent what is wanted next.

        Args:
            name: of the work.
            worker: who asks.
            results: what its attempts came to. They are taken from whomever they come.
            wanted: attempts that it wants to make, in order.
            ahead: calls that it will want next.
        """
        work = self._work.get(name)
        try:
            self._ledger.settle_attempts(results)
            if work is not None:
                self._note(work, worker, results)
            if worker not in self._living and (work is not None or name in self._over):
                return Exchanged(Kind.GONE)
            if work is None:
                kind = Kind.DONE if name in self._over else Kind.FORGOTTEN
                return Exchanged(kind if wanted else Kind.GRANTED)
            reserved = self._reserve(work, worker, wanted, ahead)
        except Fenced:
            return Exchanged(Kind.GONE)
        except WriteFailed as trouble:
            return Exchanged(Kind.FULL, message=str(trouble))
        return Exchanged(Kind.GRANTED, reserved, self._ledger.under_way)

    def leave(self, name: str, worker: str) -> None:
        """A worker stops working on something: what it has not sent goes to others."""
        work = self._work.get(name)
        if work is None or worker not in work.leases:
            return
        self._done_with(work, worker)
        self._orphaned(work, list(self._ledger.rows(list(work.leases.pop(worker))).values()))

    def sync(self) -> None:
        """Everything settled so far survives a power failure once this returns."""
        self._ledger.sync()

    def free_space(self) -> None:
        """See `Ledger.free_space`."""
        self._ledger.free_space()

    # Leases

    def _granted(self, work: _Work, worker: str, room: int) -> Lease:
        if work.stopped:
            return Lease(Kind.DONE)
        share = math.ceil(len(work.queue) / (2 * max(1, len(self._living))))
        size = min(work.terms.shard, room, max(SMALLEST_LEASE, share))
        limits = self._limits(work)
        chosen: list[int] = []
        refusal = None
        while work.queue and len(chosen) < size:
            item = work.items[work.queue[0][1]]
            refusal = limits.refusal(item.role, item.bound, self._ledger.spending)
            if refusal is not None:
                break
            limits.held.change(item.role, item.bound)  # a copy: what follows has to fit beside it
            chosen.append(heapq.heappop(work.queue)[1])
        leased = any(work.leases.values())
        if not chosen:
            if not work.queue:
                return Lease(Kind.WAIT if leased else Kind.DONE)
            # What is held back for other work counts too, and may be given back as well.
            held = any(any(other.leases.values()) for other in self._work.values())
            may_be_given_back = held or self._ledger.under_way
            return Lease(Kind.WAIT) if may_be_given_back else Lease(Kind.REFUSED, (), refusal or "")
        rows, requests = self._ledger.rows(chosen), self._ledger.requests(chosen)
        work.leases.setdefault(worker, set()).update(chosen)
        for id_ in chosen:
            self._hold_back(work, id_)
        return Lease(
            Kind.GRANTED,
            [
                LeasedCall(id_, rows[id_].attempts, requests[id_], work.items[id_].bound)
                for id_ in chosen
            ],
        )

    def _limits(self, work: _Work, without: Sequence[int] = ()) -> _Beside:
        """The limits, beside what is held back for leased calls of all work."""
        held = self._held.copy()
        for id_ in without:
            held.change(work.items[id_].role, NOTHING, work.held_back.get(id_, NOTHING))
        return _Beside(work.terms.limits.run, work.terms.limits.roles, held)

    def _hold_back(self, work: _Work, id_: int) -> None:
        item = work.items[id_]
        work.held_back[id_] = item.bound
        self._held.change(item.role, item.bound)

    def _let_go(self, work: _Work, id_: int) -> None:
        if (cost := work.held_back.pop(id_, None)) is not None:
            self._held.change(work.items[id_].role, NOTHING, cost)

    def _reserve(
        self, work: _Work, worker: str, wanted: Sequence[Attempt], ahead: Sequence[int]
    ) -> Reserved:
        if not wanted:
            return Reserved()
        ids = [attempt.id for attempt in wanted]
        if not set(ids) <= work.leases.get(worker, set()):
            raise Fenced(f"{worker} holds no lease of a call that it wants to send")
        bounds = {id_: work.items[id_].bound for id_ in ids}
        reserved = self._ledger.send_attempts(wanted, bounds, self._limits(work, ids), ahead)
        if reserved.refusal is not None and not reserved.accepted and not self._ledger.under_way:
            # All wait for what is held back for others: whoever asks now may have it.
            reserved = self._ledger.send_attempts(wanted, bounds, work.terms.limits, ahead)
        for attempt in reserved.accepted:
            self._let_go(work, attempt.id)
        for attempt in reserved.answered:
            self._end(work, attempt.id, State.RECEIVED)
            work.leases[worker].discard(attempt.id)
        return reserved

    def _note(self, work: _Work, worker: str, results: Sequence[Result]) -> None:
        """Take off the leases what has come to its end."""
        rows = self._ledger.rows([result.attempt.id for result in results])
        for row in rows.values():
            if row.id in work.items and row.state in (State.RECEIVED, State.FAILED):
                self._end(work, row.id, row.state)
                work.leases.get(worker, set()).discard(row.id)

    def _done_with(self, work: _Work, worker: str) -> None:
        """A worker has nothing more to do with its calls: those in doubt stay so."""
        ids = work.leases.get(worker, set())
        for row in self._ledger.rows(list(ids)).values():
            if row.state is State.SENT:
                continue
            ids.discard(row.id)
            if row.state is State.UNKNOWN and row.attempts > work.items[row.id].attempts:
                self._end(work, row.id, State.UNKNOWN)
            else:
                self._free(work, [row])

    def _free(self, work: _Work, rows: Sequence[Row]) -> None:
        """Calls that nobody holds any more and that are not under way."""
        for row in rows:
            self._let_go(work, row.id)
            tried = row.attempts > work.items[row.id].attempts
            if row.state is State.RECEIVED or (row.state is State.FAILED and tried):
                self._end(work, row.id, row.state)
            elif row.state is State.UNKNOWN and tried and not work.terms.asks_unknown:
                self._end(work, row.id, State.UNKNOWN)
            else:
                work.put_back([row.id])

    def _orphaned(self, work: _Work, rows: Sequence[Row]) -> None:
        """Calls that were under way with a worker that has died."""
        again: list[Row] = []
        failed: list[Row] = []
        for row in rows:
            work.deaths[row.id] += 1
            worn_out = work.deaths[row.id] >= work.terms.max_deaths
            (failed if worn_out and work.terms.asks_unknown else again).append(row)
        given_up = [_given_up(row, work.deaths[row.id]) for row in failed]
        self._ledger.settle_attempts([*map(_in_doubt, again), *given_up])
        for row in again:
            if work.terms.asks_unknown:
                work.put_back([row.id])
            else:
                self._end(work, row.id, State.UNKNOWN)
        for row in failed:
            self._end(work, row.id, State.FAILED)

    def _end(self, work: _Work, id_: int, state: State) -> None:
        if (before := work.ended.get(id_)) is not None:
            work.tally[before] -= 1
        work.tally[state] += 1
        work.ended[id_] = state
        self._let_go(work, id_)


def _answered_late(row: Row) -> bool:
    """Whether an earlier attempt's reply has come while one more attempt was under way."""
    return row.state is State.RECEIVED and row.reserved.calls > 0


def _in_doubt(row: Row) -> Result:
    error = "the worker that asked ended before the reply was written"
    return Result(Attempt(row.id, row.attempts), State.UNKNOWN, None, None, error)


def _given_up(row: Row, deaths: int) -> Result:
    error = f"failed: {deaths} workers ended while they asked it"
    reply = Reply(finish=Finish.ERROR, error=error)
    return Result(Attempt(row.id, row.attempts), State.FAILED, None, reply, error)
