"""What was read from one reply or one row of log-probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

# Characters of a reply, its reasoning taken off, in which an answer is looked for. A hundred times
# what is asked for: what is longer answers nothing, and would keep a reader busy for minutes.
LONGEST_ANSWER = 100_000

Hint = Literal["answered", "tied", "refused", "unreadable", "truncated"]


@dataclass(frozen=True, slots=True)
class Reading:
    """The option that was chosen, by the place at which it was shown, or why there is none."""

    place: int | None  # 0 for the first option shown; None unless `outcome_hint` is "answered"
    outcome_hint: Hint
    rule: str  # the rule that decided; docs/outcomes.md lists them


def answered(place: int, rule: str) -> Reading:
    """The reading of a reply that chooses the option at `place`."""
    return Reading(place, "answered", rule)


def unreadable(rule: str) -> Reading:
    """The reading of a reply that chooses nothing, for the reason that `rule` names."""
    return Reading(None, "unreadable", rule)
