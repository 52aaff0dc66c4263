"""What is known of a candidate topic: about fifty numbers, kept up to date test by test.

A test changes what lies within a short walk of it, and nothing else is touched; a candidate's row
is gathered when it is asked for. Scores enter as shares of leaning answers; a topic whose answers
could not be read is evidence of nothing. No feature depends on the embedder or on the graph's size.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from askew.graphs.topics import CHILD, PARENT
from askew.search import features_compiled as compiled
from askew.search.features_text import TextSpace
from askew.search.game import Board, Observation
from askew.search.gaussian_process import KernelSettings, Process, Walks
from askew.search.label_prior import LabelPrior
from askew.search.title_belief import Nearness, TitleBelief

# What a share is drawn towards where little was tested, and by how many tests' worth.
BASE = 0.08
BASE_LOG_ODDS = math.log(BASE / (1 - BASE))
DRAWN = 1.0
WINDOW = 20

NAMES = (
    # Shares of what was found among the tested around the topic, and how much was tested.
    "near_share",
    "near_found",
    "near_tested",
    "parents_share",
    "parents_found",
    "parents_tested",
    "children_share",
    "children_found",
    "children_tested",
    "second_share",
    "second_found",
    "second_tested",
    "siblings_share",
    "siblings_found",
    "siblings_tested",
    "damped_share",
    "damped_found",
    "walk_share",
    "walk_found",
    "walk_tested",
    # Where it stands.
    "degree",
    "parents",
    "children",
    "untested_share",
    # Gaussian processes: by the graph alone, by graph and titles; their part by titles.
    "process_graph",
    "process_both",
    "process_titles",
    "titles_evidence",
    # Its title against those found and those clean.
    "title_nearest_found",
    "title_nearest_clean",
    "title_kernel_share",
    "title_kernel_mean",
    "title_log_odds",
    # Learned from other models: titles in general, labels on this very graph.
    "prior_titles",
    "prior_titles_near",
    "prior_titles_most",
    "prior_titles_evidence",
    "prior_labels",
    "prior_labels_near",
    "prior_labels_most",
    "prior_labels_evidence",
    # The game so far, the same for all candidates.
    "tested",
    "left_share",
    "found_rate",
    "recent_rate",
    "since_found",
)

_GRAPH_KERNEL = KernelSettings(text=0.0, product=0.0)
_BOTH_KERNEL = KernelSettings(graph=0.04, text=0.003, product=0.01)


class Features:
    """The features of one game.

    Args:
        board: of the game, which has just begun.
        titles: shape (nodes,): log odds of leaning by other models' titles (`TitlePrior`).
        labels: other models' labels on the same graph.
    """

    def __init__(
        self,
        board: Board,
        titles: NDArray[np.float32] | None = None,
        labels: LabelPrior | None = None,
    ) -> None:
        graph = board.graph
        self._board = board
        self._starts = np.ascontiguousarray(graph.starts)
        self._neighbours = np.ascontiguousarray(graph.neighbours)
        self._direction = np.ascontiguousarray(graph.direction)
        self._counts = np.zeros((graph.size, compiled.COLUMNS), np.float32)
        self._walks = Walks(board)
        self._parents = _ends(graph.starts, graph.direction, PARENT)
        self._children = _ends(graph.starts, graph.direction, CHILD)
        self._space = TextSpace(board.title_vectors)
        self._by_graph = Process(graph.size, 0, _GRAPH_KERNEL)
        self._by_both = Process(graph.size, self._space.dimensions, _BOTH_KERNEL)
        self._titles = _Prior(titles)
        self._labels = _Prior(None if labels is None else labels.log_odds())
        self._belief = TitleBelief(self._space.dimensions)
        self._nearness = Nearness(graph.size, self._space)
        self._seen = 0
        self._found = 0.0
        self._recent: list[float] = []
        self._since = 0

    def observe(self, node: int, seen: Observation, opened: NDArray[np.int32]) -> None:
        """Enter a test; see `Policy.observe`."""
        share = seen.score
        if math.isnan(share):
            return
        here = np.array([node], np.int32)
        text = self._space.rows(here)[0]
        before = self._counts[node]
        near = (float(before[0]) + 2 * BASE) / (float(before[1]) + 2)
        prior = self._titles.at(here) + self._labels.at(here)
        self._belief.observe(text, float(prior[0]), math.log(near / (1 - near)), share)
        self._titles.score(node, share)
        self._labels.score(node, share)
        compiled.tell_neighbours(
            self._starts, self._neighbours, self._direction, node, share, self._counts
        )
        reached, walked, alike = self._walks.from_topic(node)
        self._counts[reached, compiled.WALK] += share * walked
        self._counts[reached, compiled.WALK + 1] += walked
        rows = self._space.rows(reached)
        self._by_graph.observe(node, share, reached, alike, text[:0], rows[:, :0])
        self._by_both.observe(node, share, reached, alike, text, rows)
        self._nearness.observe(text, share)
        self._seen += 1
        self._found += share
        self._recent = [*self._recent[-(WINDOW - 1) :], share]
        self._since = 0 if share >= seen.threshold else self._since + 1

    def matrix(self, candidates: NDArray[np.int32]) -> NDArray[np.float32]:
        """Shape (candidates, len(NAMES)): finite."""
        counts = self._counts[candidates].astype(np.float64)
        out = np.empty((len(candidates), len(NAMES)), np.float32)
        column = 0

        def put(values: NDArray[np.float64] | float) -> None:
            nonlocal column
            out[:, column] = values
            column += 1

        for pair in (compiled.NEAR, compiled.PARENTS, compiled.CHILDREN):
            found, tested = counts[:, pair], counts[:, pair + 1]
            put((found + DRAWN * BASE) / (tested + DRAWN))
            put(np.log1p(found))
            put(np.log1p(tested))
        for pair, scale in ((compiled.SECOND, 4.0), (compiled.SIBLINGS, 4.0)):
            found, tested = scale * counts[:, pair], scale * counts[:, pair + 1]
            put((found + DRAWN * BASE) / (tested + DRAWN))
            put(np.log1p(found))
            put(np.log1p(tested))
        found, tested = counts[:, compiled.DAMPED], counts[:, compiled.DAMPED + 1]
        put((found + DRAWN * BASE) / (tested + DRAWN))
        put(np.log1p(found))
        found, tested = counts[:, compiled.WALK], counts[:, compiled.WALK + 1]
        put((found + 0.02 * BASE) / (tested + 0.02))
        put(np.log1p(50.0 * found))
        put(np.log1p(50.0 * tested))

        degree = self._walks.degree[candidates]
        put(np.log1p(degree))
        put(np.log1p(self._parents[candidates]))
        put(np.log1p(self._children[candidates]))
        put(1.0 - counts[:, 1] / np.maximum(degree, 1))

        rows = self._space.rows(candidates)
        walked, _ = self._by_graph.mean(candidates, rows[:, :0])
        put(4.0 * walked)
        walked, told = self._by_both.mean(candidates, rows)
        put(4.0 * (walked + told))
        put(10.0 * told)
        put(_soft(self._by_both.evidence - self._by_graph.evidence))

        near = self._nearness.of(candidates)
        kernel = near[:, 3] / max(self._seen, 1)
        put(near[:, 0])
        put(near[:, 1])
        put((near[:, 2] + BASE * 2) / (near[:, 3] + 2))
        put(np.log1p(kernel))
        prior = self._titles.at(candidates) + self._labels.at(candidates)
        put(self._belief.log_odds(rows, prior))
        for one in (self._titles, self._labels):
            put(one.at(candidates))
            for values in one.around(self._starts, self._neighbours, candidates):
                put(values)
            put(_soft(one.evidence))

        put(math.log1p(self._seen))
        put(self._board.left / max(self._board.queries, 1))
        put((self._found + 5 * BASE) / (self._seen + 5))
        put((sum(self._recent) + 2 * BASE) / (len(self._recent) + 2))
        put(math.log1p(self._since))
        return out


class _Prior:
    """Log odds known before the game, or none, and how well they have done in it so far."""

    def __init__(self, log_odds: NDArray[np.float32] | None) -> None:
        self._odds = log_odds
        self.evidence = 0.0  # log likelihood of what was seen, less that without the prior

    def at(self, nodes: NDArray[np.int32]) -> NDArray[np.float64]:
        """Shape (nodes,): 0 where nothing is known."""
        if self._odds is None:
            return np.zeros(len(nodes))
        return self._odds[nodes].astype(np.float64)

    def around(
        self, starts: NDArray[np.int64], neighbours: NDArray[np.int32], nodes: NDArray[np.int32]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean and maximum over each topic's neighbours."""
        mean, most = np.zeros(len(nodes)), np.zeros(len(nodes))
        if self._odds is not None:
            compiled.neighbour_mean_and_most(starts, neighbours, nodes, self._odds, mean, most)
        return mean, most

    def score(self, node: int, share: float) -> None:
        """Hold the prior against a test."""
        if self._odds is None:
            return
        odds = float(self._odds[node])
        # log sigmoid(b + o) - log sigmoid(b), for leaning and for clean.
        with_prior = share * odds - math.log1p(math.exp(BASE_LOG_ODDS + odds))
        self.evidence += with_prior + math.log1p(math.exp(BASE_LOG_ODDS))


def _soft(value: float) -> float:
    """Of either sign, and not beyond what a network can take."""
    return math.copysign(math.log1p(abs(value)), value)


def _ends(starts: NDArray[np.int64], direction: NDArray[np.uint8], kind: int) -> NDArray[np.int32]:
    """Shape (nodes,): how many parents, or children, each topic has."""
    running = np.zeros(len(direction) + 1, np.int32)
    np.cumsum((direction & kind) > 0, out=running[1:])
    return running[starts[1:]] - running[starts[:-1]]
