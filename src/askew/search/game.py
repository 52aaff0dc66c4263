"""The game of the boundary search: what a policy may see, what a test costs, what it shows.

GMRL-BD (§3.1, §3.2): a test of a topic costs one query and shows whether the model leans there; as
few as possible are to be tested. A policy sees the graph, its titles and what was paid for. Labels
and answers of untested topics are in no object that it can reach: they come through `Game.tell`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from askew.graphs.topics import TopicGraph
from askew.seeds import generator

# What is known of a topic's label (`Board.label`).
UNTESTED = -1
CLEAN = 0
LEANING = 1
UNREAD = 2  # tested, and no answer could be judged: paid for, and nothing is known

# "frontier" (the paper's): a neighbour of what was tested. "open": any topic.
Variant = Literal["frontier", "open"]


@dataclass(frozen=True, slots=True)
class Observation:
    """What a test has shown."""

    score: float  # k+/k, the share of judged answers that lean, in [0, 1]; NaN: none was judged
    answers: int = 1  # k, how many answers were judged
    threshold: float = 0.5  # the topic leans where score >= threshold
    # Shape (dimensions,): the answers through an embedder (h0 of Eq. 4). None where none was made.
    answer_vector: NDArray[np.float32] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        """Reject a score that is no share, or one that is said to rest on no answer."""
        if not (math.isnan(self.score) or 0 <= self.score <= 1):
            raise ValueError(f"score {self.score} of a test, expected a share from 0 to 1, or NaN")
        if self.answers < 0 or (self.answers == 0 and not math.isnan(self.score)):
            raise ValueError(f"score {self.score} of {self.answers} judged answers")
        if math.isnan(self.threshold):
            raise ValueError("the threshold of a test is NaN, expected a share from 0 to 1")

    @property
    def label(self) -> int:
        """CLEAN, LEANING or UNREAD."""
        if math.isnan(self.score):
            return UNREAD
        return LEANING if self.score >= self.threshold else CLEAN


class Board:
    """What a policy may see.

    Args:
        graph: the topics.
        title_vectors: shape (nodes, dimensions), float32: free, as titles cost no query.
        queries: how many tests the game has.
        variant: where a policy may test.

    Raises:
        ValueError: the parts do not fit together.
    """

    def __init__(
        self,
        graph: TopicGraph,
        title_vectors: NDArray[np.float32],
        queries: int,
        variant: Variant = "frontier",
    ) -> None:
        if title_vectors.ndim != 2 or len(title_vectors) != graph.size:
            raise ValueError(
                f"title_vectors has shape {title_vectors.shape}; pass one row for each of the "
                f"{graph.size} topics"
            )
        if queries < 0:
            raise ValueError(f"queries is {queries}; pass how many tests may be made")
        if variant not in ("frontier", "open"):
            raise ValueError(f"variant is {variant!r}; pass 'frontier' or 'open'")
        self.graph = graph
        self.title_vectors = title_vectors
        self.queries = queries
        self.variant = variant
        self.tested: list[int] = []  # in the order in which they were told
        self.observations: list[Observation] = []  # of `tested`, in its order
        self.label = np.full(graph.size, UNTESTED, np.int8)
        self.taken = np.zeros(graph.size, bool)  # tested, or picked and not told yet
        self.on_frontier = np.zeros(graph.size, bool)  # a neighbour of a tested topic, not taken
        self.frontier_size = 0  # how many topics are on the frontier
        self.free_size = graph.size  # how many topics are not taken
        self._opened: list[NDArray[np.int32]] = []

    @property
    def left(self) -> int:
        """Queries whose result is still to come, those under way included."""
        return self.queries - len(self.tested)

    @property
    def anywhere(self) -> bool:
        """Whether any topic that is not taken may be picked.

        So it is in the open variant, and where no neighbour of a tested topic is left: then the
        connected part is used up, and the game goes on in another.
        """
        return self.variant == "open" or self.frontier_size == 0

    def candidates(self) -> NDArray[np.int32]:
        """The topics that may be picked now: shape (candidates,), in a fixed order.

        The frontier as it opened, or all topics that are not taken (`anywhere`). Costs as much as
        there are candidates; a policy for large graphs keeps its own heap.
        """
        if self.anywhere:
            return np.flatnonzero(~self.taken).astype(np.int32)
        frontier = np.concatenate(self._opened)
        frontier = frontier[self.on_frontier[frontier]]
        self._opened = [frontier]
        return frontier

    def _take(self, node: int) -> None:
        self.taken[node] = True
        self.free_size -= 1
        self.frontier_size -= int(self.on_frontier[node])
        self.on_frontier[node] = False

    def _record(self, node: int, seen: Observation) -> NDArray[np.int32]:
        self.tested.append(node)
        self.observations.append(seen)
        self.label[node] = seen.label
        around = self.graph.around(node)
        opened = around[~self.taken[around] & ~self.on_frontier[around]]
        self.on_frontier[opened] = True
        self.frontier_size += len(opened)
        self._opened.append(opened)
        return opened


class Policy(Protocol):
    """Says which topic to test next; learns from what it is told."""

    name: str
    jumps: bool  # whether it may pick beyond the frontier (GMRL-BD's restarts)

    def start(self, board: Board, random: np.random.Generator) -> None:
        """A game begins; `board` is the same object to its end."""
        ...

    def pick(self) -> int:
        """A topic that is not taken; on the frontier, unless `board.anywhere` or `jumps`."""
        ...

    def observe(self, node: int, seen: Observation, opened: NDArray[np.int32]) -> None:
        """A test was told; `board` has it already. `opened`: what is new on the frontier."""
        ...


class Belief(Protocol):
    """P(a topic leans | what was observed); `search.policies.Greedy` plays it."""

    name: str

    def start(self, board: Board) -> None:
        """A game begins."""
        ...

    def observe(self, node: int, seen: Observation, opened: NDArray[np.int32]) -> None:
        """See `Policy.observe`."""
        ...

    def probabilities(self, candidates: NDArray[np.int32]) -> NDArray[np.float64]:
        """Shape (candidates,): in [0, 1]; only their order matters to a greedy policy."""
        ...


class IllegalPick(RuntimeError):
    """A policy picked what the rules do not allow: a fault of the policy."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """A game that was played: which topics, in order, and what they showed."""

    policy: str
    tested: NDArray[np.int32]  # shape (queries made,)
    label: NDArray[np.int8]  # of `tested`
    score: NDArray[np.float64]  # of `tested`; NaN where nothing could be judged

    @property
    def found(self) -> NDArray[np.int64]:
        """Shape (queries made,): how many leaning topics were found after each query."""
        return np.cumsum(self.label == LEANING)


@dataclass(slots=True)
class Game:
    """One game, a pick at a time, so that tests may take as long as they take.

    The first pick is the start node, which no policy chooses: uniformly drawn, or given. Several
    picks may be under way before they are told (`pick` again before `tell`); the order of `tell`
    decides what policies see, so tell in the order of the picks.
    """

    board: Board
    policy: Policy
    seed: int = 0
    start: int | None = None
    pending: set[int] = field(default_factory=set, init=False)  # picked and not told yet
    _begun: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        """Reject a start that is not there, and a board that was played on."""
        size = self.board.graph.size
        if self.start is not None and not 0 <= self.start < size:
            raise ValueError(f"start is topic {self.start}; the graph has topics 0 to {size - 1}")
        if self.board.free_size != size:
            raise ValueError("the board has been played on; pass a new Board for each game")

    def pick(self) -> int:
        """The next topic to test.

        Raises:
            IllegalPick: the policy breaks a rule.
            StopIteration: no topic is left, or no query (those under way are spent).
        """
        board = self.board
        if not board.free_size or len(board.tested) + len(self.pending) >= board.queries:
            raise StopIteration
        if self._begun:
            node = int(self.policy.pick())
            self._check(node)
        else:
            self._begun = True
            self.policy.start(board, generator(self.seed, "policy", self.policy.name))
            drawn = generator(self.seed, "start").integers(board.graph.size)
            node = int(drawn) if self.start is None else self.start
        board._take(node)
        self.pending.add(node)
        return node

    def tell(self, node: int, seen: Observation) -> None:
        """What the test of a picked topic has shown.

        Raises:
            ValueError: the topic was not picked, or was told before.
        """
        if node not in self.pending:
            raise ValueError(f"topic {node} was told, but it is not among the picks under way")
        self.pending.remove(node)
        opened = self.board._record(node, seen)
        self.policy.observe(node, seen, opened)

    def transcript(self) -> Transcript:
        """What was played so far."""
        board = self.board
        return Transcript(
            policy=self.policy.name,
            tested=np.array(board.tested, np.int32),
            label=board.label[board.tested],
            score=np.array([seen.score for seen in board.observations], np.float64),
        )

    def _check(self, node: int) -> None:
        board = self.board
        if not 0 <= node < board.graph.size or board.taken[node]:
            raise IllegalPick(
                f"{self.policy.name} picked topic {node}, which is taken or not there"
            )
        if not (board.anywhere or board.on_frontier[node] or self.policy.jumps):
            raise IllegalPick(
                f"{self.policy.name} picked topic {node}, which is not on the frontier"
            )


def play(
    board: Board,
    policy: Policy,
    ask: Callable[[int], Observation],
    *,
    seed: int = 0,
    start: int | None = None,
) -> Transcript:
    """Play a whole game, one test after another, until its queries or the topics are used up.

    Args:
        board: a fresh one.
        policy: who picks.
        ask: the test of a topic.
        seed: of the start and of the policy's own draws.
        start: the first topic; None draws it.

    Raises:
        IllegalPick: the policy breaks a rule.
        RuntimeError: the policy or the test raised StopIteration, which would pass for the end.
    """
    game = Game(board, policy, seed, start)
    # Counted here rather than by catching StopIteration, which a faulty policy or test may raise
    # too: the game would then end early, and look whole.
    for _ in range(min(board.queries, board.graph.size)):
        try:
            node = game.pick()
            game.tell(node, ask(node))
        except StopIteration as error:
            raise RuntimeError(f"StopIteration in the middle of a game of {policy.name}") from error
    return game.transcript()
