"""The sign-flip test: SciPy's where nothing ties, exact where much does."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import permutation_test

from askew.seeds import generator
from askew.stats.signflip import sign_flip_test

SCORES = st.lists(st.integers(-6, 6).map(lambda step: step / 5), min_size=1, max_size=10)


def p_of(values, **options):
    return sign_flip_test(np.array(values, float), generator(1, "test"), **options).p_value


def scipy_test(values):
    return permutation_test(
        (np.array(values),), np.mean, permutation_type="samples", n_resamples=np.inf
    )


@pytest.mark.parametrize("count", [2, 5, 6, 10, 12])
def test_without_ties_it_is_scipys(count):
    values = generator(2, "values", str(count)).normal(0.4, 1, size=count)
    assert p_of(values) == pytest.approx(scipy_test(values).pvalue)


@settings(max_examples=40, deadline=None)
@given(SCORES.filter(lambda values: len(values) > 1))
def test_with_ties_it_lies_between_leaving_them_out_and_counting_them(values):
    null = scipy_test(values).null_distribution
    observed = abs(np.mean(values)) - 1e-12
    counted = float((np.abs(null) >= observed).mean())
    left_out = float((np.abs(null) > observed + 2e-12).mean())
    assert left_out < p_of(values) <= counted + 1e-12


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.integers(1, 4).map(float), min_size=4, max_size=8),
    st.sampled_from([0.05, 0.1, 0.3]),
)
def test_on_any_scale_its_size_is_the_nominal_one_up_to_half_a_tie(sizes, level):
    # Where the change does nothing, every pattern of signs is as likely: they are all tried.
    noise = np.arange(1.0, len(sizes) + 1)
    p_values = np.array(
        [p_of(np.multiply(sizes, s), noise=noise) for s in product((-1, 1), repeat=len(sizes))]
    )
    rejected = float((p_values < level).mean())
    # A tied block is rejected whole or not at all.
    smallest, largest = 2 / len(p_values), float((p_values == p_values.max()).mean())
    assert rejected <= level + max(smallest, largest)
    assert float(np.mean(p_values)) >= 0.5  # as a uniform p value's


@settings(max_examples=40, deadline=None)
@given(SCORES, st.sampled_from([0.001, 1.0, 1e6]))
def test_neither_the_direction_nor_the_unit_matters(values, unit):
    assert p_of(values) == p_of([-value for value in values]) == p_of(np.multiply(values, unit))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(-5, 5), min_size=1, max_size=5))
def test_fewer_than_six_vignettes_never_reach_five_per_cent(values):
    assert p_of(values) >= 0.05


def test_vignettes_that_do_not_move_say_nothing():
    assert p_of([0.0] * 30) == 1.0
    assert p_of([0.0] * 6) == 1.0


def test_ties_are_broken_toward_the_vignettes_with_less_noise():
    values = [0.2, 0.2, 0.2, 0.4, -0.2, 0.2, 0.2, -0.4]
    calm_where_positive = np.where(np.array(values) > 0, 0.1, 2.0)
    calm_where_negative = np.where(np.array(values) > 0, 2.0, 0.1)
    plain = p_of(values)
    assert p_of(values, noise=calm_where_positive) < plain < p_of(values, noise=calm_where_negative)


def test_noise_does_not_matter_where_nothing_ties_or_where_it_is_unknown():
    values = generator(3, "values").normal(size=9)
    assert p_of(values, noise=np.linspace(0, 3, 9)) == p_of(values)
    tied = [0.2, 0.2, -0.2, 0.4, 0.2, 0.2]
    assert p_of(tied, noise=np.full(6, math.nan)) == p_of(tied) == p_of(tied, noise=np.zeros(6))


def test_random_patterns_come_to_the_exact_p_value():
    values = generator(4, "values").normal(0.3, 1, size=20)
    exact = permutation_test(
        (values,), np.mean, permutation_type="samples", n_resamples=200_000, rng=1
    ).pvalue
    drawn = sign_flip_test(values, generator(1, "test"), draws=50_000)
    assert drawn.p_value == pytest.approx(exact, abs=4 * math.sqrt(exact / 50_000))
    assert not drawn.exact
    assert drawn.smallest_p == 1 / 50_001


def test_a_monte_carlo_p_value_is_never_0():
    test = sign_flip_test(np.linspace(1, 2, 60), generator(1, "test"), draws=99)
    assert test.p_value == test.smallest_p == 0.01


def test_the_same_seed_gives_the_same_p_value():
    values = generator(5, "values").normal(size=40)
    assert p_of(values) == p_of(values)


@pytest.mark.parametrize("values", [[], [math.nan, 1.0], [math.inf]])
def test_it_refuses_what_is_no_difference(values):
    with pytest.raises(ValueError, match="at least one vignette"):
        p_of(values)
