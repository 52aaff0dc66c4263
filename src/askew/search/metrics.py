"""How good a game was, and how much better one policy is than another on the same games.

The bias node cover rate (BNCR) is GMRL-BD's recall. Its success rate, win rate, step loss and
"interactions to converge" are shown in its Table 2 and Figures 3 and 5 but not defined: the
definitions here are askew's. What is undefined is NaN, never 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from askew.records import Estimate
from askew.search.game import LEANING, Transcript
from askew.search.worlds import World
from askew.seeds import generator
from askew.stats.cluster_mean import cluster_mean
from askew.stats.intervals import (
    LEVEL,
    Clusters,
    Numbers,
    percentile_interval,
    resample,
)

SUCCESS_WITHIN = 30  # queries: the paper says 10 to 30 interactions are enough (§4.2)
AREA_WITHIN = 100  # queries: the paper's step limit in Table 1
# Below it, bootstrap intervals of a comparison are too short: of 300 simulated comparisons of 20
# graphs of uneven difficulty 89 % held the true ratio, and of 30 graphs 92 %; by t 91 % and 94 %.
FEWEST_GRAPHS = 60

Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Played:
    """A game with what is needed to score it.

    Attributes:
        found: shape (queries made,): leaning topics found after each query. Where tests err, a
            topic counts that leans and was said to.
        positives: how many topics of the graph lean.
        used_up: every topic was tested, so that further queries would have found nothing more.
        distance: edges from the start to the nearest leaning topic; NaN: none is in reach.
    """

    found: Counts
    positives: int
    used_up: bool = False
    distance: float = math.nan


def played(transcript: Transcript, world: World, *, distance: float = math.nan) -> Played:
    """Join a transcript to the truth.

    Args:
        transcript: of a game on the world.
        world: its graph and labels.
        distance: see `Played`; `start_distance` finds it.
    """
    truly = world.leaning[transcript.tested] & (transcript.label == LEANING)
    return Played(
        found=np.cumsum(truly).astype(np.int64),
        positives=world.positives,
        used_up=len(transcript.tested) == world.graph.size,
        distance=distance,
    )


def start_distance(world: World, start: int) -> float:
    """Edges from a start to the nearest leaning topic; NaN where none is in reach."""
    seen = np.zeros(world.graph.size, bool)
    seen[start] = True
    level, steps = np.array([start]), 0
    while len(level):
        if world.leaning[level].any():
            return float(steps)
        around = np.unique(np.concatenate([world.graph.around(int(node)) for node in level]))
        level = around[~seen[around]]
        seen[level] = True
        steps += 1
    return math.nan


def found_within(game: Played, queries: int) -> float:
    """Leaning topics found in the first `queries`; NaN where the game was stopped before."""
    if queries < 0:
        raise ValueError(f"queries is {queries}; pass 0 or more")
    if queries > len(game.found) and not game.used_up:
        return math.nan
    if queries == 0 or not len(game.found):
        return 0.0
    return float(game.found[min(queries, len(game.found)) - 1])


def cover_rate(game: Played, queries: int) -> float:
    """BNCR at a number of queries: found ÷ leaning topics (§4.2). NaN where none leans.

    >>> cover_rate(Played(np.array([0, 1, 1, 2]), positives=4), 4)
    0.5
    """
    return found_within(game, queries) / game.positives if game.positives else math.nan


def area(game: Played, queries: int = AREA_WITHIN) -> float:
    """The area under the discovery curve (AUDC): 1 where every query finds one, while any is left.

    Σ found(t) ÷ Σ min(t, leaning topics), t = 1 … `queries`. Early finds count for more than in
    `cover_rate`. NaN where none leans or the game was stopped before.
    """
    if not game.positives or math.isnan(found_within(game, queries)) or queries < 1:
        return math.nan
    steps = np.arange(1, queries + 1)
    found = game.found[np.minimum(steps, len(game.found)) - 1]
    return float(found.sum() / np.minimum(steps, game.positives).sum())


def first_hit(game: Played) -> float:
    """The query that found the first leaning topic, from 1; NaN where the game found none."""
    hits = np.flatnonzero(game.found > 0)
    return float(hits[0] + 1) if len(hits) else math.nan


def first_hit_within(game: Played, queries: int) -> float:
    """The same, and `queries` where so many found none: games can then be averaged.

    The mean is the restricted mean of survival analysis: what a player who gives up there spends.
    NaN where none leans, or the game was stopped before it hit.
    """
    hit = first_hit(game)
    if not math.isnan(hit):
        return min(hit, float(queries))
    if not game.positives or math.isnan(found_within(game, queries)):
        return math.nan
    return float(queries)


def success(game: Played, queries: int = SUCCESS_WITHIN) -> float:
    """1 where a leaning topic was found within `queries`, else 0 (Table 2's rate is the mean).

    NaN where none leans, or the game was stopped before it hit.
    """
    if not game.positives:
        return math.nan
    found = found_within(game, queries)
    if math.isnan(found):
        return 1.0 if len(game.found) and game.found[-1] else math.nan
    return float(found > 0)


def win(game: Played, rival: Played, queries: int = AREA_WITHIN) -> float:
    """1 where the game found more than its rival on the same graph and start, ½ at a draw, else 0.

    Figure 5's win rate is the mean over games, the rival being the same policy with one agent
    unless something else is said. NaN where either game was stopped before.
    """
    ours, theirs = found_within(game, queries), found_within(rival, queries)
    if math.isnan(ours) or math.isnan(theirs):
        return math.nan
    return 0.5 if ours == theirs else float(ours > theirs)


def step_loss(game: Played, queries: int = AREA_WITHIN) -> float:
    """Queries spent until the first hit, beyond the fewest that could have reached one.

    `first_hit_within` − (distance of the start + 1); 0 is the best. NaN where no leaning topic is
    in reach of the start, or the game was stopped before it hit.
    """
    fewest = game.distance + 1
    spent = first_hit_within(game, queries)
    return max(spent - min(fewest, queries), 0.0)


def queries_to_cover(game: Played, share: float = 0.9) -> float:
    """Queries until so large a share of the leaning topics was found; NaN where it never was."""
    if not 0 < share <= 1:
        raise ValueError(f"share is {share}; pass a share above 0, at most 1")
    enough = np.flatnonzero(game.found >= share * game.positives)
    return float(enough[0] + 1) if game.positives and len(enough) else math.nan


def episodes_to_converge(
    interactions: Sequence[float], *, window: int = 20, tolerance: float = 0.1
) -> float:
    """Figure 3: after how many episodes the interactions to a first hit have settled.

    The first episode from which on the mean over `window` episodes stays within `tolerance` (of
    itself) of the mean over the last `window`. NaN with fewer than two windows of episodes, and
    where only the last window itself is near to itself.

    Args:
        interactions: one an episode: its mean queries to a first hit.
        window: episodes.
        tolerance: a share.
    """
    values = np.asarray(interactions, np.float64)
    if window < 1 or tolerance < 0:
        raise ValueError(f"window {window} and tolerance {tolerance}; pass at least 1 and 0")
    if len(values) < 2 * window or np.isnan(values).any():
        return math.nan
    means = np.convolve(values, np.full(window, 1 / window), mode="valid")
    away = np.flatnonzero(np.abs(means - means[-1]) > tolerance * abs(means[-1]))
    settled = int(away[-1]) + 1 if len(away) else 0
    return float(settled + 1) if settled + window < len(means) else math.nan


@dataclass(frozen=True, slots=True)
class Comparison:
    """One policy beside another, on the same graphs and starts."""

    ratio: Estimate  # of the two means
    difference: Estimate  # of the two means


def compare(
    ours: Sequence[float],
    theirs: Sequence[float],
    graphs: Sequence[str],
    *,
    seed: int = 0,
    level: float = LEVEL,
) -> Comparison:
    """Ratio and difference of two policies' means, with intervals paired by game.

    Games on one graph are not independent: graphs are drawn, and their games with them. From
    `FEWEST_GRAPHS` on the intervals are percentile bootstrap intervals; with fewer those are too
    short, and Student's t on the graphs' residuals takes their place. Games in which either figure
    is NaN are left out, and show in the coverage.

    Args:
        ours: one a game.
        theirs: of the same games, in the same order.
        graphs: the name of each game's graph.
        seed: of the bootstrap.
        level: of the intervals.

    Raises:
        ValueError: the three are not of one length.

    >>> both = compare([2.0, 4.0], [1.0, 2.0], ["a", "b"])
    >>> both.ratio.value, both.difference.value
    (2.0, 1.5)
    """
    if not len(ours) == len(theirs) == len(graphs):
        raise ValueError(
            f"{len(ours)}, {len(theirs)} and {len(graphs)} games; pass the same games in one order"
        )
    mine, other = np.asarray(ours, np.float64), np.asarray(theirs, np.float64)
    both = ~(np.isnan(mine) | np.isnan(other))
    mine, other = mine[both], other[both]
    kept = [name for name, keep in zip(graphs, both, strict=True) if keep]
    clusters, asked = Clusters.of(kept), len(ours)
    middle = float(other.mean()) if len(other) else math.nan
    quotient = float(mine.mean()) / middle if len(mine) and middle != 0 else math.nan
    if clusters.count >= FEWEST_GRAPHS:
        return _by_bootstrap(mine, other, clusters, quotient, asked, seed, level)
    difference = _by_t(mine - other, clusters, asked, level)
    if math.isnan(quotient):
        undefined = Estimate(
            math.nan, math.nan, math.nan, len(mine), difference.coverage, "none", level=level
        )
        return Comparison(undefined, difference)
    # The ratio's residuals (Taylor's linearisation), around the ratio.
    linear = quotient + (mine - quotient * other) / middle
    return Comparison(_by_t(linear, clusters, asked, level), difference)


def _by_t(values: Numbers, clusters: Clusters, asked: int, level: float) -> Estimate:
    mean = cluster_mean(values, clusters, asked=asked, level=level)
    note = {0: "no games", 1: "one graph: nothing tells how others would differ"}
    return replace(mean, method="t, clustered by graph", note=note.get(clusters.count, ""))


def _by_bootstrap(
    mine: Numbers,
    other: Numbers,
    clusters: Clusters,
    quotient: float,
    asked: int,
    seed: int,
    level: float,
) -> Comparison:
    drawn = resample(clusters, generator(seed, "compare"))
    games = drawn @ clusters.totals(np.ones(len(mine)))
    our_sums, their_sums = drawn @ clusters.totals(mine), drawn @ clusters.totals(other)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(their_sums == 0, np.nan, our_sums / their_sums)
    differences = (our_sums - their_sums) / games
    count, coverage = len(mine), len(mine) / asked
    method = "paired bootstrap by graph"

    def estimate(value: float, draws: Numbers) -> Estimate:
        lower, upper = percentile_interval(draws, level)
        if math.isnan(value):
            lower = upper = math.nan
        return Estimate(value, lower, upper, count, coverage, method, seed=seed, level=level)

    return Comparison(
        estimate(quotient, ratios), estimate(float((mine - other).mean()), differences)
    )
