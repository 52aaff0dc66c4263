"""Players that are told the labels: marks to measure policies against, no policies themselves.

They take the `World`, so no registry of policies holds them, and reports call them references.
"""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

from askew.search.baselines import PRIOR, reach_of
from askew.search.game import Board, Observation
from askew.search.worlds import World


class KnowsAllLabels:
    """Takes the way to the nearest leaning topic that costs the fewest tests of clean ones.

    Greedy, so nearly the best that can be done from the frontier, not provably the best.
    """

    name = "knows all labels"
    jumps = False
    is_reference = True

    def __init__(self, world: World) -> None:
        self._leaning = world.leaning

    def start(self, board: Board, random: np.random.Generator) -> None:
        """See `Policy.start`."""
        self._board = board
        self._random = random
        self._way: list[int] = []

    def pick(self) -> int:
        """See `Policy.pick`."""
        board = self._board
        while self._way:
            node = self._way.pop()
            if not board.taken[node] and (board.anywhere or board.on_frontier[node]):
                return node
            self._way = [] if not board.taken[node] else self._way
        candidates = board.candidates()
        if board.anywhere:
            leaning = candidates[self._leaning[candidates]]
            return int(leaning[0] if len(leaning) else candidates[0])
        self._way = self._cheapest(candidates)
        return self._way.pop() if self._way else int(candidates[0])

    def observe(self, node: int, seen: Observation, opened: NDArray[np.int32]) -> None:
        """Nothing is new to it."""

    def _cheapest(self, candidates: NDArray[np.int32]) -> list[int]:
        """The way to the leaning topic that costs least, its first topic last; [] if there is none.

        A breadth-first search in which a leaning topic costs nothing and a clean one costs one.
        """
        graph, taken = self._board.graph, self._board.taken
        before: dict[int, int] = {}
        cost: dict[int, int] = {}
        queue: deque[int] = deque()
        for node in candidates.tolist():
            if self._leaning[node]:
                return [node]
            before[node], cost[node] = -1, 1
            queue.append(node)
        while queue:
            node = queue.popleft()
            for other in graph.around(node).tolist():
                if taken[other] or other in cost:
                    continue
                before[other], cost[other] = node, cost[node] + 1
                if self._leaning[other]:
                    way = [other]
                    while before[way[-1]] >= 0:
                        way.append(before[way[-1]])
                    return way
                queue.append(other)
        return []


class KnowsAllButOwn:
    """Ranks a topic by the true labels of its neighbours and second neighbours, not by its own.

    What a belief of `Hop2`'s kind would play if all other topics had been tested. Not a proven
    bound: another way to use the same labels may do better.

    Args:
        world: the labels.
        second: weight of second neighbours.
    """

    name = "knows all but own"
    jumps = False
    is_reference = True

    def __init__(self, world: World, second: float = 1.0) -> None:
        size = world.graph.size
        leaning, tested = np.zeros(size), np.zeros(size)
        for node in range(size):
            # Every way from the topic to another is one from that other to the topic.
            nodes, weights = reach_of(world.graph, node, second)
            leaning[node] = weights @ world.leaning[nodes]
            tested[node] = weights.sum()
        self._share = (leaning + PRIOR) / (tested + 1)

    def start(self, board: Board, random: np.random.Generator) -> None:
        """See `Policy.start`."""
        self._board = board
        self._order = random.random(board.graph.size)

    def pick(self) -> int:
        """See `Policy.pick`."""
        candidates = self._board.candidates()
        shares = self._share[candidates]
        equals = candidates[shares == shares.max()]
        return int(equals[np.argmin(self._order[equals])])

    def observe(self, node: int, seen: Observation, opened: NDArray[np.int32]) -> None:
        """Nothing is new to it."""
