"""A run folder from somebody else: every value of another kind is told, and nothing in it runs."""

from __future__ import annotations

import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from askew.errors import AskewError, RunError
from askew.models import sqlite_guard
from askew.models.base import ModelSpec
from askew.models.callkey import reply_to_json, request_json
from askew.models.ledger import Ledger
from askew.models.ledgerfile import SCHEMA, read_records
from askew.models.replay import ReplayModel
from askew.records import (
    Call,
    ContextCondition,
    Item,
    Outcome,
    Prompt,
    Provenance,
    Reply,
    Sampling,
    Score,
)
from askew.report.filed.files import write_pack
from askew.report.folders.run_list import State, read_run
from askew.runfolder import Question, RunFolder
from askew.vignettes import Vignette

ORDER = (0, 1, 2)
ITEM = Item(
    "own/1", "own", "age", "Two people.", "Who?", ("A", "B", "Unknown"), 2, 2,
    ContextCondition.AMBIGUOUS, Provenance("own.csv", 2, "1"), stereotyped=0,
)  # fmt: skip


@pytest.fixture(scope="module")
def sound(tmp_path_factory) -> Path:
    """A run folder with a row in each table."""
    run = RunFolder.create(tmp_path_factory.mktemp("runs") / "run")
    run.write_questions([ITEM], [Question("own/1", "source", ORDER, "k1")])
    run.write_scores([Score("own/1", "source", Outcome.NEUTRAL, 2, True, "letter", ORDER)])
    run.write_parts("vignette", [Vignette("v/1", "own", "A man.", Provenance("own.csv", 2, "1"))])
    call = Call(Prompt(text="Who?"), Sampling(), "target", 0)
    with closing(sqlite3.connect(run.database, isolation_level=None)) as database:
        database.executescript(SCHEMA)
        database.execute(
            "INSERT INTO calls (key, model, role, replicate, state, attempts, bound_tokens, "
            "planned_at, sent_at, received_at, request, reply) "
            "VALUES ('k1', 'python/x', 'target', 0, 'received', 1, 9, 1.0, 2.0, 3.0, ?, ?)",
            (request_json(call), reply_to_json(Reply(text="C"))),
        )
    return run.path


@pytest.fixture
def run(sound, tmp_path) -> RunFolder:
    return RunFolder(Path(shutil.copytree(sound, tmp_path / "run")))


def change(run: RunFolder, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(run.database, isolation_level=None)) as database:
        database.execute(statement, values)


def read(run: RunFolder) -> None:
    """Everything that commands read of a run."""
    run.read_items()
    run.read_scores()
    run.read_parts("vignette", Vignette)
    list(read_records(run.database))


def test_a_sound_run_is_read(run):
    read(run)
    assert run.read_items() == {"own/1": ITEM}
    assert run.read_scores()[0].outcome is Outcome.NEUTRAL


BLOB, DEEP = b"\xff\0", "[" * 100_000
CHANGES = [
    ("items", "record", value) for value in ("[]", "null", "{}", "{", BLOB, DEEP, '{"id": 1}', 7)
]
CHANGES += [("items", "id", "other")]
CHANGES += [("questions", "condition", value) for value in ("", "none", 7, BLOB)]
CHANGES += [("questions", "option_order", value) for value in ("", "01", "0123", "001", "abc", 7)]
CHANGES += [("questions", "category", value) for value in ("none", 7, BLOB)]
CHANGES += [("questions", name, BLOB) for name in ("item_id", "call_key", "replicate", "scenario")]
CHANGES += [("scores", "place", value) for value in (-1, 7, 2**62)]
CHANGES += [("scores", "outcome", value) for value in ("", "right", 7, BLOB)]
CHANGES += [("scores", "chosen", value) for value in (-1, 3, "a", 0.5, BLOB)]
CHANGES += [("scores", "correct", value) for value in (2, "yes", BLOB)]
CHANGES += [("scores", "rule", BLOB)]
CHANGES += [("parts", "record", value) for value in ("[]", "{", DEEP, BLOB, 7)]
CHANGES += [("calls", name, BLOB) for name in ("key", "model", "error", "origin", "request")]
CHANGES += [("calls", name, "many") for name in ("attempts", "doubts", "settled_calls")]
CHANGES += [("calls", name, "early") for name in ("planned_at", "sent_at", "received_at")]
CHANGES += [
    ("calls", "request", value)
    for value in (
        "{}",
        "null",
        DEEP,
        '{"sampling": {"stop": []}, "text": 7, "messages": [], "choices": [], "role": "a",'
        ' "replicate": 0}',
        '{"sampling": {"stop": [], "seed": "x"}, "text": "a", "messages": [], "choices": [],'
        ' "role": "a", "replicate": 0}',
        '{"sampling": {"stop": []}, "text": null, "messages": [{"role": "user", "content": 7}],'
        ' "choices": [], "role": "a", "replicate": 0}',
    )
]
CHANGES += [
    ("calls", "reply", value)
    for value in ("[]", "{}", DEEP, '{"finish": "x"}', '{"finish": "stop", "text": 7}', BLOB, 7)
]


@pytest.mark.parametrize(
    ("table", "column", "value"),
    CHANGES,
    ids=[f"{table}.{column}={str(value)[:12]}" for table, column, value in CHANGES],
)
def test_a_value_of_another_kind_is_told_with_its_file(run, table, column, value):
    # Where SQLite makes a text of the value, as of a number, the column's own kind is kept.
    change(run, f"UPDATE {table} SET {column} = ?", value)
    with closing(sqlite3.connect(run.database)) as database:
        (kept,) = database.execute(f"SELECT {column} FROM {table}").fetchone()
    if column in ("rule", "item_id", "call_key") and isinstance(kept, str):
        return
    with pytest.raises(RunError, match=r"run\.sqlite") as told:
        read(run)
    assert len(str(told.value)) < 1500
    assert read_run(run.path).state in (State.DAMAGED, State.NO_FIGURES)


CODE = {
    "a view": "CREATE VIEW v AS SELECT 1",
    "a trigger": "CREATE TRIGGER t AFTER UPDATE ON calls BEGIN DELETE FROM calls; END",
    "a virtual table": "CREATE VIRTUAL TABLE t USING fts5(x)",
}


@pytest.mark.parametrize("statement", CODE.values(), ids=CODE)
def test_what_would_run_as_the_file_is_read_or_written_is_refused(run, statement):
    change(run, statement)
    for use in (read, lambda it: it.write_scores([]), lambda it: RunFolder.open(it.path)):
        with pytest.raises(RunError, match="beside plain tables"):
            use(run)
    with pytest.raises(RunError, match="beside plain tables"):
        Ledger.open(run.database)
    with pytest.raises(RunError, match="beside plain tables"):
        ReplayModel(ModelSpec(name=f"replay/{run.path}"))


def test_a_view_that_computes_without_end_is_not_looked_at(run):
    change(run, "DROP TABLE calls")
    change(
        run,
        "CREATE VIEW calls AS WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) "
        "SELECT x AS id, x AS key FROM r",
    )
    began = time.monotonic()
    assert read_run(run.path).state is State.DAMAGED
    with pytest.raises(RunError, match="beside plain tables"):
        list(read_records(run.database))
    assert time.monotonic() - began < 20


def test_a_cell_that_would_fill_the_memory_is_refused(run, monkeypatch):
    monkeypatch.setattr(sqlite_guard, "_LONGEST_VALUE", 1 << 20)
    change(
        run, "UPDATE calls SET reply = ?", '{"finish": "stop", "text": "%s"}' % ("x" * (1 << 21))
    )
    with pytest.raises(RunError, match="too big"):
        list(read_records(run.database))


@pytest.mark.parametrize("text", ["[]", "null", "7", DEEP, "{", "\ufeff{}", '{"a": 1e999', ""])
def test_figures_that_are_none_are_told(run, text):
    run.estimates.write_text(text, encoding="utf-8")
    with pytest.raises(RunError, match=r"estimates\.json.*askew score"):
        run.read_estimates()
    assert read_run(run.path).state is State.DAMAGED


def test_an_evidence_pack_follows_no_link_out_of_the_run(run, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("the key")
    (run.path / "run.toml").symlink_to(secret)
    run.write_estimates({})
    with pytest.raises(AskewError):
        write_pack(run, tmp_path / "pack")
    found = [path for path in (tmp_path / "pack").rglob("*") if path.is_file()]
    assert not any(b"the key" in path.read_bytes() for path in found)


def test_an_evidence_packs_files_are_the_runs_own(run, tmp_path):
    from askew.report.filed.files import _wanted

    for name in ("report.html", "estimates.json"):
        (run.path / name).symlink_to(tmp_path / "secret")
        with pytest.raises(RunError, match=f"{name} is a symbolic link"):
            _wanted(run, True, True)
        (run.path / name).unlink()
    (tmp_path / "elsewhere").mkdir()
    (run.path / "graph").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RunError, match="graph is a symbolic link"):
        _wanted(run, True, False)


def answered(path: Path):
    """A study with one answer, and the file that holds it."""
    from askew.survey.records import QuestionAnswer, Scenario, Sheet, Survey, survey_id
    from askew.survey.store import Store

    pair = (QuestionAnswer("Who?", "She."),)
    shown = (Scenario("S1", "flu", pair, pair),), (Sheet(("S1",), {"S1": "a"}),)
    survey = Survey(survey_id(*shown), *shown, "A study", "Yes", (), ("age",))
    with closing(Store(path, survey)) as answers:
        answers.new_links(1)
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("INSERT INTO ratings VALUES (1, 1, 'S1', 'a', 'a', '[\"age\"]', '', '')")
        database.execute("PRAGMA journal_mode = DELETE")
    return survey


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE ratings SET noticed = '{'", "answer of rater 1"),
        ("UPDATE ratings SET noticed = '[7]'", "no text"),
        ("UPDATE ratings SET comment = x'ff'", "no text"),
        ("CREATE TRIGGER t AFTER INSERT ON ratings BEGIN DELETE FROM ratings; END", "plain tables"),
        ("CREATE VIEW v AS SELECT 1", "plain tables"),
    ],
)
def test_a_studys_answers_are_held_to_the_same(tmp_path, statement, said):
    from askew.survey.store import Store, read_database

    path = tmp_path / "answers.sqlite"
    survey = answered(path)
    assert read_database(path, survey).ratings[0].noticed == ("age",)
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute(statement)
    with pytest.raises(RunError, match=said):
        read_database(path, survey)
    if "CREATE" in statement:
        with pytest.raises(RunError, match=said):
            Store(path, survey)
