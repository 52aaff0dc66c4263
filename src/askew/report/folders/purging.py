"""`askew purge`: the texts of a run, or all of it, gone from the disk; the figures stay.

The order of the steps is what makes a kill at any moment harmless. First `PURGED.json` says that a
purge is under way, and from then on nothing else of askew reads or writes the run; the same command
again goes on. The report is made anew without texts while the texts are there to make it of; then
the database is emptied in one transaction, and its free pages and log with it; the manifest is the
last. Every step that was done already is done again at no harm.
"""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from enum import StrEnum
from hashlib import blake2b
from pathlib import Path
from typing import Any

from askew.durable import sync_folder
from askew.errors import RunError
from askew.manifest import MANIFEST, SIGNATURE, sha256_of
from askew.models.callkey import call_from_json, reply_from_json, reply_to_json, request_json
from askew.models.ledgerfile import as_run_error, texts_of_calls
from askew.models.runlock import kept_from_others
from askew.privacy.scan import Found, find_texts
from askew.records import Prompt
from askew.runfolder import PURGED, RunFolder, is_purged, json_text, write_whole

VERSION = 1
_PREFIX = "purged:"  # before a call's key, so that no other run takes the reply for one
_LEFT_OUT = "(purged)"
_CALLS_AT_ONCE = 2_000
_FOLDER_OF_GRAPH = "graph"
# What askew itself puts into a run folder, beside the database.
_OWN = ("run.toml", "estimates.json", "report.html", "questions.jsonl", MANIFEST, SIGNATURE)
# What is made of the figures and settings, and how long a name in them is at most, in characters.
_WITH_NAMES = ("estimates.json", "report.html", "run.toml", PURGED)
_LONGEST_NAME = 40


class What(StrEnum):
    """How much is purged."""

    TEXTS = "texts"  # prompts, replies, items, cases; figures and hashes stay
    ALL = "all"  # everything but the record that it was purged


@dataclass(frozen=True, slots=True)
class Holding:
    """What a run folder holds that a purge would take.

    Attributes:
        calls: whose prompt or reply is there.
        records: items, and parts of an audit such as vignettes, variants and tests.
        size: bytes of the folder.
        kept: files that askew did not write; they stay, and may hold texts.
        signed: whether the manifest is signed, as the signature will not fit the new one.
    """

    calls: int
    records: int
    size: int
    kept: tuple[str, ...]
    signed: bool


def holding(path: Path) -> Holding:
    """What is there to be purged.

    Raises:
        RunError: it is no run folder, or cannot be read.
    """
    folder = _opened(path)
    with _database(folder) as database:
        calls = _count(database, f"SELECT count(*) FROM calls WHERE key NOT LIKE '{_PREFIX}%'")
        records = sum(
            _count(database, f"SELECT count(*) FROM {name}") for name in _text_tables(database)
        )
    files = [one for one in path.rglob("*") if one.is_file() and not one.is_symlink()]
    return Holding(
        calls,
        records,
        sum(one.stat().st_size for one in files),
        tuple(sorted(one for one in _names(path, files) if not _is_own(one))),
        (path / SIGNATURE).is_file(),
    )


def purge(path: Path, what: What = What.TEXTS) -> Holding:
    """Purge a run; does nothing to one that was purged so already.

    Args:
        path: the run folder.
        what: its texts, or everything.

    Returns:
        What was there.

    Raises:
        RunError: it is no run folder, another process has it open, somebody is reading it, or a
            text is still there afterwards.
    """
    folder = _opened(path)
    with kept_from_others(folder.database):
        was = holding(path)
        if what is What.ALL:
            _begin(path, what, was)
            _remove_all(path)
            return was
        if not was.calls and not was.records and _record(path).get("state") == "done":
            return was
        _begin(path, what, was)
        folder.unsettle()
        if not was.calls:
            _refuse_left(path)
        texts = _texts_of(folder)
        if was.calls or was.records:
            _write_bare_report(folder)
        _shred(path / "questions.jsonl")
        _remove_halves(path)
        _empty(folder)
        if texts:
            _check_gone(path, texts, was.kept)
        _shred(path / SIGNATURE)
        _say(path, state="done")
        folder.write_manifest()
    return was


class _BeingPurged(RunFolder):
    """A run that is marked as purged and still has what its page is made of."""

    @property
    def purged(self) -> bool:
        """Not yet."""
        return False


def _opened(path: Path) -> RunFolder:
    if not (path / "run.sqlite").is_file():
        gone = " What it held was purged." if is_purged(path) else ""
        raise RunError(f"{path} is not a run folder: it has no run.sqlite.{gone}")
    return _BeingPurged(path)


# The record of the purge


def _begin(path: Path, what: What, was: Holding) -> None:
    """Say that a purge is under way, with the manifest and the signature as they stand."""
    if _record(path):
        _say(path, state="under way", what=what.value)
        return
    manifest, signature = path / MANIFEST, path / SIGNATURE
    before: dict[str, Any] = {"manifest": None, "manifest_sha256": None, "signature": None}
    if manifest.is_file() and what is What.TEXTS:
        before["manifest"] = manifest.read_text(encoding="utf-8", errors="replace")
    if manifest.is_file():
        before["manifest_sha256"] = sha256_of(manifest)
    if signature.is_file():
        with suppress(ValueError):
            before["signature"] = json.loads(signature.read_text(encoding="utf-8"))
    record = {
        "askew_purge": VERSION,
        "state": "under way",
        "what": what.value,
        "began": _now(),
        "held": {"calls": was.calls, "records": was.records, "bytes": was.size},
        "not_touched": list(was.kept),
        "before": before,
    }
    write_whole(path / PURGED, json_text(record))


def _say(path: Path, **changes: object) -> None:
    record = {**_record(path), **changes}
    if changes.get("state") == "done":
        record["ended"] = _now()
    write_whole(path / PURGED, json_text(record))


def _record(path: Path) -> dict[str, Any]:
    """The record of a purge that was begun; {} where there is none that can be read."""
    try:
        found = json.loads((path / PURGED).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


# Files


def _write_bare_report(folder: RunFolder) -> None:
    """The report anew, without texts; an older one is written over first."""
    from askew.report.page import report_html

    html = report_html(folder, texts=False) if folder.estimates.is_file() else ""
    _shred(folder.report)
    if html:
        write_whole(folder.report, html)


def _remove_halves(path: Path) -> None:
    """What a killed process has left half written may hold texts as well."""
    for one in [*path.glob(".*"), *path.glob("*.part"), *path.glob(f"{_FOLDER_OF_GRAPH}/*.part")]:
        if one.is_file() and one.suffix in (".part", ".tmp"):
            _shred(one)


def _remove_all(path: Path) -> None:
    """Every file of askew's, the database last, so that a kill before leaves a run to purge."""
    for name in (*_OWN, "run.sqlite-wal", "run.sqlite-shm"):
        _shred(path / name)
    graph = path / _FOLDER_OF_GRAPH
    if graph.is_dir() and not graph.is_symlink():
        for one in graph.iterdir():
            _shred(one)
        with suppress(OSError):  # something that is not askew's lies in it
            graph.rmdir()
    _remove_halves(path)
    _say(path, state="done")
    _shred(path / "run.sqlite")


def _shred(file: Path) -> None:
    """Write over a file, then remove it; a link is removed and what it leads to left alone."""
    if file.is_symlink():
        file.unlink()
        return
    if not file.is_file():
        return
    size = file.stat().st_size
    with file.open("r+b") as opened:
        blank = bytes(1 << 20)
        for start in range(0, size, len(blank)):
            opened.write(blank[: size - start])
        opened.flush()
        os.fsync(opened.fileno())
        opened.truncate(0)
    file.unlink()
    sync_folder(file.parent)


def _names(path: Path, files: list[Path]) -> Iterator[str]:
    return (one.relative_to(path).as_posix() for one in files)


def _is_own(name: str) -> bool:
    return (
        name in _OWN
        or name == PURGED
        or name.startswith(("run.sqlite", f"{_FOLDER_OF_GRAPH}/"))
        or name.endswith(".part")
    )


# The database


@contextmanager
def _database(folder: RunFolder) -> Iterator[sqlite3.Connection]:
    with (
        as_run_error(folder.database),
        closing(sqlite3.connect(folder.database, timeout=5, isolation_level=None)) as database,
    ):
        yield database


def _count(database: sqlite3.Connection, query: str) -> int:
    return int(database.execute(query).fetchone()[0])


def _text_tables(database: sqlite3.Connection) -> list[str]:
    there = {name for (name,) in database.execute("SELECT name FROM sqlite_master")}
    return [name for name in ("items", "parts") if name in there]


def _texts_of(folder: RunFolder) -> set[str]:
    """What must not be found afterwards: prompts and replies, as the ledger holds them now."""
    return texts_of_calls(folder.database)


def _empty(folder: RunFolder) -> None:
    """Take the texts out of the database, its free pages and its log."""
    salt = secrets.token_bytes(32)  # kept nowhere: ids may be record numbers, which can be guessed

    def hidden(ident: str) -> str:
        return f"{_PREFIX}{blake2b(ident.encode(), key=salt, digest_size=8).hexdigest()}"

    with _database(folder) as database:
        database.execute("PRAGMA secure_delete = ON")
        database.execute("PRAGMA synchronous = FULL")
        _empty_log(database, folder)
        database.create_function("hidden", 1, hidden, deterministic=True)
        database.create_function("bare_request", 1, _bare_request, deterministic=True)
        database.create_function("bare_reply", 1, _bare_reply, deterministic=True)
        database.execute("BEGIN IMMEDIATE")
        for name in _text_tables(database):
            database.execute(f"DELETE FROM {name}")
        if database.execute("SELECT 1 FROM sqlite_master WHERE name = 'questions'").fetchone():
            database.execute(
                "UPDATE questions SET item_id = hidden(item_id) "
                f"WHERE item_id NOT LIKE '{_PREFIX}%'"
            )
        database.execute(
            "UPDATE calls SET request = bare_request(request), reply = bare_reply(reply), "
            f"error = CASE WHEN error IS NULL THEN NULL ELSE '{_LEFT_OUT}' END, "
            f"key = '{_PREFIX}' || key WHERE key NOT LIKE '{_PREFIX}%'"
        )
        database.execute("COMMIT")
        _empty_log(database, folder)
        database.execute("VACUUM")
        _empty_log(database, folder)


def _empty_log(database: sqlite3.Connection, folder: RunFolder) -> None:
    """Bring the log into the database and cut it to nothing.

    Raises:
        RunError: somebody reads the run, so that the log has to stay.
    """
    busy, *_ = database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if busy:
        raise RunError(
            f"{folder.path} is being read by another program, such as `askew serve`, and cannot be "
            "purged meanwhile. Stop it, then start the same command again."
        )


def _bare_request(text: str) -> str:
    from dataclasses import replace

    return request_json(replace(call_from_json(text), prompt=Prompt(text="")))


def _bare_reply(text: str | None) -> str | None:
    from dataclasses import replace

    if text is None:
        return None
    return reply_to_json(replace(reply_from_json(text), text=None, reasoning=None, error=None))


def _check_gone(path: Path, texts: set[str], kept: tuple[str, ...]) -> None:
    """Look for every prompt and reply in every file that is left, byte by byte.

    A short one that a name in the figures repeats, as a group's name may be an option's text, is
    counted in the record and stays: the figures are to stay. What else is found is noted with the
    files' hashes, as the same command again has no texts any more to look for.

    Raises:
        RunError: one is there.
    """
    found = find_texts(path, texts, skip=kept)
    names = {text for one, text in found if _may_be_a_name(one, text)}
    left = dict.fromkeys(one.file for one, text in found if not _may_be_a_name(one, text))
    _say(
        path,
        looked_for=len(texts),
        names_left=len(names),
        left={name: sha256_of(path / name) for name in left if (path / name).is_file()},
    )
    _refuse_left(path)


def _may_be_a_name(found: Found, text: str) -> bool:
    return found.file in _WITH_NAMES and len(text) <= _LONGEST_NAME


def _refuse_left(path: Path) -> None:
    """Refuse to go on where a file in which a text was found is still as it was."""
    noted = _record(path).get("left")
    left = [
        name
        for name, told in (noted.items() if isinstance(noted, dict) else ())
        if (path / name).is_file() and sha256_of(path / name) == told
    ]
    if left:
        raise RunError(
            f"{path} still holds prompts or replies, in {len(left):,} files: {', '.join(left[:5])}."
            " Purge all of it (--all), or remove these files yourself."
        )


def purged_record(was: Holding) -> dict[str, object]:
    """What was there, as JSON has it."""
    return asdict(was)
