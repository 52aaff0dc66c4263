"""What a topic graph is like: size, degrees, parts, cycles, depth, domains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askew.graphs.topic_subgraph import depth_from, parts, strong_parts
from askew.graphs.topics import CHILD, PARENT, TopicGraph

QUANTILES = (0.0, 0.25, 0.5, 0.75, 0.95, 1.0)


@dataclass(frozen=True, slots=True)
class GraphStatistics:
    """Figures of one graph. A figure that is undefined (an empty graph has no degree) is NaN."""

    nodes: int
    edges: int
    parents_per_node: float  # the mean
    neighbours: tuple[float, ...]  # of a topic, at QUANTILES
    without_neighbours: int
    tops: int  # topics without a parent, though with children
    leaves: int  # topics without a child, though with parents
    parts: int  # connected ones
    largest_part: int  # its topics
    cycles: int  # groups of topics that stand under each other in a circle
    in_cycles: int  # topics in such groups
    roots: tuple[str, ...]  # what depth is measured from: five titles, then how many more
    depth: tuple[int, ...]  # topics at depth 0, 1, 2, … below the roots
    unreached: int  # topics below no root: only cycles lead to them
    domains: Mapping[str, int]  # domain -> topics
    without_domain: int

    def rows(self) -> list[tuple[str, str]]:
        """Name and value of each figure, as a table has them."""
        low, *quartiles, high, most = (f"{value:,.0f}" for value in self.neighbours)
        deepest = f"{len(self.depth) - 1:,} below {', '.join(self.roots)}" if self.depth else "none"
        return [
            ("topics", f"{self.nodes:,}"),
            ("edges", f"{self.edges:,}"),
            ("parents a topic, mean", f"{self.parents_per_node:.2f}"),
            ("neighbours, least", low),
            ("neighbours, quartiles", ", ".join(quartiles)),
            ("neighbours, 95 % have at most", high),
            ("neighbours, most", most),
            ("topics without a neighbour", f"{self.without_neighbours:,}"),
            ("topics without a parent", f"{self.tops:,}"),
            ("topics without a child", f"{self.leaves:,}"),
            ("connected parts", f"{self.parts:,}"),
            ("topics in the largest part", f"{self.largest_part:,}"),
            ("cycles", f"{self.cycles:,}"),
            ("topics in cycles", f"{self.in_cycles:,}"),
            ("deepest", deepest),
            ("topics by depth", ", ".join(f"{count:,}" for count in self.depth) or "none"),
            ("topics below no root", f"{self.unreached:,}"),
            *((f"domain {name}", f"{count:,}") for name, count in self.domains.items()),
            ("topics without a domain", f"{self.without_domain:,}"),
        ]


def statistics(graph: TopicGraph, roots: Sequence[int] | None = None) -> GraphStatistics:
    """The figures of a graph.

    Args:
        graph: the topics.
        roots: what depth is measured from; default: the topics without a parent that have children.
    """
    neighbours = np.diff(graph.starts)
    above, under = _counts(graph, PARENT), _counts(graph, CHILD)
    tops = np.flatnonzero((above == 0) & (under > 0))
    start = tops if roots is None else np.asarray(roots, np.int64)
    distance = depth_from(graph, start)
    strong = np.bincount(strong_parts(graph))
    part = np.bincount(parts(graph))
    has_domain = graph.domain_of[graph.domain_of >= 0]
    counts = np.bincount(has_domain, minlength=len(graph.domains))
    shown = tuple(graph.title(int(node)) for node in start[:5])
    return GraphStatistics(
        nodes=graph.size,
        edges=graph.edges,
        parents_per_node=float(above.mean()) if graph.size else float("nan"),
        neighbours=_quantiles(neighbours),
        without_neighbours=int((neighbours == 0).sum()),
        tops=len(tops),
        leaves=int(((under == 0) & (above > 0)).sum()),
        parts=len(part),
        largest_part=int(part.max(initial=0)),
        cycles=int((strong > 1).sum()),
        in_cycles=int(strong[strong > 1].sum()),
        roots=(*shown, f"{len(start) - 5:,} more") if len(start) > 5 else shown,
        depth=tuple(np.bincount(distance[distance >= 0]).tolist()),
        unreached=int((distance < 0).sum()),
        domains=dict(zip(graph.domains, counts.tolist(), strict=True)),
        without_domain=int((graph.domain_of < 0).sum()),
    )


def _counts(graph: TopicGraph, kind: int) -> NDArray[np.int64]:
    """Shape (nodes,): how many parents, or children, each topic has."""
    running = np.concatenate([[0], np.cumsum((graph.direction & kind) > 0)])
    return np.diff(running[graph.starts])


def _quantiles(values: NDArray[np.int64]) -> tuple[float, ...]:
    if not len(values):
        return (float("nan"),) * len(QUANTILES)
    return tuple(np.quantile(values, QUANTILES, method="inverted_cdf").astype(float).tolist())
