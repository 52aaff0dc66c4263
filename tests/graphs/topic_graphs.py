"""Topic graphs for tests: drawn ones for laws, and small ones by their titles."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from askew.graphs.topics import TopicGraph, build_graph

# Titles as they may come: other scripts, what steers a page or a terminal, nothing at all.
TITLES = st.text(st.characters(exclude_categories=("Cs",)), max_size=8)


@st.composite
def edge_lists(draw: Any, most: int = 12) -> tuple[int, list[tuple[int, int]]]:
    """How many nodes, and child-parent pairs with loops, repeats and cycles among them."""
    size = draw(st.integers(0, most))
    if not size:
        return 0, []
    node = st.integers(0, size - 1)
    return size, draw(st.lists(st.tuples(node, node), max_size=3 * size))


@st.composite
def graphs(draw: Any, most: int = 12) -> TopicGraph:
    """A graph with titles, ids and domains."""
    size, pairs = draw(edge_lists(most))
    ids = draw(
        st.lists(st.integers(-(2**63), 2**63 - 1), min_size=size, max_size=size, unique=True)
    )
    domain = st.sampled_from([None, "economy", "<b>culture</b>"])
    return build_graph(
        draw(st.lists(TITLES, min_size=size, max_size=size)),
        [child for child, _ in pairs],
        [parent for _, parent in pairs],
        ids=ids,
        domains=draw(st.lists(domain, min_size=size, max_size=size)),
    )


def graph_of(*pairs: str) -> TopicGraph:
    """A graph from "child > parent" pairs; a title alone is a topic without edges."""
    place: dict[str, int] = {}
    children, parents = [], []
    for pair in pairs:
        ends = [place.setdefault(title.strip(), len(place)) for title in pair.split(">")]
        if len(ends) == 2:
            children.append(ends[0])
            parents.append(ends[1])
    return build_graph(list(place), children, parents)


def chain(length: int) -> TopicGraph:
    """Topic k + 1 under topic k."""
    ends = np.arange(length - 1)
    return build_graph([f"link {node}" for node in range(length)], ends + 1, ends)


def edge_set(graph: TopicGraph) -> set[tuple[str, str]]:
    """The child-parent pairs by title."""
    return {
        (graph.title(node), graph.title(int(parent)))
        for node in range(graph.size)
        for parent in graph.parents(node)
    }
