"""One share in two runs: laws, the case that an unpaired test misses, and coverage."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from askew.stats.few_moved import few_moved_ends
from askew.stats.intervals import newcombe
from askew.stats.lean_change import lean_change, lean_ends, lean_p
from askew.stats.more_items import items_to_decide
from askew.stats.run_difference import BOOTSTRAP, RunShares


def shares_of(baseline, other, trials=None, **changes) -> RunShares:
    hits = np.array([baseline, other], dtype=float)
    tried = np.ones_like(hits) if trials is None else np.array(trials, dtype=float)
    return RunShares(hits, tried, **changes)


cells = st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 2), st.integers(0, 2))


@settings(deadline=None, max_examples=60)
@given(st.lists(cells, min_size=2, max_size=60))
def test_the_other_way_round_everything_is_turned_round(rows):
    table = np.array(rows, dtype=float).T
    trials = table[:2] + table[2:]
    ahead, back = (RunShares(table[[a, b]], trials[[a, b]]) for a, b in ((0, 1), (1, 0)))
    one, two = ahead.estimate(1.0), back.estimate(1.0)
    np.testing.assert_allclose(one.value, -two.value, atol=1e-12)
    np.testing.assert_allclose((one.lower, one.upper), (-two.upper, -two.lower), atol=1e-9)
    np.testing.assert_equal(ahead.p_value, back.p_value)
    np.testing.assert_allclose(ahead.spread, back.spread)


def test_a_long_study_is_turned_round_as_well():
    rng = np.random.default_rng(0)
    hits = rng.integers(0, 4, (2, 400)).astype(float)
    trials = np.full((2, 400), 3.0)
    ahead, back = RunShares(hits, trials), RunShares(hits[::-1], trials)
    assert ahead.interval[1] == BOOTSTRAP
    lower, upper = ahead.ends(0.95)
    np.testing.assert_allclose(back.ends(0.95), (-upper, -lower), atol=1e-12)
    np.testing.assert_allclose(back.total_ends(0.95), ahead.total_ends(0.95))


@settings(deadline=None)
@given(st.lists(st.integers(0, 3), min_size=2, max_size=50))
def test_a_run_is_no_different_from_itself(hits):
    shares = shares_of(hits, hits, trials=[[3] * len(hits)] * 2)
    estimate = shares.estimate(1.0)
    assert (shares.value, shares.p_value) == (0.0, 1.0)
    assert estimate.lower <= 0 <= estimate.upper
    # It has a length: no item moved among these, which is not to say that none would.
    assert estimate.lower < estimate.upper


@settings(deadline=None)
@given(*[st.integers(0, 12)] * 4)
def test_with_few_items_moved_the_interval_is_newcombes_and_no_shorter_than_they_allow(
    both, gained, lost, neither
):
    baseline = [1] * both + [0] * gained + [1] * lost + [0] * neither
    other = [1] * both + [1] * gained + [0] * lost + [0] * neither
    count = len(baseline)
    if count < 2 or gained + lost >= 20:
        return
    lower, upper = newcombe(both, gained, lost, neither)
    least = few_moved_ends(gained / count, lost / count, count)
    expected = min(lower, least[0]), max(upper, least[1])
    np.testing.assert_allclose(shares_of(baseline, other).ends(0.95), expected, atol=1e-9)


@pytest.mark.parametrize("count", [66, 130, 200])
def test_a_difference_of_the_margin_is_seldom_called_none(count):
    """Newcombe's interval alone lies within the margin of 0.03 for every tenth such pair of runs.

    Half of the items are right in the baseline, and 3 % of all items turn right.
    """
    rng = np.random.default_rng(count)
    within = 0
    for gained in rng.binomial(count, 0.03, size=300):
        if gained >= 20:
            continue
        baseline = np.arange(count) % 2
        other = baseline.copy()
        other[np.flatnonzero(baseline == 0)[:gained]] = 1
        ends = shares_of(list(baseline), list(other)).ends(0.95)
        within += ends[0] > -0.03 and ends[1] < 0.03
    assert within / 300 < 0.05


def test_an_exact_test_cuts_an_interval_that_few_items_make_wide():
    # Of nine items, six gained: the test is sure of the direction, so few items of nothing else.
    estimate = shares_of([0] * 9, [1] * 6 + [0] * 3).estimate(1.0)
    assert estimate.lower >= 0
    assert shares_of([0] * 9, [1] * 6 + [0] * 3).p_value < 0.05


def test_six_items_that_agree_do_not_show_that_runs_do():
    lower, upper = shares_of([0, 1, 0, 1, 1, 0], [0, 1, 0, 1, 1, 0]).ends(0.95)
    assert lower < -0.03
    assert upper > 0.03


def test_the_paired_test_sees_what_the_unpaired_one_misses():
    # n = 220: 18 items gained, 5 lost. Unpaired, z of two proportions is far from significant.
    both, gained, lost, neither = 100, 18, 5, 97
    baseline = [1] * both + [0] * gained + [1] * lost + [0] * neither
    other = [1] * both + [1] * gained + [0] * lost + [0] * neither
    shares = shares_of(baseline, other)
    estimate = shares.estimate(1.0)
    pooled = (shares.baseline + shares.other) / 2
    z = shares.value / math.sqrt(2 * pooled * (1 - pooled) / 220)
    assert 2 * norm.sf(z) > 0.2
    assert shares.p_value == pytest.approx(0.0106, abs=0.0002)
    assert estimate.lower > 0


def test_pairs_of_one_item_are_not_independent():
    # Ten items, each asked under thirty attacks, all of which go the same way.
    wide = shares_of([0] * 10, [30] * 7 + [-0] * 3, trials=[[30] * 10] * 2)
    assert wide.items == 10
    assert wide.p_value == pytest.approx(2 * 0.5**7)


def test_shares_of_different_units_are_tested_by_scores():
    # What could be turned differs: 40 of 50 in the baseline, 30 of 50 in the other run.
    rng = np.random.default_rng(5)
    tried = np.stack([rng.random(400) < 0.8, rng.random(400) < 0.6]).astype(float)
    turned = tried * (rng.random((2, 400)) < np.array([[0.5], [0.3]]))
    shares = RunShares(turned, tried)
    assert not shares.same_trials
    assert shares.moved.sum() < 0 < shares.baseline - shares.other
    assert shares.p_value < 0.001


def test_an_undefined_share_stays_undefined():
    shares = shares_of([1, 1], [0, 0], trials=[[1, 1], [0, 0]])
    estimate = shares.estimate(1.0, "nothing was tried")
    assert math.isnan(estimate.value)
    assert math.isnan(estimate.lower)
    assert math.isnan(shares.p_value)
    assert math.isnan(shares.spread)
    assert estimate.note == "nothing was tried"


def test_one_item_has_no_interval():
    shares = shares_of([1], [0])
    assert math.isnan(shares.estimate(1.0).lower)
    assert shares.p_value == 1.0


@pytest.mark.parametrize(
    ("items", "pairs", "ratio"), [(60, 1, False), (150, 3, False), (150, 1, True), (60, 3, True)]
)
def test_nineteen_of_twenty_intervals_hold_the_true_difference(items, pairs, ratio):
    """Coverage by simulation: items differ, runs share them, one run is 8 points better."""
    rng = np.random.default_rng(items + pairs)
    held = 0
    rounds = 160
    for _ in range(rounds):
        easy = rng.normal(0, 0.15, items)[:, None]
        first, second = (rng.random((items, pairs)) < shift + easy for shift in (0.5, 0.58))
        trials = np.full((2, items), float(pairs))
        if ratio:
            tried = rng.random((2, items, pairs)) < 0.8
            trials = tried.sum(axis=2).astype(float)
            first, second = first & tried[0], second & tried[1]
        hits = np.stack([first.sum(axis=1), second.sum(axis=1)]).astype(float)
        lower, upper = RunShares(hits, trials).ends(0.95)
        held += lower <= 0.08 <= upper
    # 160 rounds of a true 95 % fall below 0.9 once in two hundred times.
    assert held / rounds > 0.9


def test_the_swap_test_is_wrong_no_more_often_than_it_says():
    rng = np.random.default_rng(11)
    found = []
    for _ in range(300):
        easy = rng.normal(0, 0.2, 80)[:, None]
        hits = np.stack([(rng.random((80, 3)) < 0.5 + easy).sum(axis=1) for _ in range(2)])
        found.append(RunShares(hits.astype(float), np.full((2, 80), 3.0)).p_value)
    assert np.mean(np.array(found) < 0.05) < 0.085


numbers = st.floats(-1, 1)


@given(numbers, numbers)
def test_the_change_of_a_lean_is_that_of_its_distance(first, second):
    expected = abs(second) - abs(first)
    assert lean_change(second - first, first + second) == pytest.approx(expected, abs=1e-12)


@given(*[numbers] * 4, st.floats(0, 1), st.floats(0, 1))
def test_no_point_of_the_box_lies_beyond_the_ends(a, b, c, d, along, across):
    difference, total = (min(a, b), max(a, b)), (min(c, d), max(c, d))
    lower, upper = lean_ends(difference, total)
    inside = lean_change(
        difference[0] + along * (difference[1] - difference[0]),
        total[0] + across * (total[1] - total[0]),
    )
    assert lower - 1e-9 <= inside <= upper + 1e-9


def test_a_lean_needs_both_tests():
    assert lean_p(0.01, 0.2) == 0.2
    assert math.isnan(lean_p(0.01, math.nan))
    assert all(map(math.isnan, lean_ends((0.1, 0.2), (math.nan, 0.3))))


def test_so_many_items_decide_in_four_of_five_studies():
    rng = np.random.default_rng(2)
    wanted = int(items_to_decide(0.08, 0.6, 0.03))
    # One pair an item; a share of items moves so that the spread is 0.6.
    moved = 0.6**2 + 0.08**2
    decided = 0
    for _ in range(200):
        drawn = rng.random(wanted)
        gained, lost = (moved + 0.08) / 2, (moved - 0.08) / 2
        before = np.where(drawn < gained, 0, np.where(drawn < gained + lost, 1, 1))
        after = np.where(drawn < gained, 1, np.where(drawn < gained + lost, 0, 1))
        decided += shares_of(before, after).p_value < 0.05
    assert 0.7 < decided / 200 < 0.9


@given(st.floats(0.001, 0.5), st.floats(0.1, 1.0), st.integers(1, 20))
def test_more_tests_never_need_fewer_items(value, spread, tests):
    once = items_to_decide(value, spread, 0.03)
    assert items_to_decide(value, spread, 0.03, tests=tests) >= once
    assert items_to_decide(-value, spread, 0.03) == once


def test_no_difference_and_no_margin_is_never_decided():
    assert math.isinf(items_to_decide(0.0, 0.5, math.nan))
    assert math.isnan(items_to_decide(math.nan, 0.5, 0.03))
    assert math.isnan(items_to_decide(0.1, math.nan, 0.03))
