"""`askew clinical run`, `askew clinical plan`, and `askew run` with a `[clinical]` table."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from askew.cli import INCOMPLETE
from askew.cli.clinical_settings import takes_clinical_settings
from askew.cli.paying import confirm, money_line, say_what_failed
from askew.cli.progress import reporting_stages
from askew.cli.terminal import bar_text, console, echo, shown
from askew.errors import ConfigError
from askew.report.words import clean

if TYPE_CHECKING:
    from rich.console import Console

    from askew.run.clinical import Done, Prepared
    from askew.run.clinical_plan import ClinicalPlan
    from askew.runfile import RunFile

Json = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else.")]


@takes_clinical_settings
def run(
    settings: RunFile,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Do not ask before paid calls are made.")
    ] = False,
    json: Json = False,
) -> None:
    """Audit clinical answers: read facts, make twins, ask, judge, report; resumes where it stopped.

    Exits with 4 if replies are missing.
    """
    run_prepared(settings, yes=yes, json=json)


@takes_clinical_settings
def plan(settings: RunFile, json: Json = False) -> None:
    """Say what a clinical run would ask, cost and take; asks nothing."""
    print_plan(settings, json=json)


def init(
    file: Annotated[Path, typer.Argument(help="Where to write it.")] = Path("clinical.toml"),
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that is there.")] = False,
) -> None:
    """Write a run file of the clinical audit with every setting, its default and what it means."""
    from importlib.resources import files

    from askew.durable import write_whole

    if file.exists() and not force:
        raise ConfigError(f"{file} is there already. Name another file, or add --force.")
    text = files("askew.cli").joinpath("clinical_file.toml").read_text(encoding="utf-8")
    write_whole(file, text)
    echo(f"Wrote {shown(file)}. Run it with: askew run {shown(file)}")


def run_prepared(settings: RunFile, *, yes: bool, json: bool) -> NoReturn:
    """Plan, ask before money is spent, run, print what came of it, and end the command."""
    import asyncio

    if len(settings.audits) > 1:
        from askew.cli.auditing import run_all

        run_all(settings, only=["clinical"], yes=yes, json=json)
    prepared, planned = _planned(settings, quiet=json)
    _print_plan(console(quiet=json), prepared, planned)
    paid = [role for role, model in prepared.models.items() if model.paid]
    confirm(planned.new_of(paid), yes=yes)
    sys.exit(asyncio.run(_run(prepared, json=json)))


def print_plan(settings: RunFile, *, json: bool) -> None:
    """Print the plan alone."""
    from askew.runfolder import json_text

    if len(settings.audits) > 1:
        from askew.cli.audit_plan import print_plan as print_parts

        print_parts(settings, only=["clinical"], json=json)
        return
    prepared, planned = _planned(settings, quiet=json)
    if json:
        whole = {
            **asdict(planned),
            "calls": planned.calls,
            "new": planned.new,
            "money": planned.money,
            "vignettes": len(prepared.study.vignettes),
            "variants": len(prepared.twins.variants),
            "folder": str(prepared.path),
        }
        typer.echo(json_text(whole), nl=False)
        return
    _print_plan(console(), prepared, planned)


def _planned(settings: RunFile, *, quiet: bool) -> tuple[Prepared, ClinicalPlan]:
    from askew.run.clinical import prepare
    from askew.run.clinical_plan import plan as plan_of

    with counting(quiet=quiet) as told:
        prepared = prepare(settings, told=told)
    return prepared, plan_of(prepared)


async def _run(prepared: Prepared, *, json: bool) -> int:
    from askew.cli.figures import show_figures
    from askew.run.clinical import execute

    with reporting_stages() as tell:
        done = await execute(prepared, lambda stage: tell(stage.name, stage.name, stage.progress))
    show_figures(done.folder, json=json)
    _say_what_is_missing(prepared, done)
    return INCOMPLETE if done.incomplete else 0


@contextmanager
def counting(*, quiet: bool) -> Iterator[Callable[[str, int, int], None] | None]:
    """A bar for work that asks nobody, on a terminal."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn
    from rich.progress import Progress as Bars

    columns = (bar_text("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Bars(*columns, console=console(stderr=True), transient=True) as bars:
        task = bars.add_task("", total=None)
        yield lambda what, done, total: bars.update(
            task, completed=done, total=total, description=what
        )


def _print_plan(page: Console, prepared: Prepared, planned: ClinicalPlan) -> None:
    from rich.table import Table

    from askew.report.progress import in_words

    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold")
    grid.add_column()
    study, twins = prepared.study, prepared.twins
    grid.add_row("target", clean(prepared.target.name))
    for role, model in prepared.models.items():
        if role != "target":
            grid.add_row(role.replace("_", " "), clean(model.name))
    grid.add_row("vignettes", f"{len(study.vignettes):,}")
    dropped = sum(one.kind != "same" for one in twins.dropped)
    left = f"; {dropped:,} twins dropped, each with its reason in the report" if dropped else ""
    grid.add_row("texts to ask about", f"{len(twins.variants):,}{left}")
    for stage in planned.stages:
        bound = "" if stage.exact else "at most "
        made = stage.calls - stage.new
        already = f", {made:,} recorded already" if made else ""
        grid.add_row(
            clean(stage.name),
            f"{bound}{stage.new:,} calls{already}; tokens at most {stage.prompt_tokens:,} in, "
            f"{stage.completion_tokens:,} out",
        )
    grid.add_row("calls in all", f"at most {planned.new:,} to make")
    grid.add_row("money", money_line(planned.money, paid=prepared.paid))
    if planned.seconds is not None:
        grid.add_row("time", f"about {in_words(planned.seconds)}, {planned.seconds_basis}")
    elif planned.new:
        grid.add_row("time", "not known before the first calls; a bar then says what is left")
    rejected = sum(problem.kind == "rejected" for problem in study.problems)
    if rejected:
        grid.add_row("records skipped", f"{rejected:,}; `askew data check` lists them")
    grid.add_row("folder", shown(prepared.path))
    page.print(grid)


def _say_what_is_missing(prepared: Prepared, done: Done) -> None:
    if done.stopped is not None:
        echo(
            f"askew: stopped early ({done.stopped.stopped}) at {done.stage}: "
            f"{done.stopped.message} The figures are of what was had, and nothing of it is asked "
            "or paid for again.",
            stderr=True,
        )
    say_what_failed(done.folder.path, done.asked, paid=prepared.paid)
