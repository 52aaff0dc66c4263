"""Efficient non-myopic search: a pick counts for what it promises for all the tests left.

ENS (Jiang et al., 2017) takes the tests after the next as made at once: the worth of a topic is its
probability and, on average over its label, the sum of the highest probabilities that remain. Here
the probabilities are the share model's of first and second neighbours, so that a label changes few
of them, and the sums are mended instead of made anew. Needs no training.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from askew.errors import ConfigError
from askew.search.game import Board, Observation

# With more candidates than this, only the likeliest are looked at.
MOST_CANDIDATES = 500


class ENS:
    """Efficient non-myopic search over the share model.

    Args:
        base: share of leaning topics where nothing is known, in (0, 1).
        strength: how many tests the base is worth.
        second: weight of second neighbours beside first ones'.
        horizon: tests looked ahead at most; None: all that are left.
    """

    name = "ens"
    jumps = False

    def __init__(
        self,
        base: float = 0.08,
        strength: float = 1.0,
        second: float = 1.0,
        horizon: int | None = None,
    ) -> None:
        if not 0 < base < 1 or not strength > 0 or not second >= 0:
            raise ConfigError(
                f"base is {base}, strength {strength} and second {second}; expected a base between "
                "0 and 1, a strength above 0 and a second of at least 0."
            )
        if horizon is not None and horizon < 1:
            raise ConfigError(f"horizon is {horizon}, expected at least 1.")
        self._base = base
        self._strength = strength
        self._second = second
        self._horizon = horizon
        self.last_probability: float | None = None  # of the last pick, by the share model

    def start(self, board: Board, random: np.random.Generator) -> None:
        """See `Policy.start`."""
        from askew.search.features_compiled import COLUMNS

        graph = board.graph
        self._board = board
        self._starts = np.ascontiguousarray(graph.starts)
        self._neighbours = np.ascontiguousarray(graph.neighbours)
        self._direction = np.ascontiguousarray(graph.direction)
        self._counts = np.zeros((graph.size, COLUMNS), np.float32)
        self._weight = np.zeros(graph.size)
        self._place = np.full(graph.size, -1, np.int64)
        # What lies within two steps of a find, and so may be above the base.
        self._near = np.zeros(0, np.int32)
        self._is_near = np.zeros(graph.size, bool)
        self._order = random.random(graph.size)  # decides among equals
        self.last_probability = None

    def observe(self, node: int, seen: Observation, opened: NDArray[np.int32]) -> None:
        """See `Policy.observe`."""
        from askew.search.features_compiled import tell_neighbours

        if math.isnan(seen.score):
            return
        tell_neighbours(
            self._starts, self._neighbours, self._direction, node, seen.score, self._counts
        )
        if seen.score > self._base:
            graph = self._board.graph
            around = graph.around(node)
            for some in (around, *(graph.around(one) for one in around.tolist())):
                new = some[~self._is_near[some]]
                self._is_near[new] = True
                self._near = np.append(self._near, new)

    def pick(self) -> int:
        """See `Policy.pick`."""
        from askew.search.ens_compiled import promise

        board = self._board
        candidates = board.candidates()
        found, tested = self._sums()
        chance = (found + self._strength * self._base) / (tested + self._strength)
        if len(candidates) > MOST_CANDIDATES:
            likeliest = np.argpartition(-chance[candidates], MOST_CANDIDATES)[:MOST_CANDIDATES]
            candidates = candidates[np.sort(likeliest)]
        known = self._known(chance)
        gains = chance[known] - self._base
        self._place[known] = np.arange(len(known))
        left = max(board.left - 1, 0)
        chances = chance[candidates].astype(np.float64)
        worth = chances + promise(
            self._starts,
            self._neighbours,
            board.taken,
            found,
            tested,
            candidates,
            chances,
            self._base,
            self._strength,
            self._second,
            left if self._horizon is None else min(left, self._horizon),
            known,
            self._place,
            gains,
            np.append(0.0, np.cumsum(gains)),
            self._weight,
        )
        self._place[known] = -1
        # Equal worths differ in the last places by the order of their sums.
        equals = candidates[worth >= worth.max() - 1e-9]
        node = int(equals[np.argmin(self._order[equals])])
        self.last_probability = float(chance[node])
        return node

    def _sums(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        from askew.search.features_compiled import NEAR, SECOND

        second = np.float32(self._second)
        found = self._counts[:, NEAR] + second * self._counts[:, SECOND]
        tested = self._counts[:, NEAR + 1] + second * self._counts[:, SECOND + 1]
        return found, tested

    def _known(self, chance: NDArray[np.float32]) -> NDArray[np.int32]:
        """The topics above the base that are not taken, by descending probability."""
        self._near = self._near[~self._board.taken[self._near]]
        above = self._near[chance[self._near] > self._base]
        return above[np.lexsort((above, -chance[above]))]


def ens(
    base: float = 0.08, strength: float = 1.0, second: float = 1.0, horizon: int | None = None
) -> ENS:
    """For `policies.policy("ens")`."""
    return ENS(base, strength, second, horizon)
