"""Parts of a graph: what is kept, how far away things are, and nothing that never ends."""

from __future__ import annotations

from collections import deque

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askew.errors import DataError
from askew.graphs.topic_subgraph import (
    BOTH,
    below,
    cycles,
    depth_from,
    draw_connected,
    largest_part,
    neighbourhood,
    of_domains,
    parts,
    strong_parts,
    subgraph,
    with_domains,
)
from askew.graphs.topics import CHILD, PARENT, build_graph
from tests.graphs.topic_graphs import chain, edge_set, graph_of, graphs

LAW = settings(deadline=None, max_examples=60)  # other work may share the cores


def plain_depths(graph, roots, along):
    """Breadth first, as any textbook has it."""
    step = {CHILD: graph.children, PARENT: graph.parents, BOTH: graph.around}[along]
    depth = dict.fromkeys(roots, 0)
    waiting = deque(depth)
    while waiting:
        node = waiting.popleft()
        for other in step(node).tolist():
            if other not in depth:
                depth[other] = depth[node] + 1
                waiting.append(other)
    return [depth.get(node, -1) for node in range(graph.size)]


def some_nodes(graph):
    return st.lists(st.integers(0, graph.size - 1)) if graph.size else st.just([])


@LAW
@given(graphs(), st.data())
def test_a_part_keeps_ids_titles_domains_and_the_edges_among_its_topics(graph, data):
    nodes = data.draw(some_nodes(graph))
    part = subgraph(graph, nodes)
    kept = sorted(set(nodes))
    assert part.ids.tolist() == graph.ids[kept].tolist()
    assert part.titles() == [graph.title(node) for node in kept]
    assert [part.domain(n) for n in range(part.size)] == [graph.domain(node) for node in kept]
    for new, old in enumerate(kept):
        inside = [kept.index(p) for p in graph.parents(old).tolist() if p in kept]
        assert part.parents(new).tolist() == inside
    # The same part, built from scratch.
    rows = np.repeat(np.arange(part.size), np.diff(part.starts))
    above = (part.direction & PARENT) > 0
    built = build_graph(part.titles(), rows[above], part.neighbours[above], ids=part.ids)
    assert np.array_equal(built.direction, part.direction)
    assert np.array_equal(built.starts, part.starts)


@LAW
@given(graphs())
def test_the_whole_is_a_part_of_itself(graph):
    part = subgraph(graph, np.arange(graph.size))
    assert edge_set(part) == edge_set(graph)
    assert part.titles() == graph.titles()


@LAW
@given(graphs(), st.data(), st.sampled_from([CHILD, PARENT, BOTH]))
def test_depths_are_the_shortest_ones(graph, data, along):
    roots = data.draw(some_nodes(graph))
    assert depth_from(graph, roots, along=along).tolist() == plain_depths(graph, roots, along)


@LAW
@given(graphs(), st.data(), st.integers(0, 4))
def test_below_holds_what_is_near_enough(graph, data, depth):
    roots = data.draw(some_nodes(graph))
    found = plain_depths(graph, roots, CHILD)
    near = [node for node, steps in enumerate(found) if 0 <= steps <= depth]
    assert below(graph, roots, depth).ids.tolist() == graph.ids[near].tolist()


@LAW
@given(graphs(), st.data())
def test_a_topic_is_in_the_domain_of_the_nearest_root_the_first_named_at_a_tie(graph, data):
    roots = data.draw(some_nodes(graph))
    named = {f"domain {place}": root for place, root in enumerate(roots)}
    made = with_domains(graph, named)
    depths = [plain_depths(graph, [root], CHILD) for root in roots]
    for node in range(graph.size):
        reached = [(found[node], place) for place, found in enumerate(depths) if found[node] >= 0]
        expected = f"domain {min(reached)[1]}" if reached else None
        assert made.domain(node) == expected


@LAW
@given(graphs())
def test_parts_and_cycles_are_those_of_networkx(graph):
    directed = nx.DiGraph()
    directed.add_nodes_from(range(graph.size))
    directed.add_edges_from((n, int(p)) for n in range(graph.size) for p in graph.parents(n))

    def groups(labels):
        return {frozenset(np.flatnonzero(labels == one).tolist()) for one in set(labels.tolist())}

    assert groups(parts(graph)) == set(map(frozenset, nx.weakly_connected_components(directed)))
    strong = set(map(frozenset, nx.strongly_connected_components(directed)))
    assert groups(strong_parts(graph)) == strong
    found = cycles(graph)
    assert {frozenset(one.tolist()) for one in found} == {one for one in strong if len(one) > 1}
    sizes = [len(one) for one in found]
    assert sizes == sorted(sizes, reverse=True)
    assert largest_part(graph).size == max(np.bincount(parts(graph)), default=0)


@LAW
@given(graphs(), st.integers(1, 12), st.integers(0, 9))
def test_a_drawn_part_is_connected_and_of_the_size_that_was_asked_for(graph, size, seed):
    drawn = draw_connected(graph, size, np.random.default_rng(seed))
    assert drawn.size == min(size, largest_part(graph).size)
    assert set(parts(drawn).tolist()) <= {0}
    assert draw_connected(graph, size, np.random.default_rng(seed)).equals(drawn)


def test_a_cycle_of_three_is_gone_round_once():
    graph = graph_of("a > b", "b > c", "c > a", "d > a")
    assert depth_from(graph, [graph.node_of("a")]).tolist() == [0, 2, 1, 1]
    assert [sorted(graph.title(int(node)) for node in one) for one in cycles(graph)] == [
        list("abc")
    ]


def test_a_chain_of_5000_is_walked_to_its_end():
    graph = chain(5_000)
    assert depth_from(graph, [0]).tolist() == list(range(5_000))
    assert below(graph, [0], 10).size == 11
    assert below(graph, [4_990]).size == 10
    assert len(cycles(graph)) == 0


def test_a_neighbourhood_goes_up_and_down():
    graph = graph_of("France > Europe", "Paris > France", "Spain > Europe", "Louvre > Paris")
    assert set(neighbourhood(graph, graph.node_of("France")).titles()) == {
        "France",
        "Europe",
        "Paris",
    }
    assert neighbourhood(graph, 0, 0).titles() == ["France"]


def test_a_domain_that_is_not_there_is_refused_with_those_that_are():
    graph = build_graph(["a", "b"], [0], [1], domains=["economy", None])
    assert of_domains(graph, ["economy"]).titles() == ["a"]
    with pytest.raises(DataError, match=r"'ecnomy'.*It has: 'economy'"):
        of_domains(graph, ["ecnomy"])


@pytest.mark.parametrize(
    "act",
    [
        lambda graph: subgraph(graph, [2]),
        lambda graph: subgraph(graph, [-1]),
        lambda graph: subgraph(graph, [0.5]),
        lambda graph: subgraph(graph, [[0]]),
        lambda graph: below(graph, [0], -1),
        lambda graph: draw_connected(graph, 0, np.random.default_rng(0)),
    ],
)
def test_what_is_not_in_the_graph_is_refused(act):
    with pytest.raises(DataError):
        act(graph_of("a > b"))


def test_a_depth_bounds_how_far_a_domain_reaches():
    made = with_domains(chain(4), {"top": 0}, depth=1)
    assert [made.domain(node) for node in range(4)] == ["top", "top", None, None]
