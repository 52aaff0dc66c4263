"""What goes out to an endpoint, and what its answers and failures come to."""

from __future__ import annotations

import base64
import logging
import math
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askew.errors import ConfigError
from askew.models.address import parse_address
from askew.models.base import Ability, Fatal, Model, ModelSpec, RateLimited, ServerFault
from askew.models.chat_api import ChatApi
from askew.models.chat_replies import parse_chat
from askew.models.retry_after import LONGEST_WAIT, read_wait
from askew.models.server_errors import Endpoint, loads
from askew.records import Call, Finish, Message, Prompt, Reply, Sampling
from tests.models.servers import (
    Answer,
    FaultServer,
    Seen,
    chat_body,
    error,
    rate_limited,
    refused_port,
)

QUESTION = Prompt(messages=(Message("system", "Be brief."), Message("user", "Who was late?")))
KEY = "sk-very-secret-key-0123456789"


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ASKEW_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with FaultServer() as running:
        yield running


@pytest.fixture
async def api(server: FaultServer) -> AsyncIterator[ChatApi]:
    model = ChatApi(ModelSpec(name="openai/toy", base_url=server.url))
    yield model
    await model.close()


async def ask(model: ChatApi, prompt: Prompt = QUESTION, **sampling: object) -> Reply:
    (reply,) = await model.ask([Call(prompt, Sampling(**sampling))])  # type: ignore[arg-type]  # fields by name
    return reply


async def ask_at(base_url: str | None, **spec: object) -> Reply:
    model = ChatApi(ModelSpec(name="openai/toy", base_url=base_url, **spec))  # type: ignore[arg-type]  # fields by name
    try:
        return await ask(model)
    finally:
        await model.close()


# What goes out


async def test_a_conversation_is_posted_with_its_sampling_parameters(server, api):
    await ask(api, temperature=0.5, max_tokens=7, top_p=0.9, seed=3, stop=("\n",))
    (seen,) = server.seen
    assert seen.method == "POST"
    assert seen.path == "/v1/chat/completions"
    assert seen.body == {
        "model": "toy",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Who was late?"},
        ],
        "max_tokens": 7,
        "temperature": 0.5,
        "top_p": 0.9,
        "seed": 3,
        "stop": ["\n"],
    }


async def test_a_parameter_that_is_none_is_left_to_the_server(server, api):
    await ask(api, temperature=None)
    assert server.seen[0].body.keys() == {"model", "messages", "max_tokens"}


async def test_a_plain_text_goes_to_the_completions_endpoint(server, api):
    server.handler = lambda seen: Answer({"choices": [{"text": " late", "finish_reason": "stop"}]})
    reply = await ask(api, Prompt(text="He was"))
    assert reply.text == " late"
    assert server.seen[0].path == "/v1/completions"
    assert server.seen[0].body["prompt"] == "He was"


async def test_the_model_follows_the_protocol(api):
    assert isinstance(api, Model)
    assert api.abilities == Ability.REPLY | Ability.CHOICE_LOG_PROBABILITIES
    assert (api.batch, api.parallel, api.remote, api.paid) == (1, 16, False, True)


async def test_further_fields_of_the_body_are_passed_on(server):
    await ask_at(server.url, options={"body": {"reasoning_effort": "low"}})
    assert server.seen[0].body["reasoning_effort"] == "low"


async def test_half_a_surrogate_pair_fails_its_item_alone(server, api):
    reply = await ask(api, Prompt(text="\ud83d"))
    assert reply.finish is Finish.ERROR
    assert not server.seen


def test_tokens_are_never_fewer_than_the_bytes(no_keys):
    model = ChatApi(ModelSpec(name="openai/toy", base_url="http://127.0.0.1:9"))
    assert model.tokens(Call(Prompt(messages=(Message("user", "né 😀"),)))) >= len("né 😀".encode())
    text = Prompt(text="The sky is", choices=(" blue", " green"))
    assert model.tokens(Call(text)) >= len(b"The sky is blueThe sky is green")


# Addresses


@pytest.mark.parametrize(
    ("base_url", "called"),
    [
        ("http://127.0.0.1:9/v1", "http://127.0.0.1:9/v1/chat/completions"),
        ("http://127.0.0.1:9/v1/", "http://127.0.0.1:9/v1/chat/completions"),
        ("http://127.0.0.1:9", "http://127.0.0.1:9/v1/chat/completions"),
        ("http://127.0.0.1:9/", "http://127.0.0.1:9/v1/chat/completions"),
        ("http://127.0.0.1:9/api/v1/", "http://127.0.0.1:9/api/v1/chat/completions"),
        ("http://127.0.0.1:9//api//v1", "http://127.0.0.1:9/api/v1/chat/completions"),
        ("http://127.0.0.1:9/v10", "http://127.0.0.1:9/v10/chat/completions"),
        ("http://127.0.0.1:9/openai", "http://127.0.0.1:9/openai/chat/completions"),
        (
            "http://127.0.0.1:9/v1/chat/completions/",
            "http://127.0.0.1:9/v1/chat/completions",
        ),
        ("http://127.0.0.1:9/v1/completions", "http://127.0.0.1:9/v1/chat/completions"),
        ("http://[::1]:9/v1", "http://[::1]:9/v1/chat/completions"),
        ("https://host/v1?tier=2", "https://host/v1/chat/completions?tier=2"),
        (" https://host ", "https://host/v1/chat/completions"),
    ],
)
def test_every_way_to_write_an_address_calls_the_same_place(base_url, called):
    assert parse_address(base_url).endpoint("chat/completions") == called


@pytest.mark.parametrize("bad", ["127.0.0.1:9/v1", "localhost:8000", "ftp://host", "", "http://"])
def test_what_is_no_web_address_is_refused_with_an_example(bad):
    with pytest.raises(ConfigError, match="http://127"):
        parse_address(bad)


def test_a_bad_port_is_refused_without_the_password():
    with pytest.raises(ConfigError, match="Port") as caught:
        parse_address("http://me:hunter2@host:eight/v1")
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("base_url", "loopback"),
    [
        ("http://localhost:1", True),
        ("http://127.8.8.8", True),
        ("http://[::1]", True),
        ("http://127.0.0.1.example.org", False),
        ("http://10.0.0.1", False),
    ],
)
def test_only_this_machine_counts_as_local(base_url, loopback):
    assert parse_address(base_url).loopback is loopback
    model = ChatApi(ModelSpec(name="openai/toy", base_url=base_url))
    assert model.remote is not loopback


async def test_userinfo_becomes_basic_authorisation_and_is_shown_nowhere(server):
    url = server.url.replace("http://", "http://me:hun%40ter2@")
    server.script(error(404, "no such model, me:hun@ter2"))
    with pytest.raises(Fatal) as caught:
        await ask_at(url)
    sent = server.seen[0].headers["authorization"]
    assert base64.b64decode(sent.removeprefix("Basic ")) == b"me:hun@ter2"
    shown = str(caught.value) + repr(parse_address(url))
    shown += repr(ChatApi(ModelSpec(name="openai/toy", base_url=url)).identity())
    assert "ter2" not in shown


async def test_azure_is_called_by_deployment_version_and_key_header(server, monkeypatch):
    monkeypatch.setenv("AZURE_KEY", KEY)
    options = {"api_version": "2026-02-01"}
    await ask_at(server.origin, api_key_env="AZURE_KEY", options=options)
    (seen,) = server.seen
    assert seen.path == "/openai/deployments/toy/chat/completions"
    assert seen.query == {"api-version": "2026-02-01"}
    assert seen.headers["api-key"] == KEY
    assert "authorization" not in seen.headers


async def test_a_404_shows_the_address_and_the_servers_word(server):
    server.script(error(404, "The model `toy-9` does not exist"))
    with pytest.raises(Fatal, match=r"/v10/chat/completions answered 404: The model `toy-9`"):
        await ask_at(f"{server.origin}/v10")


async def test_a_redirect_is_not_followed(server):
    server.script(Answer(status=308, headers={"location": "https://elsewhere.example/v1"}))
    with pytest.raises(Fatal, match=r"redirects to https://elsewhere\.example"):
        await ask_at(server.url)
    assert len(server.seen) == 1


# Keys


async def test_the_key_is_sent_and_shows_up_nowhere_else(server, monkeypatch, caplog):
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("MY_KEY", KEY + "\n")
    model = ChatApi(ModelSpec(name="openai/toy", base_url=server.url, api_key_env="MY_KEY"))
    server.script(error(401, f"Incorrect API key provided: {KEY[:9]}********789, {KEY}."))
    with pytest.raises(Fatal, match="MY_KEY") as caught:
        await ask(model)
    await model.close()
    assert server.seen[0].headers["authorization"] == f"Bearer {KEY}"
    written = str(caught.value) + caplog.text + repr(model.identity()) + repr(model)
    for part in (KEY, KEY[:9], "789"):
        assert part not in written


async def test_openais_own_key_does_not_go_to_another_address(server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    await ask_at(server.url)
    assert "authorization" not in server.seen[0].headers


async def test_askews_own_variable_goes_to_any_address(server, monkeypatch):
    monkeypatch.setenv("ASKEW_API_KEY", KEY)
    await ask_at(server.url)
    assert server.seen[0].headers["authorization"] == f"Bearer {KEY}"


async def test_without_a_key_openai_is_not_asked():
    with pytest.raises(Fatal, match="export OPENAI_API_KEY"):
        await ask_at(None)


async def test_headers_are_filled_from_the_environment(server, monkeypatch):
    monkeypatch.setenv("GATE", "let-me-in")
    headers = {"X-Gate-Token": "t ${GATE}", "X-Route": "eu"}
    model = ChatApi(ModelSpec(name="openai/toy", base_url=server.url, options={"headers": headers}))
    await ask(model)
    await model.close()
    assert server.seen[0].headers["x-gate-token"] == "t let-me-in"
    assert server.seen[0].headers["x-route"] == "eu"
    assert "let-me-in" not in repr(model.identity())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"headers": {"Authorization": "Bearer abc"}}, "plain text"),
        ({"paralel": 3}, "unknown option .*paralel"),
        ({"parallel": 0}, "whole number"),
        ({"parallel": True}, "whole number"),
        ({"paid": "no"}, "true or false"),
        ({"body": "x"}, "expected a table"),
        ({"headers": {"X": 1}}, "expected a text"),
    ],
)
def test_an_option_that_cannot_be_used_is_refused_at_once(options, message):
    with pytest.raises(ConfigError, match=message):
        ChatApi(ModelSpec(name="openai/toy", base_url="http://127.0.0.1:9", options=options))


# What comes back


def parse(body: object, status: int = 200, **headers: str) -> Reply:
    return parse_chat(status, headers, Answer(body).raw, 0.0, Endpoint("http://host/v1"))


def test_the_reply_carries_usage_and_who_served_it():
    assert parse(chat_body("B")) == Reply(
        text="B", prompt_tokens=9, completion_tokens=1, served_model="toy-1", fingerprint="fp_1"
    )


@pytest.mark.parametrize("usage", [None, {}, [], {"prompt_tokens": None}, {"prompt_tokens": "9"}])
def test_usage_may_be_missing(usage):
    reply = parse(chat_body("B") | {"usage": usage})
    assert (reply.text, reply.prompt_tokens, reply.completion_tokens) == ("B", None, None)


@pytest.mark.parametrize(
    ("body", "text", "finish"),
    [
        (chat_body(None), None, Finish.STOP),
        (chat_body(""), "", Finish.STOP),
        (chat_body([{"type": "text", "text": "C"}]), "C", Finish.STOP),
        (chat_body(["B", {"type": "image"}]), "B", Finish.STOP),
        (chat_body([]), None, Finish.STOP),
        (chat_body(None, refusal="I can't."), "I can't.", Finish.REFUSAL),
        (chat_body([{"type": "refusal", "refusal": "No."}]), "No.", Finish.REFUSAL),
        (chat_body("B", refusal=None), "B", Finish.STOP),
        (chat_body("B", refusal=""), "B", Finish.STOP),
        (chat_body("The answer is", finish="length"), "The answer is", Finish.LENGTH),
        (chat_body("The", finish="MAX_TOKENS"), "The", Finish.LENGTH),
        (chat_body(None, finish="content_filter"), None, Finish.BLOCKED),
        (chat_body("Th", finish="SAFETY"), "Th", Finish.BLOCKED),
        (chat_body("B", finish=None), "B", Finish.STOP),
        ({"choices": [{"message": None, "finish_reason": "content_filter"}]}, None, Finish.BLOCKED),
    ],
)
def test_every_form_of_content_is_read(body, text, finish):
    reply = parse(body)
    assert (reply.text, reply.finish) == (text, finish)


@pytest.mark.parametrize(
    ("body", "text", "reasoning"),
    [
        (chat_body("C", reasoning_content="Could be A."), "C", "Could be A."),
        (chat_body("C", reasoning="Could be A."), "C", "Could be A."),
        (chat_body("<think>Could be A.</think> C"), "C", "Could be A."),
        (chat_body("Could be A.</think>C"), "C", "Could be A."),
        (chat_body(None, finish="length", reasoning_content="So A"), None, "So A"),
        (chat_body("<think>So A", finish="length"), None, "So A"),
        (
            chat_body(
                [
                    {"type": "thinking", "thinking": [{"type": "text", "text": "So A"}]},
                    {"type": "text", "text": "C"},
                ]
            ),
            "C",
            "So A",
        ),
    ],
)
def test_reasoning_is_kept_apart_from_the_answer(body, text, reasoning):
    reply = parse(body)
    assert (reply.text, reply.reasoning) == (text, reasoning)


@pytest.mark.parametrize("before", ["", "\n\n   \n", "\ufeff", "\ufeff \r\n", " \ufeff"])
def test_what_keeps_a_connection_alive_before_the_json_is_passed_over(before):
    body = before + Answer(chat_body("B")).raw.decode()
    assert parse(body).text == "B"


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (b'{"a": NaN}', {"a": math.nan}),
        (b'{"a": "x\\ud83d"}', {"a": "x\ufffd"}),
        (b'{"a": "x\xf0\x9f"}', {"a": "x\ufffd"}),
        (b'["\\ud83d\\ude00"]', ["😀"]),
    ],
)
def test_json_as_real_servers_write_it_is_read(raw, value):
    assert repr(loads(raw)) == repr(value)


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ({"choices": None, "usage": None}, "without a choice"),
        ({"choices": []}, "without a choice"),
        ({"object": "error", "message": "engine died"}, "engine died"),
        ({"choices": [None]}, "no object"),
        ({"error": {"message": "Provider returned error", "code": 502}}, "Provider returned error"),
        ({"error": {"message": "Provider returned error", "code": "502"}}, "Provider returned"),
        ({"error": "overloaded"}, "overloaded"),
        ({"error": {"weird": 1}}, "weird"),
        ({"choices": [{"error": {"message": "upstream died", "code": 502}}]}, "upstream died"),
        ({"choices": [{"message": {"content": "B"}, "finish_reason": "error"}]}, "broke off"),
        ([1], "no object"),
        ('{"id": "chatcmpl-x", "created":', "no whole JSON"),
        ("<html><body><h1>Welcome</h1></body></html>", "Welcome"),
        ("", "no whole JSON"),
        ("null", "no object"),
    ],
)
def test_a_200_without_an_answer_is_a_fault_of_the_server_in_its_own_words(body, word):
    with pytest.raises(ServerFault, match=word) as caught:
        parse(body)
    assert caught.value.answered


def envelope(message: str = "", **fields: object) -> dict[str, object]:
    return {"error": {"message": message, **fields}}


@pytest.mark.parametrize("status", [200, 400, 403])
@pytest.mark.parametrize(
    "body",
    [
        envelope("filtered", code="content_filter"),
        envelope("Bad", code="x", innererror={"code": "ResponsibleAIPolicyViolation"}),
        envelope("Bad", type="content_policy_violation", code=None),
        envelope("Inappropriate", code="data_inspection_failed"),
    ],
)
def test_a_filtered_prompt_is_blocked_whatever_the_status(status, body):
    reply = parse(body, status)
    assert reply.finish is Finish.BLOCKED
    assert reply.text is None


@pytest.mark.parametrize(
    "message",
    [
        "The response was filtered due to the prompt triggering Azure's content management policy.",
        "Your chosen model requires moderation and your input was flagged for violence",
    ],
)
def test_a_filter_without_a_code_is_known_by_its_words(message):
    assert parse(envelope(message, code=400), 400).finish is Finish.BLOCKED


@pytest.mark.parametrize(
    ("status", "body", "word"),
    [
        (429, envelope("You exceeded your current quota.", code="insufficient_quota"), "quota"),
        (402, envelope("Insufficient Balance"), "Balance"),
        (200, envelope("Insufficient credits", code=402), "credits"),
        (400, envelope("Your credit balance is too low"), "quota left"),
        (401, envelope("no"), "api_key_env"),
        (403, envelope("no"), "api_key_env"),
        (400, envelope("API key not valid. Please pass a valid API key."), "api_key_env"),
        (200, envelope("no", code="invalid_api_key"), "api_key_env"),
        (404, envelope("The model `toy-9` does not exist", code="model_not_found"), "toy-9"),
        (404, "<html><title>404</title></html>", "http://host/v1"),
        (405, "", "http://host/v1"),
        (400, envelope("toy-9 is not a valid model ID"), "toy-9"),
    ],
)
def test_what_no_waiting_cures_stops_the_run(status, body, word):
    with pytest.raises(Fatal, match=word):
        parse(body, status)


@pytest.mark.parametrize("status", [408, 409, 425, 500, 502, 503, 504, 524, 529])
def test_what_may_pass_is_a_fault_of_the_server(status):
    with pytest.raises(ServerFault, match=f"answered {status}: 502 Bad Gateway") as caught:
        parse("<html><body><h1>502 Bad Gateway</h1></body></html>", status)
    assert caught.value.sent
    assert caught.value.answered


@pytest.mark.parametrize(
    ("status", "body", "word"),
    [
        (400, envelope("maximum context length is 2048", code="context_length_exceeded"), "2048"),
        (400, envelope("request (631 tokens) exceeds the available context size"), "631"),
        (500, envelope("the prompt is too long", code=500), "too long"),
        (413, "too big", "too big"),
        (429, envelope("Request too large for toy on tokens per min"), "too large"),
        (400, envelope("something odd"), "odd"),
        (422, {"detail": [{"loc": ["body", "n"], "msg": "wrong n"}]}, "wrong n"),
        (400, [{"error": {"message": "in a list", "status": "INVALID"}}], "in a list"),
        (400, {"detail": "as FastAPI says"}, "as FastAPI says"),
        (418, "plain text", "plain text"),
        (400, '{"error": {"n": 99999999999999999999999, "x": NaN}}', "99999999999999999999999"),
        (400, "[]", r"\[\]"),
    ],
)
def test_a_prompt_that_cannot_be_served_fails_alone_and_quotes_the_server(status, body, word):
    reply = parse(body, status)
    assert reply.finish is Finish.ERROR
    assert f"answered {status}" in (reply.error or "")
    assert word.replace("\\", "") in (reply.error or "")


def test_a_servers_long_words_are_cut():
    reply = parse(envelope("patient " * 1000), 400)
    assert len(reply.error or "") < 600


@given(st.binary(max_size=200), st.sampled_from([200, 400, 404, 429, 500]))
def test_no_body_whatsoever_is_met_with_another_exception(body, status):
    with suppress(RateLimited, ServerFault, Fatal):
        parse_chat(status, {}, body, 0.0)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-999, 999) | st.floats(-9, 9) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["choices", "message", "content", "error", "code", "usage", "finish_reason", "text"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSON, st.sampled_from([200, 400, 500]))
def test_no_json_whatsoever_is_met_with_another_exception(value, status):
    with suppress(RateLimited, ServerFault, Fatal):
        parse(value if not isinstance(value, str) else [value], status)


# Waiting


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"Retry-After": " 0.25 "}, 0.25),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5),
        ({"retry-after-ms": "soon", "retry-after": "2"}, 2.0),
        ({"retry-after": "600"}, 600.0),
        ({"retry-after": "601"}, None),
        ({"retry-after": "1e9"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "9" * 400}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({}, None),
        (
            {
                "date": "Wed, 21 Oct 2026 07:28:00 GMT",
                "retry-after": "Wed, 21 Oct 2026 07:28:07 GMT",
            },
            7.0,
        ),
        (
            {
                "date": "Thu, 01 Jan 1970 00:00:10 GMT",
                "retry-after": "Thu, 01 Jan 1970 00:00:05 GMT",
            },
            0.0,
        ),
        ({"retry-after": "Thu, 01 Jan 1970 00:01:40 GMT"}, 60.0),
        ({"date": "nonsense", "retry-after": "Thu, 01 Jan 1970 00:01:40 GMT"}, 60.0),
        ({"retry-after": "Thu Jan  1 00:01:40 1970"}, 60.0),
        ({"retry-after": "Wed, 21 Oct 2099 07:28:07 GMT"}, None),
    ],
)
def test_the_servers_word_on_waiting(headers, seconds):
    assert read_wait(headers, clock=40.0).seconds == seconds


@given(st.text(max_size=30), st.text(max_size=30))
def test_no_header_breaks_the_waiting_or_makes_it_long(after, now):
    seconds = read_wait({"retry-after": after, "date": now}, clock=0.0).seconds
    assert seconds is None or 0.0 <= seconds <= LONGEST_WAIT


async def test_a_429_carries_the_wait_and_says_when_it_is_not_heeded(server, api):
    server.script(rate_limited("3"), rate_limited("86400"), rate_limited("soon"), rate_limited())
    for seconds, word in ((3.0, "429"), (None, "86400 s"), (None, "be read"), (None, "slow down")):
        with pytest.raises(RateLimited, match=word) as caught:
            await ask(api)
        assert caught.value.wait_seconds == seconds


# Connections


async def test_a_refused_connection_was_never_sent():
    with pytest.raises(ServerFault, match="no connection") as caught:
        await ask_at(f"http://127.0.0.1:{refused_port()}/v1")
    assert not caught.value.sent


@pytest.mark.parametrize("fault", ["drop", "cut"])
async def test_a_connection_that_breaks_leaves_the_outcome_unknown(server, api, fault):
    server.script(Answer(chat_body("B"), fault=fault))
    with pytest.raises(ServerFault, match="the connection broke") as caught:
        await ask(api)
    assert caught.value.sent
    assert not caught.value.answered


async def test_a_kept_connection_that_drops_is_not_asked_again(server, api):
    assert (await ask(api)).text == "B"
    server.script(Answer(fault="drop"))
    with pytest.raises(ServerFault):
        await ask(api)
    assert len(server.seen) == 2


async def test_a_reply_that_takes_too_long_leaves_the_outcome_unknown(server):
    server.script(Answer(chat_body("B"), delay=5.0))
    with pytest.raises(ServerFault, match=r"within 0\.1 s \(timeout_seconds\)") as caught:
        await ask_at(server.url, timeout_seconds=0.1)
    assert caught.value.sent
    assert not caught.value.answered


async def test_one_request_takes_one_call(api):
    with pytest.raises(ValueError, match="one call"):
        await api.ask([Call(QUESTION), Call(QUESTION)])


# Parameters that a server refuses


def refusing(*parameters: str, word: str = "is not supported with this model") -> object:
    """A handler that turns down one parameter at a time, as OpenAI does."""

    def answer(seen: Seen) -> Answer:
        for name in parameters:
            if name in seen.body:
                message = f"Unsupported parameter: '{name}' {word}."
                return Answer(
                    envelope(message, param=name, code="unsupported_parameter"), status=400
                )
        return Answer(chat_body("B"))

    return answer


async def test_max_tokens_is_renamed_once_and_for_all(server, api):
    server.handler = refusing("max_tokens", word="… use 'max_completion_tokens' instead")
    first = await ask(api, max_tokens=9)
    second = await ask(api, max_tokens=9)
    assert [seen.body.get("max_completion_tokens") for seen in server.seen] == [None, 9, 9]
    assert "max_tokens" not in server.seen[2].body
    assert first.text == second.text == "B"
    assert first.adapted == second.adapted == ("max_tokens sent as max_completion_tokens",)


async def test_each_refused_parameter_costs_one_request_and_is_written_down(server, api):
    server.handler = refusing("temperature", "seed", "top_p")
    reply = await ask(api, temperature=0.0, seed=1, top_p=0.5)
    assert len(server.seen) == 4
    assert reply.adapted == tuple(
        f"{name} left out: the server refused it" for name in ("temperature", "top_p", "seed")
    )
    assert (await ask(api, temperature=None)).adapted == ()


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, envelope("Unsupported value: 'temperature' does not support 0 with this model.")),
        (400, envelope("temperature: Extra inputs are not permitted")),
        (
            422,
            {"detail": [{"loc": ["body", "temperature"], "msg": "Extra inputs are not permitted"}]},
        ),
        (400, {"message": "Unrecognized request argument supplied: temperature"}),
        (200, envelope("temperature is not supported", code=400)),
    ],
)
async def test_a_refusal_is_understood_in_many_wordings(server, api, status, body):
    server.script(Answer(body, status))
    reply = await ask(api)
    assert reply.text == "B"
    assert reply.adapted == ("temperature left out: the server refused it",)
    assert len(server.seen) == 2


@pytest.mark.parametrize(
    "message",
    [
        "max_tokens is too large: 300000. This model supports at most 16384.",
        "temperature must be between 0 and 2",
        "the moon is not supported",
    ],
)
async def test_what_is_not_understood_fails_the_item_and_quotes_the_server(server, api, message):
    server.script(error(400, message))
    reply = await ask(api)
    assert reply.finish is Finish.ERROR
    assert message in (reply.error or "")
    assert len(server.seen) == 1


async def test_a_server_that_refuses_for_ever_is_asked_twice(server, api):
    message = "Unsupported parameter: 'temperature'"
    server.handler = lambda seen: error(400, message)
    reply = await ask(api)
    assert reply.finish is Finish.ERROR
    assert message in (reply.error or "")
    assert len(server.seen) == 2


@pytest.mark.parametrize(
    "message",
    [
        "System role not supported",
        "Conversation roles must alternate user/assistant/user/assistant/...",
        "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
    ],
)
async def test_a_template_without_a_system_role_keeps_the_persona(server, api, message):
    server.script(error(400, message))
    prompt = Prompt(
        messages=(Message("system", "Speak like an old sailor."), Message("user", "Who was late?"))
    )
    reply = await ask(api, prompt)
    sent = server.seen[1].body["messages"]
    assert sent == [{"role": "user", "content": "Speak like an old sailor.\n\nWho was late?"}]
    assert "system text put before" in reply.adapted[0]
    assert (await ask(api, Prompt(messages=(Message("user", "Hi"),)))).adapted == ()


async def test_a_filters_400_is_asked_once(server, api):
    server.script(Answer(envelope("temperature unsupported", code="content_filter"), 400))
    assert (await ask(api)).finish is Finish.BLOCKED
    assert len(server.seen) == 1


async def test_a_probe_asks_once_and_stops_on_an_endpoint_that_cannot(server, api):
    await api.probe(QUESTION)
    assert len(server.seen) == 1
    server.script(error(400, "no such thing"))
    with pytest.raises(Fatal, match="no such thing"):
        await api.probe(QUESTION)
