"""The starter graph is what it is said to be."""

from __future__ import annotations

import re

import numpy as np
import pytest

from askew.graphs.starter_topics import ROOT, starter_graph
from askew.graphs.topic_subgraph import cycles, depth_from, of_domains, parts

DOMAINS = ("artificial intelligence", "culture", "economy", "politics", "education", "immigration")


def test_six_domains_have_at_least_sixty_topics_each():
    graph = starter_graph()
    assert graph.domains == DOMAINS
    counts = np.bincount(graph.domain_of[1:])
    assert (counts >= 60).all()
    assert (graph.domain_of[1:] >= 0).all()


def test_all_topics_hang_together_below_one_root_without_a_circle():
    graph = starter_graph()
    assert graph.title(0) == ROOT
    assert (parts(graph) == 0).all()
    assert cycles(graph) == []
    depth = depth_from(graph, [0])
    assert depth.min() == 0
    assert 3 <= depth.max() <= 6
    assert [graph.title(int(node)).casefold() for node in np.flatnonzero(depth == 1)] == [*DOMAINS]


@pytest.mark.parametrize("name", DOMAINS)
def test_a_domain_hangs_together_by_itself(name):
    assert (parts(of_domains(starter_graph(), [name])) == 0).all()


def test_domains_touch_each_other():
    graph = starter_graph()
    pairs = {
        (graph.domain(node), graph.domain(int(other)))
        for node in range(1, graph.size)
        for other in graph.around(node)
        if other
    }
    for name in DOMAINS:
        assert any(one == name != other for one, other in pairs)
    assert sum(len(graph.parents(node)) > 1 for node in range(graph.size)) > 100


def test_titles_are_plain_headings_each_once():
    titles = starter_graph().titles()
    assert len({title.casefold() for title in titles}) == len(titles)
    for title in titles:
        assert re.fullmatch(r"[A-Z][A-Za-z' -]{1,38}[A-Za-z]", title), title
