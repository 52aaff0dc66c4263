"""The template engine of every page: text is escaped on its own, whoever wrote it."""

from __future__ import annotations

import re
from functools import cache
from html import escape
from importlib.resources import files
from itertools import groupby
from typing import TYPE_CHECKING

from askew.report.figure import shade
from askew.report.grid import Column, Kind, Row, cell_digits, row_cells
from askew.report.words import clean, counted, label, percent, percent_range

if TYPE_CHECKING:
    import jinja2


@cache
def template(name: str) -> jinja2.Template:
    """One of the report's templates, with the functions that it may call."""
    import jinja2
    from markupsafe import Markup

    def finalize(value: object) -> object:
        # Markup is a str as well, but it comes from the template and from the pictures alone.
        return clean(value) if type(value) is str else value

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("askew.report"),
        autoescape=True,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.globals.update(
        cells=_cells,
        column_groups=_column_groups,
        counted=counted,
        css=Markup,
        data=Markup,
        figures=no_break,
        is_text=_is_text,
        label=label,
        log_probability=lambda number: f"{number:.2f}".replace("-", "−"),
        percent=percent,
        percent_range=percent_range,
        shade=shade,
        svg=lambda picture: Markup(picture.svg),
    )
    return environment.get_template(name)


def styles(*names: str, themed: bool = True) -> str:
    """The style sheets one after another.

    Args:
        names: of the files.
        themed: whether the page's reader may choose light or dark (`data-theme` of its root); False
            for what has no such root, as a picture's file: it goes by the system alone.
    """
    folder = files("askew.report").joinpath("templates")
    whole = "\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in names)
    return _PAPER.sub(_on_paper, _DARK.sub(_dark_by_choice, whole)) if themed else whole


# The colours of a sheet for the dark, and for paper: `SELECTOR { --name: ...; }` and nothing else.
_DARK = re.compile(r"@media \(prefers-color-scheme: dark\) \{\s*([^{}]+?) (\{[^{}]*\})\s*\}")
_PAPER = re.compile(r"(@media print \{\s*)([^{}]+?)( \{\s*--)")


def _dark_by_choice(found: re.Match[str]) -> str:
    """Colours for the dark, unless light was chosen; and whenever dark was chosen."""
    selector, colours = found.groups()
    within = "" if selector == ":root" else f" {selector}"
    return (
        f'@media (prefers-color-scheme: dark) {{\n:root:not([data-theme="light"]){within} {colours}'
        f'\n}}\n:root[data-theme="dark"]{within} {colours}'
    )


def _on_paper(found: re.Match[str]) -> str:
    """Colours on paper, whatever was chosen for the screen: the selector has to weigh more."""
    before, selector, after = found.groups()
    within = "" if selector == ":root" else f" {selector}"
    return f"{before}:root:root:root{within}{after}"


def no_break(text: str) -> str:
    """A number and its percent sign stay on one line; for askew's own words, not for data."""
    return text.replace(" %", "\N{NO-BREAK SPACE}%")


def html_bytes(text: str) -> int:
    """How much room a text takes on the page."""
    return len(escape(clean(text)).encode("utf-8", "replace"))


def _cells(row: Row, columns: tuple[Column, ...]) -> list[tuple[str, str, list[tuple[str, str]]]]:
    """All cells of a row: the value and its interval for people, and all digits for machines."""
    shown = row_cells(row, columns)
    return [(*texts, cell_digits(value)) for texts, value in zip(shown, row.cells, strict=True)]


def _column_groups(columns: tuple[Column, ...]) -> list[tuple[str, int]]:
    """Neighbouring columns under one group, with their number."""
    groups = groupby(column.group for column in columns)
    return [(name, len(list(members))) for name, members in groups]


def _is_text(column: Column) -> bool:
    return column.kind is Kind.TEXT
