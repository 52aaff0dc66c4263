"""The tables of a Wikipedia dump, as far as the category graph needs them, as flat arrays.

Of each table only the rows of the category namespace are kept, and only their wanted columns: the
English Wikipedia has 60 million pages and 200 million category links, of which 2.5 and 6 million
remain. Names are compared as bytes, as MediaWiki does; nothing is normalised.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from askew.datasets.name_table import Names
from askew.datasets.packed import Progress
from askew.datasets.sql_layout import Table, places
from askew.datasets.sql_rows import Batch, SqlTable, Texts
from askew.errors import DataError

CATEGORY = b"14"  # the namespace of categories, in every wiki
_NAMED = 5  # bad titles that a note names


class IdTable:
    """Ids by the place where they stand; of two alike the first counts."""

    def __init__(self, ids: NDArray[np.int64]) -> None:
        self.order = np.argsort(ids, kind="stable")
        self.ascending = ids[self.order]  # a look-up through `order` would miss the cache

    def places(self, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where each id stands; -1 where it does not."""
        if not len(self.ascending):
            return np.full(len(ids), -1, np.int64)
        found = np.searchsorted(self.ascending, ids)
        found[found == len(self.ascending)] = 0
        return np.where(self.ascending[found] == ids, self.order[found], -1)


@dataclass(frozen=True, slots=True)
class CategoryPages:
    """Categories by number: first those with a page, in the order of the file, then red ones.

    A red category has links and no page; its number comes with the first link or link target.
    """

    ids: NDArray[np.int64]  # shape (pages,): page ids, unique
    by_id: IdTable
    redirect: NDArray[np.bool_]  # shape (pages,): the page is a redirect
    names: Names  # underscores for spaces; UTF-8 where there is a page

    @property
    def pages(self) -> int:
        """How many categories have a page."""
        return len(self.ids)

    def of_page_ids(self, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """The numbers of page ids; -1 where the page is no category."""
        return self.by_id.places(ids)


@dataclass(frozen=True, slots=True)
class Links:
    """Subcategory links between numbered categories."""

    children: NDArray[np.int64]
    parents: NDArray[np.int64]


@dataclass(slots=True)
class Reading:
    """What reading the tables adds up: counts, and sentences for the reader."""

    progress: Progress | None = None
    counts: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)

    def table(self, path: Path, name: str) -> SqlTable:
        """Open a table's file."""
        return SqlTable(path, name, progress=self.progress)

    def read(self, table: SqlTable) -> None:
        """Note what is known once a file was read to its end."""
        self.counts[f"{table.table}_rows"] = table.rows_read
        if not table.closing_line:
            self.notes.append(
                f"{table.path}: the last line is not mysqldump's 'Dump completed': the file may be "
                "cut off between two statements. Compare its checksum."
            )


def read_pages(path: Path, reading: Reading) -> CategoryPages:
    """The categories that have a page, from the table `page`.

    Raises:
        DataError: there is none.
    """
    table = reading.table(path, "page")
    names = Names()
    ids: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
    redirect: list[NDArray[np.bool_]] = [np.zeros(0, bool)]
    bad: list[bytes] = []
    for batch in table.batches(
        integers=("page_id", "page_is_redirect"),
        texts=("page_title",),
        where=("page_namespace", CATEGORY),
    ):
        _check_told(path, batch, "page_id", "page_is_redirect")
        titles = batch.texts["page_title"]
        good = _are_titles(titles)
        bad += [title for title, is_good in zip(titles, good.tolist(), strict=True) if not is_good]
        before = len(names)
        numbers = names.add(titles, good)
        # A page that came before, in this batch or an earlier one, has its number already.
        fresh = np.flatnonzero(numbers >= before)
        fresh = fresh[np.unique(numbers[fresh], return_index=True)[1]]
        ids.append(batch.integers["page_id"][fresh])
        redirect.append(batch.integers["page_is_redirect"][fresh] != 0)
        reading.counts["category_pages"] += batch.rows
        reading.counts["duplicate_pages"] += int(good.sum()) - len(fresh)
    reading.read(table)
    if bad:
        shown = ", ".join(map(repr, bad[:_NAMED]))
        reading.counts["bad_titles"] = len(bad)
        reading.notes.append(
            f"{path}: {len(bad):,} categories left out, as their titles are not UTF-8 or empty: "
            f"{shown}{', ...' if len(bad) > _NAMED else ''}."
        )
    if not len(names):
        raise DataError(
            f"{path}: no category (namespace 14) among {table.rows_read:,} pages. Check that it is "
            "the whole dump of the table `page`."
        )
    whole = np.concatenate(ids)
    by_id = IdTable(whole)
    twice = np.flatnonzero(by_id.ascending[1:] == by_id.ascending[:-1])
    if len(twice):
        one, other = by_id.order[twice[0]], by_id.order[twice[0] + 1]
        raise DataError(
            f"{path}: page_id {int(whole[one])} belongs to two categories, {names[int(one)]!r} and "
            f"{names[int(other)]!r}: the file is damaged. Fetch it again."
        )
    return CategoryPages(whole, by_id, np.concatenate(redirect), names)


@dataclass(frozen=True, slots=True)
class Targets:
    """Link targets that are categories, by their own ids."""

    by_id: IdTable
    numbers: NDArray[np.int64]  # of their categories

    def numbers_of(self, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """The categories' numbers; -1 where the target is not there or no category."""
        places = self.by_id.places(ids)
        known = places >= 0
        places[known] = self.numbers[places[known]]
        return places


def read_targets(path: Path, categories: CategoryPages, reading: Reading) -> Targets:
    """The categories among the link targets, from the table `linktarget`.

    Raises:
        DataError: an id stands for two of them.
    """
    table = reading.table(path, "linktarget")
    ids: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
    numbers: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
    for batch in table.batches(
        integers=("lt_id",), texts=("lt_title",), where=("lt_namespace", CATEGORY)
    ):
        _check_told(path, batch, "lt_id", "lt_title")
        ids.append(batch.integers["lt_id"])
        numbers.append(categories.names.add(batch.texts["lt_title"]))
    reading.read(table)
    by_id, named = IdTable(np.concatenate(ids)), np.concatenate(numbers)
    again = np.flatnonzero(by_id.ascending[1:] == by_id.ascending[:-1])
    one, other = named[by_id.order[again]], named[by_id.order[again + 1]]
    apart = np.flatnonzero(one != other)
    if len(apart):
        first = apart[0]
        raise DataError(
            f"{path}: lt_id {int(by_id.ascending[again[first]])} belongs to two categories, "
            f"{categories.names[int(one[first])]!r} and {categories.names[int(other[first])]!r}: "
            "the file is damaged. Fetch it again."
        )
    return Targets(by_id, named)


def read_links(
    path: Path, categories: CategoryPages, targets: Targets | None, reading: Reading
) -> Links:
    """The links of subcategories, from the table `categorylinks`, whichever its layout.

    Args:
        path: the file.
        categories: get a number more for each parent without a page.
        targets: needed where the table has `cl_target_id`.
        reading: gets how many links lack an end.

    Raises:
        DataError: the layout is none of those known.
    """
    table = reading.table(path, "categorylinks")
    columns = table.columns()
    named = ("cl_to",) if "cl_to" in columns else ()
    if not named and targets is None:
        places(str(path), Table("categorylinks", columns), ("cl_target_id",))
    by_id = ("cl_target_id",) if targets is not None else ()
    children: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
    parents: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
    for batch in table.batches(
        integers=("cl_from", *by_id), texts=named, where=("cl_type", b"subcat")
    ):
        _check_told(path, batch, "cl_from")
        child = categories.of_page_ids(batch.integers["cl_from"])
        parent = np.full(batch.rows, -1, np.int64)
        if targets is not None:
            known = ~batch.missing["cl_target_id"]
            parent[known] = targets.numbers_of(batch.integers["cl_target_id"][known])
        if named and (parent < 0).any():
            # While the columns were being changed, the id was empty where it was not filled in
            # yet, and later the name was.
            names = batch.texts["cl_to"]
            untold = (parent < 0) & (np.diff(names.starts) > 0)
            parent[untold] = categories.names.add(names, untold)[untold]
        reading.counts["subcategory_links"] += batch.rows
        lost = child < 0
        untold = ~lost & (parent < 0)
        reading.counts["links_from_missing_pages"] += int(lost.sum())
        reading.counts["links_without_linktarget"] += int(untold.sum())
        children.append(child[~lost & ~untold])
        parents.append(parent[~lost & ~untold])
    reading.read(table)
    return Links(np.concatenate(children), np.concatenate(parents))


def read_hidden(path: Path, categories: CategoryPages, reading: Reading) -> NDArray[np.bool_]:
    """Shape (pages,): which categories are hidden, from the table `page_props`."""
    table = reading.table(path, "page_props")
    hidden = np.zeros(categories.pages, bool)
    for batch in table.batches(integers=("pp_page",), where=("pp_propname", b"hiddencat")):
        _check_told(path, batch, "pp_page")
        found = categories.of_page_ids(batch.integers["pp_page"])
        hidden[found[found >= 0]] = True
    reading.read(table)
    return hidden


def read_redirects(path: Path, categories: CategoryPages, reading: Reading) -> NDArray[np.int64]:
    """Shape (pages,): the category that each one redirects to, from the table `redirect`; else -1.

    Chains are followed to their end; a chain that bites its tail leads nowhere.
    """
    table = reading.table(path, "redirect")
    leads = np.full(categories.pages, -1, np.int64)
    for batch in table.batches(
        integers=("rd_from",),
        texts=("rd_title", "rd_interwiki"),
        where=("rd_namespace", CATEGORY),
    ):
        _check_told(path, batch, "rd_from")
        sources = categories.of_page_ids(batch.integers["rd_from"]).tolist()
        ends = categories.names.find(batch.texts["rd_title"]).tolist()
        elsewhere = np.diff(batch.texts["rd_interwiki"].starts).tolist()
        for source, end, foreign in zip(sources, ends, elsewhere, strict=True):
            if source >= 0 and not foreign and categories.redirect[source]:
                leads[source] = end
    reading.read(table)
    for source in np.flatnonzero(leads >= 0).tolist():
        seen, at = {source}, int(leads[source])
        while 0 <= at < categories.pages and categories.redirect[at]:
            if at in seen:
                at = -1
                break
            seen.add(at)
            at = int(leads[at])
        leads[list(seen)] = at if at < categories.pages else -1
    return leads


def read_subcategory_count(path: Path, reading: Reading) -> int:
    """How many subcategory links MediaWiki itself counted, from the table `category`."""
    table = reading.table(path, "category")
    total = sum(
        int(np.maximum(batch.integers["cat_subcats"], 0).sum())
        for batch in table.batches(integers=("cat_subcats",))
    )
    reading.read(table)
    return total


def _check_told(path: Path, batch: Batch, *columns: str) -> None:
    """Refuse NULL where MediaWiki's tables allow none: it must not become page 0."""
    for name in columns:
        if batch.missing[name].any():
            raise DataError(
                f"{path}: column {name!r} is NULL in a row, which MediaWiki never writes: the file "
                "is damaged. Fetch it again."
            )


def _are_titles(texts: Texts) -> NDArray[np.bool_]:
    """Shape (texts,): which are UTF-8 and not empty."""
    good = np.diff(texts.starts) > 0
    begins = texts.data[texts.starts[:-1][good]]
    try:
        texts.data.tobytes().decode("utf-8")
    except UnicodeDecodeError:
        pass
    else:
        # All at once; what is whole together may still be cut in mid-character.
        if not ((begins & 0xC0) == 0x80).any():
            return good
    return np.array([_is_title(text) for text in texts], bool)


def _is_title(text: bytes) -> bool:
    try:
        return bool(text.decode("utf-8"))
    except UnicodeDecodeError:
        return False
