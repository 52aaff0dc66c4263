"""The interval and the odds ratio of a binary endpoint in two arms."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.contingency_tables import StratifiedTable

from askew.seeds import generator
from askew.stats.intervals import newcombe
from askew.stats.paired_rates import PairedRates

RATES = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 5)).map(lambda pair: (pair[0] / 5, pair[1] / 5)),
    min_size=2,
    max_size=30,
)


def rates_of(pairs, answers=5):
    before, after = np.array(pairs, float).T
    return PairedRates(before, after, answers * len(pairs), answers * len(pairs))


def test_with_many_vignettes_and_one_answer_it_is_newcombes_own():
    rng = generator(1, "rates")
    before = rng.integers(0, 2, size=4000).astype(float)
    after = np.where(rng.random(4000) < 0.4, 1 - before, before)
    counts = [float(((before == a) & (after == b)).sum()) for a in (1, 0) for b in (1, 0)]
    right_in_both, turned_wrong, turned_right, wrong_in_both = counts
    expected = newcombe(right_in_both, turned_right, turned_wrong, wrong_in_both)
    found = PairedRates(before, after, 4000, 4000).ends(0.95)
    assert found == pytest.approx(expected, abs=2e-4)


@settings(max_examples=80, deadline=None)
@given(RATES)
def test_it_holds_the_value_and_is_never_a_point(pairs):
    rates = rates_of(pairs)
    lower, upper = rates.ends(0.95)
    change = float(rates.after.mean() - rates.before.mean())
    assert -1 <= lower <= change + 1e-12
    assert change - 1e-12 <= upper <= 1
    assert upper - lower > 0.01


@settings(max_examples=80, deadline=None)
@given(RATES)
def test_swapping_the_arms_mirrors_it(pairs):
    lower, upper = rates_of(pairs).ends(0.95)
    assert rates_of([(b, a) for a, b in pairs]).ends(0.95) == pytest.approx((-upper, -lower))


@settings(max_examples=80, deadline=None)
@given(RATES)
def test_asking_for_no_instead_of_yes_mirrors_it(pairs):
    lower, upper = rates_of(pairs).ends(0.95)
    assert rates_of([(1 - a, 1 - b) for a, b in pairs]).ends(0.95) == pytest.approx(
        (-upper, -lower)
    )


@settings(max_examples=80, deadline=None)
@given(st.floats(0, 1), st.lists(st.floats(0, 1), min_size=10, max_size=30))
def test_a_higher_level_holds_a_lower_one_where_the_arms_are_not_correlated(before, after):
    # With a correlation near 1 the two parts cancel, and an end may move inwards: by .008 where one
    # of ten vignettes moves from .2 to .8.
    rates = rates_of([(before, one) for one in after])
    ends = [rates.ends(level) for level in (0.0, 0.5, 0.9, 0.95, 1.0)]
    for (lower, upper), (wider_lower, wider_upper) in pairwise(ends):
        assert wider_lower <= lower + 1e-12
        assert upper <= wider_upper + 1e-12


def test_repeats_are_no_new_patients():
    # One answer in two vignettes of ten, the same in each of its repeats.
    pairs = [(1.0, 0.0)] * 2 + [(0.0, 0.0)] * 8
    once, often = rates_of(pairs, answers=1).ends(0.95), rates_of(pairs, answers=100).ends(0.95)
    assert often == pytest.approx(once)


def test_the_odds_ratio_is_mantel_and_haenszels():
    counts = generator(2, "counts").integers(0, 6, size=(12, 2))
    tables = [np.array([[after, 5 - after], [before, 5 - before]]) for before, after in counts]
    expected = StratifiedTable(tables).oddsratio_pooled
    assert rates_of(counts / 5).odds_ratio == pytest.approx(expected)


def test_with_one_answer_it_is_b_over_c():
    pairs = [(0, 1)] * 3 + [(1, 0)] * 2 + [(1, 1)] * 4 + [(0, 0)] * 5
    rates = rates_of(pairs, answers=1)
    assert rates.odds_ratio == 3 / 2
    assert rates.turned == (3, 2)
    assert rates_of(pairs, answers=2).turned is None


def test_an_odds_ratio_over_nothing_is_undefined():
    assert math.isnan(rates_of([(0, 1), (1, 1)]).odds_ratio)
