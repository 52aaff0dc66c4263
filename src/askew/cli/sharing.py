"""`askew export report`: a run's page for other people, without texts where they are not to."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from askew.cli.folders import Run
from askew.cli.terminal import echo, shown


def export_report(
    run: Run,
    out: Annotated[Path, typer.Argument(metavar="OUT.html", help="The file to write.")],
    without_texts: Annotated[
        bool,
        typer.Option(
            "--without-texts",
            help="Leave out prompts, replies, items and settings: figures and counts alone.",
        ),
    ] = False,
) -> None:
    """Write a run's report as one file, made anew from the run; it needs no network.

    Whether a text of the run is in a page without texts is looked for, byte by byte.
    """
    from askew.report.page import report_html
    from askew.report.shared_page import check_without_texts
    from askew.runfolder import RunFolder, write_whole

    folder = RunFolder.open(run)
    html = report_html(folder, texts=not without_texts)
    if without_texts:
        looked_for = check_without_texts(folder, html)
        write_whole(out, html)
        echo(f"Wrote {shown(out)}: none of {looked_for:,} prompts and replies is in it.")
        return
    write_whole(out, html)
    echo(f"Wrote {shown(out)}: it holds prompts and replies of the run; see who may read it.")
