"""`inspect/PROVIDER/MODEL`: Inspect's real client against a real server, and its mock."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from askew.errors import ConfigError, MissingDependency
from askew.models.base import Ability, Fatal, Model, ModelSpec, RateLimited, ServerFault
from askew.models.registry import load_model
from askew.records import Call, Finish, Message, Prompt, Reply, Sampling
from askew.run import execute, prepare
from askew.runfile import checked
from tests.models.servers import (
    Answer,
    FaultServer,
    chat_body,
    error,
    rate_limited,
    refused_port,
)

pytest.importorskip("inspect_ai", reason="askew[inspect] is not installed")

KEY = "sk-toy-secret-0123456789"
CALL = Call(
    Prompt(messages=(Message("system", "Be brief."), Message("user", "A or B?"))),
    Sampling(temperature=0.5, max_tokens=7, top_p=0.9, seed=3, stop=("\n",)),
)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultServer]:
    with FaultServer() as server:
        monkeypatch.setenv("TOY_BASE_URL", f"{server.url}?key=hidden")
        monkeypatch.setenv("TOY_API_KEY", KEY)
        yield server


def model(name: str = "openai-api/toy/m", *, seconds: float = 20.0, **fields: object) -> Model:
    return load_model(ModelSpec(name=f"inspect/{name}", timeout_seconds=seconds, **fields))


async def ask(asked: Model, *, call: Call = CALL) -> Reply:
    try:
        (reply,) = await asked.ask([call])
    finally:
        await asked.close()
    return reply


async def test_a_call_is_sent_once_with_all_of_its_sampling(server):
    reply = await ask(model())
    assert reply == Reply(
        text="B", prompt_tokens=9, completion_tokens=1, served_model="toy-1", finish=Finish.STOP
    )
    (seen,) = server.seen
    assert seen.headers["authorization"] == f"Bearer {KEY}"
    assert seen.body["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "A or B?"},
    ]
    sent = {name: seen.body[name] for name in ("temperature", "max_tokens", "top_p", "seed")}
    assert sent == {"temperature": 0.5, "max_tokens": 7, "top_p": 0.9, "seed": 3}
    assert seen.body["stop"] == ["\n"]


async def test_further_settings_go_out_where_they_belong(server):
    options = {"config": {"reasoning_effort": "low"}, "default_query": {"v": "2"}}
    await ask(model(options=options))
    assert server.seen[0].body["reasoning_effort"] == "low"
    assert server.seen[0].query["v"] == "2"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (chat_body("B", finish="length"), ("B", None, Finish.LENGTH)),
        (chat_body("B", finish="content_filter"), ("B", None, Finish.BLOCKED)),
        (chat_body("", refusal="I will not."), ("I will not.", None, Finish.REFUSAL)),
        (chat_body("C", reasoning_content="Is it A?"), ("C", "Is it A?", Finish.STOP)),
        (chat_body("<think>A?</think> C"), ("C", "A?", Finish.STOP)),
        (chat_body("<think>A, but let me see"), (None, "A, but let me see", Finish.STOP)),
        (chat_body(None), ("", None, Finish.STOP)),
    ],
    ids=["length", "filtered", "refusal", "field", "tags", "open tag", "null"],
)
async def test_a_reply_keeps_its_end_and_its_reasoning_apart(server, answer, expected):
    server.script(Answer(answer))
    reply = await ask(model())
    assert (reply.text, reply.reasoning, reply.finish) == expected
    assert (reply.prompt_tokens, reply.completion_tokens) == (9, 1)


@pytest.mark.parametrize(
    ("answer", "finish", "said"),
    [
        (error(400, "no such parameter"), Finish.ERROR, "no such parameter"),
        (
            Answer({"error": {"message": "flagged", "code": "content_filter"}}, 400),
            Finish.BLOCKED,
            "flagged",
        ),
        (
            Answer({"error": {"message": "long", "code": "context_length_exceeded"}}, 400),
            Finish.ERROR,
            "long",
        ),
    ],
    ids=["bad request", "filtered prompt", "too long"],
)
async def test_what_the_server_will_not_answer_is_no_words_of_the_models(
    server, answer, finish, said
):
    server.script(answer)
    reply = await ask(model())
    assert (reply.text, reply.finish, reply.prompt_tokens) == (None, finish, None)
    assert said in (reply.error or "")
    assert len(server.seen) == 1


async def test_a_rate_limit_is_handed_on_with_the_servers_word(server):
    server.script(rate_limited("3"))
    with pytest.raises(RateLimited) as caught:
        await ask(model())
    assert caught.value.wait_seconds == 3.0
    assert len(server.seen) == 1


@pytest.mark.parametrize(
    ("answer", "answered"),
    [
        (error(500, "out of order"), True),
        (error(503, "overloaded", retry_after="2"), True),
        (Answer(fault="drop"), False),
        (Answer(chat_body("B"), fault="cut"), False),
        (Answer(chat_body("B"), delay=5.0), False),
        (Answer("no JSON"), False),
    ],
    ids=["500", "503", "dropped", "cut", "slow", "no JSON"],
)
async def test_a_fault_is_sent_once_and_says_what_is_known(server, answer, answered):
    server.script(answer)
    with pytest.raises(ServerFault) as caught:
        await ask(model(seconds=1.0))
    assert (caught.value.sent, caught.value.answered) == (True, answered)
    assert len(server.seen) == 1


async def test_a_connection_that_was_never_made_cost_nothing(monkeypatch):
    monkeypatch.setenv("TOY_BASE_URL", f"http://127.0.0.1:{refused_port()}/v1")
    monkeypatch.setenv("TOY_API_KEY", KEY)
    with pytest.raises(ServerFault) as caught:
        await ask(model())
    assert not caught.value.sent


@pytest.mark.parametrize(
    ("status", "message"), [(401, f"bad key {KEY}"), (404, "no model"), (402, "pay first")]
)
async def test_what_will_not_pass_stops_the_run_and_shows_no_key(server, status, message):
    server.script(error(status, message))
    with pytest.raises(Fatal) as caught:
        await ask(model())
    assert KEY not in str(caught.value)
    assert "hidden" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("openai-api/keyless/m", "KEYLESS_API_KEY"),
        ("nobody/m", "nobody"),
    ],
)
async def test_a_model_that_cannot_be_set_up_says_what_is_missing(server, name, message):
    with pytest.raises(Fatal, match=message) as caught:
        await ask(model(name))
    assert "[bold]" not in str(caught.value)


async def test_log_probabilities_are_a_clear_error(server):
    asked = Call(Prompt(messages=CALL.prompt.messages, choices=("A", "B")))
    with pytest.raises(Fatal, match="--scoring reply"):
        await ask(model(), call=asked)
    assert model().abilities == Ability.REPLY
    run = checked({"models": {"target": {"name": "inspect/openai-api/toy/m"}}})
    with pytest.raises(ConfigError, match="--scoring reply"):
        prepare(run.model_copy(update={"flex": run.flex.model_copy(update={"scoring": "letters"})}))


async def test_the_mock_answers_without_a_network(monkeypatch, tmp_path):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))  # no tokenizer is there
    reply = await ask(model("mockllm/model"))
    assert reply.text == "Default output from mockllm/model"
    assert (reply.prompt_tokens or 0) > 0


def test_the_model_follows_the_protocol(server):
    asked = model()
    assert isinstance(asked, Model)
    assert (asked.batch, asked.remote, asked.paid) == (1, True, True)
    mock = model("mockllm/model")
    assert (mock.remote, mock.paid) == (False, False)
    assert asked.tokens(CALL) >= len("Be brief.A or B?")


def test_its_identity_holds_what_changes_an_answer_and_no_secret(server, monkeypatch):
    identity = model().identity()
    assert identity["base_url"] == server.url
    assert identity["inspect_ai"] == "0.3"
    assert KEY not in str(identity)
    assert model(options={"config": {"reasoning_effort": "low"}}).identity() != identity
    assert model(options={"prompt_cache_key": "mine"}).identity() != identity
    monkeypatch.setenv("TOY_BASE_URL", "http://127.0.0.1:1/v1")
    assert model().identity() != identity
    assert model(base_url=server.url).identity() == identity


@pytest.mark.parametrize(
    ("name", "fields", "message"),
    [
        ("openai", {}, "inspect/PROVIDER/MODEL"),
        ("openai/", {}, "inspect/PROVIDER/MODEL"),
        ("a/b", {"options": {"api_key": "x"}}, "api_key_env"),
        ("a/b", {"options": {"aws_secret_access_key": "x"}}, "api_key_env"),
        ("a/b", {"options": {"default_headers": {"X-Api-Key": "x"}}}, "headers.X-Api-Key.*secret"),
        ("a/b", {"options": {"config": {"extra_headers": {"Authorization": "x"}}}}, "secret"),
        ("a/b", {"options": {"config": {"temperature": 1}}}, "config.temperature"),
        ("a/b", {"options": {"config": {"cache": True}}}, "config.cache"),
        ("a/b", {"options": {"config": 3}}, "a table"),
        ("a/b", {"options": {"parallel": 0}}, "whole number"),
        ("a/b", {"dtype": "float32"}, "'dtype'"),
        ("a/b", {"base_url": "nowhere"}, "no web address"),
    ],
)
def test_a_setting_that_cannot_be_used_is_refused(name, fields, message):
    with pytest.raises(ConfigError, match=message):
        model(name, **fields)


def test_without_inspect_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "inspect_ai", None)
    with pytest.raises(MissingDependency, match=r"askew\[inspect\]"):
        model("mockllm/model")


async def test_a_run_repeats_what_failed_and_pays_for_nothing_twice(server, tmp_path: Path):
    server.script(rate_limited("0.01"), error(500, "out of order"), rate_limited())
    target = {"name": "inspect/openai-api/toy/m", "concurrency": 4}
    run = checked(
        {
            "out": str(tmp_path / "run"),
            "models": {"target": target},
            "flex": {"items": 1, "controls": 1},
        }
    )
    folder, answers = await execute(prepare(run))
    assert (answers.missing, answers.failed) == (0, 0)
    assert len(server.seen) == answers.asked + 3
    again, once_more = await execute(prepare(run))
    assert once_more.asked == 0
    assert again.verify() == []
    assert KEY not in folder.settings.read_text(encoding="utf-8")


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_neither_key_nor_prompt_follow_a_redirect(server, status):
    with FaultServer() as other:
        place = f"{other.url}/chat/completions?key=hidden"
        server.script(Answer(status=status, headers={"location": place}))
        with pytest.raises(
            Fatal, match=f"answered {status}: it redirects to {other.url}"
        ) as caught:
            await ask(model())
    assert not other.seen
    assert len(server.seen) == 1
    assert KEY not in str(caught.value)
    assert "hidden" not in str(caught.value)


@pytest.mark.parametrize(
    "body",
    [
        {"choices": None},
        {"choices": []},
        {"error": {"message": "Provider returned error", "code": 502}},
        {**chat_body("B"), "usage": "x"},
        {**chat_body("B"), "usage": {"prompt_tokens": "x"}},
        chat_body(None, content=[1, {"a": 2}]),
        "<html>hello</html>",
        b"[" * 100_000,
        b'{"choices":[{"message":{"content":"B\\ud800\\u0000"}}]}',
    ],
    ids=lambda body: repr(body)[:30],
)
async def test_a_reply_of_any_shape_is_read_or_an_outcome_that_is_not_known(server, body):
    server.script(Answer(body))
    with suppress(ServerFault):
        reply = await ask(model())
        assert reply.text is None or reply.text.startswith("B")
    assert len(server.seen) == 1
