"""Runs against an endpoint that fails in every way at once: what is lost, paid twice or wrong.

    python benchmarks/peers/storm.py [--runs 20] [--calls 300] [--kind openai] [--out storm.json]

Each run asks its calls of a server on loopback that picks a fault for each request, or none, and
remembers what it did. When a run is over, the ledger is held against that memory:

- lost: a whole answer left the server, and no answer is in the ledger, nor is the call listed as
  unknown;
- paid twice: a question came again although the server had not said itself that it failed;
- wrong: the ledger holds another answer than the server gave to that question.

A run that was done is not repeated; delete `--out` to begin anew.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.models.raw_server import RawServer, Wire
from tests.models.test_hostile_run import OWNED, SILENT, STUBBORN, act, calls_for, named, run

from askew.models.ledger import Ledger
from askew.models.ledgerfile import State

ANSWERED = "an answer"


async def one_run(seed: int, calls: int, kind: str) -> dict[str, dict[str, int]]:
    """One run; for each fault how often it was met, and what came of it."""
    chance = random.Random(seed)
    done: dict[str, list[str | None]] = {}

    def play(wire: Wire) -> None:
        before = done.setdefault(wire.prompt, [])
        faults = (*OWNED, *SILENT, *[None] * 6)
        fault = chance.choice(faults) if len(before) < 4 else None
        before.append(fault)
        act(wire, fault)

    counted: dict[str, Counter[str]] = {}
    with (
        tempfile.TemporaryDirectory() as name,
        RawServer(play) as server,
        Ledger.open(Path(name) / "run.sqlite") as ledger,
    ):
        await run(server, ledger, calls_for(calls), kind, pace=STUBBORN)
        records = {r.call.prompt.messages[0].content: r for r in ledger.records()}
    for prompt, faults in named(done).items():
        record = records[prompt]
        for place, fault in enumerate(faults):
            count = counted.setdefault(fault or ANSWERED, Counter(injected=0))
            count["injected"] += 1
            again = place + 1 < len(faults)
            count["paid_twice"] += again and fault not in OWNED
            count["lost"] += fault is None and record.state not in (State.RECEIVED, State.UNKNOWN)
            count["unknown"] += not again and record.state is State.UNKNOWN
        if record.state is State.RECEIVED:
            text = (record.reply.text if record.reply else None) or ""
            wrong = faults[-1] is not None or prompt not in named({text.removeprefix("to "): []})
            counted[faults[-1] or ANSWERED]["wrong"] += wrong
    return {fault: dict(count) for fault, count in counted.items()}


def main() -> None:
    """Run what is not done yet, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--calls", type=int, default=300)
    parser.add_argument("--kind", choices=["openai", "http"], default="openai")
    parser.add_argument("--out", type=Path, default=Path("storm.json"))
    options = parser.parse_args()
    known = json.loads(options.out.read_text()) if options.out.exists() else {}
    for seed in range(options.runs):
        name = f"{options.kind}/{options.calls}/{seed}"
        if name not in known:
            known[name] = asyncio.run(one_run(seed, options.calls, options.kind))
            options.out.write_text(json.dumps(known))
    total: dict[str, Counter[str]] = {}
    for counts in known.values():
        for fault, count in counts.items():
            total.setdefault(fault, Counter()).update(count)
    print(f"{len(known)} runs\n")
    print("| fault | injected | lost | paid twice | wrong | unknown, listed |")
    print("|---|---|---|---|---|---|")
    for fault in (ANSWERED, *OWNED, *SILENT):
        count = total.get(fault, Counter())
        cells = [count[name] for name in ("injected", "lost", "paid_twice", "wrong", "unknown")]
        print(f"| {fault} | {' | '.join(f'{cell:,}' for cell in cells)} |")


if __name__ == "__main__":
    main()
