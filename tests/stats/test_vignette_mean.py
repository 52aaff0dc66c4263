"""The interval of a mean over vignettes, where their values are skewed."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askew.seeds import generator
from askew.stats.paired_rates import PairedRates
from askew.stats.vignette_mean import VignetteMean, skewed_t_interval, t_interval

VALUES = st.lists(st.floats(-5, 5), min_size=3, max_size=20).filter(lambda v: np.ptp(v) > 0.1)


@settings(max_examples=80, deadline=None)
@given(VALUES, st.floats(0.5, 100), st.floats(-10, 10))
def test_it_moves_with_the_unit_and_the_origin(values, unit, origin):
    lower, upper = skewed_t_interval(np.array(values))
    moved = skewed_t_interval(unit * np.array(values) + origin)
    assert moved == pytest.approx((unit * lower + origin, unit * upper + origin), abs=1e-6)
    assert skewed_t_interval(-np.array(values)) == pytest.approx((-upper, -lower))


@settings(max_examples=80, deadline=None)
@given(VALUES)
def test_it_holds_the_mean_and_grows_with_the_level(values):
    ends = [skewed_t_interval(np.array(values), level) for level in (0.8, 0.9, 0.95, 0.99)]
    for (lower, upper), (wider_lower, wider_upper) in pairwise(ends):
        assert wider_lower <= lower + 1e-9
        assert upper <= wider_upper + 1e-9
    assert ends[2][0] < np.mean(values) < ends[2][1]


def test_without_skewness_it_is_students():
    values = np.array([-3.0, -1.0, 0.0, 1.0, 3.0])
    assert skewed_t_interval(values) == pytest.approx(t_interval(values))


def test_g_of_its_ends_is_students_quantile():
    from scipy.stats import skew, t

    values = generator(1, "skewed").exponential(size=15)
    count, error = 15, values.std(ddof=1) / np.sqrt(15)
    gamma = skew(values)
    for end, quantile in zip(skewed_t_interval(values), (0.975, 0.025), strict=True):
        studentised = (values.mean() - end) / error
        g = (
            studentised
            + gamma * (studentised**2 / 3 + 1 / 6) / np.sqrt(count)
            + gamma**2 * studentised**3 / (27 * count)
        )
        assert g == pytest.approx(t.ppf(quantile, count - 1))


def test_it_holds_a_skewed_mean_more_often_than_students():
    values = generator(2, "skewed").exponential(size=(1000, 10))
    held = {
        interval: np.mean([lower <= 1 <= upper for lower, upper in map(interval, values)])
        for interval in (skewed_t_interval, t_interval)
    }
    assert held[skewed_t_interval] > held[t_interval] + 0.01


def of_rates(before, after) -> VignetteMean:
    before, after = np.array(before, dtype=float), np.array(after, dtype=float)
    # Two answers an arm, as some rates lie between 0 and 1.
    rates = PairedRates(before, after, 2 * len(before), 2 * len(after))
    return VignetteMean(after - before, 1.0, rates)


@settings(max_examples=80, deadline=None)
@given(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=2, max_size=40))
def test_where_no_vignette_moved_others_may(before):
    """Their correlation of 1 made [0, 0] of eleven cases, which keeps any bound."""
    estimate = of_rates(before, before).estimate(len(before), p_value=1.0)
    unseen = 1 - 0.025 ** (1 / len(before))
    assert estimate.lower <= -unseen + 1e-9
    assert estimate.upper >= unseen - 1e-9


def test_rates_that_change_alike_do_not_show_that_others_would():
    lower, upper = of_rates([0.0, 0.5] * 6, [0.5, 1.0] * 6).ends(0.95)
    share = 1 - 0.025 ** (1 / 12)
    assert lower <= 0.5 - share * 1.5 + 1e-9
    assert upper >= 0.5 + share * 0.5 - 1e-9


def test_an_interval_of_rates_holds_a_rare_change():
    """Of 20 vignettes, half of them yes; every twentieth turns from no to yes."""
    rng = generator(5, "rare")
    held = 0
    for _ in range(300):
        before = rng.random(20) < 0.5
        after = before | (rng.random(20) < 0.1)
        rates = PairedRates(before.astype(float), after.astype(float), 20, 20)
        values = after.astype(float) - before
        lower, upper = VignetteMean(values, 1.0, rates).ends(0.95)
        held += lower <= 0.05 <= upper
    assert held / 300 > 0.93
