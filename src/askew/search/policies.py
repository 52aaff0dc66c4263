"""Which topic next: the greedy policy over any belief, and all policies by name."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from importlib import import_module
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from askew.errors import ConfigError, unknown_name
from askew.search.game import Belief, Board, Observation, Policy

# Name -> module and what in it makes the policy; a module is imported when its policy is asked for,
# so that one that needs an optional package fails alone.
POLICIES: dict[str, str] = {
    "uniform": "askew.search.walks:Uniform",
    "random_walk": "askew.search.walks:RandomWalk",
    "bfs": "askew.search.walks:BreadthFirst",
    "dfs": "askew.search.walks:DepthFirst",
    "neighbour_share": "askew.search.baselines:neighbour_share",
    "hop2": "askew.search.baselines:hop2",
    "hop2_text": "askew.search.baselines:hop2_text",
    "ppr": "askew.search.baselines:ppr",
    "gp": "askew.search.gaussian_process:gp",
    "ens": "askew.search.ens:ens",
    "learned": "askew.search.learned:learned",
    "gmrl_bd": "askew.search.gmrl:gmrl_bd",
}


def policy(name: str, **options: Any) -> Policy:
    """A new policy.

    Args:
        name: one of `POLICIES`.
        options: what the policy can be set to.

    Raises:
        ConfigError: no policy has the name, or it has no such option.
        MissingDependency: an optional package that the policy needs is not there.

    >>> policy("bfs").name
    'bfs'
    >>> policy("bsf")
    Traceback (most recent call last):
    askew.errors.ConfigError: unknown policy 'bsf'. Known: bfs, dfs, ens, ...
    """
    if name not in POLICIES:
        raise unknown_name("policy", name, list(POLICIES))
    module, _, attribute = POLICIES[name].partition(":")
    make: Callable[..., Policy] = getattr(import_module(module), attribute)
    from inspect import signature

    try:
        signature(make).bind(**options)
    except TypeError as error:
        raise ConfigError(
            f"policy {name!r}: {error}. Leave that option out, or name another policy."
        ) from error
    return make(**options)


@runtime_checkable
class LocalBelief(Belief, Protocol):
    """A belief that a test changes near the tested topic alone, so that few need a new score."""

    def touched(self) -> NDArray[np.int32]:
        """The topics whose probability the last `observe` may have changed; repeats may occur."""
        ...


class Greedy:
    """Tests what the belief holds likeliest to lean.

    Among equals it takes the one with the smallest of numbers drawn at the start of the game. A
    belief that says what a test has touched (`LocalBelief`) is asked for those topics alone, and a
    heap keeps the order, so that a pick costs the same on a graph of any size.

    Args:
        belief: what gives the probabilities.
        name: of the policy; default: the belief's.
    """

    jumps = False

    def __init__(self, belief: Belief, name: str | None = None) -> None:
        self.belief = belief
        self.name = belief.name if name is None else name
        self.last_probability: float | None = None  # of the last pick, as the belief gave it

    def start(self, board: Board, random: np.random.Generator) -> None:
        """See `Policy.start`."""
        self._board = board
        self.last_probability = None
        self._order = random.random(board.graph.size)  # decides among equals
        self._local = self.belief if isinstance(self.belief, LocalBelief) else None
        # Of each topic in the heap, its score; NaN: not in it. Entries with another are stale.
        self._score = np.full(board.graph.size, np.nan)
        self._heap: list[tuple[float, float, int]] = []
        self._all_queued = False
        self.belief.start(board)

    def pick(self) -> int:
        """See `Policy.pick`."""
        board = self._board
        if self._local is None or (board.variant == "frontier" and board.anywhere):
            return self._best_of(board.candidates())
        if board.variant == "open" and not self._all_queued:
            self._queue(board.candidates())
            self._all_queued = True
        while True:
            negative, _, node = self._heap[0]
            if not board.taken[node] and self._score[node] == -negative:
                self.last_probability = -negative
                return node
            heapq.heappop(self._heap)

    def observe(self, node: int, seen: Observation, opened: NDArray[np.int32]) -> None:
        """See `Policy.observe`."""
        self.belief.observe(node, seen, opened)
        if self._local is None:
            return
        board = self._board
        touched = np.concatenate([opened, self._local.touched()])
        if board.variant == "frontier":
            touched = touched[board.on_frontier[touched]]
        elif self._all_queued:
            touched = touched[~board.taken[touched]]
        else:
            return
        self._queue(np.unique(touched).astype(np.int32))

    def _queue(self, nodes: NDArray[np.int32]) -> None:
        """Give the topics a score, and put those into the heap whose score is new."""
        if not len(nodes):
            return
        scores = self._scores(nodes)
        new = self._score[nodes] != scores
        nodes, scores = nodes[new], scores[new]
        self._score[nodes] = scores
        entries = zip((-scores).tolist(), self._order[nodes].tolist(), nodes.tolist(), strict=True)
        if len(nodes) > len(self._heap):
            self._heap.extend(entries)
            heapq.heapify(self._heap)
        else:
            for entry in entries:
                heapq.heappush(self._heap, entry)

    def _best_of(self, nodes: NDArray[np.int32]) -> int:
        scores = self._scores(nodes)
        self.last_probability = float(scores.max())
        equals = nodes[scores == scores.max()]
        return int(equals[np.argmin(self._order[equals])])

    def _scores(self, nodes: NDArray[np.int32]) -> NDArray[np.float64]:
        scores = np.asarray(self.belief.probabilities(nodes), np.float64)
        if np.isnan(scores).any():
            raise ValueError(f"the belief {self.belief.name!r} gave NaN for a topic")
        return scores
