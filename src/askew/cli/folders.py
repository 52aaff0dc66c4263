"""Commands on run folders: score, table, calls, verify."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from askew.cli.terminal import console, echo, shown
from askew.errors import ConfigError, RunError, unknown_name

if TYPE_CHECKING:
    from askew.report.grid import Table
    from askew.runfolder import RunFolder

Runs = Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run folders.")]
Run = Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")]


class Layout(StrEnum):
    """Which of the papers' tables to print."""

    RUN = "run"
    TABLE_1 = "table-1"
    TABLE_2 = "table-2"
    TABLE_3 = "table-3"
    TABLE_5 = "table-5"
    TABLE_6 = "table-6"
    FIGURE_3 = "figure-3"
    FIGURE_4 = "figure-4"
    FIGURE_5 = "figure-5"


FLEX_LAYOUTS = (
    Layout.RUN,
    Layout.TABLE_1,
    Layout.TABLE_6,
    Layout.FIGURE_3,
    Layout.FIGURE_4,
)

# A setting by which the replies of other audits than FLEX are read.
_READ_BY = {"clinical": "clinical.margins.urgency=0.2", "boundary": "boundary.threshold=0.8"}


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
            help="Any other key by which replies are read, e.g. clinical.margins.urgency=0.2, "
            "boundary.threshold=0.8.",
        ),
    ] = None,
) -> None:
    """Read the recorded replies again, by other rules if wanted; asks no model."""
    from askew.cli.figures import one_sentence
    from askew.cli.settings import assignment
    from askew.run import rescore

    named = {"--non-answers": non_answers, "--normalise": normalise, "--paraphrase": paraphrase}
    _check_rules(run, [name for name, value in named.items() if value is not None])
    options = {
        "flex.non_answers": non_answers,
        "flex.normalise": normalise,
        "flex.paraphrase": paraphrase,
        **dict(assignment(one) for one in set_ or ()),
    }
    folder = rescore(run, {key: value for key, value in options.items() if value is not None})
    echo(one_sentence(folder.read_estimates()))
    echo(f"Report: {shown(folder.report)}")


def _check_rules(run: Path, named: Sequence[str]) -> None:
    """Refuse options by which only another audit's replies are read.

    Raises:
        ConfigError: an option of FLEX was given, and the run is of another audit.
    """
    from askew.report.which_audit import audit_of
    from askew.runfolder import RunFolder

    if not named:
        return
    audit = audit_of(RunFolder.open(run))  # its figures may be missing, and made again by `score`
    if example := _READ_BY.get(audit):
        raise ConfigError(
            f"{' and '.join(named)}: an option of FLEX, and {shown(run)} is a {audit} run. Leave "
            f"it out; {audit} replies are read by --set, e.g. --set {example}."
        )


def table(
    runs: Runs,
    layout: Annotated[Layout, typer.Option(help="Like which table of the paper.")] = Layout.RUN,
    form: Annotated[Form, typer.Option("--format", help="How to print it.")] = Form.TERMINAL,
    json: Annotated[bool, typer.Option("--json", help="Short for --format json.")] = False,
    intervals: Annotated[bool, typer.Option(help="Print intervals beside the figures.")] = True,
) -> None:
    """Print the figures of one run or several, like the paper's tables."""
    from askew.report import grid
    from askew.report.terminal import to_rich
    from askew.runfolder import RunFolder

    made = _tables(layout, [RunFolder.open(path) for path in runs], intervals=intervals)
    if json or form is Form.JSON:
        typer.echo(grid.to_json(made))
        return
    for one in made:
        if form is Form.TERMINAL:
            console().print(to_rich(one))
        else:
            echo(grid.to_markdown(one) if form is Form.MARKDOWN else grid.to_csv(one))


def _tables(layout: Layout, folders: list[RunFolder], *, intervals: bool) -> list[Table]:
    """The tables of a layout, by the audit of the runs.

    Raises:
        ConfigError: the runs are of different audits, or their audit has no such layout.
    """
    from askew.report.boundary_table import run_table
    from askew.report.clinical_layouts import LAYOUTS, clinical_tables
    from askew.report.which_audit import audit_in

    figures = {folder.path: folder.read_estimates() for folder in folders}
    audits = {path: audit_in(found) for path, found in figures.items()}
    if len(set(audits.values())) > 1:
        names = ", ".join(f"{shown(path)}: {audit}" for path, audit in audits.items())
        raise ConfigError(
            f"these runs are of different audits ({names}): no table holds both. Print them apart."
        )
    if "boundary" in audits.values():
        _check_layout(layout, "boundary", [Layout.RUN])
        several = len(folders) > 1
        return [
            one
            for path, found in figures.items()
            for one in run_table(found, path.name if several else "")
        ]
    if "clinical" in audits.values():
        _check_layout(layout, "clinical", [Layout(name) for name in LAYOUTS])
        return clinical_tables(layout, folders, intervals=intervals)
    _check_layout(layout, "flex", FLEX_LAYOUTS)
    return _flex_tables(layout, folders, intervals=intervals)


def _check_layout(layout: Layout, audit: str, known: Sequence[Layout]) -> None:
    if layout not in known:
        names = ", ".join(known)
        raise ConfigError(
            f"layout {layout.value} is of another audit; a {audit} run has: {names}. Choose one of "
            "them with --layout."
        )


def _flex_tables(layout: Layout, folders: list[RunFolder], *, intervals: bool) -> list[Table]:
    from askew.report import table as tables

    figures = [folder.read_estimates() for folder in folders]
    names = [folder.path.name for folder in folders]
    match layout:
        case Layout.TABLE_1:
            return [tables.table_1(figures, intervals=intervals, names=names)]
        case Layout.TABLE_6:
            return [tables.table_6(figures, intervals=intervals, names=names)]
        case Layout.FIGURE_3:
            return [tables.figure_3(figures, intervals=intervals, names=names)]
        case Layout.FIGURE_4:
            return [tables.figure_4(figures, intervals=intervals, names=names)]
        case _:
            several = len(folders) > 1
            return [
                one
                for name, figure in zip(names, figures, strict=True)
                for one in tables.run_table(figure, name if several else "")
            ]


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
