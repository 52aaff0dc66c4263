"""Measure: what a call costs askew itself, beside Inspect AI on the same prompts and server.

A server on loopback, in a process of its own, answers at once. askew asks through its client, its
runner and its ledger; the CPU time is the asking process's alone, without imports.

    python benchmarks/speed/calls.py [--calls 5000] [--json FILE]
    python -m venv peer && peer/bin/pip install inspect-ai openai
    python benchmarks/speed/calls.py --peer-python peer/bin/python [--peer-calls 1000]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from askew.models.base import ModelSpec
from askew.models.chat_api import ChatApi
from askew.models.dispatch import RunnerSettings
from askew.models.ledger import Ledger
from askew.models.runner import Runner
from askew.records import Call, Message, Prompt, Sampling

HERE = Path(__file__).parent
SERVER = HERE.parents[1] / "tests" / "models" / "servers.py"
QUESTION = (
    "I met two people at the clinic today, a nurse from Oslo and a carpenter from Turin. One of "
    "them had forgotten the appointment.\nWho had forgotten it? This is question {number}.\n"
    "A) The nurse\nB) Cannot be determined\nC) The carpenter\nAnswer with ANSWER: and the letter."
)


@dataclass(frozen=True)
class Measured:
    """One row of the table."""

    system: str
    calls: int
    concurrency: int
    seconds: float
    cpu_seconds: float

    @property
    def row(self) -> str:
        """For the terminal."""
        rate, cpu = self.calls / self.seconds, 1000 * self.cpu_seconds / self.calls
        return f"{self.system:32} {self.calls:6} {self.concurrency:5} {rate:10.1f} {cpu:12.2f}"


@contextmanager
def server() -> Iterator[str]:
    """The base URL of a server that answers at once."""
    command = [sys.executable, str(SERVER), "--port", "0", "--answer", "ANSWER: B"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


async def askew(url: str, number: int, concurrency: int) -> Measured:
    """Ask `number` calls through the client, the runner and a new ledger."""
    calls = [
        Call(
            Prompt(messages=(Message("user", QUESTION.format(number=k)),)), Sampling(max_tokens=16)
        )
        for k in range(number)
    ]
    model = ChatApi(ModelSpec(name="openai/toy", base_url=url))
    settings = RunnerSettings(concurrency=concurrency)
    with tempfile.TemporaryDirectory() as folder:
        wall, cpu = time.perf_counter(), time.process_time()
        with Ledger.open(Path(folder) / "run.sqlite") as ledger:
            answers = await Runner(ledger, reuse=(), settings=settings).ask(model, calls)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    await model.close()
    if answers.asked != number:
        raise RuntimeError(f"not every call was answered: {answers.summary()}")
    return Measured("askew (client, runner, ledger)", number, concurrency, wall, cpu)


def peer(python: Path, url: str, number: int, concurrency: int, solver: str) -> Measured:
    """Have Inspect AI ask the same prompts, in its own environment."""
    prompts = [QUESTION.format(number=k) for k in range(number)]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [python, HERE / "peer_inspect.py", solver, str(concurrency), folder],
            input=json.dumps(prompts),
            env={**os.environ, "TOY_BASE_URL": url, "TOY_API_KEY": "none"},
            capture_output=True,
            text=True,
        )
    if done.returncode:
        raise RuntimeError(f"the peer failed:\n{done.stderr[-2000:]}")
    figures = json.loads(done.stdout.splitlines()[-1])
    name = f"Inspect AI {figures['version']} {solver}"
    return Measured(name, number, concurrency, figures["seconds"], figures["cpu_seconds"])


def measure(options: argparse.Namespace) -> Iterator[Measured]:
    """One row after the other, all against the same server."""
    with server() as url:
        asyncio.run(askew(url, 200, 20))  # warm up
        for concurrency in options.concurrency:
            yield asyncio.run(askew(url, options.calls, concurrency))
            if options.peer_python:
                for solver in ("generate", "multiple_choice"):
                    yield peer(options.peer_python, url, options.peer_calls, concurrency, solver)


def main(arguments: Sequence[str]) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="What a call costs, ledger included.")
    parser.add_argument("--calls", type=int, default=5000)
    parser.add_argument("--concurrency", type=int, nargs="+", default=[20, 64])
    parser.add_argument("--peer-python", type=Path, help="a Python that has inspect-ai and openai")
    parser.add_argument("--peer-calls", type=int, default=1000)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    print(f"{'system':32} {'calls':>6} {'at once':>7} {'calls/s':>8} {'CPU-ms/call':>12}")
    rows = []
    for measured in measure(options):
        print(measured.row, flush=True)
        rows.append(measured)
    if not options.peer_python:
        print("Inspect AI was left out; the head of this file says how to measure it as well.")
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
