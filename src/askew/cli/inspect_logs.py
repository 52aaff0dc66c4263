"""`askew export inspect` and `askew import inspect`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from askew.cli import INCOMPLETE
from askew.cli.figures import show_figures
from askew.cli.folders import Run
from askew.cli.terminal import echo, shown


def export_inspect(
    run: Run,
    out: Annotated[Path, typer.Argument(metavar="OUT.eval", help="The log to write.")],
) -> None:
    """Write a run as a log of Inspect AI, for its viewer and data frames; .eval or .json."""
    from askew.interop.inspect_export import export_log

    count = export_log(run, out)
    echo(f"Wrote {count:,} samples to {shown(out)}. Look at them with: inspect view start")


def import_inspect(
    log: Annotated[Path, typer.Argument(metavar="LOG.eval", help="A log of askew/flex.")],
    out: Annotated[
        Path | None, typer.Option(help="The run folder to make. [runs/NAME OF THE LOG]")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print estimates.json alone.")] = False,
) -> None:
    """Make a run folder of a log of Inspect AI; its replies are read by askew's rules.

    Exits with 4 if replies are missing, or pairs of the task.
    """
    from askew.interop.inspect_import import import_log

    imported = import_log(log, out or Path("runs") / log.stem)
    for remark in imported.remarks:
        echo(f"askew: {remark}", stderr=True)
    show_figures(imported.folder, json=json)
    sys.exit(INCOMPLETE if imported.missing or imported.errors or imported.ended_early else 0)
