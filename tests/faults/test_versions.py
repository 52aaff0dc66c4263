"""A run folder of another version: an old one is read, scored and gone on with; a newer refused."""

from __future__ import annotations

import shutil
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from askew.cli import main
from askew.errors import RunError
from askew.models.ledger import Ledger
from askew.models.ledgerfile import VERSION
from askew.runfolder import RunFolder

# The tables as the first version made them: calls of no audit, and no parts.
FIRST_VERSION = """
CREATE TABLE items (id TEXT PRIMARY KEY, record TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE questions (
    place INTEGER PRIMARY KEY, item_id TEXT NOT NULL, condition TEXT NOT NULL,
    category TEXT, scenario TEXT, option_order TEXT NOT NULL, replicate INTEGER NOT NULL,
    call_key TEXT NOT NULL
);
CREATE TABLE scores (
    place INTEGER PRIMARY KEY REFERENCES questions (place), outcome TEXT NOT NULL,
    chosen INTEGER, correct INTEGER, rule TEXT NOT NULL
);
CREATE TABLE ledger_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE calls (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, model TEXT NOT NULL, role TEXT NOT NULL,
    replicate INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('planned', 'sent', 'received', 'failed', 'unknown')),
    attempts INTEGER NOT NULL DEFAULT 0, doubts INTEGER NOT NULL DEFAULT 0,
    bound_tokens INTEGER NOT NULL, bound_nanos INTEGER,
    reserved_calls INTEGER NOT NULL DEFAULT 0, reserved_tokens INTEGER NOT NULL DEFAULT 0,
    reserved_nanos INTEGER DEFAULT 0, settled_calls INTEGER NOT NULL DEFAULT 0,
    settled_tokens INTEGER NOT NULL DEFAULT 0, settled_nanos INTEGER DEFAULT 0,
    planned_at REAL NOT NULL, sent_at REAL, received_at REAL, origin TEXT, error TEXT,
    request TEXT NOT NULL, reply TEXT
);
"""
Askew = Callable[..., tuple[int, str]]


@pytest.fixture
def askew(monkeypatch, capsys) -> Askew:
    """A command in this process: its exit code and all that it says."""

    def run(*arguments: object) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["askew", *map(str, arguments)])
        code = 0
        try:
            main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        said = capsys.readouterr()
        return code, said.out + said.err

    return run


@pytest.fixture
def run(tmp_path, monkeypatch, askew) -> Path:
    """A whole run of today, made through the command line."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.toml").write_text(
        '[models.target]\nname = "python/tests.run.scripted_auditee:target"\n'
        '[flex]\nitems = 4\ncontrols = 4\nprompt = "flex"\nscoring = "reply"\n',
        encoding="utf-8",
    )
    out = tmp_path / "runs" / "one"
    code, said = askew("run", "run.toml", "--yes", "--out", out)
    assert code == 0, said
    return out


def doors(run: Path, to: Path) -> dict[str, tuple[object, ...]]:
    """Every command that takes a run folder; `ls` and `serve` list what is wrong with each."""
    return {
        "run": ("run", run / "run.toml", "--yes", "--out", run),
        "plan": ("plan", run / "run.toml", "--out", run),
        "score": ("score", run),
        "table": ("table", run),
        "calls": ("calls", run),
        "show": ("show", run),
        "compare": ("compare", run, run, "--out", to / "compared.html"),
        "gate": ("gate", run, "--rule", "flex.accuracy_change.overall.lower >= -1"),
        "export rows": ("export", "rows", run, to / "rows.csv"),
        "export evidence": ("export", "evidence", run, to / "pack.zip"),
        "export inspect": ("export", "inspect", run, to / "log.json"),
        "model-card": ("export", "model-card", run, to / "card.md"),
        "verify": ("verify", run),
    }


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}


def as_first_version(run: Path) -> None:
    """Bring the database into the form of the first version, with all that it holds."""
    database = run / "run.sqlite"
    newer = database.rename(run / "newer.sqlite")
    with closing(sqlite3.connect(database, isolation_level=None)) as old:
        old.execute("PRAGMA journal_mode = WAL")
        old.executescript(FIRST_VERSION)
        old.execute("ATTACH ? AS newer", (str(newer),))
        for (table,) in old.execute("SELECT name FROM main.sqlite_master WHERE type = 'table'"):
            names = ", ".join(row[1] for row in old.execute(f"PRAGMA main.table_info({table})"))
            old.execute(f"INSERT INTO main.{table} SELECT {names} FROM newer.{table}")
    newer.unlink()
    RunFolder(run).write_manifest()


def rows_of(run: Path) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(run / "run.sqlite")) as database:
        return database.execute(
            "SELECT key, state, attempts, reply, settled_tokens FROM calls ORDER BY id"
        ).fetchall()


def test_an_old_run_is_taken_at_every_door_and_loses_nothing(run, tmp_path, askew):
    before, figures = rows_of(run), RunFolder(run).read_estimates()
    as_first_version(run)
    assert rows_of(run) == before
    for name, command in reversed(doors(run, tmp_path).items()):
        code, said = askew(*command)
        assert code == (4 if name == "gate" else 0), (name, said)  # few items: it cannot tell
    assert rows_of(run) == before
    now = RunFolder(run).read_estimates()
    assert now["flex"] == figures["flex"]
    assert askew("verify", run)[0] == 0


def test_an_old_run_lends_its_answers(run, tmp_path, askew):
    as_first_version(run)
    askew("run", "run.toml", "--yes", "--out", tmp_path / "runs" / "two")
    code, said = askew("plan", "run.toml", "--out", tmp_path / "runs" / "three")
    assert code == 0
    assert "0 to make" in said


def test_a_newer_run_is_refused_at_every_door_and_left_as_it_is(run, tmp_path, askew):
    with closing(sqlite3.connect(run / "run.sqlite")) as database, database:
        database.execute("UPDATE ledger_meta SET value = '99' WHERE name = 'version'")
    _hash_again(run)
    before = contents(run)
    for name, command in doors(run, tmp_path).items():
        code, said = askew(*command)
        assert code == (0 if name == "show" else 3), (name, code, said)
        assert "written by a newer askew (ledger 99" in " ".join(said.split()), (name, said)
        assert contents(run) == before, name
    assert list(tmp_path.glob("*.csv")) == list(tmp_path.glob("*.zip")) == []
    code, said = askew("ls", run.parent)
    assert code == 0
    assert "written by a newer askew" in " ".join(said.split())


def _hash_again(run: Path) -> None:
    """A MANIFEST that fits, as the newer askew would have written it."""
    from askew.manifest import sha256_of

    names = [line.split("  ", 1)[1] for line in (run / "MANIFEST").read_text().splitlines()]
    lines = (f"{sha256_of(run / name)}  {name}\n" for name in names)
    (run / "MANIFEST").write_text("".join(lines))


def test_a_newer_ledger_is_not_touched_before_it_is_refused(tmp_path):
    with Ledger.open(tmp_path / "run.sqlite") as ledger:
        ledger._write_meta("version", str(int(VERSION) + 1))
    before = contents(tmp_path)
    with pytest.raises(RunError, match="newer askew"):
        Ledger.open(tmp_path / "run.sqlite")
    with pytest.raises(RunError, match="newer askew"):
        RunFolder.create(tmp_path)
    assert contents(tmp_path) == before


def test_a_newer_run_beside_is_not_reused(run, tmp_path, askew):
    with closing(sqlite3.connect(run / "run.sqlite")) as database, database:
        database.execute("UPDATE ledger_meta SET value = '99' WHERE name = 'version'")
    code, said = askew("plan", "run.toml", "--out", tmp_path / "runs" / "two")
    assert code == 0
    assert "0 to make" not in said
    shutil.rmtree(run)
