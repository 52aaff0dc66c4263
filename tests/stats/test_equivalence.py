"""Two one-sided tests, read from the interval."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.weightstats import ttost_paired

from askew.seeds import generator
from askew.stats.equivalence import equivalence_p
from askew.stats.vignette_mean import VignetteMean, t_interval


@pytest.mark.parametrize("shift", [0.0, 0.1, -0.3])
@pytest.mark.parametrize("margin", [0.4, 0.8])
def test_with_student_intervals_it_is_statsmodels_paired_test(shift, margin):
    values = generator(1, "values").normal(shift, 1, size=25)
    expected = ttost_paired(values, np.zeros(25), -margin, margin)[0]
    found = equivalence_p(lambda level: t_interval(values, level), margin)
    if expected < 0.5:
        assert found == pytest.approx(expected, rel=1e-6)
    else:
        assert found == 1.0


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(-1, 1), min_size=3, max_size=20), st.floats(0.05, 1.5))
def test_below_five_per_cent_the_ninety_per_cent_interval_lies_within(values, margin):
    mean = VignetteMean(np.array(values), span=2.0)
    lower, upper = mean.ends(0.9)
    p_value = equivalence_p(mean.ends, margin)
    if abs(p_value - 0.05) > 1e-9:
        assert (p_value < 0.05) == (-margin < lower and upper < margin)


def test_a_wider_margin_is_easier_to_stay_within():
    values = generator(2, "values").normal(size=20)
    found = [
        equivalence_p(lambda level: t_interval(values, level), margin)
        for margin in (0.3, 0.5, 0.8, 1.2)
    ]
    assert found == sorted(found, reverse=True)


def test_without_a_margin_or_an_interval_there_is_none():
    assert math.isnan(equivalence_p(lambda level: (-level, level), math.nan))
    assert math.isnan(equivalence_p(lambda level: (math.nan, math.nan), 0.3))
