"""Two shares of different units: how far apart they are, and how many times one is the other."""

from __future__ import annotations

import math

from askew.records import Estimate
from askew.stats.intervals import LEVEL, wilson
from askew.stats.rates import Rate


def share(rate: Rate, *, asked: int | None = None, note: str = "") -> Estimate:
    """The share with Wilson's interval.

    Args:
        rate: hits out of trials.
        asked: how many units there were to try; default: the trials.
        note: goes into the estimate; where nothing was tried, it has to say why.

    >>> found = share(Rate(8, 10), asked=20)
    >>> round(found.lower, 2), round(found.upper, 2), found.n, found.coverage
    (0.49, 0.94, 10, 0.5)
    """
    asked = rate.trials if asked is None else asked
    lower, upper = wilson(rate.hits, rate.trials)
    coverage = rate.trials / asked if asked else math.nan
    return Estimate(
        rate.value, lower, upper, rate.trials, coverage, "wilson", level=LEVEL, note=note
    )


def difference(one: Rate, other: Rate, *, note: str = "") -> Estimate:
    """The first share − the second, with Newcombe's (1998) hybrid score interval (his method 10).

    Returns:
        In [-1, 1]; NaN where one of them has no trials. n = trials of both.

    >>> found = difference(Rate(56, 70), Rate(48, 80))
    >>> [round(end, 4) for end in (found.value, found.lower, found.upper)]
    [0.2, 0.0524, 0.3339]
    """
    method, count = "newcombe, two samples", one.trials + other.trials
    if not one.trials or not other.trials:
        nan = math.nan
        why = note or "one of the two groups is empty"
        return Estimate(nan, nan, nan, count, nan, method, level=LEVEL, note=why)
    value = one.value - other.value
    below, above = wilson(one.hits, one.trials)
    other_below, other_above = wilson(other.hits, other.trials)
    lower = value - math.hypot(one.value - below, other_above - other.value)
    upper = value + math.hypot(above - one.value, other.value - other_below)
    return Estimate(
        value, max(-1.0, lower), min(1.0, upper), count, 1.0, method, level=LEVEL, note=note
    )


def ratio(one: Rate, other: Rate) -> Estimate:
    """The first share ÷ the second, with the log interval of Katz et al. (1978), SciPy's.

    Returns:
        NaN where the second share is 0 or undefined; without an interval where the first is 0.

    >>> found = ratio(Rate(20, 50), Rate(10, 50))
    >>> [round(end, 2) for end in (found.value, found.lower, found.upper)]
    [2.0, 1.04, 3.83]
    """
    method, count, nan = "katz, log", one.trials + other.trials, math.nan
    if not one.trials or not other.trials:
        note = "one of the two groups is empty"
        return Estimate(nan, nan, nan, count, nan, method, level=LEVEL, note=note)
    if not other.hits:
        note = "none of the second group leans, and nothing can be divided by 0"
        return Estimate(nan, nan, nan, count, 1.0, method, level=LEVEL, note=note)
    if not one.hits:
        note = "none of the first group leans: no interval"
        return Estimate(0.0, nan, nan, count, 1.0, method, level=LEVEL, note=note)
    from scipy.stats.contingency import relative_risk

    found = relative_risk(one.hits, one.trials, other.hits, other.trials)
    ends = found.confidence_interval(LEVEL)
    return Estimate(
        float(found.relative_risk),
        float(ends.low),
        float(ends.high),
        count,
        1.0,
        method,
        level=LEVEL,
    )
