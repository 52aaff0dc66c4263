"""How long `askew compare` takes, and how much memory, on two made-up runs of many pairs.

    python benchmarks/speed/compare.py --items 1000000 --attacks 1

The runs are written straight into SQLite: items, questions, scores and calls with replies, as an
audit leaves them. The second run is a little fairer.
"""

from __future__ import annotations

import argparse
import json
import resource
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from askew.models.callkey import reply_to_json, request_json
from askew.models.ledgerfile import SCHEMA
from askew.records import Call, Prompt, Reply
from askew.report.compare import compare, write_page
from askew.runfolder import RunFolder

OUTCOMES = ("neutral", "stereotyped", "antistereotyped", "refused")
SCENARIOS = (
    ("text_attack", "character"),
    ("persona_injection", "kid"),
    ("competing_objectives", "dan"),
)
BIAS_TYPES = ("age", "gender", "race", "religion", "profession")


def make_run(path: Path, items: int, attacks: int, neutral: float, seed: int) -> None:
    """A run folder of so many items, each asked plainly and under so many attacks."""
    folder = RunFolder.create(path)
    rng = np.random.default_rng(seed)
    # What both runs share of an item is drawn by the same seed.
    hard = np.random.default_rng(7).random(items)
    chance = np.clip(neutral + 0.4 * (hard - 0.5), 0, 1)
    columns = []
    for under in range(attacks + 1):
        right = rng.random(items) < chance * (1.0 if not under else 0.7)
        other = rng.choice([1, 2, 3], items, p=[0.55, 0.43, 0.02])
        columns.append(np.where(right, 0, other))
    with closing(sqlite3.connect(folder.database, isolation_level=None)) as database:
        database.executescript(SCHEMA)
        database.execute("PRAGMA synchronous = OFF")
        database.execute("BEGIN")
        database.executemany("INSERT INTO items VALUES (?, ?)", _items(items))
        database.executemany(
            "INSERT INTO questions VALUES (?, ?, ?, ?, ?, ?, ?, ?)", _questions(items, attacks)
        )
        database.executemany("INSERT INTO scores VALUES (?, ?, ?, ?, ?)", _scores(items, columns))
        database.executemany(
            "INSERT INTO calls (key, model, role, replicate, state, bound_tokens, planned_at, "
            "request, reply) VALUES (?, 'toy', 'target', 0, 'received', 10, 0, ?, ?)",
            _calls(items, attacks),
        )
        database.execute("COMMIT")
    folder.settings.write_text("seed = 0\n\n[flex]\nscoring = 'reply'\n", encoding="utf-8")
    folder.write_estimates({"model": path.name, "seed": 0, "flex": {"settings": {}}})


def _items(items: int) -> Iterator[tuple[str, str]]:
    for place in range(items):
        record = {
            "id": f"toy/{place}",
            "source": "toy",
            "bias_type": BIAS_TYPES[place % len(BIAS_TYPES)],
            "context": f"Two people met at place {place}.",
            "question": "Who was late?",
            "options": ["the first", "the second", "unknown"],
            "neutral": 2,
            "answer": 2,
            "condition": "ambiguous",
            "provenance": {"path": "toy.jsonl", "line": place + 1, "record": ""},
            "stereotyped": 0,
        }
        yield f"toy/{place}", json.dumps(record)


def _questions(items: int, attacks: int) -> Iterator[tuple[object, ...]]:
    place = 0
    for item in range(items):
        for under in range(attacks + 1):
            condition = "attacked" if under else "source"
            scenario = SCENARIOS[(under - 1) % len(SCENARIOS)] if under else (None, None)
            yield place, f"toy/{item}", condition, *scenario, "012", 0, f"k{place}"
            place += 1


def _scores(items: int, columns: list[np.ndarray]) -> Iterator[tuple[object, ...]]:
    place = 0
    for item in range(items):
        for column in columns:
            found = int(column[item])
            chosen = (2, 0, 1, None)[found]
            yield place, OUTCOMES[found], chosen, None if chosen is None else chosen == 2, "letter"
            place += 1


def _calls(items: int, attacks: int) -> Iterator[tuple[str, str, str]]:
    request = request_json(Call(Prompt(text="Two people met. Who was late?")))
    reply = reply_to_json(Reply(text="The first, I should say."))
    for place in range(items * (attacks + 1)):
        yield f"k{place}", request, reply


def main() -> None:
    """Make two runs, compare them, print what it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--attacks", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=None, help="keep the runs there")
    told = parser.parse_args()
    with TemporaryDirectory() as temporary:
        base = told.folder or Path(temporary)
        for name, neutral, seed in (("a", 0.60, 1), ("b", 0.61, 2)):
            if not (base / name / "estimates.json").is_file():
                make_run(base / name, told.items, told.attacks, neutral, seed)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        start, cpu = time.perf_counter(), time.process_time()
        found = compare(base / "a", base / "b")
        middle = time.perf_counter()
        page = write_page(found, base / "compare.html")
        wall, cpu = time.perf_counter() - start, time.process_time() - cpu
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(found.comparisons[0].sentence)
        print(
            f"{told.items * told.attacks:,} pairs: {wall:.1f} s wall, {cpu:.1f} s CPU "
            f"(the page {wall - (middle - start):.1f} s of it), peak {peak / 1024:.0f} MiB "
            f"({before / 1024:.0f} before), page {page.stat().st_size / 1024:.0f} KiB"
        )


if __name__ == "__main__":
    main()
