"""A real HTTP server on loopback that answers like a chat endpoint, or fails the way one fails.

In a test: ``with FaultServer() as server: ChatApi(ModelSpec(..., base_url=server.url))``. It runs
in a thread of its own, keeps every request it saw, answers from a script while that lasts, then by
its handler. As a process of its own, for benchmarks and for tests that kill the client::

    python tests/models/servers.py --port 0 --log prompts.jsonl --delay 0.01

prints its port and answers at once, writing down each prompt (one JSON string a line, unbuffered)
before it answers.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import socket
import sys
import threading
from collections import Counter, deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal, Self

import orjson
from aiohttp import web

Fault = Literal["drop", "cut"]


@dataclass(frozen=True)
class Answer:
    """One reply of the server.

    `fault` "drop" closes the connection without a word; "cut" promises the whole body in its
    Content-Length, sends half and closes.
    """

    body: object = b""  # bytes and str go out as they are, anything else as JSON
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    fault: Fault | None = None

    @property
    def raw(self) -> bytes:
        """The body as it goes over the wire."""
        if isinstance(self.body, bytes):
            return self.body
        return self.body.encode() if isinstance(self.body, str) else orjson.dumps(self.body)


@dataclass(frozen=True)
class Seen:
    """One request as it came in."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]  # names in lower case
    body: Any  # parsed JSON, or the raw bytes where it is none

    @property
    def prompt(self) -> str:
        """The last message's text, or the prompt of a completion; else the whole body."""
        return prompt_of(self.body)


def prompt_of(body: Any) -> str:
    """What was asked, in one string."""
    if isinstance(body, dict):
        if messages := body.get("messages"):
            return str(messages[-1]["content"])
        if "prompt" in body:
            prompt = body["prompt"]
            return prompt if isinstance(prompt, str) else "\n".join(prompt)
    return body.decode(errors="replace") if isinstance(body, bytes) else orjson.dumps(body).decode()


def chat_body(text: str | None = "B", *, finish: str | None = "stop", **changes: Any) -> dict:
    """A whole chat completion; `changes` replace fields of the choice's message."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1760000000,
        "model": "toy-1",
        "system_fingerprint": "fp_1",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text, **changes},
                "finish_reason": finish,
            }
        ],
        "usage": {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10},
    }


def error(status: int, message: str, **headers: str) -> Answer:
    """An error reply in OpenAI's form; header names with underscores for dashes."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer({"error": {"message": message}}, status, named)


def rate_limited(retry_after: str | None = None) -> Answer:
    """A 429, with a Retry-After header if one is given."""
    return error(429, "slow down", **({"retry_after": retry_after} if retry_after else {}))


Handler = Callable[[Seen], Answer]


def answers_b(seen: Seen) -> Answer:
    """The handler where a test gives none: a chat completion that says B."""
    return Answer(chat_body("B"))


class FaultServer:
    """The server in a thread. Everything public may be read and set while it runs."""

    def __init__(self, handler: Handler = answers_b) -> None:
        self.handler = handler
        self.seen: list[Seen] = []
        self._script: deque[Answer] = deque()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)

    def script(self, *answers: Answer) -> None:
        """Answer the next requests with these, in order; after them the handler answers again."""
        self._script.extend(answers)

    @property
    def counts(self) -> Counter[str]:
        """How often each prompt was seen."""
        return Counter(seen.prompt for seen in self.seen)

    @property
    def origin(self) -> str:
        """Address without a path."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        """The base URL of the API."""
        return f"{self.origin}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        if not self._ready.wait(10):
            raise RuntimeError("the test server did not start")
        return self

    def __exit__(self, *exc: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        runner = web.ServerRunner(web.Server(self._answer), shutdown_timeout=0)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self.port: int = runner.addresses[0][1]
        self._ready.set()
        await self._stop.wait()
        await runner.cleanup()

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        seen = await read(request)
        self.seen.append(seen)
        answer = self._script.popleft() if self._script else self.handler(seen)
        with suppress(TimeoutError):  # the delay is over; or the test is
            await asyncio.wait_for(self._stop.wait(), answer.delay)
        return await send(request, answer)


async def read(request: web.BaseRequest) -> Seen:
    """The request, with its body parsed where it is JSON."""
    raw = await request.read()
    try:
        body = orjson.loads(raw)
    except orjson.JSONDecodeError:
        body = raw
    headers = {name.lower(): value for name, value in request.headers.items()}
    return Seen(request.method, request.path, dict(request.query), headers, body)


async def send(request: web.BaseRequest, answer: Answer) -> web.StreamResponse:
    """Give `answer`, faults included."""
    if answer.fault == "drop":
        hang_up(request)
    headers = {"content-type": "application/json", **answer.headers}
    if answer.fault != "cut":
        return web.Response(body=answer.raw, status=answer.status, headers=headers)
    response = web.StreamResponse(status=answer.status, headers=headers)
    response.content_length = len(answer.raw)
    await response.prepare(request)
    await response.write(answer.raw[: len(answer.raw) // 2])
    hang_up(request)
    return response


def hang_up(request: web.BaseRequest) -> None:
    """Close the connection under the client's feet."""
    if request.transport is not None:
        request.transport.abort()


def refused_port() -> int:
    """A port of this machine on which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def stand_alone(options: argparse.Namespace) -> None:
    """Answer at once and for ever; every `--every`-th request meets the `--fault`."""
    log = os.open(options.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND) if options.log else None
    plain = Answer(orjson.dumps(chat_body(options.answer)))
    faults = {
        "429": rate_limited("0.05"),
        "500": error(500, "out of order"),
        "drop": Answer(fault="drop"),
        "cut": Answer(chat_body(options.answer), fault="cut"),
    }
    count = 0

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        nonlocal count
        count += 1
        raw = await request.read()
        if log is not None:
            # One write a line: whole even when the client, or this process, is killed.
            os.write(log, orjson.dumps(prompt_of(orjson.loads(raw))) + b"\n")
        failing = options.every and count % options.every == 0
        await asyncio.sleep(options.delay)
        return await send(request, faults[options.fault] if failing else plain)

    runner = web.ServerRunner(web.Server(answer))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", options.port).start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()


def main(arguments: list[str]) -> None:
    """Read the arguments and serve until killed."""
    parser = argparse.ArgumentParser(description="A chat endpoint on loopback that asks no model.")
    parser.add_argument("--port", type=int, default=0, help="0 picks a free one")
    parser.add_argument("--log", help="file to which each prompt is appended as a JSON string")
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before each answer")
    parser.add_argument("--answer", default="B", help="what every reply says")
    parser.add_argument("--fault", choices=["429", "500", "drop", "cut"], default="500")
    parser.add_argument("--every", type=int, default=0, help="0: no request meets the fault")
    asyncio.run(stand_alone(parser.parse_args(arguments)))


if __name__ == "__main__":
    main(sys.argv[1:])
