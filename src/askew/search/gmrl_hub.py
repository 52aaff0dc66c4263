"""AgentLinkHub: which of GMRL-BD's agents moves next (§3.3), and the penalty of Eq. 6."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


def penalised(
    values: NDArray[np.float32], tested_by_others: NDArray[np.bool_], overlap_penalty: float
) -> NDArray[np.float32]:
    """Eq. 6: Q(s, a) - κ · 1(another agent has tested a), shape (actions,).

    >>> penalised(np.float32([2, 1]), np.array([True, False]), 1.5).tolist()
    [0.5, 1.0]
    """
    penalty = (overlap_penalty * tested_by_others).astype(np.float32)
    lowered: NDArray[np.float32] = values - penalty
    return lowered


@dataclass(frozen=True, slots=True)
class Offer:
    """What an agent would do next."""

    agent: int
    move: int  # the topic; the arg max of Eq. 6
    value: float  # the max of Eq. 6
    taken: bool  # the topic is tested already, or another agent's test of it is under way
    efficiency: float  # reward per query of the agent so far


@dataclass(slots=True)
class AgentLinkHub:
    """Selects the agent that moves.

    The agent with the largest value moves. If it has moved `turns` times in a row, or its move is
    taken, it hands over to the most efficient of the others whose move is not taken. One that has
    merely moved often goes on where no other can.
    """

    turns: int
    last: int = -1  # who moved last
    in_a_row: int = 0

    def choose(self, offers: Sequence[Offer]) -> Offer | None:
        """The offer that is taken up; None: no agent can move.

        Ties go to the agent with the lower number.
        """
        if not offers:
            return None
        first = heapq.nsmallest(1, offers, key=lambda one: (-one.value, one.agent))[0]
        tired = first.agent == self.last and self.in_a_row >= self.turns
        if not first.taken and not tired:
            return self._moves(first)
        queue = [(-one.efficiency, one.agent, one) for one in offers if one.agent != first.agent]
        heapq.heapify(queue)
        while queue:
            offer = heapq.heappop(queue)[2]
            if not offer.taken:
                return self._moves(offer)
        return None if first.taken else self._moves(first)

    def _moves(self, offer: Offer) -> Offer:
        self.in_a_row = self.in_a_row + 1 if offer.agent == self.last else 1
        self.last = offer.agent
        return offer
