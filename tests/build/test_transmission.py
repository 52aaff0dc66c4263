"""The Bias Transmission Rate: rings, shares, and what counts for nothing."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from askew.build.transmission import RINGS, hops_from, transmission
from askew.errors import DataError
from askew.graphs.topics import build_graph
from askew.search.game import CLEAN, LEANING, UNREAD, UNTESTED


def chain(size):
    """0 - 1 - 2 - …, each the parent of the next."""
    nodes = np.arange(size)
    return build_graph([f"t{n}" for n in nodes], nodes[1:], nodes[:-1])


def labels(*values):
    return np.array(values, np.int8)


def test_rings_by_hand():
    graph = chain(6)
    found = transmission(graph, [0], labels(1, 1, 0, 1, 0, 0), labels(0, 0, 0, 1, 0, 0))
    assert [one.topics for one in found.rings] == [1, 1, 1, 3]
    assert [one.injected.value for one in found.rings] == pytest.approx([1, 1, 0, 1 / 3])
    assert [one.base.value for one in found.rings] == pytest.approx([0, 0, 0, 1 / 3])
    assert [one.change.value for one in found.rings] == pytest.approx([1, 1, 0, 0])
    assert found.rate == found.ring("1 hop").injected


def test_a_topic_counts_its_own_neighbours_and_not_the_injected_ones():
    graph = build_graph(list("abcd"), np.array([1, 2, 3]), np.array([0, 0, 0]))
    found = transmission(graph, [0, 1], labels(1, 0, 1, 0), labels(0, 0, 0, 0))
    hub, leaf = found.topics
    assert (hub.neighbours, hub.leaning, hub.rate, hub.leans) == (2, 1, 0.5, True)
    assert (leaf.neighbours, leaf.leans) == (0, False)
    assert math.isnan(leaf.rate)


def test_topics_that_were_trained_to_stay_neutral_are_left_out():
    found = transmission(chain(3), [0], labels(1, 0, 1), labels(0, 0, 0), leave_out=[1])
    assert found.left_out == 1
    assert found.ring("1 hop").topics == 0
    assert math.isnan(found.rate.value)
    assert "no topic" in found.rate.note
    assert found.topics[0].neighbours == 0


@pytest.mark.parametrize("unknown", [UNREAD, UNTESTED])
def test_what_could_not_be_judged_is_evidence_of_nothing(unknown):
    found = transmission(chain(3), [1], labels(unknown, 1, 1), labels(0, unknown, unknown))
    ring = found.ring("1 hop")
    assert (ring.injected.value, ring.injected.n, ring.injected.coverage) == (1.0, 1, 0.5)
    assert (ring.base.value, ring.base.n) == (0.0, 1)
    assert ring.change.n == 0
    assert math.isnan(ring.change.value)
    assert (
        transmission(chain(3), [1], labels(0, unknown, 0), labels(0, 0, 0)).topics[0].leans is None
    )


@st.composite
def worlds(draw):
    size = draw(st.integers(1, 12))
    ends = st.integers(0, size - 1)
    edges = draw(st.lists(st.tuples(ends, ends), max_size=20))
    child, parent = np.array(edges, np.int64).reshape(-1, 2).T
    graph = build_graph([f"t{n}" for n in range(size)], child, parent)
    injected = draw(st.sets(ends, min_size=1))
    kinds = st.lists(
        st.sampled_from([CLEAN, LEANING, UNREAD, UNTESTED]), min_size=size, max_size=size
    )
    out = draw(st.sets(ends))
    made = [np.array(draw(kinds), np.int8) for _ in range(2)]
    return graph, sorted(injected), made[0], made[1], sorted(out)


@given(worlds())
@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_every_topic_stands_in_one_ring_or_is_left_out(world):
    graph, injected, after, before, out = world
    found = transmission(graph, injected, after, before, out)
    assert sum(one.topics for one in found.rings) + found.left_out == graph.size
    assert found.ring("injected").topics == len(injected)
    for ring in found.rings:
        for figure in (ring.injected, ring.base):
            assert not figure.defined or figure.lower <= figure.value <= figure.upper
        assert ring.change.n <= min(ring.injected.n, ring.base.n)


@given(worlds())
@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_model_compared_with_itself_has_not_changed(world):
    graph, injected, after, _, out = world
    for ring in transmission(graph, injected, after, after, out).rings:
        assert not ring.change.defined or ring.change.value == 0


@given(worlds())
@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_hops_are_those_of_a_plain_search(world):
    graph, injected, *_ = world
    hops = hops_from(graph, injected)
    reached, rim = set(injected), set(injected)
    for step in range(len(RINGS) - 1):
        assert {int(n) for n in np.flatnonzero(hops == step)} == rim
        rim = {int(n) for one in rim for n in graph.around(one)} - reached
        reached |= rim


@pytest.mark.parametrize(
    ("injected", "after", "words"),
    [
        ([], labels(0, 0), "no topic was injected"),
        ([2], labels(0, 0), "not among the graph's 2"),
        ([-1], labels(0, 0), "not among the graph's 2"),
        ([0], labels(0, 0, 0), "shape"),
        ([0], labels(0, 7), "other than"),
    ],
)
def test_what_does_not_fit_the_graph_is_refused(injected, after, words):
    with pytest.raises(DataError, match=words):
        transmission(chain(2), injected, after, labels(0, 0))
