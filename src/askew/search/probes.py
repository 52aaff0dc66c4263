"""Uniform draws mixed into a search, so that what it says of the rest rests on chance, not choice.

A policy tests where it expects to find; the share of leaning topics among its tests says nothing of
the topics that it left. A probe is drawn uniformly from all topics that are not tested yet.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from askew.search.game import Board, Observation, Policy


class Probing:
    """Another policy, which a uniform draw replaces now and then.

    The tests are counted in blocks of 1 ÷ share; one of each block is a probe, at a place that is
    drawn. So every search of one length has as many, give or take one. A start that was drawn
    uniformly is the probe of the first block.

    Args:
        policy: who picks at the other steps; it learns from the probes as well.
        share: of the tests that are probes, in [0, 1).
        drawn_start: whether the game's start is drawn.
    """

    jumps = True  # a probe lies anywhere

    def __init__(self, policy: Policy, share: float, *, drawn_start: bool = True) -> None:
        if not 0 <= share < 1:
            raise ValueError(f"share of probes {share}: not in [0, 1)")
        self.policy = policy
        self.name = policy.name
        self.probed: set[int] = set()
        self.last_probability: float | None = None  # of the last pick, as its belief gave it
        self._share = share
        self._drawn_start = drawn_start

    def start(self, board: Board, random: np.random.Generator) -> None:
        """See `Policy.start`."""
        self._board = board
        self._random, its_own = random.spawn(2)
        self.probed = set()
        self.last_probability = None
        self._picks = 1  # the start was the first
        self._block = 0
        self._place = 0 if self._drawn_start else 1 + self._drawn_place(but=1)
        self.policy.start(board, its_own)

    def pick(self) -> int:
        """See `Policy.pick`; any topic that is not taken."""
        due = self._share > 0 and self._is_due()
        self._picks += 1
        if not due:
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

    def _is_due(self) -> bool:
        """Whether this pick is its block's probe; blocks end where share × picks is whole."""
        block = int(self._picks * self._share + 1e-9)
        if block > self._block:
            self._block = block
            self._place = self._picks + self._drawn_place()
        return self._picks == self._place

    def _drawn_place(self, but: int = 0) -> int:
        """A place in a block that has lost its first `but` ones."""
        if not self._share:
            return 0
        # Rounded down: a place beyond the end of a short block would lose its probe.
        return int(self._random.integers(max(1, int(1 / self._share + 1e-9) - but)))
