"""Which items a run has, without their texts: enough to filter, sort and count a million of them.

An audit's `Stock` knows every item of a run by its row in an index of numbers, and makes an item
with its texts when one is wanted. Shelves for a report and pages for a server come from the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from askew.report.items import CALL, Facet, Number, ReportItem, Shelf
from askew.report.which_audit import Audit
from askew.runfolder import without_surrogates

Rows = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class FacetColumn:
    """One facet of all items.

    Attributes:
        facet: which, with all its values.
        codes: shape (items,), the place in its values; -1 where the facet does not apply.
    """

    facet: Facet
    codes: NDArray[np.int32]

    def of(self, row: int) -> str | None:
        """One item's value; None where the facet does not apply."""
        code = int(self.codes[row])
        return None if code < 0 else self.facet.values[code]


@dataclass(frozen=True, slots=True)
class NumberColumn:
    """One number of all items: shape (items,), NaN where it is undefined."""

    number: Number
    values: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ItemIndex:
    """All items of one audit.

    Attributes:
        audit: which.
        title: see `Shelf`.
        flag: see `Shelf`.
        facets: to filter by.
        numbers: to sort by.
        flagged: shape (items,), the findings.
        worst: shape (items,), the rows, findings first and the worst of them at the top.
        by_id: shape (items,), the rows in the order of their ids.
    """

    audit: Audit
    title: str
    flag: str
    facets: tuple[FacetColumn, ...]
    numbers: tuple[NumberColumn, ...]
    flagged: Flags
    worst: Rows
    by_id: Rows

    def __len__(self) -> int:
        return len(self.flagged)

    def column(self, facet: str) -> FacetColumn:
        """One facet's column; the facet is there."""
        return next(one for one in self.facets if one.facet.name == facet)

    def facets_of(self, row: int) -> dict[str, str]:
        """One item's facets by name."""
        return {
            column.facet.name: value
            for column in self.facets
            if (value := column.of(row)) is not None
        }

    def numbers_of(self, row: int) -> dict[str, float]:
        """One item's numbers by name; those that are undefined are left out."""
        return {
            column.number.name: value
            for column in self.numbers
            if not math.isnan(value := float(column.values[row]))
        }


class Stock(Protocol):
    """All items of one audit of a run."""

    @property
    def index(self) -> ItemIndex:
        """What they are, without texts."""
        ...

    def items(self, rows: Sequence[int]) -> Iterator[ReportItem]:
        """The items of these rows, in this order, with their texts."""
        ...

    def row_of(self, ident: str) -> int | None:
        """The row of the item with this id; None where there is none."""
        ...

    def saying(self, words: Sequence[str]) -> Flags:
        """Shape (items,): the items in which every one of the words stands, in any case."""
        ...


def shelf_of(stock: Stock, rows: Sequence[int] | None = None, note: str = "") -> Shelf:
    """A shelf with some of the items, or with all of them, the worst first.

    Args:
        stock: of one audit.
        rows: those that the shelf is to hold, in their order; None for all.
        note: what it holds where that is not all.
    """
    index = stock.index
    chosen = index.worst.tolist() if rows is None else list(rows)
    return Shelf(
        audit=index.audit,
        title=index.title,
        flag=index.flag,
        facets=tuple(column.facet for column in index.facets),
        numbers=tuple(column.number for column in index.numbers),
        items=tuple(stock.items(chosen)),
        total=len(index),
        flagged=int(index.flagged.sum()),
        note=note,
    )


def coded(
    name: str,
    title: str,
    values: Sequence[str | None],
    labels: Callable[[str], str] = str,
    order: Sequence[str] = (),
) -> FacetColumn:
    """A facet's column from its values, one an item.

    Args:
        name: of the facet.
        title: for people.
        values: None where it does not apply.
        labels: a value for people.
        order: the values in the order in which they are offered; others follow by name.
    """
    names = list(dict.fromkeys(value for value in values if value is not None))
    places = {value: place for place, value in enumerate(names)}
    codes = [-1 if value is None else places[value] for value in values]
    return recoded(name, title, names, np.array(codes, np.int64), labels, order)


def recoded(
    name: str,
    title: str,
    names: Sequence[str],
    codes: NDArray[np.int64],
    labels: Callable[[str], str] = str,
    order: Sequence[str] = (),
) -> FacetColumn:
    """The same from places in a list of names, which may hold one name twice or in vain.

    Args:
        name: of the facet.
        title: for people.
        names: the values.
        codes: shape (items,), the place of each item's value in `names`; -1 where it has none.
        labels: a value for people.
        order: the values in the order in which they are offered; others follow by name.
    """
    # A link is UTF-8, which cannot hold a lone surrogate.
    linked = [without_surrogates(value) for value in names]
    found = {linked[code] for code in np.unique(codes).tolist() if code >= 0}
    values = [value for value in order if value in found]
    values += sorted(found - set(values))
    places = {value: place for place, value in enumerate(values)}
    moved = np.array([*(places.get(value, -1) for value in linked), -1], np.int32)
    shown = {value: said for value in values if (said := labels(value)) != value}
    return FacetColumn(Facet(name, title, shown, tuple(values)), moved[codes])


def holding(items: Iterable[ReportItem], count: int, words: Sequence[str]) -> Flags:
    """Shape (count,): the items in whose texts or id every one of the words stands, in any case."""
    wanted = [word.lower() for word in words]
    found = np.zeros(count, np.bool_)
    for row, item in enumerate(items):
        texts = [text.lower() for text in texts_of(item)]
        found[row] = all(any(word in text for text in texts) for word in wanted)
    return found


def texts_of(item: ReportItem) -> Iterator[str]:
    """Everything of an item that a search looks through."""
    yield from (item.id, item.title, item.why)
    for side in item.sides:
        yield from (side.title, side.outcome)
        yield from (turn.text for turn in side.turns)
        yield from (choice for choice, _ in side.choices)
        yield from (text for name, text in side.facts if name != CALL)


def id_part(name: str) -> str:
    """A name as a part of an id, in which slashes part names.

    >>> id_part("female/male, 50 %")
    'female%2Fmale, 50 %25'
    """
    return name.replace("%", "%25").replace("/", "%2F")
