"""A run that is killed with `kill -9` again and again, and what the server saw of it.

Three processes: the caller, a server that writes down every prompt before it answers, and a client
that asks a list of calls through a ledger. As a program this file is the server or the client::

    python tests/models/killing.py serve LOG DELAY
    python tests/models/killing.py ask LEDGER PORT CALLS CONCURRENCY UNKNOWN BUDGET
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import orjson
from aiohttp import web

from askew.models.base import ModelSpec
from askew.models.budget import Budget, Limits
from askew.models.chat_api import ChatApi
from askew.models.dispatch import RunnerSettings
from askew.models.ledger import Ledger
from askew.models.ledgerfile import read_records
from askew.models.runner import Answers, Runner
from askew.records import Call, Message, Prompt, Sampling


@dataclass
class Killed:
    """What came of a run that was killed."""

    calls: int
    concurrency: int
    budget: int
    unknown_after_kill: list[int] = field(default_factory=list)  # newly unknown, a kill
    overspent: list[str] = field(default_factory=list)  # where the server saw more than was booked
    unlisted_repeats: list[str] = field(
        default_factory=list
    )  # seen more often than was owned up to
    repeats: int = 0
    missing: int = 0
    spent: int = 0
    replies: dict[str, str | None] = field(default_factory=dict)  # prompt -> answer


def calls_for(number: int) -> list[Call]:
    """Distinct calls."""
    return [
        Call(Prompt(messages=(Message("user", f"question {k}"),)), Sampling(max_tokens=4))
        for k in range(number)
    ]


def run_with_kills(
    folder: Path,
    *,
    calls: int,
    kills: int,
    unknown: str,
    seed: int,
    concurrency: int = 16,
    delay: float = 0.01,
) -> Killed:
    """Start the run, kill it `kills` times at random moments, then let it end.

    Args:
        folder: a new or empty one, for the run and the server's log.
        calls: how many distinct ones.
        kills: each after a random number of requests, so that they spread over the whole run.
        unknown: "skip" or "retry".
        seed: of the moments.
        concurrency: calls under way at most.
        delay: seconds that the server takes for an answer.
    """
    rng = random.Random(seed)
    log, ledger = folder / "seen.jsonl", folder / "run.sqlite"
    log.touch()
    killed = Killed(calls, concurrency, budget=calls + kills * concurrency)
    with server(log, delay) as port:
        arguments = (ledger, port, calls, concurrency, unknown, killed.budget)
        for _ in range(kills):
            before = _doubts(ledger)
            client = _start("ask", *arguments)
            _wait_for(log, _lines(log) + rng.randrange(1, 2 * calls // (kills + 1)), client)
            time.sleep(rng.uniform(0, 0.02))
            client.kill()
            client.wait()
            _look(ledger, log, before, killed)
        client = _start("ask", *arguments)
        if client.wait(timeout=300) != 0:
            raise RuntimeError("the last start of the run failed")
    _compare(ledger, log, killed)
    return killed


def _look(ledger: Path, log: Path, before: Counter[str], killed: Killed) -> None:
    """Open the ledger as a resume does, and compare it with what the server has seen so far."""
    with Ledger.open(ledger) as opened:
        now = Counter({_prompt(record.call): record.doubts for record in opened.records()})
        killed.unknown_after_kill.append((now - before).total())
        seen, booked = _lines(log), opened.spending.total.calls
        if seen > booked:
            killed.overspent.append(f"{seen} requests seen, {booked} booked")


def _compare(ledger: Path, log: Path, killed: Killed) -> None:
    seen = _seen(log)
    killed.repeats = sum(count - 1 for count in seen.values())
    for record in read_records(ledger):
        prompt = _prompt(record.call)
        if seen[prompt] > 1 + record.doubts:
            killed.unlisted_repeats.append(prompt)
        killed.missing += record.reply is None
        killed.spent += record.cost.calls
        killed.replies[prompt] = record.reply.text if record.reply else None
    if seen.total() > killed.budget or killed.spent > killed.budget:
        killed.overspent.append(f"{seen.total()} requests in all, {killed.budget} allowed")


def _prompt(call: Call) -> str:
    return call.prompt.messages[0].content


def _doubts(ledger: Path) -> Counter[str]:
    if not ledger.exists():
        return Counter()
    return Counter({_prompt(record.call): record.doubts for record in read_records(ledger)})


def _lines(log: Path) -> int:
    return log.read_bytes().count(b"\n")


def _seen(log: Path) -> Counter[str]:
    return Counter(orjson.loads(line) for line in log.read_bytes().splitlines())


def _wait_for(log: Path, lines: int, client: subprocess.Popen[str]) -> None:
    """Until the log is that long; a client that has nothing left to ask ends before."""
    while _lines(log) < lines and client.poll() is None:
        time.sleep(0.002)


def _start(*arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, __file__, *map(str, arguments)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE if arguments[0] == "serve" else None, text=True
    )


@contextmanager
def server(log: Path, delay: float) -> Iterator[int]:
    """The server's port, for as long as it is wanted."""
    process = _start("serve", log, delay)
    assert process.stdout is not None
    try:
        yield int(process.stdout.readline())
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


async def ask(
    ledger: Path, port: int, calls: int, concurrency: int, unknown: str, budget: int
) -> Answers:
    """What the client does: ask everything that is still to be asked."""
    model = ChatApi(ModelSpec(name="openai/toy", base_url=f"http://127.0.0.1:{port}/v1"))
    settings = RunnerSettings(unknown=unknown, concurrency=concurrency)  # type: ignore[arg-type]  # from argv
    with Ledger.open(ledger) as opened:
        limits = Limits(Budget(calls=budget))
        runner = Runner(opened, limits=limits, reuse=(), settings=settings)
        answers = await runner.ask(model, calls_for(calls))
    await model.close()
    return answers


def answer_to(prompt: str) -> str:
    """What the server says to a prompt."""
    return hashlib.sha256(prompt.encode()).hexdigest()[:8]


async def serve(log: str, delay: float) -> None:
    """Write down each prompt in one write, wait, answer; for ever."""
    seen = os.open(log, os.O_WRONLY | os.O_APPEND)

    async def answer(request: web.BaseRequest) -> web.Response:
        prompt = orjson.loads(await request.read())["messages"][-1]["content"]
        os.write(seen, orjson.dumps(prompt) + b"\n")
        await asyncio.sleep(delay)
        choice = {"message": {"content": answer_to(prompt)}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 3, "completion_tokens": 1}
        body = orjson.dumps({"model": "toy", "choices": [choice], "usage": usage})
        return web.Response(body=body, content_type="application/json")

    runner = web.ServerRunner(web.Server(answer))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()


def main(arguments: list[str]) -> None:
    """Be the server or the client."""
    match arguments:
        case ["serve", log, delay]:
            asyncio.run(serve(log, float(delay)))
        case ["ask", ledger, port, calls, concurrency, unknown, budget]:
            asyncio.run(
                ask(Path(ledger), int(port), int(calls), int(concurrency), unknown, int(budget))
            )
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
