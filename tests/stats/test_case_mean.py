"""The mean of the cases' means."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askew.stats.case_mean import case_mean

SHARES = st.lists(st.tuples(st.sampled_from("abcdef"), st.floats(0, 1)), min_size=1)


@given(SHARES)
def test_the_value_lies_in_its_interval_and_both_in_the_range(answers):
    cases, values = zip(*answers, strict=True)
    found = case_mean(values, cases, least=0.0, most=1.0)
    assert 0 <= found.value <= 1
    assert math.isnan(found.lower) or 0 <= found.lower <= found.value <= found.upper <= 1
    assert found.n == len(set(cases))


@given(SHARES)
def test_answering_a_case_twice_alike_changes_nothing(answers):
    cases, values = zip(*answers, strict=True)
    once, twice = case_mean(values, cases), case_mean([*values, *values], [*cases, *cases])
    assert twice.value == pytest.approx(once.value)
    assert twice.n == once.n


def test_what_is_undefined_lowers_the_coverage_alone():
    found = case_mean([1.0, math.nan, 0.5], ["a", "a", "b"])
    assert (found.value, found.n, found.coverage) == (0.75, 2, pytest.approx(2 / 3))


def test_cases_that_are_all_alike_give_no_interval():
    found = case_mean([0.5, 0.5], ["a", "b"])
    assert (found.value, found.note) == (0.5, "all cases have the same value")
    assert math.isnan(found.lower)
