"""Simulate: how long very many calls take over many workers, and what holds them up.

A discrete-event simulation of one owner of the ledger, workers and an endpoint. The owner serves
one exchange at a time: a fixed time each, and a time for each call in it. A worker has lanes; a
call takes processor time of the worker, which has one processor, then waits for its reply. The
endpoint answers after a time that is drawn, and lets at most so many calls a second begin. What a
worker has had answered and what it wants next goes to the owner in one exchange, as soon as the
last exchange of this worker has ended.

The costs are measured by `rates.py`; the simulation is held to real runs by `validate.py`.

    python benchmarks/scale/simulate.py --rates RATES.json [--calls 5000000] [--json FILE]
"""

from __future__ import annotations

import argparse
import heapq
import json
import math
from collections import deque
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from itertools import count
from pathlib import Path

import numpy as np

SIMULATED_CALLS = 60_000  # of a longer run: by then its rate is steady, and the rest is linear
DRAWS = 4096


@dataclass(frozen=True, kw_only=True)
class Rates:
    """What was measured, in seconds."""

    owner_exchange: float  # the owner's time for an exchange without calls
    owner_call: float  # the owner's time for a call: reserved, sent and settled
    round_trip: float  # of a message to the owner and back, without its work
    worker_call: float  # processor time of the worker a call
    start: float = 0.0  # until a cluster and its workers are up


@dataclass(frozen=True, kw_only=True)
class Setup:
    """What is simulated."""

    calls: int
    workers: int
    lanes: int = 64  # calls that a worker has under way at once
    latency: float = 1.0  # seconds a reply takes, mean
    spread: float = 0.5  # standard deviation of the latency, as a share of its mean
    limit: float = math.inf  # calls a second that the endpoint lets begin, of all workers
    shard: int = 256  # calls in one exchange at most


@dataclass(frozen=True)
class Simulated:
    """What came of it."""

    setup: Setup
    seconds: float
    calls_per_second: float
    owner_busy: float  # share of the time
    worker_busy: float


@dataclass(slots=True)
class _Worker:
    number: int
    free: int  # lanes without a call
    done: int = 0  # answered, not told to the owner yet
    asking: bool = False  # an exchange is under way
    processor: float = 0.0  # when it is free
    busy: float = 0.0


@dataclass(slots=True)
class _State:
    left: int
    settled: int = 0
    owner: float = 0.0  # when it is free
    owner_busy: float = 0.0
    gate: float = 0.0  # when the endpoint lets the next call begin
    events: list[tuple[float, int, str, int, int, int]] = field(default_factory=list)
    order: Iterator[int] = field(default_factory=count)

    def at(self, when: float, kind: str, worker: int, given: int = 0, told: int = 0) -> None:
        heapq.heappush(self.events, (when, next(self.order), kind, worker, given, told))


def simulate(rates: Rates, setup: Setup, seed: int = 0) -> Simulated:
    """One run; a long one is simulated in part, and its time is scaled."""
    calls = min(setup.calls, max(SIMULATED_CALLS, 40 * setup.workers * setup.lanes))
    latencies = _latencies(setup, seed)
    state = _State(left=calls)
    workers = [_Worker(number, setup.lanes) for number in range(setup.workers)]
    for worker in workers:
        _ask(state, rates, setup, worker, 0.0)
    now = 0.0
    while state.settled < calls:
        now, _, kind, number, given, told = heapq.heappop(state.events)
        worker = workers[number]
        if kind == "answered":
            worker.free += 1
            worker.done += 1
        else:  # the owner's answer is here
            worker.asking = False
            state.settled += told
            for _ in range(given):
                worker.processor = max(now, worker.processor) + rates.worker_call
                worker.busy += rates.worker_call
                state.gate = max(worker.processor, state.gate + 1 / setup.limit)
                state.at(state.gate + next(latencies), "answered", number)
        if not worker.asking:
            _ask(state, rates, setup, worker, now)
    scaled = now * setup.calls / calls
    return Simulated(
        setup,
        rates.start + scaled,
        calls / now,
        state.owner_busy / now,
        sum(worker.busy for worker in workers) / (now * setup.workers),
    )


def _ask(state: _State, rates: Rates, setup: Setup, worker: _Worker, now: float) -> None:
    """An exchange with the owner, where there is anything to tell or to want."""
    given = min(worker.free, setup.shard, state.left)
    if not given and not worker.done:
        return
    told, worker.done = worker.done, 0
    worker.free -= given
    state.left -= given
    # Half of a call's work is to reserve it, half to settle it.
    took = rates.owner_exchange + rates.owner_call * (given + told) / 2
    begins = max(now + rates.round_trip / 2, state.owner)
    state.owner = begins + took
    state.owner_busy += took
    worker.asking = True
    state.at(state.owner + rates.round_trip / 2, "exchanged", worker.number, given, told)


def _latencies(setup: Setup, seed: int) -> Iterator[float]:
    """Times that replies take: lognormal, as those of endpoints are long to one side."""
    variance = math.log1p(setup.spread**2)
    mean = math.log(max(setup.latency, 1e-9)) - variance / 2
    draws: deque[float] = deque()
    random = np.random.default_rng(seed)
    while True:
        if not draws:
            draws.extend(random.lognormal(mean, math.sqrt(variance), DRAWS).tolist())
        yield draws.popleft() if setup.latency else 0.0


def table(rates: Rates, calls: int) -> list[Simulated]:
    """The runs of the page docs/scale.md."""
    found = []
    for latency, limit in ((1.0, math.inf), (1.0, 50.0), (1.0, 500.0), (0.2, math.inf)):
        for workers in (1, 2, 4, 8, 16, 32):
            setup = Setup(calls=calls, workers=workers, latency=latency, limit=limit)
            found.append(simulate(rates, setup))
    return found


def in_words(seconds: float) -> str:
    """Hours, or days where there are many.

    >>> in_words(7200), in_words(864_000)
    ('2.0 h', '10.0 d')
    """
    hours = seconds / 3600
    return f"{hours:.1f} h" if hours < 72 else f"{hours / 24:.1f} d"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rates", type=Path, required=True, help="what rates.py has written")
    parser.add_argument("--calls", type=int, default=5_000_000)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rates = Rates(**json.loads(options.rates.read_text()))
    found = table(rates, options.calls)
    print(f"{'workers':>7} {'latency':>8} {'limit':>8} {'calls/s':>9} {'time':>9} owner worker")
    for one in found:
        print(
            f"{one.setup.workers:7} {one.setup.latency:7.1f}s {one.setup.limit:8.0f} "
            f"{one.calls_per_second:9,.0f} {in_words(one.seconds):>9} "
            f"{one.owner_busy:5.0%} {one.worker_busy:6.0%}"
        )
    if options.json:
        plain = [{**asdict(one), "setup": _finite(asdict(one.setup))} for one in found]
        options.json.write_text(json.dumps(plain, indent=2) + "\n")


def _finite(values: dict[str, object]) -> dict[str, object]:
    return {name: None if value == math.inf else value for name, value in values.items()}


if __name__ == "__main__":
    main()
