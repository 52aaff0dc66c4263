"""A binary endpoint in two arms: each vignette has a rate in either."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from askew.stats.intervals import Numbers
from askew.stats.power import FEWEST


@dataclass(frozen=True)  # without slots, as cached properties need a place
class PairedRates:
    """The rates of the same vignettes in both arms.

    Attributes:
        before: shape (vignettes,), in [0, 1], of the base arm.
        after: shape (vignettes,), of the changed arm.
        answers_before: how many answers the base arm's rates rest on, all vignettes together.
        answers_after: the same of the changed arm.
    """

    before: Numbers
    after: Numbers
    answers_before: int
    answers_after: int

    def ends(self, level: float) -> tuple[float, float]:
        """The interval of the mean rate after − the mean rate before.

        Newcombe's (1998) hybrid: Wilson's intervals of the two rates, put together with their
        correlation over vignettes (MOVER; Zou and Donner, 2008). Wilson's trials are effective ones
        (Korn and Graubard, 1998), between vignettes and answers, and its normal quantile is
        Student's, as the spread of vignettes is estimated. Unlike t on the differences it holds up
        where an event is rare, as there the unseen event is allowed for on the right side.
        """
        from scipy.special import stdtrit

        quantile = float(stdtrit(len(self.before) - 1, 0.5 + level / 2))
        (before, before_trials), (after, after_trials) = self._known
        before_lower, before_upper = _wilson(before, before_trials, quantile)
        after_lower, after_upper = _wilson(after, after_trials, quantile)
        correlation = self._correlation
        below = _joined(after - after_lower, before_upper - before, correlation)
        above = _joined(after_upper - after, before - before_lower, correlation)
        change = after - before
        return max(-1.0, change - below), min(1.0, change + above)

    @cached_property
    def _known(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Of either arm, the mean rate and the effective trials."""
        return (
            (float(self.before.mean()), _effective(self.before, self.answers_before)),
            (float(self.after.mean()), _effective(self.after, self.answers_after)),
        )

    @cached_property
    def _correlation(self) -> float:
        """Between the two rates, over vignettes; 0 where one of them does not vary.

        A positive one makes the interval shorter; so few vignettes are not trusted with that.
        """
        if not float(np.ptp(self.before)) or not float(np.ptp(self.after)):
            return 0.0
        correlation = float(np.corrcoef(self.before, self.after)[0, 1])
        return correlation if len(self.before) >= FEWEST else min(correlation, 0.0)

    @property
    def odds_ratio(self) -> float:
        """Pairs of answers that turn from no to yes, over those from yes to no.

        Each vignette weighs the same and gives all pairs of its answers; with one answer an arm
        this is McNemar's b ÷ c, otherwise Mantel and Haenszel's. NaN where no pair turns from yes
        to no.
        """
        turned_yes = float((1 - self.before) @ self.after)
        turned_no = float(self.before @ (1 - self.after))
        return turned_yes / turned_no if turned_no else math.nan

    @property
    def turned(self) -> tuple[int, int] | None:
        """Vignettes turned to yes and turned to no, with one answer an arm; None with more."""
        count = len(self.before)
        if (self.answers_before, self.answers_after) != (count, count):
            return None
        return int((self.before < self.after).sum()), int((self.before > self.after).sum())


def _effective(rates: Numbers, answers: int) -> float:
    """Answers ÷ design effect: how many independent answers would know the rate as well.

    From the number of vignettes to that of answers; the vignettes alone count at a rate of 0 or 1,
    where the design effect cannot be seen.
    """
    count, share = len(rates), float(rates.mean())
    if share in (0.0, 1.0):
        return float(count)
    variance = float(rates.var(ddof=1)) / count
    if not variance:
        return float(answers)
    return float(np.clip(share * (1 - share) / variance, count, answers))


def _wilson(share: float, trials: float, quantile: float) -> tuple[float, float]:
    """Wilson's interval with any quantile; `intervals.wilson` has the normal one."""
    squared = quantile * quantile
    if math.isinf(squared):
        return 0.0, 1.0
    centre = (share + squared / (2 * trials)) / (1 + squared / trials)
    spread = math.sqrt(share * (1 - share) / trials + squared / (4 * trials * trials))
    half = quantile / (1 + squared / trials) * spread
    # At an edge the end is exact; rounding would put it a hair inside.
    return (
        max(0.0, centre - half) if share > 0 else 0.0,
        min(1.0, centre + half) if share < 1 else 1.0,
    )


def _joined(one: float, other: float, correlation: float) -> float:
    """The distance of a difference from those of its two parts."""
    return math.sqrt(max(0.0, one * one - 2 * correlation * one * other + other * other))
