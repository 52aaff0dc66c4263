"""The game of Algorithm 1 in compiled code: many tries on one graph, with the reward of Eq. 3.

A try starts at a topic and tests one on the frontier of its path at each step: a random one with
probability ε, else the one with the highest score. Rewards are Eq. 3's, with exact distances. Tries
share one distance field and one set of marks; what a try has changed is put back when it ends, so
that a try on 871,854 topics costs what it touches.

Imported lazily, as numba takes a while to load.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askew.graphs.topics import TopicGraph
from askew.search.compiled_code import compiled
from askew.search.distance import FAR, DistanceField, Scratch, drop_source, scratch
from askew.seeds import generator

_FRONTIER = 1
_TESTED = 2


@dataclass(frozen=True, slots=True)
class RewardWeights:
    """Of Eq. 3; the paper gives no values, and these are askew's choice."""

    hit: float = 1.0  # β
    test: float = 0.05  # α
    near: float = 0.1  # w


@dataclass(frozen=True, slots=True)
class Tries:
    """What was played.

    Attributes:
        tested: shape (tries, steps), in order, the start first; -1 after the end.
        reward: shape (tries, steps): R of Eq. 3 for each test; 0 after the end.
        steps: tests made in all tries together.
    """

    tested: NDArray[np.int32]
    reward: NDArray[np.float32]
    steps: int


class BoundaryEnvironment:
    """Plays batches of tries on one labelled graph.

    Args:
        graph: the topics.
        leaning: shape (nodes,): y; known, as this is for training.
        weights: of the reward.
    """

    def __init__(
        self,
        graph: TopicGraph,
        leaning: NDArray[np.bool_],
        weights: RewardWeights | None = None,
    ) -> None:
        self.graph = graph
        self.leaning = np.asarray(leaning, np.bool_)
        self.weights = weights or RewardWeights()
        self.field = DistanceField(graph, self.leaning)
        self._marks = np.zeros(graph.size, np.uint8)
        self._frontier = np.empty(graph.size, np.int32)
        self._place = np.empty(graph.size, np.int32)
        self._heap = np.empty(graph.size, np.int32)
        self._room = scratch(graph.size)

    def play(
        self,
        begins: NDArray[np.integer],
        steps: int,
        *,
        seed: int = 0,
        scores: NDArray[np.float32] | None = None,
        epsilon: float = 1.0,
        stop_at_hit: bool = True,
    ) -> Tries:
        """Play one try from each start.

        Args:
            begins: shape (tries,): the topics to start at.
            steps: tests in a try, at most, the start included.
            seed: of the random moves.
            scores: shape (nodes,): Q of each topic; None: all moves are random.
            epsilon: share of random moves.
            stop_at_hit: a try ends with its first leaning topic (Algorithm 1, line 16).

        Raises:
            ValueError: a start that is not there, scores that do not fit or are NaN.
        """
        size = self.graph.size
        at = np.asarray(begins, np.int32)
        if len(at) and (at.min() < 0 or at.max() >= size):
            raise ValueError(f"starts from {at.min()} to {at.max()} on a graph of {size} topics")
        if steps < 1:
            raise ValueError(f"steps is {steps}; a try makes at least one test")
        if scores is None:
            scores, epsilon = np.zeros(size, np.float32), 1.0
        if scores.shape != (size,) or np.isnan(scores).any():
            raise ValueError(f"scores of shape {scores.shape}, or with NaN; pass one a topic")
        tested = np.full((len(at), steps), -1, np.int32)
        reward = np.zeros((len(at), steps), np.float32)
        drawn = generator(seed, "tries").integers(1, 2**63, dtype=np.uint64)
        made = _play(
            self.graph.starts,
            self.graph.neighbours,
            self.leaning,
            self.field.distance,
            self.field.owner,
            at,
            np.asarray(scores, np.float32),
            float(epsilon),
            self.weights.hit,
            self.weights.test,
            self.weights.near,
            stop_at_hit,
            np.array([drawn], np.uint64),
            self._marks,
            self._frontier,
            self._place,
            self._heap,
            self._room,
            tested,
            reward,
        )
        return Tries(tested, reward, int(made))


@compiled
def _draw(state: NDArray[np.uint64]) -> np.uint64:
    """The next of xorshift64* (Vigna, 2016)."""
    x = state[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    state[0] = x
    drawn: np.uint64 = x * np.uint64(2685821657736338717)
    return drawn


@compiled
def _below(state: NDArray[np.uint64], count: int) -> int:
    """A number from 0 to count - 1, from the upper 32 bits of a draw."""
    return int(((_draw(state) >> np.uint64(32)) * np.uint64(count)) >> np.uint64(32))


@compiled
def _before(scores: NDArray[np.float32], one: int, other: int) -> bool:
    """Whether one topic comes before another: by score, then by number."""
    return scores[one] > scores[other] or (scores[one] == scores[other] and one < other)


@compiled
def _push(heap: NDArray[np.int32], size: int, node: int, scores: NDArray[np.float32]) -> int:
    at = size
    while at > 0:
        above = (at - 1) >> 1
        if not _before(scores, node, heap[above]):
            break
        heap[at] = heap[above]
        at = above
    heap[at] = node
    return size + 1


@compiled
def _pop(heap: NDArray[np.int32], size: int, scores: NDArray[np.float32]) -> int:
    """Take the first out; the new size."""
    size -= 1
    last = heap[size]
    at = 0
    while True:
        below = 2 * at + 1
        if below >= size:
            break
        if below + 1 < size and _before(scores, heap[below + 1], heap[below]):
            below += 1
        if not _before(scores, heap[below], last):
            break
        heap[at] = heap[below]
        at = below
    heap[at] = last
    return size


@compiled
def _search_from(
    path: NDArray[np.int32],
    starts: NDArray[np.int64],
    neighbours: NDArray[np.int32],
    leaning: NDArray[np.bool_],
    marks: NDArray[np.uint8],
    room: Scratch,
) -> int:
    """Edges from a path to the nearest leaning topic that is not on it; FAR: none is in reach."""
    queue, seen = room.queue, room.waiting
    filled = 0
    for node in path:
        queue[filled] = node
        filled += 1
        seen[node] = 1
    begin, steps, found = 0, 0, FAR
    while begin < filled and found == FAR:
        end = filled
        steps += 1
        while begin < end and found == FAR:
            node = queue[begin]
            begin += 1
            for place in range(starts[node], starts[node + 1]):
                other = neighbours[place]
                if seen[other]:
                    continue
                if leaning[other] and marks[other] != _TESTED:
                    found = steps
                    break
                seen[other] = 1
                queue[filled] = other
                filled += 1
    for at in range(filled):
        seen[queue[at]] = 0
    return found


@compiled
def _play(
    starts: NDArray[np.int64],
    neighbours: NDArray[np.int32],
    leaning: NDArray[np.bool_],
    distance: NDArray[np.int32],
    owner: NDArray[np.int32],
    begins: NDArray[np.int32],
    scores: NDArray[np.float32],
    epsilon: float,
    hit_weight: float,
    test_weight: float,
    near_weight: float,
    stop_at_hit: bool,
    state: NDArray[np.uint64],
    marks: NDArray[np.uint8],
    frontier: NDArray[np.int32],
    place_of: NDArray[np.int32],
    heap: NDArray[np.int32],
    room: Scratch,
    tested: NDArray[np.int32],
    reward: NDArray[np.float32],
) -> int:
    """All tries, one after another; scratch arrays are as they were at the end."""
    made = 0
    # What tries change in the field: topic, distance and owner before, in the order of the changes.
    log = np.empty((1024, 3), np.int32)
    greedy = epsilon < 1.0
    # ε as a share of 2^32, compared with the upper half of a draw.
    random_below = np.uint64(min(max(epsilon, 0.0), 1.0) * 4294967296.0)
    for one in range(len(begins)):
        node = begins[one]
        open_count, heap_size = 0, 0
        nearest = FAR
        logged = 0
        step = 0
        while True:
            marks[node] = _TESTED
            tested[one, step] = node
            made += 1
            hit = leaning[node]
            if hit and (stop_at_hit or step + 1 == tested.shape[1]):
                # The try ends here. The search meets a leaning topic soon, where an update of the
                # field may have a large cell to fill, and all of it would be undone.
                nearest = _search_from(
                    tested[one, : step + 1], starts, neighbours, leaning, marks, room
                )
            elif hit:
                changed = drop_source(starts, neighbours, node, distance, owner, room)
                while logged + changed > len(log):
                    log = np.concatenate((log, np.empty_like(log)))
                for k in range(changed):
                    log[logged + k, 0] = room.cell[k]
                    log[logged + k, 1] = room.before[k]
                    log[logged + k, 2] = node
                logged += changed
                nearest = FAR
                for earlier in range(step + 1):
                    nearest = min(nearest, distance[tested[one, earlier]])
            else:
                nearest = min(nearest, distance[node])
            near = near_weight / (nearest + 1) if nearest < FAR else 0.0
            reward[one, step] = hit_weight * hit - test_weight + near
            step += 1
            if step == tested.shape[1] or (hit and stop_at_hit):
                break
            for place in range(starts[node], starts[node + 1]):
                other = neighbours[place]
                if marks[other] == 0:
                    marks[other] = _FRONTIER
                    frontier[open_count] = other
                    place_of[other] = open_count
                    open_count += 1
                    if greedy:
                        heap_size = _push(heap, heap_size, other, scores)
            if open_count == 0:
                break
            if greedy and (_draw(state) >> np.uint64(32)) >= random_below:
                while marks[heap[0]] == _TESTED:
                    heap_size = _pop(heap, heap_size, scores)
                node = heap[0]
                heap_size = _pop(heap, heap_size, scores)
            else:
                node = frontier[_below(state, open_count)]
            open_count -= 1
            last = frontier[open_count]
            frontier[place_of[node]] = last
            place_of[last] = place_of[node]
        for earlier in range(step):
            marks[tested[one, earlier]] = 0
        for place in range(open_count):
            marks[frontier[place]] = 0
        for back in range(logged - 1, -1, -1):
            distance[log[back, 0]] = log[back, 1]
            owner[log[back, 0]] = log[back, 2]
    return made
