"""Figures of games that can be counted by hand; what is undefined is NaN."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askew.search.game import play
from askew.search.metrics import (
    Played,
    area,
    compare,
    cover_rate,
    episodes_to_converge,
    first_hit,
    first_hit_within,
    found_within,
    played,
    queries_to_cover,
    start_distance,
    step_loss,
    success,
    win,
)
from askew.search.policies import policy
from askew.search.simulate import SimulatorSettings, noisy, simulate
from askew.search.worlds import World
from tests.search.boards import board_of, graph_of


def game(*hits: int, positives: int = 4, **more: object) -> Played:
    """A game by what each query found."""
    return Played(np.cumsum(hits).astype(np.int64), positives, **more)  # type: ignore[arg-type]


def test_cover_rate_area_and_first_hit_of_a_game_by_hand():
    one = game(0, 1, 0, 1, positives=2)
    assert cover_rate(one, 2) == 0.5
    assert cover_rate(one, 4) == 1
    assert area(one, 4) == pytest.approx((0 + 1 + 1 + 2) / (1 + 2 + 2 + 2))
    assert first_hit(one) == 2
    assert queries_to_cover(one, 1.0) == 4
    assert success(one, 1) == 0
    assert success(one, 2) == 1


def test_what_is_not_defined_is_nan():
    none = game(0, 0, positives=0)
    for figure in (cover_rate(none, 2), area(none, 2), success(none, 2), queries_to_cover(none)):
        assert math.isnan(figure)
    stopped = game(0, 0)
    for figure in (
        cover_rate(stopped, 3),
        area(stopped, 3),
        first_hit(stopped),
        first_hit_within(stopped, 3),
        success(stopped, 3),
        queries_to_cover(stopped),
        step_loss(stopped, 2),
        win(stopped, game(1, 1, 1), 3),
    ):
        assert math.isnan(figure)


def test_a_game_without_topics_left_counts_at_any_number_of_queries():
    over = game(1, 0, positives=1, used_up=True)
    assert cover_rate(over, 50) == 1
    assert area(over, 50) == 1
    lost = game(0, 0, positives=1, used_up=True)
    assert first_hit_within(lost, 50) == 50


def test_a_game_stopped_after_its_hit_is_a_success():
    assert success(game(0, 1), 30) == 1
    assert first_hit_within(game(0, 1), 30) == 2


def test_who_found_more_wins_and_equals_share():
    assert win(game(1, 1), game(1, 0), 2) == 1
    assert win(game(1, 0), game(0, 1), 2) == 0.5
    assert win(game(1, 0), game(0, 1), 1) == 1


def test_step_loss_is_what_was_spent_beyond_the_shortest_way():
    assert step_loss(game(0, 0, 1, distance=2.0), 10) == 0
    assert step_loss(game(0, 0, 0, 1, distance=1.0), 10) == 2
    assert step_loss(game(1, distance=0.0), 10) == 0


def test_the_distance_of_a_start_is_counted_in_edges():
    graph = graph_of(5, [(1, 0), (2, 1), (3, 2)])
    leaning = np.array([False, False, False, True, False])
    world = World("", graph, np.zeros((5, 2), np.float32), leaning)
    assert [start_distance(world, start) for start in range(4)] == [3, 2, 1, 0]
    assert math.isnan(start_distance(world, 4))


def test_a_false_alarm_is_no_find_and_a_missed_topic_is_none_either():
    world = simulate(2, noisy(SimulatorSettings(nodes=300, fewest_leaning=30)))
    transcript = play(board_of(world, 300), policy("bfs"), world.oracle)
    whole = played(transcript, world)
    assert whole.used_up
    assert whole.found[-1] == (world.leaning & world.tested_as).sum() < world.positives


@given(st.lists(st.integers(0, 1), min_size=1, max_size=60), st.integers(0, 10))
def test_figures_lie_in_their_ranges_and_grow_with_queries(hits, missed):
    one = game(*hits, positives=sum(hits) + missed)
    rates = [cover_rate(one, queries) for queries in range(len(hits) + 1)]
    areas = area(one, len(hits))
    if one.positives:
        assert rates == sorted(rates)
        assert 0 <= areas <= 1
        assert found_within(one, len(hits)) == sum(hits)
        best = game(*sorted(hits, reverse=True), positives=one.positives)
        assert area(best, len(hits)) >= areas
    else:
        assert math.isnan(areas)


def test_episodes_converge_where_the_curve_settles():
    falling = [60.0 - at for at in range(40)] + [20.0] * 60
    settled = episodes_to_converge(falling, window=10)
    assert 35 <= settled <= 45
    assert episodes_to_converge([20.0] * 60, window=10) == 1
    assert math.isnan(episodes_to_converge([float(at) for at in range(60)], window=10))
    assert math.isnan(episodes_to_converge([20.0] * 15, window=10))
    assert math.isnan(episodes_to_converge([math.nan] * 60, window=10))


def test_a_comparison_of_a_policy_with_itself_is_one_and_nought():
    random = np.random.default_rng(0)
    values = random.random(60)
    for graphs in ([f"g{at // 2}" for at in range(60)], [f"g{at % 6}" for at in range(60)]):
        same = compare(values, values, graphs)
        assert (same.ratio.value, same.ratio.lower, same.ratio.upper) == pytest.approx((1, 1, 1))
        assert same.difference.value == same.difference.lower == same.difference.upper == 0


@pytest.mark.parametrize("graphs", [8, 40, 70])
def test_intervals_cover_the_truth_about_as_often_as_they_say(graphs):
    covered = [0, 0]
    tries = 150
    for seed in range(tries):
        random = np.random.default_rng(seed)
        of_graph = np.repeat(random.normal(1, 0.2, graphs), 3)
        theirs = of_graph + random.normal(0, 0.2, 3 * graphs)
        gain = np.repeat(random.normal(0.5, 0.3, graphs), 3)
        ours = of_graph + gain + random.normal(0, 0.2, 3 * graphs)
        names = [f"g{at // 3}" for at in range(3 * graphs)]
        both = compare(ours, theirs, names, seed=seed)
        covered[0] += both.difference.lower <= 0.5 <= both.difference.upper
        covered[1] += both.ratio.lower <= 1.5 <= both.ratio.upper
    assert min(covered) / tries > 0.88


def test_undefined_games_are_left_out_and_counted():
    both = compare([1.0, math.nan, 3.0], [1.0, 2.0, 1.0], ["a", "b", "c"])
    assert both.difference.value == 1
    assert both.difference.coverage == pytest.approx(2 / 3)
    nothing = compare([math.nan], [1.0], ["a"])
    assert math.isnan(nothing.ratio.value)
    assert math.isnan(nothing.difference.value)
    assert math.isnan(compare([1.0], [0.0], ["a"]).ratio.value)
    assert compare([], [], []).difference.n == 0
    with pytest.raises(ValueError, match="same games"):
        compare([1.0], [1.0, 2.0], ["a"])


@given(st.integers(0, 1000), st.sampled_from([5, 30]))
@settings(max_examples=20, deadline=None)
def test_the_order_of_the_games_does_not_matter(seed, count):
    random = np.random.default_rng(seed)
    ours, theirs = random.random(count), random.random(count) + 0.1
    names = [f"g{at}" for at in range(count)]
    order = random.permutation(count)
    one = compare(ours, theirs, names)
    other = compare(ours[order], theirs[order], [names[at] for at in order])
    assert one.difference.lower == pytest.approx(other.difference.lower)
    assert one.ratio.upper == pytest.approx(other.ratio.upper)
