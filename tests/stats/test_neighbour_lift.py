"""Does leaning cluster? The test holds its size however the topics were chosen."""

from __future__ import annotations

import math
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from askew.graphs.topics import TopicGraph, build_graph
from askew.search.game import Board, Observation, play
from askew.search.policies import policy
from askew.search.probes import Probing
from askew.search.simulate import simulate
from askew.seeds import generator
from askew.stats.neighbour_lift import (
    NeighbourLift,
    _centred,
    already_beside,
    neighbour_lift,
    urn_chances,
)

GAMES = 50


def chain(size: int) -> TopicGraph:
    return build_graph([f"t{n}" for n in range(size)], np.arange(1, size), np.arange(size - 1))


def lift_of(graph: TopicGraph, labels: np.ndarray, name: str, queries: int, seed: int):
    """What one game on these labels says."""
    board = Board(graph, np.zeros((graph.size, 1), np.float32), queries)
    made = play(
        board,
        Probing(policy(name), 0.1),
        lambda node: Observation(float(labels[node])),
        seed=seed,
    )
    leaning = made.label == 1
    judged = np.ones(len(leaning), bool)
    beside = already_beside(graph, made.tested.tolist(), leaning, judged)
    return neighbour_lift(leaning, *beside, seed=seed)


def says(leaning: list[int], beside: list[int], judged: list[int]) -> NeighbourLift:
    arrays = (np.array(one, np.int64) for one in (beside, judged))
    return neighbour_lift(np.array(leaning, bool), *arrays, seed=0)


@given(st.lists(st.booleans(), min_size=1, max_size=40))
def test_the_urn_gives_each_test_a_chance_and_the_last_one_certainty(outcomes):
    chances = urn_chances(np.array(outcomes))
    assert ((chances >= 0) & (chances <= 1)).all()
    assert chances[0] == pytest.approx(sum(outcomes) / len(outcomes))
    assert chances[-1] == float(outcomes[-1])


def greedy_score(order: np.ndarray, graph: TopicGraph, rule) -> float:
    """The statistic of a search whose t-th test shows order[t], whatever it picks."""
    nodes: list[int] = []
    for step in range(len(order)):
        nodes.append(rule(graph, nodes, order[:step]))
    judged = np.ones(len(nodes), bool)
    beside, known = already_beside(graph, nodes, order, judged)
    weights = _centred(beside.astype(float), known > 0)
    return float(weights @ (order - urn_chances(order)))


def beside_hits(graph, nodes, outcomes):
    """Tests beside what leans, and else the smallest free topic."""
    free = [node for node in range(graph.size) if node not in nodes]
    hits = {node for node, leans in zip(nodes, outcomes, strict=True) if leans}
    return max(free, key=lambda node: (len(hits & set(graph.around(node).tolist())), -node))


def away_from_hits(graph, nodes, outcomes):
    free = [node for node in range(graph.size) if node not in nodes]
    hits = {node for node, leans in zip(nodes, outcomes, strict=True) if leans}
    return min(free, key=lambda node: (len(hits & set(graph.around(node).tolist())), node))


@pytest.mark.parametrize("rule", [beside_hits, away_from_hits])
@pytest.mark.parametrize("leaning", [1, 2, 3])
def test_the_score_has_mean_zero_over_all_orders_whatever_the_search_does(rule, leaning):
    ring = np.arange(9)
    graph = build_graph(list("abcdefghi"), np.tile(ring, 2), np.r_[(ring + 1) % 9, (ring + 2) % 9])
    tests = 7
    scores = []
    for places in combinations(range(tests), leaning):
        order = np.zeros(tests, bool)
        order[list(places)] = True
        scores.append(greedy_score(order, graph, rule))
    assert np.ptp(scores) > 0 or leaning == 1  # after the only one, the urn holds none
    assert sum(scores) == pytest.approx(0, abs=1e-9)


@pytest.fixture(scope="module")
def worlds():
    return [simulate(5, domain=domain) for domain in ("politics", "economy")]


@pytest.mark.parametrize("name", ["neighbour_share", "hop2", "uniform"])
def test_shuffled_labels_are_called_clustered_about_once_in_twenty(worlds, name):
    alarms = 0
    for game in range(GAMES):
        world = worlds[game % len(worlds)]
        labels = generator(game, "shuffled").permutation(world.leaning)
        alarms += lift_of(world.graph, labels, name, 80, game).verdict == "clusters"
    assert alarms <= binom.ppf(0.999, GAMES, 0.06)


@pytest.mark.parametrize("name", ["neighbour_share", "uniform"])
def test_labels_that_cluster_are_mostly_called_so(name):
    found = []
    for seed, domain in product((5, 6), ("politics", "economy", "culture")):
        world = simulate(seed, domain=domain)
        found += [lift_of(world.graph, world.leaning, name, 500, game).verdict for game in range(2)]
    # Four of five such searches are; a third is what chance would not come near to.
    assert found.count("clusters") > len(found) / 3
    assert "does not cluster" not in found


def test_what_is_beside_a_topic_counts_only_if_it_was_tested_before_and_judged():
    graph = chain(5)
    leaning, judged = np.array([1, 0, 0, 1], bool), np.array([1, 1, 0, 1], bool)
    beside, known = already_beside(graph, [1, 2, 3, 0], leaning, judged)
    assert beside.tolist() == [0, 1, 0, 1]
    assert known.tolist() == [0, 1, 1, 1]  # 3 lies beside 2; 0 beside 1


def test_both_shares_and_their_difference_are_counted_by_test():
    found = says([1, 1, 0, 0, 1, 0], [0, 1, 2, 0, 1, 0], [0, 1, 2, 1, 2, 3])
    assert (found.beside_leaning.value, found.beside_leaning.n) == (pytest.approx(2 / 3), 3)
    assert (found.beside_clean.value, found.beside_clean.n) == (0.0, 2)
    assert found.difference.value == pytest.approx(2 / 3)
    assert math.isnan(found.lift.value)
    assert "divided by 0" in found.lift.note


@pytest.mark.parametrize(
    ("leaning", "beside", "judged", "said"),
    [
        ([], [], [], "no test could be judged"),
        ([0], [0], [0], "no leaning topic was found"),
        ([0, 0, 0], [0, 0, 0], [0, 1, 1], "no leaning topic was found"),
        ([1, 1, 1], [0, 1, 1], [0, 1, 1], "every judged topic leans"),
        ([0, 0, 1], [0, 0, 0], [0, 1, 1], "no tested topic lay beside a leaning one"),
        ([1, 0, 1], [0, 1, 1], [0, 1, 1], "clean topics alone"),
    ],
)
def test_what_cannot_be_told_says_why(leaning, beside, judged, said):
    found = says(leaning, beside, judged)
    assert found.verdict == "cannot tell"
    assert said in found.reason
    assert math.isnan(found.difference.value) or found.difference.value >= -1


def test_many_tests_without_a_difference_show_that_nothing_clusters():
    rng = np.random.default_rng(0)
    beside = rng.integers(0, 2, 4_000)
    found = says((rng.random(4_000) < 0.3).astype(int).tolist(), beside.tolist(), [1] * 4_000)
    assert found.verdict == "does not cluster"
    assert 0 < found.smallest_visible < 0.1


def test_the_same_seed_gives_the_same_p_value_and_chance_range():
    leaning, beside = [0, 1, 1, 0, 1, 1, 0, 0], [0, 0, 1, 0, 1, 1, 0, 0]
    one, again = says(leaning, beside, [1] * 8), says(leaning, beside, [1] * 8)
    assert (one.p_value, one.by_chance) == (again.p_value, again.by_chance)
    assert one.by_chance[0] < 0 < one.by_chance[1]


@pytest.mark.parametrize(("beside", "judged"), [([0], [0, 0]), ([2, 0], [1, 1]), ([-1, 0], [1, 1])])
def test_arrays_that_do_not_belong_together_are_refused(beside, judged):
    with pytest.raises(ValueError, match=r"pass one entry|must lie between"):
        neighbour_lift(np.array([True, False]), np.array(beside), np.array(judged), seed=0)
