"""Baselines: what each counts on graphs that can be counted by hand, and against plain forms."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askew.errors import ConfigError
from askew.search.baselines import (
    WIDEST_HUB,
    Hop2,
    NeighbourShare,
    PageRankVote,
    WithText,
    hop2,
    neighbour_share,
    ppr,
)
from askew.search.game import Belief, Board, Observation, play
from askew.search.policies import Greedy, LocalBelief, policy
from askew.search.references import KnowsAllButOwn, KnowsAllLabels
from askew.search.text_prior import fit_text_prior
from tests.search.boards import board_of, graph_of, plain_board, random_graph, said, small_world

NOTHING = np.zeros(0, np.int32)
# 0 is the parent of 1, 2 and 3; 4 stands under 3.
TREE = graph_of(5, [(1, 0), (2, 0), (3, 0), (4, 3)])


def told(belief: Belief, board: Board, *tests: tuple[int, float]) -> np.ndarray:
    """What the belief says of all topics after some tests."""
    belief.start(board)
    for node, score in tests:
        answers = 0 if math.isnan(score) else 4
        belief.observe(node, Observation(score=score, answers=answers), NOTHING)
    return belief.probabilities(np.arange(board.graph.size, dtype=np.int32))


def test_neighbour_share_is_the_smoothed_share_of_tested_neighbours():
    share = told(NeighbourShare(prior=0.1, strength=2), plain_board(TREE, 9), (1, 1), (2, 0))
    assert share[0] == pytest.approx((1 + 0.2) / (2 + 2))
    assert share[3] == pytest.approx(0.1)  # 1 and 2 are no neighbours of 3


def test_soft_scores_count_as_they_are_and_unread_tests_not_at_all():
    soft = told(
        NeighbourShare(prior=0.1, strength=1), plain_board(TREE, 9), (1, 0.25), (2, math.nan)
    )
    assert soft[0] == pytest.approx((0.25 + 0.1) / 2)


def test_hop2_adds_second_neighbours_by_the_width_of_what_lies_between():
    share = told(Hop2(prior=0.1, second=0.6), plain_board(TREE, 9), (1, 1.0))
    assert share[0] == pytest.approx((1 + 0.1) / 2)
    assert share[2] == pytest.approx((0.6 / 3 + 0.1) / (0.6 / 3 + 1))  # 0 has three neighbours
    assert share[4] == pytest.approx(0.1)
    assert share[1] == pytest.approx(0.1)  # a topic is not evidence of itself


def test_a_hub_passes_nothing_on():
    children = WIDEST_HUB + 1
    star = graph_of(children + 1, [(child, 0) for child in range(1, children + 1)])
    share = told(Hop2(prior=0.1), plain_board(star, 9), (1, 1.0))
    assert share[0] > 0.1
    assert share[2] == pytest.approx(0.1)


@given(st.integers(0, 1000))
@settings(max_examples=25, deadline=None)
def test_page_rank_votes_are_near_the_exact_ranks(seed):
    random = np.random.default_rng(seed)
    graph = random_graph(12, 24, random)
    restart, source = 0.25, int(random.integers(12))
    belief = PageRankVote(prior=0.5, restart=restart, precision=1e-7)
    told(belief, plain_board(graph, 9), (source, 1.0))
    step = np.zeros((12, 12))
    for node in range(12):
        around = graph.around(node)
        step[node, around] = 1 / len(around) if len(around) else 0
    exact = restart * np.linalg.inv(np.eye(12) - (1 - restart) * step)[source]
    np.testing.assert_allclose(belief._tested, exact, atol=1e-5)


@pytest.mark.parametrize("make", [neighbour_share, hop2, ppr])
@pytest.mark.parametrize("variant", ["frontier", "open"])
def test_the_heap_picks_what_a_scan_of_all_candidates_picks(make, variant):
    class Scanned:
        """The same belief, without a word on what was touched."""

        def __init__(self, belief: Belief) -> None:
            self.name, self.start = belief.name, belief.start
            self.observe, self.probabilities = belief.observe, belief.probabilities

    for seed in range(4):
        random = np.random.default_rng(seed)
        graph = random_graph(60, 70, random)  # in several parts
        ask = partial(said, random.random(60) < 0.3)
        assert isinstance(make().belief, LocalBelief)
        players = (make(), Greedy(Scanned(make().belief)))
        by_heap, by_scan = (
            play(plain_board(graph, 60, variant), player, ask, seed=seed) for player in players
        )
        assert by_heap.tested.tolist() == by_scan.tested.tolist()


def test_a_belief_that_gives_nan_is_a_fault():
    class Broken:
        name = "broken"

        def start(self, board):
            """Nothing."""

        def observe(self, node, seen, opened):
            """Nothing."""

        def probabilities(self, candidates):
            """Not a number."""
            return np.full(len(candidates), math.nan)

    with pytest.raises(ValueError, match=r"broken.*NaN"):
        play(plain_board(TREE, 3), Greedy(Broken()), lambda node: Observation(score=0))


def test_titles_decide_where_the_graph_says_nothing():
    world = small_world(seed=3, nodes=300)
    prior = fit_text_prior([world])
    belief = WithText(NeighbourShare(), prior)
    belief.start(board_of(world, 9))
    all_topics = np.arange(300, dtype=np.int32)
    odds = prior.log_odds(world.title_vectors)
    order = np.argsort(belief.probabilities(all_topics), kind="stable")
    np.testing.assert_array_equal(order, np.argsort(odds, kind="stable"))
    assert odds[world.leaning].mean() > odds[~world.leaning].mean()


def test_breadth_first_comes_level_by_level_and_depth_first_does_not():
    path_and_star = graph_of(7, [(1, 0), (2, 0), (3, 1), (4, 3), (5, 4), (6, 2)])
    clean = np.zeros(7, bool)

    def order(name: str) -> list[int]:
        board = plain_board(path_and_star, 7)
        return play(board, policy(name), lambda node: said(clean, node), start=0).tested.tolist()

    assert set(order("bfs")[:3]) == {0, 1, 2}
    assert order("dfs") in ([0, 1, 3, 4, 5, 2, 6], [0, 2, 6, 1, 3, 4, 5])


def test_who_knows_all_labels_takes_the_way_that_costs_least():
    # From 0 it is one clean topic to 3 by way of 1, and two to 6 by way of 4 and 5.
    graph = graph_of(7, [(1, 0), (3, 1), (2, 3), (4, 0), (5, 4), (6, 5)])
    leaning = np.zeros(7, bool)
    leaning[[2, 3, 6]] = True
    world = small_world()
    known = type(world)("by hand", graph, np.zeros((7, 2), np.float32), leaning)
    tested = play(board_of(known, 7), KnowsAllLabels(known), known.oracle, start=0).tested
    assert tested.tolist() == [0, 1, 3, 2, 4, 5, 6]


def test_who_knows_all_but_a_topics_own_label_does_not_use_it():
    world = small_world(seed=4)
    ranks = KnowsAllButOwn(world)._share
    for node in range(0, world.graph.size, 7):
        other = world.leaning.copy()
        other[node] = ~other[node]
        turned = KnowsAllButOwn(type(world)("", world.graph, world.title_vectors, other))
        assert turned._share[node] == ranks[node]


def test_references_find_more_than_baselines_and_those_more_than_chance():
    found = {name: [] for name in ("all", "others", "share", "uniform")}
    for seed in range(4):
        world = small_world(seed=20 + seed, nodes=600)
        players = (
            KnowsAllLabels(world),
            KnowsAllButOwn(world),
            policy("neighbour_share"),
            policy("uniform"),
        )
        for name, player in zip(found, players, strict=True):
            transcript = play(board_of(world, 100), player, world.oracle, seed=seed)
            found[name].append(int(transcript.found[-1]))
    means = [np.mean(found[name]) for name in ("all", "others", "share", "uniform")]
    assert means == sorted(means, reverse=True)
    assert means[2] > 1.5 * means[3]


@pytest.mark.parametrize("wrong", [{"prior": 0}, {"prior": 1}, {"strength": 0}, {"second": -1}])
def test_settings_that_mean_nothing_are_refused(wrong):
    with pytest.raises(ConfigError, match="expected"):
        hop2(**wrong)


def test_a_text_prior_needs_labels_of_both_kinds():
    from askew.errors import DataError

    world = small_world()
    none = type(world)("", world.graph, world.title_vectors, np.zeros(world.graph.size, bool))
    with pytest.raises(DataError, match="same label"):
        fit_text_prior([none])
    with pytest.raises(DataError, match="at least one"):
        fit_text_prior([])
