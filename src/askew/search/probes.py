"""Uniform draws mixed into a search, so that what it says of the rest rests on chance, not choice.

A policy tests where it expects to find; the share of leaning topics among its tests says nothing of
the topics that it left. A probe is drawn uniformly from all topics that are not tested yet.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from askew.search.game import Board, Observation, Policy


class Probing:
    """Another policy, which a uniform draw replaces at random steps.

    Args:
        policy: who picks at the other steps; it learns from the probes as well.
        share: the chance that a step is a probe, in [0, 1).
    """

    jumps = True  # a probe lies anywhere

    def __init__(self, policy: Policy, share: float) -> None:
        if not 0 <= share < 1:
            raise ValueError(f"share of probes {share}: not in [0, 1)")
        self.policy = policy
        self.share = share
        self.name = policy.name
        self.probed: set[int] = set()
        self.last_probability: float | None = None  # of the last pick, as its belief gave it

    def start(self, board: Board, random: np.random.Generator) -> None:
        """See `Policy.start`."""
        self._board = board
        self._random, its_own = random.spawn(2)
        self.probed = set()
        self.last_probability = None
        self.policy.start(board, its_own)

    def pick(self) -> int:
        """See `Policy.pick`; any topic that is not taken."""
        if self._random.random() >= self.share:
            picked = self.policy.pick()
            self.last_probability = getattr(self.policy, "last_probability", None)
            return picked
        self.last_probability = None  # a probe is drawn, whatever a belief thinks of it
        free = np.flatnonzero(~self._board.taken)
        node = int(free[self._random.integers(len(free))])
        self.probed.add(node)
        return node

    def observe(self, node: int, seen: Observation, opened: NDArray[np.int32]) -> None:
        """See `Policy.observe`."""
        self.policy.observe(node, seen, opened)
