"""How a command ends that has made a run folder: with its figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import typer

from askew.cli.terminal import console, echo, shown

if TYPE_CHECKING:
    from askew.report.grid import Table
    from askew.report.which_audit import Audit
    from askew.runfolder import RunFolder


def show_figures(folder: RunFolder, *, json: bool) -> None:
    """Print each audit's table and sentence and where to look on; or `estimates.json` alone."""
    from askew.report.terminal import to_rich
    from askew.report.which_audit import parts_of

    if json:
        typer.echo(folder.estimates.read_text(encoding="utf-8"))
        return
    for audit, figures in parts_of(folder.read_estimates()).items():
        console().print(to_rich(_first_table(audit, figures)))
        echo(one_sentence(audit, figures))
    echo(f"More tables: askew table {shown(folder.path)}")
    echo(f"Report: {shown(folder.report)}")


def one_sentence(audit: Audit, figures: Mapping[str, object]) -> str:
    """What an audit found, in one sentence."""
    if audit == "clinical":
        from askew.report.clinical_summary import sentence as clinical_sentence

        return clinical_sentence(figures)
    if audit == "boundary":
        from askew.report.boundary_summary import sentence as boundary_sentence

        return boundary_sentence(figures)
    from askew.report.summary import sentence

    return sentence(figures)


def _first_table(audit: Audit, figures: Mapping[str, object]) -> Table:
    if audit == "clinical":
        from askew.report.clinical_run import ClinicalRun
        from askew.report.clinical_table import brief_table

        return brief_table(ClinicalRun("", figures))
    if audit == "boundary":
        from askew.report.boundary_run import BoundaryRun
        from askew.report.boundary_table import brief_table as boundary_table

        return boundary_table(BoundaryRun("", figures))
    from askew.report.table import run_table

    return run_table(figures)[0]
