"""Whatever stands in the body of a reply: read, or refused in the words of the protocol.

Good replies of each kind are bent at every place, by Hypothesis, with what JSON can hold and with
what no JSON library would write.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askew.models.base import Fatal, RateLimited, ServerFault
from askew.models.callkey import reply_from_json, reply_to_json
from askew.models.chat_replies import parse_chat
from askew.models.checked_reply import MOST_TOKENS, checked
from askew.models.choice_log_probabilities import parse_echo, parse_letters
from askew.models.http_app import ReplyFields, parse_app
from askew.models.reasoning import split_reasoning
from askew.models.server_errors import Endpoint, loads, read_error
from askew.models.transport import Response
from askew.records import Call, Finish, Prompt, Reply, Sampling
from tests.models.servers import chat_body

TEXT = "The sky is"
CHOICES = (" blue", " grey")
LETTERS = ("A", "B")
HERE = Endpoint("http://here/v1")


def token(text: str, figure: float, **others: float) -> dict[str, Any]:
    shown = [{"token": other, "logprob": value} for other, value in others.items()]
    return {"token": text, "logprob": figure, "bytes": None, "top_logprobs": shown}


def letters_body() -> dict[str, Any]:
    body = chat_body("A")
    body["choices"][0]["logprobs"] = {"content": [token("A", -0.1, A=-0.1, B=-2.5)]}
    return body


def echo_body() -> dict[str, Any]:
    rows = [
        {
            "index": index,
            "text": TEXT + choice + "!",
            "finish_reason": "length",
            "logprobs": {
                "tokens": ["The", " sky", " is", choice, "!"],
                "token_logprobs": [None, -3.0, -1.5, -2.0 - index, -0.5],
                "text_offset": [0, 3, 7, 10, 15],
                "top_logprobs": None,
            },
        }
        for index, choice in enumerate(CHOICES)
    ]
    return {"id": "1", "model": "toy-1", "choices": rows, "usage": chat_body()["usage"]}


def error_body() -> dict[str, Any]:
    return {
        "error": {
            "message": "no",
            "type": "x",
            "code": 500,
            "param": None,
            "innererror": {"code": "y"},
        }
    }


GOOD: dict[str, tuple[dict[str, Any], Any]] = {
    "chat": (chat_body("B"), lambda body, status: parse_chat(status, {}, body, 0.0, HERE)),
    "parts": (
        chat_body(
            None,
            content=[
                {"type": "text", "text": "B"},
                {"type": "thinking", "thinking": [{"text": "hm"}]},
            ],
        ),
        lambda body, status: parse_chat(status, {}, body, 0.0, HERE),
    ),
    "letters": (
        letters_body(),
        lambda body, status: parse_letters(status, {}, body, 0.0, LETTERS, HERE),
    ),
    "echo": (
        echo_body(),
        lambda body, status: parse_echo(status, {}, body, 0.0, TEXT, CHOICES, HERE),
    ),
    "error": (error_body(), lambda body, status: parse_chat(status, {}, body, 0.0, HERE)),
    "application": (
        {"result": [{"text": "B"}], "error": None, "blocked": False},
        lambda body, status: parse_app(
            Response(status, {}, body),
            ReplyFields(("result", -1, "text"), ("error",), ("blocked",)),
            0.0,
            HERE,
        ),
    ),
}
WRONG = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from(
        [
            0,
            -1,
            2**31,
            2**63,
            2**64,
            10**30,
            10**4000,
            -(10**400),
            1e308,
            math.nan,
            math.inf,
            -math.inf,
        ]
    ),
    st.floats(-10, 10),
    st.sampled_from(
        ["", " ", "A", "\0", "\ud800", "é", "‮", "\x1b[31m", "x" * 5000, "<think>", "{", "9" * 5000]
    ),
    st.sampled_from([[], {}, [[]], [{}], {"": None}, [None], {"\udc80": 1}, ["A", 1], [["A"]]]),
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every value within `value`, itself included."""
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    return [path, *(found for name, entry in inner for found in places(entry, (*path, name)))]


def changed(value: Any, path: tuple[Any, ...], how: str, new: Any) -> Any:
    """A copy with one place replaced, removed or said twice."""
    if not path:
        return new
    copy: Any = dict(value) if isinstance(value, dict) else list(value)
    name, *rest = path
    if rest:
        copy[name] = changed(copy[name], tuple(rest), how, new)
    elif how == "remove":
        del copy[name]
    elif how == "double" and isinstance(copy, list):
        copy.append(new)
    else:
        copy[name] = new
    return copy


def dumped(value: Any) -> bytes:
    """JSON, with the integers, NaN and half characters that Python's writer lets pass."""
    return json.dumps(value).encode("utf-8", "surrogatepass")


SCORED = {"letters": LETTERS, "echo": CHOICES}


def is_read_or_refused(read: Callable[[], Reply], choices: tuple[str, ...]) -> None:
    """Either it is a reply that can be kept, or an exception of the protocol, in readable words."""
    error: Exception | None = None
    try:
        reply = read()
    except (RateLimited, ServerFault, Fatal) as trouble:
        error = trouble
    if error is None:
        is_sound(reply, Call(Prompt(text="x", choices=choices)))
    else:
        assert str(error).isprintable()
        assert len(str(error)) < 1500


def is_sound(reply: Reply, call: Call) -> None:
    """What every reply has to be, for the ledger to keep it and the scores to read it."""
    assert checked(reply, call).finish is reply.finish or reply.finish is Finish.ERROR
    assert checked(reply, call) == checked(checked(reply, call), call)
    kept = reply_from_json(reply_to_json(checked(reply, call)))
    for name in ("text", "reasoning", "error", "served_model"):
        said = getattr(kept, name)
        (said or "").encode()
    for count in (kept.prompt_tokens, kept.completion_tokens):
        assert count is None or 0 <= count <= MOST_TOKENS
    for figure in kept.log_probabilities:
        assert math.isnan(figure) or figure <= 0.02


@settings(max_examples=600, deadline=None)
@given(
    data=st.data(),
    kind=st.sampled_from(sorted(GOOD)),
    status=st.sampled_from([200, 200, 200, 400, 500]),
)
def test_a_good_reply_bent_at_any_place_is_read_or_refused(data, kind, status):
    body, parse = GOOD[kind]
    for _ in range(data.draw(st.integers(1, 2))):
        path = data.draw(st.sampled_from(places(body)))
        body = changed(
            body,
            path,
            data.draw(st.sampled_from(["replace", "remove", "double"])),
            data.draw(WRONG),
        )
    is_read_or_refused(lambda: parse(dumped(body), status), SCORED.get(kind, ()))


@settings(max_examples=200, deadline=None)
@given(data=st.data(), kind=st.sampled_from(sorted(GOOD)))
def test_a_good_reply_with_broken_bytes_is_read_or_refused(data, kind):
    body, parse = GOOD[kind]
    raw = bytearray(orjson.dumps(body))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(raw)))
        until = min(len(raw), at + data.draw(st.integers(0, 8)))
        raw[at:until] = data.draw(st.binary(max_size=8))
    is_read_or_refused(lambda: parse(bytes(raw), 200), SCORED.get(kind, ()))


@pytest.mark.parametrize(
    "body",
    [
        b'{"a":' * 5000 + b"1" + b"}" * 5000,
        b"[" * 900 + b"NaN" + b"]" * 900,
        b"[" * 10**6,
        b'{"choices":[{"message":{"content":' + b"[" * 1000 + b"]" * 1000 + b"}}]}",
        b'{"detail":' + b"[" * 1000 + b"]" * 1000 + b"}",
        b'{"error":{"x":' + b"[" * 1000 + b"]" * 1000 + b"}}",
        b'{"n":' + b"9" * 10**6 + b"}",
        b'{"n":1e999,"choices":1E999999999}',
    ],
    ids=lambda body: repr(body[:24]),
)
@pytest.mark.parametrize("status", [200, 400, 500])
@pytest.mark.parametrize("kind", sorted(GOOD))
def test_neither_depth_nor_length_breaks_the_reading(body, status, kind):
    began = time.process_time()
    with suppress(RateLimited, ServerFault, Fatal):
        assert not GOOD[kind][1](body, status).text
    assert time.process_time() - began < 2


def test_the_same_name_twice_counts_as_its_last():
    body = b'{"choices":[],"choices":[{"message":{"content":"A","content":"B"}}]}'
    assert parse_chat(200, {}, body, 0.0).text == "B"


def test_nul_and_half_characters_are_kept_as_text_that_can_be_stored():
    body = (
        b'{"choices":[{"message":{"content":"B\\u0000\\ud800\\udc00 \\ud800 \xff"}}],"\\udc80":1}'
    )
    reply = parse_chat(200, {}, body, 0.0)
    assert reply.text == "B\0\U00010000 � �"
    assert reply_from_json(reply_to_json(reply)) == reply


# Counts


@pytest.mark.parametrize(
    ("usage", "counts"),
    [
        ({"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}, (9, 2)),
        ({"prompt_tokens": 9, "completion_tokens": 2}, (9, 2)),
        ({"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 311}, (9, 302)),
        ({"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 0}, (9, 2)),
        ({"prompt_tokens": -9, "completion_tokens": -2}, (None, None)),
        ({"prompt_tokens": 0, "completion_tokens": 0}, (None, None)),
        ({"prompt_tokens": True, "completion_tokens": "2"}, (None, None)),
        ({"prompt_tokens": 9.0, "completion_tokens": math.inf}, (None, None)),
        ({"prompt_tokens": 2**63, "completion_tokens": 10**30}, (None, None)),
        ({"prompt_tokens": [], "completion_tokens": {}}, (None, None)),
        (None, (None, None)),
        ([], (None, None)),
        ("9", (None, None)),
    ],
)
def test_a_count_that_nobody_can_believe_is_none(usage, counts):
    reply = parse_chat(200, {}, dumped({**chat_body("B"), "usage": usage}), 0.0)
    assert (reply.prompt_tokens, reply.completion_tokens) == counts


def test_an_empty_answer_may_have_no_tokens():
    usage = {"prompt_tokens": 9, "completion_tokens": 0}
    assert (
        parse_chat(200, {}, dumped({**chat_body(""), "usage": usage}), 0.0).completion_tokens == 0
    )


# Log-probabilities


@pytest.mark.parametrize("wrong", [0.5, 3.0, math.inf, 10**400, 1e308])
@pytest.mark.parametrize("kind", ["letters", "echo", "top"])
def test_a_log_probability_above_zero_stops_the_run(wrong, kind):
    body = echo_body() if kind == "echo" else letters_body()
    logprobs = body["choices"][0]["logprobs"]
    if kind == "echo":
        logprobs["token_logprobs"][3] = wrong
    elif kind == "letters":
        logprobs["content"][0]["logprob"] = wrong
        logprobs["content"][0]["top_logprobs"] = []
    else:
        logprobs["content"][0]["top_logprobs"][1]["logprob"] = wrong
    with pytest.raises(Fatal, match="none; one lies above 0"):
        GOOD["echo" if kind == "echo" else "letters"][1](dumped(body), 200)


@pytest.mark.parametrize("missing", [None, math.nan, -math.inf, -9999.0, "x", [], True])
def test_a_log_probability_that_is_missing_is_no_figure(missing):
    body = letters_body()
    body["choices"][0]["logprobs"]["content"][0]["top_logprobs"][1]["logprob"] = missing
    figures = parse_letters(200, {}, dumped(body), 0.0, LETTERS).log_probabilities
    assert figures[0] == pytest.approx(-0.1)
    assert math.isnan(figures[1])
    body = echo_body()
    body["choices"][1]["logprobs"]["token_logprobs"][3] = missing
    figures = parse_echo(200, {}, dumped(body), 0.0, TEXT, CHOICES).log_probabilities
    assert figures[0] == pytest.approx(-2.0)
    assert math.isnan(figures[1])


def test_choices_in_another_order_are_told_apart_by_index_or_not_scored():
    body = echo_body()
    body["choices"].reverse()
    assert parse_echo(200, {}, dumped(body), 0.0, TEXT, CHOICES).log_probabilities == (-2.0, -3.0)
    for entry in body["choices"]:
        entry["index"] = 0
    reply = parse_echo(200, {}, dumped(body), 0.0, TEXT, CHOICES)
    assert reply.finish is Finish.ERROR or all(math.isnan(x) for x in reply.log_probabilities)


# Time


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "*",
        "<",
        "<think>",
        "</think>",
        "{",
        '{"a":[',
        "<|channel|>a",
        "<|channel|>final<|message|>",
        "[THINK]",
        "analysis",
        "model ",
        "sk-a",
        "<script ",
        "\\u",
    ],
)
def test_a_long_text_of_anything_is_read_in_linear_time(unit):
    small, large = unit * (2**14 // len(unit)), unit * (2**18 // len(unit))

    def seconds(text: str) -> float:
        began = time.process_time()
        for full in (text, text + "</think> B", "<|channel|>" + text):
            split_reasoning(full)
        HERE.mask(text)
        read_error(400, text.encode())
        read_error(400, orjson.dumps({"error": {"message": text}}))
        return time.process_time() - began

    # 16 times the text; 256 times as long would be quadratic.
    assert seconds(large) < max(1.0, 60 * seconds(small))


# A reply of any provider


CALL = Call(Prompt(text="x", choices=("A", "B")), Sampling())


@pytest.mark.parametrize(
    ("given_back", "word"),
    [
        (None, "NoneType"),
        ("B", "returned str"),
        ({"text": "B"}, "returned dict"),
        (Reply(text=5), "text is int"),  # type: ignore[arg-type]  # the fault
        (Reply(error=b"x"), "error is bytes"),  # type: ignore[arg-type]  # the fault
        (Reply(finish="stop"), "finish is str"),  # type: ignore[arg-type]  # the fault
        (Reply(log_probabilities=(-1.0,)), "1 log-probabilities came for 2 choices"),
        (Reply(log_probabilities=(-1.0, 2.0)), "lie above 0"),
        (Reply(log_probabilities=(-1.0, "x")), "no tuple of floats"),  # type: ignore[arg-type]  # the fault
        (Reply(log_probabilities=[-1.0, -2.0]), "no tuple of floats"),  # type: ignore[arg-type]  # the fault
    ],
)
def test_what_is_no_reply_is_an_error_that_says_why(given_back, word):
    reply = checked(given_back, CALL)
    assert reply.finish is Finish.ERROR
    assert word in (reply.error or "")


def test_what_cannot_be_stored_or_believed_is_taken_out_of_a_reply():
    odd = Reply(served_model="B\ud800", error="\udc80", prompt_tokens=-1, completion_tokens=2**70)
    assert checked(odd, CALL) == Reply(served_model="B?", error="?")
    half = Reply(text="B\ud800", reasoning="\udc80")  # what was said is kept to the letter
    assert checked(half, CALL) is half
    assert reply_from_json(reply_to_json(half)) == half
    sound = Reply(text="Bé", log_probabilities=(math.nan, -math.inf), prompt_tokens=0)
    assert checked(sound, CALL) is sound


@given(st.binary(max_size=60))
def test_whatever_is_read_holds_no_half_character(raw):
    try:
        value = loads(raw)
    except ValueError:
        return
    json.dumps(value, ensure_ascii=False).encode()
