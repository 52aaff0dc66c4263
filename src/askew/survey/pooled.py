"""All scenarios of a study together: raters and scenarios are crossed.

A rater who leans one way leans in every scenario, and a scenario whose one pair is plainly worse
sways every rater, so the ratings are not so many independent choices. Flipping the signs of whole
raters asks whether the leaning would be found again with other raters and these scenarios; flipping
those of whole scenarios asks whether it would with other scenarios. Only both together carry over
to other raters and other scenarios, and five scenarios can give no p value below .0625.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from askew.records import Estimate
from askew.seeds import generator
from askew.stats.intervals import LEVEL, Numbers, wilson
from askew.stats.rates import Rate
from askew.stats.signflip import sign_flip_test
from askew.survey.estimates import binomial_p


@dataclass(frozen=True, slots=True)
class Pooled:
    """All scenarios together; `no difference` counts as half a choice for each.

    Attributes:
        share_ours: mean over all ratings; the interval takes raters and scenarios as crossed.
        p_over_raters: sign flips of each rater's net choice: holds for these scenarios.
        p_over_scenarios: sign flips of each scenario's net choice: holds for scenarios like these.
        smallest_p_over_raters: the smallest that so many raters can give.
        smallest_p_over_scenarios: the smallest that so many scenarios can give.
        majorities: raters with most choices for ours, of those with a majority.
        p_majorities: exact binomial, two-sided, of the majorities.
    """

    share_ours: Estimate
    p_over_raters: float
    smallest_p_over_raters: float
    p_over_scenarios: float
    smallest_p_over_scenarios: float
    majorities: Rate
    p_majorities: float


def pooled(net: Numbers, seed: int) -> Pooled:
    """The answer over all scenarios, with raters and scenarios crossed.

    Args:
        net: shape (raters, scenarios), as from `net_choices`.
        seed: of the sign flips, where not all patterns are counted.
    """
    over_raters = sign_flips(_means(net), seed, "raters")
    over_scenarios = sign_flips(_means(net.T), seed, "scenarios")
    leaning = np.sign(_means(net))
    majorities = Rate(int((leaning > 0).sum()), int((leaning != 0).sum()))
    return Pooled(
        crossed_estimate(net),
        *over_raters,
        *over_scenarios,
        majorities,
        binomial_p(majorities, "two-sided"),
    )


def _means(net: Numbers) -> Numbers:
    """The mean of each row that has an answer."""
    rows = [row[~np.isnan(row)].mean() for row in net if not np.isnan(row).all()]
    return np.array(rows, dtype=np.float64)


def sign_flips(means: Numbers, seed: int, use: str) -> tuple[float, float]:
    """The two-sided p value of sign flips and the smallest possible; NaNs where there is none."""
    if not len(means):
        return math.nan, math.nan
    test = sign_flip_test(means, generator(seed, "survey", "sign flips", use))
    return test.p_value, test.smallest_p


def crossed_estimate(net: Numbers) -> Estimate:
    """The share of choices for ours, with an interval that takes raters and scenarios as crossed.

    The variance of the mean is the raters' + the scenarios' − the choices' (Cameron, Gelbach and
    Miller, 2011, "Robust inference with multiway clustering"), each with its small-sample factor,
    and at least the largest of the three, as their sum can come out too small or negative;
    Student's t with as many degrees of freedom as the fewer of raters and scenarios less one. Where
    all said the same nothing varies, and the interval is Wilson's for as many choices as the fewer
    of raters and scenarios.

    Args:
        net: shape (raters, scenarios); 0 counts as half a choice.

    >>> crossed_estimate(np.array([[1.0, 1.0, -1.0], [1.0, -1.0, -1.0], [1.0, 1.0, 1.0]])).lower
    0.0
    """
    there = ~np.isnan(net)
    count = int(there.sum())
    coverage = count / net.size if net.size else math.nan
    method = "two-way clusters of raters and scenarios, Student's t"
    if not count:
        return Estimate(math.nan, math.nan, math.nan, 0, coverage, method, note="nobody answered")
    mean = float(net[there].mean())
    share = (1 + mean) / 2
    fewer = min(int(there.any(axis=1).sum()), int(there.any(axis=0).sum()))
    if np.ptp(net[there]) == 0:
        lower, upper = wilson(fewer * share, fewer)
        method = "all said the same: wilson, of as many as the fewer of raters and scenarios"
        return Estimate(share, lower, upper, count, coverage, method)
    if fewer < 2:
        note = "one rater or one scenario: nothing can be said beyond it"
        return Estimate(share, math.nan, math.nan, count, coverage, method, note=note)
    from scipy.stats import t

    error = float(t.ppf(0.5 + LEVEL / 2, fewer - 1)) * math.sqrt(_variance(net, mean)) / 2
    lower, upper = max(0.0, share - error), min(1.0, share + error)
    return Estimate(share, lower, upper, count, coverage, method)


def _variance(net: Numbers, mean: float) -> float:
    """The variance of the mean of the answers, by two-way clusters."""
    residuals = np.where(np.isnan(net), 0.0, net - mean)
    there = ~np.isnan(net)
    count = int(there.sum())

    def part(sums: Numbers, units: int) -> float:
        return float((sums**2).sum()) / count**2 * units / (units - 1)

    raters = part(residuals.sum(axis=1), int(there.any(axis=1).sum()))
    scenarios = part(residuals.sum(axis=0), int(there.any(axis=0).sum()))
    choices = part(residuals[there], count)
    return max(raters + scenarios - choices, raters, scenarios, choices)
