"""A run folder: everything needed to re-score, resume, compare and verify one run.

`run.toml` (the resolved configuration), `run.sqlite` (every call, item, question and score),
`estimates.json`, `report.html` and `MANIFEST` (hashes).
"""

from __future__ import annotations

import hashlib
import json
import math
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, is_dataclass
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any, TypeVar, get_args

from askew.durable import make_folder, sync_file, sync_folder
from askew.durable import whole_file as whole_file
from askew.durable import write_whole as write_whole
from askew.errors import RunError
from askew.manifest import MANIFEST, check_manifest, sha256_of
from askew.models.ledgerfile import as_run_error, check_version, open_to_read
from askew.models.sqlite_guard import decoded
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

if TYPE_CHECKING:
    from pydantic import TypeAdapter

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
PURGED = "PURGED.json"  # what `askew purge` leaves: when, what, and the manifest as it was before
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
        new = not path.exists()
        try:
            make_folder(path)
            if new:
                path.chmod(0o700)  # replies and patients' texts: for its owner alone
        except OSError as trouble:
            raise cannot_make(path, trouble) from trouble
        folder = cls(path)
        with folder._connected(make=True) as database:
            database.executescript(_SCHEMA)
        return folder

    @classmethod
    def open(cls, path: Path) -> RunFolder:
        """The run folder at `path`.

        Raises:
            RunError: there is no `run.sqlite` in it, or a newer askew has written it.
        """
        if not (path / "run.sqlite").is_file():
            raise RunError(
                f"{path} is not a run folder: it has no run.sqlite. "
                "Name a folder that `askew run` has made."
            )
        open_to_read(path / "run.sqlite").close()  # refuses what is newer
        return cls(path)

    @property
    def purged(self) -> bool:
        """Whether its texts are gone, see `askew.report.folders.purging`."""
        return is_purged(self.path)

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
    def _connected(self, *, make: bool = False) -> Iterator[sqlite3.Connection]:
        """To write; a database that is gone is not made anew in silence, with nothing in it."""
        address = f"{self.database.resolve().as_uri()}?mode={'rwc' if make else 'rw'}"
        with (
            as_run_error(self.database),
            closing(
                sqlite3.connect(address, uri=True, timeout=30, isolation_level=None)
            ) as database,
        ):
            check_version(database, self.database)
            yield database

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """Leaves nothing behind, so that a run on a read-only disk can be read."""
        if self.purged:
            refuse_purged(self.path)
        with closing(open_to_read(self.database)) as database, as_run_error(self.database):
            yield database

    def remove_left(self) -> None:
        """Remove what a killed process has left half written; while the run's lock is held."""
        for one in self.path.glob(".*"):
            with suppress(OSError):
                if one.name.startswith(".graph.") and one.is_dir():
                    rmtree(one)
                elif one.suffix == ".part":
                    one.unlink()

    def unsettle(self) -> None:
        """Take `MANIFEST` away before the first change: it never claims what is not there.

        Raises:
            RunError: it cannot be removed.
        """
        try:
            (self.path / MANIFEST).unlink(missing_ok=True)
            sync_folder(self.path)
        except OSError as trouble:
            raise RunError(
                f"{self.path} cannot be written to: {trouble.strerror or trouble}. See to its "
                "permissions, or copy the folder to where you may write."
            ) from trouble

    def write_questions(self, items: Iterable[Item], questions: Sequence[Question]) -> None:
        """Replace the items and questions of the run, in one transaction."""
        self.unsettle()
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
            rows = database.execute("SELECT id, record FROM items").fetchall()
            return {name: decoded(f"item {name!r}", _item_of, name, text) for name, text in rows}

    def read_questions(self) -> list[Question]:
        """The run's questions, in the order in which they were planned."""
        with self._reading() as database:
            rows = database.execute(
                "SELECT item_id, condition, category, scenario, option_order, replicate, call_key "
                "FROM questions ORDER BY place"
            ).fetchall()
            return [
                decoded(f"question {place}", _question_from_row, row)
                for place, row in enumerate(rows)
            ]

    def write_scores(self, scores: Sequence[Score | None]) -> None:
        """Replace the scores; scores[k] belongs to the k-th question, None = no reply was had."""
        rows = (
            (place, score.outcome.value, score.chosen, score.right, score.rule)
            for place, score in enumerate(scores)
            if score is not None
        )
        self.unsettle()
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
            for row in rows:
                place, score = decoded(f"score {row[0]!r}", _score_from_row, row, questions)
                scores[place] = score
        return scores

    def write_parts(self, kind: str, records: Sequence[object]) -> None:
        """Replace the records of one kind: dataclasses, kept in their order as JSON.

        The clinical audit keeps what it has made and asked this way; an audit whose records are all
        of one form has tables of its own.
        """
        rows = (
            (kind, place, json_line(_adapter(type(record)).dump_python(record, mode="json")))
            for place, record in enumerate(records)
        )
        self.unsettle()
        with self._connected() as database:
            database.executescript(_SCHEMA)
            database.execute("BEGIN IMMEDIATE")
            database.execute("DELETE FROM parts WHERE kind = ?", (kind,))
            database.executemany("INSERT INTO parts VALUES (?, ?, ?)", rows)
            database.execute("COMMIT")

    def read_parts(self, kind: str, record: type[Record]) -> list[Record]:
        """The records of one kind, in their order; none where the run has none of the kind."""
        adapter = _adapter(record)
        with self._reading() as database:
            tables = database.execute("SELECT name FROM sqlite_master WHERE name = 'parts'")
            if tables.fetchone() is None:
                return []
            rows = database.execute(
                "SELECT record FROM parts WHERE kind = ? ORDER BY place", (kind,)
            ).fetchall()
            return [
                decoded(f"{kind} {place}", _part_from_json, text, adapter.validate_python)
                for place, (text,) in enumerate(rows)
            ]

    def write_estimates(self, figures: Mapping[str, object]) -> None:
        """Write `estimates.json`; undefined figures become null."""
        self.unsettle()
        write_whole(self.estimates, json_text(figures))

    def read_estimates(self) -> dict[str, object]:
        """The figures as they were written, null where undefined.

        Raises:
            RunError: the run has no figures yet, or the file is damaged.
        """
        try:
            figures = json.loads(self.estimates.read_text(encoding="utf-8"))
            if not isinstance(figures, dict):
                raise ValueError(f"a JSON {type(figures).__name__}, expected an object")
        except FileNotFoundError as trouble:
            raise RunError(
                f"{self.path} has no estimates.json yet. Finish it with "
                f"`askew run {self.settings}`, or score what it has with `askew score {self.path}`."
            ) from trouble
        except (ValueError, RecursionError) as trouble:
            raise RunError(
                f"{self.estimates}: {trouble}. Make it again with `askew score {self.path}`."
            ) from trouble
        return figures

    def write_manifest(self) -> None:
        """Hash every other file of the folder into `MANIFEST`, in the form of sha256sum."""
        with self._connected() as database:
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        files = self._hashed_files()
        for file in files:
            sync_file(file)
        lines = [f"{sha256_of(file)}  {file.relative_to(self.path).as_posix()}\n" for file in files]
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
        found = [self.path / name for name in (*names, PURGED) if (self.path / name).is_file()]
        return found + sorted(file for file in self.path.glob("graph/*") if file.is_file())


def is_purged(path: Path) -> bool:
    """Whether a run folder's texts were purged, or are being."""
    return (path / PURGED).is_file()


def refuse_purged(path: Path) -> None:
    """Refuse what needs the texts of a run whose texts were purged.

    Raises:
        RunError: they were.
    """
    if is_purged(path):
        raise RunError(
            f"the texts of {path} were purged ({PURGED} says when). What is left are its figures, "
            "tables and report; for anything more, take a copy of the run, or run it anew in "
            "another folder."
        )


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
    for text in (item_id, call_key, order, name or ""):
        if not isinstance(text, str):
            raise TypeError(f"{text!r} is no text")
    if condition not in get_args(Condition) or type(replicate) is not int:
        raise ValueError(f"condition {condition!r}, replicate {replicate!r}")
    if sorted(order) != ["0", "1", "2"]:
        raise ValueError(f"order {order!r}")
    scenario = Scenario(AttackCategory(category), name or "") if category else None
    first, second, third = (int(digit) for digit in order)
    return Question(item_id, condition, (first, second, third), call_key, scenario, replicate)


def _score_from_row(row: Sequence[Any], questions: Sequence[Question]) -> tuple[int, Score]:
    place, outcome, chosen, correct, rule = row
    if not 0 <= place < len(questions):
        raise ValueError(f"of question {place}, which is not there")
    if chosen not in (None, 0, 1, 2) or correct not in (None, 0, 1) or not isinstance(rule, str):
        raise ValueError(f"chosen {chosen!r}, correct {correct!r}, rule {rule!r}")
    question = questions[place]
    return place, Score(
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


def _item_of(name: str, text: str) -> Item:
    item = item_from_json(json.loads(text))
    plain = (item.id, item.source, item.bias_type, item.context, item.question, item.language)
    if item.id != name or not all(isinstance(one, str) for one in (*plain, *item.options)):
        raise TypeError("a field that is no text")
    if len(item.options) != 3 or not {item.neutral, item.answer} <= {0, 1, 2}:
        raise ValueError("options that are not three, or an answer that is none of them")
    return item


def _adapter(kind: type) -> TypeAdapter[Any]:
    """What makes JSON of records of this kind and reads it; made once, as that takes a while."""
    from pydantic import TypeAdapter

    if kind not in _ADAPTERS:
        _ADAPTERS[kind] = TypeAdapter(kind)
    return _ADAPTERS[kind]


_ADAPTERS: dict[type, TypeAdapter[Any]] = {}


def _part_from_json(text: str, make: Callable[[Any], Record]) -> Record:
    return make(json.loads(text))
