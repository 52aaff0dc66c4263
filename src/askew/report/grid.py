"""One table, and three ways to show it: as Markdown, as CSV, as JSON. `terminal` has the fourth.

A table holds figures, not texts, so that every way rounds as it needs to: people get rounded
figures with intervals, machines get all digits and an empty cell or null where it is undefined.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from askew.records import Estimate
from askew.report.sheet_cells import sheet_cell
from askew.report.words import (
    NOT_MEANINGFUL,
    UNDEFINED,
    clean,
    digits,
    has_interval,
    p_value,
    percent,
    percent_range,
    points,
    points_range,
)
from askew.runfolder import json_text

Value = str | int | float | Estimate | None


class Kind(StrEnum):
    """What a column holds, which decides how it is rounded."""

    TEXT = "text"
    COUNT = "count"
    DIGITS = "digits"  # a share with four digits, as the papers print it
    PERCENT = "percent"
    POINTS = "points"  # a change in percentage points
    SCORE = "score"  # from -1 to 1
    P_VALUE = "p_value"


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name, the group that it stands under, and the ideal value where there is one.

    A figure that is neither better high nor better low is misread without its ideal value.
    """

    name: str
    kind: Kind = Kind.TEXT
    group: str = ""
    ideal: str = ""
    intervals: bool = True  # show the intervals of estimates

    @property
    def title(self) -> str:
        """The name with the ideal value."""
        return f"{self.name} (ideal {self.ideal})" if self.ideal else self.name

    @property
    def heading(self) -> str:
        """Group and title on one line; no two columns of a table share it."""
        return f"{self.group} {self.title}" if self.group else self.title


@dataclass(frozen=True, slots=True)
class Row:
    """One row; the first cell names it.

    Attributes:
        cells: one a column.
        objection: why its figures are not meaningful; "" where nothing speaks against them.
        link: where a report shows the items behind it, of `items.items_link`; "" for nowhere.
    """

    cells: tuple[Value, ...]
    objection: str = ""
    link: str = ""

    @property
    def mark(self) -> str:
        """What stands behind the row's name."""
        return NOT_MEANINGFUL if self.objection else ""


@dataclass(frozen=True, slots=True)
class Table:
    """Figures in rows and columns, with the notes that they cannot be read without."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()

    @property
    def grouped(self) -> bool:
        """Whether columns stand under groups."""
        return any(column.group for column in self.columns)


def shown(value: Value, column: Column) -> tuple[str, str]:
    """One cell for people: the value, and its interval where there is one to show.

    A dash is an undefined value; "" means that no value belongs there.
    """
    if value is None:
        return "", ""
    if isinstance(value, str):
        return clean(value), ""
    if isinstance(value, Estimate):
        return _number(value.value, column.kind), _interval(value, column)
    return _number(value, column.kind), ""


def row_cells(row: Row, columns: Sequence[Column]) -> list[tuple[str, str]]:
    """All cells of a row for people, the mark behind the first."""
    first, *cells = [shown(value, column) for value, column in zip(row.cells, columns, strict=True)]
    return [(f"{first[0]} {row.mark}".rstrip(), first[1]), *cells]


def cell_digits(value: Value) -> list[tuple[str, str]]:
    """A cell for machines: (name, all digits) of its value, interval and n; none for text.

    What is undefined is left out.

    >>> cell_digits(0.25), cell_digits("age"), cell_digits(math.nan)
    ([('value', '0.25')], [], [])
    """
    if value is None or isinstance(value, str):
        return []
    if isinstance(value, Estimate):
        found = {"value": value.value, "lower": value.lower, "upper": value.upper, "n": value.n}
    else:
        found = {"value": value}
    return [(name, digits) for name, number in found.items() if (digits := _all_digits(number))]


def row_texts(row: Row, columns: Sequence[Column]) -> list[str]:
    """The same with each interval in brackets behind its value."""
    cells = row_cells(row, columns)
    return [f"{value} ({interval})" if interval else value for value, interval in cells]


def to_markdown(table: Table) -> str:
    """The table as GitHub's Markdown, title above and notes below."""
    lines = [f"**{_markdown(table.title)}**", ""]
    lines.append(_markdown_row([column.heading for column in table.columns]))
    rules = ["---" if column.kind is Kind.TEXT else "--:" for column in table.columns]
    lines.append(f"|{'|'.join(rules)}|")
    lines.extend(_markdown_row(row_texts(row, table.columns)) for row in table.rows)
    if table.notes:
        lines.append("")
        lines.extend(f"- {_markdown(note)}" for note in table.notes)
    return "\n".join(lines) + "\n"


def to_csv(table: Table) -> str:
    """The table as CSV with all digits; columns of estimates bring their interval and n along."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    wide = [_holds_estimates(table, place) for place in range(len(table.columns))]
    heading: list[str] = []
    for column, wider in zip(table.columns, wide, strict=True):
        heading.append(sheet_cell(clean(column.heading)))
        if wider:
            parts = (f"{column.heading} {part}" for part in ("lower", "upper", "n"))
            heading.extend(sheet_cell(clean(part)) for part in parts)
    marked = any(row.mark for row in table.rows)
    writer.writerow([*heading, "mark"] if marked else heading)
    for row in table.rows:
        cells: list[str] = []
        for value, wider in zip(row.cells, wide, strict=True):
            cells.extend(_csv_cells(value, wider))
        writer.writerow([*cells, row.mark] if marked else cells)
    return file.getvalue()


def to_json(tables: Sequence[Table]) -> str:
    """Tables as a JSON list: one object a row, whole estimates, null where undefined.

    A row whose figures are not meaningful has `"meaningful": false` and the `"reason"`.
    """
    return json_text([_json_table(table) for table in tables])


def notes_on_undefined(columns: Sequence[Column], rows: Sequence[Row]) -> list[str]:
    """One note for each reason why a cell is undefined, with the cells that it holds for."""
    places: dict[str, list[str]] = {}
    for row in rows:
        for value, column in zip(row.cells, columns, strict=True):
            if isinstance(value, Estimate) and not value.defined:
                names = [clean(name) for name in row.cells if isinstance(name, str)]
                where = ", ".join([*names, column.heading])
                places.setdefault(value.note, []).append(where)
    return [f"{UNDEFINED} {reason}: {_some(where)}." for reason, where in places.items()]


LISTED = 4  # places named in a note before it says how many more there are


def _some(places: Sequence[str]) -> str:
    more = len(places) - LISTED
    return "; ".join(places[:LISTED]) + (f"; and {more} more" if more > 0 else "")


def _interval(figure: Estimate, column: Column) -> str:
    if not column.intervals or not figure.defined:
        return ""
    if not has_interval(figure):
        return "no interval"
    match column.kind:
        case Kind.PERCENT:
            return percent_range(figure.lower, figure.upper, 1).removesuffix(" %")
        case Kind.POINTS:
            return points_range(figure.lower, figure.upper, 1)
        case _:
            return f"{_number(figure.lower, column.kind)}–{_number(figure.upper, column.kind)}"


def _number(value: float, kind: Kind) -> str:
    match kind:
        case Kind.PERCENT:
            return percent(value, 1)
        case Kind.POINTS:
            return points(value, 1)
        case Kind.P_VALUE:
            return p_value(value)
        case Kind.SCORE:
            return UNDEFINED if math.isnan(value) else f"{value:+.3f}".replace("-", "−")
        case Kind.COUNT:
            return UNDEFINED if math.isnan(value) else f"{value:,.0f}"
        case _:
            return digits(value)


def _markdown(text: str) -> str:
    """The text with everything escaped that would be read as structure."""
    escaped = "".join(f"\\{sign}" if sign in "\\`*[]|" else sign for sign in clean(text))
    escaped = escaped.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return " ".join(escaped.split())


def _markdown_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(_markdown(cell) for cell in cells)} |"


def _holds_estimates(table: Table, place: int) -> bool:
    return any(isinstance(row.cells[place], Estimate) for row in table.rows)


def _csv_cells(value: Value, wider: bool) -> list[str]:
    if isinstance(value, Estimate):
        return [*(_all_digits(x) for x in (value.value, value.lower, value.upper)), str(value.n)]
    cell = sheet_cell(clean(value)) if isinstance(value, str) else _all_digits(value)
    return [cell, "", "", ""] if wider else [cell]


def _all_digits(value: float | None) -> str:
    return "" if value is None or math.isnan(value) else repr(value)


def _json_table(table: Table) -> dict[str, object]:
    headings = [column.heading for column in table.columns]
    rows = []
    for row in table.rows:
        record: dict[str, object] = dict(zip(headings, row.cells, strict=True))
        if row.objection:
            record |= {"mark": row.mark, "meaningful": False, "reason": row.objection}
        rows.append(record)
    return {"title": table.title, "columns": headings, "rows": rows, "notes": table.notes}
