"""What became of a rule, and of a gate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from askew.records import Estimate
from askew.report.gate.figure_list import Unit
from askew.report.gate.rule import COMPARISONS, Outcome, Rule, Severity
from askew.report.gate.wording import kept, missed


@dataclass(frozen=True, slots=True)
class Ruling:
    """What became of one rule on one figure of one run.

    Attributes:
        rule: the rule.
        run: the run's name.
        path: the figure's full path with its end.
        outcome: of the rule, whatever its severity.
        reason: why, in a sentence without its full stop.
        estimate: the figure with its interval; None for a fact.
        found: what was compared; None where it is not known.
        bound: what it was compared with; None where the baseline could not say.
        unit: of these numbers.
    """

    rule: Rule
    run: str
    path: str
    outcome: Outcome = Outcome.CANNOT_TELL
    reason: str = ""
    estimate: Estimate | None = None
    found: float | str | bool | None = None
    bound: float | str | bool | None = None
    unit: Unit = Unit.NONE

    @property
    def counts(self) -> bool:
        """Whether the gate's own outcome hangs on it."""
        return self.rule.severity is Severity.FAIL

    def settled(self, end: str, comparison: str, *, undecided_fails: bool) -> Ruling:
        """The ruling by its numbers: `found` against `bound`, both known.

        Args:
            end: which end of the interval `found` is; "" of a fact.
            comparison: one of `COMPARISONS`.
            undecided_fails: whether the rule fails where the interval's other end would keep it;
                else that could not be told.
        """
        compare = COMPARISONS[comparison]
        found, bound, figure = self.found, self.bound, self.estimate
        assert found is not None  # what is not known could not be told, and is not settled
        assert bound is not None
        if compare(found, bound):
            reason = kept(end, comparison, found, bound, unit=self.unit)
            return replace(self, outcome=Outcome.PASS, reason=reason)
        other = {"upper": "lower", "lower": "upper"}.get(end)
        holds = figure is not None and other and compare(getattr(figure, other), bound)
        reason = missed(end, comparison, found, bound, figure if holds else None, unit=self.unit)
        undecided = holds and not undecided_fails
        return replace(
            self, outcome=Outcome.CANNOT_TELL if undecided else Outcome.FAIL, reason=reason
        )


@dataclass(frozen=True, slots=True)
class Verdict:
    """Every ruling of a gate, run by run, and what they come to."""

    rulings: tuple[Ruling, ...]
    models: Mapping[str, str] = field(default_factory=dict)  # run -> its model

    @property
    def outcome(self) -> Outcome:
        """Failed if any rule failed; else it could not be told if any could not; else passed."""
        outcomes = {one.outcome for one in self.rulings if one.counts}
        for worst in (Outcome.FAIL, Outcome.CANNOT_TELL):
            if worst in outcomes:
                return worst
        return Outcome.PASS

    def number_of(self, outcome: Outcome, *, warnings: bool = False) -> int:
        """How many rulings that count, or that only warn, came out so."""
        return sum(one.outcome is outcome and one.counts is not warnings for one in self.rulings)
