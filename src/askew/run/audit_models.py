"""The same audit of several models: one budget for all, and a page beside their folders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from askew.models.budget import Cost
from askew.models.ledgerfile import read_records
from askew.run.audit import Prepared
from askew.runfile import BudgetTable, RunFile
from askew.runfolder import RunFolder


def within_budget(prepared: Prepared, others: Sequence[Path]) -> Prepared:
    """The run with what the other models' runs have left of the budget.

    Args:
        prepared: of one model.
        others: the folders of the other models; those that are not there have spent nothing.
    """
    spent = sum((_spent(path) for path in others), Cost())
    budget = _less(prepared.run.budget, spent)

    def with_it(run: RunFile) -> RunFile:
        return run.model_copy(update={"budget": budget})

    parts: dict[Any, Any] = {
        name: replace(part, run=with_it(part.run)) for name, part in prepared.parts.items()
    }
    return replace(prepared, run=with_it(prepared.run), parts=parts)


def _spent(path: Path) -> Cost:
    ledger = path / "run.sqlite"
    if not ledger.is_file():
        return Cost()
    return sum((record.cost for record in read_records(ledger)), Cost())


def _less(budget: BudgetTable, spent: Cost) -> BudgetTable:
    """The budget less what was spent; a budget of roles stays, as it is each model's own."""
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
