"""How a command ends that has made a run folder: with its figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from askew.cli.terminal import console, echo, shown

if TYPE_CHECKING:
    from askew.runfolder import RunFolder


def show_figures(folder: RunFolder, *, json: bool) -> None:
    """Print the run's table, its sentence and where to look on; or its `estimates.json` alone."""
    from askew.report.summary import sentence
    from askew.report.table import run_table, to_rich

    if json:
        typer.echo(folder.estimates.read_text(encoding="utf-8"))
        return
    figures = folder.read_estimates()
    console().print(to_rich(run_table(figures)[0]))
    echo(sentence(figures))
    echo(f"More tables: askew table {shown(folder.path)}")
    echo(f"Report: {shown(folder.report)}")
