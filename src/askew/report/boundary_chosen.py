"""Which topics of a graph are on a map: the tested ones first, then what lies around them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askew.audits.boundary_records import TopicTest
from askew.graphs.topics import TopicGraph

GROUPS = 12  # domains with a place of their own


@dataclass(frozen=True, slots=True)
class Drawn:
    """What is on a map."""

    nodes: list[int]
    tests: Mapping[int, TopicTest]
    edges: NDArray[np.int64]  # shape (edges, 2): places in `nodes`, each edge once
    groups: NDArray[np.int64]  # shape (nodes,): of the domains with a place of their own
    names: tuple[str, ...]  # of the groups
    left_out: int  # tested topics without room


def chosen(
    tests: Sequence[TopicTest], graph: TopicGraph, most: int, whole: int, *, beyond: bool = False
) -> Drawn:
    """The topics that are drawn.

    Leaning topics have room before other tested ones, and these before the frontier: what lies
    beside leaning topics comes first there.

    Args:
        tests: of the run, in any order.
        graph: that was searched.
        most: topics that have room.
        whole: a graph no larger than this is drawn whole.
        beyond: fill what room is left with what lies further out than the frontier.
    """
    made = sorted(tests, key=lambda test: (test.verdict != "leaning", test.step))
    kept = made[:most]
    by_node = {test.node: test for test in kept}
    if graph.size <= whole:
        nodes = list(range(graph.size))
    else:
        nodes = sorted(_outwards(list(by_node), graph, most, beyond))
    place = np.full(graph.size, -1, np.int64)
    place[nodes] = np.arange(len(nodes))
    domains = [int(graph.domain_of[node]) for node in nodes]
    used = sorted(set(domains), key=lambda one: (-domains.count(one), one))[:GROUPS]
    number = {domain: index for index, domain in enumerate(sorted(used))}
    names = tuple("" if domain < 0 else graph.domains[domain] for domain in sorted(used))
    return Drawn(
        nodes=nodes,
        tests=by_node,
        edges=_edges_between(nodes, place, graph),
        groups=np.array([number.get(domain, 0) for domain in domains], np.int64),
        names=names,
        left_out=len(made) - len(kept),
    )


def _outwards(start: list[int], graph: TopicGraph, most: int, beyond: bool) -> list[int]:
    """The start, the ring around it and, where asked for, further rings; `most` at the most."""
    found, seen = list(start), set(start)
    for node in found if beyond else start:  # `found` grows while it is read
        for other in graph.around(node).tolist():
            if len(found) >= most:
                return found
            if other not in seen:
                seen.add(other)
                found.append(other)
    return found


def _edges_between(
    nodes: Sequence[int], place: NDArray[np.int64], graph: TopicGraph
) -> NDArray[np.int64]:
    around = [graph.around(node) for node in nodes]
    first = np.repeat(np.arange(len(nodes)), [len(one) for one in around])
    second = place[np.concatenate(around)] if around else np.zeros(0, np.int64)
    return np.stack([first, second], axis=1)[first < second]
