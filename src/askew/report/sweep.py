"""The end of a sweep: a table with a row a cell, as page, CSV and JSON beside their folders."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from urllib.parse import quote

from askew import __version__
from askew.errors import RunError
from askew.records import Estimate
from askew.report.estimates import Run
from askew.report.folders.headline import Headline, figures_of, headlines, money_text
from askew.report.grid import Column, Kind, Row, Table, Value, notes_on_undefined, to_csv
from askew.report.html_page import styles, template
from askew.report.scripts import policy
from askew.report.which_audit import AUDITS, Audit
from askew.report.words import NOT_MEANINGFUL, UNDEFINED, counted
from askew.runfolder import RunFolder, json_text, write_whole

PAGE, CSV, JSON = "sweep.html", "sweep.csv", "sweep.json"
_FLEX = {
    "source_accuracy": "Accuracy, plain",
    "flex_accuracy": "Accuracy, attacked",
    "attack_success_rate": "Attack success",
}


@dataclass(frozen=True, slots=True)
class SweptCell:
    """One cell of a sweep, as it has ended.

    Attributes:
        name: of its folder.
        model: what its model is called.
        data: what its data are called; "" where the sweep names none.
        seed: its seed.
        state: "complete", "incomplete", "failed" or "not finished".
        why: what it lacks or failed with.
        calls: that were made in all its starts.
        money: what they cost; None where a price is missing.
        path: its folder.
    """

    name: str
    model: str
    data: str
    seed: int
    state: str
    why: str
    calls: int
    money: float | None
    path: Path

    @property
    def estimates(self) -> Mapping[str, object]:
        """Its figures; none where it has none, or they cannot be read."""
        folder = RunFolder(self.path)
        try:
            return folder.read_estimates() if folder.estimates.is_file() else {}
        except RunError:
            return {}


def sweep_table(cells: Sequence[SweptCell]) -> Table:
    """A row a cell: its state, the main figures of its audits with intervals, calls and cost."""
    estimates = [cell.estimates for cell in cells]
    found = [{one.audit: one for one in headlines(its)} for its in estimates]
    audits = [audit for audit in AUDITS if any(audit in its for its in found)]
    with_data = any(cell.data for cell in cells)
    columns = (
        Column("Model"),
        *([Column("Data")] if with_data else []),
        Column("Seed"),
        Column("State"),
        *(column for audit in audits for column in _columns(audit)),
        Column("Calls", Kind.COUNT),
        Column("Cost", Kind.DIGITS),
    )
    rows = tuple(
        Row(
            (
                cell.model,
                *([cell.data] if with_data else []),
                str(cell.seed),
                cell.state,
                *(value for audit in audits for value in _values(audit, its, heads.get(audit))),
                cell.calls,
                math.nan if cell.money is None else cell.money,
            ),
            objection=_objection(heads),
            link=_report_link(cell),
        )
        for cell, its, heads in zip(cells, estimates, found, strict=True)
    )
    done = sum(cell.state == "complete" for cell in cells)
    notes = [f"{done:,} of {counted(len(cells), 'cell')} complete. Intervals: 95 %."]
    if any(row.objection for row in rows):
        said = dict.fromkeys(row.objection for row in rows if row.objection)
        notes.append(f"{NOT_MEANINGFUL} not meaningful: {'; '.join(said)}.")
    return Table("Cells", columns, rows, (*notes, *notes_on_undefined(columns, rows)))


def _columns(audit: Audit) -> tuple[Column, ...]:
    if audit == "flex":
        return tuple(Column(title, Kind.PERCENT, "FLEX") for title in _FLEX.values())
    if audit == "clinical":
        return (Column("Clinical"),)
    return (Column("Boundary"), Column("Leaning, of all topics", Kind.PERCENT))


def _values(
    audit: Audit, estimates: Mapping[str, object], headline: Headline | None
) -> tuple[Value, ...]:
    if headline is None:
        return (None,) * len(_columns(audit))
    if audit == "flex":
        return tuple(_figures(headline, estimates).values())
    if audit == "clinical":
        return (headline.text,)
    text = headline.text.partition(";")[0]  # the rest is the estimate beside it
    return (text, headline.estimate if headline.estimate.defined else UNDEFINED)


def _objection(heads: Mapping[Audit, Headline]) -> str:
    unfit = [audit for audit, one in heads.items() if one.meaningful is False]
    return f"the model was not fit for {' and '.join(unfit)}" if unfit else ""


def _report_link(cell: SweptCell) -> str:
    """A relative link, every part quoted: a folder's name cannot become a scheme."""
    if not (cell.path / "report.html").is_file():
        return ""
    return f"./{quote(os.fsencode(cell.path.name), safe='')}/report.html"


def sweep_json(cells: Sequence[SweptCell]) -> str:
    """Every cell with its state and the main figure of each audit, null where undefined."""
    return json_text(
        {
            "askew": __version__,
            "complete": sum(cell.state == "complete" for cell in cells),
            "cells": [_plain(cell) for cell in cells],
        }
    )


def _plain(cell: SweptCell) -> dict[str, object]:
    estimates = cell.estimates
    figures: dict[str, object] = {}
    for one in headlines(estimates):
        own = _figures(one, estimates)
        figures[one.audit] = {"text": one.text, "meaningful": one.meaningful, "figures": own}
    return {**asdict(cell), "path": str(cell.path), "audits": figures}


FIGURE_COLUMNS = (
    "cell",
    "model",
    "data",
    "run_seed",
    "state",
    "audit",
    "figure",
    "meaningful",
    *(part.name for part in fields(Estimate)),
)


def figure_rows(cells: Sequence[SweptCell]) -> Iterator[dict[str, object]]:
    """One row a cell and main figure; a cell without figures has none."""
    for cell in cells:
        estimates = cell.estimates
        for one in headlines(estimates):
            for name, estimate in _figures(one, estimates).items():
                yield {
                    "cell": cell.name,
                    "model": cell.model,
                    "data": cell.data,
                    "run_seed": cell.seed,
                    "state": cell.state,
                    "audit": one.audit,
                    "figure": name,
                    "meaningful": one.meaningful,
                    **asdict(estimate),
                }


def _figures(headline: Headline, estimates: Mapping[str, object]) -> dict[str, Estimate]:
    """The main figures of an audit, by name."""
    if headline.audit != "flex":
        return {headline.title: headline.estimate}
    run = Run("", figures_of(estimates)["flex"])
    return {name: run.figure(name, "overall") for name in _FLEX}


def write_sweep(out: Path, title: str, cells: Sequence[SweptCell]) -> Path:
    """Write page, CSV and JSON into the folder of the cells.

    Args:
        out: the folder.
        title: what the sweep is called.
        cells: in order.

    Returns:
        The page.

    Raises:
        RunError: a file cannot be written.
    """
    table = sweep_table(cells)
    write_whole(out / JSON, sweep_json(cells))
    write_whole(out / CSV, to_csv(table))
    left = [(cell.name, f"{cell.state}: {cell.why}") for cell in cells if cell.why]
    page = template("sweep.html.j2").render(
        policy=policy(None),
        style=styles("page.css", "compare.css"),
        title=title,
        cells=cells,
        done=sum(cell.state == "complete" for cell in cells),
        calls=sum(cell.calls for cell in cells),
        money=money_text(_sum_of([cell.money for cell in cells])),
        table=table,
        left=left,
        out=str(out),
        version=__version__,
    )
    write_whole(out / PAGE, page)
    return out / PAGE


def _sum_of(amounts: Sequence[float | None]) -> float | None:
    known = [amount for amount in amounts if amount is not None]
    return sum(known) if len(known) == len(amounts) else None
