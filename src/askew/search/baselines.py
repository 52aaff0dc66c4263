"""Beliefs that need no training: what share of what lies near was found to lean.

Each keeps sums that a test changes near the tested topic alone, takes soft scores (k+/k) as they
are, and counts a test that could not be read as no test. Only the order of the probabilities is
meant; they are not calibrated.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from askew.errors import ConfigError
from askew.graphs.topics import TopicGraph
from askew.search.game import UNREAD, Board, Observation
from askew.search.policies import Greedy
from askew.search.text_prior import TextPrior

# A topic with more neighbours than this passes nothing on to second neighbours: at a weight of
# 1 / neighbours it would not count, and it would cost the most.
WIDEST_HUB = 200
PRIOR = 0.05  # taken for the share of leaning topics before anything is known
# What a prior is worth in tests, found on 48 simulated graphs that no reported figure rests on
# (BNCR@100 .277 at 1 and .299 at 3 for neighbours alone; second neighbours gain nothing at 3).
NEIGHBOUR_STRENGTH = 3.0
HOP2_STRENGTH = 1.0


class NeighbourShare:
    """The share of leaning among the tested neighbours, smoothed: (leaning + s · p) / (tested + s).

    Args:
        prior: p, in (0, 1).
        strength: s, how many tests the prior is worth.
    """

    name = "neighbour_share"

    def __init__(self, prior: float = PRIOR, strength: float = NEIGHBOUR_STRENGTH) -> None:
        _check_prior(prior, strength)
        self.prior = prior
        self.strength = strength

    def start(self, board: Board) -> None:
        """See `Belief.start`."""
        self._graph = board.graph
        self._leaning = np.zeros(board.graph.size)
        self._tested = np.zeros(board.graph.size)
        self._touched = np.zeros(0, np.int32)

    def observe(self, node: int, seen: Observation, opened: NDArray[np.int32]) -> None:
        """See `Belief.observe`."""
        self._touched = np.zeros(0, np.int32)
        if seen.label == UNREAD:
            return
        self._touched = self._graph.around(node)
        self._leaning[self._touched] += seen.score
        self._tested[self._touched] += 1

    def touched(self) -> NDArray[np.int32]:
        """See `LocalBelief.touched`."""
        return self._touched

    def probabilities(self, candidates: NDArray[np.int32]) -> NDArray[np.float64]:
        """See `Belief.probabilities`."""
        leaning = self._leaning[candidates] + self.strength * self.prior
        shares: NDArray[np.float64] = leaning / (self._tested[candidates] + self.strength)
        return shares


class Hop2:
    """The neighbours' share, with second neighbours at a lower weight.

    A second neighbour counts `second` / d for each way to it over a topic with d neighbours.

    Args:
        prior: taken for the share before anything is known, in (0, 1).
        strength: how many tests the prior is worth.
        second: weight of second neighbours, at least 0.
    """

    name = "hop2"

    def __init__(
        self, prior: float = PRIOR, strength: float = HOP2_STRENGTH, second: float = 1.0
    ) -> None:
        _check_prior(prior, strength)
        if second < 0:
            raise ConfigError(f"the second neighbours' weight is {second}, expected at least 0.")
        self.prior = prior
        self.strength = strength
        self.second = second

    def start(self, board: Board) -> None:
        """See `Belief.start`."""
        self._graph = board.graph
        self._leaning = np.zeros(board.graph.size)
        self._tested = np.zeros(board.graph.size)
        self._touched = np.zeros(0, np.int32)

    def observe(self, node: int, seen: Observation, opened: NDArray[np.int32]) -> None:
        """See `Belief.observe`."""
        self._touched = np.zeros(0, np.int32)
        if seen.label == UNREAD:
            return
        nodes, weights = reach_of(self._graph, node, self.second)
        np.add.at(self._leaning, nodes, weights * seen.score)
        np.add.at(self._tested, nodes, weights)
        self._touched = nodes

    def touched(self) -> NDArray[np.int32]:
        """See `LocalBelief.touched`."""
        return self._touched

    def probabilities(self, candidates: NDArray[np.int32]) -> NDArray[np.float64]:
        """See `Belief.probabilities`."""
        leaning = self._leaning[candidates] + self.strength * self.prior
        shares: NDArray[np.float64] = leaning / (self._tested[candidates] + self.strength)
        return shares


def reach_of(
    graph: TopicGraph, node: int, second: float
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """What a test of a topic says something about: nodes and weights, a node once for each way.

    Its neighbours at 1, and theirs (but for the topic itself) at `second` ÷ the neighbours of the
    one between.
    """
    around = graph.around(node)
    degrees = graph.starts[around + 1] - graph.starts[around]
    narrow = degrees <= WIDEST_HUB
    via, degrees = around[narrow], degrees[narrow]
    # All stretches of `neighbours` behind `via`, one after another.
    ends = np.cumsum(degrees)
    total = int(ends[-1]) if len(ends) else 0
    places = np.arange(total) + np.repeat(graph.starts[via] - (ends - degrees), degrees)
    beyond, weights = graph.neighbours[places], np.repeat(second / degrees, degrees)
    other = beyond != node
    nodes = np.concatenate([around, beyond[other]])
    return nodes, np.concatenate([np.ones(len(around)), weights[other]])


class WithText:
    """Another belief's log odds, and what titles say beside it.

    Args:
        belief: what the graph says.
        prior: what titles say, fitted on other models' labels.
        weight: of what titles say, in log odds.
    """

    def __init__(
        self, belief: NeighbourShare | Hop2, prior: TextPrior, weight: float = 1.0
    ) -> None:
        self.belief = belief
        self.prior = prior
        self.weight = weight
        self.name = f"{belief.name}_text"

    def start(self, board: Board) -> None:
        """See `Belief.start`."""
        self._titles = board.title_vectors
        self.belief.start(board)

    def observe(self, node: int, seen: Observation, opened: NDArray[np.int32]) -> None:
        """See `Belief.observe`."""
        self.belief.observe(node, seen, opened)

    def touched(self) -> NDArray[np.int32]:
        """See `LocalBelief.touched`."""
        return self.belief.touched()

    def probabilities(self, candidates: NDArray[np.int32]) -> NDArray[np.float64]:
        """See `Belief.probabilities`."""
        near = self.belief.probabilities(candidates)
        text = self.prior.log_odds_beside_base(self._titles[candidates])
        odds: NDArray[np.float64] = np.log(near) - np.log1p(-near) + self.weight * text
        return 1 / (1 + np.exp(-odds))


class PageRankVote:
    """Tested topics vote, each with its personalised PageRank at the candidate.

    The ranks come from truncated pushes (Andersen, Chung and Lang, 2006), so that a test costs
    about 1 / (`restart` · `precision`) at most, whatever the size of the graph.

    Args:
        prior: taken for the share before anything is known, in (0, 1).
        strength: what rank the prior is worth.
        restart: the walk's chance to go back to the tested topic at each step, in (0, 1).
        precision: rank per neighbour that is not pushed on.
    """

    name = "ppr"

    def __init__(
        self,
        prior: float = PRIOR,
        strength: float = 0.05,
        restart: float = 0.25,
        precision: float = 2e-4,
    ) -> None:
        _check_prior(prior, strength)
        if not 0 < restart < 1 or precision <= 0:
            raise ConfigError(
                f"restart is {restart} and precision {precision}; expected restart between 0 and 1 "
                "and precision above 0."
            )
        self.prior = prior
        self.strength = strength
        self.restart = restart
        self.precision = precision

    def start(self, board: Board) -> None:
        """See `Belief.start`."""
        self._graph = board.graph
        self._leaning = np.zeros(board.graph.size)
        self._tested = np.zeros(board.graph.size)
        self._touched = np.zeros(0, np.int32)
        # Scratch of the pushes, zero between them.
        self._rank = np.zeros(board.graph.size)
        self._rest = np.zeros(board.graph.size)
        self._marks = np.zeros(board.graph.size, np.uint8)

    def observe(self, node: int, seen: Observation, opened: NDArray[np.int32]) -> None:
        """See `Belief.observe`."""
        from askew.search.compiled_push import push

        self._touched = np.zeros(0, np.int32)
        if seen.label == UNREAD:
            return
        graph = self._graph
        nodes = push(
            graph.starts,
            graph.neighbours,
            node,
            self.restart,
            self.precision,
            self._rank,
            self._rest,
            self._marks,
        )
        self._leaning[nodes] += self._rank[nodes] * seen.score
        self._tested[nodes] += self._rank[nodes]
        self._rank[nodes] = 0
        self._rest[nodes] = 0
        self._marks[nodes] = 0
        self._touched = nodes

    def touched(self) -> NDArray[np.int32]:
        """See `LocalBelief.touched`."""
        return self._touched

    def probabilities(self, candidates: NDArray[np.int32]) -> NDArray[np.float64]:
        """See `Belief.probabilities`."""
        leaning = self._leaning[candidates] + self.strength * self.prior
        shares: NDArray[np.float64] = leaning / (self._tested[candidates] + self.strength)
        return shares


def neighbour_share(prior: float = PRIOR, strength: float = NEIGHBOUR_STRENGTH) -> Greedy:
    """`NeighbourShare`, played greedily."""
    return Greedy(NeighbourShare(prior, strength))


def hop2(prior: float = PRIOR, strength: float = HOP2_STRENGTH, second: float = 1.0) -> Greedy:
    """`Hop2`, played greedily."""
    return Greedy(Hop2(prior, strength, second))


def hop2_text(
    text_prior: TextPrior,
    prior: float = PRIOR,
    strength: float = HOP2_STRENGTH,
    second: float = 1.0,
    weight: float = 1.0,
) -> Greedy:
    """`Hop2` with what titles say beside it, played greedily."""
    return Greedy(WithText(Hop2(prior, strength, second), text_prior, weight))


def ppr(
    prior: float = PRIOR,
    strength: float = 0.05,
    restart: float = 0.25,
    precision: float = 2e-4,
) -> Greedy:
    """`PageRankVote`, played greedily."""
    return Greedy(PageRankVote(prior, strength, restart, precision))


def _check_prior(prior: float, strength: float) -> None:
    if not (0 < prior < 1 and strength > 0):
        raise ConfigError(
            f"prior is {prior} and strength {strength}; expected a prior between 0 and 1 and a "
            "strength above 0."
        )
