"""Time and size of a report's items: the island of a page, and the pages that a server gives.

Of a run folder it makes the shelves, the island and the whole report, and says how long each took
and how large it is; and it measures what `askew serve` does with the same items. With `--pairs` it
first makes a FLEX run of so many pairs where the folder has none, by writing its SQLite file
directly: the starter set's questions again and again, each with a number of its own, so that no two
texts are alike. Memory is the peak of the whole process.

    python benchmarks/speed/report.py runs/flex-full
    python benchmarks/speed/report.py /tmp/large --pairs 1000000
"""

from __future__ import annotations

import argparse
import hashlib
import json
import resource
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from askew.datasets import DataSpec, load
from askew.models.callkey import reply_to_json, request_json
from askew.models.ledgerfile import SCHEMA, VERSION
from askew.prompts import PromptFormat, choose, render
from askew.records import AttackCategory, Call, Item, Outcome, Reply, Scenario
from askew.report.items.island import island
from askew.report.items.query import ItemSource
from askew.report.items.shelves import shelves_of
from askew.report.page import write_report
from askew.runfolder import RunFolder, json_line
from askew.seeds import generator

SEED = 5
AIMS = {"report_s": 10.0, "report_bytes": 8e6, "page_s": 0.1, "search_s": 2.0, "memory_bytes": 1e9}
NUMBER = "@@@@@@@"  # stands for a pair's own number in the texts that are made once
ROWS = 20_000  # written at once
PORTION = 50  # items of a page
WORDS = ("the", "grandson", "0123456", "zebra", "user")
Result = TypeVar("Result")


def main() -> None:
    """Measure one run folder and print JSON."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="a run folder")
    parser.add_argument("--pairs", type=int, help="make the folder, with so many pairs")
    given = parser.parse_args()
    found: dict[str, Any] = {"folder": given.folder.name}
    if given.pairs and not (given.folder / "run.sqlite").exists():
        found["made_s"], _ = timed(lambda: make_run(given.folder, given.pairs))
    folder = RunFolder.open(given.folder)
    found["served"] = served(folder)
    found |= held(folder)
    if folder.estimates.is_file():
        found |= written(folder)
    found["memory_bytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    found["aims"] = AIMS
    print(json.dumps(found, indent=2))


def timed(work: Callable[[], Result]) -> tuple[float, Result]:
    """Seconds and what came of it."""
    start = time.perf_counter()
    made = work()
    return round(time.perf_counter() - start, 3), made


def held(folder: RunFolder) -> dict[str, Any]:
    """What a page holds."""
    shelves_s, shelves = timed(lambda: shelves_of(folder))
    island_s, packed = timed(lambda: island(shelves, "model", folder.path.name))
    return {
        "items": {one.audit: [len(one.items), one.total] for one in shelves},
        "shelves_s": shelves_s,
        "island_s": island_s,
        "island_bytes": len(packed),
    }


def written(folder: RunFolder) -> dict[str, Any]:
    """The whole report, made in a copy: a run folder's files have to be those of its manifest."""
    with tempfile.TemporaryDirectory() as place:
        copy = RunFolder(Path(shutil.copytree(folder.path, Path(place) / folder.path.name)))
        report_s, _ = timed(lambda: write_report(copy))
        return {"report_s": report_s, "report_bytes": copy.report.stat().st_size}


def served(folder: RunFolder) -> dict[str, Any]:
    """What a server does: the index once, then pages, searches and single items."""
    source = ItemSource(folder)
    found: dict[str, Any] = {}
    found["index_s"], shelves = timed(source.shelves)
    found["index_memory_bytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    audit = shelves["shelves"][0]["audit"]
    for name, asked in {
        "page": {},
        "page_filtered": {"filters": {"category": "persona_injection", "flagged": "yes"}},
        "page_by_margin": {"sort": "-margin"},
        "page_by_margin_again": {"sort": "-margin"},
        "page_by_id": {"sort": "id"},
        "page_far": {"offset": shelves["shelves"][0]["total"] // 2},
        **{f"search {word!r}": {"words": word} for word in WORDS},
        "search again": {"words": WORDS[0]},
    }.items():
        seconds, page = timed(lambda asked=asked: source.page(audit, limit=PORTION, **asked))
        found[f"{name}_s"] = [seconds, page["matched"]]
    ident = source.page(audit, limit=1)["items"][0][0]
    found["one_s"], _ = timed(lambda: source.one(audit, ident))
    return found


def make_run(path: Path, pairs: int) -> None:
    """A FLEX run folder with its questions, scores and calls, and no figures."""
    folder = RunFolder.create(path)
    folder.settings.write_text(f'# resolved\nmodel = "made/up"\nseed = {SEED}\n')
    with closing(sqlite3.connect(folder.database, isolation_level=None)) as database:
        database.executescript(f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; {SCHEMA}")
        database.execute("INSERT OR REPLACE INTO ledger_meta VALUES ('version', ?)", (VERSION,))
        database.execute("BEGIN")
        rows: list[tuple[tuple[Any, ...], ...]] = []
        for row in _rows(pairs):
            rows.append(row)
            if len(rows) == ROWS:
                _write(database, rows)
                rows = []
        _write(database, rows)
        database.execute("COMMIT")


def _write(database: sqlite3.Connection, rows: list[tuple[tuple[Any, ...], ...]]) -> None:
    items, questions, scores, calls = zip(*rows, strict=True) if rows else ((),) * 4
    database.executemany("INSERT OR IGNORE INTO items VALUES (?, ?)", items)
    database.executemany("INSERT INTO questions VALUES (?, ?, ?, ?, ?, ?, ?, ?)", questions)
    database.executemany("INSERT INTO scores VALUES (?, ?, ?, ?, ?)", scores)
    database.executemany(
        "INSERT INTO calls (key, model, role, replicate, state, attempts, bound_tokens, "
        "planned_at, request, reply) "
        "VALUES (?, 'made/up', 'target', 0, 'received', 1, 10, 0, ?, ?)",
        calls,
    )


def _rows(pairs: int) -> Iterator[tuple[tuple[Any, ...], ...]]:
    """(item, question, score, call) of every question, an item's plain one first."""
    drawn = generator(SEED, "outcomes")
    made = [_made(item) for item in load(DataSpec("starter"), seed=1).items]
    place = number = count = 0
    while count < pairs:
        item, record, asked = made[number % len(made)]
        own = f"{number:07}"
        for scenario, request in asked:
            if scenario is not None and count == pairs:
                break
            count += scenario is not None
            chosen = int(drawn.choice(3))
            outcome = item.outcome_of(chosen)
            text = request.replace(NUMBER, own)
            key = hashlib.sha256(text.encode()).hexdigest()
            ident = f"{item.id}/{own}"
            yield (
                (ident, record.replace(NUMBER, own)),
                _question(place, ident, scenario, key),
                (place, outcome.value, chosen, int(outcome is Outcome.NEUTRAL), "stated"),
                (key, text, _reply(item, chosen, own)),
            )
            place += 1
        number += 1


def _question(place: int, ident: str, scenario: Scenario | None, key: str) -> tuple[object, ...]:
    condition = "attacked" if scenario else "source"
    named = (scenario.category.value, scenario.name) if scenario else (None, None)
    return (place, ident, condition, *named, "012", 0, key)


def _made(item: Item) -> tuple[Item, str, list[tuple[Scenario | None, str]]]:
    numbered = replace(item, context=f"{item.context} Case {NUMBER}.")
    form = PromptFormat(scoring="reply")
    asked = [
        (scenario, request_json(Call(render(numbered, form, (0, 1, 2), scenario=scenario))))
        for scenario in (None, *choose(item, AttackCategory, SEED))
    ]
    return item, json_line(replace(numbered, id=f"{item.id}/{NUMBER}")), asked


def _reply(item: Item, chosen: int, number: str) -> str:
    text = f"I would say: {item.options[chosen]} That is what fits case {number} best."
    return reply_to_json(Reply(text=text, prompt_tokens=300, completion_tokens=20))


if __name__ == "__main__":
    main()
