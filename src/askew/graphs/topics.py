"""A graph of topics: who stands under whom, as flat arrays that can be mapped from disk.

A node is a topic (a Wikipedia category, a heading of the user's own). An edge leads from a child to
a parent; a search moves along it both ways, so each edge is kept at both of its ends, with the
direction beside it. Cycles, several parents and unconnected parts are normal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

# What the neighbour is to the node; the sum of both where each stands under the other.
PARENT = 1
CHILD = 2


@dataclass(frozen=True, slots=True, eq=False)
class TopicGraph:
    """Topics and what lies beside them, in compressed sparse rows.

    Nodes are numbered from 0; the neighbours of node v are `neighbours[starts[v]:starts[v + 1]]`,
    ascending, each once.
    """

    ids: NDArray[np.int64]  # shape (nodes,): the source's own ids (Wikipedia page ids), unique
    starts: NDArray[np.int64]  # shape (nodes + 1,)
    neighbours: NDArray[np.int32]  # shape (entries,): every edge at both of its ends
    direction: NDArray[np.uint8]  # shape (entries,): PARENT, CHILD or their sum
    title_bytes: NDArray[np.uint8]  # UTF-8, one title after another
    title_starts: NDArray[np.int64]  # shape (nodes + 1,)
    domain_of: NDArray[np.int16]  # shape (nodes,): index into `domains`; -1: none
    domains: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """How many topics there are."""
        return len(self.ids)

    @property
    def edges(self) -> int:
        """How many child-parent pairs there are."""
        return int(np.count_nonzero(self.direction & PARENT))

    def title(self, node: int) -> str:
        """The topic's title, with spaces and without a namespace."""
        span = slice(int(self.title_starts[node]), int(self.title_starts[node + 1]))
        return bytes(self.title_bytes[span]).decode("utf-8")

    def titles(self) -> list[str]:
        """All titles, in the order of the nodes."""
        return [self.title(node) for node in range(self.size)]

    def domain(self, node: int) -> str | None:
        """The domain that the topic belongs to, where the source says it."""
        index = int(self.domain_of[node])
        return None if index < 0 else self.domains[index]

    def around(self, node: int) -> NDArray[np.int32]:
        """The node's neighbours, parents and children alike."""
        return self.neighbours[self.starts[node] : self.starts[node + 1]]

    def parents(self, node: int) -> NDArray[np.int32]:
        """What the node stands under."""
        return self._of_kind(node, PARENT)

    def children(self, node: int) -> NDArray[np.int32]:
        """What stands under the node."""
        return self._of_kind(node, CHILD)

    def _of_kind(self, node: int, kind: int) -> NDArray[np.int32]:
        span = slice(int(self.starts[node]), int(self.starts[node + 1]))
        return self.neighbours[span][(self.direction[span] & kind) > 0]


@dataclass(frozen=True, slots=True)
class ImportedGraph:
    """A graph as an importer read it, with what it left out and why."""

    graph: TopicGraph
    counts: Mapping[str, int]  # "categories", "self_loops", "red_links": what was kept and dropped
    notes: tuple[str, ...] = ()  # what a reader should know, a sentence each


def build_graph(
    titles: Sequence[str],
    children: NDArray[np.integer[Any]],
    parents: NDArray[np.integer[Any]],
    *,
    ids: NDArray[np.int64] | None = None,
    domains: Sequence[str | None] | None = None,
) -> TopicGraph:
    """A graph from its titles and child-parent pairs; self-loops and repeats are left out.

    Args:
        titles: one a node.
        children: shape (edges,): node numbers.
        parents: shape (edges,): node numbers; parents[k] is what children[k] stands under.
        ids: the source's own ids; default: the node numbers.
        domains: one a node; None where a node has none.
    """
    size = len(titles)
    child, parent = np.asarray(children, np.int64), np.asarray(parents, np.int64)
    apart = child != parent
    child, parent = child[apart], parent[apart]
    # Each edge at both ends: the child's entry says PARENT, the parent's says CHILD.
    key = np.concatenate([child * size + parent, parent * size + child])
    kind = np.repeat(np.array([PARENT, CHILD], np.uint8), len(child))
    order = np.argsort(key, kind="stable")
    key, kind = key[order], kind[order]
    first = np.ones(len(key), bool)
    first[1:] = key[1:] != key[:-1]
    places = np.flatnonzero(first)
    direction = np.bitwise_or.reduceat(kind, places) if len(key) else kind
    key = key[places]
    starts = np.zeros(size + 1, np.int64)
    np.cumsum(np.bincount(key // size, minlength=size), out=starts[1:])
    encoded = [title.encode("utf-8") for title in titles]
    title_starts = np.zeros(size + 1, np.int64)
    np.cumsum([len(one) for one in encoded], out=title_starts[1:])
    names = tuple(dict.fromkeys(one for one in domains or () if one is not None))
    place = {name: index for index, name in enumerate(names)}
    return TopicGraph(
        ids=np.arange(size, dtype=np.int64) if ids is None else np.asarray(ids, np.int64),
        starts=starts,
        neighbours=(key % size).astype(np.int32),
        direction=direction.astype(np.uint8),
        title_bytes=np.frombuffer(b"".join(encoded), np.uint8),
        title_starts=title_starts,
        domain_of=np.array(
            [-1 if one is None else place[one] for one in domains or [None] * size], np.int16
        ),
        domains=names,
    )
