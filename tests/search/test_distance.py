"""Distances stay exact: after any sequence of tests they are those of a fresh search."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("numba")

from askew.graphs.topics import TopicGraph
from askew.search.distance import FAR, NOBODY, DistanceField
from askew.search.simulate import simulate
from tests.search.boards import graph_of, random_graph


def plain_distances(graph: TopicGraph, sources: np.ndarray) -> list[int]:
    """One breadth-first search a source, in plain Python."""
    best = [FAR] * graph.size
    for source in sources.tolist():
        level, steps, seen = [source], 0, {source}
        while level:
            for node in level:
                best[node] = min(best[node], steps)
            after = {int(other) for node in level for other in graph.around(node)} - seen
            seen |= after
            level, steps = sorted(after), steps + 1
    return best


def check(field: DistanceField, alive: np.ndarray) -> None:
    """The field is that of the sources that are left, and its owners are at those distances."""
    assert field.distance.tolist() == plain_distances(field.graph, np.flatnonzero(alive))
    in_reach = field.owner != NOBODY
    assert (in_reach == (field.distance < FAR)).all()
    for node in np.flatnonzero(in_reach):
        around, owner = field.graph.around(node), field.owner[node]
        assert alive[owner]
        nearer = field.distance[around] == field.distance[node] - 1
        assert owner == node or (field.owner[around[nearer]] == owner).any()


@given(st.integers(0, 100_000))
@settings(max_examples=60, deadline=None)
def test_after_any_tests_the_field_is_that_of_a_fresh_search(seed):
    random = np.random.default_rng(seed)
    size = int(random.integers(1, 40))
    graph = random_graph(size, int(random.integers(0, 70)), random)
    alive = random.random(size) < random.random()
    field = DistanceField(graph, alive)
    check(field, alive)
    first = field.distance.copy()
    for source in random.permutation(np.flatnonzero(alive)):
        field.drop(int(source))
        alive[source] = False
        check(field, alive)
    field.undo()
    np.testing.assert_array_equal(field.distance, first)


def test_on_a_domain_graph_every_test_of_a_leaning_topic_keeps_it_exact():
    world = simulate(4)
    field, alive = DistanceField(world.graph, world.leaning), world.leaning.copy()
    for source in np.random.default_rng(0).permutation(np.flatnonzero(alive)):
        field.drop(int(source))
        alive[source] = False
        fresh = DistanceField(world.graph, alive)
        np.testing.assert_array_equal(field.distance, fresh.distance)
    assert (field.distance == FAR).all()
    field.undo()
    np.testing.assert_array_equal(
        field.distance, DistanceField(world.graph, world.leaning).distance
    )


def test_what_is_no_source_cannot_be_dropped():
    field = DistanceField(graph_of(3, [(1, 0), (2, 1)]), np.array([True, False, False]))
    for topic in (1, -1, 3):
        with pytest.raises(ValueError, match=f"topic {topic} is no leaning"):
            field.drop(topic)
    field.drop(0)
    with pytest.raises(ValueError, match="topic 0"):
        field.drop(0)
