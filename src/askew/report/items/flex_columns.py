"""The columns of a FLEX run's tables, read once: items, questions with their scores, and calls.

One pass over each table, so that a million pairs take seconds; texts are looked at and not kept.
"""

from __future__ import annotations

import json
import math
import sqlite3
from array import array
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, field, fields
from itertools import repeat
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from askew.errors import RunError
from askew.models.ledgerfile import as_run_error, is_ledger, open_to_read
from askew.records import Outcome
from askew.report.items.index import Flags, Rows
from askew.runfolder import RunFolder

OUTCOMES = tuple(Outcome)
OPTIONS = 3
# In every order, as the run folder writes it.
ORDERS = ("012", "021", "102", "120", "201", "210")
_OUTCOME_CODES = {outcome.value: code for code, outcome in enumerate(OUTCOMES)}
_ORDER_CODES = {order: code for code, order in enumerate(ORDERS)}
_PORTION = 20_000  # rows of a table that are in memory as Python's objects at once


class _Names:
    """Names in the order in which they came, each with a number."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._places: dict[str, int] = {}

    def place(self, name: str) -> int:
        found = self._places.setdefault(name, len(self.names))
        if found == len(self.names):
            self.names.append(name)
        return found


@dataclass(slots=True)
class Items:
    """Columns of the items, in the order of their ids."""

    ids: list[str] = field(default_factory=list)
    neutral: array[int] = field(default_factory=lambda: array("b"))
    source: array[int] = field(default_factory=lambda: array("i"))
    bias_type: array[int] = field(default_factory=lambda: array("i"))
    sources: _Names = field(default_factory=_Names)
    bias_types: _Names = field(default_factory=_Names)
    # The items whose question a text attack, by its name, leaves as it was.
    unchanged: dict[str, list[int]] = field(default_factory=dict)


@dataclass(slots=True)
class _Calls:
    """What the ledger tells.

    Attributes:
        numbers: of the calls, by key.
        preferences: see `Columns`.
    """

    numbers: dict[str, int] = field(default_factory=dict)
    preferences: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, OPTIONS)))


@dataclass(frozen=True, slots=True)
class Questions:
    """Columns of questions; -1 where there is no scenario, outcome, choice or call."""

    place: Rows
    item: Rows
    scenario: Rows
    order: Rows
    replicate: Rows
    outcome: Rows
    chosen: Rows
    call: Rows

    def where(self, kept: Flags) -> Questions:
        """Some of the questions."""
        return Questions(*(getattr(self, one.name)[kept] for one in fields(self)))


class _Scenarios(dict[tuple[str | None, str | None], int]):
    """The number of each (category, name); -1 where there is no category."""

    def __init__(self) -> None:
        self.named: list[tuple[str, str]] = []

    def __missing__(self, scenario: tuple[str | None, str | None]) -> int:
        category, name = scenario
        if category:
            self[scenario] = len(self.named)
            self.named.append((category, name or ""))
        else:
            self[scenario] = -1
        return self[scenario]


class Columns(NamedTuple):
    """What the tables hold.

    Attributes:
        items: in the order of their ids.
        questions: in the order of planning.
        scenarios: (category, name), by the number that questions name them with.
        preferences: shape (calls + 1, options): by a call's number, how likely each option was, in
            the order shown; NaN where likelihoods do not tell. No rows where no call has any.
    """

    items: Items
    questions: Questions
    scenarios: list[tuple[str, str]]
    preferences: NDArray[np.float64]


def read_columns(folder: RunFolder) -> Columns:
    """The columns of a run's tables.

    Raises:
        RunError: they cannot be read, or hold what askew does not write.
    """
    try:
        with (
            as_run_error(folder.database),
            closing(open_to_read(folder.database)) as database,
        ):
            items = _read_items(database)
            calls = _read_calls(database) if is_ledger(folder.database) else _Calls()
            questions, scenarios = _read_questions(database, items, calls)
    except (AttributeError, LookupError, OverflowError, TypeError, ValueError) as trouble:
        raise RunError(
            f"{folder.database} is damaged: its items and questions have not the form that askew "
            f"writes ({trouble!r}). Take the file from a copy of the run."
        ) from trouble
    return Columns(items, questions, scenarios, calls.preferences)


def _read_items(database: sqlite3.Connection) -> Items:
    items = Items()
    for ident, text in database.execute("SELECT id, record FROM items ORDER BY id"):
        record = json.loads(text)
        row = len(items.ids)
        items.ids.append(ident)
        if record["neutral"] not in range(OPTIONS):
            raise ValueError(f"item {ident!r} has no neutral option {record['neutral']!r}")
        items.neutral.append(record["neutral"])
        items.source.append(items.sources.place(record["source"]))
        items.bias_type.append(items.bias_types.place(record["bias_type"]))
        own = record["question"].split()
        for kind, question in record.get("text_attacks", {}).items():
            if question.split() == own:
                items.unchanged.setdefault(kind, []).append(row)
    return items


def _read_questions(
    database: sqlite3.Connection, items: Items, calls: _Calls
) -> tuple[Questions, list[tuple[str, str]]]:
    """The questions in their order, and the scenarios that they name by number."""
    places = {ident: place for place, ident in enumerate(items.ids)}
    scenarios = _Scenarios()
    parts: list[list[Rows]] = []
    found = database.execute(_QUESTIONS)
    while rows := found.fetchmany(_PORTION):
        place, ident, category, name, order, replicate, outcome, chosen, key = zip(
            *rows, strict=True
        )
        columns: tuple[Iterable[int], ...] = (
            place,
            map(places.__getitem__, ident),
            map(scenarios.__getitem__, zip(category, name, strict=True)),
            map(_ORDER_CODES.__getitem__, order),
            replicate,
            map(_OUTCOME_CODES.get, outcome, repeat(-1)),
            chosen,
            map(calls.numbers.get, key, repeat(-1)),
        )
        if not set(chosen) <= set(range(-1, OPTIONS)):
            raise ValueError("a score names an option that no question has")
        parts.append([np.fromiter(one, np.int64, len(rows)) for one in columns])
    none = [np.empty(0, np.int64)] * len(fields(Questions))
    return Questions(*map(np.concatenate, zip(none, *parts, strict=True))), scenarios.named


def _read_calls(database: sqlite3.Connection) -> _Calls:
    """The calls of a ledger in their order: to look each key up in its index takes far longer."""
    calls = _Calls()
    found = database.execute(_CALLS)
    while rows := found.fetchmany(_PORTION):
        calls.numbers.update((key, call) for call, key, _ in rows)
        told = [(call, json.loads(text)["log_probabilities"]) for call, _, text in rows if text]
        told = [(call, one) for call, one in told if len(one) == OPTIONS]
        if told and not len(calls.preferences):
            (last,) = database.execute("SELECT max(id) FROM calls").fetchone()
            calls.preferences = np.full((last + 1, OPTIONS), math.nan)
        for call, one in told:
            # A ledger has null for NaN and "-inf" for what cannot be said at all.
            calls.preferences[call] = [math.nan if end is None else float(end) for end in one]
    return calls


_QUESTIONS = """
SELECT q.place, q.item_id, q.category, q.scenario, q.option_order, q.replicate,
    s.outcome, ifnull(s.chosen, -1), q.call_key
FROM questions AS q LEFT JOIN scores AS s ON s.place = q.place
WHERE q.condition IN ('source', 'attacked') ORDER BY q.place
"""
_CALLS = """
SELECT id, key, CASE WHEN instr(reply, '"log_probabilities"') THEN reply END FROM calls ORDER BY id
"""
