"""`askew models check`: what an endpoint can do, found out before a run relies on it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from askew.cli.app import app
from askew.models.registry import PROVIDERS, known_providers
from tests.models.servers import Answer, FaultServer, Seen, chat_body, error, refused_port


def check(url: str) -> tuple[int, dict[str, tuple[bool | None, str]]]:
    done = CliRunner().invoke(app, ["models", "check", "openai/toy", "--base-url", url, "--json"])
    checks = json.loads(done.stdout)["checks"]
    return done.exit_code, {one["what"]: (one["works"], one["why"]) for one in checks}


def chat_alone(seen: Seen) -> Answer:
    """Replies; refuses log-probabilities and plain completions."""
    if not seen.path.endswith("/chat/completions"):
        return error(404, "no such path")
    if "logprobs" in seen.body:
        return error(400, "logprobs is not supported by this model")
    return Answer(chat_body("A"))


def with_letters(seen: Seen) -> Answer:
    """Replies, with the alternatives of the first token where they are asked for."""
    body = chat_body("A")
    if "logprobs" in seen.body:
        top = [{"token": "A", "logprob": -0.1}, {"token": "B", "logprob": -2.5}]
        body["choices"][0]["logprobs"] = {"content": [{**top[0], "top_logprobs": top}]}
    return Answer(body)


def test_an_endpoint_that_only_replies():
    with FaultServer(chat_alone) as server:
        code, found = check(server.url)
    assert code == 0
    assert found["replies"] == (True, "")
    works, why = found["log-probabilities of letters"]
    assert works is False
    assert "logprobs is not supported" in why
    assert found["log-probabilities of echoed texts"][0] is False


def test_an_endpoint_that_gives_letters():
    with FaultServer(with_letters) as server:
        code, found = check(server.url)
    assert code == 0
    assert found["log-probabilities of letters"][0] is True


@pytest.mark.parametrize(
    ("answer", "code", "works"),
    [(error(401, "wrong key"), 3, False), (error(503, "busy"), 4, None)],
)
def test_an_endpoint_that_does_not_reply(answer, code, works):
    with FaultServer(lambda seen: answer) as server:
        found_code, found = check(server.url)
    assert found_code == code
    assert found["replies"][0] is works
    assert found["replies"][1]


def test_where_nobody_listens_it_cannot_be_told():
    code, found = check(f"http://127.0.0.1:{refused_port()}/v1")
    assert code == 4
    assert found["replies"][0] is None


def test_a_model_without_a_probe_is_asked_for_one_reply(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    good = CliRunner().invoke(app, ["models", "check", "python/hostile:evil"])
    assert (good.exit_code, good.stdout) == (0, "replies: yes\n")
    bad = CliRunner().invoke(app, ["models", "check", "python/hostile:failing"])
    assert bad.exit_code == 3
    assert "replies: no" in bad.stdout
    assert "the application is down" in bad.stdout


def test_the_providers_are_listed_and_each_of_askews_own_is_described():
    done = CliRunner().invoke(app, ["models", "list", "--json"])
    listed = {row["provider"]: row["what"] for row in json.loads(done.stdout)["providers"]}
    assert set(listed) == set(known_providers())
    assert "added by a package" not in [listed[name] for name in PROVIDERS]
