"""The texts of some pairs of a FLEX run: the item, both questions, and their calls as recorded."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

from askew.models.ledgerfile import CallRecord, as_run_error, chunks, marks, open_to_read
from askew.records import Item, Outcome
from askew.report.items.flex_index import FlexPairs
from askew.report.items.texts import calls_of
from askew.runfolder import RunFolder, item_from_json

PORTION = 250  # pairs whose texts are in memory at once


@dataclass(frozen=True, slots=True)
class Asked:
    """One question: what it came to, and its call.

    Attributes:
        outcome: None where no reply was had.
        chosen: index into the item's options; None = no answer.
        rule: how the reply was read; "" where there is none.
        record: the call; None where the ledger lacks it.
    """

    outcome: Outcome | None
    chosen: int | None
    rule: str
    record: CallRecord | None


@dataclass(frozen=True, slots=True)
class PairTexts:
    """One pair.

    Attributes:
        row: in the run's pairs.
        item: that both questions are about.
        plain: None where it was not planned.
        attacked: the question under attack.
    """

    row: int
    item: Item
    plain: Asked | None
    attacked: Asked


def pair_texts(folder: RunFolder, pairs: FlexPairs, rows: Sequence[int]) -> Iterator[PairTexts]:
    """The pairs of some rows, in this order, portion by portion.

    Raises:
        RunError: the run cannot be read.
    """
    for start in range(0, len(rows), PORTION):
        portion = rows[start : start + PORTION]
        places = [int(column[row]) for row in portion for column in (pairs.attacked, pairs.source)]
        asked = _asked(folder, [place for place in places if place >= 0])
        items = _items(folder, {pairs.ids[pairs.item[row]] for row in portion})
        for row in portion:
            yield PairTexts(
                row,
                items[pairs.ids[pairs.item[row]]],
                asked.get(int(pairs.source[row])),
                asked[int(pairs.attacked[row])],
            )


def _asked(folder: RunFolder, places: Sequence[int]) -> dict[int, Asked]:
    """The questions at these places."""
    with closing(open_to_read(folder.database)) as database, as_run_error(folder.database):
        rows = [
            row
            for chunk in chunks([str(place) for place in places])
            for row in database.execute(
                f"{_QUESTIONS} WHERE q.place IN ({marks(chunk)})", tuple(map(int, chunk))
            )
        ]
    calls = calls_of(folder, [key for _, key, *_ in rows])
    return {
        place: Asked(Outcome(outcome) if outcome else None, chosen, rule or "", calls.get(key))
        for place, key, outcome, chosen, rule in rows
    }


def _items(folder: RunFolder, idents: set[str]) -> dict[str, Item]:
    with closing(open_to_read(folder.database)) as database, as_run_error(folder.database):
        return {
            ident: item_from_json(json.loads(record))
            for chunk in chunks(sorted(idents))
            for ident, record in database.execute(
                f"SELECT id, record FROM items WHERE id IN ({marks(chunk)})", tuple(chunk)
            )
        }


_QUESTIONS = """
SELECT q.place, q.call_key, s.outcome, s.chosen, s.rule
FROM questions AS q LEFT JOIN scores AS s ON s.place = q.place
"""
