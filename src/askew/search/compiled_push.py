"""Personalised PageRank by pushes, compiled. Imported lazily, as numba takes a while to load."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from askew.search.compiled_code import compiled

_MET = 1
_QUEUED = 2


@compiled
def push(
    starts: NDArray[np.int64],
    neighbours: NDArray[np.int32],
    source: int,
    restart: float,
    precision: float,
    rank: NDArray[np.float64],
    rest: NDArray[np.float64],
    marks: NDArray[np.uint8],
) -> NDArray[np.int32]:
    """Spread rank from a topic until no topic has more than `precision` per neighbour left over.

    Andersen, Chung and Lang (2006), "Local graph partitioning using PageRank vectors", with plain
    (not lazy) steps: a push turns `restart` of what is left over into rank.

    Args:
        starts: of the graph.
        neighbours: of the graph.
        source: where it starts.
        restart: in (0, 1).
        precision: above 0.
        rank: shape (nodes,), zeros; the ranks are added here.
        rest: shape (nodes,), zeros; what is left over is added here.
        marks: shape (nodes,), zeros; which topics were met, and which are in the queue. An array,
            as numba's sets slow down without end when entries come and go.

    Returns:
        The topics that were met, each once; the caller zeroes the three arrays there again.
    """
    nodes = [np.int32(source)]
    queue = [np.int32(source)]
    rest[source] = 1.0
    marks[source] = _MET | _QUEUED
    at = 0
    while at < len(queue):
        node = queue[at]
        at += 1
        marks[node] = _MET
        begin, end = starts[node], starts[node + 1]
        left = rest[node]
        rest[node] = 0.0
        rank[node] += restart * left
        if begin == end:
            continue
        share = (1 - restart) * left / (end - begin)
        for place in range(begin, end):
            other = neighbours[place]
            if not marks[other]:
                marks[other] = _MET
                nodes.append(other)
            rest[other] += share
            degree = starts[other + 1] - starts[other]
            if rest[other] > precision * degree and marks[other] == _MET:
                marks[other] = _MET | _QUEUED
                queue.append(other)
    return np.array(nodes)
