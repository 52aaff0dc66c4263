"""Calls sent over a real Ray to a real server that writes down what it sees.

As a program this file is a driver that can be killed, on the cluster of its caller::

    python tests/engines/ray_runs.py ADDRESS LEDGER PORT CALLS UNKNOWN BUDGET WORKERS
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson

from askew.engines.ray_engine import RayEngine
from askew.models.base import ModelSpec
from askew.models.budget import Budget, Limits
from askew.models.dispatch import RunnerSettings
from askew.models.engine import EngineSettings
from askew.models.ledger import Ledger
from askew.models.ledgerfile import CallRecord, read_records
from askew.models.registry import load_model
from askew.models.runner import Answers, Runner
from tests.models.killing import answer_to, calls_for

CONCURRENCY = 16


def spec_of(port: int) -> ModelSpec:
    """The toy endpoint."""
    return ModelSpec(name="openai/toy", base_url=f"http://127.0.0.1:{port}/v1")


def engine_of(address: str | None = None, workers: int = 2, shard: int = 64) -> RayEngine:
    """An engine whose workers take no processor: they wait for a server."""
    return RayEngine(
        EngineSettings(address=address, workers=workers, cpus_per_worker=0.1, shard=shard)
    )


@contextmanager
def asking(
    ledger: Path,
    port: int,
    engine: RayEngine | None,
    unknown: str = "skip",
    budget: int | None = None,
    **more: Any,
):
    """A runner over the ledger, and the model that it is to ask."""
    spec = spec_of(port)
    model = load_model(spec)
    with Ledger.open(ledger) as opened:
        yield (
            Runner(
                opened,
                limits=Limits(Budget(calls=budget)),
                reuse=(),
                settings=RunnerSettings(unknown=unknown, concurrency=CONCURRENCY),
                engine=None if engine is None else engine.of(spec),
                **more,
            ),
            model,
        )


def seen_in(log: Path) -> Counter[str]:
    """How often the server saw each prompt."""
    return Counter(orjson.loads(line) for line in log.read_bytes().splitlines())


def lines_of(log: Path) -> int:
    """How many requests the server saw."""
    return log.read_bytes().count(b"\n")


def prompt_of(record: CallRecord) -> str:
    """What a call asks."""
    return record.call.prompt.messages[0].content


def wait_until(true: Callable[[], bool], seconds: float = 120.0) -> None:
    """Until it is; a test that waits in vain fails."""
    deadline = time.monotonic() + seconds
    while not true():
        if time.monotonic() > deadline:
            raise TimeoutError("it did not come")
        time.sleep(0.01)


def check_against_server(ledger: Path, log: Path, budget: int) -> dict[str, int]:
    """What must hold whatever was killed, and the counts for the table of faults."""
    seen = seen_in(log)
    records = list(read_records(ledger))
    unlisted = [prompt_of(one) for one in records if seen[prompt_of(one)] > 1 + one.doubts]
    assert unlisted == [], "paid twice without being listed as unknown first"
    spent = sum(one.cost.calls for one in records)
    assert seen.total() <= spent <= budget
    wrong = [
        one
        for one in records
        if one.reply is not None and one.reply.text != answer_to(prompt_of(one))
    ]
    assert wrong == []
    return {
        "seen": seen.total(),
        "repeats": sum(count - 1 for count in seen.values()),
        "doubts": sum(one.doubts for one in records),
        "missing": sum(one.reply is None for one in records),
    }


def ask(
    address: str, ledger: Path, port: int, calls: int, unknown: str, budget: int, workers: int
) -> Answers:
    """What the driver does."""
    engine = engine_of(address, workers)
    try:
        with asking(ledger, port, engine, unknown, budget) as (runner, model):
            return asyncio.run(runner.ask(model, calls_for(calls)))
    finally:
        engine.close()


def main(arguments: list[str]) -> None:
    """Be the driver."""
    address, ledger, port, calls, unknown, budget, workers = arguments
    os.environ.pop("ASKEW_API_KEY", None)
    ask(address, Path(ledger), int(port), int(calls), unknown, int(budget), int(workers))


if __name__ == "__main__":
    main(sys.argv[1:])
