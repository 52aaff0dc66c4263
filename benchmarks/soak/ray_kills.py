"""Workers and the owner of the ledger killed with `kill -9` at random moments, again and again.

    python benchmarks/soak/ray_kills.py COUNTS.jsonl [--kills 200] [--calls 300] [--a-round 5]

Each round asks calls of a server on loopback over one Ray cluster, kills `--a-round` processes on
the way, and compares the ledger with what the server has seen: an answer lost, a call paid twice
without being listed as unknown first, more spent than allowed or a wrong reply ends the program
with an error. Counts are appended to the file, one line a round; started again it goes on.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import sys
import tempfile
from collections import Counter
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.engines.ray_runs import CONCURRENCY, asking, check_against_server, engine_of, lines_of
from tests.models.killing import calls_for, server


async def kill_one(engine, rng: random.Random) -> str:
    """Kill the owner or a worker; one that is dead already is passed over."""
    import ray

    while True:
        victim = rng.choice(["owner", "worker"])
        actors = engine._owners if victim == "owner" else engine.workers()
        with suppress(ray.exceptions.RayError, ProcessLookupError, IndexError):
            os.kill(await rng.choice(list(actors.values())).pid.remote(), signal.SIGKILL)
            return victim
        await asyncio.sleep(0.1)


def play(engine, rng: random.Random, calls: int, kills: int, unknown: str) -> dict[str, int]:
    """One round; what was killed and what came of it."""
    done: Counter[str] = Counter()
    budget = calls + 2 * kills * CONCURRENCY

    async def disturbed(runner, model):
        asked = asyncio.ensure_future(runner.ask(model, calls_for(calls)))
        for _ in range(kills):
            lines = lines_of(log) + rng.randrange(1, max(2, calls // (kills + 1)))
            while lines_of(log) < lines and not asked.done():
                await asyncio.sleep(0.005)
            if not asked.done():
                done[await kill_one(engine, rng)] += 1
        return await asked

    with tempfile.TemporaryDirectory() as folder:
        log, ledger = Path(folder) / "seen.jsonl", Path(folder) / "run.sqlite"
        log.touch()
        with server(log, 0.01) as port:
            with asking(ledger, port, engine, unknown, budget) as (runner, model):
                answers = asyncio.run(disturbed(runner, model))
            counts = check_against_server(ledger, log, budget)
    assert answers.stopped is None, answers.message
    lost = counts["missing"] if unknown == "retry" else counts["missing"] - counts["doubts"]
    assert lost == 0, f"{lost} answers lost"
    return {"owner": done["owner"], "worker": done["worker"], **counts, "lost": lost}


def main() -> None:
    """Play rounds until so many processes were killed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("counts", type=Path)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--calls", type=int, default=300)
    parser.add_argument("--a-round", type=int, default=5)
    options = parser.parse_args()
    os.environ.pop("ASKEW_API_KEY", None)
    lines = options.counts.read_text().splitlines() if options.counts.exists() else []
    rounds = [json.loads(line) for line in lines]
    engine = engine_of()
    try:
        while sum(one["owner"] + one["worker"] for one in rounds) < options.kills:
            rng = random.Random(len(rounds))
            unknown = rng.choice(["retry", "skip"])
            rounds.append(play(engine, rng, options.calls, options.a_round, unknown))
            with options.counts.open("a") as file:
                file.write(json.dumps(rounds[-1]) + "\n")
            total: Counter[str] = Counter()
            for one in rounds:
                total.update(one)
            print(f"{len(rounds)} rounds: {dict(total)}", flush=True)
    finally:
        engine.close()


if __name__ == "__main__":
    main()
