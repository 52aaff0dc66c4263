"""What a sweep would ask, cost and take: cell by cell, and in all.

A cell's calls are what it would ask if no other cell were there. Cells of one model that share
questions share the answers, so the sum is what may be asked at most. Models that cost nothing are
asked a few calls, to measure how long one takes; what they answer is not kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush

from askew.errors import AskewError, ConfigError
from askew.models.background import run_in_background
from askew.run.audit import PartPlan, models_of, plan, prepare, timed
from askew.run.sweep_budget import Wish
from askew.runfile.sweep import Cell, Sweep

SHOWN = 3  # faulty cells in an error
Told = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class CellPlan:
    """What one cell would still ask.

    Attributes:
        cell: which.
        parts: its audits.
        here: whether any of its models works in this process, one batch after another.
        paid: whether any of its models costs money a call.
    """

    cell: Cell
    parts: tuple[PartPlan, ...]
    here: bool
    paid: bool

    @property
    def calls(self) -> int:
        """All calls, those that are recorded included, at most."""
        return sum(part.calls for part in self.parts)

    @property
    def new(self) -> int:
        """Calls to be made, at most."""
        return sum(part.new for part in self.parts)

    @property
    def tokens(self) -> int:
        """Tokens of the new calls, in and out, at most."""
        return sum(part.prompt_tokens + part.completion_tokens for part in self.parts)

    @property
    def paid_calls(self) -> int:
        """Of the new calls, those that cost money."""
        return sum(part.paid for part in self.parts)

    @property
    def money(self) -> float | None:
        """Of the new calls, at most; None where a price is missing."""
        known = [part.money for part in self.parts if part.new]
        found = [money for money in known if money is not None]
        return sum(found) if len(found) == len(known) else None

    @property
    def seconds(self) -> float | None:
        """Of the new calls; None where nothing is known."""
        known = [part.seconds for part in self.parts if part.new]
        found = [seconds for seconds in known if seconds is not None]
        return sum(found) if len(found) == len(known) else None

    @property
    def wish(self) -> Wish:
        """What it may need of a budget."""
        return Wish(self.new, self.tokens, self.money, self.paid_calls)


@dataclass(frozen=True, slots=True)
class SweepPlan:
    """What a sweep would still ask.

    Attributes:
        sweep: which.
        cells: one a cell, in order.
        at_once: cells that will be under way at once.
        alone: whether cells with a model that works in this process run one after another.
    """

    sweep: Sweep
    cells: tuple[CellPlan, ...]
    at_once: int
    alone: bool

    @property
    def new(self) -> int:
        """Calls to be made, at most."""
        return sum(one.new for one in self.cells)

    @property
    def paid_calls(self) -> int:
        """Of them, those that cost money."""
        return sum(one.paid_calls for one in self.cells)

    @property
    def tokens(self) -> int:
        """At most."""
        return sum(one.tokens for one in self.cells)

    @property
    def money(self) -> float | None:
        """At most; None where a price is missing."""
        known = [one.money for one in self.cells if one.new]
        found = [money for money in known if money is not None]
        return sum(found) if len(found) == len(known) else None

    @property
    def seconds(self) -> float | None:
        """From the first start to the last end, cells started in order; None where not known."""
        lanes = [0.0] * self.at_once
        heapify(lanes)
        alone = 0.0
        for one in self.cells:
            if not one.new:
                continue
            if one.seconds is None:
                return None
            if self.alone and one.here:
                alone += one.seconds
            else:
                heappush(lanes, heappop(lanes) + one.seconds)
        return max(*lanes, alone)


def plan_sweep(
    sweep: Sweep, at_once: int, *, alone: bool = True, told: Told | None = None
) -> SweepPlan:
    """Plan every cell; refuses the sweep where a cell cannot be run as it is written.

    Args:
        sweep: what to plan.
        at_once: cells that will be under way at once.
        alone: whether cells with a model that works in this process run one after another.
        told: cells planned, cells in all.

    Raises:
        ConfigError: names the first cells that cannot be run, and why.
    """
    planned: list[CellPlan] = []
    faults: list[str] = []
    known: dict[tuple[str, str], CellPlan] = {}  # by model and data
    for number, cell in enumerate(sweep.cells):
        try:
            one = _planned(cell, known.get((cell.model, cell.data)))
        except AskewError as trouble:
            faults.append(f"cell {cell.name}: {trouble}")
        else:
            if one.new and one.seconds is not None:
                known.setdefault((cell.model, cell.data), one)
            planned.append(one)
        if told is not None:
            told(number + 1, len(sweep.cells))
    if faults:
        more = len(faults) - SHOWN
        raise ConfigError(
            "\n".join(faults[:SHOWN]) + (f"\n… and {more} more cells." if more > 0 else "")
        )
    made = SweepPlan(sweep, tuple(planned), at_once, alone)
    _check_prices(made)
    return made


def _planned(cell: Cell, alike: CellPlan | None) -> CellPlan:
    """A cell's plan.

    Args:
        cell: which.
        alike: one of the same model and data, whose calls were timed.
    """
    prepared = prepare(cell.run)
    models = [model for part in prepared.parts.values() for model in models_of(part).values()]
    parts = plan(prepared)
    if alike is None:
        untimed = parts
        parts = run_in_background(lambda interrupts, tell: timed(prepared, untimed))
    else:
        parts = [_timed_as(part, alike.parts) for part in parts]
    return CellPlan(
        cell,
        tuple(parts),
        any(model.parallel == 1 for model in models),
        any(model.paid for model in models),
    )


def _timed_as(part: PartPlan, others: Sequence[PartPlan]) -> PartPlan:
    """The part with the time that a call took in another cell."""
    if part.seconds is not None:
        return part
    for other in others:
        if other.audit == part.audit and other.new and other.seconds is not None:
            return replace(part, seconds=other.seconds / other.new * part.new, basis=other.basis)
    return part


def _check_prices(planned: SweepPlan) -> None:
    """Refuse a money budget over calls without a price.

    Raises:
        ConfigError: there is one.
    """
    if planned.sweep.file.budget.money is None:
        return
    for one in planned.cells:
        if one.paid_calls and one.money is None:
            raise ConfigError(
                f"the sweep's money budget needs the prices of cell {one.cell.name}, and one is "
                "not known. Name a prices.toml in the base run file, or bound calls or tokens."
            )
