"""The items of a run for a server: filtered, searched, sorted, paged; none is made in vain.

The answers have the form of an island, so that the same page reads both.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from askew.errors import ConfigError, unknown_name
from askew.report.items import Shelf
from askew.report.items.index import FacetColumn, Flags, ItemIndex, Rows, Stock, shelf_of
from askew.report.items.island import VERSION, Texts, items_record, shelf_record
from askew.report.items.shelves import Stocks
from askew.report.which_audit import AUDITS, Audit
from askew.report.words import clean
from askew.runfolder import RunFolder, without_surrogates

LONGEST_PAGE = 500  # items of one answer
_SEARCHES = 8  # whose results are kept
FLAGGED = "flagged"  # the filter of every shelf: "yes" for findings, "no" for the others
_YES_NO = {"yes": True, "no": False}
Record = dict[str, object]


class ItemSource:
    """The items of one run. Each audit's are looked through when they are first asked for.

    Several threads may ask at once.

    Args:
        folder: the run.

    Attributes:
        stocks: its items, for a report of the same run.

    Raises:
        RunError: its settings cannot be read.
    """

    def __init__(self, folder: RunFolder) -> None:
        self.stocks = Stocks(folder)
        self._opened: dict[Audit, _Opened] = {}
        self._lock = threading.Lock()

    def shelves(self, model: str = "") -> Record:
        """All shelves without their items; each facet has the counts of its values.

        Args:
            model: the target's name.

        Raises:
            RunError: the run cannot be read.
        """
        return {
            "version": VERSION,
            "model": clean(model),
            "run": clean(self.stocks.folder.path.resolve().name),
            "texts": [],
            "shelves": [self._open(audit).record() for audit in self.stocks.audits],
        }

    def page(
        self,
        audit: str,
        filters: Mapping[str, str] | None = None,
        words: str = "",
        sort: str = "worst",
        offset: int = 0,
        limit: int = 50,
    ) -> Record:
        """Some items of one audit.

        Args:
            audit: whose.
            filters: the value that a facet must have, by its name; `flagged` is "yes" or "no". A
                value that no item has leaves none.
            words: parted by blanks; each must stand in one of the item's texts or in its id.
            sort: "worst", "id", or a number's name, lowest first; with "-" before it highest first.
                Undefined numbers come last.
            offset: how many items to pass over.
            limit: at most so many are given.

        Returns:
            `texts` and `items` as in an island; `matched`, how many there are in all; `counts`, by
            facet how many items each of its values would leave, the other filters kept.

        Raises:
            ConfigError: the run has no such audit, the audit no such facet or number, or offset or
                limit is out of range.
            RunError: the run cannot be read.
        """
        if offset < 0 or not 0 <= limit <= LONGEST_PAGE:
            raise ConfigError(
                f"offset {offset} and limit {limit} name no page. Give an offset of 0 or more and "
                f"a limit of at most {LONGEST_PAGE}."
            )
        opened = self._open(self._named(audit))
        rows, counts = opened.select(filters or {}, words, sort)
        return {
            **opened.items(rows[offset : offset + limit].tolist()),
            "matched": len(rows),
            "counts": counts,
        }

    def one(self, audit: str, ident: str) -> Record | None:
        """One item, in the form of a page; None where there is none of this id.

        Raises:
            ConfigError: the run has no such audit.
            RunError: the run cannot be read.
        """
        opened = self._open(self._named(audit))
        row = opened.stock.row_of(without_surrogates(ident))
        return None if row is None else opened.items([row])

    def _named(self, audit: str) -> Audit:
        for name in AUDITS:
            if name == audit and name in self.stocks.audits:
                return name
        raise unknown_name("audit of this run", audit, list(self.stocks.audits))

    def _open(self, audit: Audit) -> _Opened:
        with self._lock:
            if audit not in self._opened:
                self._opened[audit] = _Opened(self.stocks.shown(audit))
            return self._opened[audit]


class _Opened:
    """One audit's items, with the orders and searches that were asked for."""

    def __init__(self, stock: Stock) -> None:
        self.stock = stock
        self._shelf: Shelf = shelf_of(stock, ())
        self._orders: dict[str, Rows] = {}
        self._searches: OrderedDict[tuple[str, ...], Flags] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def _index(self) -> ItemIndex:
        return self.stock.index

    def record(self) -> Record:
        """The shelf without items."""
        made = shelf_record(self._shelf)
        everything = np.ones(len(self._index), np.bool_)
        counts = [_counts(column, everything) for column in self._index.facets]
        facets = made["facets"]
        assert isinstance(facets, list)
        return {
            **made,
            "facets": [
                {**facet, "counts": count} for facet, count in zip(facets, counts, strict=True)
            ],
        }

    def items(self, rows: Sequence[int]) -> Record:
        """Some rows' items with their texts."""
        texts = Texts()
        found = items_record(self._shelf, self.stock.items(rows), texts)
        return {"texts": texts.listed(), "items": found}

    def select(
        self, filters: Mapping[str, str], words: str, sort: str
    ) -> tuple[Rows, dict[str, list[int]]]:
        """The rows that match, in order, and the counts of all facets."""
        index, filters = self._index, dict(filters)
        matching = np.ones(len(index), np.bool_)
        if FLAGGED in filters:
            wanted = filters.pop(FLAGGED)
            if wanted not in _YES_NO:
                raise unknown_name("value of flagged", wanted, list(_YES_NO))
            matching &= index.flagged == _YES_NO[wanted]
        if searched := tuple(without_surrogates(words).split()):
            matching &= self._saying(searched)
        names = [column.facet.name for column in index.facets]
        for name in filters:
            if name not in names:
                raise unknown_name(f"facet of the {index.title}", name, [*names, FLAGGED])
        # In how many of the asked facets an item fails: what one alone excludes counts for it.
        failing = np.zeros(len(index), np.int16)
        failed = {
            column.facet.name: ~_having(column, filters[column.facet.name])
            for column in index.facets
            if column.facet.name in filters
        }
        for flags in failed.values():
            failing += flags
        counts = {}
        for column in index.facets:
            own = failed.get(column.facet.name)
            kept = matching & (failing == (0 if own is None else own.astype(np.int16)))
            counts[column.facet.name] = _counts(column, kept)
        order = self._order(sort)
        return order[(matching & (failing == 0))[order]], counts

    def _order(self, sort: str) -> Rows:
        with self._lock:
            if sort not in self._orders:
                self._orders[sort] = self._sorted(sort)
            return self._orders[sort]

    def _sorted(self, sort: str) -> Rows:
        index = self._index
        if sort in ("worst", "id"):
            return index.worst if sort == "worst" else index.by_id
        named = {column.number.name: column.values for column in index.numbers}
        name = sort.removeprefix("-")
        if name not in named:
            known = ["worst", "id", *(f"{sign}{one}" for one in named for sign in ("", "-"))]
            raise unknown_name("order", sort, known)
        values = named[name][index.worst]
        values = np.where(np.isfinite(values), values, np.nan)  # sorted last
        order: Rows = np.argsort(-values if sort.startswith("-") else values, kind="stable")
        return index.worst[order]

    def _saying(self, words: tuple[str, ...]) -> Flags:
        with self._lock:
            if words in self._searches:
                self._searches.move_to_end(words)
                return self._searches[words]
        found = self.stock.saying(words)
        with self._lock:
            self._searches[words] = found
            while len(self._searches) > _SEARCHES:
                self._searches.popitem(last=False)
        return found


def _having(column: FacetColumn, value: str) -> Flags:
    values = column.facet.values
    wanted = without_surrogates(value)
    # No item's code is -2: a value that is not there matches nothing.
    found: Flags = column.codes == (values.index(wanted) if wanted in values else -2)
    return found


def _counts(column: FacetColumn, kept: NDArray[np.bool_]) -> list[int]:
    codes = column.codes[kept]
    counts: list[int] = np.bincount(codes + 1, minlength=len(column.facet.values) + 1)[1:].tolist()
    return counts
