"""What comes from servers, and what is said of models: replies, waits, addresses, prices, keys."""

from __future__ import annotations

import json
import math
from collections import Counter
from urllib.parse import urlsplit

from bent import bent_json, bent_toml
from harness import Target, law, text_of
from places import written

from askew.errors import AskewError
from askew.models.address import Address, exact_address, parse_address
from askew.models.base import ModelError
from askew.models.callkey import (
    call_from_json,
    call_key,
    canonical_json,
    reply_from_json,
    reply_to_json,
    request_json,
)
from askew.models.chat_replies import parse_chat
from askew.models.choice_log_probabilities import parse_echo, parse_letters
from askew.models.http_app import ReplyFields, fill, parse_app, parse_path, places_in
from askew.models.prices import Prices
from askew.models.reasoning import left_open, split_reasoning
from askew.models.retry_after import LONGEST_WAIT, read_wait
from askew.models.server_errors import Endpoint, excerpt, loads
from askew.models.transport import Response
from askew.records import Call, Finish, Message, Prompt, Reply, Sampling

SECRET = "sk-verysecretkey123456"
ENDPOINT = Endpoint("http://host/v1", "KEY", (SECRET,))
STATUSES = (200, 200, 200, 200, 201, 204, 301, 400, 401, 402, 403, 404, 413, 422, 429, 500, 503)


def _reply(reply: Reply) -> None:
    """What holds of every reply: its kinds, no secret in it, and it can be kept and read again."""
    for text in (reply.text, reply.reasoning, reply.error, reply.served_model, reply.fingerprint):
        law(text is None or isinstance(text, str), "texts are texts", text)
    law(SECRET not in (reply.error or ""), "no key in an error")
    for count in (reply.prompt_tokens, reply.completion_tokens):
        law(count is None or (type(count) is int and count >= 0), "counts are counts", count)
    for figure in reply.log_probabilities:
        law(math.isnan(figure) or figure <= 1e-6, "no probability above 1", figure)
    law(_same(reply_from_json(reply_to_json(reply)), reply), "kept, it reads as it was", reply)


def _same(one: Reply, other: Reply) -> bool:
    """Equality under which NaN equals NaN."""
    return repr(one) == repr(other)


def chat_reply(data: bytes) -> None:
    """models.chat_replies: an HTTP reply of a chat endpoint, by status, header and body."""
    status = STATUSES[(data[0] if data else 0) % len(STATUSES)]
    headers = {"Retry-After": "1", "Location": f"http://else/?key={SECRET}"}
    try:
        reply = parse_chat(status, headers, data[1:], 0.0, ENDPOINT)
    except ModelError as trouble:
        law(SECRET not in str(trouble), "no key in a message")
        raise
    _reply(reply)
    if status >= 300:
        law(reply.finish in (Finish.ERROR, Finish.BLOCKED), "an error status is no answer", reply)


def letter_reply(data: bytes) -> None:
    """models.choice_log_probabilities.parse_letters: the alternatives of the first token."""
    reply = parse_letters(200, {}, data, 0.0, ("A", "B", "C"), ENDPOINT)
    _reply(reply)
    if reply.finish is Finish.STOP:
        law(len(reply.log_probabilities) == 3, "a figure a choice", reply.log_probabilities)


def echo_reply(data: bytes) -> None:
    """models.choice_log_probabilities.parse_echo: figures of an echoed prompt."""
    reply = parse_echo(200, {}, data, 0.0, "Q: who?\nA:", (" The aunt", " No"), ENDPOINT)
    _reply(reply)
    if reply.finish is Finish.STOP:
        law(len(reply.log_probabilities) == 2, "a figure a choice", reply.log_probabilities)


def app_reply(data: bytes) -> None:
    """models.http_app: a reply of an application, and the path of its answer."""
    head, _, body = data.partition(b"\n")
    path = parse_path(text_of(head), "answer")
    fields = ReplyFields(answer=path, refusal=("refused",), error=("error",))
    reply = parse_app(Response(200, {}, body), fields, 0.0, ENDPOINT)
    _reply(reply)
    template = loads(body)
    places_in(template)
    fill(template, Prompt(messages=(Message("user", "Hi {prompt}"),)))


def server_json(data: bytes) -> None:
    """models.server_errors.loads: JSON as real servers send it."""
    law(len(excerpt(data)) < 2000, "an excerpt is short")
    try:
        value = loads(data)
    except ValueError:
        return
    text = canonical_json(value)
    text.encode()  # can be stored
    law(canonical_json(json.loads(text)) == text, "canonical JSON is a fixed point")


def retry_after(data: bytes) -> None:
    """models.retry_after: how long a server asks us to wait."""
    text = text_of(data)
    first, _, second = text.partition("\n")
    for headers in (
        {"Retry-After": first, "Date": second},
        {"retry-after-ms": first},
        {"RETRY-AFTER": first},
    ):
        wait = read_wait(headers, 1_700_000_000.0)
        seconds = wait.seconds
        law(seconds is None or 0 <= seconds <= LONGEST_WAIT, "between 0 and the longest", wait)
        # Forty characters of the header, of which each may be written as an escape of ten.
        law(len(wait.remark) < 500, "a remark is short", wait.remark)


def reasoning(data: bytes) -> None:
    """models.reasoning: the answer told from the reasoning."""
    text = text_of(data)
    split = split_reasoning(text)
    # Nothing is added but line breaks between the stretches of reasoning.
    told = Counter((split.answer or "") + (split.reasoning or "").replace("\n", ""))
    law(told <= Counter(text), "nothing is added", split)
    left_open(text)


def address(data: bytes) -> None:
    """models.address: a base URL, in parts; userinfo and query never in the base."""
    text = text_of(data)
    for read in (parse_address(text), exact_address(text, "url")):
        law(isinstance(read, Address), "an address")
        law("@" not in urlsplit(read.base).netloc, "no userinfo in the base", read.base)
        law("?" not in read.base and "#" not in read.base, "no query in the base", read.base)
        law(read.base.startswith(("http://", "https://")), "a web address", read.base)
        law(read.host, "a host", read.base)
        read.loopback  # noqa: B018  # it must not raise
        if read.basic_auth is not None:
            read.basic_auth.encode("ascii")
        law(read.endpoint("chat/completions").startswith(read.base), "the same place")
        law(
            repr(read).count(read.password) == repr(read.base).count(read.password)
            or len(read.password) < 6,
            "no password in its repr",
            read.password,
        )
    base = parse_address(text).base
    if base == base.strip() and not base.endswith(
        "/completions"
    ):  # written twice, one of the two is taken off
        law(parse_address(base).base == base, "the base is the address of itself", base)


def prices(data: bytes) -> None:
    """models.prices: a price list."""
    read = Prices.load(written("prices.toml", data))
    for entry in read.entries:
        cost = entry.cost(1_000_000, 1_000_000)
        law(cost >= 0, "a price is not negative", cost)
        found = read.price_of(entry.name, entry.date)
        law(found is not None, "an entry fits the model that it names", entry.name)
    read.price_of("openai/gpt", None)


def _call(data: bytes) -> Call:
    """A call out of bytes: parts are parted by 0x01."""
    texts = [text_of(part) for part in data[1:].split(b"\x01")]
    first = data[0] if data else 0
    messages = tuple(
        Message(("system", "user", "assistant")[place % 3], text)  # type: ignore[arg-type]  # one of three
        for place, text in enumerate(texts)
    )
    prompt = (
        Prompt(messages=messages, choices=tuple(texts[1:]))
        if first & 1
        else Prompt(text=texts[0], choices=tuple(texts[1:]))
    )
    sampling = Sampling(
        temperature=(0, 0.0, -0.0, 0.7, None)[first % 5],
        top_p=(None, 1, 0.5)[first % 3],
        seed=first if first & 8 else None,
        stop=tuple(texts[:1]) if first & 4 else (),
    )
    return Call(prompt, sampling, texts[-1] or "target", first // 16)


def call_json(data: bytes) -> None:
    """models.callkey: a call as JSON and back, and its key."""
    call = _call(data)
    text = request_json(call)
    text.encode()
    again = call_from_json(text)
    law(again == call, "written and read again", again)
    law(request_json(again) == text, "one text for equal calls")
    law(len(call_key({"model": "a"}, call)) == 64, "a key")
    reply = Reply(
        call.prompt.text or "x",
        reasoning=call.role,
        finish=list(Finish)[len(data) % len(Finish)],
        log_probabilities=(-1.5, math.nan, -math.inf)[: len(data) % 4],
        adapted=call.prompt.choices,
        error=call.role or None,
    )
    law(_same(reply_from_json(reply_to_json(reply)), reply), "a reply, written and read again")


_JSON = (b'{"', b'": ', b'"}', b"[", b"]", b"}", b", ", b"null", b"NaN", b"-Infinity", b"\\ud800")
_CHAT = (
    b'"choices": [', b'"message": {', b'"content": ', b'"finish_reason": ', b'"length"', b'"error"',
    b'"code": ', b'"type": ', b'"usage": {', b'"prompt_tokens": ', b'"refusal": ', b'"text": ',
    b'"reasoning_content": ', b'"content_filter"', b"<think>", b"rate_limit_exceeded",
    b"model_not_found", b"sk-verysecretkey123456", b'"detail": ', b'"index": ',
)  # fmt: skip
_GOOD = (
    b'\x00{"choices": [{"message": {"content": "B", "reasoning_content": "hm"},'
    b' "finish_reason": "stop"}], "usage": {"prompt_tokens": 3, "completion_tokens": 1},'
    b' "model": "m", "system_fingerprint": "f"}'
)


def _documents(seeds: tuple[bytes, ...]) -> list[object]:
    """The JSON documents among some seeds, the byte before them left out."""
    found = (one[one.find(b"{") :] for one in seeds)
    return [json.loads(one) for one in found if one.startswith(b"{")]


LETTER = (
    b'{"choices": [{"message": {"content": "B"}, "logprobs": {"content": [{"token": "B",'
    b' "logprob": -0.1, "top_logprobs": [{"token": "B", "logprob": -0.1},'
    b' {"token": " A", "logprob": -2.5}, {"token": "(", "logprob": -4}]}]}}]}',
    b'{"choices": [{"text": " A", "logprobs": {"tokens": [" A"], "top_logprobs":'
    b' [{" A": -0.5, "B": -1.5}]}}]}',
)
ECHO = (
    b'{"choices": [{"index": 0, "text": "Q: who?\\nA: The aunt", "logprobs": {"tokens":'
    b' ["Q: who?", "\\nA:", " The", " aunt"], "token_logprobs": [null, -1, -2, -3],'
    b' "text_offset": [0, 7, 10, 14]}}, {"index": 1, "text": "Q: who?\\nA: No",'
    b' "logprobs": {"tokens": ["Q: who?", "\\nA:", " No"], "token_logprobs":'
    b' [null, -1, -0.5], "text_offset": [0, 7, 10]}}]}',
)
CHAT = (
    _GOOD,
    b'\x00{"choices": [{"message": {"content": [{"type": "text", "text": "C"},'
    b' {"type": "thinking", "thinking": [{"text": "x"}]}]}, "finish_reason": "length"}]}',
    b'\x0e{"error": {"message": "slow down", "type": "rate_limit_error", "code": 429}}',
    b'\x08{"error": "bad key sk-verysecretkey123456"}',
    b'\x00{"object": "error", "message": "no", "choices": null}',
    b"\x0f<html><h1>502</h1></html>",
)
_PRICES = (
    b'[[model]]\nname = "openai/gpt*"\ninput_per_million = 0.15\noutput_per_million = 1\n'
    b'currency = "USD"\ndate = 2026-11-01\nsource = "x"\n'
)
TARGETS = [
    Target(
        "chat_reply",
        chat_reply,
        seeds=CHAT,
        words=(*_JSON, *_CHAT),
        refuses=(AskewError,),
        strategy=lambda: bent_json(_documents(CHAT), _CHAT, before=b"\x00"),
        longest=1024,
    ),
    Target(
        "letter_reply",
        letter_reply,
        seeds=LETTER,
        words=(*_JSON, *_CHAT, b'"logprobs": {', b'"top_logprobs": [', b'"token": ', b"-0.5"),
        strategy=lambda: bent_json(_documents(LETTER), _CHAT),
        longest=1024,
    ),
    Target(
        "echo_reply",
        echo_reply,
        seeds=ECHO,
        words=(
            *_JSON,
            b'"tokens": [',
            b'"token_logprobs": [',
            b'"text_offset": [',
            b'"index": ',
            b'" aunt"',
            b'" No"',
            b"1e999",
            b"true",
        ),
        strategy=lambda: bent_json(_documents(ECHO), _CHAT),
        longest=1024,
    ),
    Target(
        "app_reply",
        app_reply,
        seeds=(
            b'result.messages[-1].text\n{"result": {"messages": [{"text": "B"}]}}',
            b'answer\n{"answer": null, "refused": false, "error": ""}',
            b'a[0]\n{"a": ["{prompt}", {"b": "{messages}"}], "refused": "no"}',
        ),
        words=(*_JSON, b"answer", b"refused", b"error", b"[0]", b".text", b"{prompt}", b"{system}"),
        longest=512,
    ),
    Target(
        "server_json",
        server_json,
        seeds=(b'\xef\xbb\xbf {"a": NaN, "b": "\\ud800", "c": [1e5, -0.0, 12345678901234567890]}',),
        words=(*_JSON, b"[" * 1200, b'{"a":' * 1200),
        longest=8192,
    ),
    Target(
        "retry_after",
        retry_after,
        seeds=(
            b"3",
            b"0.5",
            b"Wed, 21 Oct 2015 07:28:00 GMT\nWed, 21 Oct 2015 07:27:00 GMT",
            b"Sun Nov  6 08:49:37 1994",
            b"-1",
        ),
        words=(b"Wed, ", b" GMT", b"Oct", b":", b"9999", b"-0000", b"+2400", b"1e5"),
        longest=256,
    ),
    Target(
        "reasoning",
        reasoning,
        seeds=(
            b"<think>Could be A.</think> C",
            b"neither A nor B. </think> C",
            b"<|channel|>analysis<|message|>x<|end|><|start|>assistant<|channel|>final<|message|>B",
            b'{"a": "<think>"} <think>',
            b"analysisLet me see.assistantfinal B",
        ),
        words=(
            b"<think>",
            b"</think>",
            b"[THINK]",
            b"[/THINK]",
            b"<|channel|>",
            b"<|message|>",
            b"<|end|>",
            b"final",
            b"<unused94>",
            b"<unused95>",
            b"{",
            b'{"',
            "◁think▷".encode(),
            b"<|START_THINKING|>",
            b"<|begin_of_thought|>",
            b"&lt;think&gt;",
            b"assistantfinal",
        ),
        longest=2048,
    ),
    Target(
        "address",
        address,
        seeds=(
            b"http://127.0.0.1:9",
            b"http://me:secret@127.0.0.1:9/api//v1/?api-version=1",
            b"https://[::1]:8000/v1/chat/completions#x",
            b"HTTP://LOCALHOST/%2e%2e/v1",
        ),
        words=(
            b"http://",
            b"https://",
            b"@",
            b":",
            b"//",
            b"/v1",
            b"?",
            b"#",
            b"[::1]",
            b"%40",
            b"/chat/completions",
            b"localhost",
            b"\\",
            b":99999",
        ),
        longest=256,
    ),
    Target(
        "prices",
        prices,
        seeds=(_PRICES,),
        words=(
            b"[[model]]\n",
            b"name = ",
            b"input_per_million = ",
            b"output_per_million = ",
            b"date = ",
            b"2026-11-01",
            b"source = ",
            b"nan",
            b"inf",
            b'"[!"',
            b"1e400",
            b"'''",
        ),
        strategy=lambda: bent_toml([_PRICES]),
        longest=1024,
    ),
    Target(
        "call_json",
        call_json,
        seeds=(b"\x00Hi\x01A\x01B", b"\x0fYou are.\x01Hi\x01judge", b"\xff\xff\x01"),
        longest=512,
    ),
]
