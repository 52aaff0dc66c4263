"""The same-prompt noise floor: what two answers to one prompt differ by."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from askew.records import Estimate
from askew.stats.intervals import LEVEL, Numbers
from askew.stats.vignette_mean import t_interval

ONE_ANSWER = (
    "no prompt has two answers with a value, so how much of a difference is noise is unknown; ask "
    "each prompt at least twice"
)


def mean_difference(values: Numbers) -> float:
    """The mean |difference| over all pairs of answers to one prompt; NaN for fewer than two.

    For a binary endpoint this is the share of pairs that differ.

    >>> mean_difference(np.array([0.0, 1.0, 1.0]))
    0.6666666666666666
    """
    count = len(values)
    if count < 2:
        return math.nan
    ranks = 2 * np.arange(count) - count + 1  # how often each sorted value is the larger one
    return float(ranks @ np.sort(values)) * 2 / (count * (count - 1))


def floor_of(per_vignette: Sequence[float] | Numbers, asked: int, level: float = LEVEL) -> Estimate:
    """The mean of the vignettes' floors, with a t interval that ends at 0.

    Args:
        per_vignette: each vignette's mean over its same-prompt pairs; NaN where it has none.
        asked: how many vignettes there are.
        level: of the interval.
    """
    values = np.asarray(per_vignette, dtype=np.float64)
    values = values[~np.isnan(values)]
    coverage = len(values) / asked if asked else math.nan
    if not len(values):
        note = ONE_ANSWER if asked else "there is no vignette"
        return Estimate(math.nan, math.nan, math.nan, 0, coverage, "none", level=level, note=note)
    value = float(values.mean())
    lower, upper, method, note = math.nan, math.nan, "none", ""
    if len(values) == 1 or not float(np.ptp(values)):
        note = "nothing tells how vignettes differ in their noise"
    else:
        lower, upper = t_interval(values, level)
        lower, method = max(0.0, lower), "t over vignettes"
    return Estimate(value, lower, upper, len(values), coverage, method, level=level, note=note)
