"""Rates corrected for a judge's errors, and means that count clusters."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askew.records import Estimate
from askew.stats.cluster_mean import cluster_mean
from askew.stats.intervals import Clusters, wilson
from askew.stats.judge_error import corrected_rate
from askew.stats.vignette_mean import t_interval

SHARE = st.floats(0, 1)


def called(share: float, trials: int = 100) -> Estimate:
    return Estimate(share, *wilson(share * trials, trials), trials, 1.0, "wilson")


@settings(deadline=None)
@given(SHARE, st.floats(0.6, 1), st.floats(0.6, 1))
def test_the_rate_that_a_judge_would_call_is_turned_back(true, sensitivity, specificity):
    seen = true * sensitivity + (1 - true) * (1 - specificity)
    rate = corrected_rate(called(seen), 100, sensitivity, 50, specificity, 50)
    assert rate.value == pytest.approx(true, abs=1e-9)
    assert 0 <= rate.lower <= rate.value <= rate.upper <= 1


@settings(deadline=None)
@given(SHARE, SHARE, SHARE)
def test_a_judge_no_better_than_chance_gives_no_rate(share, sensitivity, specificity):
    rate = corrected_rate(called(share), 100, sensitivity, 50, specificity, 50)
    assert rate.defined == (sensitivity + specificity > 1)
    assert bool(rate.note) == (not rate.defined) or rate.note.startswith("truncated")


def test_what_lies_beyond_0_is_put_to_the_edge_and_said():
    rate = corrected_rate(called(0.02), 100, 0.9, 50, 0.9, 50)
    assert (rate.value, rate.lower) == (0, 0)
    assert rate.note == "truncated from -0.100"


def test_not_knowing_the_judge_widens_the_interval():
    sure, unsure = (
        corrected_rate(called(0.3), 100, 0.8, trials, 0.9, trials) for trials in (10_000, 20)
    )
    assert unsure.upper - unsure.lower > 1.5 * (sure.upper - sure.lower)


def test_a_perfect_judge_that_is_known_for_sure_changes_nothing():
    # Lang and Reiczigel add z² to the trials, so that it is Agresti and Coull's interval.
    rate = corrected_rate(called(0.3), 100, 1.0, 1e9, 1.0, 1e9)
    assert rate.value == pytest.approx(0.3)
    centre, trials = (30 + 1.96**2 / 2) / (100 + 1.96**2), 100 + 1.96**2
    half = 1.96 * math.sqrt(centre * (1 - centre) / trials)
    assert (rate.lower, rate.upper) == pytest.approx((centre - half, centre + half), abs=1e-3)


def test_what_was_not_measured_is_undefined():
    rate = corrected_rate(called(0.3), 100, math.nan, 0, 0.9, 50)
    assert not rate.defined
    assert "not measured" in rate.note


@pytest.mark.parametrize(
    ("true", "sensitivity", "specificity"), [(0.0, 0.9, 0.9), (0.1, 0.8, 0.95), (0.5, 0.7, 0.8)]
)
def test_the_interval_covers_at_its_level(true, sensitivity, specificity):
    rng = np.random.default_rng(1)
    seen = true * sensitivity + (1 - true) * (1 - specificity)
    studies, trials, controls = 1500, 80, 40
    covered = 0
    for _ in range(studies):
        rate = corrected_rate(
            called(rng.binomial(trials, seen) / trials, trials),
            trials,
            rng.binomial(controls, sensitivity) / controls,
            controls,
            rng.binomial(controls, specificity) / controls,
            controls,
        )
        covered += rate.lower - 1e-12 <= true <= rate.upper + 1e-12
    assert covered / studies > 0.94


@settings(deadline=None)
@given(st.lists(st.floats(-1, 1), min_size=2, max_size=30))
def test_one_unit_a_vignette_makes_the_ordinary_t_interval(values):
    found = cluster_mean(
        np.array(values), Clusters.of([f"{n:03}" for n in range(len(values))]), asked=len(values)
    )
    assert (found.lower, found.upper) == pytest.approx(t_interval(np.array(values)), abs=1e-9)


def test_asking_the_same_again_makes_no_mean_surer():
    values = np.array([0.1, 0.4, 0.7, 0.3])
    once = cluster_mean(values, Clusters.of(list("abcd")), asked=4)
    thrice = cluster_mean(np.tile(values, 3), Clusters.of(list("abcd") * 3), asked=12)
    assert (thrice.value, thrice.lower, thrice.upper) == pytest.approx(
        (once.value, once.lower, once.upper)
    )


def test_one_vignette_has_no_interval():
    alone = cluster_mean(np.array([0.2, 0.4]), Clusters.of(["a", "a"]), asked=2)
    assert alone.value == pytest.approx(0.3)
    assert math.isnan(alone.lower)
    assert "one vignette" in alone.note
