"""The plan of several audits: what each part would ask, cost and take; what a budget covers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import typer

from askew.cli.paying import money_line
from askew.cli.terminal import console, shown
from askew.report.words import clean

if TYPE_CHECKING:
    from rich.console import Console

    from askew.run.audit import PartPlan, Prepared
    from askew.runfile import RunFile


def print_plan(settings: RunFile, *, only: Sequence[str] = (), json: bool) -> None:
    """Print the plan alone, with a time for each part."""
    from askew.runfolder import json_text

    prepared = prepared_of(settings, only, quiet=json)
    planned = planned_of(prepared)
    if json:
        typer.echo(json_text(_plan_values(prepared, planned)), nl=False)
    else:
        show_plan(console(), prepared, planned)


def print_plans(runs: Sequence[RunFile], *, json: bool) -> None:
    """Print the plans of several models, and what all of them come to."""
    from askew.runfolder import json_text

    prepared = [prepared_of(run, (), quiet=json) for run in runs]
    planned = [planned_of(one) for one in prepared]
    if not json:
        show_plans(console(), prepared, planned)
        return
    every = [part for its in planned for part in its]
    whole = {
        "models": {
            one.run.target.name: _plan_values(one, its)
            for one, its in zip(prepared, planned, strict=True)
        },
        "calls": sum(part.calls for part in every),
        "new": sum(part.new for part in every),
        "money": _money(every),
    }
    typer.echo(json_text(whole), nl=False)


def _plan_values(prepared: Prepared, planned: Sequence[PartPlan]) -> dict[str, object]:
    return {
        "parts": {one.audit: asdict(one) for one in planned},
        "calls": sum(one.calls for one in planned),
        "new": sum(one.new for one in planned),
        "money": _money(planned),
        "folder": str(prepared.path),
    }


def prepared_of(settings: RunFile, only: Sequence[str], *, quiet: bool) -> Prepared:
    """The parts of a run, settled and read; a bar says how far the reading has come."""
    from askew.cli.clinical_running import counting
    from askew.run.audit import prepare

    with counting(quiet=quiet) as told:
        return prepare(settings, only, told=told)


def planned_of(prepared: Prepared) -> list[PartPlan]:
    """The plan of each part, with its time."""
    import asyncio

    from askew.run.audit import plan, timed

    return asyncio.run(timed(prepared, plan(prepared)))


def _money(planned: Sequence[PartPlan]) -> float | None:
    known = [one.money for one in planned if one.new]
    found = [money for money in known if money is not None]
    return sum(found) if len(found) == len(known) else None


def show_plan(page: Console, prepared: Prepared, planned: Sequence[PartPlan]) -> None:
    """One model's plan, and whether the budget covers it."""
    _print_parts(page, prepared, planned)
    for warning in _short_of_budget([prepared], planned):
        page.print(warning)


def show_plans(
    page: Console, prepared: Sequence[Prepared], planned: Sequence[Sequence[PartPlan]]
) -> None:
    """Each model's plan, and whether the budget, which is of all together, covers them."""
    for one, its in zip(prepared, planned, strict=True):
        _print_parts(page, one, its)
    every = [part for its in planned for part in its]
    page.print(f"All models together: {sum(one.new for one in every):,} calls to make at most.")
    for warning in _short_of_budget(prepared, every):
        page.print(warning)


def _print_parts(page: Console, prepared: Prepared, planned: Sequence[PartPlan]) -> None:
    from rich.table import Table

    from askew.report.progress import in_words
    from askew.run.audit import models_of

    head = Table.grid(padding=(0, 2))
    head.add_column(style="bold")
    head.add_column()
    named = {
        role: model.name
        for part in prepared.parts.values()
        for role, model in models_of(part).items()
    }
    for role, name in named.items():
        head.add_row(role.replace("_", " "), clean(name))
    if "judge" not in named and "boundary" in prepared.wanted:
        head.add_row("judge", "none: rules read the answers")
    head.add_row("folder", shown(prepared.path))
    page.print(head)
    recorded = any(one.calls > one.new for one in planned)
    table = Table(box=None, padding=(0, 1), header_style="bold")
    table.add_column("part", no_wrap=True)
    table.add_column("asks about")
    numbers = ["calls", *(["recorded"] if recorded else []), "tokens", "money", "time"]
    for column in numbers:
        table.add_column(column, justify="right", no_wrap=True)
    for one in (*planned, _total(planned)):
        table.add_row(
            one.audit,
            one.subject,
            f"{one.new:,}",
            *([f"{one.calls - one.new:,}"] if recorded else []),
            f"{one.prompt_tokens + one.completion_tokens:,}",
            _money_cell(one.money, paid=bool(one.paid)),
            "?" if one.seconds is None else in_words(one.seconds),
            end_section=one is planned[-1],
        )
    page.print(table)
    page.print("Calls to make, tokens (in and out) and money at most; the time is an estimate.")
    if any(one.paid for one in planned):
        page.print(f"money: {money_line(_money(planned), paid=True)}")


def _total(planned: Sequence[PartPlan]) -> PartPlan:
    """All parts as one row; its time is known where every part's is."""
    times = [one.seconds for one in planned if one.new]
    known = [seconds for seconds in times if seconds is not None]
    return replace(
        planned[0],
        audit="all",  # type: ignore[arg-type]  # the name of a row, of no audit
        calls=sum(one.calls for one in planned),
        new=sum(one.new for one in planned),
        paid=sum(one.paid for one in planned),
        prompt_tokens=sum(one.prompt_tokens for one in planned),
        completion_tokens=sum(one.completion_tokens for one in planned),
        money=_money(planned),
        seconds=sum(known) if len(known) == len(times) else None,
        subject="",
    )


def _money_cell(money: float | None, *, paid: bool) -> str:
    if not paid:
        return "none"
    return "?" if money is None else f"{money:.2f}"


def _short_of_budget(prepared: Sequence[Prepared], planned: Sequence[PartPlan]) -> list[str]:
    """What the budget would not cover, if everything came to its bound.

    Args:
        prepared: of one model or several, which share the budget.
        planned: all their parts.
    """
    from askew.run.audit_models import spent_in

    budget = prepared[0].run.budget
    spent = spent_in([one.path for one in prepared]).total
    tokens = sum(one.prompt_tokens + one.completion_tokens for one in planned)
    needed: list[tuple[str, float | None, float | None, float | None]] = [
        ("calls", budget.calls, spent.calls, sum(one.new for one in planned)),
        ("tokens", budget.tokens, spent.tokens, tokens),
        ("money", budget.money, spent.money, _money(planned)),
    ]
    return [
        f"The budget of {_amount(bound)} {what}"
        f"{f', of which {_amount(had)} are spent,' if had else ''} is below the "
        f"{_amount(had + most)} that may be needed: the run stops when it is spent, part by part "
        "in the order above."
        for what, bound, had, most in needed
        if bound is not None and had is not None and most is not None and had + most > bound
    ]


def _amount(value: float) -> str:
    """Calls and tokens whole, money to six digits."""
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"
