"""A run folder: everything needed to re-score, resume, compare and verify one run.

`run.toml` (the resolved configuration), `run.sqlite` (every call, item, question and score),
`estimates.json`, `report.html` and `MANIFEST` (hashes).
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, is_dataclass
from pathlib import Path
from typing import TypeVar

from askew.errors import RunError
from askew.manifest import MANIFEST, check_manifest, sha256_of
from askew.models.ledgerfile import as_run_error, open_to_read
from askew.records import (
    Assignment,
    AttackCategory,
    Condition,
    ContextCondition,
    Item,
    Outcome,
    Provenance,
    Scenario,
    Score,
)

_SCHEMA = """
CREATE TABLE IF NOT EXISTS items (id TEXT PRIMARY KEY, record TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS questions (
    place INTEGER PRIMARY KEY, item_id TEXT NOT NULL, condition TEXT NOT NULL,
    category TEXT, scenario TEXT, option_order TEXT NOT NULL, replicate INTEGER NOT NULL,
    call_key TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS scores (
    place INTEGER PRIMARY KEY REFERENCES questions (place), outcome TEXT NOT NULL,
    chosen INTEGER, correct INTEGER, rule TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS parts (
    kind TEXT NOT NULL, place INTEGER NOT NULL, record TEXT NOT NULL, PRIMARY KEY (kind, place)
) WITHOUT ROWID;
"""
Record = TypeVar("Record")


@dataclass(frozen=True, slots=True)
class Question:
    """One item as it was asked: which condition, scenario and option order, and the call's key."""

    item_id: str
    condition: Condition
    order: tuple[int, int, int]
    call_key: str
    scenario: Scenario | None = None
    replicate: int = 0


class RunFolder:
    """Reads and writes the parts of one run folder.

    Args:
        path: the folder; `create` makes it, `open` wants it to be there.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def create(cls, path: Path) -> RunFolder:
        """The folder at `path`, made if it is not there, with its tables.

        Raises:
            RunError: it cannot be made or written to.
        """
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as trouble:
            raise cannot_make(path, trouble) from trouble
        folder = cls(path)
        with folder._connected() as database:
            database.executescript(_SCHEMA)
        return folder

    @classmethod
    def open(cls, path: Path) -> RunFolder:
        """The run folder at `path`.

        Raises:
            RunError: there is no `run.sqlite` in it.
        """
        if not (path / "run.sqlite").is_file():
            raise RunError(
                f"{path} is not a run folder: it has no run.sqlite. "
                "Name a folder that `askew run` has made."
            )
        return cls(path)

    @property
    def database(self) -> Path:
        """The file that holds calls, items, questions and scores."""
        return self.path / "run.sqlite"

    @property
    def settings(self) -> Path:
        """The resolved configuration."""
        return self.path / "run.toml"

    @property
    def estimates(self) -> Path:
        """The figures."""
        return self.path / "estimates.json"

    @property
    def report(self) -> Path:
        """The page to look at."""
        return self.path / "report.html"

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        with (
            as_run_error(self.database),
            closing(sqlite3.connect(self.database, timeout=30, isolation_level=None)) as database,
        ):
            yield database

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """Leaves nothing behind, so that a run on a read-only disk can be read."""
        with closing(open_to_read(self.database)) as database, as_run_error(self.database):
            yield database

    def write_questions(self, items: Iterable[Item], questions: Sequence[Question]) -> None:
        """Replace the items and questions of the run, in one transaction."""
        with self._connected() as database:
            database.executescript(_SCHEMA)
            database.execute("BEGIN IMMEDIATE")
            for table in ("scores", "questions", "items"):
                database.execute(f"DELETE FROM {table}")
            database.executemany(
                "INSERT INTO items VALUES (?, ?)",
                ((item.id, json_line(item)) for item in items),
            )
            database.executemany(
                "INSERT INTO questions VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (_question_row(place, question) for place, question in enumerate(questions)),
            )
            database.execute("COMMIT")

    def read_items(self) -> dict[str, Item]:
        """The run's items by id."""
        with self._reading() as database:
            rows = database.execute("SELECT record FROM items").fetchall()
        items = [item_from_json(json.loads(record)) for (record,) in rows]
        return {item.id: item for item in items}

    def read_questions(self) -> list[Question]:
        """The run's questions, in the order in which they were planned."""
        with self._reading() as database:
            rows = database.execute(
                "SELECT item_id, condition, category, scenario, option_order, replicate, call_key "
                "FROM questions ORDER BY place"
            ).fetchall()
        return [_question_from_row(row) for row in rows]

    def write_scores(self, scores: Sequence[Score | None]) -> None:
        """Replace the scores; scores[k] belongs to the k-th question, None = no reply was had."""
        rows = (
            (place, score.outcome.value, score.chosen, score.right, score.rule)
            for place, score in enumerate(scores)
            if score is not None
        )
        with self._connected() as database:
            database.execute("BEGIN IMMEDIATE")
            database.execute("DELETE FROM scores")
            database.executemany("INSERT INTO scores VALUES (?, ?, ?, ?, ?)", rows)
            database.execute("COMMIT")

    def read_scores(self) -> list[Score | None]:
        """The scores, one a question, in the order of the questions."""
        questions = self.read_questions()
        with self._reading() as database:
            rows = database.execute(
                "SELECT place, outcome, chosen, correct, rule FROM scores"
            ).fetchall()
        scores: list[Score | None] = [None] * len(questions)
        for place, outcome, chosen, correct, rule in rows:
            question = questions[place]
            scores[place] = Score(
                item_id=question.item_id,
                condition=question.condition,
                outcome=Outcome(outcome),
                chosen=chosen,
                right=None if correct is None else bool(correct),
                rule=rule,
                order=question.order,
                scenario=question.scenario,
                replicate=question.replicate,
            )
        return scores

    def write_parts(self, kind: str, records: Sequence[object]) -> None:
        """Replace the records of one kind: dataclasses, kept in their order as JSON.

        The clinical audit keeps what it has made and asked this way; an audit whose records are all
        of one form has tables of its own.
        """
        from pydantic import TypeAdapter

        adapters = {one: TypeAdapter(one) for one in {type(record) for record in records}}
        rows = (
            (kind, place, json_line(adapters[type(record)].dump_python(record, mode="json")))
            for place, record in enumerate(records)
        )
        with self._connected() as database:
            database.executescript(_SCHEMA)
            database.execute("BEGIN IMMEDIATE")
            database.execute("DELETE FROM parts WHERE kind = ?", (kind,))
            database.executemany("INSERT INTO parts VALUES (?, ?, ?)", rows)
            database.execute("COMMIT")

    def read_parts(self, kind: str, record: type[Record]) -> list[Record]:
        """The records of one kind, in their order; none where the run has none of the kind."""
        from pydantic import TypeAdapter

        adapter = TypeAdapter(record)
        with self._reading() as database:
            tables = database.execute("SELECT name FROM sqlite_master WHERE name = 'parts'")
            if tables.fetchone() is None:
                return []
            rows = database.execute(
                "SELECT record FROM parts WHERE kind = ? ORDER BY place", (kind,)
            ).fetchall()
        return [adapter.validate_python(json.loads(text)) for (text,) in rows]

    def write_estimates(self, figures: Mapping[str, object]) -> None:
        """Write `estimates.json`; undefined figures become null."""
        write_whole(self.estimates, json_text(figures))

    def read_estimates(self) -> dict[str, object]:
        """The figures as they were written, null where undefined.

        Raises:
            RunError: the run has no figures yet, or the file is damaged.
        """
        try:
            figures: dict[str, object] = json.loads(self.estimates.read_text(encoding="utf-8"))
        except FileNotFoundError as trouble:
            raise RunError(
                f"{self.path} has no estimates.json yet. Finish it with "
                f"`askew run {self.settings}`, or score what it has with `askew score {self.path}`."
            ) from trouble
        except ValueError as trouble:
            raise RunError(
                f"{self.estimates}: {trouble}. Make it again with `askew score {self.path}`."
            ) from trouble
        return figures

    def write_manifest(self) -> None:
        """Hash every other file of the folder into `MANIFEST`, in the form of sha256sum."""
        with self._connected() as database:
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        lines = [
            f"{sha256_of(file)}  {file.relative_to(self.path).as_posix()}\n"
            for file in self._hashed_files()
        ]
        write_whole(self.path / MANIFEST, "".join(lines))

    def verify(self) -> list[str]:
        """What is not as `MANIFEST` says, each with what is wrong; empty = all is well.

        Raises:
            RunError: there is no manifest.
        """
        return [str(fault) for fault in check_manifest(self.path)]

    def _hashed_files(self) -> list[Path]:
        # Questions and graph are of a boundary run.
        names = ("run.toml", "run.sqlite", "estimates.json", "report.html", "questions.jsonl")
        found = [self.path / name for name in names if (self.path / name).is_file()]
        return found + sorted(file for file in self.path.glob("graph/*") if file.is_file())


def item_from_json(record: Mapping[str, object]) -> Item:
    """The item that `dataclasses.asdict` and JSON have turned into `record`."""
    fields = dict(record)
    assigned = fields.get("assigned")
    if isinstance(assigned, Mapping):
        fields["assigned"] = Assignment(
            AttackCategory(assigned["category"]), assigned["index"], assigned.get("name")
        )
    fields["provenance"] = Provenance(**fields["provenance"])  # type: ignore[arg-type]  # JSON
    fields["condition"] = ContextCondition(str(fields["condition"]))
    fields["options"] = tuple(fields["options"])  # type: ignore[arg-type]  # JSON list of texts
    return Item(**fields)  # type: ignore[arg-type]  # written by asdict(Item)


def json_text(value: object) -> str:
    """Canonical JSON: sorted keys, NaN and infinities as null, dataclasses as objects.

    RFC 8259 has no NaN; a literal one would break every parser but Python's.

    >>> json.loads(json_text({"b": float("nan"), "a": 1.5}))
    {'a': 1.5, 'b': None}
    """
    text = json.dumps(_plain(value), indent=2, sort_keys=True, ensure_ascii=False)
    return without_surrogates(text) + "\n"


def json_line(value: object) -> str:
    """The same on one line."""
    return without_surrogates(json.dumps(_plain(value), ensure_ascii=False))


def without_surrogates(text: str) -> str:
    r"""The text with each lone surrogate, which UTF-8 cannot hold, written as JSON escapes it.

    >>> without_surrogates("caf\u00e9 \ud83d")
    'café \\ud83d'
    """
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _plain(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return _plain(asdict(value))
    if isinstance(value, Mapping):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def canonical_hash(value: object) -> str:
    """64 hex digits that stand for a JSON value, whatever the order of its keys."""
    return hashlib.sha256(json_text(value).encode()).hexdigest()


def write_whole(path: Path, text: str) -> None:
    """Write a file so that a reader sees the old text or the new one, never half of it.

    Raises:
        RunError: it cannot be written.
    """
    with whole_file(path) as part, part.open("w", encoding="utf-8", newline="\n") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Where to write what `path` is to hold; it takes the place of `path` once all is written.

    Raises:
        RunError: the file cannot be written.
    """
    part = path.with_name(path.name + ".part")
    try:
        yield part
        part.replace(path)
    except OSError as trouble:
        raise RunError(
            f"{path} cannot be written: {trouble.strerror or trouble}. Name another place, or "
            "see to the folder and its free space."
        ) from trouble
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def is_taken(folder: Path) -> bool:
    """Whether a folder cannot be put in this place: something is in it, or it is being worked in.

    The place of an empty folder is taken over; that of the working folder would be lost to the
    shell that stands in it.
    """
    if folder.is_dir():
        return folder == Path.cwd() or any(folder.iterdir())
    return folder.exists()


def cannot_make(path: Path, trouble: OSError) -> RunError:
    """The error for a run folder that cannot be made."""
    return RunError(
        f"the run folder {path} cannot be made: {trouble.strerror or trouble}. "
        "Name another with --out."
    )


def _question_row(place: int, question: Question) -> tuple[object, ...]:
    scenario = question.scenario
    return (
        place,
        question.item_id,
        question.condition,
        scenario.category.value if scenario else None,
        scenario.name if scenario else None,
        "".join(map(str, question.order)),
        question.replicate,
        question.call_key,
    )


def _question_from_row(
    row: tuple[str, Condition, str | None, str | None, str, int, str],
) -> Question:
    item_id, condition, category, name, order, replicate, call_key = row
    scenario = Scenario(AttackCategory(category), name or "") if category else None
    first, second, third = (int(digit) for digit in order)
    return Question(item_id, condition, (first, second, third), call_key, scenario, replicate)
