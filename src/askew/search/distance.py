"""How far each topic is from the nearest leaning one, kept exact while those are tested away.

Eq. 3 of GMRL-BD needs `dist`, the shortest distance from what was tested to a leaning topic that
is not. One search from all leaning topics at once gives every topic's distance, and which of them
it is nearest to. When one is tested, only the topics nearest to that one change: their cell is
filled anew from its rim. On 871,854 topics that is a few dozen of them, not all.

Imported lazily, as numba takes a while to load.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from askew.graphs.topics import TopicGraph
from askew.search.compiled_code import compiled

# Distance where no source can be reached, and the owner there.
FAR = 2**30
NOBODY = -1


@compiled
def search_all(
    starts: NDArray[np.int64],
    neighbours: NDArray[np.int32],
    sources: NDArray[np.int32],
    distance: NDArray[np.int32],
    owner: NDArray[np.int32],
    queue: NDArray[np.int32],
) -> None:
    """Breadth first from all sources at once.

    Args:
        starts: of the graph.
        neighbours: of the graph.
        sources: shape (sources,), each once.
        distance: shape (nodes,), overwritten: edges to the nearest source; FAR: none in reach.
        owner: shape (nodes,), overwritten: a source at that distance; NOBODY: none in reach.
        queue: shape (nodes,), scratch.
    """
    distance[:] = FAR
    owner[:] = NOBODY
    filled = 0
    for source in sources:
        distance[source] = 0
        owner[source] = source
        queue[filled] = source
        filled += 1
    at = 0
    while at < filled:
        node = queue[at]
        at += 1
        for place in range(starts[node], starts[node + 1]):
            other = neighbours[place]
            if distance[other] == FAR:
                distance[other] = distance[node] + 1
                owner[other] = owner[node]
                queue[filled] = other
                filled += 1


class Scratch(NamedTuple):
    """What `drop_source` works in, and leaves its changes in; made by `scratch`."""

    cell: NDArray[np.int32]  # shape (nodes,): the topics that were changed come first
    before: NDArray[np.int32]  # shape (nodes,): the distances that they had, in the same order
    queue: NDArray[np.int32]  # shape (nodes,)
    waiting: NDArray[np.uint8]  # shape (nodes,): whether a topic is in the queue; zeros in between


def scratch(nodes: int) -> Scratch:
    """For graphs of so many topics."""
    return Scratch(
        np.empty(nodes, np.int32),
        np.empty(nodes, np.int32),
        np.empty(nodes, np.int32),
        np.zeros(nodes, np.uint8),
    )


@compiled
def drop_source(
    starts: NDArray[np.int64],
    neighbours: NDArray[np.int32],
    source: int,
    distance: NDArray[np.int32],
    owner: NDArray[np.int32],
    room: Scratch,
) -> int:
    """Make one source an ordinary topic; `distance` and `owner` are exact again, in place.

    Every topic has a neighbour of the same owner that is one nearer, so a cell hangs together, and
    what lies outside it has a way that does not touch it.

    Args:
        starts: of the graph.
        neighbours: of the graph.
        source: one that is a source now.
        distance: of `search_all`, changed in place.
        owner: likewise.
        room: changed in place.

    Returns:
        How many topics the source's cell had: room.cell[:count], all owned by the source before,
        at the distances room.before[:count].
    """
    cell, before, queue, waiting = room.cell, room.before, room.queue, room.waiting
    cell[0] = source
    owner[source] = NOBODY
    count = 1
    at = 0
    while at < count:
        node = cell[at]
        before[at] = distance[node]
        distance[node] = FAR
        at += 1
        for place in range(starts[node], starts[node + 1]):
            other = neighbours[place]
            if owner[other] == source:
                owner[other] = NOBODY
                cell[count] = other
                count += 1
    # The rim of the cell takes what lies outside it offers; then each topic that comes nearer
    # brings its neighbours nearer, until none does. The queue is a ring: a topic is in it once.
    ahead, waits = 0, 0
    for at in range(count):
        node = cell[at]
        for place in range(starts[node], starts[node + 1]):
            other = neighbours[place]
            # NOBODY's distance is FAR, whether it is in the cell or out of every source's reach.
            if distance[other] + 1 < distance[node]:
                distance[node] = distance[other] + 1
                owner[node] = owner[other]
        if owner[node] != NOBODY:
            queue[(ahead + waits) % len(queue)] = node
            waits += 1
            waiting[node] = 1
    while waits:
        node = queue[ahead]
        ahead = (ahead + 1) % len(queue)
        waits -= 1
        waiting[node] = 0
        reached = distance[node] + 1
        for place in range(starts[node], starts[node + 1]):
            other = neighbours[place]
            if reached < distance[other]:
                distance[other] = reached
                owner[other] = owner[node]
                if not waiting[other]:
                    waiting[other] = 1
                    queue[(ahead + waits) % len(queue)] = other
                    waits += 1
    return count


class DistanceField:
    """Distances to the nearest leaning topic that is not tested yet.

    Walkers share it: each drops what it tests, and `undo` brings the field back for the next.

    Args:
        graph: the topics.
        leaning: shape (nodes,): the sources.

    >>> from askew.graphs.topics import build_graph
    >>> graph = build_graph(["a", "b", "c", "d"], np.array([1, 2, 3]), np.array([0, 1, 2]))
    >>> field = DistanceField(graph, np.array([True, False, False, True]))
    >>> field.distance.tolist()
    [0, 1, 1, 0]
    >>> field.drop(3)
    >>> field.distance.tolist()
    [0, 1, 2, 3]
    >>> field.undo()
    >>> field.distance.tolist()
    [0, 1, 1, 0]
    """

    def __init__(self, graph: TopicGraph, leaning: NDArray[np.bool_]) -> None:
        if leaning.shape != (graph.size,):
            raise ValueError(f"leaning has shape {leaning.shape}; pass one for each topic")
        self.graph = graph
        self.distance = np.empty(graph.size, np.int32)  # FAR where no source is in reach
        self.owner = np.empty(graph.size, np.int32)  # NOBODY there
        self._room = scratch(graph.size)
        self._changes: list[tuple[int, NDArray[np.int32], NDArray[np.int32]]] = []
        sources = np.flatnonzero(leaning).astype(np.int32)
        search_all(
            graph.starts, graph.neighbours, sources, self.distance, self.owner, self._room.queue
        )

    def drop(self, source: int) -> None:
        """The topic was tested: it counts no more.

        Raises:
            ValueError: it is not among the sources (any more).
        """
        if not 0 <= source < self.graph.size or self.distance[source] != 0:
            raise ValueError(f"topic {source} is no leaning topic that is still untested")
        count = drop_source(
            self.graph.starts,
            self.graph.neighbours,
            source,
            self.distance,
            self.owner,
            self._room,
        )
        nodes, before = self._room.cell[:count].copy(), self._room.before[:count].copy()
        self._changes.append((source, nodes, before))

    def undo(self) -> None:
        """As it was made: all that was dropped counts again."""
        for source, nodes, before in reversed(self._changes):
            self.distance[nodes] = before
            self.owner[nodes] = source
        self._changes.clear()
