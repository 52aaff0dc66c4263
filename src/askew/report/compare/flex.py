"""FLEX's pairs of two runs, paired again with each other: the same item, attack, order, replicate.

SQLite joins the two files, so that a million pairs need no more memory than their outcomes do.
"""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from askew.models.ledgerfile import as_run_error
from askew.records import Outcome
from askew.report.compare.records import Left
from askew.runfolder import RunFolder

OUTCOMES = tuple(Outcome)
NEVER_HAD = 255  # in a column of outcomes: no reply was had
Codes = NDArray[np.uint8]
Whose = Literal["baseline", "other"]
RUNS: tuple[Whose, Whose] = ("baseline", "other")

# An item is the same where all but the place that it was read from is.
_SHARED = """
CREATE TEMP TABLE shared AS
SELECT a.id AS item_id, coalesce(json_extract(a.record, '$.bias_type'), '') AS bias_type,
    coalesce(json_extract(a.record, '$.source'), '') AS source
FROM baseline.items a JOIN other.items b ON a.id = b.id
WHERE json_remove(a.record, '$.provenance') = json_remove(b.record, '$.provenance')
ORDER BY a.id
"""
_PLAIN = """
CREATE TEMP TABLE plain_{run} (
    item_id TEXT, option_order TEXT, replicate INTEGER, place INTEGER, outcome TEXT,
    PRIMARY KEY (item_id, option_order, replicate)
) WITHOUT ROWID;
INSERT OR IGNORE INTO plain_{run}
SELECT q.item_id, q.option_order, q.replicate, q.place, s.outcome
FROM {run}.questions q LEFT JOIN {run}.scores s ON s.place = q.place
WHERE q.condition = 'source';
CREATE TEMP TABLE attacked_{run} (
    item_id TEXT, category TEXT, scenario TEXT, option_order TEXT, replicate INTEGER,
    place INTEGER, outcome TEXT,
    PRIMARY KEY (item_id, category, scenario, option_order, replicate)
) WITHOUT ROWID;
INSERT OR IGNORE INTO attacked_{run}
SELECT q.item_id, q.category, q.scenario, q.option_order, q.replicate, q.place, s.outcome
FROM {run}.questions q LEFT JOIN {run}.scores s ON s.place = q.place
WHERE q.scenario IS NOT NULL;
"""
_ATTACKED_JOIN = """
FROM shared JOIN attacked_baseline a ON a.item_id = shared.item_id
JOIN attacked_other b ON (b.item_id, b.category, b.scenario, b.option_order, b.replicate)
    = (a.item_id, a.category, a.scenario, a.option_order, a.replicate)
"""
PLAIN_JOIN = """
FROM shared JOIN plain_baseline a ON a.item_id = shared.item_id
JOIN plain_other b ON (b.item_id, b.option_order, b.replicate)
    = (a.item_id, a.option_order, a.replicate)
"""
_PAIRS = f"""
CREATE TEMP TABLE pairs AS
SELECT a.item_id, a.category, a.scenario, a.option_order, a.replicate, shared.bias_type,
    shared.source, a.place AS place_baseline, b.place AS place_other,
    a.outcome AS outcome_baseline, b.outcome AS outcome_other
{_ATTACKED_JOIN}
"""
_ROWS = """
SELECT p.item_id, p.category, p.bias_type, p.source, sa.outcome, p.outcome_baseline, sb.outcome,
    p.outcome_other
FROM pairs p
LEFT JOIN plain_baseline sa ON (sa.item_id, sa.option_order, sa.replicate)
    = (p.item_id, p.option_order, p.replicate)
LEFT JOIN plain_other sb ON (sb.item_id, sb.option_order, sb.replicate)
    = (p.item_id, p.option_order, p.replicate)
ORDER BY p.item_id
"""


@dataclass(frozen=True, slots=True)
class Paired:
    """The outcomes of the pairs that both runs have, one column a run and condition.

    Attributes:
        item: shape (pairs,), the number of the source item, 0 … items-1.
        items: how many source items there are.
        plain: shape (2, pairs), places in `OUTCOMES`, of the baseline and the other run.
        attacked: shape (2, pairs), the same under the attack.
        slices: kind of slice -> (names, shape (pairs,): the place in the names).
    """

    item: NDArray[np.int64]
    items: int
    plain: Codes
    attacked: Codes
    slices: dict[str, tuple[tuple[str, ...], NDArray[np.int64]]]

    def __len__(self) -> int:
        return len(self.item)


@contextmanager
def joined(baseline: RunFolder, other: RunFolder) -> Iterator[sqlite3.Connection]:
    """A database of its own in which the pairs of both runs stand; neither run is written to.

    Its tables: `shared` (items that are the same in both), `plain_…` and `attacked_…` of each run,
    and `pairs`.

    Raises:
        RunError: a run cannot be read.
    """
    # The empty name is a database on disk that goes away when it is closed.
    with closing(sqlite3.connect("", uri=True, isolation_level=None)) as database:
        for name, folder in zip(RUNS, (baseline, other), strict=True):
            with as_run_error(folder.database):
                database.execute("ATTACH ? AS " + name, (_address(folder.database),))
                database.executescript(_PLAIN.format(run=name))
        with as_run_error(other.database):
            database.execute(_SHARED)
            database.execute("CREATE UNIQUE INDEX temp.shared_ids ON shared (item_id)")
            database.execute(_PAIRS)
        yield database


def _address(path: Path) -> str:
    quiet = not path.with_name(path.name + "-wal").exists()
    return f"{path.resolve().as_uri()}?mode=ro{'&immutable=1' if quiet else ''}"


def paired(database: sqlite3.Connection) -> Paired:
    """The pairs that both runs have, as columns."""
    codes = {one.value: place for place, one in enumerate(OUTCOMES)}
    outcomes = [array("B") for _ in range(4)]
    items, number, last = array("q"), -1, None
    names: tuple[dict[str, int], ...] = ({}, {}, {})
    slices = [array("q") for _ in names]
    for item_id, *kinds, plain_a, attacked_a, plain_b, attacked_b in database.execute(_ROWS):
        if item_id != last:
            number, last = number + 1, item_id
        items.append(number)
        for known, column, kind in zip(names, slices, kinds, strict=True):
            column.append(known.setdefault(kind, len(known)))
        found = (plain_a, attacked_a, plain_b, attacked_b)
        for column, outcome in zip(outcomes, found, strict=True):
            column.append(codes.get(outcome, NEVER_HAD))
    columns = [np.frombuffer(column, dtype=np.uint8) for column in outcomes]
    return Paired(
        np.frombuffer(items, dtype=np.int64),
        number + 1,
        np.stack([columns[0], columns[2]]),
        np.stack([columns[1], columns[3]]),
        {
            kind: (tuple(known), np.frombuffer(column, dtype=np.int64))
            for kind, known, column in zip(
                ("category", "bias_type", "source"), names, slices, strict=True
            )
        },
    )


def left_over(database: sqlite3.Connection) -> tuple[Left, ...]:
    """The pairs that only one run has, and why."""
    found = []
    both: tuple[tuple[Whose, Whose], ...] = (("baseline", "other"), ("other", "baseline"))
    for run, rival in both:
        rows = database.execute(
            f"""
            SELECT CASE
                WHEN x.item_id NOT IN (SELECT id FROM {rival}.items) THEN 'item'
                WHEN x.item_id NOT IN (SELECT item_id FROM shared) THEN 'text'
                WHEN NOT EXISTS (SELECT 1 FROM attacked_{rival} y
                    WHERE (y.item_id, y.category, y.scenario)
                        = (x.item_id, x.category, x.scenario)) THEN 'scenario'
                ELSE 'order' END AS why, count(*)
            FROM attacked_{run} x
            WHERE x.place NOT IN (SELECT place_{run} FROM pairs)
            GROUP BY why ORDER BY why
            """
        )
        whose = "the other run" if rival == "other" else "the baseline"
        words = {
            "item": f"{whose} has no such item (other data, another limit, or another seed)",
            "text": f"the item of this id reads otherwise in {whose}",
            "scenario": f"{whose} asked the item under other attacks",
            "order": f"{whose} asked it in another option order, or fewer times",
        }
        found += [Left("pairs", int(count), run, words[why]) for why, count in rows]
    return tuple(found)
