"""The mean of the cases' means: however many answers a case has, it counts once."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from askew.records import Estimate
from askew.stats.intervals import LEVEL
from askew.stats.vignette_mean import t_interval


def case_mean(
    values: ArrayLike, cases: Sequence[str], *, least: float = -math.inf, most: float = math.inf
) -> Estimate:
    """The mean over cases of the mean of each, with Student's interval over cases.

    Args:
        values: shape (answers,); NaN = no value.
        cases: each answer's case, e.g. its vignette's id.
        least: the smallest value that there can be; the interval ends there.
        most: the largest.

    Returns:
        n = cases with a value; coverage = answers with a value. No interval below two cases, or
        where all are alike and nothing tells how others would differ.

    >>> found = case_mean([1.0, 0.0, 1.0, float("nan")], ["a", "a", "b", "b"], least=0, most=1)
    >>> found.value, found.lower, found.upper, found.method
    (0.75, 0, 1, 't over cases, cut at the range')
    """
    numbers = np.asarray(values, dtype=np.float64)
    groups: dict[str, list[float]] = {}
    for case, value in zip(cases, numbers, strict=True):
        if not math.isnan(value):
            groups.setdefault(case, []).append(float(value))
    means = np.array([math.fsum(group) / len(group) for group in groups.values()])
    count, nan = len(means), math.nan
    coverage = float((~np.isnan(numbers)).mean()) if len(numbers) else nan
    if not count:
        return Estimate(nan, nan, nan, 0, coverage, "none", level=LEVEL, note="no value")
    value = float(means.mean())
    if count == 1 or float(np.ptp(means)) == 0:
        note = "one case" if count == 1 else "all cases have the same value"
        return Estimate(value, nan, nan, count, coverage, "none", level=LEVEL, note=note)
    lower, upper = t_interval(means)
    method = "t over cases"
    if lower < least or upper > most:
        lower, upper, method = max(lower, least), min(upper, most), f"{method}, cut at the range"
    return Estimate(value, lower, upper, count, coverage, method, level=LEVEL)
