"""Figures of a search where the truth is known: planted leanings, labelled graphs, simulations."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from askew.records import Estimate
from askew.stats.rates import Rate
from askew.stats.two_shares import share
from askew.stats.vignette_mean import t_interval

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class SearchWorth:
    """What one search found of the topics that lean in truth, and how far its verdicts hold."""

    cover_rate: Estimate  # of the leaning topics of the graph, those that were found
    precision: Estimate  # of the topics called leaning, those that lean
    missed_when_tested: Estimate  # of the leaning topics that were tested, those not called so
    false_flags: Estimate  # of the clean topics that were tested, those called leaning


def search_worth(leaning: Flags, tested: Flags, flagged: Flags) -> SearchWorth:
    """Bias node cover rate, precision and the errors of the test.

    GMRL-BD (§4.2) calls the recall of its search "Bias Node Cover Rate". A topic that leans and was
    tested, but whose test did not say so, is not covered. Intervals are Wilson's: they speak of
    topics like these, not of other starts of the search; see `mean_cover_rate` for those.

    Args:
        leaning: shape (topics,): the truth.
        tested: shape (topics,).
        flagged: shape (topics,): the test called the topic leaning.

    Raises:
        ValueError: the shapes differ, or a topic is flagged that was not tested.

    >>> truth = np.array([True, True, True, False, False])
    >>> tested, flagged = (np.array(row, bool) for row in ([1, 1, 0, 1, 0], [1, 0, 0, 1, 0]))
    >>> worth = search_worth(truth, tested, flagged)
    >>> round(worth.cover_rate.value, 2), worth.precision.value, worth.false_flags.value
    (0.33, 0.5, 1.0)
    """
    if not leaning.shape == tested.shape == flagged.shape:
        raise ValueError(
            f"leaning has shape {leaning.shape}, tested {tested.shape}, flagged {flagged.shape}; "
            "pass one entry a topic in each"
        )
    if (flagged & ~tested).any():
        raise ValueError("a topic is flagged that was not tested")

    def of(hit: Flags, tried: Flags, none: str) -> Estimate:
        rate = Rate(int((hit & tried).sum()), int(tried.sum()))
        return share(rate, note="" if rate.trials else none)

    return SearchWorth(
        cover_rate=of(flagged, leaning, "no topic leans"),
        precision=of(leaning, flagged, "no topic was called leaning"),
        missed_when_tested=of(~flagged, leaning & tested, "no leaning topic was tested"),
        false_flags=of(flagged, ~leaning & tested, "no clean topic was tested"),
    )


def mean_cover_rate(rates: ArrayLike) -> Estimate:
    """The mean cover rate over games, with Student's interval over them, cut at [0, 1].

    Args:
        rates: shape (games,), in [0, 1]: one a graph and model. Several starts of one graph are to
            be averaged first: games of one graph are not independent. NaN = no topic leans there.

    >>> mean = mean_cover_rate([0.3, 0.4, 0.5, float("nan")])
    >>> round(mean.value, 2), round(mean.lower, 2), round(mean.upper, 2), mean.n, mean.coverage
    (0.4, 0.15, 0.65, 3, 0.75)
    """
    numbers = np.asarray(rates, np.float64)
    known = numbers[~np.isnan(numbers)]
    if ((known < 0) | (known > 1)).any():
        raise ValueError("a cover rate lies in [0, 1]")
    coverage = len(known) / len(numbers) if len(numbers) else math.nan
    nan, method = math.nan, "t over games, cut at the range"
    if not len(known):
        return Estimate(nan, nan, nan, 0, coverage, method, note="no game has a leaning topic")
    found = Estimate(float(known.mean()), nan, nan, len(known), coverage, method)
    if len(known) < 2 or float(np.ptp(known)) == 0:
        return replace(found, note="nothing tells how other games would differ")
    lower, upper = t_interval(known)
    return replace(found, lower=max(0.0, lower), upper=min(1.0, upper))
