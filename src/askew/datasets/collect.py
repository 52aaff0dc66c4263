"""Records to items, with the rules on what counts once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from askew.datasets.base import BadRecord, Report
from askew.datasets.files import Record
from askew.datasets.phrases import comparable
from askew.records import Item


class Items:
    """The items of one data set, in the order of reading, each counted once.

    The same id with the same content is a duplicate: reported, counted once. The same id with
    other content is rejected, as nothing says which of the two is meant. With `pairs`, an item
    that differs from an earlier one in its id (and in what chance added to it) alone is a
    duplicate too: the first stays.
    """

    def __init__(self, report: Report, *, pairs: bool = False) -> None:
        self._report = report
        self._by_id: dict[str, Item] = {}
        self._by_pair: dict[tuple[str, ...], Item] | None = {} if pairs else None

    def __iter__(self) -> Iterator[Item]:
        return iter(self._by_id.values())

    def add(self, item: Item) -> None:
        """Take an item in, or write down why not.

        Raises:
            BadRecord: another item has this id.
        """
        earlier = self._by_id.get(item.id)
        if earlier is not None:
            if replace(item, provenance=earlier.provenance) != earlier:
                raise BadRecord(f"same id, other content than {_place(earlier)}")
            self._duplicate(item, f"same id and content as {_place(earlier)}; counted once")
            return
        if self._by_pair is not None:
            earlier = self._by_pair.setdefault(_pair(item), item)
            if earlier is not item:
                self._duplicate(item, f"same pair as {_place(earlier)}, which stays; counted once")
                return
        self._by_id[item.id] = item

    def _duplicate(self, item: Item, message: str) -> None:
        place = item.provenance
        self._report.add(
            "duplicate", message, path=place.path, line=place.line, record=place.record
        )


def collect(
    records: Iterable[Record],
    make: Callable[[Record], Item | None],
    items: Items,
    report: Report,
    *,
    path: str,
    name_fields: tuple[str, ...],
) -> None:
    """Make an item of each record; one that cannot be made is reported with its line and name.

    Args:
        records: what the file holds.
        make: raises `BadRecord` where a record cannot be used; None leaves it out, reported by
            `make` itself.
        items: takes the items in.
        report: takes the rejected records.
        path: the file, for messages.
        name_fields: the field that holds the record's own name; the first that is there.
    """
    for record in records:
        try:
            item = make(record)
            if item is not None:
                items.add(item)
        except BadRecord as bad:
            names = [record.fields[field] for field in name_fields if field in record.fields]
            report.add(
                "rejected",
                bad.message,
                path=path,
                line=record.line,
                record=str(names[0]) if names else "",
                field=bad.field,
            )


def _pair(item: Item) -> tuple[str, ...]:
    """What makes two items of a set of sentence pairs the same question."""
    sentences = [item.options[i] for i in (item.stereotyped, item.antistereotyped) if i is not None]
    return tuple(comparable(part) for part in (item.bias_type, item.context, *sentences))


def _place(item: Item) -> str:
    place = item.provenance
    line = f"line {place.line}" if place.line else "the earlier record"
    return f"{line} ({place.record})"
