"""The study's database: links, consent, answers; one SQLite file, each answer committed at once.

Answers are only ever added: who changes one keeps the earlier one in the table, and the last
counts. Tokens are kept as SHA-256 hashes; they are random and long, so nothing slower is needed.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import cast, get_args

from askew.errors import RunError
from askew.models.sqlite_guard import decoded, refuse_foreign
from askew.survey.collected import Collected, Rater, Rating, Status
from askew.survey.records import Choice, Label, Sheet, Survey

_TOKEN_BYTES = 24
_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS raters (
    number INTEGER PRIMARY KEY, token_hash TEXT NOT NULL UNIQUE, made_at TEXT NOT NULL,
    opened_at TEXT, agreed_at TEXT, declined_at TEXT,
    included INTEGER,                       -- NULL until the inclusion questions are answered
    shortcuts INTEGER NOT NULL DEFAULT 1    -- whether single keys choose
);
CREATE TABLE IF NOT EXISTS inclusion (
    rater INTEGER NOT NULL REFERENCES raters (number), question TEXT NOT NULL,
    answer TEXT NOT NULL, answered_at TEXT NOT NULL, PRIMARY KEY (rater, question)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS ratings (
    id INTEGER PRIMARY KEY,                 -- the last of a rater and scenario counts
    rater INTEGER NOT NULL REFERENCES raters (number), scenario TEXT NOT NULL,
    choice TEXT NOT NULL CHECK (choice IN ('a', 'b', 'no_difference')),
    on_left TEXT NOT NULL CHECK (on_left IN ('a', 'b')),
    noticed TEXT NOT NULL,                  -- JSON list of attributes
    comment TEXT NOT NULL, answered_at TEXT NOT NULL
);
"""


@dataclass(frozen=True, slots=True)
class Link:
    """A rater's number and the token that nobody else knows; it is shown once."""

    rater: int
    token: str


@dataclass(frozen=True, slots=True)
class State:
    """How far one rater has come."""

    rater: int
    status: Status
    shortcuts: bool
    ratings: Mapping[str, Rating]  # scenario -> the last answer


class Store:
    """Writes one study's answers.

    Args:
        path: the file; made, for its owner alone, if it is not there.
        survey: what the answers belong to.

    Raises:
        RunError: the file is no such database, belongs to another survey, or cannot be written.
    """

    def __init__(self, path: Path, survey: Survey) -> None:
        self.path = path
        self.survey = survey
        with _as_run_error(path):
            try:
                path.touch(mode=0o600)
            except OSError as trouble:
                raise RunError(
                    f"{path} cannot be made: {trouble.strerror}. Name another file with --db."
                ) from trouble
            self._database = sqlite3.connect(path, timeout=5, isolation_level=None)
            refuse_foreign(self._database, path)
            self._database.execute("PRAGMA journal_mode = WAL")
            # FULL also keeps what was answered through a loss of power.
            self._database.execute("PRAGMA synchronous = FULL")
            self._database.executescript(_SCHEMA)
            self._database.execute("INSERT OR IGNORE INTO meta VALUES ('survey', ?)", (survey.id,))
            self._inode = path.stat().st_ino
        _check_survey(self._database, path, survey)

    def close(self) -> None:
        """Close the file; nothing waits to be written."""
        self._database.close()

    def new_links(self, raters: int) -> list[Link]:
        """Links for raters that have none yet, up to so many in all."""
        with self._transaction():
            (made,) = self._database.execute("SELECT count(*) FROM raters").fetchone()
            return [self._new_link(number) for number in range(made + 1, raters + 1)]

    def replace_link(self, rater: int) -> Link:
        """A new link for a rater who lost it; the old one stops working, answers stay.

        Raises:
            RunError: there is no such rater.
        """
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        with self._transaction():
            changed = self._database.execute(
                "UPDATE raters SET token_hash = ? WHERE number = ?", (_hashed(token), rater)
            ).rowcount
        if not changed:
            raise RunError(f"{self.path}: there is no rater {rater}. See how many links it has.")
        return Link(rater, token)

    def _new_link(self, number: int) -> Link:
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        self._database.execute(
            "INSERT INTO raters (number, token_hash, made_at) VALUES (?, ?, ?)",
            (number, _hashed(token), _now()),
        )
        return Link(number, token)

    @property
    def raters(self) -> int:
        """How many links there are."""
        with _as_run_error(self.path):
            return int(self._database.execute("SELECT count(*) FROM raters").fetchone()[0])

    @property
    def port(self) -> int | None:
        """The port that the links of this study name."""
        with _as_run_error(self.path):
            row = self._database.execute("SELECT value FROM meta WHERE name = 'port'").fetchone()
        return int(row[0]) if row else None

    def keep_port(self, port: int) -> None:
        """Write down where the study is served, so that its links work after a restart."""
        with self._transaction():
            self._database.execute("INSERT OR REPLACE INTO meta VALUES ('port', ?)", (str(port),))

    def rater_of(self, token: str) -> int | None:
        """Whose link it is; None for nobody's.

        Every hash is compared, each in constant time, so that the time taken tells nothing.
        """
        wanted = _hashed(token)
        found = None
        with _as_run_error(self.path):
            rows = self._database.execute("SELECT number, token_hash FROM raters").fetchall()
        for number, kept in rows:
            if hmac.compare_digest(kept, wanted):
                found = int(number)
        return found

    def sheet(self, rater: int) -> Sheet:
        """What the rater is shown; with more raters than sheets they begin again."""
        return self.survey.sheets[(rater - 1) % len(self.survey.sheets)]

    def state(self, rater: int) -> State:
        """How far the rater has come."""
        with _as_run_error(self.path):
            row = self._database.execute(
                f"SELECT {_STATUS}, shortcuts FROM raters WHERE number = ?", (rater,)
            ).fetchone()
            ratings = _ratings(self._database, "WHERE rater = ?", (rater,))
        return State(rater, _status(row[:4]), bool(row[4]), {one.scenario: one for one in ratings})

    def opened(self, rater: int) -> None:
        """The link was opened."""
        self._stamp("opened_at", rater)

    def agreed(self, rater: int) -> None:
        """The rater takes part; who declined before may."""
        self._stamp("agreed_at", rater)

    def declined(self, rater: int) -> None:
        """The rater does not take part."""
        self._stamp("declined_at", rater)

    def _stamp(self, column: str, rater: int) -> None:
        with self._transaction():
            self._database.execute(
                f"UPDATE raters SET {column} = coalesce({column}, ?) WHERE number = ?",
                (_now(), rater),
            )

    def set_shortcuts(self, rater: int, on: bool) -> None:
        """Whether single keys choose a pair."""
        with self._transaction():
            self._database.execute(
                "UPDATE raters SET shortcuts = ? WHERE number = ?", (int(on), rater)
            )

    def save_inclusion(self, rater: int, answers: Mapping[str, str], included: bool) -> None:
        """Keep the answers to the inclusion questions. They are asked once."""
        with self._transaction():
            self._database.executemany(
                "INSERT OR IGNORE INTO inclusion VALUES (?, ?, ?, ?)",
                ((rater, question, answer, _now()) for question, answer in answers.items()),
            )
            self._database.execute(
                "UPDATE raters SET included = coalesce(included, ?) WHERE number = ?",
                (int(included), rater),
            )

    def save_rating(
        self, rater: int, scenario: str, choice: Choice, noticed: Sequence[str], comment: str
    ) -> None:
        """Keep one answer."""
        row = (
            rater,
            scenario,
            choice,
            self.sheet(rater).left[scenario],
            json.dumps(list(noticed)),
            comment,
            _now(),
        )
        with self._transaction():
            self._database.execute(
                "INSERT INTO ratings (rater, scenario, choice, on_left, noticed, comment, "
                "answered_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
                row,
            )

    def _check_place(self) -> None:
        """An answer that is kept in a file that is gone is not kept.

        Raises:
            RunError: the file was moved or deleted while the study was served.
        """
        try:
            there = self.path.stat().st_ino == self._inode
        except OSError:
            there = False
        if not there:
            raise RunError(
                f"{self.path} is gone: it was moved or deleted while the study was served. Put it "
                "back, or stop the server and start it again."
            )

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._check_place()
        with _as_run_error(self.path):
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._database.execute("ROLLBACK")
                raise
            self._database.execute("COMMIT")


def read_database(path: Path, survey: Survey) -> Collected:
    """Everything that was answered; the study may go on meanwhile.

    Raises:
        RunError: the file is not there, no such database, or that of another survey.
    """
    if not path.is_file():
        raise RunError(f"{path} is not there. Name the file that `askew survey serve` wrote.")
    try:
        return _read(path, survey)
    except RunError:
        # A server that was started in the midst of it writes to what nobody was writing to; now
        # that it is there, it is read beside.
        if not path.with_name(path.name + "-wal").exists():
            raise
        return _read(path, survey)


def _read(path: Path, survey: Survey) -> Collected:
    # Nobody is writing where there is no log; a plain read-only connection could not be made on a
    # read-only disk.
    before = path.stat().st_mtime_ns
    quiet = "" if path.with_name(path.name + "-wal").exists() else "&immutable=1"
    address = f"{path.resolve().as_uri()}?mode=ro{quiet}"
    with (
        _as_run_error(path),
        closing(sqlite3.connect(address, uri=True, timeout=5, isolation_level=None)) as database,
    ):
        refuse_foreign(database, path)
        _check_survey(database, path, survey)
        rows = database.execute(f"SELECT number, {_STATUS} FROM raters ORDER BY number").fetchall()
        about: dict[int, dict[str, str]] = {}
        for rater, question, answer in database.execute(
            "SELECT rater, question, answer FROM inclusion"
        ):
            about.setdefault(rater, {})[question] = answer
        ratings = _ratings(database, "", ())
    if quiet and path.stat().st_mtime_ns != before:
        raise RunError(f"{path} was changed while it was read. Start the same command again.")
    raters = (Rater(str(row[0]), _status(row[1:]), about.get(row[0], {})) for row in rows)
    return Collected(tuple(raters), tuple(ratings))


_STATUS = "opened_at, agreed_at, declined_at, included"


def _status(row: Sequence[object]) -> Status:
    opened, agreed, declined, included = row
    if included is not None:
        return Status.INCLUDED if included else Status.EXCLUDED
    if agreed:
        return Status.AGREED
    if declined:
        return Status.DECLINED
    return Status.OPENED if opened else Status.NOT_OPENED


def _ratings(database: sqlite3.Connection, where: str, values: tuple[object, ...]) -> list[Rating]:
    """The last answer of each rater to each scenario."""
    rows = database.execute(
        "SELECT rater, scenario, choice, on_left, noticed, comment, answered_at FROM ratings "
        f"{where} ORDER BY id",
        values,
    )
    last = {
        (row[0], row[1]): decoded(f"an answer of rater {row[0]!r}", _rating_from_row, row)
        for row in rows
    }
    return list(last.values())


def _rating_from_row(row: Sequence[object]) -> Rating:
    rater, scenario, choice, left, noticed, comment, answered_at = row
    found = json.loads(str(noticed))
    if choice not in get_args(Choice) or left not in (None, *get_args(Label)):
        raise ValueError(f"choice {choice!r}, left {left!r}")
    texts = (scenario, comment, answered_at, *found)
    if not isinstance(found, list) or not all(isinstance(one, str) for one in texts):
        raise TypeError("a field that is no text")
    said = [str(one) for one in texts]
    return Rating(
        str(rater),
        said[0],
        cast("Choice", choice),
        cast("Label", left),
        tuple(said[3:]),
        *said[1:3],
    )


def _check_survey(database: sqlite3.Connection, path: Path, survey: Survey) -> None:
    with _as_run_error(path):
        row = database.execute("SELECT value FROM meta WHERE name = 'survey'").fetchone()
    if row is None or row[0] != survey.id:
        raise RunError(
            f"{path} holds the answers of another survey ({row[0] if row else 'none'}, not "
            f"{survey.id}). Name another file with --db, or the survey that belongs to it."
        )


@contextmanager
def _as_run_error(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.ProgrammingError:
        raise  # a mistake in this package, not in the file
    except sqlite3.Error as trouble:
        raise RunError(
            f"{path}: {trouble}. Name the file that `askew survey serve` wrote (a table of answers "
            "is read with --answers), and see that it can be written to and that there is space."
        ) from trouble


def _hashed(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
