"""The test that swaps the labels of two runs, and the bootstrap by kinds of items."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, permutation_test

from askew.stats.cluster_draws import Kinds
from askew.stats.intervals import Clusters, resample
from askew.stats.paired import mcnemar
from askew.stats.swap_test import swap_test


def p_of(differences, seed=0, **settings_) -> float:
    return swap_test(np.array(differences, dtype=float), np.random.default_rng(seed), **settings_)


@settings(deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60))
def test_with_one_pair_an_item_it_is_mcnemars_exact_test(outcomes):
    before, after = np.array(outcomes).T
    clusters = Clusters.of([str(place) for place in range(len(outcomes))])
    expected = mcnemar(before, after, clusters).p_value
    assert p_of(after.astype(float) - before) == pytest.approx(expected, rel=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(-3, 3), min_size=2, max_size=9))
def test_whole_numbers_are_tested_as_scipy_tests_all_their_signs(differences):
    values = np.array(differences, dtype=float)
    if not values.any():
        assert p_of(values) == 1.0
        return
    expected = permutation_test(
        (values,),
        lambda one, axis: np.abs(one.sum(axis=axis)),
        permutation_type="samples",
        alternative="greater",
        n_resamples=np.inf,
        vectorized=True,
    ).pvalue
    assert p_of(values) == pytest.approx(expected, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(-2, 2).map(lambda x: round(x, 3)), min_size=2, max_size=9))
def test_other_numbers_are_tested_exactly_where_they_are_few(differences):
    values = np.array(differences)
    if not values.any():
        return
    signs = np.array(np.meshgrid(*[[-1, 1]] * len(values))).reshape(len(values), -1)
    sums = np.abs(values @ signs)
    expected = (sums >= abs(values.sum()) - 1e-9 * np.abs(values).sum()).mean()
    assert p_of(values) == pytest.approx(expected, abs=1e-12)


@settings(deadline=None)
@given(st.lists(st.integers(-4, 4), min_size=1, max_size=30), st.integers(0, 5))
def test_the_runs_may_be_named_the_other_way_round(differences, seed):
    turned = [-value for value in differences]
    assert p_of(differences, seed) == p_of(turned, seed)


def test_long_convolutions_agree_with_the_binomial():
    # Sizes 1 and 2; with no item of size 2 moved the sum is that of a binomial.
    ones = np.array([1.0] * 3_100 + [-1.0] * 2_900)
    alone = binomtest(3_100, 6_000, 0.5).pvalue
    assert p_of(ones) == pytest.approx(alone, rel=1e-9)
    with_one_pair_more = np.concatenate([ones, [2.0, -2.0]])
    assert p_of(with_one_pair_more) == pytest.approx(alone, rel=0.02)


def test_random_swaps_come_near_to_all_of_them():
    rng = np.random.default_rng(3)
    few = np.round(rng.normal(0.3, 1, 15), 4)
    exact = p_of(few)
    drawn = p_of(np.concatenate([few, rng.normal(0, 1e-7, 12)]))  # too many sums to count
    assert drawn == pytest.approx(exact, abs=0.01)


def test_nothing_to_test_is_no_p_value_and_nothing_moved_is_1():
    assert math.isnan(p_of([]))
    assert p_of([0.0, 0.0]) == 1.0


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(-2, 3), st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=40
    )
)
def test_kinds_are_the_rows_that_differ_with_their_number(rows):
    table = np.array(rows, dtype=float)
    kinds = Kinds.of(table)
    expected, counts = np.unique(table, axis=0, return_counts=True)
    np.testing.assert_array_equal(kinds.rows, expected)
    np.testing.assert_array_equal(kinds.counts, counts)


def test_rows_of_fractions_are_kinds_as_well():
    kinds = Kinds.of(np.array([[0.5, 1.0], [0.5, 1.0], [0.25, 0.0]]))
    np.testing.assert_array_equal(kinds.counts, [1, 2])


def test_drawing_kinds_is_drawing_clusters_one_by_one():
    rng = np.random.default_rng(1)
    table = rng.integers(0, 3, (300, 2)).astype(float)
    by_kind = Kinds.of(table).totals(np.random.default_rng(2), 4_000)
    one_by_one = resample(Clusters(np.arange(300), 300), np.random.default_rng(3), 4_000) @ table
    np.testing.assert_allclose(by_kind.mean(axis=0), one_by_one.mean(axis=0), rtol=0.01)
    np.testing.assert_allclose(np.cov(by_kind.T), np.cov(one_by_one.T), rtol=0.15, atol=20)


def test_no_cluster_gives_no_totals():
    assert Kinds.of(np.empty((0, 2))).totals(np.random.default_rng(0), 5).shape == (5, 2)
