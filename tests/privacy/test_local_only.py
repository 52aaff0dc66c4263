"""`--local-only`: nothing leaves this machine, by no door."""

from __future__ import annotations

import socket
import threading
import urllib.request

import pytest
from typer.testing import CliRunner

from askew.cli.app import app
from askew.datasets import download
from askew.errors import ConfigError
from askew.models import builtin
from askew.models.address import parse_address
from askew.models.base import Fatal, ModelSpec
from askew.models.chat_api import ChatApi
from askew.models.http_app import HttpApp
from askew.models.registry import load_model
from askew.privacy.locality import NotLocal, is_loopback, only_this_machine
from askew.records import Call, Prompt
from askew.run import prepare
from askew.runfile import checked
from tests.models.servers import Answer, FaultServer

ELSEWHERE = [
    "https://api.example.org/v1",
    "http://localhost.evil.com/v1",
    "http://127.0.0.1.evil.com/v1",
    "http://evil.com#@127.0.0.1/v1",
    "http://127.0.0.1@evil.com/v1",
    "http://127.0.0.1:80@evil.com/v1",
    "http://0.0.0.0:8000/v1",
    "http://[::]:8000/v1",
    "http://[::ffff:8.8.8.8]/v1",
    "http://169.254.169.254/latest",
    "http://10.0.0.1/v1",
    "http://2130706433/v1",
    "http://127.1/v1",
    "http://0x7f.0.0.1/v1",
    "http://１２７.0.0.1/v1",
    "http://host.docker.internal/v1",
]
HERE = [
    "http://127.0.0.1:8000/v1",
    "http://127.9.9.9/v1",
    "http://[::1]:8000/v1",
    "http://[::ffff:127.0.0.1]:8000/v1",
    "http://LOCALHOST/v1",
    "http://localhost./v1",
    "http://app.localhost:3000/v1",
]


@pytest.mark.parametrize("url", ELSEWHERE)
def test_what_may_be_elsewhere_is_remote(url):
    assert ChatApi(ModelSpec(name="openai/toy", base_url=url)).remote
    assert HttpApp(ModelSpec(name="http/a", options={"url": url, "answer": "a"})).remote


@pytest.mark.parametrize("url", HERE)
def test_this_machine_is_not(url):
    assert parse_address(url).loopback
    assert not ChatApi(ModelSpec(name="openai/toy", base_url=url)).remote


def models(role: str, audit: str) -> dict:
    table = {"target": {"name": "openai/toy", "base_url": "http://127.0.0.1:1"}}
    table[role] = {"name": "openai/far", "base_url": "https://api.example.org/v1"}
    return {"models": table, audit: {}, "local_only": True}


@pytest.mark.parametrize(
    ("audit", "role"),
    [
        ("flex", "target"),
        ("clinical", "target"),
        ("clinical", "judge"),
        ("clinical", "judge_2"),
        ("clinical", "generator"),
        ("boundary", "target"),
        ("boundary", "generator"),
        ("boundary", "judge"),
    ],
)
def test_no_role_of_an_audit_may_be_elsewhere(audit, role):
    from askew.run.audit import module_of

    with pytest.raises(
        ConfigError, match=r"openai/far sends prompts off this machine, and local_only"
    ):
        module_of(audit).prepare(checked(models(role, audit)))


def test_a_cluster_that_is_named_may_be_elsewhere():
    here = {"models": {"target": {"name": "python/tests.cli.hostile:evil"}}, "local_only": True}
    settings = here | {"engine": {"name": "ray", "address": "10.0.0.9:6379"}}
    with pytest.raises(ConfigError, match=r"Ray cluster at engine\.address .* local_only is set"):
        prepare(checked(settings))


@pytest.mark.parametrize("role", ["target", "attacker", "judge"])
def test_no_role_of_a_build_may_be_elsewhere(role, tmp_path):
    from askew.build.flex import prepare as prepare_build
    from askew.build.settings import checked as checked_build

    settings = models(role, "build") | {"build": {}}
    with pytest.raises(ConfigError, match="openai/far sends prompts off this machine"):
        prepare_build(checked_build(settings))


@pytest.mark.parametrize(
    "spec",
    [
        ModelSpec(name="openai/far"),
        ModelSpec(name="inspect/openai/gpt"),
        ModelSpec(name="python/tests.cli.hostile:evil", options={"remote": True}),
        ModelSpec(name="local/some/model", options={"download": True}),
        ModelSpec(name="http/a", options={"url": "https://a.example/", "answer": "a"}),
    ],
    ids=lambda spec: spec.name,
)
def test_the_environment_shuts_the_door_that_all_models_come_by(monkeypatch, spec):
    if spec.provider == "inspect":
        pytest.importorskip("inspect_ai")
    monkeypatch.setenv("ASKEW_LOCAL_ONLY", "1")
    with pytest.raises(ConfigError, match="ASKEW_LOCAL_ONLY is set"):
        load_model(spec)


def test_the_environment_holds_for_data_and_packaged_models(monkeypatch, tmp_path):
    monkeypatch.setenv("ASKEW_LOCAL_ONLY", "yes")
    with pytest.raises(ConfigError, match="--from FOLDER"):
        download.get("bbq", cache=tmp_path)
    with pytest.raises(ConfigError, match="no http"):
        download.get("bbq", cache=tmp_path, mirror="ftp://me:hunter2@127.0.0.1/")
    with pytest.raises(ConfigError, match="--from FILE"):
        builtin._download(builtin.BUILTIN["smollm2"], tmp_path)


def test_a_mirror_on_this_machine_may_not_lead_away(monkeypatch, tmp_path):
    monkeypatch.setenv("ASKEW_LOCAL_ONLY", "1")
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.example:1")
    away = Answer(status=302, headers={"location": "http://evil.example/x"})
    with (
        FaultServer(lambda seen: away) as server,
        pytest.raises(ConfigError, match=r"fetched from evil\.example"),
    ):
        download.get("bbq", cache=tmp_path, mirror=server.origin)


@pytest.mark.parametrize("off", ["", "0", "false", "No"])
def test_the_environment_can_say_no(monkeypatch, off):
    monkeypatch.setenv("ASKEW_LOCAL_ONLY", off)
    assert load_model(ModelSpec(name="openai/far")).remote


async def test_a_proxy_does_not_get_what_is_for_this_machine(monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9/")
    with FaultServer() as server:
        model = ChatApi(ModelSpec(name="openai/toy", base_url=server.url))
        (reply,) = await model.ask([Call(Prompt(text="Who?"))])
        await model.close()
    assert reply.error is None


async def test_a_redirect_from_here_to_elsewhere_is_not_followed():
    away = Answer(status=307, headers={"location": "https://api.example.org/v1"})
    with FaultServer(lambda seen: away) as server:
        model = ChatApi(ModelSpec(name="openai/toy", base_url=server.url))
        with pytest.raises(Fatal, match="redirects to"):
            await model.ask([Call(Prompt(text="Who?"))])
        await model.close()


def test_under_the_guard_no_package_connects_or_looks_up():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams, only_this_machine():
        for reach in (
            lambda: urllib.request.urlopen("http://api.example.org/", timeout=2),
            lambda: socket.create_connection(("93.184.216.34", 80), 2),
            lambda: socket.getaddrinfo("api.example.org", 443),
            lambda: socket.gethostbyaddr("192.0.2.1"),
            lambda: socket.getnameinfo(("192.0.2.1", 443), 0),
            lambda: socket.gethostbyname("api.example.org"),
            lambda: datagrams.sendto(b"x", ("8.8.8.8", 53)),
        ):
            with pytest.raises((NotLocal, OSError), match="this machine"):
                reach()


def test_under_the_guard_this_machine_answers_and_afterwards_all_is_as_before():
    with FaultServer() as server, only_this_machine():
        urllib.request.urlopen(
            urllib.request.Request(f"{server.url}/chat/completions", b"{}"), timeout=5
        ).read()
    try:
        socket.create_connection(("192.0.2.1", 9), 0.05).close()
    except OSError as trouble:
        assert not isinstance(trouble, NotLocal)  # noqa: PT017  # whatever else there is no road


def test_a_model_that_reaches_out_by_itself_is_stopped_in_the_midst_of_its_run(
    tmp_path, monkeypatch
):
    """`python/` says that it stays here; a run that is local only does not take its word."""
    (tmp_path / "liar.py").write_text(
        "import socket\n"
        "def ask(prompt):\n"
        "    socket.create_connection(('93.184.216.34', 80), 2)\n"
        "    return '(A)'\n"
    )
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(
        app,
        [
            *("run", "--model", "python/liar:ask", "--local-only", "--items", "2", "--yes"),
            *("--set", "flex.controls=0", "--prompt", "flex", "--scoring", "reply", "--out", "run"),
        ],
    )
    assert "this machine" in done.output + str(done.exception)
    calls = CliRunner().invoke(app, ["calls", "run"]).output
    assert "received" not in calls


def test_the_guard_covers_other_threads():
    caught: list[BaseException] = []

    def reach() -> None:
        try:
            socket.create_connection(("93.184.216.34", 80), 2)
        except OSError as trouble:
            caught.append(trouble)

    with only_this_machine():
        other = threading.Thread(target=reach)
        other.start()
        other.join()
    assert isinstance(caught[0], NotLocal)


def test_a_run_file_says_it_too():
    with pytest.raises(ConfigError, match="local_only is set"):
        prepare(checked({"models": {"target": {"name": "openai/far"}}, "local_only": True}))


@pytest.mark.parametrize(
    "host", [None, "", " ", "localhost ", "%6cocalhost", "localhost\x00", "::1%25x"]
)
def test_odd_hosts_are_not_this_machine_or_do_no_harm(host):
    assert is_loopback(host) in (False, host == "::1%25x")
