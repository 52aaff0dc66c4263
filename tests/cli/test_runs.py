"""`askew ls | show | verify | sign | serve` as a user meets them."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from typer.testing import CliRunner, Result

from askew.cli import runs as commands
from askew.cli.app import app
from askew.errors import AskewError
from askew.report.folders.signing_keys import write_key_pair
from askew.runfolder import RunFolder
from tests.report.runs import make_run, starter_items

PLANTED = Path(__file__).parents[1] / "audits"  # python/planted:leaning
REAL_RUN = (
    *("run", "--model", "python/planted:leaning", "--prompt", "flex", "--scoring", "reply"),
    *("--items", "8", "--set", "flex.controls=0", "--out", "real", "--yes"),
)
HOSTILE = "toy/\x1b[31mred\u202e\nline [bold]<script>"


def whole(estimates: dict) -> None:
    estimates["flex"]["missing_pairs"] = 0


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("made")
    make_run(path / "one", starter_items(8), change=whole).write_manifest()
    make_run(path / "deep" / "two", starter_items(8), model="toy/two", change=whole)
    return path


@pytest.fixture
def runs(made, tmp_path, monkeypatch) -> Path:
    shutil.copytree(made, tmp_path / "runs")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "runs"


def invoke(*arguments: object) -> Result:
    """The command, in this process; errors of askew's own come back as they are."""
    return CliRunner().invoke(app, list(map(str, arguments)))


def test_ls_lists_the_runs_below_runs(runs):
    done = invoke("ls")
    assert done.exit_code == 0, done.output
    assert re.search(
        r"^one +2\d{3}-\d\d-\d\d \d\d:\d\d  complete    builtin/smollm2 · flex ·", done.output, re.M
    )
    assert re.search(r"^deep/two .* incomplete  toy/two", done.output, re.M)
    assert re.search(r"ASR \d+ % \(\d+–\d+ %\)", done.output)


def test_ls_narrows_by_model_audit_and_date(runs):
    assert [one["name"] for one in json.loads(invoke("ls", "--model", "TWO", "--json").output)] == [
        "deep/two"
    ]
    assert json.loads(invoke("ls", "--audit", "clinical", "--json").output) == []
    assert json.loads(invoke("ls", "--since", "2100-01-01", "--json").output) == []
    assert len(json.loads(invoke("ls", "--since", "2020-01-01", "--json").output)) == 2
    assert "No run of the 2 there in runs fits." in invoke("ls", "--model", "none").output
    assert isinstance(invoke("ls", "--since", "soon").exception, AskewError)
    assert isinstance(invoke("ls", "nowhere").exception, AskewError)


def test_ls_shows_a_damaged_folder_as_one(runs):
    (runs / "one" / "run.sqlite").write_bytes(b"rubbish" * 200)
    (runs / "deep" / "two" / "estimates.json").write_text("{", encoding="utf-8")
    done = invoke("ls")
    assert done.exit_code == 0
    assert done.output.count(" damaged ") == 2
    assert "cannot be read as a ledger" in re.sub(r"\s+", " ", done.output)


def test_no_name_steers_the_terminal_or_the_layout(runs):
    folder = RunFolder(runs / "one")
    folder.write_estimates(folder.read_estimates() | {"model": HOSTILE})
    (runs / "one").rename(runs / "a b\x1b[2J\n'quoted'")
    for done in (invoke("ls"), invoke("show", "a b", "--in", runs)):
        assert done.exit_code == 0, done.exception
        assert "\x1b" not in done.output
        assert "\u202e" not in done.output
        assert "[bold]<script>" in done.output
    first, *_ = [line for line in invoke("ls").output.splitlines() if "red" in line]
    assert "⟨U+001B⟩[31mred" in first
    assert "line [bold]" in first


def test_show_tells_a_run_on_a_screen(runs):
    done = invoke("show", "one")
    assert done.exit_code == 0, done.output
    said = re.sub(r"\s+", " ", done.output)
    for part in (
        "State complete",
        "fit to be measured",
        "no price is known",
        "askew serve runs/one",
    ):
        assert part in said, part
    record = json.loads(invoke("show", "one", "--json").output)
    assert (record["name"], record["state"], record["dates_from"]) == ("one", "complete", "ledger")


def test_show_finds_by_path_latest_and_model_and_names_the_candidates(runs):
    names = [
        json.loads(invoke("show", *arguments, "--json").output)["name"]
        for arguments in (["runs/deep/two"], ["tw"], ["latest", "--model", "toy"], ["toy/two"])
    ]
    assert names == ["two", "deep/two", "deep/two", "deep/two"]
    shutil.copytree(runs / "one", runs / "only")
    trouble = invoke("show", "o").exception
    assert isinstance(trouble, AskewError)
    assert re.search(r"2 runs in runs fit 'o'\. There are: (one|only) \(", str(trouble))


def test_show_opens_the_report_and_says_where_there_is_none(runs, monkeypatch):
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda url: not opened.append(url))
    (runs / "one" / "report.html").write_text("page", encoding="utf-8")
    assert invoke("show", "one", "--open").exit_code == 0
    assert opened == [(runs / "one" / "report.html").as_uri()]
    assert "askew score" in str(invoke("show", "two", "--open").exception)


def test_the_commands_that_show_names_can_be_pasted_whatever_the_folder_is_called(runs):
    (runs / "one").rename(runs / "it's one; rm -rf")
    sheet = json.loads(invoke("show", "it's", "--json").output)
    (verify,) = [one["command"] for one in sheet["next"] if "verify" in one["command"]]
    said = subprocess.run(
        ["sh", "-c", f"echo {verify}"], capture_output=True, text=True, check=True
    )
    assert said.stdout.strip() == "askew verify runs/it's one; rm -rf"


# Verify and sign


def test_verify_tells_fine_changed_and_cannot_be_checked_by_its_exit_code(runs):
    done = invoke("verify", runs / "one")
    assert (done.exit_code, "every file is as the run left it" in done.output) == (0, True)
    assert invoke("verify", runs / "deep" / "two").exit_code == 3
    (runs / "one" / "notes").touch()
    done = invoke("verify", runs / "one")
    assert (done.exit_code, "notes: not in MANIFEST" in done.output) == (1, True)
    assert invoke("verify", runs / "one", "--allow-extra").exit_code == 0
    both = invoke("verify", runs / "one", runs / "deep" / "two", "--json")
    assert both.exit_code == 1
    assert [one["state"] for one in json.loads(both.output)] == [
        "not as it was left",
        "cannot be checked",
    ]


def test_a_run_is_signed_checked_and_stale_once_it_is_scored_again(runs, monkeypatch):
    monkeypatch.delenv(commands.PASSPHRASE, raising=False)
    monkeypatch.syspath_prepend(PLANTED)
    asked = invoke(*REAL_RUN)
    assert asked.exit_code == 0, asked.exception
    made = invoke("sign", "--make-key", "release")
    assert made.exit_code == 0, made.exception
    signed = invoke("sign", "real", "--key", "release")
    assert signed.exit_code == 0, signed.exception
    (print_,) = re.findall(r"SHA256:\S+", signed.output)
    assert print_ in made.output
    anybody = invoke("verify", "real")
    assert (anybody.exit_code, "nobody vouches" in anybody.output) == (0, True)
    named = invoke("verify", "real", "--signer", "release.pub")
    assert (named.exit_code, "the key that was asked for" in named.output) == (0, True)
    assert invoke("sign", "--make-key", "other").exit_code == 0
    assert invoke("verify", "real", "--signer", "other.pub").exit_code == 1
    assert invoke("score", "real", "--non-answers", "wrong").exit_code == 0
    stale = invoke("verify", "real", "--signer", "release.pub")
    assert (stale.exit_code, "is not the one that was signed" in stale.output) == (1, True)
    assert invoke("sign", "real", "--key", "release").exit_code == 0
    assert invoke("verify", "real", "--signer", "release.pub").exit_code == 0


def test_a_passphrase_comes_from_the_environment_or_nobody_is_asked(runs, monkeypatch):
    write_key_pair(Path("locked"), b"open sesame")
    monkeypatch.delenv(commands.PASSPHRASE, raising=False)
    trouble = invoke("sign", runs / "one", "--key", "locked").exception
    assert isinstance(trouble, AskewError)
    assert commands.PASSPHRASE in str(trouble)
    monkeypatch.setenv(commands.PASSPHRASE, "open sesame")
    assert invoke("sign", runs / "one", "--key", "locked").exit_code == 0
    assert "--passphrase" not in invoke("sign", "--help").output


def test_sign_wants_a_run_and_a_key(runs):
    for arguments in ([], [runs / "one"], ["--key", "k"], [runs / "one", "--make-key", "k"]):
        assert isinstance(invoke("sign", *arguments).exception, AskewError)


# Serve


def test_serve_prints_a_link_answers_and_ends_on_ctrl_c(runs):
    server = subprocess.Popen(
        [sys.executable, "-c", "from askew.cli import main; main()", "serve", "runs"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )
    try:
        assert server.stdout is not None
        line = server.stdout.readline()
        (url,) = re.findall(r"http://127\.0\.0\.1:\d+/\S{24}/", line)
        with urllib.request.urlopen(url, timeout=20) as answer:
            assert "deep/two" in answer.read().decode()
        # Of bytes that are no HTTP nothing is told: the address is in them, secret and all.
        with socket.create_connection(("127.0.0.1", urlsplit(url).port)) as wire:
            wire.sendall(f"GET {urlsplit(url).path}\0 HTTP/1.1\r\n\r\n".encode())
            assert b"400" in wire.recv(100)
        server.send_signal(signal.SIGINT)
        out, errors = server.communicate(timeout=20)
    finally:
        server.kill()
        server.communicate()
    assert (server.returncode, errors) == (0, "")
    assert "Stopped." in out


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org", ""])
def test_serve_refuses_to_be_reached_from_elsewhere(runs, host):
    trouble = invoke("serve", "runs", "--host", host).exception
    assert isinstance(trouble, AskewError)
    assert "this machine alone" in str(trouble)


def test_serve_says_where_there_is_nothing_to_serve(tmp_path):
    assert "no run is in there" in str(invoke("serve", tmp_path).exception)
    assert isinstance(invoke("serve", tmp_path / "none").exception, AskewError)
