"""Does leaning cluster on a topic graph? A test that stays valid while a search chooses.

A guided search tests beside what it has found. Shuffling the labels of the tested topics afterwards
is then no test: with other labels, other topics would have been tested. What holds under any such
choice is this. Where leaning has nothing to do with the graph, the outcomes in the order of the
tests are exchangeable, whatever was picked and why: given that K of n tests lean in all, and k of
the first t − 1, the t-th leans with the chance q = (K − k) ÷ (n − t + 1), as if drawn from an urn.
How many leaning neighbours a topic has is known before its test. So the sum of

    (leaning neighbours − their mean over the tests before) · (leans − q)

over the tests has mean 0, and its spread is known as well. It is the score test of a proportional
hazards model (Cox, 1972) with the order of the tests in the place of time. Leaning topics found
beside leaning ones more often than the urn gives make it large.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from askew.graphs.topics import TopicGraph
from askew.records import Estimate
from askew.seeds import generator
from askew.stats.intervals import Numbers, percentile_interval
from askew.stats.rates import Rate
from askew.stats.two_shares import difference, ratio, share

Clustering = Literal["clusters", "does not cluster", "cannot tell"]
DRAWS = 4_000
SIZE = 0.05  # of the test, one-sided: the chance of "clusters" where nothing does
# A lift that is too small to help a search: below it, "does not cluster" may be said.
LEAST_LIFT = 1.5
_POWER = 2.486  # z of 95 % one-sided + z of 80 % power
_ROUNDING = 1e-9

Flags = NDArray[np.bool_]
Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class NeighbourLift:
    """How often topics lean beside a leaning one and beside clean ones, and what follows."""

    beside_leaning: Estimate  # of the tests with a leaning topic beside them by then, those leaning
    beside_clean: Estimate  # of the tests with clean topics alone beside them by then
    difference: Estimate
    lift: Estimate  # the ratio of the two
    by_chance: tuple[float, float]  # middle 95 % of the difference where nothing clusters
    p_value: float  # one-sided; NaN where nothing can be tested
    smallest_visible: float  # the difference that four of five such searches would find
    verdict: Clustering
    reason: str


def already_beside(
    graph: TopicGraph, nodes: Sequence[int], leaning: Flags, judged: Flags
) -> tuple[Counts, Counts]:
    """What was known beside each topic when it was picked.

    Args:
        graph: the topics.
        nodes: the tests, in the order of the picks; each topic once.
        leaning: shape (tests,): the test found a lean.
        judged: shape (tests,): the test could be judged at all.

    Returns:
        How many of its neighbours had been found leaning, and how many judged, by the earlier
        tests: two arrays of shape (tests,).
    """
    place = {int(node): step for step, node in enumerate(nodes)}
    found = np.zeros((2, len(nodes)), np.int64)
    for step, node in enumerate(nodes):
        for neighbour in graph.around(int(node)):
            before = place.get(int(neighbour), len(nodes))
            if before < step and judged[before]:
                found[:, step] += (bool(leaning[before]), 1)
    return found[0], found[1]


def neighbour_lift(
    leaning: Flags, leaning_beside: Counts, judged_beside: Counts, *, seed: int
) -> NeighbourLift:
    """Whether topics lean more often beside leaning ones, by the tests of one search.

    It assumes that whether a test can be judged does not depend on its neighbours, and that where
    leaning does not cluster, no topic is likelier to lean than another for reasons the search could
    act on. Of the second it stands a good deal (docs/boundary-report.md has the figures).

    Args:
        leaning: shape (tests,): of the judged tests, in the order of the picks.
        leaning_beside: shape (tests,): see `already_beside`.
        judged_beside: shape (tests,): at least `leaning_beside`.
        seed: of the draws that the p value is read from.

    Raises:
        ValueError: the arrays do not belong together.
    """
    _check(leaning, leaning_beside, judged_beside)
    beside_leaning, beside_any = leaning_beside > 0, judged_beside > 0
    one = Rate(int(leaning[beside_leaning].sum()), int(beside_leaning.sum()))
    clean = beside_any & ~beside_leaning
    other = Rate(int(leaning[clean].sum()), int(clean.sum()))
    chances = urn_chances(leaning)
    weights = _centred(leaning_beside.astype(np.float64), beside_any)
    variance = float((weights**2 * chances * (1 - chances)).sum())
    p_value, by_chance = math.nan, (math.nan, math.nan)
    if variance > 0:
        rng = generator(seed, "neighbour_lift")
        p_value, by_chance = _drawn(leaning, chances, weights, beside_leaning, clean, rng)
    apart = difference(one, other, note=_why_undefined(one, other))
    verdict, reason = _verdict(leaning, one, other, apart, p_value)
    return NeighbourLift(
        beside_leaning=share(
            one, note="" if one.trials else "no tested topic lay beside a leaning one"
        ),
        beside_clean=share(
            other, note="" if other.trials else "no tested topic had clean topics alone beside it"
        ),
        difference=apart,
        lift=ratio(one, other),
        by_chance=by_chance,
        p_value=p_value,
        smallest_visible=_smallest_visible(weights, beside_leaning, variance),
        verdict=verdict,
        reason=reason,
    )


def urn_chances(leaning: Flags) -> Numbers:
    """Each test's q: the leaning ones that are still to come ÷ the tests that are.

    >>> urn_chances(np.array([False, True, False, True])).round(2).tolist()
    [0.5, 0.67, 0.5, 1.0]
    """
    count = len(leaning)
    to_come = leaning[::-1].cumsum()[::-1]
    return np.asarray(to_come / (count - np.arange(count)), np.float64)


def _centred(values: Numbers, eligible: Flags) -> Numbers:
    """Each value − the mean of the eligible ones before it: known before the test. Others: 0."""
    kept = np.where(eligible, values, 0.0)
    before = np.cumsum(kept) - kept
    count: Counts = np.cumsum(eligible) - eligible
    return np.asarray(np.where(eligible, values - before / np.maximum(count, 1), 0.0), np.float64)


def _drawn(
    leaning: Flags,
    chances: Numbers,
    weights: Numbers,
    beside_leaning: Flags,
    clean: Flags,
    rng: np.random.Generator,
) -> tuple[float, tuple[float, float]]:
    """The p value, and what the difference comes to by chance."""
    observed = float(weights @ (leaning - chances))
    drawn = rng.random((DRAWS, len(leaning))) < chances
    sums = (drawn - chances) @ weights
    p_value = float(1 + (sums >= observed - _ROUNDING).sum()) / (DRAWS + 1)
    if not beside_leaning.any() or not clean.any():
        return p_value, (math.nan, math.nan)
    apart = drawn[:, beside_leaning].mean(axis=1) - drawn[:, clean].mean(axis=1)
    return p_value, percentile_interval(apart)


def _smallest_visible(weights: Numbers, beside_leaning: Flags, variance: float) -> float:
    """The difference at which the sum is so large that four of five searches would show it."""
    to_come = beside_leaning[::-1].cumsum()[::-1] / np.arange(len(weights), 0, -1)
    slope = float(weights @ (beside_leaning - to_come))
    smallest = _POWER * math.sqrt(variance) / slope if slope > 0 and variance > 0 else math.nan
    return smallest if smallest <= 1 else math.nan


def _verdict(
    leaning: Flags, one: Rate, other: Rate, apart: Estimate, p_value: float
) -> tuple[Clustering, str]:
    if not len(leaning):
        return "cannot tell", "no test could be judged"
    if not leaning.any():
        return "cannot tell", "no leaning topic was found, so there is nothing that could cluster"
    if leaning.all():
        return "cannot tell", "every judged topic leans, so there is nothing to compare with"
    if not apart.defined:
        return "cannot tell", _why_undefined(one, other)
    if p_value < SIZE and apart.value > 0:
        return "clusters", "topics beside a leaning one lean more often than chance gives"
    overall = float(leaning.mean())
    if apart.upper < (LEAST_LIFT - 1) * overall:
        return (
            "does not cluster",
            f"whatever difference there is, it is less than {LEAST_LIFT - 1:g} times the share "
            "of all tests that lean",
        )
    return "cannot tell", "the interval holds both no difference and one that would matter"


def _why_undefined(one: Rate, other: Rate) -> str:
    if not one.trials:
        return "no tested topic lay beside a leaning one"
    return "" if other.trials else "no tested topic had clean topics alone beside it"


def _check(leaning: Flags, leaning_beside: Counts, judged_beside: Counts) -> None:
    if not leaning.shape == leaning_beside.shape == judged_beside.shape or leaning.ndim != 1:
        raise ValueError(
            f"leaning has shape {leaning.shape}, leaning_beside {leaning_beside.shape}, "
            f"judged_beside {judged_beside.shape}; pass one entry a judged test in each"
        )
    if (leaning_beside < 0).any() or (leaning_beside > judged_beside).any():
        raise ValueError("leaning_beside must lie between 0 and judged_beside")
