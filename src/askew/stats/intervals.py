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

Counts = NDArray[np.int64]
Numbers = NDArray[np.float64]


def wilson(hits: float, trials: float, level: float = LEVEL) -> tuple[float, float]:
    """Wilson's score interval for a proportion, (lower, upper) in [0, 1]; NaNs for no trials.

    Wilson (1927), Eq. for the inversion of the score test. `hits` and `trials` may be fractions,
    as effective sample sizes are (SciPy's own takes integers only; the tests hold the two equal).

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
    return max(0.0, centre - half), min(1.0, centre + half)


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
        """Clusters by name, one name a unit."""
        _, numbers = np.unique(np.array(names, dtype=str), return_inverse=True)
        return Clusters(numbers.astype(np.int64), int(numbers.max()) + 1 if len(names) else 0)

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
