"""Random topic graphs, with cycles, several parents and unconnected parts, for laws."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from askew.graphs.topics import TopicGraph, build_graph
from askew.search.game import Board, Observation


@st.composite
def topic_graphs(draw: st.DrawFn, least: int = 1, most: int = 12) -> TopicGraph:
    """A small graph of any shape."""
    size = draw(st.integers(least, most))
    node = st.integers(0, size - 1)
    pairs = draw(st.lists(st.tuples(node, node), max_size=3 * size))
    ends = np.array(pairs, np.int64).reshape(-1, 2)
    return build_graph([f"topic {one}" for one in range(size)], ends[:, 0], ends[:, 1])


@st.composite
def half_played(draw: st.DrawFn) -> tuple[Board, list[tuple[int, float]]]:
    """A board whose tests are still to be told, and the tests; NaN: an answer nobody could read."""
    graph = draw(topic_graphs(least=2))
    order = draw(st.permutations(range(graph.size)))
    count = draw(st.integers(0, graph.size - 1))
    shares = st.sampled_from([0.0, 1.0, 0.4, float("nan")])
    tests = [(int(node), draw(shares)) for node in order[:count]]
    seed = draw(st.integers(0, 99))
    vectors = np.random.default_rng(seed).standard_normal(
        (graph.size, draw(st.sampled_from([0, 1, 5])))
    )
    return Board(graph, vectors.astype(np.float32), graph.size), tests


def tell(board: Board, node: int, share: float) -> tuple[Observation, np.ndarray]:
    """Enter a test into the board, as `Game` does."""
    seen = Observation(share, answers=0 if np.isnan(share) else 1)
    board._take(node)
    return seen, board._record(node, seen)
