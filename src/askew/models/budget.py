"""What may be spent, what a call may cost, and whether it still fits.

Money is counted in whole billionths ("nanos"), so that sums are exact and a budget of 5.00 holds
to the last digit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from askew.errors import ConfigError

NANOS = 1_000_000_000


class Price(Protocol):
    """What a model charges, in the currency of the user's price list."""

    def cost(self, prompt_tokens: int, completion_tokens: int) -> float:
        """The price of one call, in [0, ∞)."""
        ...


@dataclass(frozen=True, slots=True)
class Budget:
    """An upper bound on calls, tokens (prompt and completion together) and money; None = none."""

    calls: int | None = None
    tokens: int | None = None
    money: float | None = None

    def __post_init__(self) -> None:
        for name in ("calls", "tokens", "money"):
            bound = getattr(self, name)
            if bound is not None and not bound >= 0:
                raise ConfigError(
                    f"budget: {name} is {bound!r}, expected a number from 0 up. "
                    "Leave it out for no bound."
                )


@dataclass(frozen=True, slots=True)
class Cost:
    """What calls take from a budget. `nanos` is None where no price is known."""

    calls: int = 0
    tokens: int = 0
    nanos: int | None = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.calls + other.calls,
            self.tokens + other.tokens,
            None if self.nanos is None or other.nanos is None else self.nanos + other.nanos,
        )

    def __sub__(self, other: Cost) -> Cost:
        return Cost(
            self.calls - other.calls,
            self.tokens - other.tokens,
            None if self.nanos is None or other.nanos is None else self.nanos - other.nanos,
        )

    @property
    def money(self) -> float | None:
        """The same in units of money; None where no price is known."""
        return None if self.nanos is None else self.nanos / NANOS


NOTHING = Cost()


def cost_of_call(price: Price | None, prompt_tokens: int, completion_tokens: int) -> Cost:
    """The cost of one call with these tokens, its money rounded up to a whole nano."""
    nanos = None
    if price is not None:
        # Rounded first: 0.1 * 10**9 may come out a hair above a whole number.
        nanos = math.ceil(round(price.cost(prompt_tokens, completion_tokens) * NANOS, 3))
    return Cost(1, prompt_tokens + completion_tokens, nanos)


@dataclass(frozen=True, slots=True)
class Limits:
    """The budget of the whole run and those of single roles."""

    run: Budget = field(default_factory=Budget)
    roles: Mapping[str, Budget] = field(default_factory=dict)

    def refusal(self, role: str, wanted: Cost, spent: Spending) -> str | None:
        """Why `wanted` no longer fits, in words; None if it does."""
        return _refusal("the run's budget", self.run, wanted, spent.total) or (
            _refusal(f"the budget of role {role!r}", self.roles[role], wanted, spent.of(role))
            if role in self.roles
            else None
        )

    def wants_price(self, role: str) -> bool:
        """Whether money is bounded for calls of this role."""
        return self.run.money is not None or self.roles.get(role, _UNBOUNDED).money is not None


_UNBOUNDED = Budget()


class Spending:
    """What is settled and reserved so far, by role and over all."""

    def __init__(self, roles: Mapping[str, Cost] | None = None) -> None:
        self._roles = dict(roles or {})
        self.total = sum(self._roles.values(), NOTHING)

    def of(self, role: str) -> Cost:
        """What calls of this role have taken."""
        return self._roles.get(role, NOTHING)

    @property
    def roles(self) -> Mapping[str, Cost]:
        """Every role that has taken something."""
        return dict(self._roles)

    def change(self, role: str, taken: Cost, given_back: Cost = NOTHING) -> None:
        """Take one cost and give another back."""
        self._roles[role] = self.of(role) + taken - given_back
        self.total = self.total + taken - given_back

    def copy(self) -> Spending:
        """The same amounts, independent from now on."""
        twin = Spending()
        twin._roles, twin.total = dict(self._roles), self.total
        return twin


def _refusal(whose: str, budget: Budget, wanted: Cost, spent: Cost) -> str | None:
    after = spent + wanted
    if budget.calls is not None and after.calls > budget.calls:
        return f"{whose} of {budget.calls:,} calls is spent"
    if budget.tokens is not None and after.tokens > budget.tokens:
        return (
            f"{whose} of {budget.tokens:,} tokens has {budget.tokens - spent.tokens:,} left, and "
            f"the next call may take {wanted.tokens:,}"
        )
    if budget.money is None:
        return None
    if after.nanos is None:
        return f"{whose} of {budget.money:g} cannot be kept: calls were made without a known price"
    if after.nanos > round(budget.money * NANOS):
        left, next_call = budget.money - (spent.money or 0.0), wanted.money or 0.0
        return (
            f"{whose} of {budget.money:g} has {left:.6f} left, and the next call may cost "
            f"{next_call:.6f}"
        )
    return None
