"""Agreement, held to the packages that define it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askew.stats.agreement import (
    _alpha,
    _coincidences,
    alpha_estimate,
    kappa_estimate,
    krippendorff_alpha,
    weighted_kappa,
)
from askew.stats.intervals import Clusters

pytest.importorskip("krippendorff", reason="askew[clinical] is not installed")

RATINGS = st.lists(
    st.lists(st.sampled_from([0.0, 1.0, 2.0, 5.0, math.nan]), min_size=3, max_size=3),
    min_size=2,
    max_size=12,
)


@pytest.mark.parametrize("scale", ["nominal", "ordinal", "interval"])
@settings(deadline=None)
@given(rows=RATINGS)
def test_the_bootstraps_alpha_is_the_packages(scale, rows):
    ratings = np.array(rows).T
    theirs = krippendorff_alpha(ratings, scale)
    coincidences, marks = _coincidences(ratings)
    ours = _alpha(coincidences.sum(axis=0), marks, scale)
    np.testing.assert_allclose(ours, theirs, atol=1e-9)


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1),
    st.sampled_from(["none", "quadratic"]),
)
def test_swapping_the_raters_changes_no_kappa(pairs, weights):
    one, other = np.array(pairs, dtype=np.int64).T
    there, back = (weighted_kappa(*both, 4, weights) for both in ((one, other), (other, one)))
    np.testing.assert_allclose(there, back, atol=1e-12)


def test_kappa_is_that_of_a_published_table():
    # Fleiss, Levin and Paik (2003), Table 18.3: unweighted kappa 0.676.
    table = np.array([[75, 1, 4], [5, 4, 1], [0, 0, 10]])
    one, other = np.repeat(np.argwhere(table >= 0), table.ravel(), axis=0).T
    assert round(weighted_kappa(one, other, 3, "none"), 3) == 0.676


def test_a_far_disagreement_weighs_more_than_a_near_one():
    people = np.array([0, 0, 1, 1, 2, 2])
    near, far = np.array([0, 1, 1, 1, 2, 2]), np.array([0, 2, 1, 1, 2, 2])
    assert weighted_kappa(people, near, 3) > weighted_kappa(people, far, 3)


def test_what_never_varies_has_no_agreement():
    ratings = np.ones((3, 5))
    clusters = Clusters.of(list("abcde"))
    alpha = alpha_estimate(ratings, "ordinal", clusters, 0)
    assert math.isnan(alpha.value)
    assert alpha.note == "all ratings are one value"
    alone = alpha_estimate(np.array([[0.0, 1.0, 2.0, 0.0, 1.0]]), "ordinal", clusters, 0)
    assert (alone.note, alone.n) == ("no unit has two ratings", 0)
    same = np.zeros(5, dtype=np.int64)
    assert math.isnan(kappa_estimate(same, same, 3, clusters, 0).value)


def test_units_of_one_vignette_widen_the_interval():
    rng = np.random.default_rng(0)
    truth = np.repeat(rng.integers(0, 3, 15), 6)
    other = np.where(np.repeat(rng.random(15) < 0.4, 6), (truth + 1) % 3, truth)
    ratings = np.stack([truth, other]).astype(float)
    each = alpha_estimate(ratings, "nominal", Clusters.of([str(n) for n in range(90)]), 0)
    grouped = alpha_estimate(
        ratings, "nominal", Clusters.of([f"{n // 6:02}" for n in range(90)]), 0
    )
    assert grouped.value == each.value
    assert grouped.upper - grouped.lower > 1.5 * (each.upper - each.lower)


def test_other_units_are_refused():
    with pytest.raises(ValueError, match="the same units"):
        weighted_kappa(np.zeros(2, int), np.zeros(3, int), 2)
