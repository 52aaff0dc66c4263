"""Commands on run folders: score, table, calls, verify."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from askew.cli.terminal import console, echo, shown
from askew.errors import RunError, unknown_name

Runs = Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run folders.")]
Run = Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")]


class Layout(StrEnum):
    """Which of the paper's tables to print."""

    RUN = "run"
    TABLE_1 = "table-1"
    TABLE_6 = "table-6"
    FIGURE_3 = "figure-3"
    FIGURE_4 = "figure-4"


class Form(StrEnum):
    """How a table is printed."""

    TERMINAL = "terminal"
    MARKDOWN = "markdown"
    CSV = "csv"
    JSON = "json"


def score(
    run: Run,
    non_answers: Annotated[str | None, typer.Option(help="left_out or wrong.")] = None,
    normalise: Annotated[str | None, typer.Option(help="sum or bytes.")] = None,
    paraphrase: Annotated[str | None, typer.Option(help="unreadable or neutral.")] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Any other key by which replies are read, e.g. clinical.margins.urgency=0.2.",
        ),
    ] = None,
) -> None:
    """Read the recorded replies again, by other rules if wanted; asks no model."""
    from askew.cli.settings import assignment
    from askew.report.summary import sentence
    from askew.run import rescore

    options = {
        "flex.non_answers": non_answers,
        "flex.normalise": normalise,
        "flex.paraphrase": paraphrase,
        **dict(assignment(one) for one in set_ or ()),
    }
    folder = rescore(run, {key: value for key, value in options.items() if value is not None})
    echo(sentence(folder.read_estimates()))
    echo(f"Report: {shown(folder.report)}")


def table(
    runs: Runs,
    layout: Annotated[Layout, typer.Option(help="Like which table of the paper.")] = Layout.RUN,
    form: Annotated[Form, typer.Option("--format", help="How to print it.")] = Form.TERMINAL,
    json: Annotated[bool, typer.Option("--json", help="Short for --format json.")] = False,
    intervals: Annotated[bool, typer.Option(help="Print intervals beside the figures.")] = True,
) -> None:
    """Print the figures of one run or several, like the paper's tables."""
    from askew.report import table as tables
    from askew.runfolder import RunFolder

    figures = [RunFolder.open(path).read_estimates() for path in runs]
    names = [path.name for path in runs]
    match layout:
        case Layout.RUN:
            made = [
                one
                for path, figure in zip(runs, figures, strict=True)
                for one in tables.run_table(figure, path.name if len(runs) > 1 else "")
            ]
        case Layout.TABLE_1:
            made = [tables.table_1(figures, intervals=intervals, names=names)]
        case Layout.TABLE_6:
            made = [tables.table_6(figures, intervals=intervals, names=names)]
        case Layout.FIGURE_3:
            made = [tables.figure_3(figures, intervals=intervals, names=names)]
        case Layout.FIGURE_4:
            made = [tables.figure_4(figures, intervals=intervals, names=names)]
    if json or form is Form.JSON:
        typer.echo(tables.to_json(made))
        return
    for one in made:
        if form is Form.TERMINAL:
            console().print(tables.to_rich(one))
        else:
            echo(tables.to_markdown(one) if form is Form.MARKDOWN else tables.to_csv(one))


def calls(
    run: Run,
    state: Annotated[
        str | None, typer.Option(help="planned, sent, received, failed or unknown.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """List the calls of a run, with what became of each."""
    from dataclasses import asdict

    from askew.models.ledgerfile import State, read_records
    from askew.runfolder import RunFolder, json_line

    if state is not None and state not in set(State):
        raise unknown_name("state of a call", state, list(State))
    for record in read_records(RunFolder.open(run).database):
        if state is not None and record.state != state:
            continue
        if json:
            typer.echo(json_line(asdict(record)))
        else:
            note = record.error or (record.origin and f"copied from {record.origin}") or ""
            echo(f"{record.key[:12]}  {record.state:8}  {record.attempts} sent  {note}")


def verify(run: Run) -> None:
    """Check a run folder against its MANIFEST."""
    from askew.runfolder import RunFolder

    trouble = RunFolder.open(run).verify()
    if trouble:
        raise RunError(f"{run} is not as it was left:\n  " + "\n  ".join(trouble))
    echo(f"{run}: every file is as the run left it")
