"""`askew sweep`: one run file over several models, seeds and data, as one job."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from askew.cli import INCOMPLETE
from askew.cli.paying import confirm, money_line
from askew.cli.terminal import console, echo, shown

if TYPE_CHECKING:
    from rich.console import Console

    from askew.run.sweep import SweepDone
    from askew.run.sweep_plan import CellPlan, SweepPlan
    from askew.run.sweep_progress import SweepProgress

SHOWN_CELLS = 60  # in the plan, before it says how many more there are
NAMED = 3  # cells under way that the progress names


def sweep(
    file: Annotated[Path, typer.Argument(help="A sweep file: base, models, seeds, data.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The folder of all cells. [sweeps/FILE]")
    ] = None,
    plan: Annotated[bool, typer.Option("--plan", help="Print the plan, and ask nothing.")] = False,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Do not ask before paid calls are made.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV, and nothing else.")] = False,
    at_once: Annotated[
        int | None,
        typer.Option(min=1, help="Cells of served models under way at once. [4]"),
    ] = None,
    budget_calls: Annotated[
        int | None, typer.Option(min=0, help="At most so many calls, all cells together.")
    ] = None,
    budget_tokens: Annotated[
        int | None, typer.Option(min=0, help="At most so many tokens, all cells together.")
    ] = None,
    budget_money: Annotated[
        float | None, typer.Option(min=0, help="At most so much money, all cells together.")
    ] = None,
    unknown: Annotated[
        str | None, typer.Option(help="skip or retry calls that were sent with unknown outcome.")
    ] = None,
    local_only: Annotated[
        bool, typer.Option("--local-only", help="Refuse models that are not on this machine.")
    ] = False,
    engine: Annotated[
        str, typer.Option(help="Where cells run: local, or ray (workers on this machine).")
    ] = "local",
    workers: Annotated[
        int | None, typer.Option(min=1, help="With ray: at once. [one a processor]")
    ] = None,
    ray_address: Annotated[
        str | None,
        typer.Option(help="HOST:PORT of a Ray cluster, or env. [one of its own, here]"),
    ] = None,
) -> None:
    """Run every combination of models, seeds and data to one plan and budget; leave one table.

    Each cell is a run folder of its own. A cell that fails is begun again and then named, and the
    others go on. The same command again resumes. Exits with 4 if a cell is not complete.
    """
    from askew.errors import ConfigError
    from askew.run.sweep_whole import Where
    from askew.runfile.sweep import read_sweep

    if json and csv:
        raise ConfigError("--json and --csv are two forms of one result. Choose one.")
    place = Where(engine, workers, ray_address)
    options = {
        "out": out,
        "at_once": at_once,
        "budget.calls": budget_calls,
        "budget.tokens": budget_tokens,
        "budget.money": budget_money,
        "unknown": unknown,
        "local_only": local_only or None,
    }
    given = {key: value for key, value in options.items() if value is not None}
    wanted = read_sweep(file, given)
    quiet = json or csv
    with _planning(quiet=quiet) as told:
        planned = place.plan(wanted, told)
    if plan:
        _print_plan_as(planned, json=json)
        return
    _show_plan(console(quiet=quiet), planned)
    confirm(planned.paid_calls, yes=yes)
    with _reporting(quiet=quiet) as advance:
        done = place.run(planned, advance)
    _show(done, json=json, csv=csv)
    sys.exit(INCOMPLETE if done.incomplete else 0)


def _print_plan_as(planned: SweepPlan, *, json: bool) -> None:
    if not json:
        _show_plan(console(), planned)
        return
    from dataclasses import asdict

    from askew.runfolder import json_text

    cells = {
        one.cell.name: {
            "parts": {part.audit: asdict(part) for part in one.parts},
            "calls": one.calls,
            "new": one.new,
            "tokens": one.tokens,
            "money": one.money,
            "seconds": one.seconds,
            "folder": str(planned.sweep.out / one.cell.name),
        }
        for one in planned.cells
    }
    whole = {
        "cells": cells,
        "new": planned.new,
        "paid": planned.paid_calls,
        "tokens": planned.tokens,
        "money": planned.money,
        "seconds": planned.seconds,
        "at_once": planned.at_once,
    }
    typer.echo(json_text(whole), nl=False)


def _show_plan(page: Console, planned: SweepPlan) -> None:
    from rich.table import Table

    from askew.report.progress import in_words
    from askew.report.words import clean

    table = Table(box=None, padding=(0, 1), header_style="bold")
    table.add_column("cell", overflow="fold")
    for column in ("calls", "recorded", "tokens", "money", "time"):
        table.add_column(column, justify="right", no_wrap=True)
    for one in planned.cells[:SHOWN_CELLS]:
        table.add_row(clean(one.cell.name), *_amounts(one))
    page.print(table)
    if (more := len(planned.cells) - SHOWN_CELLS) > 0:
        page.print(f"… and {more:,} more cells")
    took = "not known" if planned.seconds is None else f"about {in_words(planned.seconds)}"
    page.print(
        f"All {len(planned.cells):,} cells together: {planned.new:,} calls to make and "
        f"{planned.tokens:,} tokens at most; money "
        f"{money_line(planned.money, paid=bool(planned.paid_calls))}; time {took}."
    )
    for warning in _short_of_budget(planned):
        page.print(warning)
    page.print(f"Folder: {shown(planned.sweep.out)}")


def _amounts(one: CellPlan) -> tuple[str, ...]:
    from askew.report.progress import in_words

    priced = "?" if one.money is None else f"{one.money:.2f}"
    money = priced if one.paid_calls else "none"
    return (
        f"{one.new:,}",
        f"{one.calls - one.new:,}",
        f"{one.tokens:,}",
        money,
        "?" if one.seconds is None else in_words(one.seconds),
    )


def _short_of_budget(planned: SweepPlan) -> Iterator[str]:
    """What the budget would not cover, if everything came to its bound."""
    from askew.run.sweep_budget import spent_in_cells

    budget = planned.sweep.file.budget
    paths = [planned.sweep.out / one.cell.name for one in planned.cells]
    spent = spent_in_cells(paths).total
    for what, bound, had, most in (
        ("calls", budget.calls, spent.calls, planned.new),
        ("tokens", budget.tokens, spent.tokens, planned.tokens),
        ("money", budget.money, spent.money, planned.money),
    ):
        if bound is not None and had is not None and most is not None and had + most > bound:
            yield (
                f"The budget of {bound:,} {what} is below the {had + most:,.6g} that may be needed "
                "in all: cells that it does not cover stop, and say so."
            )


@contextmanager
def _planning(*, quiet: bool) -> Iterator[Callable[[int, int], None] | None]:
    """How many cells are planned, on a terminal."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.progress import Progress as Bars

    with Bars(console=console(stderr=True), transient=True) as bars:
        task = bars.add_task("planning cells")
        yield lambda done, of: bars.update(task, completed=done, total=of)


@contextmanager
def _reporting(*, quiet: bool) -> Iterator[Callable[[SweepProgress], None]]:
    """One display for the whole sweep: a bar on a terminal, else a line now and then."""
    from askew.report.progress import SECONDS_BETWEEN_LINES

    if quiet or not sys.stderr.isatty():
        due = time.monotonic() + SECONDS_BETWEEN_LINES

        def write(now: SweepProgress) -> None:
            nonlocal due
            if time.monotonic() >= due:
                due = time.monotonic() + SECONDS_BETWEEN_LINES
                echo(f"{now.calls_done:,} of {now.calls:,} calls, {how_far(now)}", stderr=True)

        yield write
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("calls"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.description}"),
    )
    with Bars(*columns, console=console(stderr=True)) as bars:
        task = bars.add_task("", total=None)
        yield lambda now: bars.update(
            task, completed=now.calls_done, total=now.calls, description=how_far(now)
        )


def how_far(now: SweepProgress) -> str:
    """Cells, speed, time left, cost, what is under way and what is given up."""
    from askew.report.folders.headline import money_text
    from askew.report.progress import in_words
    from askew.report.words import clean

    parts = [f"{now.cells_done:,} of {now.cells:,} cells", f"{now.calls_per_second:.1f} calls/s"]
    if now.seconds_left is not None and now.calls_done < now.calls:
        parts.append(f"at most {in_words(now.seconds_left)} left")
    if now.cost is not None:
        parts.append(f"cost {money_text(now.cost)}")
    if now.under_way:
        more = len(now.under_way) - NAMED
        parts.append(
            "now " + " ".join(now.under_way[:NAMED]) + (f" and {more} more" if more > 0 else "")
        )
    if now.failed:
        parts.append(f"{len(now.failed):,} failed")
    return clean(", ".join(parts))


def _show(done: SweepDone, *, json: bool, csv: bool) -> None:
    """The closing table; what is missing; where to look."""
    from askew.report.sweep import CSV, JSON, PAGE, sweep_table
    from askew.report.terminal import to_rich
    from askew.run.sweep_whole import swept_cells

    if json or csv:
        typer.echo((done.out / (JSON if json else CSV)).read_text(encoding="utf-8"), nl=False)
    else:
        console().print(to_rich(sweep_table(swept_cells(done))))
    for one in done.cells:
        if one.why:
            begun = f" (begun {one.starts} times)" if one.starts > 1 else ""
            echo(f"askew: {one.plan.cell.name}: {one.state.value}{begun}: {one.why}", stderr=True)
    if done.incomplete:
        echo("askew: the same command goes on from there.", stderr=True)
    if not json and not csv:
        echo(f"Page: {shown(done.out / PAGE)}")
