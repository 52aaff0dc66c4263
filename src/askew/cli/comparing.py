"""`askew compare`: is the new version fairer?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from askew.cli.terminal import console, echo, shown
from askew.errors import ConfigError

if TYPE_CHECKING:
    from askew.report.compare.records import Comparison

Runs = Annotated[
    list[Path], typer.Argument(metavar="BASELINE RUN...", help="Run folders, the baseline first.")
]


def compare(
    runs: Runs,
    margin: Annotated[
        float, typer.Option(help="The largest difference of a share that would not matter.")
    ] = 0.03,
    out: Annotated[
        Path | None,
        typer.Option(help="The page to write; default: compare.html beside the last run."),
    ] = None,
    flips: Annotated[
        int, typer.Option(help="Flipped items of each kind to list with their replies.")
    ] = 25,
    seed: Annotated[int, typer.Option(help="Of the bootstrap.")] = 0,
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Compare runs that were not asked or read alike.")
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print the comparison as JSON and write no page.")
    ] = False,
) -> None:
    """Hold runs against a baseline: what flipped, paired tests, intervals, a verdict.

    Only items that both runs were asked in the same words are compared. The verdict is better,
    worse, no difference within the margin, or cannot tell; then it says how many more items would
    decide.
    """
    from askew.report.compare import compare as compare_runs
    from askew.report.compare import write_page
    from askew.report.compare.tables import to_json

    _check(runs, margin, flips, seed)
    found = compare_runs(*runs, margin=margin, seed=seed, flips=flips, anyway=anyway)
    if json:
        typer.echo(to_json(found), nl=False)
        if out is not None:
            write_page(found, out)
        return
    _show(found)
    page = out or runs[-1].resolve().parent / "compare.html"
    echo(f"Report: {shown(write_page(found, page))}")


def _check(runs: list[Path], margin: float, flips: int, seed: int) -> None:
    if len(runs) < 2:
        raise ConfigError("name two run folders or more: the baseline, then what is held to it.")
    if not 0 < margin < 1:
        raise ConfigError(f"--margin is {margin}, expected a share between 0 and 1, as 0.03.")
    if flips < 0:
        raise ConfigError(f"--flips is {flips}, expected 0 or more.")
    if seed < 0:
        raise ConfigError(f"--seed is {seed}, expected 0 or more.")


def _show(found: Comparison) -> None:
    from askew.report.compare.tables import brief_tables, left_rows, setting_rows
    from askew.report.terminal import to_rich

    for run in found.comparisons:
        for table in brief_tables(run):
            console().print(to_rich(table))
        for name, why in left_rows(run):
            echo(f"Left out: {name}: {why}")
        for name, values in setting_rows(run):
            echo(f"Differs: {name}: {values}")
        for audit in run.audits:
            for caution in audit.cautions:
                echo(f"Caution: {caution}")
        echo(run.sentence)
