"""Endpoints that are broken, overloaded or mean: what each fault on the wire comes to.

Every server here is a real one on loopback. Its address bears a user, a password and a query, and
a key goes along; none of them may stand in any message, whatever the server does.
"""

from __future__ import annotations

import gzip
import socket
import time
import tracemalloc
import zlib
from collections.abc import Callable
from dataclasses import dataclass

import orjson
import pytest

from askew.errors import ConfigError
from askew.models import transport
from askew.models.base import Fatal, ModelSpec, RateLimited, ServerFault
from askew.models.chat_api import ChatApi
from askew.models.http_app import HttpApp
from askew.records import Call, Finish, Message, Prompt, Reply
from tests.models.raw_server import Play, RawServer, Wire, answers, chunked, head, reply
from tests.models.servers import chat_body, refused_port

SECRETS = ("a-user-name", "its-password", "sig-in-the-query", "sk-the-very-secret-key-01")
USER, PASSWORD, SIGNATURE, KEY = SECRETS
QUESTION = Prompt(messages=(Message("user", "Who was late?"),))
OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
GOOD = orjson.dumps(chat_body("B"))
SECONDS = 0.6  # the time limit of a request here


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("ASKEW_API_KEY", KEY)


def model_at(url: str, kind: str = "openai", seconds: float = SECONDS) -> ChatApi | HttpApp:
    """The client, with every kind of secret on it."""
    scheme, _, place = url.partition("://")
    full = f"{scheme}://{USER}:{PASSWORD}@{place}?sig={SIGNATURE}"
    if kind == "openai":
        spec = ModelSpec(
            name="openai/toy", base_url=full, timeout_seconds=seconds, api_key_env="ASKEW_API_KEY"
        )
        return ChatApi(spec)
    options = {
        "url": full,
        "answer": "choices[0].message.content",
        "headers": {"X-Key": "${ASKEW_API_KEY}"},
    }
    return HttpApp(ModelSpec(name="http/app", timeout_seconds=seconds, options=options))


async def ask(url: str, kind: str = "openai", *, times: int = 1) -> list[Reply | Exception]:
    """What one model comes to that is asked so many times, one after the other."""
    model = model_at(url, kind)
    results: list[Reply | Exception] = []
    try:
        for number in range(times):
            prompt = Prompt(messages=(Message("user", f"question {number}"),))
            try:
                results += await model.ask([Call(prompt)])
            except (RateLimited, ServerFault, Fatal) as error:
                results.append(error)
    finally:
        await model.close()
    for result in results:
        said = repr(result) if isinstance(result, Reply) else str(result)
        for secret in SECRETS:
            assert secret not in said
        assert said.isprintable()
    return results


@dataclass(frozen=True)
class Trouble:
    """What a fault has to come to."""

    kind: type[Exception]
    word: str
    sent: bool = True
    answered: bool = False

    def meets(self, error: object) -> None:
        assert isinstance(error, self.kind), error
        assert self.word in str(error)
        assert "127.0.0.1" in str(error)  # the endpoint is named
        if isinstance(error, ServerFault):
            assert (error.sent, error.answered) == (self.sent, self.answered)


UNKNOWN = Trouble(ServerFault, "")


def then(*steps: Callable[[Wire], object] | bytes) -> Play:
    """A play of several steps; bytes are sent."""

    def play(wire: Wire) -> None:
        for step in steps:
            wire.send(step) if isinstance(step, bytes) else step(wire)

    return play


def hang(wire: Wire) -> None:
    wire.hang()


def close(wire: Wire) -> None:
    wire.close()


def reset(wire: Wire) -> None:
    wire.reset()


LATE = Trouble(ServerFault, f"within {SECONDS:g} s (timeout_seconds)")
TOO_LONG = Trouble(ServerFault, "more than 4,194,304 bytes")
BROKE = Trouble(ServerFault, "the connection broke")
NO_JSON = Trouble(ServerFault, "no whole JSON", answered=True)
BOMB = gzip.compress(bytes(64 * 2**20))

FAULTS: dict[str, tuple[Play, Trouble]] = {
    "hangs before the headers": (hang, LATE),
    "hangs within the status line": (then(OK[:9], hang), LATE),
    "hangs within the headers": (then(OK, hang), LATE),
    "hangs before the body": (then(head("200 OK", {"Content-Length": "200"}), hang), LATE),
    "hangs within the body": (then(reply()[:-9], hang), LATE),
    "hangs within a chunk": (then(OK, b"Transfer-Encoding: chunked\r\n\r\n40\r\n{", hang), LATE),
    "never ends its chunks": (
        then(OK, b"Transfer-Encoding: chunked\r\n\r\n", chunked(GOOD, ended=False), hang),
        LATE,
    ),
    "drips its headers": (lambda wire: wire.drip(reply(), 0.05), LATE),
    "drips its body": (then(reply()[:-60], lambda wire: wire.drip(reply()[-60:], 0.05)), LATE),
    "says 100 Continue for ever": (
        lambda wire: wire.forever(b"HTTP/1.1 100 Continue\r\n\r\n"),
        LATE,
    ),
    "closes without a word": (close, BROKE),
    "resets without a word": (reset, BROKE),
    "closes within the headers": (then(OK, close), BROKE),
    "promises more than it sends": (then(reply(length=5000), close), BROKE),
    "resets within the body": (then(reply(length=5000), reset), BROKE),
    "cuts its chunks": (
        then(OK, b"Transfer-Encoding: chunked\r\n\r\n", chunked(GOOD, ended=False), close),
        BROKE,
    ),
    "cuts a body that ends with the connection": (
        then(b"HTTP/1.0 200 OK\r\n\r\n", GOOD[:-20], close),
        Trouble(ServerFault, "no whole JSON"),
    ),
    "cuts its gzip": (
        then(reply(gzip.compress(GOOD)[:-12], Content_Encoding="gzip")),
        Trouble(ServerFault, "in the middle of the gzip"),
    ),
    "sends broken gzip": (
        then(reply(b"\x1f\x8b" + b"\xff" * 50, Content_Encoding="gzip")),
        Trouble(ServerFault, "no whole gzip"),
    ),
    "sends a gzip bomb": (then(reply(BOMB, Content_Encoding="gzip")), TOO_LONG),
    "sends a bomb of many members": (
        then(reply(gzip.compress(bytes(2**20)) * 64, Content_Encoding="gzip")),
        TOO_LONG,
    ),
    "sends a deflate bomb": (
        then(reply(zlib.compress(bytes(64 * 2**20)), Content_Encoding="deflate")),
        TOO_LONG,
    ),
    "sends Brotli unasked": (
        then(reply(GOOD, Content_Encoding="br")),
        Trouble(ServerFault, "asked for was gzip, deflate"),
    ),
    "sends codings within codings": (
        then(reply(gzip.compress(gzip.compress(GOOD)), Content_Encoding="gzip, gzip")),
        Trouble(ServerFault, "asked for was gzip, deflate"),
    ),
    "sends blanks for ever": (
        then(
            OK,
            b"Transfer-Encoding: chunked\r\n\r\n",
            lambda wire: wire.forever(chunked(b" " * 4096, ended=False)),
        ),
        TOO_LONG,
    ),
    "promises a terabyte": (
        then(OK, b"Content-Length: 1099511627776\r\n\r\n", lambda wire: wire.forever(b" " * 65536)),
        TOO_LONG,
    ),
    "sends a header for ever": (then(OK, b"X: ", lambda wire: wire.forever(b"a" * 4096)), BROKE),
    "sends headers for ever": (then(OK, lambda wire: wire.forever(b"X: y\r\n" * 99)), BROKE),
    "sends no HTTP": (then(b"220 smtp.example ready\r\n", hang), BROKE),
    "sends two lengths": (then(OK, b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n12345"), BROKE),
    "sends a negative length": (then(OK, b"Content-Length: -5\r\n\r\n", hang), BROKE),
    "sends a chunk of no size": (
        then(OK, b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", hang),
        BROKE,
    ),
    "speaks TLS": (then(b"\x15\x03\x01\x00\x02\x02\x46", close), Trouble(Fatal, "Write https://")),
    "nests a thousand arrays": (then(reply(b"[" * 99_999 + b"]" * 99_999)), NO_JSON),
    "streams events": (then(reply(b'data: {"choices":[]}\n\ndata: [DONE]\n\n')), NO_JSON),
    "sends nothing with 204": (then(b"HTTP/1.1 204 No Content\r\n\r\n"), NO_JSON),
    "sends nothing with 200": (then(reply(b"")), NO_JSON),
}


@pytest.mark.parametrize("kind", ["openai", "http"])
@pytest.mark.parametrize("fault", FAULTS)
async def test_a_fault_on_the_wire_comes_to_its_end(fault, kind):
    play, trouble = FAULTS[fault]
    began = time.monotonic()
    with RawServer(play) as server:
        (error,) = await ask(server.url, kind)
    trouble.meets(error)
    assert time.monotonic() - began < SECONDS + 3
    assert len(server.requests) == 1  # what was sent once may have been paid for


@pytest.mark.parametrize(
    "status", ["500 No", "502 No", "503 No", "504 No", "529 Full", "599 ?", "999 ?"]
)
@pytest.mark.parametrize("end", [close, hang, reset], ids=["cut", "hanging", "reset"])
async def test_a_failure_is_known_by_its_status_however_its_body_ends(status, end):
    with RawServer(then(reply({"error": "no"}, status, length=999), end)) as server:
        (error,) = await ask(server.url)
    assert isinstance(error, ServerFault)
    assert (error.sent, error.answered, error.billed) == (True, True, False)
    assert status[:3] in str(error)


@pytest.mark.parametrize(
    ("after", "seconds"),
    [
        (b"", None),
        (b"Retry-After: 2\r\n", 2.0),
        (b"Retry-After: 0\r\n", 0.0),
        (b"Retry-After: -1\r\n", None),
        (b"Retry-After: NaN\r\n", None),
        (b"Retry-After: inf\r\n", None),
        (b"Retry-After: 1e400\r\n", None),
        (b"Retry-After: " + b"9" * 5000 + b"\r\n", None),
        ("Retry-After: ٣\r\n".encode(), None),
        (b"Retry-After: \xff\xfe\r\n", None),
        (b"Retry-After: 2\r\nRetry-After: 500\r\n", 500.0),
        (b"Retry-After: Wed, 21 Oct 1998 07:28:00 GMT\r\n", 0.0),
        (b"Retry-After: Wed, 21 Oct 9998 07:28:00 GMT\r\n", None),
        (b"Retry-After: Wed, 99 Oct 2026 99:99:99 GMT\r\n", None),
    ],
    ids=lambda value: repr(value)[:40],
)
async def test_being_asked_to_slow_down_is_heeded_within_reason(after, seconds):
    body = b'{"error":{"message":"slow down"}}'
    answer = b"HTTP/1.1 429 No\r\n" + after + b"Content-Length: %d\r\n\r\n" % len(body) + body
    with RawServer(then(answer, hang)) as server:
        (error,) = await ask(server.url)
    assert isinstance(error, RateLimited)
    assert error.wait_seconds == seconds


@pytest.mark.parametrize(
    "coding", ["gzip", "x-gzip", "deflate", "raw deflate", "false gzip", "identity"]
)
async def test_what_is_coded_as_it_may_be_is_read(coding):
    packed = {
        "gzip": gzip.compress(GOOD[:50]) + gzip.compress(GOOD[50:]),
        "x-gzip": gzip.compress(GOOD),
        "deflate": zlib.compress(GOOD),
        "raw deflate": zlib.compress(GOOD, wbits=-15),
    }.get(coding, GOOD)
    said = {"raw deflate": "deflate", "false gzip": "GZIP"}.get(coding, coding)
    with RawServer(then(reply(packed, Content_Encoding=said))) as server:
        (result,) = await ask(server.url)
    assert isinstance(result, Reply)
    assert result.text == "B"
    assert b"Accept-Encoding: gzip, deflate\r\n" in server.requests[0].head + b"\r\n"


@pytest.mark.parametrize(
    "content_type",
    ["text/html", "application/json; charset=latin-1", "text/event-stream", "", "a" * 5000, "\xff"],
)
async def test_the_body_counts_and_not_what_it_is_said_to_be(content_type):
    answer = reply(chat_body("Für B"), Content_Type=content_type)
    with RawServer(then(answer)) as server:
        (result,) = await ask(server.url)
    assert isinstance(result, Reply)
    assert result.text == "Für B"


@pytest.mark.parametrize(
    "fault", ["sends a gzip bomb", "sends a bomb of many members", "promises a terabyte"]
)
async def test_no_body_takes_more_memory_than_the_bound_allows(fault):
    with RawServer(FAULTS[fault][0]) as server:
        tracemalloc.start()
        try:
            await ask(server.url)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert peak < 6 * transport.MOST_BYTES


async def test_a_megabyte_of_answer_is_kept_whole():
    text = "B, because " + "nothing is known. " * 120_000
    with RawServer(then(reply(chat_body(text)))) as server:
        (result,) = await ask(server.url)
    assert isinstance(result, Reply)
    assert result.text == text
    assert len(text) > 2 * 10**6


# Connections that are used again


async def test_what_is_said_unasked_is_never_taken_for_the_next_answer():
    def play(wire: Wire) -> None:
        wire.send(reply(chat_body(f"to {wire.prompt}")))
        if wire.number % 2 == 0:
            wire.send(reply(chat_body("nobody asked")))

    with RawServer(play) as server:
        results = await ask(server.url, times=6)
    assert [result.text for result in results] == [f"to question {k}" for k in range(6)]
    assert server.prompts == [f"question {k}" for k in range(6)]


async def test_what_is_said_while_nothing_is_asked_is_never_taken_for_an_answer():
    said: list[int] = []
    notes: list[tuple[str, ...]] = []

    def play(wire: Wire) -> None:
        wire.send(reply(chat_body(f"to {wire.prompt}")))
        wire.wait(0.05)
        wire.send(reply(chat_body("nobody asked")))
        said.append(wire.number)

    with RawServer(play) as server:
        model = model_at(server.url)
        texts = []
        for number in range(3):
            prompt = Prompt(messages=(Message("user", f"question {number}"),))
            (answer,) = await model.ask([Call(prompt)])
            texts.append(answer.text)
            notes.append(answer.adapted)
            while len(said) <= number:
                time.sleep(0.01)
        await model.close()
    assert texts == ["to question 0", "to question 1", "to question 2"]
    assert notes == [(), (transport.UNASKED,), (transport.UNASKED,)]
    assert server.connections == 3
    assert b"Connection: close" not in server.requests[0].head
    assert b"Connection: close" in server.requests[2].head


async def test_a_server_that_closes_kept_connections_costs_one_call_at_most():
    with RawServer(then(reply(), close)) as server:  # and says nothing of closing
        results = await ask(server.url, times=30)
    broken = [result for result in results if not isinstance(result, Reply)]
    assert len(broken) <= 1
    for error in broken:
        BROKE.meets(error)
    assert server.connections >= 30 - len(broken)


@pytest.mark.parametrize("version", ["1.0", "1.1"])
async def test_a_body_that_ends_with_the_connection_is_read(version):
    answer = f"HTTP/{version} 200 OK\r\n\r\n".encode() + GOOD
    with RawServer(then(answer, close)) as server:
        results = await ask(server.url, times=3)
    assert [result.text for result in results] == ["B", "B", "B"]


async def test_no_state_is_kept_between_calls():
    with RawServer(then(reply(Set_Cookie="who=me; Path=/"))) as server:
        await ask(server.url, times=3)
    assert len(server.requests) == 3
    assert not any(b"cookie" in wire.head.lower() for wire in server.requests)


# No connection at all


async def test_a_connection_that_nobody_takes_was_never_sent():
    (error,) = await ask(f"http://127.0.0.1:{refused_port()}/v1")
    Trouble(ServerFault, "no connection", sent=False).meets(error)


async def test_a_name_that_is_not_known_was_never_sent():
    (error,) = await ask("http://no-such-host.invalid/v1")
    assert isinstance(error, ServerFault)
    assert not error.sent
    assert "no connection" in str(error)


async def test_a_name_that_takes_for_ever_was_never_sent(monkeypatch):
    async def resolve(*arguments: object, **more: object) -> list[object]:
        await transport.asyncio.sleep(60)
        return []

    monkeypatch.setattr("aiohttp.connector.DefaultResolver.resolve", resolve)
    (error,) = await ask("http://slow-name.invalid/v1")
    assert isinstance(error, ServerFault)
    assert not error.sent


async def test_a_machine_behind_ipv6_is_asked():
    try:
        server = RawServer(answers, family=socket.AF_INET6)
    except OSError:
        pytest.skip("no IPv6 on this machine")
    with server:
        (result,) = await ask(server.url)
    assert isinstance(result, Reply)
    assert f"Host: [::1]:{server.port}".encode() in server.requests[0].head


# Elsewhere


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("kind", ["openai", "http"])
async def test_neither_key_nor_prompt_follow_a_redirect(status, kind):
    with RawServer(answers) as other:
        place = f"http://{USER}:{PASSWORD}@127.0.0.1:{other.port}/v1?sig={SIGNATURE}#x"
        with RawServer(then(reply(b"", f"{status} Moved", Location=place))) as server:
            (error,) = await ask(server.url, kind)
        assert isinstance(error, Fatal)
        assert f"it redirects to http://127.0.0.1:{other.port}/v1. Nothing was sent" in str(error)
        assert not other.connections
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "place",
    ["file:///etc/passwd", "/v1/chat/completions", "//evil", "javascript:alert(1)", "\x7f\x80", ""],
)
async def test_no_redirect_whatsoever_is_followed(place):
    with RawServer(then(reply(b"", "302 Found", Location=place))) as server:
        (error,) = await ask(server.url)
    assert isinstance(error, Fatal)
    assert len(server.requests) == 1


def test_a_proxy_of_another_kind_is_refused_before_anything_is_sent(monkeypatch):
    monkeypatch.setenv("https_proxy", f"socks5://{USER}:{PASSWORD}@127.0.0.1:1080")
    with pytest.raises(ConfigError, match="'socks5'") as caught:
        ChatApi(ModelSpec(name="openai/toy", base_url="https://api.example/v1"))
    assert PASSWORD not in str(caught.value)


async def test_what_is_asked_of_this_machine_goes_through_no_proxy(monkeypatch):
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{refused_port()}")
    with RawServer(answers) as server:
        (result,) = await ask(server.url)
        (by_name,) = await ask(f"http://localhost:{server.port}/v1")
    assert isinstance(result, Reply)
    assert isinstance(by_name, Reply)


async def test_a_proxy_is_used_and_told_no_more_than_it_needs(monkeypatch):
    with RawServer(answers) as proxy:
        monkeypatch.setenv("http_proxy", f"http://{USER}:{PASSWORD}@127.0.0.1:{proxy.port}")
        (result,) = await ask("http://api.example/v1")
        monkeypatch.setenv("no_proxy", "api.example")
        (without,) = await ask("http://api.example/v1")
    assert isinstance(result, Reply)
    assert proxy.requests[0].head.startswith(b"POST http://api.example/v1/chat/completions")
    assert isinstance(without, ServerFault)


@pytest.mark.parametrize(("status", "kind"), [(407, Fatal), (403, Fatal), (502, ServerFault)])
async def test_a_proxy_that_lets_nothing_through_has_sent_nothing(monkeypatch, status, kind):
    with RawServer(then(reply(b"", f"{status} No"))) as proxy:
        monkeypatch.setenv("https_proxy", f"http://{USER}:{PASSWORD}@127.0.0.1:{proxy.port}")
        (error,) = await ask("https://api.example/v1")
    assert isinstance(error, kind)
    assert f"the proxy answered {status}" in str(error)
    if isinstance(error, ServerFault):
        assert not error.sent
    assert proxy.requests[0].head.startswith(b"CONNECT api.example:443")
    assert KEY.encode() not in proxy.requests[0].head


# What the server says back


@pytest.mark.parametrize("status", ["200 OK", "400 No", "401 No", "404 No", "429 No", "500 No"])
async def test_what_was_sent_along_comes_back_in_no_message(status):
    said = " ".join((*SECRETS, f"Bearer {KEY}", KEY[:9] + "…" + KEY[-2:]))

    def echo(wire: Wire) -> None:
        wire.send(reply({"error": {"message": said, "code": 500}}, status, X_Echo=said))

    with RawServer(echo) as server:
        for kind in ("openai", "http"):
            (error,) = await ask(server.url, kind)
            assert isinstance(error, Exception | Reply)


async def test_control_signs_and_half_characters_reach_no_message():
    message = "\\u001b[31mred\\u0000\\u202e\\ud800 \\r\\nline two"
    answer = reply(b'{"error":{"message":"' + message.encode() + b'"}}', "400 No")
    with RawServer(then(answer)) as server:
        (result,) = await ask(server.url)
    assert isinstance(result, Reply)
    assert result.finish is Finish.ERROR
    assert "line two" in (result.error or "")
