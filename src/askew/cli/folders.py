"""Commands on run folders: score, table, calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from askew.cli.terminal import console, echo, shown
from askew.errors import ConfigError, unknown_name

if TYPE_CHECKING:
    from askew.report.grid import Table
    from askew.report.which_audit import Audit
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


_LAYOUTS: Mapping[Audit, Sequence[Layout]] = {
    "flex": (Layout.RUN, Layout.TABLE_1, Layout.TABLE_6, Layout.FIGURE_3, Layout.FIGURE_4),
    "clinical": (
        Layout.RUN,
        Layout.TABLE_1,
        Layout.TABLE_2,
        Layout.TABLE_3,
        Layout.TABLE_5,
        Layout.TABLE_6,
        Layout.FIGURE_5,
    ),
    "boundary": (Layout.RUN,),
}

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
    from askew.report.which_audit import parts_of
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
    for audit, figures in parts_of(folder.read_estimates()).items():
        echo(one_sentence(audit, figures))
    echo(f"Report: {shown(folder.report)}")


def _check_rules(run: Path, named: Sequence[str]) -> None:
    """Refuse options by which only another audit's replies are read.

    Raises:
        ConfigError: an option of FLEX was given, and the run is of another audit.
    """
    from askew.report.which_audit import audits_of
    from askew.runfolder import RunFolder

    if not named:
        return
    audits = audits_of(RunFolder.open(run))  # figures may be missing, and made again by `score`
    if "flex" not in audits:
        audit, example = audits[0], _READ_BY[audits[0]]
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
    audit: Annotated[
        str | None, typer.Option(help="Of runs of several audits: which. [all that all have]")
    ] = None,
) -> None:
    """Print the figures of one run or several, like the paper's tables."""
    from askew.report import grid
    from askew.report.terminal import to_rich
    from askew.runfolder import RunFolder

    folders = [RunFolder.open(path) for path in runs]
    made = _tables(layout, folders, audit, intervals=intervals)
    if json or form is Form.JSON:
        typer.echo(grid.to_json(made))
        return
    for one in made:
        if form is Form.TERMINAL:
            console().print(to_rich(one))
        else:
            echo(grid.to_markdown(one) if form is Form.MARKDOWN else grid.to_csv(one))


def _tables(
    layout: Layout, folders: list[RunFolder], audit: str | None, *, intervals: bool
) -> list[Table]:
    """The tables of a layout, for the audits that all runs have.

    Raises:
        ConfigError: the runs have no audit in common, or theirs has no such layout.
    """
    from askew.report.which_audit import parts_of

    parts = {folder.path: parts_of(folder.read_estimates()) for folder in folders}
    common = [one for one in _LAYOUTS if all(one in found for found in parts.values())]
    chosen = [one for one in common if audit in (None, one)]
    if audit is not None and not chosen:
        raise unknown_name("audit that all these runs have", audit, list(common))
    if not common:
        names = ", ".join(f"{shown(path)}: {', '.join(found)}" for path, found in parts.items())
        raise ConfigError(
            f"these runs are of different audits ({names}): no table holds both. Print them apart."
        )
    fitting = [one for one in chosen if layout in _LAYOUTS[one]]
    if not fitting:
        _check_layout(layout, chosen[0], _LAYOUTS[chosen[0]])
    return [
        table
        for one in fitting
        for table in _audit_tables(
            one, layout, folders, [found[one] for found in parts.values()], intervals=intervals
        )
    ]


def _audit_tables(
    audit: Audit,
    layout: Layout,
    folders: list[RunFolder],
    figures: list[Mapping[str, object]],
    *,
    intervals: bool,
) -> list[Table]:
    """The tables of one audit."""
    names = [folder.path.resolve().name for folder in folders]
    if audit == "flex":
        return _flex_tables(layout, names, figures, intervals=intervals)
    if audit == "clinical":
        from askew.report.clinical_layouts import clinical_tables

        return clinical_tables(layout, folders, intervals=intervals)
    from askew.report.boundary_table import run_table

    several = len(folders) > 1
    return [
        one
        for name, found in zip(names, figures, strict=True)
        for one in run_table(found, name if several else "")
    ]


def _check_layout(layout: Layout, audit: str, known: Sequence[Layout]) -> None:
    if layout not in known:
        names = ", ".join(known)
        raise ConfigError(
            f"layout {layout.value} is of another audit; a {audit} run has: {names}. Choose one of "
            "them with --layout."
        )


def _flex_tables(
    layout: Layout, names: list[str], figures: list[Mapping[str, object]], *, intervals: bool
) -> list[Table]:
    from askew.report import table as tables

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
            several = len(names) > 1
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
    """List the calls of a run, with what became of each; --json has their prompts and replies."""
    from dataclasses import asdict

    from askew.models.ledgerfile import State, read_records
    from askew.report.items.redacted import redacted, redaction_of
    from askew.runfolder import RunFolder, json_line

    if state is not None and state not in set(State):
        raise unknown_name("state of a call", state, list(State))
    folder = RunFolder.open(run)
    rules = redaction_of(folder)
    for record in read_records(folder.database):
        if state is not None and record.state != state:
            continue
        if json:
            typer.echo(json_line(redacted(asdict(record), rules)))
        else:
            note = record.error or (record.origin and f"copied from {record.origin}") or ""
            echo(f"{record.key[:12]}  {record.state:8}  {record.attempts} sent  {note}")
