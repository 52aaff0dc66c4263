"""The ledger as a file: its tables, and reading it without holding it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from askew.errors import RunError
from askew.models.budget import Cost
from askew.models.callkey import call_from_json, reply_from_json
from askew.models.sqlite_guard import decoded, refuse_foreign
from askew.records import Call, Reply

Key = TypeVar("Key", str, int)

VERSION = "1"
_CHUNK = 500  # keys in one question to SQLite; older builds take 999 parameters

SCHEMA = """
CREATE TABLE IF NOT EXISTS ledger_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS calls (
    id INTEGER PRIMARY KEY,                 -- in the order of planning
    key TEXT NOT NULL UNIQUE,               -- callkey.call_key
    model TEXT NOT NULL,
    role TEXT NOT NULL,
    replicate INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('planned', 'sent', 'received', 'failed', 'unknown')),
    attempts INTEGER NOT NULL DEFAULT 0,    -- times it was sent
    doubts INTEGER NOT NULL DEFAULT 0,      -- times its outcome became unknown
    bound_tokens INTEGER NOT NULL,          -- what one attempt may cost at most
    bound_nanos INTEGER,                    -- billionths of the currency; NULL = no known price
    reserved_calls INTEGER NOT NULL DEFAULT 0,
    reserved_tokens INTEGER NOT NULL DEFAULT 0,
    reserved_nanos INTEGER DEFAULT 0,
    settled_calls INTEGER NOT NULL DEFAULT 0,
    settled_tokens INTEGER NOT NULL DEFAULT 0,
    settled_nanos INTEGER DEFAULT 0,
    planned_at REAL NOT NULL,               -- seconds since 1970
    sent_at REAL,
    received_at REAL,
    origin TEXT,                            -- the ledger that a reused reply was copied from
    error TEXT,
    request TEXT NOT NULL,                  -- callkey.request_json
    reply TEXT,                             -- callkey.reply_to_json
    audit TEXT                              -- whose call it is, where a run holds several audits
);
"""
# What files of earlier versions lack.
ADDED_COLUMNS = {"audit": "ALTER TABLE calls ADD COLUMN audit TEXT"}


class State(StrEnum):
    """How far a call has come."""

    PLANNED = "planned"
    SENT = "sent"
    RECEIVED = "received"
    FAILED = "failed"  # it is known that no reply was had; a resume asks again
    UNKNOWN = "unknown"  # it may have been answered and billed; nobody knows


class WriteFailed(RunError):
    """The disk is full or cannot be written to; the transaction was rolled back."""


class WrittenByNewer(RunError):
    """A newer askew has written the file, in a way that this one may misread."""


class ChangedMeanwhile(RunError):
    """A run began to write to a file that nobody was writing to when the reading began."""


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One row, for reports. `cost` is settled and reserved together, over all attempts."""

    key: str
    model: str
    call: Call
    state: State
    attempts: int
    doubts: int
    cost: Cost
    reply: Reply | None
    error: str | None
    origin: str | None
    planned_at: float
    sent_at: float | None
    received_at: float | None


class Hit(NamedTuple):
    """A reply that another ledger holds, as JSON."""

    key: str
    reply: str
    origin: str


def find_replies(
    ledgers: Iterable[Path], keys: Sequence[str], *, strict: bool = True
) -> dict[str, Hit]:
    """The replies that other ledgers have received for these keys, from the first that has one.

    Replies that were blocked or cut off are replies, and keep their flag; failures are none.

    Args:
        ledgers: files that other processes may be writing to.
        keys: of calls without a reply.
        strict: False passes over files that are no ledger, damaged or gone.

    Raises:
        RunError: one of the files is not a ledger, or is damaged.
    """
    found: dict[str, Hit] = {}
    for path in ledgers:
        missing = [key for key in keys if key not in found]
        if not missing:
            break
        try:
            found |= _find_in(path, missing)
        except RunError:
            if strict:
                raise
    return found


def _find_in(path: Path, keys: Sequence[str]) -> dict[str, Hit]:
    try:
        return _found_in(path, keys)
    except ChangedMeanwhile:
        return _found_in(path, keys)  # its writer is there now, and is read beside


def _found_in(path: Path, keys: Sequence[str]) -> dict[str, Hit]:
    with closing(open_to_read(path)) as database, as_run_error(path):
        return {
            row[0]: Hit._make(row)
            for chunk in chunks(keys)
            for row in database.execute(_FIND.format(marks(chunk)), (str(path), *chunk))
        }


def read_records(path: Path) -> Iterator[CallRecord]:
    """Every call of a ledger that is not open here, in the order of planning; takes no lock.

    Raises:
        RunError: the file is not there, not a ledger, or damaged.
    """
    with closing(open_to_read(path)) as database, as_run_error(path):
        yield from map(record_of, database.execute(f"{SELECT_RECORDS} ORDER BY id"))


def texts_of_calls(path: Path) -> set[str]:
    """Every prompt and reply of a ledger that is not open here, reasoning included.

    Raises:
        RunError: as `read_records`.
    """
    texts: set[str] = set()
    for record in read_records(path):
        prompt, reply = record.call.prompt, record.reply
        texts.update(message.content for message in prompt.messages)
        texts.update(filter(None, [prompt.text, *prompt.choices]))
        if reply is not None:
            texts.update(filter(None, [reply.text, reply.reasoning]))
    return texts


def count_received(path: Path, audit: str) -> int:
    """How many calls of an audit were answered, in a ledger that is not open here.

    Raises:
        RunError: as `read_records`.
    """
    with closing(open_to_read(path)) as database, as_run_error(path):
        there = {column[1] for column in database.execute("PRAGMA table_info(calls)")}
        # A file without the column was written when a run held one audit.
        counted = RECEIVED if "audit" in there else _RECEIVED_BY_ANY
        parameters = (audit,) if "audit" in there else ()
        return sum(count for _, count in database.execute(counted, parameters))


def audits_with_calls(path: Path) -> set[str]:
    """The audits that have planned calls, as a run of several names them.

    Raises:
        RunError: as `read_records`.
    """
    with closing(open_to_read(path)) as database, as_run_error(path):
        if "audit" not in {column[1] for column in database.execute("PRAGMA table_info(calls)")}:
            return set()
        found = database.execute("SELECT DISTINCT audit FROM calls WHERE audit IS NOT NULL")
        return {name for (name,) in found}


def is_ledger(path: Path) -> bool:
    """Whether `path` can be read as a ledger."""
    try:
        find_replies([path], [""])
    except RunError:
        return False
    return True


class _Unlocked(sqlite3.Connection):
    """Reads a file that nobody writes to, without a lock; says so if somebody began to meanwhile.

    The first reading of a run that has ended needs no lock, but the same run may be started again
    in the midst of it: what was read would then be half of the old and half of the new.
    """

    file: Path
    before: tuple[int, ...] = ()

    def close(self) -> None:
        """Close the file.

        Raises:
            ChangedMeanwhile: what was read is worth nothing.
        """
        super().close()
        if self.before and self.before != _looks(self.file):
            raise ChangedMeanwhile(
                f"{self.file} was changed while it was read: a run began to write to it. Start the "
                "same command again."
            )


def _looks(file: Path) -> tuple[int, ...]:
    try:
        now = file.stat()
    except FileNotFoundError:
        return (0,)
    return now.st_ino, now.st_size, now.st_mtime_ns


def open_to_read(path: Path) -> sqlite3.Connection:
    """A connection that writes nothing beside the file, and does on a disk that is read-only.

    Raises:
        RunError: the file is not there, is damaged, or was written by a newer askew.
    """
    if not path.is_file():
        raise RunError(f"{path} is not there. Name a run folder that askew has written.")
    # Without a log nobody is writing. A plain read-only connection would make a log and an index
    # beside the file, could not remove them, and would fail on a read-only disk.
    before = _looks(path)
    quiet = not path.with_name(path.name + "-wal").exists()
    address = f"{path.resolve().as_uri()}?mode=ro{'&immutable=1' if quiet else ''}"
    with as_run_error(path):
        database = sqlite3.connect(
            address, uri=True, timeout=30, isolation_level=None, factory=_Unlocked
        )
    database.file = path
    try:
        with as_run_error(path):
            check_version(database, path)
    except BaseException:
        database.close()
        raise
    database.before = before if quiet else ()
    return database


def refuse_newer(path: Path) -> None:
    """Refuse a run folder whose ledger a newer askew has written; other faults are told when met.

    Args:
        path: `run.sqlite`; it need not be there.

    Raises:
        WrittenByNewer: a newer one has.
    """
    try:
        if path.is_file():
            open_to_read(path).close()
    except WrittenByNewer:
        raise
    except RunError:
        return


def check_version(database: sqlite3.Connection, path: Path) -> None:
    """Refuse what a newer askew has written, before anything of it is read or changed.

    Raises:
        RunError: a newer one has, or the file holds more than tables (`sqlite_guard`).
    """
    refuse_foreign(database, path)
    if database.execute("SELECT 1 FROM sqlite_master WHERE name = 'ledger_meta'").fetchone():
        row = database.execute("SELECT value FROM ledger_meta WHERE name = 'version'").fetchone()
        if row is not None and row[0] != VERSION:
            raise WrittenByNewer(
                f"{path} was written by a newer askew (ledger {row[0]}, this one reads "
                f"{VERSION}). Update askew."
            )


@contextmanager
def as_run_error(path: Path) -> Iterator[None]:
    """Word what SQLite complains about."""
    try:
        yield
    except sqlite3.ProgrammingError:
        raise  # a mistake in this package, not in the file
    except UnicodeDecodeError as trouble:
        raise RunError(
            f"{path} cannot be read as a ledger: a text in it is not UTF-8. It is damaged, or was "
            "not written by askew: get the run folder again from where it was made."
        ) from trouble
    except sqlite3.DatabaseError as trouble:
        name = getattr(trouble, "sqlite_errorname", "")
        if name == "SQLITE_FULL" or name.startswith("SQLITE_IOERR"):
            raise WriteFailed(
                f"{path}: {trouble}. Free some space and start the same run again: it goes on "
                "where it stopped."
            ) from trouble
        if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_AUTH")):
            raise RunError(
                f"{path}: {trouble}. Look whether the folder is still there and was not moved, may "
                "be written to by you, and that not too many files are open (`ulimit -n`)."
            ) from trouble
        if name == "SQLITE_BUSY":
            raise RunError(
                f"{path}: another program has had it locked for 30 seconds. Close that program."
            ) from trouble
        raise RunError(
            f"{path} cannot be read as a ledger: {trouble}. If it is askew's, it is damaged: "
            "what is left can be saved with `sqlite3 FILE .recover`. Else name another folder."
        ) from trouble


def record_of(row: Sequence[Any]) -> CallRecord:
    """One row that `SELECT_RECORDS` found.

    Raises:
        sqlite3.DatabaseError: a value is not of its kind; inside `as_run_error`, a `RunError`.
    """
    return decoded(f"table calls, row {row[0]!r}", _record_of, row)


def _record_of(row: Sequence[Any]) -> CallRecord:
    for value, (name, kinds) in zip(row, _KINDS, strict=True):
        if not isinstance(value, kinds):
            raise TypeError(f"column {name!r} is {value!r}")
    key, model, request, state, attempts, doubts, calls, tokens, nanos, reply, *rest = row
    return CallRecord(
        key,
        model,
        call_from_json(request),
        State(state),
        attempts,
        doubts,
        Cost(calls, tokens, nanos),
        reply_from_json(reply) if reply else None,
        *rest,
    )


def chunks(keys: Sequence[Key]) -> Iterator[Sequence[Key]]:
    """The keys in portions that fit one statement."""
    return (keys[start : start + _CHUNK] for start in range(0, len(keys), _CHUNK))


def marks(chunk: Sequence[object]) -> str:
    """As many question marks as keys."""
    return ",".join("?" * len(chunk))


_KINDS: tuple[tuple[str, Any], ...] = (
    *((name, str) for name in ("key", "model", "request", "state")),
    *((name, int) for name in ("attempts", "doubts", "calls", "tokens")),
    ("nanos", int | None),
    *((name, str | None) for name in ("reply", "error", "origin")),
    ("planned_at", float),
    *((name, float | None) for name in ("sent_at", "received_at")),
)
SELECT_RECORDS = """
SELECT key, model, request, state, attempts, doubts, {}, {}, {}, reply, error, origin,
    planned_at, sent_at, received_at
FROM calls
""".format(
    *(
        # SQLite adds a text as 0, which would pass for no cost.
        f"iif(typeof(reserved_{one}) IN {kinds} AND typeof(settled_{one}) IN {kinds}, "
        f"reserved_{one} + settled_{one}, 'no number')"
        for one, kinds in (
            ("calls", "('integer')"),
            ("tokens", "('integer')"),
            ("nanos", "('integer', 'null')"),
        )
    )
)

_FIND = """
SELECT key, reply, coalesce(origin, ?) FROM calls WHERE state = 'received' AND key IN ({})
"""

# Calls that no audit is named for are of the only one that the run held then.
OF_AUDIT = "(audit = ?1 OR audit IS NULL OR ?1 IS NULL)"

_RECEIVED_BY_ANY = "SELECT role, count(*) FROM calls WHERE state = 'received' GROUP BY role"

RECEIVED = f"SELECT role, count(*) FROM calls WHERE state = 'received' AND {OF_AUDIT} GROUP BY role"
