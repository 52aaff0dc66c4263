"""What a test changes around it, compiled: neighbours, second neighbours, a short random walk.

Imported lazily, as numba takes a while to load. `tests/search/test_features.py` holds the routines
to plain ones on random graphs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from askew.graphs.topics import CHILD, PARENT
from askew.search.compiled_code import compiled

# Columns of the counts of each topic: what was found among ..., and how much was tested among them.
NEAR = 0  # its neighbours
PARENTS = 2
CHILDREN = 4
SECOND = 6  # its neighbours' neighbours, each through every middle m at weight 1 / degree(m)
SIBLINGS = 8  # those of them whose middle is a parent of both
DAMPED = 10  # its neighbours, those with many neighbours at less weight
WALK = 12  # all, each by how likely a short random walk from it ends here
COLUMNS = 14

# A middle topic with more neighbours than this says nothing of them, and costs the most.
WIDEST_MIDDLE = 200
# A neighbour with more neighbours than this counts by the square root of how much wider it is.
DAMPED_FROM = 10.0


@compiled
def tell_neighbours(
    starts: NDArray[np.int64],
    neighbours: NDArray[np.int32],
    direction: NDArray[np.uint8],
    node: int,
    share: float,
    counts: NDArray[np.float32],
) -> None:
    """Enter a test into the counts of what lies within two steps of it.

    Args:
        starts: of the graph.
        neighbours: of the graph.
        direction: of the graph.
        node: what was tested.
        share: of its answers that lean, in [0, 1].
        counts: shape (nodes, COLUMNS), changed in place.
    """
    begin, end = starts[node], starts[node + 1]
    degree = end - begin
    damped = 1.0 if degree <= DAMPED_FROM else (DAMPED_FROM / degree) ** 0.5
    for entry in range(begin, end):
        one = neighbours[entry]
        kind = direction[entry]
        counts[one, NEAR] += share
        counts[one, NEAR + 1] += 1
        if kind & CHILD:  # the neighbour is a child, so that the node is one of its parents
            counts[one, PARENTS] += share
            counts[one, PARENTS + 1] += 1
        if kind & PARENT:
            counts[one, CHILDREN] += share
            counts[one, CHILDREN + 1] += 1
        counts[one, DAMPED] += share * damped
        counts[one, DAMPED + 1] += damped
        first, last = starts[one], starts[one + 1]
        if last - first > WIDEST_MIDDLE:
            continue
        weight = 1.0 / (last - first)
        for further in range(first, last):
            two = neighbours[further]
            if two == node:
                continue
            counts[two, SECOND] += share * weight
            counts[two, SECOND + 1] += weight
            if kind & PARENT and direction[further] & CHILD:
                counts[two, SIBLINGS] += share * weight
                counts[two, SIBLINGS + 1] += weight


@compiled
def push(
    starts: NDArray[np.int64],
    neighbours: NDArray[np.int32],
    source: int,
    restart: float,
    tolerance: float,
    walked: NDArray[np.float64],
    waiting: NDArray[np.float64],
    touched: NDArray[np.int32],
    queue: NDArray[np.int32],
    queued: NDArray[np.bool_],
) -> int:
    """Personalised PageRank of one source by pushes; costs about 1 / (restart * tolerance).

    Andersen, Chung and Lang (2006). A topic of degree d is pushed while more than tolerance * d
    waits at it, so what is missing from `walked` at any topic is at most that.

    Args:
        starts: of the graph.
        neighbours: of the graph.
        source: where the walk starts.
        restart: the chance that the walk ends at a step.
        tolerance: see above.
        walked: shape (nodes,), zeros; the result is left at `touched`.
        waiting: shape (nodes,), zeros; left as zeros.
        touched: shape (nodes,): the topics that were reached are left at its front.
        queue: shape (nodes,), scratch.
        queued: shape (nodes,), False; left so.

    Returns:
        How many topics were reached.
    """
    room = len(queue)
    reached = 1
    touched[0] = source
    waiting[source] = 1.0
    # A topic is in the queue at most once, so that a ring of `nodes` places is enough.
    queue[0] = source
    queued[source] = True
    head, length = 0, 1
    while length > 0:
        node = queue[head]
        head = (head + 1) % room
        length -= 1
        queued[node] = False
        begin, end = starts[node], starts[node + 1]
        amount = waiting[node]
        waiting[node] = 0.0
        if end == begin:
            walked[node] += amount  # nowhere to go: the walk ends here
            continue
        walked[node] += restart * amount
        each = (1.0 - restart) * amount / (end - begin)
        for entry in range(begin, end):
            one = neighbours[entry]
            if waiting[one] == 0.0 and walked[one] == 0.0:
                touched[reached] = one
                reached += 1
            waiting[one] += each
            degree = starts[one + 1] - starts[one]
            if not queued[one] and waiting[one] > tolerance * degree:
                queue[(head + length) % room] = one
                queued[one] = True
                length += 1
    kept = 0
    for place in range(reached):
        node = touched[place]
        waiting[node] = 0.0
        if walked[node] > 0.0:
            touched[kept] = node
            kept += 1
    return kept


@compiled
def spread(
    nodes: NDArray[np.int32],
    values: NDArray[np.float32],
    begins: NDArray[np.int64],
    weight: NDArray[np.float64],
    total: NDArray[np.float64],
) -> None:
    """Add weight[i] * values[j] to total[nodes[j]] for each j of row i, in place.

    Args:
        nodes: the rows' places, one row after another.
        values: as many.
        begins: shape (rows + 1,).
        weight: shape (rows,).
        total: what is added to.
    """
    for row in range(len(weight)):
        by = weight[row]
        for entry in range(begins[row], begins[row + 1]):
            total[nodes[entry]] += by * values[entry]


@compiled
def neighbour_mean_and_most(
    starts: NDArray[np.int64],
    neighbours: NDArray[np.int32],
    nodes: NDArray[np.int32],
    value: NDArray[np.float32],
    mean: NDArray[np.float64],
    most: NDArray[np.float64],
) -> None:
    """Mean and maximum of `value` over each node's neighbours; its own value where it has none.

    Args:
        starts: of the graph.
        neighbours: of the graph.
        nodes: whose.
        value: shape (nodes of the graph,).
        mean: shape of `nodes`, written.
        most: shape of `nodes`, written.
    """
    for place in range(len(nodes)):
        node = nodes[place]
        begin, end = starts[node], starts[node + 1]
        if begin == end:
            mean[place] = most[place] = value[node]
            continue
        total, highest = 0.0, value[neighbours[begin]]
        for entry in range(begin, end):
            one = value[neighbours[entry]]
            total += one
            highest = max(highest, one)
        mean[place] = total / (end - begin)
        most[place] = highest


@compiled
def forward_substitute(factor: NDArray[np.float64], count: int, row: NDArray[np.float64]) -> None:
    """Solve L x = row in place, L being the lower triangle of factor[:count, :count]."""
    for i in range(count):
        total = row[i]
        for j in range(i):
            total -= factor[i, j] * row[j]
        row[i] = total / factor[i, i]


@compiled
def back_substitute(factor: NDArray[np.float64], count: int, column: NDArray[np.float64]) -> None:
    """Solve L^T x = column in place; see `forward_substitute`."""
    for i in range(count - 1, -1, -1):
        column[i] /= factor[i, i]
        for j in range(i):
            column[j] -= factor[i, j] * column[i]
