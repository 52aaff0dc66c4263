"""The mean of units that come in clusters, with an interval that counts the clusters."""

from __future__ import annotations

import math

from askew.records import Estimate
from askew.stats.intervals import LEVEL, Clusters, Numbers

METHOD = "t, clustered by vignette"


def cluster_mean(
    values: Numbers, clusters: Clusters, *, asked: int, level: float = LEVEL, note: str = ""
) -> Estimate:
    """The mean with the cluster-robust interval of a ratio of totals.

    The variance of the mean is Σ over clusters of (sum of residuals)² ÷ n², times g ÷ (g − 1) for
    g clusters, and the quantile is Student's with g − 1 degrees of freedom. With one unit a cluster
    it is the ordinary t interval.

    Args:
        values: shape (units,).
        clusters: which vignette each unit belongs to.
        asked: how many units were asked for.
        level: of the interval.
        note: goes into the estimate.

    Returns:
        NaN without units; no interval with fewer than two clusters.

    >>> import numpy as np
    >>> mean = cluster_mean(np.array([0.4, 0.6]), Clusters.of(["a", "b"]), asked=3)
    >>> round(mean.value, 3), mean.n, round(mean.coverage, 3)
    (0.5, 2, 0.667)
    """
    count = len(values)
    coverage = count / asked if asked else math.nan
    if not count:
        return Estimate(math.nan, math.nan, math.nan, 0, coverage, METHOD, level=level, note=note)
    mean = float(values.mean())
    groups = clusters.occupied
    if groups < 2:
        alone = "one vignette: nothing tells how others would differ"
        note = f"{note}; {alone}" if note else alone
        return Estimate(mean, math.nan, math.nan, count, coverage, METHOD, level=level, note=note)
    from scipy.special import stdtrit

    residuals = clusters.totals(values - mean)
    variance = groups / (groups - 1) * float(residuals @ residuals) / count**2
    half = float(stdtrit(groups - 1, 0.5 + level / 2)) * math.sqrt(variance)
    return Estimate(mean, mean - half, mean + half, count, coverage, METHOD, level=level, note=note)
