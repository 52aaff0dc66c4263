"""One of GMRL-BD's agents in a game: its walk, what lies beside it, and what it has earned."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from askew.search.game import CLEAN, LEANING, Board
from askew.search.gmrl_settings import GmrlSettings


class Agent:
    """A walk over the topic graph.

    Args:
        number: from 0.
        nodes: how many topics there are.
    """

    def __init__(self, number: int, nodes: int) -> None:
        self.number = number
        self.hits = 0  # of the whole game
        self.queries = 0
        self._nodes = nodes
        # Of all its walks: told, or under way. A topic that it has tested on an earlier walk is
        # no action any more, while one that another agent has tested is (Eq. 6).
        self._ever = np.zeros(nodes, bool)
        self.begin_anew()

    def begin_anew(self) -> None:
        """Leave the walk behind (Algorithm 2, line 17); what the agent has earned stays."""
        self.path: list[int] = []  # told, in order
        self._beside = np.zeros(self._nodes, bool)  # was ever a neighbour of the walk
        self._frontier = np.zeros(0, np.int32)

    def takes(self, node: int) -> None:
        """A test of the topic is under way for this agent."""
        self._ever[node] = True

    def told(self, node: int, board: Board) -> None:
        """The test was told; `board` has it."""
        self._ever[node] = True
        self.path.append(node)
        self.queries += 1
        self.hits += int(board.label[node] == LEANING)
        around = board.graph.around(node)
        new = around[~self._beside[around] & ~self._ever[around]]
        self._beside[new] = True
        self._frontier = np.concatenate([self._frontier, new])

    def actions(self) -> NDArray[np.int32]:
        """nb(n_t(p)): the neighbours of the walk that it has not tested; others may have."""
        self._frontier = self._frontier[~self._ever[self._frontier]]
        return self._frontier

    def efficiency(self, settings: GmrlSettings) -> float:
        """Reward per query, by Eq. 3 without the distance, which only training knows."""
        if not self.queries:
            return 0.0
        return (settings.reward_hit * self.hits) / self.queries - settings.reward_test

    def tested(self, board: Board) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The walk's topics that lean, and those that are clean; one that is unread is neither."""
        path = np.array(self.path, np.int64)
        label = board.label[path]
        return path[label == LEANING], path[label == CLEAN]
