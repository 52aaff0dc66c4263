"""A table on a terminal of any width, without a figure cut short.

Where a table is too wide, its intervals are set on two lines and its headings on as many as they
need; where that is not enough, its columns are shown in parts, each with the names of the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from askew.report.grid import Kind, Table, row_cells
from askew.report.words import clean

if TYPE_CHECKING:
    import rich.table
    import rich.text
    from rich.console import Console, ConsoleOptions, RenderResult

GAP = 2  # between two columns
HEADING = 14  # a number's heading may be so wide before it is set on several lines
LONGEST_WORD = 24  # of a row's name; a longer one may be broken
NARROWEST = 6  # what a column of names keeps where not even one figure fits beside the names


@dataclass(frozen=True, slots=True)
class ForTerminal:
    """What a rich console prints: the table, laid out when the width is known."""

    table: Table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.text import Text

        # Text objects, not strings: rich would read a model's "[red]" as markup.
        yield Text(clean(self.table.title), style="bold")
        stacked, parts = _layout(self.table, options.max_width)
        for places in parts:
            yield _drawn(self.table, places, options.max_width, stacked=stacked)
            yield Text()
        for note in self.table.notes:
            yield Text(clean(note), style="table.caption")
        if self.table.notes:
            yield Text()


def to_rich(table: Table) -> ForTerminal:
    """The table for the terminal: intervals below their values, notes below the table."""
    return ForTerminal(table)


def _layout(table: Table, room: int) -> tuple[bool, list[list[int]]]:
    """Whether intervals take two lines, and the columns of each part."""
    everything = list(range(len(table.columns)))
    for stacked in (False, True):
        if _wide(_widths(table, stacked=stacked)) <= room:
            return stacked, [everything]
    return True, _parts(table, room)


def _parts(table: Table, room: int) -> list[list[int]]:
    """The columns in parts that fit; those of one group stay together where they can."""
    widths = _widths(table, stacked=True)
    names = [place for place, column in enumerate(table.columns) if column.kind is Kind.TEXT]
    numbers = [place for place in range(len(widths)) if place not in names]
    parts: list[list[int]] = []
    for _, members in groupby(numbers, lambda place: table.columns[place].group or place):
        group = list(members)
        together = _wide([widths[place] for place in (*names, *group)]) <= room
        for unit in [group] if together else [[place] for place in group]:
            if parts and _wide([widths[place] for place in (*names, *parts[-1], *unit)]) <= room:
                parts[-1].extend(unit)
            else:
                parts.append(unit)
    return [[*names, *part] for part in parts]


def _wide(widths: Sequence[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)


def _widths(table: Table, *, stacked: bool) -> list[int]:
    """The fewest cells that each column needs."""
    rows = [row_cells(row, table.columns) for row in table.rows]
    widths = []
    for place, column in enumerate(table.columns):
        # Any column of a group may come to stand first in a part, and then holds its name.
        words = [*column.title.split(), *column.group.split()]
        cells = [row[place] for row in rows]
        if column.kind is Kind.TEXT:
            words += [word for name, _ in cells for word in name.split()]
            widths.append(min(LONGEST_WORD, _longest(words)))
            continue
        heading = 0 if stacked else min(HEADING, _longest([column.title]))
        numbers = [value for value, _ in cells]
        below = [line for _, interval in cells for line in _lines(interval, stacked=stacked)]
        widths.append(max(heading, _longest([*words, *numbers, *below])))
    return widths


def _drawn_widths(
    table: Table, places: Sequence[int], room: int, *, stacked: bool
) -> dict[int, int]:
    """The cells that each column gets: numbers what they need, names what is left as well.

    rich would take from the widest column first, and break a word that need not be broken.
    """
    least = _widths(table, stacked=stacked)
    given = {place: least[place] for place in places}
    rows = [row_cells(row, table.columns) for row in table.rows]
    wanted = {
        place: max(
            given[place], _longest([table.columns[place].title, *(r[place][0] for r in rows)])
        )
        for place in places
        if table.columns[place].kind is Kind.TEXT
    }
    spare = room - _wide(list(given.values()))
    while spare < 0 and (broad := [place for place in wanted if given[place] > NARROWEST]):
        given[max(broad, key=lambda place: given[place])] -= 1
        spare += 1
    while spare > 0 and (open_ := [place for place in wanted if given[place] < wanted[place]]):
        given[min(open_, key=lambda place: given[place])] += 1
        spare -= 1
    return given


def _longest(texts: Sequence[str]) -> int:
    from rich.cells import cell_len

    return max((cell_len(clean(text)) for text in texts), default=0)


def _lines(interval: str, *, stacked: bool) -> list[str]:
    if not interval:
        return []
    split = interval.replace("–", "–\n").replace(" to ", " to\n") if stacked else interval
    return split.split("\n")


def _drawn(table: Table, places: Sequence[int], room: int, *, stacked: bool) -> rich.table.Table:
    import rich.table
    from rich import box
    from rich.text import Text

    widths = _drawn_widths(table, places, room, stacked=stacked)
    drawn = rich.table.Table(
        box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True
    )
    group = ""
    for place in places:
        column = table.columns[place]
        # A group stands once, over its first column, a word a line: numbers are narrow.
        words = column.group.split() if column.group != group else []
        group, number = column.group, column.kind is not Kind.TEXT
        drawn.add_column(
            Text(clean("\n".join([*words, column.title]))),
            justify="right" if number else "left",
            overflow="fold",
            width=widths[place],
        )
    for row in table.rows:
        cells = row_cells(row, table.columns)
        drawn.add_row(*(_cell(*cells[place], stacked=stacked) for place in places))
    return drawn


def _cell(value: str, interval: str, *, stacked: bool) -> rich.text.Text:
    from rich.text import Text

    below = "".join(f"\n{line}" for line in _lines(interval, stacked=stacked))
    return Text.assemble(value, (below, "dim"))
