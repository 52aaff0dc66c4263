"""Calls a second on Ray with one and two workers, beside the engine of one process, in one run.

    python benchmarks/speed/ray_engine.py [--calls 2000] [--delay 0.0] [--concurrency 32]
        [--json FILE]

Three processes ask a server on loopback that answers after `--delay` seconds: this one, one worker,
two workers. The overhead of a call is what it takes more than in this process where the server
takes no time. "A small ask" is ten calls, with owner and workers up: what a search pays that asks
topic by topic. Read the figures of a busy machine beside one another, not as they stand.
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
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from askew.engines.ray_engine import RayEngine
from askew.models.base import ModelSpec
from askew.models.dispatch import RunnerSettings
from askew.models.engine import EngineSettings
from askew.models.ledger import Ledger
from askew.models.registry import load_model
from askew.models.runner import Runner
from askew.records import Call, Message, Prompt, Sampling

SERVER = Path(__file__).parents[2] / "tests" / "models" / "servers.py"
SMALL = 10


@dataclass(frozen=True)
class Measured:
    """What one way of sending came to."""

    way: str
    start_seconds: float  # until the first small ask was answered
    calls_per_second: float
    small_ask_seconds: float  # median of five


def calls(number: int, begin: int = 0) -> list[Call]:
    """Distinct calls."""
    return [
        Call(Prompt(messages=(Message("user", f"question {k}"),)), Sampling(max_tokens=4))
        for k in range(begin, begin + number)
    ]


@contextmanager
def server(delay: float) -> Iterator[int]:
    """The port of a server that answers after so many seconds."""
    command = [sys.executable, str(SERVER), "--delay", str(delay)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield int(process.stdout.readline())
    finally:
        process.kill()
        process.wait()


async def measure(way: str, engine: RayEngine | None, port: int, options: argparse.Namespace):
    """Ask the calls one way."""
    spec = ModelSpec(name="openai/toy", base_url=f"http://127.0.0.1:{port}/v1")
    model = load_model(spec)
    with (
        tempfile.TemporaryDirectory() as folder,
        Ledger.open(Path(folder) / "run.sqlite") as ledger,
    ):
        runner = Runner(
            ledger,
            reuse=(),
            settings=RunnerSettings(concurrency=options.concurrency),
            engine=None if engine is None else engine.of(spec),
        )
        began = time.monotonic()
        await runner.ask(model, calls(SMALL))
        started = time.monotonic() - began
        began = time.monotonic()
        answers = await runner.ask(model, calls(options.calls, SMALL))
        seconds = time.monotonic() - began
        assert answers.asked == options.calls
        small = []
        for turn in range(5):
            began = time.monotonic()
            await runner.ask(model, calls(SMALL, SMALL + options.calls + SMALL * turn))
            small.append(time.monotonic() - began)
    await model.close()
    return Measured(way, started, options.calls / seconds, sorted(small)[2])


def main() -> None:
    """Measure all ways and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--delay", type=float, default=0.0)
    parser.add_argument("--concurrency", type=int, default=32)
    parser.add_argument("--json", type=Path, help="where the figures are written")
    options = parser.parse_args()
    os.environ.pop("ASKEW_API_KEY", None)
    found = []
    with server(options.delay) as port:
        found.append(asyncio.run(measure("one process", None, port, options)))
        for workers in (1, 2):
            engine = RayEngine(EngineSettings(workers=workers, cpus_per_worker=0.25))
            try:
                way = f"Ray, {workers} worker{'s' if workers > 1 else ''}"
                found.append(asyncio.run(measure(way, engine, port, options)))
            finally:
                engine.close()
    print(f"{options.calls:,} calls, {options.concurrency} at once, server {options.delay:g} s")
    for one in found:
        more = 1000 * (1 / one.calls_per_second - 1 / found[0].calls_per_second)
        print(
            f"{one.way:15} {one.calls_per_second:8,.0f} calls/s  {more:+6.2f} ms a call  start "
            f"{one.start_seconds:5.1f} s  a small ask {1000 * one.small_ask_seconds:6.0f} ms"
        )
    if options.json:
        options.json.write_text(json.dumps([asdict(one) for one in found], indent=1) + "\n")


if __name__ == "__main__":
    main()
