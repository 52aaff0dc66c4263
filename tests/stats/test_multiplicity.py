"""Corrections for how many tests were run, and the verdicts that follow."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from askew.seeds import generator
from askew.stats.counterfactual import signed_effect
from askew.stats.multiplicity import adjust, benjamini_hochberg

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=12)


def effect_of(shift, seed=1, vignettes=20):
    rng = generator(seed, "adjust")
    base, changed = rng.normal(size=(2, vignettes, 5))
    ids = [f"case-{number}" for number in range(vignettes)]
    return signed_effect(list(base), list(changed + shift), ids, 0.3, rng)


def nothing():
    return signed_effect([np.array([])], [np.array([])], ["case"], 0.3, generator(1))


@given(P_VALUES)
def test_benjamini_and_hochbergs_correction_is_statsmodels(p_values):
    expected = multipletests(p_values, method="fdr_bh")[1]
    np.testing.assert_allclose(benjamini_hochberg(p_values), expected)


def test_undefined_tests_do_not_count():
    assert benjamini_hochberg([math.nan, 0.02]) == [pytest.approx(math.nan, nan_ok=True), 0.02]
    assert benjamini_hochberg([]) == []


def test_declared_endpoints_are_held_by_holm_and_the_others_by_benjamini_and_hochberg():
    effects = {name: effect_of(0.25, seed) for seed, name in enumerate("abcdef")}
    adjusted = adjust(effects, ["b", "d"])
    assert list(adjusted) == list("abcdef")
    for keys, method, family in (("bd", "holm", "declared"), ("acef", "fdr_bh", "exploratory")):
        expected = multipletests([effects[key].p_value for key in keys], method=method)[1]
        np.testing.assert_allclose([adjusted[key].p_adjusted for key in keys], expected)
        for key in keys:
            assert (adjusted[key].family, adjusted[key].tests) == (family, len(keys))
            counted = f"{len(keys)} tests"
            assert counted in adjusted[key].reason


def test_a_difference_that_many_tests_explain_is_withdrawn():
    # By chance, one of many endpoints without an effect is significant.
    effects = {number: effect_of(0.0, number) for number in range(40)}
    assert any(effect.verdict == "difference" for effect in effects.values())
    adjusted = adjust(effects, list(effects))
    assert all(effect.verdict != "difference" for effect in adjusted.values())


def test_an_endpoint_without_values_stays_undefined_and_is_no_test():
    adjusted = adjust({"a": effect_of(2.0), "b": nothing()}, ["a", "b"])
    assert adjusted["a"].p_adjusted == adjusted["a"].p_value
    assert adjusted["a"].tests == 1
    assert math.isnan(adjusted["b"].p_adjusted)
    assert adjusted["b"].verdict == "cannot tell"


def test_the_reason_says_when_so_few_vignettes_can_pass_no_correction():
    effects = {number: effect_of(0.2, number, vignettes=7) for number in range(4)}
    found = [e for e in adjust(effects, list(effects)).values() if e.verdict == "cannot tell"]
    assert found
    assert all("can give no p below 0.016" in effect.reason for effect in found)


def test_a_declared_endpoint_that_was_not_measured_is_an_error():
    with pytest.raises(
        ValueError, match=r"declared but not measured: urgncy\. Measured are urgency"
    ):
        adjust({"urgency": nothing()}, ["urgncy"])


def test_nothing_to_adjust_is_nothing():
    assert adjust({}, []) == {}
