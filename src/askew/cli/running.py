"""`askew run`, `askew plan`, `askew init`."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from askew.cli import INCOMPLETE, audit_plan, auditing, boundary_running, clinical_running
from askew.cli.figures import show_figures
from askew.cli.progress import reporting
from askew.cli.settings import takes_settings
from askew.cli.terminal import console, echo, shown
from askew.errors import ConfigError, unknown_name
from askew.report.words import clean

if TYPE_CHECKING:
    from rich.console import Console

    from askew.models.runner import Answers, Plan
    from askew.run import Duration, Prepared
    from askew.runfile import RunFile
    from askew.runfolder import RunFolder

SHOWN_CHARACTERS = 300  # of an error; it may quote a whole prompt
CHANGES_TO_SEE = (0.03, 0.05, 0.10)

Json = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else.")]


Only = Annotated[
    str | None, typer.Option(help="Of a file with several audits: which, e.g. flex,boundary.")
]


@takes_settings
def run(
    settings: RunFile,
    only: Only = None,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Do not ask before paid calls are made.")
    ] = False,
    json: Json = False,
) -> None:
    """Run an audit, or the audits of a file: plan, ask, score, report.

    The same command again resumes where it stopped.

    Exits with 4 if replies are missing.
    """
    if len(settings.audits) > 1:
        auditing.run_all(settings, only=_named(only), yes=yes, json=json)
    _check_only(settings, only)
    if settings.clinical is not None:
        clinical_running.run_prepared(settings, yes=yes, json=json)
    if settings.boundary is not None:
        boundary_running.run_prepared(settings, yes=yes, json=json)
    run_prepared(settings, yes=yes, json=json)


def run_prepared(settings: RunFile, *, yes: bool, json: bool) -> NoReturn:
    """Plan FLEX, ask before money is spent, run, print what came of it, and end the command."""
    import asyncio

    from askew.run import plan as plan_of
    from askew.run import prepare

    prepared = prepare(settings)
    planned = plan_of(prepared)
    _print_plan(console(quiet=json), prepared, planned)
    _confirm(prepared, planned, yes=yes)
    sys.exit(asyncio.run(_run(prepared, planned, json=json)))


def _named(only: str | None) -> list[str]:
    """The audits that `--only` names; [] where it is not given.

    Raises:
        ConfigError: it is given, and names none.
    """
    names = [one.strip() for one in (only or "").split(",") if one.strip()]
    if only is not None and not names:
        raise ConfigError("--only names no audit. Name one or more, such as --only boundary.")
    return names


def _check_only(settings: RunFile, only: str | None) -> None:
    """Refuse the name of an audit that the settings do not hold."""
    for name in _named(only):
        if name not in settings.audits:
            raise unknown_name("audit of these settings", name, list(settings.audits))


@takes_settings
def plan(settings: RunFile, only: Only = None, json: Json = False) -> None:
    """Say what a run would ask, cost, take and be able to see; asks no paid call."""
    import asyncio

    from askew.report.progress import in_words
    from askew.run import duration, prepare
    from askew.run import plan as plan_of

    if len(settings.audits) > 1:
        audit_plan.print_plan(settings, only=_named(only), json=json)
        return
    _check_only(settings, only)
    if settings.clinical is not None:
        clinical_running.print_plan(settings, json=json)
        return
    if settings.boundary is not None:
        boundary_running.print_plan(settings, json=json)
        return
    prepared = prepare(settings)
    planned = plan_of(prepared)
    expected = asyncio.run(duration(prepared, planned))
    if json:
        typer.echo(_plan_json(prepared, planned, expected))
    else:
        page = console()
        _print_plan(page, prepared, planned)
        page.print(f"time: {in_words(expected.seconds)}, {expected.basis}")


def init(
    file: Annotated[Path, typer.Argument(help="Where to write it.")] = Path("askew.toml"),
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that is there.")] = False,
) -> None:
    """Write a run file with every setting, its default and what it means."""
    from importlib.resources import files

    from askew.durable import write_whole

    if file.exists() and not force:
        raise ConfigError(f"{file} is there already. Name another file, or add --force.")
    text = files("askew.cli").joinpath("run_file.toml").read_text(encoding="utf-8")
    write_whole(file, text)
    echo(f"Wrote {file}. Run it with: askew run {file}")


async def _run(prepared: Prepared, planned: Plan, *, json: bool) -> int:
    from askew.run import execute

    with reporting(planned) as advance:
        folder, answers = await execute(prepared, advance)
    show_figures(folder, json=json)
    _say_what_is_missing(folder, answers, paid=prepared.model.paid)
    return INCOMPLETE if answers.missing or answers.failed else 0


def _say_what_is_missing(folder: RunFolder, answers: Answers, *, paid: bool) -> None:
    run = shown(folder.path)
    if answers.stopped:
        echo(
            f"askew: stopped early ({answers.stopped}): {answers.message} {answers.missing:,} "
            "replies are missing; run the same command again to go on.",
            stderr=True,
        )
    if answers.failed:
        errors = (reply.error for reply in answers.replies if reply is not None and reply.error)
        first = " ".join(next(errors, "no word why").split())[:SHOWN_CHARACTERS]
        echo(
            f"askew: {answers.failed:,} calls failed, the first with: {first}\n"
            f"askew: list them with `askew calls {run} --state failed`; run the same command again "
            "to ask them again.",
            stderr=True,
        )
    if answers.unknown:
        again = (
            "ask them again with `--unknown retry`" if paid else "the next start asks them again"
        )
        echo(
            f"askew: {answers.unknown:,} calls were sent and their outcome is unknown; list them "
            f"with `askew calls {run} --state unknown`; {again}.",
            stderr=True,
        )


def _print_plan(page: Console, prepared: Prepared, planned: Plan) -> None:
    from rich.table import Table

    from askew.report.progress import in_words
    from askew.stats.gate import FEWEST_ITEMS
    from askew.stats.paired import pairs_needed

    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold")
    grid.add_column()
    study = prepared.study
    grid.add_row("target", clean(prepared.model.name))
    grid.add_row(
        "questions",
        f"{len(study.items):,} items in {prepared.pairs:,} pairs, {len(study.controls):,} controls",
    )
    grid.add_row("calls", _calls_line(planned))
    grid.add_row(
        "tokens",
        f"at most {planned.prompt_tokens:,} in, {planned.completion_tokens_at_most:,} out",
    )
    grid.add_row("money", _money_line(prepared, planned))
    if planned.seconds:
        grid.add_row("time", f"about {in_words(planned.seconds)}")
    needed = ", ".join(
        f"{change * 100:.0f} points: {pairs_needed(change):,}" for change in CHANGES_TO_SEE
    )
    grid.add_row("pairs it takes to see a change of", needed)
    if len(study.controls) < FEWEST_ITEMS:
        grid.add_row(
            "too few controls",
            f"{FEWEST_ITEMS} are needed, or the figures will be marked as not meaningful",
        )
    for what, why in study.left_out.items():
        grid.add_row("left out", clean(f"{what}: {why}"))
    rejected = sum(problem.kind == "rejected" for problem in study.problems)
    if rejected:
        grid.add_row("rows skipped", f"{rejected:,}; `askew data check` lists them")
    grid.add_row("folder", shown(prepared.path))
    page.print(grid)


def _calls_line(planned: Plan) -> str:
    parts = [f"{planned.new:,} to make"]
    for count, word in (
        (planned.reused, "recorded already"),
        (planned.duplicates, "the same as another"),
        (planned.unknown, "sent before with unknown outcome"),
    ):
        if count:
            parts.append(f"{count:,} {word}")
    return ", ".join(parts)


def _money_line(prepared: Prepared, planned: Plan) -> str:
    if not prepared.model.paid:
        return "none: this model costs nothing a call"
    if planned.money_at_most is None:
        return "not known: give a dated price list with --prices"
    return f"at most {planned.money_at_most:.2f}"


def _plan_json(prepared: Prepared, planned: Plan, expected: Duration) -> str:
    from askew.runfolder import json_text
    from askew.stats.paired import pairs_needed

    return json_text(
        {
            **asdict(planned),
            "seconds": expected.seconds,
            "seconds_basis": expected.basis,
            "items": len(prepared.study.items),
            "pairs": prepared.pairs,
            "controls": len(prepared.study.controls),
            "pairs_needed": {str(change): pairs_needed(change) for change in CHANGES_TO_SEE},
            "left_out": dict(prepared.study.left_out),
            "folder": str(prepared.path),
        }
    )


def _confirm(prepared: Prepared, planned: Plan, *, yes: bool) -> None:
    """Ask before money is spent; where nobody can answer, `--yes` has to be given."""
    if yes or not prepared.model.paid or not planned.new:
        return
    if not sys.stdin.isatty():
        raise ConfigError(
            f"{planned.new:,} paid calls are planned and nobody can be asked. Add --yes."
        )
    typer.confirm(f"Make {planned.new:,} calls?", abort=True)
