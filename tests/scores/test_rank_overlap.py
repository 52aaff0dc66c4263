"""Extrapolated rank-biased overlap, held to hand-worked values, its laws and a second form."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askew.scores.rank_overlap import rank_biased_overlap, rank_biased_overlaps

ranked = st.lists(st.sampled_from("abcdefghijkl"), unique=True, max_size=10)
persistence = st.floats(0.05, 0.95)


@pytest.mark.parametrize(
    ("one", "other", "p", "worked"),
    [
        # Agreement 0/1, 2/2: (1-p)/p · (0 + p²) + p² = .1·.9 + .81.
        ("ab", "ba", 0.9, 0.9),
        # 1/1, 1/2, 3/3: .1/.9 · (.9 + .405 + .729) + .729.
        ("abc", "acb", 0.9, 0.955),
        # 1/1, 1/2: (1 - .5)/.5 · (.5 + .125) + .125.
        ("ax", "ay", 0.5, 0.75),
        # Uneven: s = 1, l = 2, X = 1, 1: (.5 + .5·.25) + 1·1/2·.25 + (0 + 1)·.25 = 1.
        ("a", "ab", 0.5, 1.0),
        # Uneven, the shorter found late: X = 0, 1: .5·.25 + 0 + (1/2 + 0)·.25.
        ("b", "ab", 0.5, 0.25),
    ],
)
def test_it_is_what_the_equation_gives_by_hand(one, other, p, worked):
    assert rank_biased_overlap(one, other, p) == pytest.approx(worked, abs=1e-12)


@given(ranked, persistence)
def test_a_list_overlaps_with_itself_entirely(items, p):
    assert rank_biased_overlap(items, items, p) == pytest.approx(1.0, abs=1e-12)


@given(ranked.filter(bool), persistence)
def test_disjoint_lists_do_not_overlap(items, p):
    assert rank_biased_overlap(items, [item.upper() for item in items], p) == 0.0


@given(ranked, ranked, persistence)
def test_it_is_symmetric_and_lies_between_none_and_all(one, other, p):
    overlap = rank_biased_overlap(one, other, p)
    assert 0.0 <= overlap <= 1.0
    assert overlap == pytest.approx(rank_biased_overlap(other, one, p), abs=1e-12)


@given(st.integers(2, 8), persistence)
def test_a_swap_further_down_costs_less(length, p):
    items = list("abcdefgh"[:length])
    swapped = [
        [*items[:at], items[at + 1], items[at], *items[at + 2 :]] for at in range(length - 1)
    ]
    overlaps = [rank_biased_overlap(items, other, p) for other in swapped]
    assert all(above < below for above, below in pairwise(overlaps))


def test_a_repeated_item_counts_where_it_stands_first():
    assert rank_biased_overlap("abab", "ab") == rank_biased_overlap("ab", "ab")
    assert rank_biased_overlap("aab", "ab") == rank_biased_overlap("ab", "ab")


def test_two_empty_lists_agree_and_one_shares_nothing():
    assert rank_biased_overlap([], []) == 1.0
    assert rank_biased_overlap([], ["a"]) == rank_biased_overlap(["a"], []) == 0.0


@given(st.lists(ranked, max_size=7), persistence)
def test_all_pairs_at_once_are_the_pairs_one_by_one(lists, p):
    one_by_one = [[rank_biased_overlap(one, other, p) for other in lists] for one in lists]
    found = rank_biased_overlaps(lists, p)
    assert found.shape == (len(lists), len(lists))
    np.testing.assert_allclose(found, np.array(one_by_one).reshape(found.shape), atol=1e-12)


@pytest.mark.parametrize("p", [0.0, 1.0, -0.1, 1.5, float("nan")])
def test_a_persistence_outside_its_range_is_an_error(p):
    with pytest.raises(ValueError, match="between 0 and 1"):
        rank_biased_overlap("ab", "ba", p)
    with pytest.raises(ValueError, match="between 0 and 1"):
        rank_biased_overlaps(["ab", "ba"], p)


def test_it_is_the_rbo_package():
    rbo = pytest.importorskip("rbo", reason="only to cross-check: pip install rbo")
    rng = np.random.default_rng(0)
    lists = [list(rng.permutation(list("abcdefghijkl"))[: rng.integers(1, 11)]) for _ in range(40)]
    theirs = [[rbo.RankingSimilarity(a, b).rbo_ext(0.9) for b in lists] for a in lists]
    np.testing.assert_allclose(rank_biased_overlaps(lists), theirs, atol=1e-12)
