"""Small tables that every part of a report has: names beside values, and titles without the run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from askew.report.grid import Table
from askew.report.settings import value_text
from askew.report.words import UNDEFINED, label


def named_values(part: Mapping[str, object]) -> list[tuple[str, str]]:
    """Names and values for a table of two columns."""
    return [
        (label(name), UNDEFINED if value is None else value_text(value))
        for name, value in part.items()
    ]


def untitled(run: str, table: Table) -> Table:
    """The table without the run's name before its title: a report is about one run."""
    title = table.title.removeprefix(f"{run}: ")
    return replace(table, title=title[:1].upper() + title[1:])
