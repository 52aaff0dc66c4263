"""Nothing that a model, a data file or a server wrote steers the terminal, in no command."""

from __future__ import annotations

import io
import json
import logging
import re
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askew.cli import main
from askew.cli.guard import Guarded, guarded, harmless
from askew.cli.terminal import bar_text, console, echo, workflow_command
from askew.report.words import clean
from tests.hostile.texts import ALL, IN_DATA, TERMINAL, steering

MODEL = "python/tests.hostile.models"


class Screen(io.StringIO):
    """What a terminal is sent; told apart from a file by `isatty`."""

    def __init__(self, *, terminal: bool) -> None:
        super().__init__()
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal


def askew(*arguments: str, terminal: bool = False) -> tuple[str, str, int]:
    """Both streams and the exit code of a command, as its process has them."""
    before = sys.argv, sys.stdout, sys.stderr
    out, err = Screen(terminal=terminal), Screen(terminal=terminal)
    sys.argv, sys.stdout, sys.stderr = ["askew", *arguments], out, err
    try:
        main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    finally:
        sys.argv, sys.stdout, sys.stderr = before
    return out.getvalue(), err.getvalue(), code


def without_own(text: str) -> str:
    """Without the colours and moves that rich draws a table or a bar with."""
    return re.sub(r"\x1b\[(?:[0-9;]*m|\?25[lh]|\d*A|2K)|\r(?=\x1b|$)", "", text)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Iterator[Path]:
    """Runs of a hostile model on hostile data, with a hostile judge."""
    made = tmp_path_factory.mktemp("hostile")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(made)
        patch.setenv("COLUMNS", "100")
        record = {
            "condition": "ambiguous",
            "context": f"Two people met. {IN_DATA}",
            "question": f"Who was late? {IN_DATA}",
            "option_a": f"The one {IN_DATA}",
            "option_b": "The other",
            "option_c": "Cannot be determined",
            "neutral": "c",
            "stereotyped": "a",
            "polarity": "negative",
            "bias_type": IN_DATA,
        }
        lines = [json.dumps({**record, "id": f"own-{n} {IN_DATA}"}) for n in range(3)]
        bad = json.dumps({**record, "neutral": ALL})
        Path("mine.jsonl").write_text("\n".join([*lines, bad, "{}", ALL[:50].replace("\n", " ")]),
                                      encoding="utf-8", errors="backslashreplace")  # fmt: skip
        Path("labels.csv").write_text(
            "id,question,answer,human_1,human_2,judge\n"
            + "".join(
                f'{n},"{ALL.replace(chr(34), "").replace(chr(0), "")}",x,{label},{label},yes\n'
                for n, label in enumerate(("biased", "not biased", '"\x1b[31m::error::"'))
            ),
            encoding="utf-8",
            errors="backslashreplace",
        )
        yield made


FLEX = (
    *("run", "--data", "own=mine.jsonl", "--lenient", "--prompt", "flex", "--scoring", "reply"),
    *("--items", "3", "--set", "flex.controls=0", "--yes"),
)
TOPICS = (
    *("boundary", "search", "--model", f"{MODEL}:target", "--judge", f"{MODEL}:judge", "--yes"),
    *("--queries", "2", "--set", "boundary.vectors=hashed", "--set", "boundary.policy=uniform"),
    *("--set", "boundary.questions=1", "--out", "topics"),
)
# In this order: what is read is made before.
COMMANDS = (
    (*FLEX, "--model", f"{MODEL}:target", "--out", "out"),
    (*FLEX, "--model", f"{MODEL}:failing", "--out", "failed"),
    TOPICS,
    ("ls", "."),
    ("ls", ".", "--json"),
    ("show", "out"),
    ("show", "topics"),
    ("show", "out", "--json"),
    ("score", "out"),
    ("table", "out"),
    ("table", "out", "--json"),
    ("table", "topics"),
    ("calls", "out"),
    ("calls", "out", "--json"),
    ("calls", "failed"),
    ("compare", "out", "failed"),
    ("gate", "out", "--require", "flex.accuracy_change.overall.upper <= 0.1"),
    ("gate", "out", "--require", ALL.replace("\x00", "").encode("utf-8", "replace").decode()),
    ("verify", "out"),
    ("data", "check", "mine.jsonl"),
    ("data", "check", "mine.jsonl", "--json"),
    ("judge", "calibrate", "labels.csv"),
    ("models", "check", f"{MODEL}:target"),
    ("models", "check", f"{MODEL}:failing"),
    ("export", "model-card", "out"),
    ("export", "data-card", "out"),
    ("export", "evidence", "out"),
    ("boundary", "ask", "topics", "Tea"),
    # What was typed, or a folder's name that a shell has filled in.
    ("show", TERMINAL["title"]),
    ("show", TERMINAL["github"]),
    ("run", TERMINAL["markup"] + TERMINAL["bidi"]),
    (TERMINAL["clear"],),
    ("run", "--no-such", TERMINAL["clipboard"]),
    ("run", "--model", TERMINAL["up"]),
    ("run", "--set", TERMINAL["c1"]),
    ("compare", TERMINAL["colour"], TERMINAL["link"]),
)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda one: clean(" ".join(one))[:40])
def test_no_command_lets_a_text_steer(folder, command):
    out, err, code = askew(*command)
    assert out or err
    expected = {"table --json": (0,), "show --json": (0,)}
    assert code in expected.get(f"{command[0]} {command[-1]}", (0, 1, 3, 4)), ascii(err)
    assert "Traceback" not in err
    assert steering(out) == []
    assert steering(err) == []
    if "--json" in command:
        for line in out.split("\n")[:-1] if command[0] == "calls" else [out]:
            json.loads(line)


AGAIN = (*FLEX, "--model", f"{MODEL}:failing", "--out", "again")


@pytest.mark.parametrize(
    "command",
    [("show", "out"), ("table", "out"), ("ls", "."), AGAIN, TOPICS],
    ids=["show", "table", "ls", "run with bars", "search with bars"],
)
def test_nor_on_a_terminal_with_colours_and_bars(folder, command, monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    out, err, _ = askew(*command, terminal=True)
    assert steering(without_own(out)) == []
    assert steering(without_own(err)) == []


def test_json_of_a_command_says_what_was_said(folder):
    """Nothing is lost: what is escaped for the terminal is escaped as JSON does it."""
    out, _, _ = askew("calls", "out", "--json")
    said = {json.loads(line)["reply"]["text"] for line in out.split("\n")[:-1]}
    assert said == {f"A {ALL}"}


# The last wall


@given(st.text() | st.sampled_from(list(TERMINAL.values())))
def test_whatever_is_written_comes_out_harmless(text):
    for terminal in (False, True):
        screen = Screen(terminal=terminal)
        Guarded(screen).write(f"x{text}")
        written = screen.getvalue()
        assert steering(without_own(written) if terminal else written) == []


@given(st.text())
def test_what_is_harmless_is_not_touched_and_json_stays_json(text):
    written = json.dumps({"said": text}, ensure_ascii=False)
    assert json.loads(harmless(written)) == {"said": text}
    plain = clean(text)
    assert harmless(harmless(plain)) == harmless(plain)


def test_a_traceback_is_harmless(monkeypatch):
    def broken() -> None:
        raise ValueError(ALL)

    monkeypatch.setattr("askew.cli._run", broken)
    out, err, code = askew("ls")
    assert (out, code) == ("", 1)
    assert "ValueError" in err
    assert steering(err) == []


def test_warnings_and_logs_of_others_are_harmless():
    screen = Screen(terminal=False)
    before, sys.stderr = sys.stderr, screen
    try:
        with guarded():
            logging.StreamHandler().emit(logging.makeLogRecord({"msg": ALL}))
            sys.excepthook(ValueError, ValueError(ALL), None)
            sys.stderr.writelines([ALL, warnings.formatwarning(ALL, UserWarning, ALL, 1, ALL)])
    finally:
        sys.stderr = before
    assert "UserWarning" in screen.getvalue()
    assert steering(screen.getvalue()) == []


def test_a_bar_shows_names_as_they_are(monkeypatch):
    """A name with a closing tag was an error of markup in the midst of a run."""
    from rich.progress import Progress

    monkeypatch.setenv("TERM", "xterm-256color")
    screen = Screen(terminal=True)
    monkeypatch.setattr(sys, "stderr", screen)
    with Progress(bar_text("{task.description}"), console=console(stderr=True)) as bars:
        bars.add_task(TERMINAL["markup"] + TERMINAL["title"] + TERMINAL["overprint"])
    assert "[/nothing]" in screen.getvalue()
    assert steering(without_own(screen.getvalue())) == []


def test_the_gates_own_commands_reach_the_runner(capsys):
    with guarded():
        workflow_command("::error title=a::b")
        echo("::error title=a::b")
    assert capsys.readouterr().out == "::error title=a::b\n\\u003a:error title=a::b\n"
