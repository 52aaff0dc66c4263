"""How many items a bound would need."""

from __future__ import annotations

import math

from hypothesis import assume, given
from hypothesis import strategies as st

from askew.records import Estimate
from askew.stats.difference import difference_of
from askew.stats.intervals import wilson
from askew.stats.size_for_bound import size_for_bound


@given(st.integers(0, 200), st.integers(1, 200), st.floats(0.01, 0.99), st.booleans())
def test_so_many_items_bring_the_end_of_wilsons_interval_to_the_bound(hits, n, bound, up):
    assume(hits <= n)
    share, ends = hits / n, wilson(hits, n)
    end = ends[1] if up else ends[0]
    assume(0 < end < 1)
    assume(abs(bound - share) > 0.01)
    needed = size_for_bound(share, end, bound, n, score=True)
    if (bound > share) is not up:
        assert needed is None  # more items would show it the more clearly
        return
    assert needed is not None
    new = wilson(share * needed, needed)[1 if up else 0]
    assert new <= bound + 1e-9 if up else new >= bound - 1e-9
    if needed > n:  # and hardly fewer would
        fewer = wilson(share * (needed - 1), needed - 1)[1 if up else 0]
        assert fewer >= bound - 1e-9 if up else fewer <= bound + 1e-9


@given(st.floats(-1, 1), st.floats(0.001, 1), st.floats(0.001, 1), st.integers(1, 1000))
def test_another_interval_shrinks_with_the_root_of_the_number(value, half, distance, n):
    needed = size_for_bound(value, value + half, value + distance, n, score=False)
    assert needed is not None
    assert half * math.sqrt(n / needed) <= distance * (1 + 1e-9)
    assert needed >= n


def test_what_cannot_be_told_is_none():
    nan = math.nan
    assert size_for_bound(nan, 0.2, 0.1, 9, score=True) is None
    assert size_for_bound(0.1, nan, 0.2, 9, score=True) is None
    assert size_for_bound(0.1, 0.2, 0.15, 0, score=True) is None
    assert size_for_bound(0.1, 0.2, 0.1, 9, score=True) is None  # at the value itself


shares = st.tuples(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1)).map(sorted)


@given(shares, shares)
def test_the_difference_turned_round_is_the_difference_the_other_way(one, other):
    first, second = (
        Estimate(value, lower, upper, 10, 1.0, "wilson") for lower, value, upper in (one, other)
    )
    there, back = difference_of(first, second), difference_of(second, first)
    assert math.isclose(there.lower, -back.upper, abs_tol=1e-12)
    assert math.isclose(there.value, -back.value, abs_tol=1e-12)
    assert there.lower <= there.value <= there.upper
    assert there.upper - there.lower >= (first.upper - first.lower) * (1 - 1e-9)
