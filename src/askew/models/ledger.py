"""The ledger: every call to a model written down, so that nothing is paid for twice.

One row a call, `planned -> sent -> received | failed | unknown`, in SQLite beside the other tables
of a run. A call is marked `sent`, and its cost reserved, in one transaction before it leaves; its
reply is committed before anybody sees it. What survives what:

- The process dies, at any moment: every commit survives. Calls that were `sent` show as `unknown`.
- The power fails: commits since the last `sync` may be gone, at most 100 ms or 64 commits of them.
  A call may leave only after it was *armed*, named in a row that was synced to disk, so that what
  the disk forgot about armed calls shows as `unknown` after a reboot, never as not yet sent.
"""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Self

from askew.errors import RunError
from askew.models.budget import NOTHING, Cost, Limits, Spending
from askew.models.callkey import reply_from_json, reply_to_json
from askew.models.ledgerfile import (
    ADDED_COLUMNS,
    OF_AUDIT,
    RECEIVED,
    SCHEMA,
    SELECT_RECORDS,
    VERSION,
    CallRecord,
    Hit,
    State,
    WriteFailed,
    as_run_error,
    check_version,
    chunks,
    marks,
    record_of,
)
from askew.models.runlock import Lock, lock_of, wait_for_owner
from askew.records import Call, Reply

SYNC_SECONDS = 0.1
SYNC_COMMITS = 64


class Wanted(NamedTuple):
    """A call to be planned, with its key and its canonical JSON."""

    key: str
    request: str
    call: Call


@dataclass(slots=True, eq=False)
class Entry:
    """A call of the run in progress. The ledger keeps it in step with the call's row."""

    id: int
    key: str
    call: Call
    bound: Cost  # what one attempt may cost at most
    state: State
    reply: Reply | None = None
    origin: str | None = None
    error: str | None = None
    reserved: Cost = NOTHING  # for the attempt under way


@dataclass(frozen=True, slots=True)
class Settlement:
    """What an attempt came to. `cost` None: the cost is not known, the reservation stands."""

    entry: Entry
    state: State
    cost: Cost | None
    reply: Reply | None = None
    error: str | None = None


class Ledger:
    """The calls of one run, open for writing by this process alone."""

    def __init__(
        self, path: Path, database: sqlite3.Connection, lock: Lock, audit: str | None = None
    ) -> None:
        """Take over an open database; see `open`."""
        self.path = path
        self._audit = audit
        self._database = database
        self._lock = lock
        self._spending = Spending()
        self._next_id = 1
        self._inode = 0
        self._armed: set[int] = set()
        self._in_flight = 0  # attempts that are sent and not settled
        self._give_back: Callable[[], None] | None = None  # set while another process writes
        self._unsynced = 0
        self._unsynced_since = 0.0
        self._changes: list[tuple[Entry, State, Cost, Reply | None, str | None]] = []

    @classmethod
    def open(cls, path: Path, audit: str | None = None) -> Self:
        """Open or make the ledger in the SQLite file at `path`, and set right what a crash left.

        Args:
            path: the file.
            audit: whose calls will be planned, where a run holds several audits.

        Raises:
            RunError: another process has the run open; the file is damaged or not a ledger; the
                folder is not there.
        """
        if not path.parent.is_dir():
            raise RunError(f"{path.parent} is not a folder. Make it first, or name another.")
        lock = cls._take_lock(path)
        try:
            with as_run_error(path):
                database = sqlite3.connect(path, timeout=30, isolation_level=None)
        except BaseException:
            lock.release()
            raise
        ledger = cls(path, database, lock, audit)
        try:
            with as_run_error(path):
                ledger._prepare()
        except BaseException:
            database.close()
            lock.release()
            raise
        return ledger

    @staticmethod
    def _take_lock(path: Path) -> Lock:
        lock = lock_of(path)
        try:
            wait_for_owner(path)
        except BaseException:
            lock.release()
            raise
        return lock

    def close(self) -> None:
        """Write everything to disk and let the next process in."""
        try:
            if self._give_back is not None:
                self._give_back()
                self._give_back = None
            self._armed.clear()
            self.sync()
        finally:
            self._database.close()
            self._lock.release()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *trouble: object) -> None:
        self.close()

    @property
    def spending(self) -> Spending:
        """Calls, tokens and money taken so far, by role and over all; a copy."""
        return self._spending.copy()

    @property
    def under_way(self) -> bool:
        """Whether a reservation may still be given back by an attempt of this process."""
        return self._in_flight > 0

    # Planning

    def plan(
        self,
        model: str,
        wanted: Sequence[Wanted],
        bound: Callable[[Call], Cost],
        find: Callable[[Sequence[str]], Mapping[str, Hit]] = lambda keys: {},
    ) -> list[Entry]:
        """Enter calls that are not in the ledger yet, copy what other runs have received.

        Args:
            model: the name that the rows are given.
            wanted: calls with distinct keys, in the order in which they are to be sent.
            bound: the most that one attempt of a call may cost; asked where no reply is there.
            find: looks for replies in other ledgers, by key.

        Returns:
            One entry a call, in order. None of them is under way.
        """
        known = self._look_up([call.key for call in wanted])
        missing = [
            call.key
            for call in wanted
            if call.key not in known or known[call.key].state != State.RECEIVED
        ]
        hits = find(missing) if missing else {}
        now = time.time()
        entries, new_rows, copied_rows = [], [], []
        for key, request, call in wanted:
            row, hit = known.get(key), hits.get(key)
            entry = Entry(0, key, call, NOTHING, State.PLANNED)
            if row is not None:
                entry.id, entry.state, entry.error = row.id, State(row.state), row.error
                entry.origin = row.origin
                entry.reply = reply_from_json(row.reply) if row.reply else None
            else:
                entry.id, self._next_id = self._next_id, self._next_id + 1
            if entry.state is not State.RECEIVED and hit is None:
                entry.bound = bound(call)
            if row is None:
                new_rows.append(
                    (
                        entry.id,
                        key,
                        model,
                        call.role,
                        call.replicate,
                        entry.bound.tokens,
                        entry.bound.nanos,
                        now,
                        request,
                        self._audit,
                    )
                )
            if hit is not None:
                entry.state, entry.origin = State.RECEIVED, hit.origin
                entry.reply, entry.error = reply_from_json(hit.reply), None
                copied_rows.append((hit.reply, hit.origin, now, entry.id))
            entries.append(entry)
        if new_rows or copied_rows:
            with self.transaction():
                self._database.executemany(_INSERT, new_rows)
                self._database.executemany(_COPY, copied_rows)
        return entries

    def states(self, keys: Sequence[str]) -> dict[str, State]:
        """How far the calls that are in the ledger have come; nothing is written."""
        return {key: State(row.state) for key, row in self._look_up(keys).items()}

    def siblings(self) -> list[Path]:
        """The ledgers of the other run folders beside this one, by name."""
        beside = self.path.parent.resolve().parent.glob(f"*/{self.path.name}")
        return sorted(path for path in beside if path.parent != self.path.parent.resolve())

    # Sending and settling

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Everything inside is committed together or not at all.

        Raises:
            WriteFailed: the disk is full; nothing was written, and no entry has changed.
        """
        if self._database.in_transaction:
            yield
            return
        spending, in_flight = self._spending.copy(), self._in_flight
        try:
            with as_run_error(self.path):
                self._database.execute("BEGIN IMMEDIATE")
                yield
                self._database.execute("COMMIT")
        except BaseException:
            self._roll_back()
            self._spending, self._in_flight = spending, in_flight
            self._changes.clear()
            raise
        for entry, state, reserved, reply, error in self._changes:
            entry.state, entry.reserved, entry.reply, entry.error = state, reserved, reply, error
        self._changes.clear()
        if not self._unsynced:
            self._unsynced_since = time.monotonic()
        self._unsynced += 1

    def _roll_back(self) -> None:
        # A full disk makes SQLite roll back on its own.
        if self._database.in_transaction:
            self._database.execute("ROLLBACK")

    def arm(self, batch: Iterable[Entry], ahead: Iterable[Entry] = ()) -> None:
        """Write to disk that these calls may leave from now on. Free if they are armed already.

        Args:
            batch: about to be sent.
            ahead: the next ones after them, so that the following batches are armed for nothing.

        Raises:
            WriteFailed: the disk is full, or the folder was moved or deleted.
        """
        self._check_place()
        ids = {entry.id for entry in batch}
        if ids <= self._armed:
            return
        self._armed |= ids
        self._armed.update(entry.id for entry in ahead)
        self.sync()

    def _check_place(self) -> None:
        """Nothing more is sent where its reply would be written into a file that is gone."""
        try:
            there = self.path.stat().st_ino == self._inode
        except OSError:
            there = False
        if not there:
            raise WriteFailed(
                f"{self.path} is gone: the folder was moved or deleted while the run was going on. "
                "If it was moved, start the run again with --out where it lies now."
            )

    def sync(self) -> None:
        """Everything committed so far survives a power failure once this returns."""
        # In WAL mode, NORMAL leaves it to the system when a commit reaches the disk; a FULL commit
        # syncs the log, with the commits before it.
        self._database.execute("PRAGMA synchronous = FULL")
        try:
            with self.transaction():
                self._write_meta("armed", json.dumps(sorted(self._armed)))
        finally:
            self._database.execute("PRAGMA synchronous = NORMAL")
        self._unsynced = 0

    def sync_due_in(self) -> float | None:
        """Seconds until `sync` is due, 0 = now; None: everything is on disk."""
        if not self._unsynced:
            return None
        if self._unsynced >= SYNC_COMMITS:
            return 0.0
        return max(0.0, self._unsynced_since + SYNC_SECONDS - time.monotonic())

    def reserve_and_mark_sent(
        self, entries: Sequence[Entry], limits: Limits
    ) -> tuple[list[Entry], str | None]:
        """Mark calls as sent and reserve their cost, in order, until one does not fit.

        Args:
            entries: armed calls that are not under way.
            limits: the budgets to keep.

        Returns:
            Those that may be sent, and why the next one may not; None if all may.
        """
        accepted: list[Entry] = []
        refusal = None
        if self._give_back is not None and entries:
            raise RuntimeError("another process sends the calls of this ledger")
        with self.transaction():
            for entry in entries:
                if entry.id not in self._armed:
                    raise RuntimeError("a call has to be armed before it is sent")
                role = entry.call.role
                refusal = limits.refusal(role, entry.bound, self._spending)
                if refusal is not None:
                    break
                self._spending.change(role, entry.bound)
                accepted.append(entry)
            self._mark_sent(accepted)
        return accepted, refusal

    def _mark_sent(self, entries: Sequence[Entry]) -> None:
        now = time.time()
        self._database.executemany(
            _SEND, [(now, e.bound.calls, e.bound.tokens, e.bound.nanos, e.id) for e in entries]
        )
        for entry in entries:
            self._armed.discard(entry.id)
            self._changes.append((entry, State.SENT, entry.bound, None, None))
        self._in_flight += len(entries)

    def settle(self, settlements: Sequence[Settlement]) -> None:
        """Write down what attempts came to, and give back what they did not cost."""
        now = time.time()
        rows = []
        with self.transaction():
            for done in settlements:
                entry = done.entry
                unknown = done.state is State.UNKNOWN
                if done.cost is None:
                    cost = entry.reserved
                else:
                    cost = done.cost
                    self._spending.change(entry.call.role, cost, entry.reserved)
                settled, reserved = (NOTHING, cost) if unknown else (cost, NOTHING)
                rows.append(
                    (
                        done.state.value,
                        reply_to_json(done.reply) if done.reply else None,
                        _storable(done.error),
                        now if done.reply else None,
                        settled.calls,
                        settled.tokens,
                        settled.nanos,
                        reserved.calls,
                        reserved.tokens,
                        reserved.nanos,
                        int(unknown),
                        entry.id,
                    )
                )
                self._changes.append((entry, done.state, reserved, done.reply, done.error))
            self._database.executemany(_SETTLE, rows)
            self._in_flight -= len(rows)

    # Lending

    def lend(self, give_back: Callable[[], None]) -> None:
        """Leave sending and settling to another process until this ledger is closed.

        Here calls go on being planned and read.

        Args:
            give_back: has the other process let go; called before the ledger is closed.
        """
        self._give_back = give_back

    def spent_elsewhere(self, spending: Spending) -> None:
        """Take over what the process that writes has counted."""
        self._spending = spending

    def attempts(self, entries: Sequence[Entry]) -> list[int]:
        """How often each of these calls was sent so far."""
        found: dict[int, int] = {}
        with as_run_error(self.path):
            for chunk in chunks([entry.id for entry in entries]):
                found.update(self._database.execute(_ATTEMPTS.format(marks(chunk)), chunk))
        return [found[entry.id] for entry in entries]

    def read_again(self, entries: Sequence[Entry]) -> None:
        """Bring entries up to what another process has written of them."""
        rows = self._look_up([entry.key for entry in entries])
        for entry in entries:
            row = rows[entry.key]
            entry.state, entry.error, entry.origin = State(row.state), row.error, row.origin
            entry.reply = reply_from_json(row.reply) if row.reply else None

    def free_space(self) -> None:
        """Give the disk some room, once, for the replies that are under way."""
        self._lock.free_space()

    # Reading

    def records(self) -> Iterator[CallRecord]:
        """Every call, in the order of planning."""
        yield from self._select("")

    def own_records(self) -> Iterator[CallRecord]:
        """This audit's calls, in the order of planning; the whole run's where none is named."""
        yield from self._select(f"WHERE {OF_AUDIT}", self._audit)

    def unknowns(self) -> list[CallRecord]:
        """The calls whose outcome is unknown, with what is reserved for them."""
        return list(self._select("WHERE state = 'unknown'"))

    def spent(self) -> dict[str, Cost]:
        """What this audit's calls took so far, by role; the whole run's where no audit is named."""
        with as_run_error(self.path):
            return self._costs(f"WHERE {OF_AUDIT}", self._audit)

    def received(self) -> dict[str, int]:
        """How many of this audit's calls were answered, by role; the whole run's as above."""
        with as_run_error(self.path):
            return dict(self._database.execute(RECEIVED, (self._audit,)))

    def replies(self, keys: Iterable[str]) -> list[Reply | None]:
        """The reply to each key, in order; None where none is known, not even that it failed."""
        wanted = list(keys)
        rows = self._look_up(list(dict.fromkeys(wanted)))
        return [
            reply_from_json(row.reply) if (row := rows.get(key)) and row.reply else None
            for key in wanted
        ]

    def seconds_a_call(self, model: str) -> float | None:
        """How long a reply of this model took on average; None if none was asked for here.

        Of this audit's calls, as another's replies are longer or shorter; the whole run's where no
        audit is named.
        """
        with as_run_error(self.path):
            # Where the clock was set back in between, nothing is known of how long it took.
            (mean,) = self._database.execute(
                "SELECT avg(received_at - sent_at) FROM calls "
                f"WHERE {OF_AUDIT} AND model = ?2 AND state = 'received' AND origin IS NULL "
                "AND received_at >= sent_at",
                (self._audit, model),
            ).fetchone()
        return None if mean is None else float(mean)

    def _select(self, where: str, *values: object) -> Iterator[CallRecord]:
        with as_run_error(self.path):
            yield from map(
                record_of, self._database.execute(f"{SELECT_RECORDS} {where} ORDER BY id", values)
            )

    def _look_up(self, keys: Sequence[str]) -> dict[str, _Row]:
        with as_run_error(self.path):
            return {
                row.key: row
                for chunk in chunks(keys)
                for row in map(
                    _Row._make, self._database.execute(_LOOK_UP.format(marks(chunk)), chunk)
                )
            }

    # Opening

    def _prepare(self) -> None:
        database = self._database
        check_version(database, self.path)
        (mode,) = database.execute("PRAGMA journal_mode = WAL").fetchone()
        if mode != "wal":
            raise RunError(
                f"{self.path}: the file system does not take SQLite's write-ahead log. "
                "Put the run folder on a local disk."
            )
        database.execute("PRAGMA synchronous = NORMAL")
        database.execute("PRAGMA fullfsync = ON")  # macOS: fsync alone stops at the drive's cache
        database.executescript(SCHEMA)
        there = {column[1] for column in database.execute("PRAGMA table_info(calls)")}
        for name, statement in ADDED_COLUMNS.items():
            if name not in there:
                database.execute(statement)
        self._recover()
        self._inode = self.path.stat().st_ino
        (last,) = database.execute("SELECT max(id) FROM calls").fetchone()
        self._next_id = (last or 0) + 1
        self._spending = Spending(self._costs())

    def _recover(self) -> None:
        boot = _boot_id()
        with self.transaction():
            self._database.execute(_DOUBT_SENT)
            # After a mere crash of the process nothing was forgotten, and what is armed and not
            # marked as sent has not left. Where the boot cannot be told, assume the worse.
            if not boot or self._read_meta("boot") != boot:
                self._database.execute(_DOUBT_ARMED)
            self._write_meta("version", VERSION)
            self._write_meta("boot", boot)
        self.sync()

    def _costs(self, where: str = "", *values: object) -> dict[str, Cost]:
        """What the calls took so far, by role."""
        rows = self._database.execute(_SUMS.format(where), values)
        return {role: Cost(calls, tokens, nanos) for role, calls, tokens, nanos in rows}

    def _read_meta(self, name: str) -> str | None:
        row = self._database.execute(
            "SELECT value FROM ledger_meta WHERE name = ?", (name,)
        ).fetchone()
        return None if row is None else str(row[0])

    def _write_meta(self, name: str, value: str) -> None:
        self._database.execute("REPLACE INTO ledger_meta VALUES (?, ?)", (name, value))


def _storable(text: str | None) -> str | None:
    # A server's words may hold half a surrogate pair, which SQLite does not take.
    return None if text is None else text.encode(errors="backslashreplace").decode()


def _boot_id() -> str:
    """What changes when the machine starts anew; empty where that cannot be told."""
    try:
        if sys.platform == "darwin":
            command = ["sysctl", "-n", "kern.bootsessionuuid"]
            return subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return Path("/proc/sys/kernel/random/boot_id").read_text()
    except (OSError, subprocess.CalledProcessError):
        return ""


class _Row(NamedTuple):
    id: int
    key: str
    state: str
    reply: str | None
    error: str | None
    origin: str | None


_ATTEMPTS = "SELECT id, attempts FROM calls WHERE id IN ({})"

_LOOK_UP = "SELECT id, key, state, reply, error, origin FROM calls WHERE key IN ({})"

_INSERT = """
INSERT INTO calls (id, key, model, role, replicate, state, bound_tokens, bound_nanos, planned_at,
    request, audit) VALUES (?, ?, ?, ?, ?, 'planned', ?, ?, ?, ?, ?)
"""

_SUMS = """
SELECT role, sum(reserved_calls + settled_calls), sum(reserved_tokens + settled_tokens),
    CASE WHEN count(*) = count(reserved_nanos + settled_nanos)
    THEN sum(reserved_nanos + settled_nanos) END
FROM calls {} GROUP BY role
"""

_COPY = """
UPDATE calls SET state = 'received', reply = ?, origin = ?, received_at = ?, error = NULL
WHERE id = ?
"""

# What an earlier attempt still holds (its outcome is unknown) counts as spent from now on.
_SEND = """
UPDATE calls SET state = 'sent', attempts = attempts + 1, sent_at = ?, received_at = NULL,
    reply = NULL, error = NULL,
    settled_calls = settled_calls + reserved_calls,
    settled_tokens = settled_tokens + reserved_tokens,
    settled_nanos = settled_nanos + reserved_nanos,
    reserved_calls = ?, reserved_tokens = ?, reserved_nanos = ?
WHERE id = ?
"""

_SETTLE = """
UPDATE calls SET state = ?, reply = ?, error = ?, received_at = ?,
    settled_calls = settled_calls + ?, settled_tokens = settled_tokens + ?,
    settled_nanos = settled_nanos + ?,
    reserved_calls = ?, reserved_tokens = ?, reserved_nanos = ?, doubts = doubts + ?
WHERE id = ?
"""

_DOUBT_SENT = """
UPDATE calls SET state = 'unknown', doubts = doubts + 1,
    error = 'askew ended before the reply was written'
WHERE state = 'sent'
"""

_DOUBT_ARMED = """
UPDATE calls SET state = 'unknown', doubts = doubts + 1,
    error = 'the machine went down at about the time of this call',
    reserved_calls = reserved_calls + 1, reserved_tokens = reserved_tokens + bound_tokens,
    reserved_nanos = reserved_nanos + bound_nanos
WHERE state IN ('planned', 'failed') AND id IN
    (SELECT value FROM json_each((SELECT value FROM ledger_meta WHERE name = 'armed')))
"""
