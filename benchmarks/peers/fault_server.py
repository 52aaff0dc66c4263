"""A chat endpoint on loopback that fails in one way, for every fourth question, and writes it down.

    python fault_server.py --fault cut --log LOG.jsonl

prints its port. Question k is any prompt with the words "question k"; the answer to it is
"answer k". Each request becomes a line of the log: the question, and whether a whole answer left.
It uses the standard library alone, as it runs beside tools in environments of their own.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import time
from collections import Counter

FAULTS = {
    "none": "every question is answered",
    "429": "for four seconds every question is put off, with Retry-After: 1",
    "429 without a word": "the first two requests of every fourth question are put off",
    "null content": "the content of every fourth answer is null",
    "cut": "every fourth answer is cut at its first request: half of what Content-Length says",
    "error in a 200": "every fourth question is answered with 200 and an error",
    "megabyte": "every fourth answer has two megabytes after it",
    "NUL": "every fourth answer ends with the character U+0000",
    "half a character": "every fourth answer ends with a lone surrogate",
    "unasked": "after every fourth answer the server says one more, which nobody asked for",
    "hang": "the first request of every fourth question is never answered",
    "slow": "every answer takes 0.2 s; for killing the client half way",
}


class Server:
    """What was asked so far, and what is done next."""

    def __init__(self, fault: str, log: str) -> None:
        self.fault = fault
        self.began: float | None = None
        self.asked: Counter[int] = Counter()
        self.log = open(log, "a", buffering=1, encoding="utf-8")  # noqa: SIM115  # for the process

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, request after request."""
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                found = re.search(rb"content-length: *(\d+)", head, re.IGNORECASE)
                body = json.loads(await reader.readexactly(int(found[1]) if found else 0))
                text = json.dumps(body["messages"])
                named = re.findall(r"question (\d+)", text)
                await self.answer(int(named[-1]), reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError, json.JSONDecodeError):
            pass
        finally:
            writer.close()

    async def answer(
        self, number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Answer one question, or fail."""
        self.began = self.began or time.monotonic()
        self.asked[number] += 1
        first, hit, fault = self.asked[number] == 1, number % 4 == 0, self.fault
        text = f"answer {number}"
        if fault == "slow":
            await asyncio.sleep(0.2)
        if fault == "hang" and hit and first:
            self.write(number, whole=False)
            await asyncio.sleep(3600)
        storm = fault == "429" and time.monotonic() - self.began < 4
        if storm or (fault == "429 without a word" and hit and self.asked[number] < 3):
            self.write(number, whole=False)
            after = {"Retry-After": "1"} if storm else {}
            reply = _reply({"error": {"message": "slow down"}}, "429 Too Many Requests", after)
        elif fault == "error in a 200" and hit:
            self.write(number, whole=False)
            reply = _reply({"error": {"message": "Provider returned error", "code": 502}})
        elif fault == "cut" and hit and first:
            self.write(number, whole=False)
            whole = _reply(_completion(text))
            writer.write(whole[: -len(whole) // 4])
            await writer.drain()
            raise ConnectionError
        else:
            ends = {
                "megabyte": " ." * 2**20,
                "NUL": "\0",
                "half a character": "\ud800",
            }
            content = None if fault == "null content" and hit else text
            if hit and content is not None:
                content += ends.get(fault, "")
            self.write(number, whole=not reader.at_eof())  # nobody is there after a kill
            reply = _reply(_completion(content))
        writer.write(reply)
        await writer.drain()
        if fault == "unasked" and hit:
            await asyncio.sleep(0.01)
            writer.write(_reply(_completion("answer to nobody")))
            await writer.drain()

    def write(self, number: int, *, whole: bool) -> None:
        """One line of the log."""
        self.log.write(json.dumps({"question": number, "whole": whole}) + "\n")


def _completion(content: str | None) -> dict[str, object]:
    choice = {"index": 0, "message": {"role": "assistant", "content": content}}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1760000000,
        "model": "toy",
        "choices": [{**choice, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12},
    }


def _reply(body: object, status: str = "200 OK", more: dict[str, str] | None = None) -> bytes:
    raw = json.dumps(body).encode()
    headers = {"Content-Type": "application/json", "Content-Length": len(raw), **(more or {})}
    lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode() + raw


async def main() -> None:
    """Serve until killed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fault", choices=sorted(FAULTS), default="none")
    parser.add_argument("--log", required=True)
    options = parser.parse_args()
    server = await asyncio.start_server(Server(options.fault, options.log).serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
