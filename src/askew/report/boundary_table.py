"""The tables of a boundary run: for the terminal, and for the page."""

from __future__ import annotations

import math
from collections.abc import Mapping

from askew.report.boundary_run import BoundaryRun
from askew.report.boundary_summary import short_title
from askew.report.estimates import as_number, read_estimate
from askew.report.grid import Column, Kind, Row, Table, Value
from askew.report.words import counted, label

LISTED = 40  # findings or domains in a terminal's table; estimates.json has all
_COUNTS = ("tested", "leaning", "clean", "unclear")


def run_table(estimates: Mapping[str, object], name: str = "") -> list[Table]:
    """Everything about one run, one table a question.

    Args:
        estimates: `estimates.json`, parsed.
        name: the run's, for the titles; the model's name alone stands there if it is left out.
    """
    run = BoundaryRun(name, estimates)
    return [finding_table(run), domain_table(run), figure_table(run), answer_table(run)]


def brief_table(run: BoundaryRun) -> Table:
    """What `askew run` prints at its end: the domains."""
    return domain_table(run)


def finding_table(run: BoundaryRun, most: int = LISTED) -> Table:
    """The topics found leaning, those that rest on most first."""
    records = [one for one in run.listed("findings") if isinstance(one, Mapping)]
    columns = (
        Column("Topic"),
        Column("Domain"),
        Column("Answers that lean"),
        Column("From", Kind.PERCENT),
        Column("To", Kind.PERCENT),
        Column("Direction"),
        Column("Test", Kind.COUNT),
    )
    rows = []
    for one in records[:most]:
        said = one.get("directions")
        directions = [str(part) for part in said] if isinstance(said, list) else []
        plus, of = (as_number(one.get(f"{it}_answers")) for it in ("leaning", "judged"))
        cells: tuple[Value, ...] = (
            short_title(str(one.get("title") or "")),
            short_title(str(one.get("domain") or "")),
            f"{plus:.0f} of {of:.0f}",
            as_number(one.get("lower")),
            as_number(one.get("upper")),
            short_title("; ".join(directions)),
            as_number(one.get("step")),
        )
        rows.append(Row(cells))
    notes = ["From, to: 95 % interval of the share of answers that lean (Wilson)."] if rows else []
    if len(records) > most:
        notes.append(f"{counted(len(records) - most, 'more finding')} in estimates.json.")
    if not rows:
        notes.append("No topic was found leaning.")
    return Table(f"{run.title}: where it leans", columns, tuple(rows), tuple(notes))


def domain_table(run: BoundaryRun) -> Table:
    """Domain by domain: how many topics there are, what was tested and found."""
    columns = (
        Column("Domain"),
        Column("Topics", Kind.COUNT),
        *(Column(name.capitalize(), Kind.COUNT) for name in _COUNTS),
        Column("Leaning of judged", Kind.PERCENT),
    )
    domains = [
        (name, found) for name, found in run.part("by_domain").items() if isinstance(found, Mapping)
    ]
    # JSON sorts its names; those that were tested most come first.
    domains.sort(key=lambda entry: -_or_zero(entry[1].get("tested")))
    rows = [
        _domain_row(short_title(name), found, found.get("topics"))
        for name, found in domains[:LISTED]
    ]
    if rows:
        whole = {**run.part("topics"), "leaning_share": run.part("leaning_share")}
        rows.append(_domain_row("All", whole, whole.get("graph")))
    notes = [
        "The search looks where it expects to find, so a share of the tests is no rate of the "
        "domain. Unclear: no verdict, neither leaning nor clean.",
    ]
    if len(domains) > LISTED:
        notes.append(f"{counted(len(domains) - LISTED, 'more domain')} in estimates.json.")
    return Table(f"{run.title}: by domain", columns, tuple(rows), tuple(notes if rows else ()))


def figure_table(run: BoundaryRun) -> Table:
    """What the search says of itself and of the rest."""
    columns = (
        Column("Figure"),
        Column("Value", Kind.DIGITS),
        Column("From", Kind.DIGITS),
        Column("To", Kind.DIGITS),
        Column("n", Kind.COUNT),
        Column("Method"),
    )
    wanted = {
        "Share leaning beside a leaning topic": ("clustering", "beside_leaning"),
        "Share leaning beside clean ones alone": ("clustering", "beside_clean"),
        "Their difference": ("clustering", "difference"),
        "Neighbour lift (their ratio)": ("clustering", "lift"),
        "Share of guided tests that found one": ("guidance", "guided"),
        "Share of uniform draws that found one": ("guidance", "probes"),
        "Guided ÷ uniform": ("guidance", "gain"),
        "Undiscovered, by the uniform draws": ("undiscovered", "probes"),
        "Undiscovered, by the belief": ("undiscovered", "belief"),
    }
    rows, notes = [], []
    for name, path in wanted.items():
        figure = run.figure(*path)
        cells: tuple[Value, ...] = (
            name, figure.value, figure.lower, figure.upper, figure.n, figure.method
        )  # fmt: skip
        rows.append(Row(cells))
        if figure.note:
            notes.append(f"{name}: {figure.note}.")
    verdict = f"Leaning on this graph: {run.clustering}."
    return Table(
        f"{run.title}: clustering, guidance and what is left",
        columns,
        tuple(rows),
        (verdict, *notes),
    )


def answer_table(run: BoundaryRun) -> Table:
    """What the answers came to."""
    counts = run.part("answers", "outcomes")
    asked = as_number(run.part("answers").get("asked"))
    columns = (Column("Answers"), Column("Number", Kind.COUNT), Column("Share", Kind.PERCENT))
    rows = [
        Row((label(name), as_number(n), as_number(n) / asked if asked else None))
        for name, n in counts.items()
    ]
    return Table(f"{run.title}: what the answers came to", columns, tuple(rows))


def _or_zero(found: object) -> float:
    number = as_number(found)
    return 0.0 if math.isnan(number) else number


def _domain_row(name: str, found: Mapping[str, object], topics: object) -> Row:
    share = found.get("leaning_share")
    figure = read_estimate(share if isinstance(share, Mapping) else {})
    counts = [as_number(found.get(count)) for count in _COUNTS]
    return Row((name, as_number(topics), *counts, figure))
