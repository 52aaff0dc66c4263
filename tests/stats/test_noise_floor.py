"""What two answers to one prompt differ by."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askew.stats.noise_floor import floor_of, mean_difference


@given(st.lists(st.integers(0, 9), min_size=2, max_size=12))
def test_it_is_the_mean_over_all_pairs(values):
    expected = np.mean([abs(a - b) for a, b in combinations(values, 2)])
    assert mean_difference(np.array(values, float)) == pytest.approx(expected)


def test_of_a_binary_endpoint_it_is_the_share_of_pairs_that_differ():
    assert mean_difference(np.array([1.0, 1.0, 0.0, 0.0])) == pytest.approx(4 / 6)


def test_one_answer_has_no_floor():
    assert math.isnan(mean_difference(np.array([1.0])))
    assert math.isnan(mean_difference(np.array([])))


def test_vignettes_without_two_answers_are_left_out_and_lower_the_coverage():
    floor = floor_of([0.2, math.nan, 0.4, 0.3], 4)
    assert (floor.value, floor.n, floor.coverage) == (pytest.approx(0.3), 3, 0.75)
    assert 0 <= floor.lower < 0.3 < floor.upper


def test_without_repeats_the_floor_is_undefined_and_says_why():
    floor = floor_of([math.nan, math.nan], 2)
    assert not floor.defined
    assert "ask each prompt at least twice" in floor.note


@pytest.mark.parametrize("values", [[0.3], [0.3, 0.3, 0.3]])
def test_a_floor_without_spread_has_no_interval(values):
    floor = floor_of(values, len(values))
    assert floor.value == pytest.approx(0.3)
    assert math.isnan(floor.lower)
    assert math.isnan(floor.upper)
    assert floor.note
