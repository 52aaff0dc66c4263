"""`askew boundary search`, `plan`, `init`, and `askew run` with a `[boundary]` table."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from askew.cli import INCOMPLETE
from askew.cli.boundary_settings import takes_boundary_settings
from askew.cli.paying import confirm, money_line, say_what_failed
from askew.cli.terminal import bar_text, console, echo, shown
from askew.errors import ConfigError
from askew.report.words import clean

if TYPE_CHECKING:
    from rich.console import Console

    from askew.audits.boundary import Found
    from askew.run.boundary import Done, Prepared
    from askew.run.boundary_plan import BoundaryPlan
    from askew.runfile import RunFile

Json = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else.")]


@takes_boundary_settings
def search(
    settings: RunFile,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Do not ask before paid calls are made.")
    ] = False,
    json: Json = False,
) -> None:
    """Find the topics on which a model leans, test by test; resumes where it stopped.

    Exits with 4 if replies are missing.
    """
    run_prepared(settings, yes=yes, json=json)


@takes_boundary_settings
def plan(settings: RunFile, json: Json = False) -> None:
    """Say what a search would ask, cost and take; asks nothing."""
    print_plan(settings, json=json)


def init(
    file: Annotated[Path, typer.Argument(help="Where to write it.")] = Path("boundary.toml"),
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that is there.")] = False,
) -> None:
    """Write a run file of the boundary audit with every setting, its default and what it means."""
    from importlib.resources import files

    from askew.durable import write_whole

    if file.exists() and not force:
        raise ConfigError(f"{file} is there already. Name another file, or add --force.")
    text = files("askew.cli").joinpath("boundary_file.toml").read_text(encoding="utf-8")
    write_whole(file, text)
    echo(f"Wrote {shown(file)}. Run it with: askew run {shown(file)}")


def run_prepared(settings: RunFile, *, yes: bool, json: bool) -> NoReturn:
    """Plan, ask before money is spent, search, print what came of it, and end the command."""
    import asyncio

    if len(settings.audits) > 1:
        from askew.cli.auditing import run_all

        run_all(settings, only=["boundary"], yes=yes, json=json)
    prepared, planned = _planned(settings)
    _print_plan(console(quiet=json), prepared, planned)
    new = sum(one.new for one in planned.roles if prepared.models[one.role].paid)
    confirm(new, yes=yes)
    sys.exit(asyncio.run(_run(prepared, json=json)))


def print_plan(settings: RunFile, *, json: bool) -> None:
    """Print the plan alone."""
    from askew.runfolder import json_text

    if len(settings.audits) > 1:
        from askew.cli.audit_plan import print_plan as print_parts

        print_parts(settings, only=["boundary"], json=json)
        return
    prepared, planned = _planned(settings)
    if json:
        whole = {
            **asdict(planned),
            "calls": planned.calls,
            "new": planned.new,
            "money": planned.money,
            "graph": prepared.graph.size,
            "folder": str(prepared.path),
        }
        typer.echo(json_text(whole), nl=False)
        return
    _print_plan(console(), prepared, planned)


def _planned(settings: RunFile) -> tuple[Prepared, BoundaryPlan]:
    from askew.run.boundary import prepare
    from askew.run.boundary_plan import plan as plan_of

    prepared = prepare(settings)
    return prepared, plan_of(prepared)


async def _run(prepared: Prepared, *, json: bool) -> int:
    from askew.cli.figures import show_figures
    from askew.run.boundary import execute

    with reporting_topics(prepared.tests) as tell:
        done = await execute(prepared, tell)
    show_figures(done.folder, json=json)
    _say_what_to_mind(done)
    _say_what_is_missing(prepared, done)
    return INCOMPLETE if done.incomplete else 0


@contextmanager
def reporting_topics(tests: int) -> Iterator[Callable[[Found], None]]:
    """How many topics were tested and found: a bar on a terminal, else a line now and then."""
    if not sys.stderr.isatty():
        from askew.report.progress import SECONDS_BETWEEN_LINES

        yield _Lines(SECONDS_BETWEEN_LINES)
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (
        bar_text("topics tested"),
        BarColumn(),
        MofNCompleteColumn(),
        bar_text("{task.description}"),
        TimeRemainingColumn(),
    )
    with Bars(*columns, console=console(stderr=True)) as bars:
        task = bars.add_task("", total=tests)
        yield lambda now: bars.update(task, completed=now.tested, description=_so_far(now))


class _Lines:
    """A line on stderr now and then."""

    def __init__(self, seconds: float) -> None:
        import time

        self._clock = time.monotonic
        self._seconds = seconds
        self._next = self._clock() + seconds

    def __call__(self, now: Found) -> None:
        if self._clock() >= self._next:
            self._next = self._clock() + self._seconds
            echo(f"{now.tested:,} of {now.queries:,} topics tested, {_so_far(now)}", stderr=True)


def _so_far(now: Found) -> str:
    unclear = f", {now.unclear:,} unclear" if now.unclear else ""
    return f"{now.leaning:,} leaning{unclear}"


def _print_plan(page: Console, prepared: Prepared, planned: BoundaryPlan) -> None:
    from rich.table import Table

    from askew.report.progress import in_words

    table = prepared.table
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold")
    grid.add_column()
    for role, model in prepared.models.items():
        grid.add_row(role, clean(model.name))
    if "judge" not in prepared.models:
        grid.add_row("judge", f"a rule that looks for the slant {clean(table.slant)!r}")
    if "generator" not in prepared.models:
        grid.add_row("questions", "askew's own, the same form for every topic")
    grid.add_row("graph", f"{prepared.graph.size:,} topics, {prepared.graph.edges:,} edges")
    grid.add_row("policy", clean(table.policy))
    grid.add_row("topics to test", f"{planned.topics:,}, {table.questions} questions each")
    for one in planned.roles:
        made = one.calls - one.new
        already = f", {made:,} recorded already" if made else ""
        usual = f" (usually {one.usual:,})" if one.usual < one.calls else ""
        grid.add_row(
            f"calls of the {one.role}",
            f"at most {one.new:,}{usual}{already}; tokens at most {one.prompt_tokens:,} in, "
            f"{one.completion_tokens:,} out",
        )
    grid.add_row("calls in all", f"at most {planned.new:,} to make")
    grid.add_row("money", money_line(planned.money, paid=prepared.paid))
    if planned.seconds is not None:
        grid.add_row("time", f"about {in_words(planned.seconds)}, {planned.seconds_basis}")
    elif planned.new:
        grid.add_row("time", "not known before the first calls; a bar then says what is left")
    grid.add_row("folder", shown(prepared.path))
    page.print(grid)


def _say_what_to_mind(done: Done) -> None:
    """The report's warnings; how the run stopped is told beside them."""
    from askew.report.boundary_summary import warnings

    if done.stopped is None:
        for warning in warnings(done.folder.read_estimates()):
            echo(f"askew: {clean(warning)}", stderr=True)


def _say_what_is_missing(prepared: Prepared, done: Done) -> None:
    if done.stopped is not None:
        echo(
            f"askew: stopped early ({done.stopped.stopped}) after {len(done.tests):,} topics: "
            f"{done.stopped.message} The figures are of what was had; the same command goes on "
            "from there, and nothing is asked or paid for again.",
            stderr=True,
        )
    say_what_failed(done.folder.path, done.asked, paid=prepared.paid)
