"""What a notebook shows of a run: a sentence and one table. No script, no style of the page's."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from askew.errors import RunError
from askew.report import boundary_summary, boundary_table, clinical_summary
from askew.report.boundary_run import BoundaryRun
from askew.report.clinical_run import ClinicalRun
from askew.report.clinical_table import brief_table
from askew.report.estimates import Run
from askew.report.grid import Kind, Table, row_texts
from askew.report.summary import sentence, warnings
from askew.report.table import robustness_table
from askew.report.which_audit import parts_of
from askew.report.words import clean
from askew.runfolder import RunFolder


def card(folder: RunFolder) -> str:
    """The run as a piece of HTML; texts of data and models are shown as texts."""
    where = f"<p>Report: <code>{_text(str(folder.report))}</code></p>"
    try:
        figures = folder.read_estimates()
    except RunError as trouble:
        return f"<p>{_text(str(trouble))}</p>{where}"
    parts = []
    for audit, part in parts_of(figures).items():
        texts, table = _OF_AUDIT[audit](part)
        parts.append("".join(f"<p>{_text(one)}</p>" for one in texts) + _table(table))
    return f"{''.join(parts)}{where}"


def _of_flex(figures: Mapping[str, object]) -> tuple[list[str], Table]:
    return [sentence(figures), *warnings(figures)], robustness_table(Run("", figures))


def _of_clinical(figures: Mapping[str, object]) -> tuple[list[str], Table]:
    said = [clinical_summary.sentence(figures), *clinical_summary.warnings(figures)]
    return said, brief_table(ClinicalRun("", figures))


def _of_boundary(figures: Mapping[str, object]) -> tuple[list[str], Table]:
    said = [boundary_summary.sentence(figures), *boundary_summary.warnings(figures)]
    return said, boundary_table.brief_table(BoundaryRun("", figures))


_OF_AUDIT = {"flex": _of_flex, "clinical": _of_clinical, "boundary": _of_boundary}


def _table(table: Table) -> str:
    right = [column.kind is not Kind.TEXT for column in table.columns]
    head = _row("th", [column.heading for column in table.columns], right)
    body = "".join(_row("td", row_texts(row, table.columns), right) for row in table.rows)
    notes = "".join(f"<p><small>{_text(note)}</small></p>" for note in table.notes)
    return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>{notes}"


def _row(tag: str, cells: list[str], right: list[bool]) -> str:
    styled = (
        f'<{tag} style="text-align:{"right" if number else "left"}">{_text(cell)}</{tag}>'
        for cell, number in zip(cells, right, strict=True)
    )
    return f"<tr>{''.join(styled)}</tr>"


def _text(text: str) -> str:
    return escape(clean(text))
