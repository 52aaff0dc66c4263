"""A topic graph holds exactly the edges that it was given, and its titles are found again."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askew.errors import DataError
from askew.graphs.topics import CHILD, MOST_DOMAINS, PARENT, build_graph
from tests.graphs.topic_graphs import edge_lists, graph_of, graphs

LAW = settings(deadline=None, max_examples=60)  # other work may share the cores


@LAW
@given(edge_lists())
def test_a_graph_holds_each_pair_once_at_both_ends_and_no_loop(drawn):
    size, pairs = drawn
    graph = (
        build_graph([str(node) for node in range(size)], *map(list, zip(*pairs, strict=True)))
        if pairs
        else build_graph([str(node) for node in range(size)], [], [])
    )
    wanted = {(child, parent) for child, parent in pairs if child != parent}
    parents = {(node, int(p)) for node in range(size) for p in graph.parents(node)}
    children = {(int(c), node) for node in range(size) for c in graph.children(node)}
    assert parents == children == wanted
    assert graph.edges == len(wanted)
    for node in range(size):
        around = graph.around(node).tolist()
        assert around == sorted(set(around))
        assert set(around) == {*graph.parents(node).tolist(), *graph.children(node).tolist()}


@LAW
@given(graphs())
def test_the_order_in_which_edges_are_given_does_not_show(graph):
    rows = np.repeat(np.arange(graph.size), np.diff(graph.starts))
    above = (graph.direction & PARENT) > 0
    domains = [graph.domain(node) for node in range(graph.size)]
    again = build_graph(
        graph.titles(),
        rows[above][::-1],
        graph.neighbours[above][::-1],
        ids=graph.ids,
        domains=domains,
    )
    assert again.equals(graph)
    assert again.checksum == graph.checksum


@LAW
@given(graphs(), graphs())
def test_checksums_are_equal_where_the_contents_are(one, other):
    assert one.equals(other) == (one.checksum == other.checksum)


def test_topics_under_each_other_are_parent_and_child_at_once():
    graph = graph_of("a > b", "b > a")
    assert graph.direction.tolist() == [PARENT + CHILD] * 2
    assert graph.edges == 2


def test_an_empty_graph_is_a_graph():
    graph = build_graph([], [], [])
    assert (graph.size, graph.edges, graph.titles(), graph.find("a")) == (0, 0, [], [])
    with pytest.raises(DataError, match="graph of 0"):
        graph.node_of("a")


BAD = {
    "a node that is not there": (["a"], [0], [1], {}, r"parents\[0\] is 1, expected a node from 0"),
    "a negative node": (["a", "b"], [-1], [0], {}, r"children\[0\] is -1"),
    "an edge with one end": (["a", "b"], [0, 1], [1], {}, "children has 2 entries, parents 1"),
    "an edge in no graph": ([], [0], [0], {}, r"children\[0\] is 0"),
    "a float for a node": (["a", "b"], [0.5], [1], {}, "children holds float64"),
    "two dimensions": (["a", "b"], [[0, 1]], [1], {}, "2 dimensions"),
    "too few ids": (["a", "b"], [], [], {"ids": [1]}, "1 ids for 2 titles"),
    "an id twice": (["a", "b"], [], [], {"ids": [7, 7]}, "id 7 stands twice"),
    "an id of 64 bits without a sign": (
        ["a"],
        [],
        [],
        {"ids": np.array([2**63], np.uint64)},
        "9223",
    ),
    "too few domains": (["a", "b"], [], [], {"domains": ["x"]}, "1 domains for 2 titles"),
    "a title that is no text": (["a", None], [], [], {}, r"titles\[1\] is None"),
    "half a character": (["\ud83d"], [], [], {}, r"titles\[0\].*half a character"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_graph_is_refused(name):
    titles, children, parents, others, message = BAD[name]
    with pytest.raises(DataError, match=message):
        build_graph(titles, children, parents, **others)


def test_more_topics_or_domains_than_the_arrays_can_number_are_refused():
    class Huge(list):
        def __len__(self):
            return 2**31

    with pytest.raises(DataError, match="2,147,483,648 topics"):
        build_graph(Huge(), [], [])
    many = [str(number) for number in range(MOST_DOMAINS + 1)]
    with pytest.raises(DataError, match="32,768 domains"):
        build_graph(many, [], [], domains=many)


@LAW
@given(graphs())
def test_every_title_that_stands_once_leads_to_its_topic(graph):
    titles = graph.titles()
    assert titles == [graph.title(node) for node in range(graph.size)]
    for node, title in enumerate(titles):
        if title and titles.count(title) == 1:
            assert graph.node_of(title) == node


def test_titles_are_looked_up_as_wikipedia_does():
    graph = graph_of("Politics of France", "Étude", "iPhone", "snake_case")
    assert graph.node_of("politics_of_France") == 0
    assert graph.node_of("  étude ") == 1
    assert graph.node_of("IPhone") == 2
    assert graph.node_of("snake_case") == 3  # as it was given comes first
    with pytest.raises(DataError, match=r"'politics of france'.*Near it: 'Politics of France'"):
        graph.node_of("politics of france")


def test_a_title_of_two_topics_names_neither():
    graph = build_graph(["Mercury", "Mercury"], [], [], ids=[40, 41])
    with pytest.raises(DataError, match=r"2 topics are called 'Mercury' \(ids 40, 41\)"):
        graph.node_of("mercury")


def test_half_a_character_names_no_topic():
    with pytest.raises(DataError, match="no topic is called"):
        build_graph(["?", "??"], [0], [1]).node_of("\udcff")


def test_find_lists_the_shortest_titles_that_begin_with_the_text_first():
    graph = graph_of("Tax on land", "Tax", "Income tax", "Theatre")
    assert [graph.title(node) for node in graph.find("TAX")] == ["Tax", "Tax on land", "Income tax"]
    assert graph.find("tax", 1) == [1]
    assert [graph.title(node) for node in graph.find("Theater")] == ["Theatre"]
    assert graph.find(" ") == graph.find("quartz") == []


@LAW
@given(st.text(max_size=5))
def test_no_text_is_too_odd_to_look_for(text):
    graph = graph_of("a > b", "\x1b[31m > <script>")
    assert all(0 <= node < graph.size for node in graph.find(text))
