"""How many leaning topics a search has left undiscovered.

What a policy found says nothing of what it left: it tests where it expects to find. Two things do.

- **Probes**: tests drawn uniformly from all topics that were not taken yet. With P leaning topics
  in the graph, f of them found by the t tests before, a probe finds one with the chance
  (P − f) ÷ (topics − t), whatever the policy does between. That chance is known for every P, so
  each P can be tried against what the probes found: no assumption but the draw. `from_probes`
- **The belief's own probabilities** of the topics that are left. Their sum is the number only if
  they mean what they say; how they did on the tested topics corrects their level, and the rest is
  an assumption. `from_belief`

Both count topics that the same test would call leaning, not topics that lean in some truer sense.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askew.records import Estimate
from askew.seeds import generator
from askew.stats.intervals import LEVEL, Numbers, percentile_interval

FEWEST_OUTCOMES = 5  # leaning and clean ones, that the level of a belief can be corrected by
_DRAWS = 4_000
_LARGEST_LOGIT = 12.0
_REACH, _GRID = 4.0, 41  # standard errors to either side of the shift, and steps


@dataclass(frozen=True, slots=True)
class Probe:
    """One uniform draw from the topics that were not taken."""

    leaning: bool  # what the test said; False as well where it could not be judged
    tested: int  # topics taken before it
    found: int  # of them, those whose tests said "leaning"


def from_probes(probes: Sequence[Probe], *, topics: int, tested: int, found: int) -> Estimate:
    """The undiscovered leaning topics, by the uniform draws alone.

    The value solves hits = Σ chances for P (unbiased in P); the interval holds every P under which
    so many hits, and so few, are likelier than 2.5 % each, with half of the observed number's own
    chance (mid-p). Given P the hits are taken as independent draws of the chances that were.

    Args:
        probes: in their order.
        topics: that a probe could draw from at the start.
        tested: in all, by the end.
        found: leaning ones in all, by the end.

    Returns:
        n = probes; coverage = the share of topics tested. NaN without probes, 0 where none is left.

    Raises:
        ValueError: the counts cannot be of one search.

    >>> probes = [Probe(leaning=place == 3, tested=10 * place, found=place) for place in range(20)]
    >>> left = from_probes(probes, topics=1_000, tested=200, found=25)
    >>> [round(end) for end in (left.value, left.lower, left.upper)]
    [30, 0, 185]
    """
    _check(probes, topics, tested, found)
    method = f"uniform probes ({len(probes)}), score equation with exact mid-p ends"
    coverage = tested / topics if topics else math.nan
    left = topics - tested
    if not probes:
        nan = math.nan
        note = "no test was drawn uniformly, so nothing tells what the search passed over"
        return Estimate(nan, nan, nan, 0, coverage, method, level=LEVEL, note=note)
    if not left:
        return Estimate(0.0, 0.0, 0.0, len(probes), 1.0, "every topic was tested", level=LEVEL)
    free = np.array([topics - one.tested for one in probes], np.float64)
    known = np.array([found - one.found for one in probes], np.float64)  # found later, or by it
    hits = sum(one.leaning for one in probes)
    # Σ (rest + known) ÷ free = hits, for the rest that nobody found.
    value = (hits - float((known / free).sum())) / float((1 / free).sum())
    alpha = (1 - LEVEL) / 2
    lower = _smallest(lambda rest: _tail(hits, (rest + known) / free, above=True) > alpha, left)
    upper = _smallest(lambda rest: _tail(hits, (rest + known) / free, above=False) < alpha, left)
    upper = upper if upper == left else max(upper - 1, 0)
    value = min(max(value, 0.0), float(left))
    return Estimate(
        value,
        float(min(lower, value)),
        float(max(upper, value)),
        len(probes),
        coverage,
        method,
        level=LEVEL,
    )


def from_belief(
    predicted: Numbers, leaning: NDArray[np.bool_], remaining: Numbers, *, seed: int
) -> Estimate:
    """The undiscovered leaning topics, by the belief's probabilities of those that are left.

    The level is corrected on the tested topics: a shift on the logit scale, fitted by maximum
    likelihood with Firth's penalty for its bias. The interval adds its uncertainty to that of the
    draws. Whether the same shift holds for topics that the search did not choose is an assumption.

    Args:
        predicted: shape (tests,): the probability of each judged topic before its test; NaN = none.
        leaning: shape (tests,): what the test said.
        remaining: shape (topics left,): the probabilities of the untested topics; NaN = none.
        seed: of the draws.

    Returns:
        n = tests with a probability. NaN where the belief gives no probabilities, or fewer than
        five tests of either outcome have one.
    """
    if predicted.shape != leaning.shape:
        raise ValueError(
            f"predicted has shape {predicted.shape}, leaning {leaning.shape}; pass one entry a test"
        )
    method = "sum of the belief's probabilities, level corrected on the tests"
    told = ~np.isnan(predicted)
    count, nan = int(told.sum()), math.nan
    coverage = float(told.mean()) if len(told) else nan
    outcomes = leaning[told]
    why = ""
    if np.isnan(remaining).any():
        why = "the belief gives no probability for some of the topics left"
    elif min(outcomes.sum(), (~outcomes).sum()) < FEWEST_OUTCOMES:
        why = (
            f"fewer than {FEWEST_OUTCOMES} leaning or {FEWEST_OUTCOMES} clean tests have a "
            "probability, so nothing tells whether probabilities mean what they say"
        )
    if why:
        return Estimate(nan, nan, nan, count, coverage, method, level=LEVEL, note=why)
    shift, error = _shift(_logits(predicted[told]), outcomes.astype(np.float64))
    logits = _logits(remaining)
    rng = generator(seed, "undiscovered", "belief")
    # The sum is smooth in the shift: a grid and straight lines between, for graphs of any size.
    grid = shift + error * np.linspace(-_REACH, _REACH, _GRID)
    sums = np.array([float(_sigmoid(logits + one).sum()) for one in grid])
    drawn = np.interp(rng.normal(shift, error, _DRAWS), grid, sums)
    chance = _sigmoid(logits + shift)
    spread = math.sqrt(float((chance * (1 - chance)).sum()))
    lower, upper = percentile_interval(drawn + rng.normal(0.0, spread, _DRAWS))
    return Estimate(
        float(chance.sum()),
        max(0.0, lower),
        min(float(len(remaining)), upper),
        count,
        coverage,
        method,
        seed,
        LEVEL,
        "rests on the belief: as right about topics left as about topics tested",
    )


def _tail(hits: int, chances: Numbers, *, above: bool) -> float:
    """P(as many hits or more), or as few or fewer, half of the number's own chance left out."""
    distribution = np.ones(1)
    for chance in np.clip(chances, 0.0, 1.0):
        distribution = np.append(distribution * (1 - chance), 0.0) + np.append(
            0.0, distribution * chance
        )
    beyond = distribution[hits + 1 :].sum() if above else distribution[:hits].sum()
    return float(beyond + distribution[hits] / 2)


def _smallest(holds: Callable[[int], bool], most: int) -> int:
    """The smallest whole number from 0 to `most` for which a monotone test holds; else `most`."""
    low, high = 0, most
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low


def _shift(logits: Numbers, outcomes: Numbers) -> tuple[float, float]:
    """The shift and its standard error."""
    shift = 0.0
    for _ in range(50):
        chance = _sigmoid(logits + shift)
        weight = chance * (1 - chance)
        information = max(float(weight.sum()), 1e-9)
        leverage = weight / information
        step = float((outcomes - chance + leverage * (0.5 - chance)).sum()) / information
        shift = min(max(shift + max(min(step, 2.0), -2.0), -_LARGEST_LOGIT), _LARGEST_LOGIT)
        if abs(step) < 1e-8:
            break
    chance = _sigmoid(logits + shift)
    return shift, 1 / math.sqrt(max(float((chance * (1 - chance)).sum()), 1e-9))


def _logits(probabilities: Numbers) -> Numbers:
    edge = math.exp(-_LARGEST_LOGIT)
    inside = np.clip(probabilities, edge, 1 - edge)
    return np.asarray(np.log(inside) - np.log1p(-inside), np.float64)


def _sigmoid(values: Numbers) -> Numbers:
    return np.asarray(1 / (1 + np.exp(-values)), np.float64)


def _check(probes: Sequence[Probe], topics: int, tested: int, found: int) -> None:
    if not 0 <= found <= tested <= topics:
        raise ValueError(f"{found} found of {tested} tested of {topics} topics cannot be")
    for one in probes:
        if not (0 <= one.found <= found and one.found <= one.tested < tested):
            raise ValueError(
                f"a probe after {one.tested} tests with {one.found} found cannot be of a search "
                f"with {tested} tests and {found} found"
            )
