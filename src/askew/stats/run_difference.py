"""One share in two runs on the same items: how far apart, how surely, and how much items differ."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from askew.records import Estimate
from askew.seeds import generator
from askew.stats.cluster_draws import Kinds
from askew.stats.few_moved import few_moved_ends
from askew.stats.intervals import (
    DRAWS,
    FEWEST_CLUSTERS,
    FEWEST_OF_EACH,
    LEVEL,
    Numbers,
    percentile_interval,
    wilson,
)
from askew.stats.robustness import FEWEST_MOVED
from askew.stats.swap_test import swap_test
from askew.stats.vignette_mean import VignetteMean

Ends = Callable[[float], tuple[float, float]]  # level -> the interval
BOOTSTRAP = f"paired cluster bootstrap, {DRAWS} draws"


@dataclass(frozen=True)  # without slots, as cached properties need a place
class RunShares:
    """A share in two runs, by source item: hits ÷ trials in each.

    The two runs may have tried the same units (accuracies), or each its own (attack success: only
    what was neutral at first can be turned).

    Attributes:
        hits: shape (2, items): of the baseline, of the other run. May be negative (changes).
        trials: shape (2, items).
        seed: of the bootstrap and of random swaps.
        use: what is drawn for, so that figures draw apart.
        span: the largest change that one unit can make: 1 for shares, 2 for changes of them.
    """

    hits: Numbers
    trials: Numbers
    seed: int = 0
    use: str = ""
    span: float = 1.0

    @property
    def baseline(self) -> float:
        """The baseline's share; NaN where it tried nothing."""
        return _ratio(self.hits[0], self.trials[0])

    @property
    def other(self) -> float:
        """The other run's."""
        return _ratio(self.hits[1], self.trials[1])

    @property
    def value(self) -> float:
        """The other run's − the baseline's."""
        return self.other - self.baseline

    @cached_property
    def used(self) -> RunShares:
        """The same over the items that either run has tried."""
        tried = (self.trials > 0).any(axis=0)
        return RunShares(self.hits[:, tried], self.trials[:, tried], self.seed, self.use, self.span)

    @property
    def items(self) -> int:
        """Source items that were tried in either run."""
        return int((self.trials > 0).any(axis=0).sum())

    @property
    def same_trials(self) -> bool:
        """Whether both runs have tried the same, so that the share has one denominator."""
        return bool((self.trials[0] == self.trials[1]).all())

    @cached_property
    def moved(self) -> Numbers:
        """Each item's part in the difference, shape (items,): it turns round where runs swap.

        With one denominator, hits gained. Else each run's hits beyond those that the share of both
        runs together would give: a score, whose sum is 0 just where the two shares are equal.
        """
        if self.same_trials:
            return np.asarray(self.hits[1] - self.hits[0])
        total = float(self.trials.sum())
        pooled = float(self.hits.sum()) / total if total else math.nan
        beyond = self.hits - pooled * self.trials
        return np.asarray(beyond[1] - beyond[0])

    @cached_property
    def p_value(self) -> float:
        """Of the exact test where there is one, see `swap_test`; NaN where a share is undefined."""
        if math.isnan(self.value):
            return math.nan
        return swap_test(self.moved, generator(self.seed, "swaps", self.use))

    @cached_property
    def spread(self) -> float:
        """The standard deviation of the items' parts: the standard error is spread ÷ √items.

        With few items moved their share is uncertain; it is never below that of one moved item more
        than was seen among two more items.
        """
        count = self.items
        if count < 2 or math.isnan(self.value):
            return math.nan
        shares = np.array([[self.baseline], [self.other]])
        scaled = (self.hits - shares * self.trials) / self.trials.sum(axis=1, keepdims=True)
        parts = (scaled[1] - scaled[0])[(self.trials > 0).any(axis=0)] * count
        return max(float(parts.std(ddof=1)), math.sqrt(1 / (count + 2)))

    @cached_property
    def ends(self) -> Ends:
        """The interval of the difference, by level."""
        return self.interval[0]

    @cached_property
    def interval(self) -> tuple[Ends, str]:
        """The interval, and how it is made.

        The paired bootstrap over items; where too few items moved for it, a hybrid score interval,
        which has a length even where none did.
        """
        if math.isnan(self.value) or self.items < 2:
            return _no_ends, "none"
        drawn = self.drawn
        if drawn is not None:
            return (lambda level: percentile_interval(drawn[:, 1] - drawn[:, 0], level)), BOOTSTRAP
        if not self.same_trials:
            return self._unpaired, "newcombe, as of different items"
        if self.span > 1:
            return self._of_means, "t over items"
        return self._hybrid, "newcombe over items"

    @cached_property
    def drawn(self) -> Numbers | None:
        """Bootstrap values of both shares, shape (draws, 2); None where too few items moved.

        Half of the draws are made with the runs the other way round, so that comparing B with A
        gives the interval of A with B, turned round.
        """
        tried = self.trials > 0
        if int(tried.sum(axis=1).min()) < FEWEST_CLUSTERS:
            return None
        if int((np.abs(self.moved) > 1e-9).sum()) < FEWEST_MOVED:
            return None
        if not self.same_trials and not self._enough_of_each():
            return None
        found = []
        for order in ((0, 1), (1, 0)):
            table = np.concatenate([self.hits[list(order)], self.trials[list(order)]]).T
            rng = generator(self.seed, "compare", self.use)
            totals = Kinds.of(table).totals(rng, DRAWS // 2)
            with np.errstate(invalid="ignore", divide="ignore"):
                shares = totals[:, :2] / np.where(totals[:, 2:] > 0, totals[:, 2:], math.nan)
            found.append(shares[:, list(order)])
        return np.concatenate(found)

    def _enough_of_each(self) -> bool:
        hit, missed = (self.hits > 0).sum(axis=1), (self.hits < self.trials).sum(axis=1)
        return bool(min(hit.min(), missed.min()) >= FEWEST_OF_EACH)

    def estimate(self, coverage: float, note: str = "") -> Estimate:
        """The difference with its 95 % interval, which never claims more than the test.

        Args:
            coverage: the share of the units asked in both runs that could be used.
            note: why it is undefined, if it is.
        """
        ends, method = self.interval
        lower, upper = ends(LEVEL)
        if self.p_value >= 1 - LEVEL and not lower <= 0 <= upper and not math.isnan(lower):
            lower, upper = min(lower, 0.0), max(upper, 0.0)
            method += ", widened to 0 by the test"
        elif self.p_value < 1 - LEVEL and lower < 0 < upper and self.drawn is None:
            # Where few items moved the intervals are wide; the test is exact and tells more.
            lower, upper = (0.0, upper) if self.value > 0 else (lower, 0.0)
            method += ", cut at 0 by the test"
        count = int(self.trials.max(axis=0).sum()) if self.trials.size else 0
        seed = self.seed if method.startswith(BOOTSTRAP) else None
        return Estimate(self.value, lower, upper, count, coverage, method, seed, LEVEL, note)

    def total_ends(self, level: float) -> tuple[float, float]:
        """The interval of baseline + other − 1: how far the two lean together, of half and half."""
        if math.isnan(self.value) or self.items < 2:
            return math.nan, math.nan
        if self.drawn is not None:
            return percentile_interval(self.drawn.sum(axis=1) - 1, level)
        # The ends of both added up hold however the two go together.
        (low, high), (other_low, other_high) = self._alone(level)
        return low + other_low - 1, high + other_high - 1

    def _alone(self, level: float) -> tuple[tuple[float, float], tuple[float, float]]:
        """Wilson's interval of each run's share; an item with several trials counts once."""
        trials = [float((self.trials[run] > 0).sum()) for run in (0, 1)]
        return (
            wilson(self.baseline * trials[0], trials[0], level),
            wilson(self.other * trials[1], trials[1], level),
        )

    def _rates(self) -> tuple[Numbers, Numbers]:
        used = self.used
        return used.hits[0] / used.trials[0], used.hits[1] / used.trials[1]

    def _hybrid(self, level: float) -> tuple[float, float]:
        """Newcombe's interval (`intervals.newcombe`), each item counted once.

        The items' rates take the place of his yes and no, his continuity correction included. It is
        made no shorter than the few items that moved allow (`few_moved_ends`): two runs that agree
        on every item are not known to agree on all others.
        """
        before, after = self._rates()
        (low, high), (other_low, other_high) = self._alone(level)
        spread = float(before.std() * after.std())
        correlation = 0.0
        if spread > 0:
            correlation = float(((before - before.mean()) * (after - after.mean())).mean()) / spread
        if correlation > 0:
            correlation = max(0.0, correlation - 1 / (2 * len(before) * spread))
        below = _joined(self.other - other_low, high - self.baseline, correlation)
        above = _joined(other_high - self.other, self.baseline - low, correlation)
        return self._no_shorter(
            (max(-1.0, self.value - below), min(1.0, self.value + above)), level
        )

    def _no_shorter(self, ends: tuple[float, float], level: float) -> tuple[float, float]:
        changes = (self.hits[1] - self.hits[0]) / self.trials[0].sum()
        gained, lost = np.maximum(changes, 0).sum(), np.maximum(-changes, 0).sum()
        least = few_moved_ends(float(gained), float(lost), self.items, self.span, level)
        return min(ends[0], least[0]), max(ends[1], least[1])

    def _of_means(self, level: float) -> tuple[float, float]:
        before, after = self._rates()
        mean = VignetteMean(after - before, self.span)
        lower, upper = mean.ends(level)
        shift = self.value - mean.value
        return self._no_shorter(
            (max(-self.span, lower + shift), min(self.span, upper + shift)), level
        )

    def _unpaired(self, level: float) -> tuple[float, float]:
        """As if the runs had no item in common: wider, as answers to one item are alike."""
        (low, high), (other_low, other_high) = self._alone(level)
        below = math.hypot(self.other - other_low, high - self.baseline)
        above = math.hypot(other_high - self.other, self.baseline - low)
        return max(-1.0, self.value - below), min(1.0, self.value + above)


def _ratio(hits: Numbers, trials: Numbers) -> float:
    total = float(trials.sum())
    return float(hits.sum()) / total if total else math.nan


def _joined(one: float, other: float, correlation: float) -> float:
    """The distance of a difference from those of its two parts."""
    return math.sqrt(max(0.0, one * one - 2 * correlation * one * other + other * other))


def _no_ends(level: float) -> tuple[float, float]:
    return math.nan, math.nan
