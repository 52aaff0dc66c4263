"""Measure: what a call costs the owner of the ledger and a worker, and what a message to Ray costs.

The owner's work is the ledger's: calls are reserved and marked as sent, then settled with a reply,
in batches of several sizes; a straight line through the times gives what a batch costs and what a
call costs. A worker's work is the client's and the loop's: processor time of asking a server on
loopback that answers at once, less the ledger's share. Times are processor times, so that a busy
machine does not pass for a slow program; the round trip and the start are wall-clock times, and
their medians are taken.

    python benchmarks/scale/rates.py --json RATES.json [--calls 2000] [--without-ray]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "speed"))

from calls import QUESTION, askew, server  # noqa: E402  # a script beside this one
from simulate import Rates  # noqa: E402

from askew.models.budget import Cost, Limits  # noqa: E402
from askew.models.callkey import canonical_json, key_of, request_json  # noqa: E402
from askew.models.ledger import Ledger, Settlement, State, Wanted  # noqa: E402
from askew.records import Call, Finish, Message, Prompt, Reply, Sampling  # noqa: E402

BATCHES = (1, 4, 16, 64, 256)
MESSAGES = 60  # of the round trip
MESSAGE_BYTES = 64 * 1024  # about 64 calls with their prompts


def owner(calls: int) -> tuple[float, float]:
    """Seconds of processor time: an exchange, and a call in it."""
    points: list[tuple[int, float]] = []
    reply = Reply(text="ANSWER: B", finish=Finish.STOP, prompt_tokens=90, completion_tokens=4)
    for size in BATCHES:
        number = min(calls, 60 * size)
        with (
            tempfile.TemporaryDirectory() as folder,
            Ledger.open(Path(folder) / "run.sqlite") as ledger,
        ):
            entries = ledger.plan("openai/toy", _wanted(number), lambda call: Cost(1, 100))
            began = time.process_time()
            for start in range(0, number, size):
                batch = entries[start : start + size]
                ledger.arm(batch, entries[start + size : start + 2 * size])
                ledger.reserve_and_mark_sent(batch, Limits())
                ledger.settle(
                    [Settlement(one, State.RECEIVED, Cost(1, 94), reply) for one in batch]
                )
            took = time.process_time() - began
        # Reserving and settling are two exchanges.
        points += [(size, took / (number / size))]
        print(f"  {size:4} calls a batch: {1e6 * took / number:8.0f} µs a call")
    sizes, times = zip(*points, strict=True)
    # Weighed by 1 / size: small batches say what an exchange costs, large ones what a call does.
    each, fixed = np.polyfit(sizes, times, 1, w=1 / np.sqrt(sizes))
    return max(fixed, 0.0) / 2, float(each)


def _wanted(number: int) -> list[Wanted]:
    identity = canonical_json({"provider": "openai", "model": "toy"})
    found = []
    for place in range(number):
        prompt = Prompt(messages=(Message("user", QUESTION.format(number=place)),))
        call = Call(prompt, Sampling(max_tokens=16))
        request = request_json(call)
        found.append(Wanted(key_of(identity, request), request, call))
    return found


def worker(calls: int) -> float:
    """Seconds of processor time a call, of client, loop and ledger together."""
    with server() as url:
        asyncio.run(askew(url, 200, 20))  # warm up
        measured = asyncio.run(askew(url, calls, 64))
    return measured.cpu_seconds / measured.calls


class Echo:
    """An actor that gives back what it is told."""

    def say(self, message: bytes) -> bytes:
        """The same."""
        return message


def over_ray() -> tuple[float, float]:
    """Seconds: a message to an actor and back; until a cluster and its first actor are up."""
    from askew.engines.ray_start import ray_session

    began = time.perf_counter()
    with ray_session(cpus=2):
        import ray

        echo = ray.remote(Echo).remote()
        message = b"x" * MESSAGE_BYTES
        ray.get(echo.say.remote(message))
        start = time.perf_counter() - began
        times = []
        for _ in range(MESSAGES):
            sent = time.perf_counter()
            ray.get(echo.say.remote(message))
            times.append(time.perf_counter() - sent)
    return statistics.median(times), start


def main(arguments: Sequence[str]) -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--without-ray", action="store_true")
    options = parser.parse_args(arguments)
    print(f"{platform.machine()}, Python {platform.python_version()}")
    fixed, each = owner(options.calls)
    whole = worker(options.calls)
    round_trip, start = (0.0, 0.0) if options.without_ray else over_ray()
    rates = Rates(
        owner_exchange=fixed,
        owner_call=each,
        round_trip=round_trip,
        worker_call=max(whole - each, 0.0),
        start=start,
    )
    for name, value in asdict(rates).items():
        print(f"{name:16} {1000 * value:10.3f} ms")
    options.json.write_text(json.dumps(asdict(rates), indent=2) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
