"""Figures of a search where the truth is known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askew.stats.cover_rate import mean_cover_rate, search_worth
from askew.stats.rates import Rate
from askew.stats.two_shares import difference, ratio, share


@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), max_size=40))
def test_every_figure_is_a_share_or_undefined_with_a_reason(rows):
    leaning, tested, says = np.array(rows, bool).reshape(-1, 3).T
    worth = search_worth(leaning, tested, tested & says)
    for name in ("cover_rate", "precision", "missed_when_tested", "false_flags"):
        figure = getattr(worth, name)
        if figure.defined:
            assert 0 <= figure.lower <= figure.value <= figure.upper <= 1
        else:
            assert figure.n == 0
            assert figure.note
    if worth.cover_rate.defined and tested.all() and (says == leaning).all():
        assert worth.cover_rate.value == 1


def test_a_leaning_topic_whose_test_missed_it_is_not_covered():
    truth, tested = np.array([True, True, False]), np.array([True, True, True])
    worth = search_worth(truth, tested, np.array([True, False, False]))
    assert worth.cover_rate.value == 0.5
    assert worth.missed_when_tested.value == 0.5
    assert worth.precision.value == 1
    assert worth.false_flags.value == 0


def test_what_cannot_be_is_refused():
    one, two = np.ones(1, bool), np.ones(2, bool)
    with pytest.raises(ValueError, match="shape"):
        search_worth(one, one, two)
    with pytest.raises(ValueError, match="not tested"):
        search_worth(one, ~one, one)
    with pytest.raises(ValueError, match="lies in"):
        mean_cover_rate([1.2])


@pytest.mark.parametrize(("rates", "n"), [([], 0), ([math.nan], 0), ([0.4], 1), ([0.4, 0.4], 2)])
def test_few_games_have_no_interval(rates, n):
    mean = mean_cover_rate(rates)
    assert mean.n == n
    assert math.isnan(mean.lower)
    assert mean.note


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 30), st.integers(0, 30))
def test_swapping_two_groups_turns_the_difference_round(a, b, c, d):
    one, other = Rate(a, a + b), Rate(c, c + d)
    there, back = difference(one, other), difference(other, one)
    np.testing.assert_allclose(
        [there.value, there.lower, there.upper], [-back.value, -back.upper, -back.lower]
    )
    if there.defined:
        assert there.lower <= there.value <= there.upper


def test_a_ratio_to_nothing_is_undefined_and_one_of_nothing_is_zero():
    assert math.isnan(ratio(Rate(3, 5), Rate(0, 5)).value)
    assert math.isnan(ratio(Rate(0, 0), Rate(1, 5)).value)
    assert ratio(Rate(0, 5), Rate(1, 5)).value == 0
    assert math.isnan(ratio(Rate(0, 5), Rate(1, 5)).lower)
    assert math.isnan(share(Rate(0, 0), note="none").coverage)
