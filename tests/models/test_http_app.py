"""An application behind a URL, by its field mapping."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askew.errors import ConfigError
from askew.models.base import Ability, Fatal, Model, ModelSpec, RateLimited, ServerFault
from askew.models.http_app import HttpApp, fill, parse_path
from askew.records import Call, Finish, Message, Prompt, Reply
from tests.models.servers import Answer, FaultServer, error, rate_limited

SYSTEM_AND_USER = Prompt(messages=(Message("system", "Be brief."), Message("user", "Who?")))
TALK = Prompt(
    messages=(Message("user", "Hi"), Message("assistant", "Hello."), Message("user", "Who?"))
)


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with FaultServer(lambda seen: Answer({"result": [{"text": "no"}, {"text": "B"}]})) as running:
        yield running


def app(server: FaultServer, **options: object) -> HttpApp:
    given = {"url": f"{server.origin}/ask?v=1", "answer": "result[-1].text", **options}
    return HttpApp(ModelSpec(name="http/bot", options=given))


async def ask(model: HttpApp, prompt: Prompt = SYSTEM_AND_USER) -> Reply:
    try:
        (reply,) = await model.ask([Call(prompt)])
    finally:
        await model.close()
    return reply


async def test_the_prompt_goes_where_the_mapping_says_and_the_answer_comes_from_there(
    server, monkeypatch
):
    monkeypatch.setenv("BOT_KEY", "let-me-in")
    model = app(
        server,
        method="PATCH",
        headers={"X-Api-Key": "${BOT_KEY}"},
        body={"input": {"question": "Q: {prompt}"}, "top": 3},
    )
    assert (await ask(model)).text == "B"
    (seen,) = server.seen
    assert (seen.method, seen.path, seen.query) == ("PATCH", "/ask", {"v": "1"})
    assert seen.body == {"input": {"question": "Q: Be brief.\n\nWho?"}, "top": 3}
    assert seen.headers["x-api-key"] == "let-me-in"
    assert "let-me-in" not in repr(model.identity())


def test_the_model_follows_the_protocol(server):
    model = app(server)
    assert isinstance(model, Model)
    assert (model.abilities, model.batch, model.remote, model.paid) == (
        Ability.REPLY,
        1,
        False,
        True,
    )


def test_two_applications_behind_one_path_are_two_models(server):
    one = app(server, url=f"{server.origin}/ask?bot=1&key=secret")
    two = app(server, url=f"{server.origin}/ask?bot=2&key=secret")
    assert one.identity() != two.identity()
    assert "secret" not in repr(one.identity())


@pytest.mark.parametrize(
    ("template", "prompt", "body"),
    [
        ({"q": "{prompt}"}, Prompt(text="Who?"), {"q": "Who?"}),
        ({"q": "{prompt}"}, TALK, {"q": "User: Hi\n\nAssistant: Hello.\n\nUser: Who?"}),
        ("{prompt}", Prompt(text="Who?"), "Who?"),
        (
            {"s": "{system}", "q": ["{prompt}"]},
            SYSTEM_AND_USER,
            {"s": "Be brief.", "q": ["Who?"]},
        ),
        ({"s": "{system}", "q": "{prompt}"}, Prompt(text="Who?"), {"s": "", "q": "Who?"}),
        (
            {"m": "{messages}"},
            SYSTEM_AND_USER,
            {
                "m": [
                    {"role": "system", "content": "Be brief."},
                    {"role": "user", "content": "Who?"},
                ]
            },
        ),
        (
            {"m": "Talk: {messages}"},
            Prompt(text="X"),
            {"m": 'Talk: [{"role":"user","content":"X"}]'},
        ),
    ],
)
def test_places_are_filled_within_json_values(template, prompt, body):
    assert fill(template, prompt) == body


@given(st.text())
def test_whatever_the_prompt_holds_stays_as_it_is(text):
    filled = fill({"a": {"b": ["<{prompt}>"]}, "s": "{system}"}, Prompt(text=text + "{system}"))
    assert filled == {"a": {"b": [f"<{text}{{system}}>"]}, "s": ""}


@pytest.mark.parametrize(
    ("path", "steps"),
    [
        ("a", ("a",)),
        ("a.b[0].c", ("a", "b", 0, "c")),
        ("[0][-1]", (0, -1)),
        ("a b-c.d", ("a b-c", "d")),
    ],
)
def test_a_path_is_read_step_by_step(path, steps):
    assert parse_path(path, "answer") == steps


@pytest.mark.parametrize("path", ["a..b", "a[x]", ".a", "a.", "a[1", "a]"])
def test_a_path_that_is_none_is_refused(path):
    with pytest.raises(ConfigError, match="expected a path such as"):
        parse_path(path, "answer")


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ({"data": 1, "status": "ok"}, "'result' looked for in an object with 'data', 'status'"),
        ({"result": []}, "-1 looked for in a list of 0"),
        ({"result": [{"text": {"a": 1}}]}, "is an object with 'a', not a text"),
        ({"result": "B"}, "-1 looked for in str 'B'"),
        ([], "'result' looked for in a list of 0"),
    ],
)
async def test_an_answer_that_is_not_there_says_what_is(server, body, word):
    server.script(Answer(body))
    reply = await ask(app(server))
    assert reply.finish is Finish.ERROR
    assert "result[-1].text" in (reply.error or "")
    assert word in (reply.error or "")


@pytest.mark.parametrize(
    ("text", "expected"), [(None, None), ("", ""), (3, "3"), ("<think>A?</think>B", "B")]
)
async def test_an_answer_may_be_empty_a_number_or_reasoned(server, text, expected):
    server.script(Answer({"result": [{"text": text}]}))
    assert (await ask(app(server))).text == expected


@pytest.mark.parametrize(
    ("body", "finish"),
    [
        ({"error": {"why": "index is down"}, "result": [{"text": "B"}]}, Finish.ERROR),
        ({"error": None, "result": [{"text": "B"}]}, Finish.STOP),
        ({"result": [{"text": "B"}]}, Finish.STOP),
        ({"blocked": True, "result": [{"text": "I won't."}]}, Finish.REFUSAL),
        ({"blocked": "I won't."}, Finish.REFUSAL),
        ({"blocked": False, "result": [{"text": "B"}]}, Finish.STOP),
    ],
)
async def test_errors_and_refusals_have_places_of_their_own(server, body, finish):
    server.script(Answer(body))
    reply = await ask(app(server, error="error", refusal="blocked"))
    assert reply.finish is finish
    if finish is Finish.REFUSAL:
        assert reply.text == "I won't."
    if finish is Finish.ERROR:
        assert "index is down" in (reply.error or "")


@pytest.mark.parametrize(
    ("answer", "trouble"),
    [
        (rate_limited("2"), RateLimited),
        (error(401, "no"), Fatal),
        (error(404, "no"), Fatal),
        (error(500, "no"), ServerFault),
        (Answer("<html>hello</html>"), ServerFault),
        (Answer(status=302, headers={"location": "/login"}), Fatal),
        (Answer(fault="drop"), ServerFault),
    ],
)
async def test_failures_are_told_apart_as_for_an_endpoint(server, answer, trouble):
    server.script(answer)
    with pytest.raises(trouble):
        await ask(app(server))


@pytest.mark.parametrize("method", ["POST", "PATCH"])
async def test_no_request_is_sent_twice_when_a_kept_connection_drops(server, method):
    model = app(server, method=method)
    await model.ask([Call(SYSTEM_AND_USER)])
    server.script(Answer(fault="drop"))
    with pytest.raises(ServerFault):
        await ask(model)
    assert len(server.seen) == 2


async def test_log_probabilities_are_a_clear_error(server):
    with pytest.raises(Fatal, match="--scoring reply"):
        await ask(app(server), Prompt(text="Who?", choices=("A", "B")))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"url": None}, "'url' is missing"),
        ({"answer": None}, "'answer' is missing"),
        ({"url": "bot.example/ask"}, "no web address"),
        ({"body": {"q": "hello"}}, "no place for the prompt"),
        ({"method": "GET"}, "POST or PATCH"),
        ({"answers": "a"}, "unknown option"),
        ({"headers": {"X-Token": "abc"}}, "plain text"),
    ],
)
def test_a_mapping_that_cannot_work_is_refused_at_once(server, options, message):
    with pytest.raises(ConfigError, match=message):
        app(server, **options)


async def test_a_variable_that_is_not_set_is_named(server, monkeypatch):
    monkeypatch.delenv("NOT_THERE", raising=False)
    with pytest.raises(Fatal, match="NOT_THERE"):
        await ask(app(server, headers={"X-Token": "${NOT_THERE}"}))
