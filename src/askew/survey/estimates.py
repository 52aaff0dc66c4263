"""Shares of raters: the exact test, the interval, and the smallest share that could be seen."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from askew.records import Estimate
from askew.stats.intervals import wilson
from askew.stats.rates import Rate

POWER = 0.8
SIZE = 0.05


def binomial_p(rate: Rate, alternative: Literal["greater", "two-sided"]) -> float:
    """The exact binomial test against one half; NaN where nobody chose.

    >>> round(binomial_p(Rate(12, 15), "greater"), 4)
    0.0176
    """
    if not rate.trials:
        return math.nan
    from scipy.stats import binomtest

    return float(binomtest(rate.hits, rate.trials, 0.5, alternative=alternative).pvalue)


def smallest_share(raters: int) -> float:
    """The smallest share above one half that the exact two-sided test finds with power 0.8.

    >>> round(smallest_share(15), 3), smallest_share(5)
    (0.843, nan)
    """
    from scipy.optimize import brentq
    from scipy.stats import binom

    beyond = binom.sf(np.arange(raters + 1) - 1, raters, 0.5)  # P(X ≥ k)
    enough = np.flatnonzero(2 * beyond <= SIZE)
    if not len(enough):
        return math.nan
    needed = int(enough[0])
    return float(brentq(lambda share: binom.sf(needed - 1, raters, share) - POWER, 0.5, 1.0))


def wilson_estimate(rate: Rate, asked: int) -> Estimate:
    """A rate with Wilson's interval; coverage = trials of all that were asked."""
    lower, upper = wilson(rate.hits, rate.trials)
    coverage = rate.trials / asked if asked else math.nan
    note = "" if rate.trials else "nobody answered"
    return Estimate(rate.value, lower, upper, rate.trials, coverage, "wilson", note=note)
