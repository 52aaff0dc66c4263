"""The items of a report as data inside its page: JSON, compressed, each text once.

A page holds them as base64, which has no sign that HTML could take for anything else. What data and
models wrote is cleaned as everywhere in a report; the ids and values that links name are kept.
"""

from __future__ import annotations

import base64
import gzip
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from askew.errors import RunError
from askew.report.items import SHADES, Facet, Number, ReportItem, Shelf, Side, Turn
from askew.report.words import clean

VERSION = 1
_HEAD = '<script type="application/octet-stream" id="askew-items" data-encoding="gzip+base64">'
_TAIL = "</script>"
_LEVEL = 9


class Opened(NamedTuple):
    """What an island holds."""

    shelves: tuple[Shelf, ...]
    model: str
    run: str


class Texts:
    """The distinct texts of some items, in the order in which they came."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self._known: dict[str, int] = {}  # by the text as it was written

    def place(self, text: str) -> int:
        """The place of a text, as it is shown."""
        found = self._known.get(text)
        if found is None:
            found = self._places.setdefault(clean(text), len(self._places))
            self._known[text] = found
        return found

    def place_or_none(self, text: str) -> int:
        """The same; -1 for no text."""
        return self.place(text) if text else -1

    def listed(self) -> list[str]:
        """All texts."""
        return list(self._places)


def island(shelves: Iterable[Shelf], model: str, run: str) -> str:
    """The element that a page holds its items in; the same bytes for the same items.

    Args:
        shelves: one an audit.
        model: the target's name.
        run: the run's name.
    """
    packed = gzip.compress(island_json(shelves, model, run), _LEVEL, mtime=0)
    return f"{_HEAD}{base64.b64encode(packed).decode('ascii')}{_TAIL}"


def island_json(shelves: Iterable[Shelf], model: str, run: str) -> bytes:
    """What an island holds, before it is compressed."""
    texts = Texts()
    found = [
        {**shelf_record(shelf), "items": items_record(shelf, shelf.items, texts)}
        for shelf in shelves
    ]
    whole = {
        "version": VERSION,
        "model": clean(model),
        "run": clean(run),
        "texts": texts.listed(),
        "shelves": found,
    }
    return json_bytes(whole)


def json_bytes(value: object) -> bytes:
    """JSON without blanks; what UTF-8 cannot hold is escaped as JSON escapes it."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-8", "backslashreplace")


def shelf_record(shelf: Shelf) -> dict[str, object]:
    """A shelf without its items."""
    return {
        "audit": shelf.audit,
        "title": shelf.title,
        "flag": shelf.flag,
        "total": shelf.total,
        "flagged": shelf.flagged,
        "note": clean(shelf.note),
        "facets": [
            {
                "name": facet.name,
                "title": clean(facet.title),
                "values": (values := values_of(facet, shelf.items)),
                "labels": [clean(facet.labels.get(value, value)) for value in values],
            }
            for facet in shelf.facets
        ],
        "numbers": [
            {"name": one.name, "title": clean(one.title), "digits": one.digits}
            for one in shelf.numbers
        ],
        "items": [],
    }


def values_of(facet: Facet, items: Iterable[ReportItem]) -> list[str]:
    """The values of a facet: those that it names, then others that items have, by name."""
    found = {item.facets[facet.name] for item in items if facet.name in item.facets}
    return [*facet.values, *sorted(found - set(facet.values))]


def items_record(shelf: Shelf, items: Iterable[ReportItem], texts: Texts) -> list[list[object]]:
    """Items as lists of numbers and places in the table of texts.

    Args:
        shelf: that they stand on.
        items: of the shelf.
        texts: which what they say is added to.
    """
    places = [
        (facet.name, {value: place for place, value in enumerate(values_of(facet, shelf.items))})
        for facet in shelf.facets
    ]
    names = [number.name for number in shelf.numbers]
    return [_item_record(item, places, names, texts) for item in items]


def _item_record(
    item: ReportItem,
    places: Sequence[tuple[str, Mapping[str, int]]],
    names: Sequence[str],
    texts: Texts,
) -> list[object]:
    return [
        item.id,
        texts.place(item.title),
        int(item.flagged),
        [
            values.get(item.facets.get(name, ""), -1) if name in item.facets else -1
            for name, values in places
        ],
        [_number(item.numbers.get(name, math.nan)) for name in names],
        texts.place_or_none(item.why),
        [_side_record(side, texts) for side in item.sides],
    ]


def _side_record(side: Side, texts: Texts) -> list[object]:
    return [
        texts.place(side.title),
        texts.place_or_none(side.outcome),
        SHADES.index(side.shade),
        [
            [texts.place(turn.who), texts.place(turn.text), marks_record(turn)]
            for turn in side.turns
        ],
        [[texts.place(choice), _number(value)] for choice, value in side.choices],
        [[clean(name), texts.place(text)] for name, text in side.facts],
    ]


def marks_record(turn: Turn) -> list[list[int]]:
    """The marks of a text in UTF-16 code units of the text as it is shown."""
    return [
        [_shown_place(turn.text, start), _shown_place(turn.text, end)] for start, end in turn.marks
    ]


def _shown_place(text: str, place: int) -> int:
    # A line's end of two signs is shown as one: what ends between them ends before it.
    if text[place - 1 : place + 1] == "\r\n":
        place -= 1
    return len(clean(text[:place]).encode("utf-16-le")) // 2


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None


def opened(page: str) -> Opened:
    """What the island of a page holds: the inverse of `island`.

    Args:
        page: the HTML that holds one.

    Raises:
        RunError: it holds none, or one of another version.
    """
    found = re.search(re.escape(_HEAD) + r"([A-Za-z0-9+/=]*)" + re.escape(_TAIL), page)
    if found is None:
        raise RunError(
            "the page holds no items. Make it again with `askew report`, or take another one."
        )
    whole: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(found[1])))
    if whole["version"] != VERSION:
        raise RunError(
            f"the items of the page are of version {whole['version']}, expected {VERSION}. Read "
            "them with the askew that made the page, or make it again."
        )
    texts: list[str] = whole["texts"]
    shelves = tuple(_shelf(record, texts) for record in whole["shelves"])
    return Opened(shelves, whole["model"], whole["run"])


def _shelf(record: Mapping[str, Any], texts: Sequence[str]) -> Shelf:
    facets = tuple(
        Facet(
            one["name"],
            one["title"],
            {
                value: said
                for value, said in zip(one["values"], one["labels"], strict=True)
                if said != value
            },
            tuple(one["values"]),
        )
        for one in record["facets"]
    )
    numbers = tuple(Number(one["name"], one["title"], one["digits"]) for one in record["numbers"])
    return Shelf(
        record["audit"],
        record["title"],
        record["flag"],
        facets,
        numbers,
        tuple(_item(item, facets, numbers, texts) for item in record["items"]),
        record["total"],
        record["flagged"],
        record["note"],
    )


def _item(
    record: Sequence[Any], facets: Sequence[Facet], numbers: Sequence[Number], texts: Sequence[str]
) -> ReportItem:
    ident, title, flagged, codes, values, why, sides = record
    return ReportItem(
        ident,
        texts[title],
        bool(flagged),
        {one.name: one.values[code] for one, code in zip(facets, codes, strict=True) if code >= 0},
        {one.name: value for one, value in zip(numbers, values, strict=True) if value is not None},
        tuple(_side(side, texts) for side in sides),
        "" if why < 0 else texts[why],
    )


def _side(record: Sequence[Any], texts: Sequence[str]) -> Side:
    title, outcome, shade, turns, choices, facts = record
    return Side(
        texts[title],
        "" if outcome < 0 else texts[outcome],
        SHADES[shade],
        tuple(
            Turn(texts[who], texts[text], tuple(_marks(texts[text], marks)))
            for who, text, marks in turns
        ),
        tuple((texts[choice], math.nan if value is None else value) for choice, value in choices),
        tuple((name, texts[text]) for name, text in facts),
    )


def _marks(text: str, marks: Iterable[Sequence[int]]) -> Iterable[tuple[int, int]]:
    units = text.encode("utf-16-le")
    for start, end in marks:
        yield (
            len(units[: 2 * start].decode("utf-16-le")),
            len(units[: 2 * end].decode("utf-16-le")),
        )
