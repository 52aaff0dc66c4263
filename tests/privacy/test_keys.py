"""A key is read from the environment or a keyring, and stands in nothing that a run leaves."""

from __future__ import annotations

import base64
import json
import logging
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from itertools import cycle
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from askew.cli.app import app
from askew.errors import ConfigError
from askew.models.base import Fatal, ModelSpec
from askew.models.chat_api import ChatApi
from askew.models.http_app import HttpApp
from askew.models.masking import NOTE, without_known_secrets
from askew.models.registry import load_model
from askew.privacy.known_secrets import mask_these, named_secrets, without_secrets
from askew.privacy.scan import find_secrets
from askew.privacy.spellings import forms
from askew.records import Call, Prompt
from askew.runfile import read_run_file
from tests.models.servers import Answer, FaultServer, Seen, chat_body

# It needs every encoding: signs that URLs, JSON, HTML and base64 write in another way.
KEY = 'Zq/7+tEst&key=0f3a<99>Aa"b'
NAME = "PRIVACY_TEST_KEY"
RUN = (
    "--items",
    "3",
    "--prompt",
    "flex",
    "--scoring",
    "reply",
    "--set",
    "flex.controls=0",
    "--yes",
)


def echo_everywhere(seen) -> Answer:
    """A server that says the key back in whatever it says."""
    key = seen.headers["authorization"].removeprefix("Bearer ")
    said = [
        f"({'ABC'[0]}) {key}",
        quote(key, safe=""),
        base64.b64encode(b"x" + key.encode()).decode(),
    ]
    body = chat_body(" ".join(said))
    body["model"], body["system_fingerprint"] = f"toy-{key}", key
    return Answer(body, headers={"x-your-key": key.encode().hex()})


def failing(status: int, headers=None):
    def handler(seen) -> Answer:
        key = seen.headers["authorization"].removeprefix("Bearer ")
        told = f"Incorrect API key provided: {key}, that is {quote(key, safe='')}"
        return Answer(
            {"error": {"message": told, "code": key}}, status, headers(key) if headers else {}
        )

    return handler


def one_after_the_other() -> Callable[[Seen], Answer]:
    """Every fault that lets a run go on, in turn."""
    faults = cycle(
        [
            failing(400),
            failing(500),
            lambda seen: Answer(f"<p>{seen.headers['authorization']}</p>", 200),
            lambda seen: Answer(chat_body(seen.headers["authorization"]), fault="cut"),
            echo_everywhere,
        ]
    )
    return lambda seen: next(faults)(seen)


HANDLERS = {
    "a reply": echo_everywhere,
    "401": failing(401),
    "a redirect": failing(302, lambda key: {"location": f"https://example.org/?key={quote(key)}"}),
    "one fault after the other": one_after_the_other(),
}


def left_in(folder: Path) -> list[str]:
    return [str(found) for found in find_secrets(folder, {NAME: KEY})]


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(NAME, KEY)
    return tmp_path


@pytest.mark.parametrize("kind", HANDLERS)
def test_no_kind_of_run_leaves_the_key_in_its_folder_its_output_or_a_log(here, kind, caplog):
    caplog.set_level(logging.DEBUG)
    with FaultServer(HANDLERS[kind]) as server:
        done = CliRunner().invoke(
            app,
            [
                *("run", "--model", "openai/toy", "--base-url", server.url, "--api-key-env", NAME),
                *("--out", "run", "--concurrency", "2", "--set", "models.target.timeout_seconds=2"),
                *RUN,
            ],
        )
        assert server.seen[0].headers["authorization"] == f"Bearer {KEY}"
    (here / "output.txt").write_text(done.output + str(done.exception))
    (here / "log.txt").write_text(caplog.text)
    for command in (["calls", "run", "--json"], ["show", "run"], ["export", "run", "rows.csv"]):
        (here / f"{command[0]}.txt").write_text(CliRunner().invoke(app, command).output)
    assert (here / "run" / "run.sqlite").is_file()
    assert left_in(here) == []


def test_a_reply_that_said_the_key_is_kept_with_stars_and_counted_as_adapted(here):
    with FaultServer(echo_everywhere) as server:
        CliRunner().invoke(
            app,
            [
                *("run", "--model", "openai/toy", "--base-url", server.url, "--api-key-env", NAME),
                *("--out", "run", *RUN),
            ],
        )
    with closing(sqlite3.connect(here / "run" / "run.sqlite")) as database:
        replies = [json.loads(text) for (text,) in database.execute("SELECT reply FROM calls")]
    assert replies
    assert all(reply["text"].startswith("(A) ***") for reply in replies)
    assert all(NOTE in reply.get("adapted", ()) or "***" in reply["text"] for reply in replies)


def test_the_scan_finds_a_key_in_every_place_where_one_could_be(tmp_path):
    """What the other tests rest on: had the key been there, it would have been seen."""
    for number, form in enumerate(forms(KEY)):
        (tmp_path / f"{number}.bin").write_bytes(b"\x00\xff" + form.encode() + b"\x00")
    found = {one.file for one in find_secrets(tmp_path, {NAME: KEY})}
    assert len(found) == len(forms(KEY))
    assert all(
        NAME in str(one) and KEY not in str(one) for one in find_secrets(tmp_path, {NAME: KEY})
    )


@pytest.mark.parametrize("place", ["free page", "log", "zip", "gzip", "report"])
def test_the_scan_sees_free_pages_logs_and_what_is_packed(tmp_path, place):
    if place in ("free page", "log"):
        database = sqlite3.connect(tmp_path / "run.sqlite", isolation_level=None)
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA secure_delete = OFF")
        database.execute("CREATE TABLE t (a)")
        database.execute("INSERT INTO t VALUES (?)", (KEY,))
        if place == "free page":
            database.execute("DELETE FROM t")
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        found = find_secrets(tmp_path, {NAME: KEY})
        database.close()
        wanted = "run.sqlite" if place == "free page" else "run.sqlite-wal"
        assert wanted in {one.file for one in found}
        return
    if place == "zip":
        import zipfile

        with zipfile.ZipFile(tmp_path / "pack.zip", "w", zipfile.ZIP_DEFLATED) as packed:
            packed.writestr("inner.txt", f"a {KEY} b" * 9)
    elif place == "gzip":
        import gzip

        (tmp_path / "a.gz").write_bytes(gzip.compress(f"a {KEY} b".encode() * 9))
    else:
        import gzip

        island = base64.b64encode(gzip.compress((f"a {KEY} b" + os.urandom(200).hex()).encode()))
        (tmp_path / "report.html").write_bytes(b"<html>" + island + b"</html>")
    (found,) = find_secrets(tmp_path, {NAME: KEY})
    assert found.within


@given(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=8, max_size=40), st.text(max_size=20)
)
def test_whatever_the_secret_and_its_form_it_does_not_pass(secret, around):
    for form in forms(secret):
        left = mask_these(f"{around} {form} {around}", [secret])
        assert form not in left or form in around or form in "***"


@given(
    st.binary(max_size=9),
    st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=12),
    st.binary(max_size=9),
)
def test_base64_of_a_key_between_anything_is_known(before, secret, after):
    written = base64.b64encode(before + secret.encode() + after).decode()
    assert mask_these(written, [secret]) != written


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


DRAWN = "3f9Kd81mQz70Lw2Xt5"


@pytest.mark.parametrize(
    "line",
    [
        f'api_key_env = "sk-proj-{DRAWN}"',
        f'api_key_env = "{DRAWN}"',
        f'api_key = "{DRAWN}"',
        f'base_url = "https://me:{DRAWN}@host.example/v1"',
        f'base_url = "https://{DRAWN}@host.example/v1"',
        f'base_url = "https://host.example/v1?api_key={DRAWN}"',
        f'base_url = "https://host.example/v1?x={DRAWN}"',
        f'revision = "hf_{DRAWN}abcdef"',
        f'options = {{ headers = {{ Authorization = "Bearer {DRAWN}" }} }}',
        f'options = {{ headers = {{ Authorization = "Bearer {DRAWN} ${{X}}" }} }}',
        f'options = {{ headers = {{ "X-Api-Key" = "{DRAWN}" }} }}',
        f'options = {{ headers = {{ Cookie = "session={DRAWN}" }} }}',
        'options = { body = { password = "short" } }',
        f'options = {{ body = {{ list = ["sk-{DRAWN}"] }} }}',
        f'options = {{ url = "http://127.0.0.1/ask?token={DRAWN}" }}',
        f'stop = ["sk-{DRAWN}"]',
    ],
)
def test_a_key_in_a_run_file_is_refused_with_the_mend_and_not_shown(tmp_path, line):
    file = write(tmp_path / "a.toml", f'[models.target]\nname = "openai/toy"\n{line}\n[flex]\n')
    with pytest.raises(ConfigError) as caught:
        load_model(read_run_file(file).target.spec())
    said = str(caught.value)
    assert DRAWN not in said
    assert "short" not in said
    assert "variable" in said


@pytest.mark.parametrize(
    "line",
    [
        'api_key_env = "OPENAI_API_KEY"',
        'api_key_env = "my_key"',
        'api_key_keyring = "openai/me@example.org"',
        'base_url = "https://${USER_NAME}:${PASS}@host.example/v1?key=${KEY}&api-version=2024-10-21"',
        'base_url = "http://127.0.0.1:8000/v1"',
        'revision = "3d0c1f2a9b8e7d6c5f4a3b2c1d0e9f8a7b6c5d4e"',
        'name = "openai/gpt-4o-mini-2024-07-18"',
        'options = { headers = { Authorization = "Bearer ${MY_KEY}" } }',
        'options = { headers = { Cookie = "session=${MY_SESSION}; lang=en" } }',
        'options = { body = { key = "{prompt}", token = "${T}", max_tokens = "12" } }',
        'options = { key_header = "api-key" }',
        'stop = ["sk-learn is a package of that name"]',
    ],
)
def test_what_is_no_key_may_stand(tmp_path, line):
    name = "" if line.startswith("name") else 'name = "openai/toy"\n'
    read_run_file(write(tmp_path / "a.toml", f"[models.target]\n{name}{line}\n[flex]\n"))


def test_a_key_on_the_command_line_is_refused_and_said_to_be_in_the_history(here):
    url = f"http://me:{DRAWN}@127.0.0.1:1/v1"
    done = CliRunner().invoke(app, ["run", "--model", "openai/toy", "--base-url", url, "--yes"])
    assert "history" in str(done.exception)
    assert DRAWN not in str(done.exception) + done.output


async def test_variables_in_address_and_body_are_filled_in_and_kept_nowhere(monkeypatch):
    monkeypatch.setenv("PT_USER", "me")
    monkeypatch.setenv("PT_PASS", "hun/ter&2 secret")
    with FaultServer(lambda seen: Answer({"said": seen.body})) as server:
        url = (
            server.origin.replace("http://", "http://${PT_USER}:${PT_PASS}@")
            + "/ask?key=${PT_PASS}"
        )
        body = {"q": "{prompt}", "password": "${PT_PASS}"}
        app_ = HttpApp(
            ModelSpec(
                name="http/toy", options={"url": url, "body": body, "answer": "said.password"}
            )
        )
        (reply,) = await app_.ask([Call(Prompt(text="Who?"))])
        await app_.close()
        (seen,) = server.seen
    assert seen.query == {"key": "hun/ter&2 secret"}
    assert base64.b64decode(seen.headers["authorization"][6:]) == b"me:hun/ter&2 secret"
    assert seen.body == {"q": "Who?", "password": "hun/ter&2 secret"}
    assert without_known_secrets(reply).text == "***"
    assert "ter&2" not in repr(app_.identity()) + repr(app_._ready)


async def test_an_unset_variable_is_said_and_a_key_in_its_place_is_not():
    model = ChatApi(ModelSpec(name="openai/toy", base_url="http://127.0.0.1:1", api_key_env=DRAWN))
    with pytest.raises(Fatal, match="names the environment variable") as caught:
        await model.ask([Call(Prompt(text="Who?"))])
    assert DRAWN not in str(caught.value)


async def test_a_key_comes_from_the_keyring(monkeypatch, server):
    keyring = pytest.importorskip("keyring", reason="askew[keyring] is not installed")
    from keyring.backend import KeyringBackend

    class Ring(KeyringBackend):
        priority = 1

        def get_password(self, service, username):
            return KEY if (service, username) == ("openai", "me") else None

        def set_password(self, service, username, password):
            raise NotImplementedError

    before = keyring.get_keyring()
    keyring.set_keyring(Ring())
    try:
        spec = ModelSpec(name="openai/toy", base_url=server.url, api_key_keyring="openai/me")
        model = ChatApi(spec)
        await model.ask([Call(Prompt(text="Who?"))])
        await model.close()
        assert server.seen[0].headers["authorization"] == f"Bearer {KEY}"
        nobody = ChatApi(
            ModelSpec(name="openai/toy", base_url=server.url, api_key_keyring="openai/x")
        )
        with pytest.raises(Fatal, match="keyring set openai x"):
            await nobody.ask([Call(Prompt(text="Who?"))])
    finally:
        keyring.set_keyring(before)


@pytest.fixture
def server():
    with FaultServer() as running:
        yield running


def test_children_get_no_key_and_pip_keeps_its_own_settings():
    given_ = {"OPENAI_API_KEY": "a" * 20, "PIP_INDEX_URL": "x", "HF_TOKEN": "t", "PATH": "/bin"}
    assert without_secrets(given_) == {"PIP_INDEX_URL": "x", "PATH": "/bin"}


def test_paths_and_short_words_are_no_secrets():
    assert named_secrets(
        {"SSH_KEY": "/home/me/.ssh/id", "A_KEY": "EMPTY", "B_KEY": "long enough"}
    ).get("B_KEY")
    assert "SSH_KEY" not in named_secrets({"SSH_KEY": "/home/me/.ssh/id"})


CRASH = """
import faulthandler, logging, os, sys
from askew.privacy.known_secrets import remember
logging.basicConfig(level=logging.DEBUG)
key = os.environ["PT_KEY"]
remember(key, "PT_KEY")
logging.getLogger("httpx").debug("Authorization: %s", key)
try:
    raise ValueError(f"bad {key}")
except ValueError:
    logging.getLogger("aiohttp").exception("it broke")
import askew.cli
def broken(): raise RuntimeError(f"a defect with {key}")
askew.cli._run = broken
if sys.argv[1] == "fault":
    faulthandler.enable()
    os.abort()
askew.cli.main()
"""


@pytest.mark.parametrize("kind", ["defect", "fault"])
def test_logs_tracebacks_and_fault_dumps_have_no_key_and_no_core_is_left(tmp_path, kind):
    done = subprocess.run(
        [sys.executable, "-c", CRASH, kind],
        env={**os.environ, "PT_KEY": KEY},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "Authorization: ***" in done.stderr
    assert "bad ***" in done.stderr
    assert ("a defect with ***" in done.stderr) is (kind == "defect")
    assert KEY not in done.stderr + done.stdout
    if kind == "defect":
        assert not list(tmp_path.glob("core*"))


def test_the_command_line_has_its_cores_limited():
    pytest.importorskip("resource")
    code = (
        "import sys, resource; sys.argv = ['askew', '--version']\n"
        "import askew.cli\n"
        "try: askew.cli.main()\n"
        "except SystemExit: pass\n"
        "print(resource.getrlimit(resource.RLIMIT_CORE)[0])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout.split()[-1]) in (0, 1)


def test_a_key_is_in_no_argument_of_a_process(here):
    """A run in a process of its own: its arguments name the variable alone."""
    if not Path("/proc/self/cmdline").exists():
        pytest.skip("no /proc here")
    with FaultServer(lambda seen: Answer(chat_body("(A)"), delay=0.3)) as server:
        command = [str(Path(sys.executable).with_name("askew")), "run", "--model", "openai/toy"]
        command += ["--base-url", server.url, "--api-key-env", NAME, "--out", "run", *RUN]
        running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            while not server.seen and running.poll() is None:
                time.sleep(0.02)
            arguments = Path(f"/proc/{running.pid}/cmdline").read_bytes()
        finally:
            running.wait()
    assert b"PRIVACY_TEST_KEY" in arguments
    assert KEY.encode() not in arguments
    assert left_in(here) == []
