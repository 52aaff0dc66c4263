"""Which topics are injected, and which are trained to stay neutral: drawn by seed (GMRL-BD, §4.1).

The paper draws topics at random. On a graph of a few hundred topics that leaves each alone, and no
neighbour to search by, so by default they are drawn in connected groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from askew.errors import ConfigError, unknown_name
from askew.graphs.topics import TopicGraph
from askew.seeds import generator

# "clustered": connected groups along the graph; "scattered": one by one, as the paper draws.
Spread = Literal["clustered", "scattered"]
SPREADS = ("clustered", "scattered")
GROUP = 6  # topics of a connected group


@dataclass(frozen=True, slots=True)
class Sample:
    """Node numbers of a graph."""

    injected: NDArray[np.int32]  # ascending
    neutral: NDArray[np.int32]  # ascending; none of them is injected


def sample_topics(
    graph: TopicGraph,
    *,
    topics: int,
    neutral: int,
    domains: Sequence[str] = (),
    spread: Spread = "clustered",
    group: int = GROUP,
    seed: int = 0,
) -> Sample:
    """Draw topics to inject, and topics for neutral pairs.

    Args:
        graph: where they are drawn from.
        topics: how many are injected in each domain.
        neutral: how many others get neutral pairs; half of them, as far as there are so many,
            from the same domains, where a slant spills over most easily. Half of the direct
            neighbours of injected topics are taken last: what is trained to stay neutral cannot
            show whether a slant spreads to it.
        domains: where topics are injected; none: anywhere, `topics` in all.
        spread: in connected groups, or one by one.
        group: topics of a connected group; a group that finds no more neighbours stays smaller.
        seed: of the draws.

    Raises:
        ConfigError: an unknown domain or spread, or more topics than there are.
    """
    if spread not in SPREADS:
        raise unknown_name("spread", spread, list(SPREADS))
    for name, count, least in (("topics", topics, 1), ("neutral", neutral, 0), ("group", group, 1)):
        if count < least:
            raise ConfigError(f"inject: {name} is {count}, expected {least} or more.")
    known = list(graph.domains)
    if strangers := [one for one in domains if one not in known]:
        raise unknown_name("domain of the graph", strangers[0], known)
    chosen: list[int] = []
    for domain in dict.fromkeys(domains) or (None,):
        pool = _pool(graph, domain)
        if len(pool) < topics:
            where = f"the domain {domain!r}" if domain else "the graph"
            raise ConfigError(
                f"inject: {topics} topics are wanted, and {where} has {len(pool)}. Ask for fewer."
            )
        rng = generator(seed, "inject", "topics", domain or "")
        size = group if spread == "clustered" else 1
        chosen += _drawn(graph, pool, topics, size, rng)
    injected = np.unique(np.array(chosen, np.int32))
    return Sample(injected, _neutral(graph, injected, neutral, domains, seed))


def _pool(graph: TopicGraph, domain: str | None) -> NDArray[np.int64]:
    if domain is None:
        return np.arange(graph.size)
    return np.flatnonzero(graph.domain_of == graph.domains.index(domain))


def _drawn(
    graph: TopicGraph,
    pool: NDArray[np.int64],
    topics: int,
    group: int,
    rng: np.random.Generator,
) -> list[int]:
    """So many topics of the pool, in connected groups grown from drawn ones."""
    inside = np.zeros(graph.size, bool)
    inside[pool] = True
    taken = np.zeros(graph.size, bool)
    chosen: list[int] = []
    for start in rng.permutation(pool):
        if len(chosen) == topics:
            break
        if taken[start]:
            continue
        grown, rim = 0, [int(start)]
        while rim and grown < group and len(chosen) < topics:
            node = rim.pop(int(rng.integers(len(rim))))
            if taken[node]:
                continue
            taken[node] = True
            chosen.append(node)
            grown += 1
            rim += [int(one) for one in graph.around(node) if inside[one] and not taken[one]]
    return chosen


def _neutral(
    graph: TopicGraph,
    injected: NDArray[np.int32],
    wanted: int,
    domains: Sequence[str],
    seed: int,
) -> NDArray[np.int32]:
    free = np.ones(graph.size, bool)
    free[injected] = False
    rng = generator(seed, "inject", "neutral")
    around = np.unique(np.concatenate([graph.around(int(node)) for node in injected]))
    around = rng.permutation(around[free[around]])
    spared = around[: len(around) // 2]
    free[spared] = False
    indices = [graph.domains.index(one) for one in dict.fromkeys(domains)]
    near = rng.permutation(np.flatnonzero(free & np.isin(graph.domain_of, indices)))
    far = rng.permutation(np.flatnonzero(free & ~np.isin(graph.domain_of, indices)))
    own = min(len(near), (wanted + 1) // 2)
    others = min(len(far), wanted - own)
    own = min(len(near), wanted - others)
    last = spared[: wanted - own - others]
    return np.sort(np.concatenate([near[:own], far[:others], last])).astype(np.int32)
