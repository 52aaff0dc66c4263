"""Hold the simulation to real runs: one and two workers of Ray against a server that takes a while.

A server on loopback answers each call after a fixed time. The same calls are sent by real workers
through a real ledger owner, and by the simulation with the rates that `rates.py` has measured and
with the time that replies took in the real run, as its ledger has it: on a busy machine that is
more than the server waits. The last column is how far the simulated rate is from the real one. The
first quarter of the replies, while workers start, is left out.

    python benchmarks/scale/validate.py --rates RATES.json [--calls 160] [--json FILE]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "speed"))

from calls import QUESTION, SERVER  # noqa: E402  # a script beside this one
from simulate import Rates, Setup, simulate  # noqa: E402

from askew.engines.ray_engine import RayEngine  # noqa: E402
from askew.models.base import ModelSpec  # noqa: E402
from askew.models.chat_api import ChatApi  # noqa: E402
from askew.models.dispatch import RunnerSettings  # noqa: E402
from askew.models.engine import EngineSettings  # noqa: E402
from askew.models.ledger import Ledger  # noqa: E402
from askew.models.ledgerfile import read_records  # noqa: E402
from askew.models.runner import Runner  # noqa: E402
from askew.records import Call, Message, Prompt, Sampling  # noqa: E402

LANES = 8  # calls under way at once, of one worker


@dataclass(frozen=True)
class Held:
    """One comparison."""

    workers: int
    calls: int
    latency: float  # seconds from the mark as sent to the reply, mean
    spread: float  # its standard deviation, as a share of the mean
    real: float  # calls a second
    simulated: float

    @property
    def off(self) -> float:
        """How far the simulation is from the real run, as a share of it."""
        return self.simulated / self.real - 1


@contextmanager
def server(latency: float) -> Iterator[str]:
    """The base URL of a server that answers after a while."""
    command = [sys.executable, str(SERVER), "--port", "0", "--delay", str(latency)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


async def real(url: str, calls: int, workers: int) -> tuple[float, float, float]:
    """Of real workers, once they are up: calls a second, mean latency and its spread."""
    questions = [Message("user", QUESTION.format(number=number)) for number in range(calls)]
    asked = [Call(Prompt(messages=(one,)), Sampling(max_tokens=16)) for one in questions]
    spec = ModelSpec(name="openai/toy", base_url=url)
    model = ChatApi(spec)
    engine = RayEngine(EngineSettings(workers=workers))
    settings = RunnerSettings(concurrency=LANES * workers)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.sqlite"
        try:
            with Ledger.open(path) as ledger:
                runner = Runner(ledger, reuse=(), settings=settings, engine=engine.of(spec))
                answers = await runner.ask(model, asked)
        finally:
            engine.close()
            await model.close()
        if answers.asked != calls:
            raise RuntimeError(f"not every call was answered: {answers.summary()}")
        found = [(one.received_at or 0.0, one.sent_at or 0.0) for one in read_records(path)]
    replies = sorted(found)[calls // 4 :]
    took = [received - sent for received, sent in replies]
    mean = statistics.fmean(took)
    rate = (len(replies) - 1) / (replies[-1][0] - replies[0][0])
    return rate, mean, statistics.pstdev(took) / mean


def main(arguments: Sequence[str]) -> None:
    """Compare and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rates", type=Path, required=True)
    parser.add_argument("--calls", type=int, default=160)
    parser.add_argument("--latency", type=float, default=2.0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    rates = Rates(**json.loads(options.rates.read_text()))
    print("workers  calls  latency   real/s  simulated/s     off")
    rows = []
    for workers in (1, 2):
        with server(options.latency) as url:
            found, latency, spread = asyncio.run(real(url, options.calls, workers))
        setup = Setup(
            calls=options.calls, workers=workers, lanes=LANES, latency=latency, spread=spread
        )
        rate = simulate(rates, setup).calls_per_second
        row = Held(workers, options.calls, latency, spread, found, rate)
        rows.append(row)
        print(
            f"{row.workers:7} {row.calls:6} {row.latency:7.2f}s {row.real:8.1f} "
            f"{row.simulated:12.1f} {row.off:+7.0%}",
            flush=True,
        )
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
