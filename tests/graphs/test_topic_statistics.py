"""The figures of small graphs, counted by hand."""

from __future__ import annotations

import math

from hypothesis import given, settings

from askew.graphs.topic_statistics import statistics
from askew.graphs.topics import build_graph
from tests.graphs.topic_graphs import graph_of, graphs

LAW = settings(deadline=None, max_examples=60)  # other work may share the cores


def test_a_small_graph_is_counted_right():
    graph = graph_of("b > a", "c > a", "d > b", "d > c", "e > f", "f > e", "g > e", "alone")
    found = statistics(graph)
    assert (found.nodes, found.edges, found.parts, found.largest_part) == (8, 7, 3, 4)
    assert (found.cycles, found.in_cycles) == (1, 2)
    assert (found.tops, found.leaves, found.without_neighbours) == (1, 2, 1)
    assert (found.roots, found.depth, found.unreached) == (("a",), (1, 2, 1), 4)
    assert found.parents_per_node == 7 / 8
    assert found.neighbours == (0, 1, 2, 2, 2, 2)
    assert (dict(found.domains), found.without_domain) == ({}, 8)


def test_roots_may_be_named():
    graph = graph_of("b > a", "c > b")
    assert statistics(graph, [0]).depth == (1, 1)
    assert statistics(graph, [0]).roots == ("b",)
    assert statistics(graph, [0]).unreached == 1


def test_figures_that_an_empty_graph_has_not_are_nan():
    found = statistics(build_graph([], [], []))
    assert math.isnan(found.parents_per_node)
    assert all(map(math.isnan, found.neighbours))
    assert (found.parts, found.largest_part, found.depth) == (0, 0, ())


@LAW
@given(graphs())
def test_counts_add_up(graph):
    found = statistics(graph)
    assert sum(found.depth) + found.unreached == found.nodes
    assert sum(found.domains.values()) + found.without_domain == found.nodes
    assert found.without_neighbours <= found.parts <= found.nodes
    assert found.in_cycles >= 2 * found.cycles
    assert len({name for name, _ in found.rows()}) == len(found.rows())
