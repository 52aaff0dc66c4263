"""The items of a served run as JSON: shelves, a page of items, one item."""

from __future__ import annotations

import re
from collections.abc import Mapping

from askew.errors import RunError
from askew.report.items.island import json_bytes
from askew.report.items.query import ItemSource
from askew.runfolder import RunFolder
from askew.serve.query import BadQuery
from askew.serve.runs import Memory

_NUMBER = re.compile(r"[0-9]{1,9}")
_PAGE = ("audit", "offset", "limit", "sort", "q")  # every other name is a facet's
MOST_WORDS = 500  # characters of a search


class NoSuchItem(RunError):
    """The run has no such item, or there is nothing of that name to ask for."""


def answer(folder: RunFolder, what: str, query: Mapping[str, str], memory: Memory) -> bytes:
    """What `GET api/RUN/what?query` gives; the form is that of a report's island.

    Args:
        folder: the run.
        what: "shelves", "items" or "item".
        query: see `item_query.ItemSource`.
        memory: where the run's index is kept until its files change.

    Raises:
        BadQuery, ConfigError: the query cannot be answered.
        NoSuchItem: there is no such item.
        RunError: the run cannot be read.
    """
    if what not in ("shelves", "items", "item"):
        raise NoSuchItem(f"{what[:40]!r} is nothing to ask for. Known: shelves, items, item.")
    source = source_of(folder, memory)
    if what == "shelves":
        _only(query, ())
        return json_bytes(source.shelves())
    if what == "item":
        _only(query, ("audit", "id"))
        found = source.one(_named(query, "audit"), _named(query, "id"))
        if found is None:
            raise NoSuchItem("the run has no item of this id.")
        return json_bytes(found)
    words = query.get("q", "")
    if len(words) > MOST_WORDS:
        raise BadQuery(f"q is longer than {MOST_WORDS} characters.")
    page = source.page(
        _named(query, "audit"),
        {name: value for name, value in query.items() if name not in _PAGE},
        words,
        query.get("sort", "worst"),
        _number(query, "offset", 0),
        _number(query, "limit", 50),
    )
    return json_bytes(page)


def source_of(folder: RunFolder, memory: Memory) -> ItemSource:
    """The items of a run, read once for the same files."""
    return memory.get(folder.path, "items", lambda: ItemSource(folder))


def _only(query: Mapping[str, str], known: tuple[str, ...]) -> None:
    if unknown := set(query) - set(known):
        raise BadQuery(f"{min(unknown)[:40]!r} is nothing to ask for here.")


def _named(query: Mapping[str, str], name: str) -> str:
    if name not in query:
        raise BadQuery(f"the query lacks {name!r}.")
    return query[name]


def _number(query: Mapping[str, str], name: str, default: int) -> int:
    text = query.get(name, str(default))
    if not _NUMBER.fullmatch(text):
        raise BadQuery(f"{name} is {text[:40]!r}, expected a number of at most nine digits.")
    return int(text)
