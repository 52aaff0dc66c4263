"""The same audit of several models: one budget for all, and a page beside their folders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from askew.models.budget import Cost, Spending
from askew.models.ledgerfile import read_records
from askew.run.audit import Prepared
from askew.runfile import RoleBudgetTable, RunFile
from askew.runfolder import RunFolder

Budgets = TypeVar("Budgets", bound=RoleBudgetTable)


def within_budget(prepared: Prepared, others: Sequence[Path]) -> Prepared:
    """The run with what the other models' runs have left of the budget, and of that of each role.

    Args:
        prepared: of one model.
        others: the folders of the other models; those that are not there have spent nothing.
    """
    spent, budget = spent_in(others), prepared.run.budget
    roles = {role: less(table, spent.of(role)) for role, table in budget.roles.items()}
    budget = less(budget, spent.total).model_copy(update={"roles": roles})

    def with_it(run: RunFile) -> RunFile:
        return run.model_copy(update={"budget": budget})

    parts: dict[Any, Any] = {
        name: replace(part, run=with_it(part.run)) for name, part in prepared.parts.items()
    }
    return replace(prepared, run=with_it(prepared.run), parts=parts)


def spent_in(paths: Sequence[Path]) -> Spending:
    """What the runs in some folders have spent together; one that is not there has spent nothing.

    Raises:
        RunError: the ledger of one is damaged.
    """
    spent = Spending()
    for path in paths:
        ledger = path / "run.sqlite"
        for record in read_records(ledger) if ledger.is_file() else ():
            spent.change(record.call.role, record.cost)
    return spent


def less(budget: Budgets, spent: Cost) -> Budgets:
    """A budget less what was spent; what cannot be told of money counts as spent."""
    left: dict[str, float | int] = {}
    if budget.calls is not None:
        left["calls"] = max(0, budget.calls - spent.calls)
    if budget.tokens is not None:
        left["tokens"] = max(0, budget.tokens - spent.tokens)
    if budget.money is not None:
        # Where another model has no price, nothing can be said of the rest: it counts as spent.
        left["money"] = 0.0 if spent.money is None else max(0.0, budget.money - spent.money)
    return budget.model_copy(update=left)


def compare_models(folders: Sequence[RunFolder], out: Path | None) -> Path | None:
    """A page that shows the runs side by side; None where there is only one.

    Args:
        folders: of the runs; the first is what the others are held against.
        out: the folder in which they lie; None: beside the first.
    """
    if len(folders) < 2:
        return None
    from askew.report.compare import write_comparison

    place = folders[0].path.parent if out is None else out
    return write_comparison(folders, place / "compare.html")
