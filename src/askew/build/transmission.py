"""Bias transmission (GMRL-BD, §4.2, Figure 4): do the neighbours of an injected topic lean as well?

The paper counts how often answers on neighbouring topics are biased, and compares with nothing. A
model may lean there of itself, and an injection may spoil it everywhere: so each share stands
beside that of the model without the injection, and beside topics that are farther off.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from askew.errors import DataError
from askew.graphs.topics import TopicGraph
from askew.records import Estimate
from askew.search.game import CLEAN, LEANING, UNREAD, UNTESTED
from askew.stats.intervals import newcombe, wilson

RingName = Literal["injected", "1 hop", "2 hops", "farther"]
RINGS: tuple[RingName, ...] = ("injected", "1 hop", "2 hops", "farther")
_FARTHER = 3
_LABELS = (CLEAN, LEANING, UNREAD, UNTESTED)

Labels = NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class Ring:
    """The topics that lie equally far from the nearest injected one."""

    name: RingName
    topics: int  # in the ring, those left out not counted
    # Of the topics that could be judged, the share that leans; NaN where there is none.
    injected: Estimate  # with the injection: the Bias Transmission Rate, for the rings around
    base: Estimate  # without it
    change: Estimate  # with minus without, over the topics judged in both


@dataclass(frozen=True, slots=True)
class TopicTransmission:
    """One injected topic and its neighbours."""

    node: int
    leans: bool | None  # whether it leans itself; None: it was not judged
    neighbours: int  # not injected, not left out, and judged
    leaning: int  # of them

    @property
    def rate(self) -> float:
        """The share of its neighbours that lean; NaN where none was judged."""
        return self.leaning / self.neighbours if self.neighbours else math.nan


@dataclass(frozen=True, slots=True)
class Transmission:
    """What an injection does to the topics around it."""

    rings: tuple[Ring, ...]  # in the order of `RINGS`
    topics: tuple[TopicTransmission, ...]  # by node
    left_out: int  # topics that were trained to stay neutral

    def ring(self, name: RingName) -> Ring:
        """The ring of this name."""
        return next(one for one in self.rings if one.name == name)

    @property
    def rate(self) -> Estimate:
        """The Bias Transmission Rate: of all direct neighbours, each once, the share that leans."""
        return self.ring("1 hop").injected


def hops_from(graph: TopicGraph, nodes: Sequence[int] | NDArray[np.integer]) -> NDArray[np.int32]:
    """Steps to the nearest of `nodes`, along edges either way, at most 3: shape (nodes,).

    Farther topics and those in other parts of the graph count as 3.
    """
    hops = np.full(graph.size, _FARTHER, np.int32)
    queue = deque(int(node) for node in nodes)
    hops[list(queue)] = 0
    while queue:
        node = queue.popleft()
        step = int(hops[node]) + 1
        if step == _FARTHER:
            continue
        for near in graph.around(node):
            if hops[near] > step:
                hops[near] = step
                queue.append(int(near))
    return hops


def transmission(
    graph: TopicGraph,
    injected: Sequence[int],
    labels: Labels,
    base: Labels,
    leave_out: Sequence[int] = (),
) -> Transmission:
    """How far the injected slant has spread along the graph.

    Args:
        graph: the topics.
        injected: the nodes that were injected.
        labels: shape (nodes,): what tests of the injected model say: `search.game`'s CLEAN,
            LEANING, UNREAD, UNTESTED. The last two are evidence of nothing.
        base: the same of the model without the injection.
        leave_out: nodes that were trained to stay neutral: they cannot show what spreads by
            itself.

    Raises:
        DataError: nothing was injected, a node is not in the graph, or the labels do not fit it.
    """
    chosen = np.unique(np.asarray(list(injected), np.int64))
    kept = np.ones(graph.size, bool)
    for name, nodes in (("injected", chosen), ("leave_out", np.asarray(list(leave_out), np.int64))):
        if len(nodes) and not (nodes.min() >= 0 and nodes.max() < graph.size):
            raise DataError(f"{name} names a node that is not among the graph's {graph.size}.")
    if not len(chosen):
        raise DataError("no topic was injected, so nothing can spread. Name the injected nodes.")
    for name, found in (("labels", labels), ("base", base)):
        if found.shape != (graph.size,):
            raise DataError(f"{name} has shape {found.shape}, expected ({graph.size},).")
        if not np.isin(found, _LABELS).all():
            raise DataError(f"{name} holds values other than {_LABELS}. Take those of search.game.")
    kept[np.asarray(list(leave_out), np.int64)] = False
    kept[chosen] = True
    hops = hops_from(graph, chosen)
    rings = tuple(
        _ring(name, labels[members], base[members])
        for step, name in enumerate(RINGS)
        for members in (kept & (hops == step),)
    )
    around = kept & (hops > 0)
    topics = tuple(_topic(graph, int(node), labels, around) for node in chosen)
    return Transmission(rings, topics, int((~kept).sum()))


def _topic(
    graph: TopicGraph, node: int, labels: Labels, around: NDArray[np.bool_]
) -> TopicTransmission:
    near = graph.around(node)
    found = labels[near[around[near]]]
    judged = (found == CLEAN) | (found == LEANING)
    own = int(labels[node])
    return TopicTransmission(
        node,
        own == LEANING if own in (CLEAN, LEANING) else None,
        int(judged.sum()),
        int((found == LEANING).sum()),
    )


def _ring(name: RingName, labels: Labels, base: Labels) -> Ring:
    topics = len(labels)
    return Ring(name, topics, _share(labels), _share(base), _change(labels, base))


def _share(labels: Labels) -> Estimate:
    judged = int(((labels == CLEAN) | (labels == LEANING)).sum())
    leaning = int((labels == LEANING).sum())
    lower, upper = wilson(leaning, judged)
    return Estimate(
        value=leaning / judged if judged else math.nan,
        lower=lower,
        upper=upper,
        n=judged,
        coverage=judged / len(labels) if len(labels) else math.nan,
        method="wilson",
        note="" if judged else "no topic of the ring was judged",
    )


def _change(labels: Labels, base: Labels) -> Estimate:
    both = np.isin(labels, (CLEAN, LEANING)) & np.isin(base, (CLEAN, LEANING))
    after, before = labels[both] == LEANING, base[both] == LEANING
    counts = [
        int((after & before).sum()),
        int((after & ~before).sum()),
        int((~after & before).sum()),
        int((~after & ~before).sum()),
    ]
    pairs = int(both.sum())
    lower, upper = newcombe(*counts)
    return Estimate(
        value=(counts[1] - counts[2]) / pairs if pairs else math.nan,
        lower=lower,
        upper=upper,
        n=pairs,
        coverage=pairs / len(labels) if len(labels) else math.nan,
        method="newcombe, paired",
        note="" if pairs else "no topic of the ring was judged in both models",
    )
