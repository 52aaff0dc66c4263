"""Soak: faults injected into real runs at random moments, and what became of their answers.

    python benchmarks/soak/soak.py [--folder build/soak] [--minutes 40] [--kills 200] [--seed 0]
                                     [--only TEXT] [--json FILE]

Goes round all scenarios until so many processes were killed and each scenario had its turn, or
the time is over. What it has done is kept in the folder, and the same command goes on from there.
Prints for each fault how often it was injected and how often a promise was broken; ends with 1 if
one was.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import time
import traceback
from collections.abc import Iterable
from dataclasses import asdict, fields
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))  # for benchmarks and tests

from benchmarks.soak.scenarios import SCENARIOS, places
from tests.faults.killed import Tally

from askew.durable import write_whole

_NUMBERS = [one.name for one in fields(Tally) if one.type == "int"]


class Counts:
    """What all rounds have come to, kept in a file."""

    def __init__(self, file: Path) -> None:
        self._file = file
        kept = json.loads(file.read_text("utf-8")) if file.is_file() else {}
        self.rounds: dict[str, int] = kept.get("rounds", {})
        self.faults: dict[str, Tally] = {
            name: Tally(**one) for name, one in kept.get("faults", {}).items()
        }

    def add(self, scenario: str, found: Tally) -> None:
        """Count a round, and write it down."""
        self.rounds[scenario] = self.rounds.get(scenario, 0) + 1
        there = self.faults.setdefault(found.fault, Tally(found.fault))
        for name in _NUMBERS:
            setattr(there, name, getattr(there, name) + getattr(found, name))
        there.notes += found.notes
        write_whole(self._file, json.dumps(self.as_json(), indent=2) + "\n")

    def as_json(self) -> dict[str, object]:
        """Everything, for a file."""
        return {
            "rounds": self.rounds,
            "kills": self.kills,
            "injected": sum(one.injected for one in self.faults.values()),
            "faults": {name: asdict(one) for name, one in sorted(self.faults.items())},
        }

    @property
    def kills(self) -> int:
        """Processes ended by `kill -9`."""
        return sum(one.injected for one in self.faults.values() if "kill" in one.fault)

    @property
    def kept(self) -> bool:
        """Whether no promise was broken."""
        return all(one.kept for one in self.faults.values())

    def lines(self) -> Iterable[str]:
        """The table, for a terminal."""
        heads = ("injected", "lost", "twice", "wrong", "doubts", "repeats")
        yield f"{'fault':40}" + "".join(f"{head:>10}" for head in heads)
        for name, one in sorted(self.faults.items()):
            yield f"{name:40}" + "".join(f"{getattr(one, head):>10,}" for head in heads)
            for note in dict.fromkeys(one.notes):
                yield f"    {note}"


def soak(folder: Path, minutes: float, kills: int, seed: int, only: str) -> Counts:
    """Go round the scenarios; see the module."""
    folder.mkdir(parents=True, exist_ok=True)
    counts = Counts(folder / "counts.json")
    ends = time.monotonic() + 60 * minutes
    wanted = {name: one for name, one in SCENARIOS.items() if only in name}
    with places(folder / "alone.json") as place:
        while time.monotonic() < ends:
            name = min(wanted, key=lambda one: counts.rounds.get(one, 0))
            number = counts.rounds.get(name, 0)
            if number and counts.kills >= kills:
                break
            began = time.monotonic()
            where = folder / "work" / f"{name.replace(' ', '-')}-{number}"
            shutil.rmtree(where, ignore_errors=True)
            rng = random.Random(f"{seed} {name} {number}")
            try:
                found = wanted[name](place(where, rng))
            except Exception:
                found = Tally(name)
                found.broken(f"the round fell over: {traceback.format_exc()[-1500:]}")
            if found.kept:
                shutil.rmtree(where, ignore_errors=True)
            counts.add(name, found)
            print(
                f"{name:24} round {number + 1:3}  {found.injected:4} injected  "
                f"{'kept' if found.kept else 'BROKEN'}  {time.monotonic() - began:6.1f} s  "
                f"({counts.kills} kills in all)",
                flush=True,
            )
    return counts


def main(arguments: list[str]) -> int:
    """Soak, print, and say by the exit code whether every promise was kept."""
    parser = argparse.ArgumentParser(description="Inject faults into real runs.")
    parser.add_argument("--folder", type=Path, default=Path("build/soak"))
    parser.add_argument("--minutes", type=float, default=38.0)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="scenarios whose names hold this text")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    counts = soak(
        options.folder.resolve(), options.minutes, options.kills, options.seed, options.only
    )
    for line in counts.lines():
        print(line)
    print(f"{counts.kills} processes killed")
    if options.json:
        write_whole(options.json, json.dumps(counts.as_json(), indent=2) + "\n")
    return 0 if counts.kept else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
