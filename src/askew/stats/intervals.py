"""Intervals for rates and for figures over clusters of items."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askew.records import Estimate
from askew.stats.rates import Rate

LEVEL = 0.95
DRAWS = 2000  # percentile ends move by about 0.1 standard errors between seeds at this number
FEWEST_CLUSTERS = 20  # below it, percentile intervals are known to be too short
# Clusters with a hit, and with a miss, that the bootstrap of a rate needs: with fewer, its ends are
# made of a handful of clusters drawn more or less often, and are too near to the edge of [0, 1].
FEWEST_OF_EACH = 10

Counts = NDArray[np.int64]
Numbers = NDArray[np.float64]


def wilson(hits: float, trials: float, level: float = LEVEL) -> tuple[float, float]:
    """Wilson's score interval for a proportion, (lower, upper) in [0, 1]; NaNs for no trials.

    Wilson (1927), Eq. for the inversion of the score test. `hits` and `trials` may be fractions,
    as effective sample sizes are (SciPy's own takes integers only; the tests hold the two equal).
    The ends at no hits (0) and at hits alone (1) are exact, without rounding.

    >>> [round(end, 4) for end in wilson(8, 10)]
    [0.4902, 0.9433]
    """
    if trials <= 0:
        return math.nan, math.nan
    from scipy.special import ndtri

    z = float(ndtri(0.5 + level / 2))
    share = hits / trials
    centre = (share + z * z / (2 * trials)) / (1 + z * z / trials)
    half = (
        z
        / (1 + z * z / trials)
        * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    )
    lower = max(0.0, centre - half) if hits > 0 else 0.0
    upper = min(1.0, centre + half) if hits < trials else 1.0
    return lower, upper


def newcombe(
    right_in_both: float,
    turned_right: float,
    turned_wrong: float,
    wrong_in_both: float,
    level: float = LEVEL,
) -> tuple[float, float]:
    """The hybrid score interval for a change between two conditions of the same units.

    Newcombe (1998), "Improved confidence intervals for the difference between binomial proportions
    based on paired data", method 10: Wilson's intervals of the two shares, put together with their
    correlation φ, whose numerator is corrected for continuity where it is positive. It holds up
    with few changes, and is wider than a point where there is none.

    Args:
        right_in_both: units right before and after; like the other three it may be a fraction.
        turned_right: wrong before, right after.
        turned_wrong: right before, wrong after.
        wrong_in_both: wrong before and after.
        level: of the interval.

    Returns:
        (lower, upper) of the share right after − the share right before, in [-1, 1]; NaNs for no
        units.

    >>> [round(end, 4) for end in newcombe(150, 0, 4, 0)]
    [-0.0649, 0.0031]
    """
    units = right_in_both + turned_right + turned_wrong + wrong_in_both
    if units <= 0:
        return math.nan, math.nan
    right_after, right_before = right_in_both + turned_right, right_in_both + turned_wrong
    after, before = right_after / units, right_before / units
    after_lower, after_upper = wilson(right_after, units, level)
    before_lower, before_upper = wilson(right_before, units, level)
    product = right_after * (units - right_after) * right_before * (units - right_before)
    excess = right_in_both * wrong_in_both - turned_right * turned_wrong
    if excess > 0:
        excess = max(excess - units / 2, 0.0)
    correlation = excess / math.sqrt(product) if product > 0 else 0.0
    below = _joined(after - after_lower, before_upper - before, correlation)
    above = _joined(after_upper - after, before - before_lower, correlation)
    return max(-1.0, after - before - below), min(1.0, after - before + above)


def _joined(one: float, other: float, correlation: float) -> float:
    """The half-width of a difference from the half-widths of its two parts."""
    return math.sqrt(max(0.0, one * one - 2 * correlation * one * other + other * other))


@dataclass(frozen=True, slots=True)
class Clusters:
    """Units grouped by the source item they come from.

    An item that meets several scenarios, or several replicates, is one draw of nature: units of
    one cluster are resampled together.
    """

    of_unit: Counts  # shape (units,): the cluster's number, 0 … count-1
    count: int

    @staticmethod
    def of(names: list[str]) -> Clusters:
        """Clusters by name, one name a unit; numbered by name, whatever the order of the units."""
        # A dictionary, as NumPy's strings drop NULs at the end and are all as long as the longest.
        numbers = {name: number for number, name in enumerate(sorted(set(names)))}
        of_unit = np.fromiter((numbers[name] for name in names), np.int64, len(names))
        return Clusters(of_unit, len(numbers))

    def part(self, units: NDArray[np.bool_] | slice) -> Clusters:
        """Some of the units, in clusters numbered as here; some clusters may then be empty."""
        return Clusters(self.of_unit[units], self.count)

    @property
    def occupied(self) -> int:
        """How many clusters hold a unit."""
        return len(np.unique(self.of_unit))

    def totals(self, values: NDArray[np.generic]) -> Numbers:
        """The sum of `values` (one a unit) in each cluster, shape (count,)."""
        summed: Numbers = np.bincount(
            self.of_unit, weights=values.astype(np.float64), minlength=self.count
        ).astype(np.float64)
        return summed


def rate_estimate(
    hit: NDArray[np.bool_],
    tried: NDArray[np.bool_],
    clusters: Clusters,
    *,
    asked: int,
    level: float = LEVEL,
    note: str = "",
) -> Estimate:
    """The share of `hit` among `tried` units, with Wilson's interval.

    Where a cluster holds several tried units, the interval uses the effective sample size of
    Korn and Graubard (1998): trials divided by the design effect, between the number of clusters
    and the number of trials.

    Args:
        hit: shape (units,), bool.
        tried: shape (units,), bool.
        clusters: which source item each unit belongs to.
        asked: how many units were asked for; coverage is tried ÷ asked.
        level: of the interval.
        note: goes into the estimate.
    """
    rate = Rate(int((hit & tried).sum()), int(tried.sum()))
    effective = effective_trials(hit & tried, tried, clusters)
    lower, upper = wilson(rate.value * effective if rate.trials else 0, effective, level)
    method = "wilson" if effective == rate.trials else f"wilson, {effective:.0f} effective"
    coverage = rate.trials / asked if asked else math.nan
    return Estimate(rate.value, lower, upper, rate.trials, coverage, method, level=level, note=note)


def effective_trials(hit: NDArray[np.bool_], tried: NDArray[np.bool_], clusters: Clusters) -> float:
    """Trials ÷ design effect (Korn and Graubard, 1998), from used clusters up to trials.

    At a share of 0 or 1 the design effect cannot be seen: every used cluster counts once.
    """
    hits, trials = clusters.totals(hit), clusters.totals(tried)
    used = trials > 0
    total, groups = float(trials.sum()), int(used.sum())
    if total == groups or groups < 2:
        return float(groups) if total else 0.0
    share = float(hits.sum()) / total
    if share in (0.0, 1.0):
        return float(groups)
    residuals = hits[used] - share * trials[used]
    variance = groups / (groups - 1) * float(residuals @ residuals) / total**2
    if variance == 0:
        return total
    return float(np.clip(share * (1 - share) / variance, groups, total))


def resample(clusters: Clusters, rng: np.random.Generator, draws: int = DRAWS) -> Numbers:
    """How often each cluster is drawn in each bootstrap sample, shape (draws, clusters)."""
    if not clusters.count:
        return np.zeros((draws, 0))
    drawn = rng.integers(0, clusters.count, size=(draws, clusters.count))
    drawn += np.arange(draws)[:, None] * clusters.count
    counts = np.bincount(drawn.ravel(), minlength=draws * clusters.count)
    return counts.reshape(draws, clusters.count).astype(np.float64)


def bootstrap_suffices(hits: Numbers, trials: Numbers) -> bool:
    """Whether the bootstrap of hits ÷ trials, given by cluster, is long enough to be trusted.

    It has no length at all where every cluster has the same share, as when an attack that one of
    three scenarios makes succeeds on every item.
    """
    return (
        int((trials > 0).sum()) >= FEWEST_CLUSTERS
        and int((hits > 0).sum()) >= FEWEST_OF_EACH
        and int((hits < trials).sum()) >= FEWEST_OF_EACH
        and bool(np.ptp(hits[trials > 0] / trials[trials > 0]) > 0)
    )


def percentile_interval(values: Numbers, level: float = LEVEL) -> tuple[float, float]:
    """The middle `level` of bootstrap values; draws in which the figure was undefined are left out.

    NaN where more than one draw in twenty was undefined: such an interval would be conditional on
    luck.
    """
    defined = values[~np.isnan(values)]
    if len(defined) < 0.95 * len(values) or not len(defined):
        return math.nan, math.nan
    lower, upper = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return float(lower), float(upper)
