"""Compiled tries keep the rules and the reward: every step is checked against a plain replay."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("numba")

from askew.graphs.topics import TopicGraph
from askew.search.compiled import BoundaryEnvironment, RewardWeights, Tries
from askew.search.distance import FAR
from tests.search.boards import graph_of, random_graph
from tests.search.test_distance import plain_distances

WEIGHTS = RewardWeights(hit=2.0, test=0.25, near=0.5)


def plain_reward(graph: TopicGraph, leaning: np.ndarray, path: list[int]) -> float:
    """Eq. 3 after the last test of a path, from its definition."""
    untested = np.flatnonzero(leaning & ~np.isin(np.arange(graph.size), path))
    distances = plain_distances(graph, untested)
    nearest = min(distances[node] for node in path)
    near = WEIGHTS.near / (nearest + 1) if nearest < FAR else 0.0
    return WEIGHTS.hit * bool(leaning[path[-1]]) - WEIGHTS.test + near


def replay(
    graph: TopicGraph,
    leaning: np.ndarray,
    played: Tries,
    stop_at_hit: bool,
    scores: np.ndarray | None = None,
) -> None:
    """Check each test of each try: on the frontier, the best where greedy, rightly rewarded."""
    steps = 0
    for tested, reward in zip(played.tested, played.reward, strict=True):
        path: list[int] = []
        for node, got in zip(tested.tolist(), reward.tolist(), strict=True):
            frontier = {int(other) for one in path for other in graph.around(one)} - set(path)
            if node < 0:
                ended = stop_at_hit and leaning[path[-1]]
                assert ended or not frontier
                assert got == 0
                continue
            if path:
                assert node in frontier
                assert not (stop_at_hit and leaning[path[-1]])
                if scores is not None:
                    assert node == min(frontier, key=lambda one: (-scores[one], one))
            path.append(node)
            steps += 1
            assert got == pytest.approx(plain_reward(graph, leaning, path), abs=1e-6)
    assert steps == played.steps


@given(st.integers(0, 100_000), st.booleans(), st.booleans())
@settings(max_examples=40, deadline=None)
def test_every_step_is_one_of_a_plain_game(seed, stop_at_hit, greedy):
    random = np.random.default_rng(seed)
    size = int(random.integers(1, 20))
    graph = random_graph(size, int(random.integers(0, 40)), random)
    leaning = random.random(size) < 0.3
    scores = random.integers(0, 4, size).astype(np.float32) if greedy else None  # with equals
    environment = BoundaryEnvironment(graph, leaning, WEIGHTS)
    for turn in range(2):  # the second turn sees whether the first was put back
        begins = random.integers(size, size=4)
        played = environment.play(
            begins, 15, seed=turn, scores=scores, epsilon=0.0, stop_at_hit=stop_at_hit
        )
        replay(graph, leaning, played, stop_at_hit, scores)


def test_random_moves_take_every_topic_of_the_frontier_alike():
    star = graph_of(5, [(child, 0) for child in range(1, 5)])
    environment = BoundaryEnvironment(star, np.zeros(5, bool))
    second = environment.play(np.zeros(4000, int), 2).tested[:, 1]
    counts = np.bincount(second, minlength=5)
    assert counts[0] == 0
    assert counts[1:].min() > 900


def test_epsilon_is_the_share_of_random_moves():
    star = graph_of(101, [(child, 0) for child in range(1, 101)])
    environment = BoundaryEnvironment(star, np.zeros(101, bool))
    scores = np.zeros(101, np.float32)
    scores[7] = 1
    second = environment.play(np.zeros(4000, int), 2, scores=scores, epsilon=0.3).tested[:, 1]
    assert np.mean(second == 7) == pytest.approx(0.7 + 0.3 / 100, abs=0.03)


def test_the_same_seed_plays_the_same_tries():
    random = np.random.default_rng(0)
    graph = random_graph(50, 120, random)
    environment = BoundaryEnvironment(graph, random.random(50) < 0.1)
    first, again, other = (environment.play(np.arange(50), 20, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.tested, again.tested)
    assert (first.tested != other.tested).any()


def test_what_cannot_be_played_is_refused():
    environment = BoundaryEnvironment(graph_of(3, [(1, 0)]), np.zeros(3, bool))
    with pytest.raises(ValueError, match="graph of 3"):
        environment.play(np.array([3]), 5)
    with pytest.raises(ValueError, match="steps is 0"):
        environment.play(np.array([0]), 0)
    with pytest.raises(ValueError, match="NaN"):
        environment.play(np.array([0]), 5, scores=np.full(3, np.nan, np.float32))
    with pytest.raises(ValueError, match="leaning has shape"):
        BoundaryEnvironment(graph_of(3, []), np.zeros(2, bool))
    assert environment.play(np.zeros(0, int), 5).steps == 0
