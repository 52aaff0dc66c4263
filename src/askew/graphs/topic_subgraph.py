"""Parts of a topic graph: below a topic, around it, of a domain, connected, drawn at random.

Nothing here recurses, and every walk keeps a set of what it has visited: cycles are normal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from askew.errors import DataError
from askew.graphs.topics import CHILD, MOST_DOMAINS, PARENT, TopicGraph

Nodes = NDArray[np.integer[Any]] | Sequence[int]
BOTH = PARENT | CHILD


def subgraph(graph: TopicGraph, nodes: Nodes) -> TopicGraph:
    """The graph of some nodes and the edges among them; ids, titles and domains are kept.

    Args:
        graph: the whole.
        nodes: which; they keep the order that they have in the graph, each once.
    """
    kept = np.zeros(graph.size, bool)
    kept[_checked(graph, nodes)] = True
    old = np.flatnonzero(kept)
    entries, row = _entries(graph, old)
    inside = kept[graph.neighbours[entries]]
    entries, row = entries[inside], row[inside]
    size = len(old)
    starts = np.zeros(size + 1, np.int64)
    np.cumsum(np.bincount(row, minlength=size), out=starts[1:])
    number = np.cumsum(kept, dtype=np.int32) - 1
    lengths = np.diff(graph.title_starts)
    title_starts = np.zeros(size + 1, np.int64)
    np.cumsum(lengths[kept], out=title_starts[1:])
    domain_of = graph.domain_of[kept]
    used = np.unique(domain_of[domain_of >= 0])  # domains that are left, in their order
    place = np.full(len(graph.domains) + 1, -1, np.int16)
    place[used] = np.arange(len(used))
    return TopicGraph(
        ids=graph.ids[kept],
        starts=starts,
        neighbours=number[graph.neighbours[entries]].astype(np.int32, copy=False),
        direction=graph.direction[entries],
        title_bytes=graph.title_bytes[np.repeat(kept, lengths)],
        title_starts=title_starts,
        domain_of=place[domain_of],
        domains=tuple(graph.domains[index] for index in used),
    )


def depth_from(
    graph: TopicGraph, roots: Nodes, *, along: int = CHILD, most: int | None = None
) -> NDArray[np.int32]:
    """How many steps each topic is from the nearest root.

    Args:
        graph: the topics.
        roots: depth 0.
        along: CHILD goes down from the roots, PARENT up, BOTH both ways.
        most: go no further than this.

    Returns:
        Shape (nodes,): the shortest distance; -1 where no root leads to the topic.
    """
    _check_depth(most)
    return _nearest(graph, _checked(graph, roots), along, most)[0]


def below(graph: TopicGraph, roots: Nodes, depth: int | None = None) -> TopicGraph:
    """The roots and what stands under them, to at most `depth` steps down."""
    return subgraph(graph, np.flatnonzero(depth_from(graph, roots, most=depth) >= 0))


def neighbourhood(graph: TopicGraph, node: int, radius: int = 1) -> TopicGraph:
    """A topic and what is at most `radius` steps from it, up and down."""
    near = depth_from(graph, [node], along=BOTH, most=radius)
    return subgraph(graph, np.flatnonzero(near >= 0))


def of_domains(graph: TopicGraph, names: Sequence[str]) -> TopicGraph:
    """The topics of some domains.

    Raises:
        DataError: the graph has no such domain.
    """
    for name in names:
        if name not in graph.domains:
            known = ", ".join(map(repr, graph.domains)) or "none"
            raise DataError(f"no domain is called {name!r} in this graph. It has: {known}.")
    wanted = [graph.domains.index(name) for name in names]
    return subgraph(graph, np.flatnonzero(np.isin(graph.domain_of, wanted)))


def parts(graph: TopicGraph) -> NDArray[np.int32]:
    """Shape (nodes,): which connected part each topic is in; 0 is the largest."""
    return _by_size(connected_components(_matrix(graph, BOTH), directed=False)[1], graph.size)


def largest_part(graph: TopicGraph) -> TopicGraph:
    """The largest connected part."""
    return subgraph(graph, np.flatnonzero(parts(graph) == 0))


def strong_parts(graph: TopicGraph) -> NDArray[np.int32]:
    """Shape (nodes,): topics that stand under each other, by whatever way, share a number."""
    found = connected_components(_matrix(graph, PARENT), directed=True, connection="strong")[1]
    return _by_size(found, graph.size)


def cycles(graph: TopicGraph) -> list[NDArray[np.int64]]:
    """Groups of topics that stand under each other in a circle, largest first."""
    labels = strong_parts(graph)
    order = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels, minlength=0)
    several = int(np.count_nonzero(sizes > 1))  # parts are numbered by their size
    return np.split(order, np.cumsum(sizes))[:several]


def draw_connected(graph: TopicGraph, size: int, random: np.random.Generator) -> TopicGraph:
    """A connected part of a given size, for trials: grown in the largest part from a drawn topic.

    Each step takes a topic drawn from those beside the ones taken, so that shapes vary more than
    those of `neighbourhood`.

    Args:
        graph: the whole.
        size: how many topics; all of the largest part where it has fewer.
        random: draws the start and each step.
    """
    if size < 1:
        raise DataError(f"a part of {size} topics was asked for, expected 1 or more.")
    inside = np.flatnonzero(parts(graph) == 0)
    if len(inside) <= size:
        return subgraph(graph, inside)
    seen = np.zeros(graph.size, bool)
    beside = [int(random.choice(inside))]
    seen[beside] = True
    taken: list[int] = []
    while len(taken) < size:
        place = int(random.integers(len(beside)))
        beside[place], beside[-1] = beside[-1], beside[place]
        taken.append(beside.pop())
        around = graph.around(taken[-1])
        fresh = around[~seen[around]]
        seen[fresh] = True
        beside.extend(fresh.tolist())
    return subgraph(graph, taken)


def with_domains(
    graph: TopicGraph, roots: Mapping[str, int], depth: int | None = None
) -> TopicGraph:
    """The same graph, each topic in the domain whose root is the nearest one above it.

    Args:
        graph: the topics; domains that they had are forgotten.
        roots: domain -> its root. At the same distance the first named wins.
        depth: how far down a domain reaches; topics beyond have none.
    """
    if len(roots) > MOST_DOMAINS:
        raise DataError(f"{len(roots):,} domains, expected at most {MOST_DOMAINS:,}.")
    _check_depth(depth)
    owner = _nearest(graph, _checked(graph, list(roots.values())), CHILD, depth)[1]
    return TopicGraph(
        graph.ids,
        graph.starts,
        graph.neighbours,
        graph.direction,
        graph.title_bytes,
        graph.title_starts,
        owner.astype(np.int16),
        tuple(roots),
    )


def _checked(graph: TopicGraph, nodes: Nodes) -> NDArray[np.int64]:
    array = np.asarray(nodes)
    if array.ndim != 1 or (len(array) and array.dtype.kind not in "iu"):
        raise DataError("nodes are given as a flat list of whole numbers.")
    array = array.astype(np.int64)
    outside = array[(array < 0) | (array >= graph.size)]
    if len(outside):
        raise DataError(
            f"node {int(outside[0])} is not in this graph: it has {graph.size:,} nodes, from 0."
        )
    return array


def _check_depth(depth: int | None) -> None:
    if depth is not None and depth < 0:
        raise DataError(f"the depth is {depth}, expected 0 or more.")


def _entries(
    graph: TopicGraph, nodes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where the neighbours of some nodes stand, row after row, and the place of each row's node."""
    counts = graph.starts[nodes + 1] - graph.starts[nodes]
    row = np.repeat(np.arange(len(nodes)), counts)
    shift = graph.starts[nodes] - np.cumsum(counts) + counts
    return np.arange(len(row)) + shift[row], row


def _nearest(
    graph: TopicGraph, roots: NDArray[np.int64], along: int, most: int | None = None
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Distance from the nearest root, and that root's place in `roots`; level by level.

    Both are -1 beyond `most` steps.
    """
    distance = np.full(graph.size, -1, np.int32)
    owner = np.full(graph.size, -1, np.int32)
    first = np.sort(np.unique(roots, return_index=True)[1])
    # A level is kept in the order of its owners, so that of two roots the first named comes first.
    level = roots[first]
    distance[level], owner[level] = 0, first
    place_of = np.zeros(graph.size, np.int64)
    steps = 0
    while len(level) and steps != most:
        steps += 1
        entries, row = _entries(graph, level)
        reached = graph.neighbours[entries]
        fresh = ((graph.direction[entries] & along) > 0) & (distance[reached] < 0)
        reached, row = reached[fresh], row[fresh]
        # Of several ways to a node the first: the last one that is written here.
        place = np.arange(len(reached))
        place_of[reached[::-1]] = place[::-1]
        first_way = place_of[reached] == place
        found = reached[first_way].astype(np.int64)
        distance[found] = steps
        owner[found] = owner[level[row[first_way]]]
        level = found
    return distance, owner


def _matrix(graph: TopicGraph, along: int) -> csr_array:
    kept = (graph.direction & along) > 0
    starts = np.concatenate([[0], np.cumsum(kept)])[graph.starts]
    columns = graph.neighbours[kept]
    return csr_array(
        (np.ones(len(columns), np.int8), columns, starts), shape=(graph.size, graph.size)
    )


def _by_size(labels: NDArray[np.int32], size: int) -> NDArray[np.int32]:
    """Number parts by their size, largest first; of two alike the one with the first node."""
    if not size:
        return np.zeros(0, np.int32)
    sizes = np.bincount(labels)
    first = np.full(len(sizes), size)
    np.minimum.at(first, labels, np.arange(size))
    rank = np.empty(len(sizes), np.int32)
    rank[np.lexsort((first, -sizes))] = np.arange(len(sizes))
    return rank[labels]
