"""Documents a CPU-second: askew's extraction beside plain spaCy, on the same texts in one run.

Plain spaCy is the packaged English pipeline with all its components, in batches. askew does the
same and its rules on top, so the ratio says what the rules cost. Loading, and reading the term
lists once, are not counted. Each way runs `--repeats` times, in turns, and the fastest counts:
other work on the machine only ever adds to a figure.

    python benchmarks/speed/extract.py                       # the texts of the tests
    python benchmarks/speed/extract.py --texts VIGNETTES.csv --column question
"""

from __future__ import annotations

import argparse
import csv
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from askew.graphs import extract_many
from askew.graphs.parsing import pipeline

OWN = Path(__file__).parents[2] / "tests" / "graphs" / "own_gold.jsonl"
RULES = ("ner", "patterns", "context", "full")
AIM = 0.5  # of plain spaCy's documents a CPU-second


def read_texts(path: Path, column: str) -> list[str]:
    """The texts of a CSV or JSON lines file."""
    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as file:
            return [row[column] for row in csv.DictReader(file)]
    return [json.loads(line)[column] for line in path.read_bytes().split(b"\n") if line.strip()]


def plain(texts: list[str]) -> Iterator[object]:
    """SpaCy alone."""
    yield from pipeline().pipe(texts, batch_size=64)


def cpu_seconds(run: Callable[[list[str]], Iterator[object]], texts: list[str]) -> float:
    """CPU-seconds that reading all texts takes."""
    began = time.process_time()
    read = sum(1 for _ in run(texts))
    assert read == len(texts)
    return time.process_time() - began


def main() -> int:
    """Measure and print; 1 where the full set falls short of the aim."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--texts", type=Path, default=OWN)
    arguments.add_argument("--column", default="text")
    arguments.add_argument("--repeats", type=int, default=3)
    chosen = arguments.parse_args()
    texts = read_texts(chosen.texts, chosen.column)
    ways: dict[str, Callable[[list[str]], Iterator[object]]] = {"plain spaCy": plain}
    for rules in RULES:
        ways[f"askew {rules}"] = lambda texts, rules=rules: extract_many(texts, rules)
    best = dict.fromkeys(ways, float("inf"))
    for way in ways.values():
        cpu_seconds(way, texts[:2])  # loads what is loaded once
    for _ in range(chosen.repeats):
        for name, way in ways.items():
            best[name] = min(best[name], cpu_seconds(way, texts))
    print(f"{len(texts)} texts, {sum(map(len, texts)) / len(texts):.0f} characters each")
    for name, seconds in best.items():
        share = best["plain spaCy"] / seconds
        print(f"{name:16} {len(texts) / seconds:7.1f} documents/CPU-second  {share:5.2f} of plain")
    return 0 if best["plain spaCy"] / best["askew full"] >= AIM else 1


if __name__ == "__main__":
    raise SystemExit(main())
