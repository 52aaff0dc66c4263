"""The list of runs as a page that needs no script; and what the pages may do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING
from urllib.parse import quote

from askew.report.folders.headline import money_text
from askew.report.folders.run_list import RunEntry, date_text, select
from askew.report.html_page import styles
from askew.report.words import clean, label
from askew.serve.query import BadQuery, parse_date

if TYPE_CHECKING:
    import jinja2

_ASKED = ("model", "since")


def index_page(entries: Mapping[str, RunEntry], wanted: Mapping[str, str]) -> str:
    """The runs, the last asked first.

    Args:
        entries: by key.
        wanted: "model", a part of a model's or a run's name, and "since", a day; both may be
            missing or empty.

    Raises:
        BadQuery: something else is asked for, or the day is none.
    """
    if unknown := set(wanted) - set(_ASKED):
        raise BadQuery(f"{min(unknown)!r} is nothing to ask for. Known: {', '.join(_ASKED)}.")
    model, since = (wanted.get(name, "").strip() for name in _ASKED)
    moment = parse_date(since) if since else None
    kept = {id(one) for one in select(list(entries.values()), since=moment)}
    found = [
        (f"run/{quote(key)}", one)
        for key, one in entries.items()
        if id(one) in kept and model.casefold() in f"{one.model}\n{one.name}".casefold()
    ]
    return _template().render(
        style=_style(),
        runs=found,
        total=len(entries),
        model=model,
        since=since,
        date=date_text,
        money=money_text,
        audits=_audits,
    )


def index_policy() -> str:
    """What the list may do: show itself, and ask this server for another."""
    return (
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'"
    )


@cache
def report_policy() -> str:
    """What a report may do: run its own script, which asks this server for items."""
    from askew.report.scripts import policy, script

    return f"{policy(script(), served=True)}; frame-ancestors 'none'"


def _audits(names: Sequence[str]) -> str:
    return ", ".join("FLEX" if name == "flex" else label(name) for name in names)


@cache
def _style() -> object:
    from markupsafe import Markup

    own = files("askew.serve").joinpath("templates", "index.css").read_text(encoding="utf-8")
    return Markup(f"{styles('page.css')}\n{own}")


@cache
def _template() -> jinja2.Template:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("askew.serve"),
        autoescape=True,
        # Markup is a str as well, but it is the style sheet alone.
        finalize=lambda value: clean(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    return environment.get_template("index.html.j2")
