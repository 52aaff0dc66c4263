"""Measure: a million calls through one ledger; is the memory flat, the rate steady, the file small?

A server on loopback, in a process of its own, answers at once. The calls go out in one `ask`, as an
audit's do. Each row is of the calls since the last one; memory is the asking process's own.

    python benchmarks/load/million.py [--calls 1000000] [--folder FOLDER] [--minutes 40]
        [--json FILE]

With a folder, what `--minutes` cut off (or Ctrl-C, or `kill -9`) goes on when it is started again,
and the rows of all starts are printed. Exits with 1 where a call was lost or asked twice.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from askew.models.base import ModelSpec
from askew.models.chat_api import ChatApi
from askew.models.dispatch import RunnerSettings
from askew.models.interrupts import Interrupts
from askew.models.ledger import Ledger
from askew.models.ledgerfile import open_to_read
from askew.models.runner import Progress, Runner
from askew.records import Call, Message, Prompt, Sampling

SERVER = Path(__file__).parents[2] / "tests" / "models" / "servers.py"
ROWS = 20  # in a whole measurement
QUESTION = (
    "I met two people at the clinic today, a nurse from Oslo and a carpenter from Turin. One of "
    "them had forgotten the appointment.\nWho had forgotten it? This is question {number}.\n"
    "A) The nurse\nB) Cannot be determined\nC) The carpenter\nAnswer with ANSWER: and the letter."
)


@dataclass(frozen=True)
class Row:
    """What a stretch of the calls took."""

    done: int
    calls_per_second: float
    cpu_ms_per_call: float
    megabytes: float  # resident, at the stretch's end
    file_megabytes: float  # database and its log

    @property
    def line(self) -> str:
        """For the terminal."""
        return (
            f"{self.done:>10,} {self.calls_per_second:>9.1f} {self.cpu_ms_per_call:>12.2f} "
            f"{self.megabytes:>9.0f} {self.file_megabytes:>9.1f}"
        )


HEAD = f"{'calls':>10} {'calls/s':>9} {'CPU-ms/call':>12} {'MB':>9} {'file MB':>9}"


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


def resident() -> float:
    """Megabytes of this process in memory now; on systems without /proc, at most so far."""
    status = Path("/proc/self/status")
    if status.is_file():
        (line,) = (one for one in status.read_text().splitlines() if one.startswith("VmRSS"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


class Meter:
    """Watches an `ask`, takes a row every so many calls, and ends it when the time is over."""

    def __init__(self, calls: int, ledger: Path, keep: Path, ends: float) -> None:
        self.interrupts = Interrupts()
        self._every, self._ledger, self._keep, self._ends = calls // ROWS, ledger, keep, ends
        self._done: int | None = None

    def __call__(self, progress: Progress) -> None:
        """See `Runner.ask`."""
        now, cpu = time.monotonic(), time.process_time()
        if now >= self._ends and not self.interrupts.count:
            self.interrupts.arrived()
        if self._done is None:
            self._done, self._at, self._cpu = progress.done, now, cpu
        calls = progress.done - self._done
        if calls < self._every and (progress.done < progress.total or not calls):
            return
        files = (self._ledger, self._ledger.with_name(self._ledger.name + "-wal"))
        row = Row(
            progress.done,
            calls / (now - self._at),
            1000 * (cpu - self._cpu) / calls,
            resident(),
            sum(one.stat().st_size for one in files if one.exists()) / 1e6,
        )
        with self._keep.open("a") as file:
            file.write(json.dumps(asdict(row)) + "\n")
        print(row.line, flush=True)
        self._done, self._at, self._cpu = progress.done, now, cpu


async def measure(folder: Path, number: int, minutes: float | None) -> int:
    """Ask what is left of `number` calls; how many are answered by now."""
    keep, path = folder / "rows.jsonl", folder / "run.sqlite"
    print(HEAD)
    if keep.is_file():
        for line in keep.read_text().splitlines():
            print(Row(**json.loads(line)).line)
    calls = [
        Call(
            Prompt(messages=(Message("user", QUESTION.format(number=k)),)), Sampling(max_tokens=16)
        )
        for k in range(number)
    ]
    print(f"{'':>10} {resident():.0f} MB with all calls in memory, before the first is planned")
    ends = float("inf") if minutes is None else time.monotonic() + 60 * minutes
    with server() as url:
        # One address for all starts: it is a part of each call's key.
        model = ChatApi(ModelSpec(name="openai/toy", base_url=url))
        identity = {**model.identity(), "base_url": "loopback"}
        model.identity = lambda: identity
        meter = Meter(number, path, keep, ends)
        with Ledger.open(path) as ledger:
            runner = Runner(
                ledger,
                reuse=(),
                settings=RunnerSettings(concurrency=64, unknown="retry"),
                interrupts=meter.interrupts,
            )
            answers = await runner.ask(model, calls, meter)
        await model.close()
    return answers.asked + answers.reused


def wrong(path: Path, number: int) -> list[str]:
    """What is not as it must be once all is answered."""
    with closing(open_to_read(path)) as database:
        received, doubts = database.execute(
            "SELECT count(*), sum(doubts) FROM calls WHERE state = 'received'"
        ).fetchone()
        twice = database.execute(
            "SELECT count(*) FROM calls WHERE attempts > 1 + doubts"
        ).fetchone()[0]
    found = []
    if received != number:
        found.append(f"{number - received:,} calls have no answer")
    if twice:
        found.append(f"{twice:,} calls were asked again without having been unknown")
    size = path.stat().st_size / number
    print(f"{received:,} answered, {doubts:,} times unknown, {size:.0f} bytes of file each")
    return found


def main(arguments: Sequence[str]) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="A million calls through one ledger.")
    parser.add_argument("--calls", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, help="kept, so that it can go on")
    parser.add_argument("--minutes", type=float, help="stop then; it goes on where it stopped")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as passing:
        folder = options.folder or Path(passing)
        folder.mkdir(parents=True, exist_ok=True)
        answered = asyncio.run(measure(folder, options.calls, options.minutes))
        if options.json:
            lines = (folder / "rows.jsonl").read_text().splitlines()
            options.json.write_text(json.dumps([json.loads(one) for one in lines], indent=2) + "\n")
        if answered < options.calls:
            print(f"{answered:,} of {options.calls:,} calls are answered; start it again to go on")
            return 0
        found = wrong(folder / "run.sqlite", options.calls)
    for one in found:
        print(one)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
