"""Players that do not read what they find: uniform, a random walk, breadth first, depth first."""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

from askew.search.game import Board, Observation

# Steps of a random walk over tested topics before it is set down somewhere on the frontier.
LONGEST_WALK = 10_000


class Uniform:
    """Any candidate, each as likely: what guided search has to beat."""

    name = "uniform"
    jumps = False

    def start(self, board: Board, random: np.random.Generator) -> None:
        """See `Policy.start`."""
        self._board = board
        self._random = random

    def pick(self) -> int:
        """See `Policy.pick`."""
        return _any_of(self._board.candidates(), self._random)

    def observe(self, node: int, seen: Observation, opened: NDArray[np.int32]) -> None:
        """Learns nothing."""


class RandomWalk:
    """From the topic last tested to a random neighbour, and on, until one is not tested yet.

    Steps over tested topics cost nothing, as their labels are known.
    """

    name = "random_walk"
    jumps = False

    def start(self, board: Board, random: np.random.Generator) -> None:
        """See `Policy.start`."""
        self._board = board
        self._random = random
        self._at: int | None = None

    def pick(self) -> int:
        """See `Policy.pick`."""
        board = self._board
        at = self._at
        if at is None or board.frontier_size == 0:
            return _any_of(board.candidates(), self._random)
        for _ in range(LONGEST_WALK):
            around = board.graph.around(at)
            if not len(around):
                break
            at = int(around[self._random.integers(len(around))])
            if board.on_frontier[at]:
                return at
        return _any_of(board.candidates(), self._random)

    def observe(self, node: int, seen: Observation, opened: NDArray[np.int32]) -> None:
        """Stands on the topic."""
        self._at = node


class BreadthFirst:
    """What came on the frontier first; topics that came together in a drawn order."""

    name = "bfs"
    jumps = False

    def start(self, board: Board, random: np.random.Generator) -> None:
        """See `Policy.start`."""
        self._board = board
        self._random = random
        self._queue: deque[int] = deque()

    def pick(self) -> int:
        """See `Policy.pick`."""
        while self._queue:
            node = self._queue.popleft()
            if not self._board.taken[node]:
                return node
        return _any_of(self._board.candidates(), self._random)

    def observe(self, node: int, seen: Observation, opened: NDArray[np.int32]) -> None:
        """Queues what opened."""
        self._queue.extend(self._random.permutation(opened).tolist())


class DepthFirst:
    """A neighbour of the topic last tested, in a drawn order; where none is left, one step back."""

    name = "dfs"
    jumps = False

    def start(self, board: Board, random: np.random.Generator) -> None:
        """See `Policy.start`."""
        self._board = board
        self._random = random
        self._stack: list[int] = []

    def pick(self) -> int:
        """See `Policy.pick`."""
        while self._stack:
            node = self._stack.pop()
            if not self._board.taken[node]:
                return node
        return _any_of(self._board.candidates(), self._random)

    def observe(self, node: int, seen: Observation, opened: NDArray[np.int32]) -> None:
        """Stacks all neighbours that are not tested, those seen before included."""
        around = self._board.graph.around(node)
        free = around[~self._board.taken[around]]
        self._stack.extend(self._random.permutation(free).tolist())


def _any_of(nodes: NDArray[np.int32], random: np.random.Generator) -> int:
    return int(nodes[random.integers(len(nodes))])
