"""A ledger in the hands of its owner: rows are sent and settled for others, by number.

Whoever asks a model need not be who writes. An *attempt* is a row's id with the count of times that
the row was sent; this number is what fences off the past. A result holds only for the attempt it
names, so that one which is told twice, or comes from a worker that was given up, does no harm; and
a reply that comes late is kept where the call has none yet.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from askew.models.budget import NOTHING, Cost, Limits
from askew.models.callkey import reply_to_json
from askew.models.ledger import Entry, Ledger, Settlement
from askew.models.ledgerfile import State, chunks, marks
from askew.models.runlock import Lock, OwnerLock
from askew.records import Call, Prompt, Reply

SENDABLE = (State.PLANNED, State.FAILED, State.UNKNOWN)


class Attempt(NamedTuple):
    """A call of the ledger as it was sent for the `number`-th time, counted from 1."""

    id: int
    number: int


class Result(NamedTuple):
    """What an attempt came to. `cost` None: not known, the reservation stands."""

    attempt: Attempt
    state: State
    cost: Cost | None
    reply: Reply | None
    error: str | None


class Row(NamedTuple):
    """What the owner has to know of a call."""

    id: int
    role: str
    state: State
    attempts: int
    reserved: Cost


@dataclass(slots=True)
class Reserved:
    """Which of the wanted attempts may be sent."""

    accepted: list[Attempt] = field(default_factory=list)
    answered: list[Attempt] = field(default_factory=list)  # a late reply has come meanwhile
    refusal: str | None = None  # why the next one may not; None if all may


class Fenced(Exception):
    """Somebody wants to send a call that is not theirs any more."""


class OwnedLedger(Ledger):
    """The ledger of a run that another process of this machine has open and has lent.

    It takes nothing for crashed: calls that are sent stay so, as those who sent them may live.
    """

    @staticmethod
    def _take_lock(path: Path) -> Lock:
        return OwnerLock(path)

    def _recover(self) -> None:
        """The process that lends it has done so."""
        (self._in_flight,) = self._database.execute(
            "SELECT count(*) FROM calls WHERE state = 'sent'"
        ).fetchone()

    def rows(self, ids: Sequence[int]) -> dict[int, Row]:
        """The rows with these ids."""
        return {
            row[0]: Row(row[0], row[1], State(row[2]), row[3], Cost(*row[4:]))
            for chunk in chunks(ids)
            for row in self._database.execute(_ROWS.format(marks(chunk)), chunk)
        }

    def requests(self, ids: Sequence[int]) -> dict[int, str]:
        """The calls with these ids as JSON (`callkey.request_json`)."""
        return dict(
            found
            for chunk in chunks(ids)
            for found in self._database.execute(_REQUESTS.format(marks(chunk)), chunk)
        )

    def settle_attempts(self, results: Sequence[Result]) -> None:
        """Write down what attempts came to, as far as it is news.

        Raises:
            WriteFailed: the disk is full; nothing was written.
        """
        if not results:
            return
        with self.transaction():
            rows = self.rows([result.attempt.id for result in results])
            settled: list[Settlement] = []
            for result in results:
                row = rows[result.attempt.id]
                current = result.attempt.number == row.attempts
                if current and row.state in (State.SENT, State.UNKNOWN):
                    if result.state is not row.state:
                        settled.append(_settlement(row, result))
                        self._in_flight += row.state is State.UNKNOWN  # `settle` takes it off
                elif current and row.state is State.RECEIVED and row.reserved.calls:
                    # An earlier attempt's reply came first and stands; this one did cost.
                    self._settle_cost(row, result.cost)
                elif result.state is State.RECEIVED and row.state is not State.RECEIVED:
                    self._keep_late_reply(row, result)
            self.settle(settled)

    def _settle_cost(self, row: Row, cost: Cost | None) -> None:
        taken = row.reserved if cost is None else cost
        self._spending.change(row.role, taken, row.reserved)
        self._database.execute(_SETTLE_COST, (taken.calls, taken.tokens, taken.nanos, row.id))
        self._in_flight -= 1

    def _keep_late_reply(self, row: Row, result: Result) -> None:
        # What the row has reserved stands: for an attempt under way, or for one in doubt.
        assert result.reply is not None
        text = reply_to_json(result.reply)
        self._database.execute(_KEEP, (text, time.time(), row.id))

    def send_attempts(
        self,
        wanted: Sequence[Attempt],
        bounds: Mapping[int, Cost],
        limits: Limits,
        ahead: Iterable[int] = (),
    ) -> Reserved:
        """Arm calls, mark them as sent and reserve their cost, in order, until one does not fit.

        Asked again for attempts that it has marked already, it says the same again.

        Args:
            wanted: attempts that are to leave.
            bounds: the most that each may cost, by id.
            limits: the budgets to keep.
            ahead: calls that will follow, to be armed with them.

        Raises:
            WriteFailed: the disk is full; nothing was written.
            Fenced: one is not in a state to be sent: another attempt was made meanwhile.
        """
        if not wanted:
            return Reserved()
        known = {role: _bare_call(role) for role in self._spending.roles}

        def entry_of(id_: int, role: str, state: State) -> Entry:
            call = known.setdefault(role, _bare_call(role))
            return Entry(id_, "", call, bounds.get(id_, NOTHING), state)

        rows = self.rows([attempt.id for attempt in wanted])
        self.arm(
            (entry_of(one.id, rows[one.id].role, rows[one.id].state) for one in wanted),
            (entry_of(one, "", State.PLANNED) for one in ahead),
        )
        with self.transaction():
            reserved, entries = Reserved(), []
            for attempt in wanted:
                row = rows[attempt.id]
                if row.state is State.RECEIVED:
                    reserved.answered.append(attempt)
                elif row.state is State.SENT and row.attempts == attempt.number:
                    reserved.accepted.append(attempt)  # the word of it was lost on its way
                elif row.state in SENDABLE and row.attempts == attempt.number - 1:
                    entry = entry_of(row.id, row.role, row.state)
                    reserved.refusal = limits.refusal(row.role, entry.bound, self._spending)
                    if reserved.refusal is not None:
                        break
                    self._spending.change(row.role, entry.bound)
                    entries.append(entry)
                    reserved.accepted.append(attempt)
                else:
                    raise Fenced(f"call {row.id} was sent {row.attempts} times and is {row.state}")
            self._mark_sent(entries)
        return reserved


def _settlement(row: Row, result: Result) -> Settlement:
    entry = Entry(row.id, "", _bare_call(row.role), NOTHING, row.state, reserved=row.reserved)
    return Settlement(entry, result.state, result.cost, result.reply, result.error)


def _bare_call(role: str) -> Call:
    """Enough of a call to know whose budget it takes from."""
    return Call(Prompt(text=""), role=role)


_ROWS = """
SELECT id, role, state, attempts, reserved_calls, reserved_tokens, reserved_nanos
FROM calls WHERE id IN ({})
"""

_REQUESTS = "SELECT id, request FROM calls WHERE id IN ({})"

_KEEP = """
UPDATE calls SET state = 'received', reply = ?, error = NULL, received_at = ? WHERE id = ?
"""

_SETTLE_COST = """
UPDATE calls SET settled_calls = settled_calls + ?, settled_tokens = settled_tokens + ?,
    settled_nanos = settled_nanos + ?, reserved_calls = 0, reserved_tokens = 0, reserved_nanos = 0
WHERE id = ?
"""
