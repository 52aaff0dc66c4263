"""One budget over the cells of a sweep: each is lent a part before it starts, and returns the rest.

A cell that is under way counts with its whole lease, one that is not with what its ledger says it
has spent. So the sum never exceeds the budget, whatever the cells do at the same time, and after a
crash nothing has to be repaired: the ledgers say what was spent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from askew.models.budget import NANOS, NOTHING, Cost, Spending
from askew.models.ledgerfile import as_run_error, open_to_read
from askew.run.audit_models import less
from askew.runfile import BudgetTable, RoleBudgetTable

Number = TypeVar("Number", int, float)

_ENDED = ("received", "failed", "unknown")
_TAKEN = """
SELECT role, state, count(*), sum(reserved_calls + settled_calls),
    sum(reserved_tokens + settled_tokens),
    CASE WHEN count(*) = count(reserved_nanos + settled_nanos)
    THEN sum(reserved_nanos + settled_nanos) END
FROM calls GROUP BY role, state
"""
_HAS_CALLS = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'calls'"


@dataclass(frozen=True, slots=True)
class Taken:
    """What a cell's ledger says.

    Attributes:
        ended: calls that are answered, reused, failed or unknown.
        failed: of them, those known to have no reply.
        spending: what the calls took, by role; what is reserved for those under way included.
    """

    ended: int
    failed: int
    spending: Spending


NOTHING_TAKEN = Taken(0, 0, Spending())


def taken(cell: Path) -> Taken:
    """What the ledger in a cell's folder says; all zero where there is none.

    Raises:
        RunError: the ledger is damaged.
    """
    ledger = cell / "run.sqlite"
    if not ledger.is_file():
        return NOTHING_TAKEN
    with closing(open_to_read(ledger)) as database, as_run_error(ledger):
        if database.execute(_HAS_CALLS).fetchone() is None:  # made, and nothing planned yet
            return NOTHING_TAKEN
        rows = database.execute(_TAKEN).fetchall()
    roles: dict[str, Cost] = {}
    for role, _, _, calls, tokens, nanos in rows:
        roles[role] = roles.get(role, NOTHING) + Cost(calls, tokens, nanos)
    counts = dict.fromkeys(_ENDED, 0)
    for _, state, count, *_ in rows:
        if state in counts:
            counts[state] += count
    return Taken(sum(counts.values()), counts["failed"], Spending(roles))


@dataclass(frozen=True, slots=True)
class Wish:
    """What a cell may come to need at most, by its plan."""

    calls: int
    tokens: int
    money: float | None  # None: a price is missing
    paid: int  # of the calls, those that cost money


class Leases:
    """The budget of a sweep, leased to its cells.

    Args:
        budget: of all cells together.
        cells: their folders, by number.
    """

    def __init__(self, budget: BudgetTable, cells: Sequence[Path]) -> None:
        self._budget = budget
        self._cells = cells
        self._leased: dict[int, BudgetTable] = {}
        self._spent: dict[int, Spending] = {}

    @property
    def bounded(self) -> bool:
        """Whether there is anything to keep."""
        return self._budget != BudgetTable()

    def lease(self, cell: int, wish: Wish, own: BudgetTable) -> BudgetTable | None:
        """What a cell may spend in all, what it has spent before included; None: it has to wait.

        Args:
            cell: its number.
            wish: what it may need now.
            own: its budget by its own run file, which holds as well.
        """
        if not self.bounded:
            return own
        others = _sum(self._counted(other) for other in range(len(self._cells)) if other != cell)
        left = _left(self._budget, others)
        mine = self._read(cell)
        roles = {role: less(table, others.of(role)) for role, table in self._budget.roles.items()}
        if self._leased and (roles or not _covers(left, mine.total, wish)):
            return None  # what is under way may give something back
        lease = _enough(left, mine.total, wish)
        # A model that costs nothing needs no price, and so no bound on its money.
        money = lease.money if wish.paid else None
        lease = BudgetTable(calls=lease.calls, tokens=lease.tokens, money=money, roles=roles)
        self._leased[cell] = lease
        return _both(lease, own)

    def give_back(self, cell: int) -> None:
        """A cell has ended: from now on it counts with what it has spent."""
        self._leased.pop(cell, None)
        self._spent.pop(cell, None)

    def _counted(self, cell: int) -> Spending:
        lease = self._leased.get(cell)
        if lease is None:
            return self._read(cell)
        roles = dict(self._read(cell).roles)
        held = Spending(roles)
        # What the lease holds beyond what was spent belongs to no role yet.
        held.change("", _up_to(lease, held.total))
        return held

    def _read(self, cell: int) -> Spending:
        if cell not in self._spent:
            found = taken(self._cells[cell]).spending
            if cell in self._leased:
                return found  # it goes on spending
            self._spent[cell] = found
        return self._spent[cell]


def _sum(parts: Iterable[Spending]) -> Spending:
    roles: dict[str, Cost] = {}
    for part in parts:
        for role, cost in part.roles.items():
            roles[role] = roles.get(role, NOTHING) + cost
    return Spending(roles)


def _left(budget: BudgetTable, spent: Spending) -> BudgetTable:
    whole = BudgetTable(calls=budget.calls, tokens=budget.tokens, money=budget.money)
    return less(whole, spent.total)


def _nanos(money: float) -> int:
    return round(money * NANOS)


def _up_to(lease: BudgetTable, spent: Cost) -> Cost:
    """What a lease holds beyond what was spent."""
    money = 0
    if lease.money is not None and spent.nanos is not None:
        money = max(0, _nanos(lease.money) - spent.nanos)
    return Cost(
        max(0, (lease.calls or 0) - spent.calls), max(0, (lease.tokens or 0) - spent.tokens), money
    )


def _covers(left: BudgetTable, spent: Cost, wish: Wish) -> bool:
    """Whether what is left covers what a cell has spent and may need."""
    money = None if wish.money is None or spent.money is None else spent.money + wish.money
    return all(
        bound is None or (needed is not None and needed <= bound)
        for bound, needed in (
            (left.calls, spent.calls + wish.calls),
            (left.tokens, spent.tokens + wish.tokens),
            (left.money if wish.paid else None, money),
        )
    )


def _enough(left: BudgetTable, spent: Cost, wish: Wish) -> BudgetTable:
    """As much of what is left as a cell may need."""
    money = left.money
    if money is not None and wish.money is not None and spent.money is not None:
        money = min(money, spent.money + wish.money)
    return BudgetTable(
        calls=None if left.calls is None else min(left.calls, spent.calls + wish.calls),
        tokens=None if left.tokens is None else min(left.tokens, spent.tokens + wish.tokens),
        money=money,
    )


def _both(one: BudgetTable, other: BudgetTable) -> BudgetTable:
    """The smaller bound of two budgets, role by role."""
    roles = {
        role: _lower(one.roles.get(role, NO_BOUND), other.roles.get(role, NO_BOUND))
        for role in {**other.roles, **one.roles}
    }
    whole = _lower(one, other)
    return BudgetTable(calls=whole.calls, tokens=whole.tokens, money=whole.money, roles=roles)


NO_BOUND = RoleBudgetTable()


def _lower(one: RoleBudgetTable, other: RoleBudgetTable) -> RoleBudgetTable:
    return RoleBudgetTable(
        calls=_least(one.calls, other.calls),
        tokens=_least(one.tokens, other.tokens),
        money=_least(one.money, other.money),
    )


def _least(one: Number | None, other: Number | None) -> Number | None:
    known = [bound for bound in (one, other) if bound is not None]
    return min(known) if known else None


def spent_in_cells(cells: Sequence[Path]) -> Spending:
    """What the runs in some folders have spent together."""
    return _sum(taken(cell).spending for cell in cells)
