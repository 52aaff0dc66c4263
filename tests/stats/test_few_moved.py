"""The interval of a change of which few items, or none, moved."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta

from askew.stats.few_moved import few_moved_ends

MOVED = st.tuples(st.integers(0, 40), st.integers(0, 40), st.integers(1, 400)).map(
    lambda found: (found[0], found[1], sum(found))
)


@settings(deadline=None)
@given(MOVED, st.sampled_from([1.0, 2.0, 6.0]))
def test_it_holds_the_change_within_the_span_and_turns_round(moved, span):
    gained, lost, items = moved
    ahead = few_moved_ends(span * gained / items, span * lost / items, items, span)
    back = few_moved_ends(span * lost / items, span * gained / items, items, span)
    assert back == pytest.approx((-ahead[1], -ahead[0]))
    value = span * (gained - lost) / items
    assert -span <= ahead[0] <= value <= ahead[1] <= span
    assert ahead[0] < ahead[1]


@settings(deadline=None)
@given(st.integers(2, 2000), st.floats(0.5, 6))
def test_where_nothing_moved_it_is_about_the_rule_of_three(items, span):
    lower, upper = few_moved_ends(0.0, 0.0, items, span)
    exact = span * (1 - 0.025 ** (1 / items))
    assert -lower == upper
    assert upper == pytest.approx(exact, rel=0.35)


@given(st.integers(1, 15))
def test_an_end_lies_about_where_clopper_and_pearson_put_it(gained):
    _, upper = few_moved_ends(gained / 100, 0.0, 100)
    assert upper == pytest.approx(float(beta.ppf(0.975, gained + 1, 100 - gained)), abs=0.012)


def test_without_items_it_is_undefined():
    assert all(map(math.isnan, few_moved_ends(0.0, 0.0, 0)))
