"""A Gaussian process over topics: near on the graph, alike in their titles, alike in leaning.

The graph's part of the kernel is a short random walk with restarts, made symmetric by degree; the
titles' part is the inner product of their vectors; a third part is the product of both. Only what
was tested is ever solved for, so a decision costs the same on a graph of any size. Active search by
Gaussian processes: Ma, Huang and Schneider (2015).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from askew.search.features_text import TextSpace
from askew.search.game import Board, Observation

# The walk: the chance to end at a step, and what may be missing at a topic (times its degree).
RESTART = 0.25
TOLERANCE = 2e-4


@dataclass(frozen=True, kw_only=True, slots=True)
class KernelSettings:
    """What the process holds likely before the first test."""

    graph: float = 0.05  # variance from where a topic stands
    text: float = 0.01  # variance from what its title says, wherever it stands
    product: float = 0.03  # variance from both: near and alike
    noise: float = 0.06  # variance of a test's label about the process
    mean: float = 0.08  # of a topic of which nothing is known


class Walks:
    """Short random walks from the topics that are tested, symmetric: S(u, v) = S(v, u).

    S(u, v) = restart^-1 walk(u, v) sqrt(degree(u) / degree(v)); 1 or a little more at u itself.
    """

    def __init__(
        self, board: Board, restart: float = RESTART, tolerance: float = TOLERANCE
    ) -> None:
        from askew.search.features_compiled import push

        self._push = push
        graph = board.graph
        self._starts = np.ascontiguousarray(graph.starts)
        self._neighbours = np.ascontiguousarray(graph.neighbours)
        self._settings = restart, tolerance
        self.degree = np.diff(graph.starts)
        self._walked = np.zeros(graph.size)
        self._waiting = np.zeros(graph.size)
        self._touched = np.zeros(graph.size, np.int32)
        self._queue = np.zeros(graph.size, np.int32)
        self._queued = np.zeros(graph.size, bool)

    def from_topic(
        self, node: int
    ) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.float64]]:
        """The topics reached, where the walk ends among them, and S; each of shape (reached,)."""
        restart, tolerance = self._settings
        reached = self._push(
            self._starts,
            self._neighbours,
            node,
            restart,
            tolerance,
            self._walked,
            self._waiting,
            self._touched,
            self._queue,
            self._queued,
        )
        nodes = self._touched[:reached].copy()
        walked = self._walked[nodes]
        self._walked[nodes] = 0.0
        degree = np.maximum(self.degree[nodes], 1)
        alike = walked / restart * np.sqrt(max(self.degree[node], 1) / degree)
        return nodes, walked, alike


class Process:
    """The posterior of one kernel, a test at a time: O(tests^2) each.

    Args:
        size: topics of the graph.
        dimensions: of the text space.
        settings: of the kernel.
    """

    def __init__(self, size: int, dimensions: int, settings: KernelSettings) -> None:
        from askew.search import features_compiled

        self._compiled = features_compiled
        self._settings = settings
        self._place = np.full(size, -1, np.int32)
        self._count = 0
        self._factor = np.zeros((64, 64))  # lower triangle of the kernel's Cholesky factor
        self._whitened = np.zeros(64)
        self._text = np.zeros((64, dimensions))
        # What each test has reached, one test after another, and the kernel there.
        self._begins = np.zeros(65, np.int64)
        self._nodes = np.zeros(4096, np.int32)
        self._values = np.zeros(4096, np.float32)
        self.evidence = 0.0  # log density of what was seen, each test predicted before it
        self._solved: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None

    def observe(
        self,
        node: int,
        value: float,
        reached: NDArray[np.int32],
        alike: NDArray[np.float64],
        text: NDArray[np.float32],
        reached_text: NDArray[np.float32],
    ) -> None:
        """Enter a test.

        Args:
            node: what was tested.
            value: the share of its answers that lean.
            reached: shape (reached,): of `Walks.from_topic`.
            alike: shape (reached,): likewise.
            text: shape (dimensions,): the topic's row in the text space.
            reached_text: shape (reached, dimensions): the rows of what was reached.
        """
        used, count = self._settings, self._count
        self._make_room(len(reached))
        values = used.graph * alike
        if used.product:
            values = values + used.product * alike * (reached_text @ text)
        row = np.zeros(count)
        places = self._place[reached]
        there = places >= 0
        row[places[there]] = values[there]
        if used.text:
            row += used.text * (self._text[:count] @ text)
        own = float(values[reached == node].sum()) + used.text * float(text @ text)
        self._compiled.forward_substitute(self._factor, count, row)
        # Cut-off walks leave the kernel not quite positive; the noise makes up for most of it.
        left = max(own + used.noise - float(row @ row), 0.25 * used.noise)
        missed = value - used.mean - float(row @ self._whitened[:count])
        self._factor[count, :count] = row
        self._factor[count, count] = math.sqrt(left)
        self._whitened[count] = missed / math.sqrt(left)
        self.evidence -= 0.5 * (missed * missed / left + math.log(2 * math.pi * left))
        begin, end = self._begins[count], self._begins[count] + len(reached)
        self._nodes[begin:end], self._values[begin:end] = reached, values
        self._begins[count + 1] = end
        self._text[count] = text
        self._place[node] = count
        self._count += 1
        self._solved = None

    def _make_room(self, reached: int) -> None:
        count = self._count
        if count == len(self._whitened):
            factor = np.zeros((2 * count, 2 * count))
            factor[:count, :count] = self._factor
            self._factor = factor
            self._whitened = _longer(self._whitened, 2 * count)
            self._text = _longer(self._text, 2 * count)
            self._begins = _longer(self._begins, 2 * count + 1)
        needed = int(self._begins[count]) + reached
        if needed > len(self._nodes):
            self._nodes = _longer(self._nodes, max(needed, 2 * len(self._nodes)))
            self._values = _longer(self._values, len(self._nodes))

    def mean(
        self, candidates: NDArray[np.int32], text: NDArray[np.float32]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The posterior mean less the prior's, by the walk and by the titles alone.

        Args:
            candidates: whose.
            text: shape (candidates, dimensions): their rows in the text space.
        """
        if not self._count:
            return np.zeros(len(candidates)), np.zeros(len(candidates))
        if self._solved is None:
            self._solved = self._solve()
        walked, direction = self._solved
        return walked[candidates], text @ direction

    def _solve(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        count = self._count
        weight = self._whitened[:count].copy()
        self._compiled.back_substitute(self._factor, count, weight)
        walked = np.zeros(len(self._place))
        self._compiled.spread(self._nodes, self._values, self._begins[: count + 1], weight, walked)
        return walked, self._settings.text * (weight @ self._text[:count])

    def variance(
        self, candidates: NDArray[np.int32], text: NDArray[np.float32]
    ) -> NDArray[np.float64]:
        """The posterior variance, without a test's noise; O(tests^2) a candidate."""
        from scipy.linalg import solve_triangular

        used, count = self._settings, self._count
        length = np.einsum("cd,cd->c", text, text, dtype=np.float64)
        own: NDArray[np.float64] = used.graph + (used.text + used.product) * length
        if not count:
            return own
        column = np.full(len(self._place), -1, np.int64)
        column[candidates] = np.arange(len(candidates))
        cross = used.text * (self._text[:count] @ text.T)
        for row in range(count):
            entries = slice(int(self._begins[row]), int(self._begins[row + 1]))
            at = column[self._nodes[entries]]
            cross[row, at[at >= 0]] += self._values[entries][at >= 0]
        solved = solve_triangular(self._factor[:count, :count], cross, lower=True)
        own = np.maximum(own - np.einsum("tc,tc->c", solved, solved), 0.0)
        return own


def _longer(values: NDArray[Any], length: int) -> NDArray[Any]:
    """The values, and zeros behind them."""
    longer = np.zeros((length, *values.shape[1:]), values.dtype)
    longer[: len(values)] = values
    return longer


class GaussianProcessPolicy:
    """Tests where the process expects a leaning, or where it may hope for one.

    Args:
        rule: "mean", the posterior mean; or "ucb", the mean and `hope` standard deviations.
        hope: see there.
        settings: of the kernel.
    """

    name = "gp"
    jumps = False

    def __init__(
        self,
        rule: Literal["mean", "ucb"] = "mean",
        hope: float = 0.5,
        settings: KernelSettings | None = None,
    ) -> None:
        if rule not in ("mean", "ucb"):
            raise ValueError(f'rule is {rule!r}, expected "mean" or "ucb"')
        self._rule = rule
        self._hope = hope
        self._settings = settings or KernelSettings()

    def start(self, board: Board, random: np.random.Generator) -> None:
        """See `Policy.start`."""
        self._board = board
        self._space = TextSpace(board.title_vectors)
        self._walks = Walks(board)
        self._process = Process(board.graph.size, self._space.dimensions, self._settings)

    def observe(self, node: int, seen: Observation, opened: NDArray[np.int32]) -> None:
        """See `Policy.observe`."""
        if math.isnan(seen.score):
            return
        reached, _, alike = self._walks.from_topic(node)
        text = self._space.rows(reached)
        own = self._space.rows(np.array([node], np.int32))[0]
        self._process.observe(node, seen.score, reached, alike, own, text)

    def pick(self) -> int:
        """See `Policy.pick`."""
        candidates = self._board.candidates()
        worth = self.probabilities(candidates)
        if self._rule == "ucb":
            text = self._space.rows(candidates)
            worth = worth + self._hope * np.sqrt(self._process.variance(candidates, text))
        return int(candidates[np.argmax(worth)])

    def probabilities(self, candidates: NDArray[np.int32]) -> NDArray[np.float64]:
        """The posterior mean, cut to [0, 1]; only its order means much."""
        walked, told = self._process.mean(candidates, self._space.rows(candidates))
        return np.clip(self._settings.mean + walked + told, 0.0, 1.0)


def gp(rule: Literal["mean", "ucb"] = "mean", hope: float = 0.5) -> GaussianProcessPolicy:
    """For `policies.policy("gp")`."""
    return GaussianProcessPolicy(rule, hope)
