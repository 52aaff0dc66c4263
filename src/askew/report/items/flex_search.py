"""The FLEX pairs in which some words stand, found in the ledger without reading it into memory."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import pairwise

import numpy as np

from askew.models.ledgerfile import as_run_error, is_ledger, open_to_read
from askew.records import Outcome
from askew.report.items import ReportItem
from askew.report.items.flex_columns import ORDERS
from askew.report.items.flex_index import MISSING, FlexPairs
from askew.report.items.flex_words import PLAIN_TITLE, attack_title, outcome_words, why
from askew.report.items.index import FacetColumn, Flags, Rows, holding, id_part
from askew.runfolder import RunFolder

WORKERS = 2  # threads: SQLite searches without Python's lock
_Items = Callable[[Sequence[int]], Iterator[ReportItem]]
# What stands in every request beside its texts. No text holds one of these: its quotes are escaped.
_NAMES = (
    *(f'"role":"{role}"' for role in ("system", "user", "assistant", "target")),
    *(f'"{name}":' for name in ("choices", "content", "messages", "replicate", "role", "sampling")),
    *(f'"{name}":' for name in ("max_tokens", "seed", "stop", "temperature", "top_p", "text")),
)
_SIGNS = frozenset("{}[]:,.-+0123456789")  # and so do these, and null


def pairs_saying(
    folder: RunFolder, pairs: FlexPairs, words: Sequence[str], items: _Items, *, wrong: bool
) -> Flags:
    """Shape (pairs,): those in whose texts or id every one of the words stands, in any case.

    Letters beyond ASCII are found in lower case, in upper case and as a capital before lower case.

    Args:
        folder: the run.
        pairs: of the run.
        words: without blanks.
        items: makes the pairs of some rows with their texts.
        wrong: whether the run counts replies without an answer as wrong.
    """
    found = np.ones(len(pairs.index), np.bool_)
    # What the ledger lacks is shown in other words, which are few or the ledger is gone.
    unsent = np.flatnonzero((pairs.attacked_call < 0) | (pairs.source_call < 0))
    with closing(open_to_read(folder.database)) as database, as_run_error(folder.database):
        last = _last_call(database) if is_ledger(folder.database) else 0
    for word in dict.fromkeys(words):
        said = np.zeros(last + 2, np.bool_)  # by the call's number; the last for none
        said[_calls_saying(folder, word, last)] = True
        held = (
            said[pairs.attacked_call] | said[pairs.source_call] | _around(pairs, word, wrong=wrong)
        )
        held[unsent] |= holding(items(unsent.tolist()), len(unsent), [word])
        found &= held
    return found


def _last_call(database: sqlite3.Connection) -> int:
    last: int | None = database.execute("SELECT max(id) FROM calls").fetchone()[0]
    return last or 0


def _calls_saying(folder: RunFolder, word: str, last: int) -> Rows:
    """The numbers of the calls in whose prompt or reply a word stands."""
    if not last:
        return np.empty(0, np.int64)
    ends = np.linspace(0, last, WORKERS + 1).astype(int).tolist()
    with ThreadPoolExecutor(WORKERS) as pool:
        parts = pool.map(lambda part: _part_saying(folder, word, *part), pairwise(ends))
        return np.array([number for part in parts for number in part], np.int64)


def _part_saying(folder: RunFolder, word: str, after: int, upto: int) -> list[int]:
    with closing(open_to_read(folder.database)) as database, as_run_error(folder.database):
        found = database.execute(*_statement(word, after, upto))
        return [number for (number,) in found]


def _statement(word: str, after: int, upto: int) -> tuple[str, dict[str, object]]:
    """What finds the calls of a stretch of the ledger, which SQLite then reads once."""
    cases = list(dict.fromkeys((word, word.lower(), word.upper(), word.capitalize())))
    if word.isascii():
        cases = cases[:1]  # SQLite takes no notice of the case of ASCII
    values: dict[str, object] = {"after": after, "upto": upto}
    for place, one in enumerate(cases):
        values[f"plain{place}"] = _pattern(one)
        values[f"raw{place}"] = _pattern(json.dumps(one, ensure_ascii=False)[1:-1])

    def said(text: str, kind: str = "plain") -> str:
        tests = (f"{text} LIKE :{kind}{place} ESCAPE '!'" for place in range(len(cases)))
        return f"({' OR '.join(tests)})"

    stripped = "request"
    for name in _NAMES:
        if word.lower() in name:
            stripped = f"replace({stripped}, '{name}', '')"
    request, reply = said(stripped, "raw"), said("reply", "raw")
    if word.lower() in "null" or _SIGNS.issuperset(word):
        message, choice = said("json_extract(value, '$.content')"), said("value")
        request += (
            f" AND ({said(_at('request', 'text'))}"
            f" OR EXISTS (SELECT 1 FROM json_each(request, '$.messages') WHERE {message})"
            f" OR EXISTS (SELECT 1 FROM json_each(request, '$.choices') WHERE {choice}))"
        )
    parts = " OR ".join(said(_at("reply", name)) for name in ("text", "reasoning", "error"))
    return (
        f"SELECT id FROM calls WHERE id > :after AND id <= :upto "
        f"AND (({request}) OR ({reply} AND ({parts})))",
        values,
    )


def _at(column: str, name: str) -> str:
    return f"json_extract({column}, '$.{name}')"


def _pattern(word: str) -> str:
    escaped = word.replace("!", "!!").replace("%", "!%").replace("_", "!_")
    return f"%{escaped}%"


def _around(pairs: FlexPairs, word: str, *, wrong: bool) -> Flags:
    """The pairs that say a word in their id, or in what the report says of them itself."""
    wanted = word.lower()
    held = _in_ids(pairs, wanted)
    titles = [attack_title(*scenario).lower() for scenario in pairs.scenarios]
    held |= np.array([wanted in title for title in titles], np.bool_)[pairs.scenario]
    if wanted in PLAIN_TITLE.lower():
        held[:] = True
    before, after, unchanged = (
        pairs.index.column(name) for name in ("outcome_source", "outcome_attacked", "unchanged")
    )
    columns = np.stack([one.codes for one in (before, after, unchanged)])
    for kind in np.unique(columns, axis=1).T.tolist():
        outcomes = [_outcome(one, code) for one, code in zip((before, after), kind, strict=False)]
        same = kind[2] >= 0 and unchanged.facet.values[kind[2]] == "yes"
        said = [*map(outcome_words, outcomes), why(*outcomes, wrong=wrong, unchanged=same)]
        if any(wanted in one.lower() for one in said):
            held |= (columns == np.array(kind)[:, None]).all(axis=0)
    return held


def _outcome(column: FacetColumn, code: int) -> Outcome | None:
    name = column.facet.values[code]
    return None if name == MISSING else Outcome(name)


def _in_ids(pairs: FlexPairs, wanted: str) -> Flags:
    if "/" in wanted:
        rows = range(len(pairs.index))
        return np.fromiter(
            (wanted in pairs.ident(row).lower() for row in rows), np.bool_, len(rows)
        )
    held = np.fromiter((wanted in ident.lower() for ident in pairs.ids), np.bool_, len(pairs.ids))
    scenarios = [f"{category}/{id_part(name)}".lower() for category, name in pairs.scenarios]
    of_scenario = np.array([wanted in one for one in scenarios], np.bool_)
    of_order = np.array([wanted in one for one in ORDERS], np.bool_)
    repeats = range(1 + int(pairs.replicate.max(initial=0)))
    of_replicate = np.array([wanted in str(one) for one in repeats], np.bool_)
    found: Flags = (
        held[pairs.item]
        | of_scenario[pairs.scenario]
        | of_order[pairs.order]
        | of_replicate[pairs.replicate]
    )
    return found
