"""The last steps of every import: leave out what is no topic, count what is left.

Importers hand over the whole graph, maintenance categories and all, as many of these are told only
by what they stand under.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from askew.errors import ConfigError, DataError
from askew.graphs.topic_maintenance import maintenance_nodes
from askew.graphs.topic_subgraph import cycles, depth_from, subgraph
from askew.graphs.topics import ImportedGraph, TopicGraph

_NAMED = 5  # titles that a note names

DropOrKeep = Literal["drop", "keep"]


@dataclass(frozen=True, slots=True)
class Pruning:
    """What to leave out of an imported graph."""

    maintenance: DropOrKeep = "drop"  # by name and by place: see `topic_maintenance`
    drop_containers: bool = False  # see `maintenance_nodes`
    drop_below: Sequence[str] = ()  # titles; these categories and all below them go


def finish(
    source: str,
    graph: TopicGraph,
    pruning: Pruning,
    counts: Counter[str],
    notes: list[str],
    dropped: NDArray[np.bool_] | None = None,
) -> ImportedGraph:
    """Leave out maintenance and what the user named, and count.

    Args:
        source: how messages call the import.
        graph: the whole.
        pruning: what goes.
        counts: of the reading so far; gets more.
        notes: of the reading so far; gets more.
        dropped: shape (nodes,): what goes already.

    Raises:
        DataError: no link between two topics is left.
    """
    gone = np.zeros(graph.size, bool) if dropped is None else dropped.copy()
    if pruning.maintenance == "drop":
        found = maintenance_nodes(graph, drop_containers=pruning.drop_containers)
        counts["maintenance"] = int((found.nodes & ~gone).sum())
        for rule, count in sorted(found.counts.items()):
            counts[f"maintenance_{rule}"] = count
        gone |= found.nodes
    if pruning.drop_below:
        under = depth_from(graph, [graph.node_of(title) for title in pruning.drop_below]) >= 0
        counts["below_named"] = int((under & ~gone).sum())
        gone |= under
    kept = subgraph(graph, np.flatnonzero(~gone))
    counts["links_of_dropped_categories"] = graph.edges - kept.edges
    if not kept.edges:
        raise DataError(
            f"{source}: no link between two topics is left: {told(counts)}. Keep hidden and "
            "maintenance categories, or leave out less."
        )
    circles = cycles(kept)
    counts["cycles"] = len(circles)
    counts["topics_on_cycles"] = sum(map(len, circles))
    counts["topics_without_links"] = int((np.diff(kept.starts) == 0).sum())
    counts["topics"], counts["edges"] = kept.size, kept.edges
    if circles:
        named = ", ".join(repr(kept.title(int(node))) for node in circles[0][:_NAMED])
        more = ", ..." if len(circles[0]) > _NAMED else ""
        notes.append(
            f"Groups of topics that stand under each other in a circle: {len(circles):,}; the "
            f"largest has {len(circles[0]):,} topics: {named}{more}."
        )
    return ImportedGraph(kept, dict(counts), tuple(notes))


def distinct(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """The different values, ascending. `np.unique` hashes, which takes far longer at millions."""
    ordered = np.sort(values)
    first = np.ones(len(ordered), bool)
    first[1:] = ordered[1:] != ordered[:-1]
    return ordered[first]


def told(counts: Mapping[str, int]) -> str:
    """Counts as an error tells them."""
    return ", ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in counts.items())


def check_choice(name: str, found: str) -> None:
    """Refuse what is neither "drop" nor "keep"."""
    if found not in ("drop", "keep"):
        raise ConfigError(f"{name} is {found!r}, expected 'drop' or 'keep'.")
