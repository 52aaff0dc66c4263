"""The template engine of every page: text is escaped on its own, whoever wrote it."""

from __future__ import annotations

from functools import cache
from html import escape
from importlib.resources import files
from itertools import groupby
from typing import TYPE_CHECKING

from askew.report.figure import shade
from askew.report.grid import Column, Kind, row_cells
from askew.report.words import clean, counted, label, percent, percent_range

if TYPE_CHECKING:
    import jinja2

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


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
        cells=row_cells,
        column_groups=_column_groups,
        counted=counted,
        css=Markup,
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


def styles(*names: str) -> str:
    """The style sheets one after another."""
    folder = files("askew.report").joinpath("templates")
    return "\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in names)


def no_break(text: str) -> str:
    """A number and its percent sign stay on one line; for askew's own words, not for data."""
    return text.replace(" %", "\N{NO-BREAK SPACE}%")


def html_bytes(text: str) -> int:
    """How much room a text takes on the page."""
    return len(escape(clean(text)).encode("utf-8", "replace"))


def _column_groups(columns: tuple[Column, ...]) -> list[tuple[str, int]]:
    """Neighbouring columns under one group, with their number."""
    groups = groupby(column.group for column in columns)
    return [(name, len(list(members))) for name, members in groups]


def _is_text(column: Column) -> bool:
    return column.kind is Kind.TEXT
