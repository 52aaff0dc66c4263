"""`[redact]`: what it names is in nothing that is shown or handed on, and no figure moves."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from askew.cli.app import app
from askew.errors import ConfigError
from askew.privacy.redaction import Redaction
from askew.privacy.scan import find_texts
from askew.report.page import write_report
from askew.runfile import checked
from askew.runfolder import RunFolder
from askew.serve.items import answer
from askew.serve.runs import Memory
from tests.report.runs import make_run, starter_items

NAME, MAIL, DATE = "Wilhelmina Oduya-Smith", "w.oduya@clinic.example", "14 March 1961"
KINDS = ("email", "phone", "date", "record_number", "ip", "url")


@pytest.mark.parametrize(
    ("kind", "text", "shown"),
    [
        ("email", f"write to {MAIL}.", "write to [email]."),
        ("date", f"born {DATE}, seen 2024-02-29 and 3/4/21", "born [date], seen [date] and [date]"),
        ("date", "on March 3rd, 2020", "on [date]"),
        ("phone", "call +44 20 7946 0958 now", "call [phone] now"),
        ("phone", "a dose of 500 mg at 8", "a dose of 500 mg at 8"),
        ("record_number", "MRN: 00812-A, NHS 943 476 5919", "[record number], [record number]"),
        ("ip", "from 10.0.0.7", "from [ip]"),
        ("url", "see https://a.example/x?y=1 there", "see [url] there"),
    ],
)
def test_each_kind_by_its_form(kind, text, shown):
    assert Redaction.of([kind])(text) == shown


def test_names_are_whole_words_in_any_case_and_with_any_blanks():
    rules = Redaction.of(names=["Ann Lee", "Ann", "O'Neill"])
    assert rules("ANN\n LEE, Ann, Annabel, o'neill") == "[name], [name], Annabel, [name]"


def test_names_come_from_a_file_and_are_not_in_the_settings(tmp_path):
    (tmp_path / "names.txt").write_text(f"{NAME}\n\n")
    rules = Redaction.of(names_file=tmp_path / "names.txt")
    assert rules(f"Dear {NAME},") == "Dear [name],"


@pytest.mark.parametrize("pattern", ["(", "x*", "[a-"])
def test_a_pattern_that_cannot_be_used_is_refused(pattern):
    with pytest.raises(ConfigError, match=r"redact\.patterns"):
        Redaction.of(patterns=[pattern])


@given(st.text(max_size=80))
def test_what_was_redacted_is_redacted(text):
    rules = Redaction.of(KINDS, ["Ann Lee"])
    assert rules(rules(text)) == rules(text)


def test_a_run_file_takes_it(tmp_path):
    run = checked({"models": {"target": {"name": "toy/m"}}, "redact": {"kinds": ["email"]}})
    assert run.redact is not None
    assert run.redact.redaction()(MAIL) == "[email]"
    with pytest.raises(ConfigError, match="kinds"):
        checked({"models": {"target": {"name": "toy/m"}}, "redact": {"kinds": ["soul"]}})


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> RunFolder:
    """A run whose replies and prompts name a patient, with the rules against it."""
    folder = make_run(tmp_path_factory.mktemp("redacted") / "run", starter_items(6))
    said = f"(A) says {NAME}, {MAIL}, born {DATE}"
    with closing(sqlite3.connect(folder.database)) as database:
        for key, request in database.execute("SELECT key, request FROM calls").fetchall():
            asked = json.loads(request)
            text = json.dumps(asked).replace("Answer", f"{NAME} asks. Answer")
            database.execute(
                "UPDATE calls SET request = ?, reply = ? WHERE key = ?",
                (text, json.dumps({"finish": "stop", "text": said}), key),
            )
        database.commit()
    folder.settings.write_text(
        '[models.target]\nname = "toy/m"\n[redact]\nkinds = ["email", "date"]\n'
        f'names = ["{NAME}"]\n[flex]\n'
    )
    return folder


def test_nothing_that_leaves_the_ledger_names_the_patient(run, tmp_path):
    figures = run.estimates.read_bytes()
    write_report(run)
    (tmp_path / "report.html").write_bytes(run.report.read_bytes())
    memory = Memory()
    (tmp_path / "served.json").write_bytes(answer(run, "items", {"audit": "flex"}, memory))
    for command in (
        ["export", str(run.path), str(tmp_path / "rows.csv")],
        ["export", str(run.path), str(tmp_path / "rows.jsonl")],
        ["export", "report", str(run.path), str(tmp_path / "again.html")],
    ):
        assert CliRunner().invoke(app, command).exit_code == 0
    (tmp_path / "calls.jsonl").write_text(
        CliRunner().invoke(app, ["calls", str(run.path), "--json"]).output
    )
    assert find_texts(tmp_path, [NAME, MAIL, DATE]) == []
    assert "[name]" in (tmp_path / "rows.csv").read_text()
    assert find_texts(run.path, [NAME]) != [], "the ledger itself holds what was said"
    assert run.estimates.read_bytes() == figures


@pytest.mark.parametrize("rest", [("evidence", "pack", "--with-calls"), ("inspect", "a.eval")])
def test_what_would_hand_on_the_ledger_as_it_is_is_refused(run, tmp_path, rest):
    if rest[0] == "inspect":
        pytest.importorskip("inspect_ai")
    kind, name, *options = rest
    done = CliRunner().invoke(app, ["export", kind, str(run.path), str(tmp_path / name), *options])
    assert "rules of redaction" in str(done.exception)


def test_rules_that_cannot_be_used_show_nothing(run, tmp_path):
    import shutil

    shutil.copytree(run.path, tmp_path / "run")
    settings = Path(tmp_path / "run" / "run.toml")
    settings.write_text(settings.read_text().replace("[redact]", '[redact]\nnames_file = "/gone"'))
    with pytest.raises(ConfigError, match="names to redact cannot be read"):
        write_report(RunFolder(tmp_path / "run"))
