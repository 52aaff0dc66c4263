"""The excess of distances between arms, and the permutation of labels within vignettes."""

from __future__ import annotations

import math
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askew.seeds import generator
from askew.stats.label_permutation import Distances, all_deals, permute_labels


def distances_of(answers, base, name="case"):
    """The distances |a − b| among answers, those of the base arm first."""
    values = np.array(answers, float)
    matrix = np.abs(values[:, None] - values[None, :])
    return Distances.of(matrix, (base, len(values) - base), name)


def excess_by_hand(answers, base):
    """Mean between − mean within, as the words say, pair by pair."""
    first, second = answers[:base], answers[base:]
    across = np.mean([abs(a - b) for a, b in product(first, second)])
    within = [
        np.mean([abs(a - b) for a, b in combinations(arm, 2)])
        for arm in (first, second)
        if len(arm) > 1
    ]
    return across - np.mean(within)


ANSWERS = st.lists(st.integers(0, 3), min_size=3, max_size=8)


@settings(max_examples=60, deadline=None)
@given(ANSWERS, st.data())
def test_the_excess_is_between_less_within(answers, data):
    base = data.draw(st.integers(1, len(answers) - 1))
    found = distances_of(answers, base).observed()
    assert found == pytest.approx(excess_by_hand(answers, base))


@settings(max_examples=40, deadline=None)
@given(ANSWERS, st.data())
def test_over_all_ways_to_deal_the_labels_the_excess_is_0_on_average(answers, data):
    base = data.draw(st.integers(1, len(answers) - 1))
    distances = distances_of(answers, base)
    dealt = distances.excess(all_deals(len(answers), base))
    assert float(dealt.mean()) == pytest.approx(0.0, abs=1e-12)


def test_few_deals_are_all_counted():
    first, second = [0, 1, 0, 3, 3], [2, 2, 0, 1]
    sums = [
        excess_by_hand([first[i] for i in [*a, *sorted({*range(5)} - {*a})]], 2)
        + excess_by_hand([second[i] for i in [*b, *sorted({*range(4)} - {*b})]], 2)
        for a in combinations(range(5), 2)
        for b in combinations(range(4), 2)
    ]
    observed = excess_by_hand(first, 2) + excess_by_hand(second, 2)
    test = permute_labels([distances_of(first, 2), distances_of(second, 2)], generator(1, "test"))
    assert test.exact
    assert test.p_value == pytest.approx(np.mean(np.array(sums) >= observed - 1e-12))


def test_drawn_deals_come_to_the_exact_p_value():
    answers = [[0, 1, 0, 3, 3, 1], [2, 2, 0, 1, 3, 3]]
    vignettes = [distances_of(row, 3) for row in answers]
    exact = permute_labels(vignettes, generator(1, "test"))
    drawn = permute_labels(vignettes, generator(1, "test"), draws=399)
    assert exact.exact
    assert not drawn.exact
    assert drawn.p_value == pytest.approx(exact.p_value, abs=4 * math.sqrt(0.25 / 399))


def test_many_answers_a_vignette_are_dealt_afresh():
    rng = generator(2, "answers")
    same = [distances_of(rng.normal(size=40), 20) for _ in range(5)]
    moved = [
        distances_of(np.concatenate([rng.normal(size=20), rng.normal(2, 1, size=20)]), 20)
        for _ in range(5)
    ]
    assert permute_labels(same, rng, draws=499).p_value > 0.05
    assert permute_labels(moved, rng, draws=499).p_value == 1 / 500


def test_false_alarms_are_as_rare_as_said():
    rng = generator(3, "alarms")
    alarms = []
    for _ in range(400):
        vignettes = [distances_of(rng.integers(0, 3, size=6), 3) for _ in range(6)]
        alarms.append(permute_labels(vignettes, rng, draws=199).p_value <= 0.05)
    assert np.mean(alarms) < 0.05 + 3 * math.sqrt(0.05 * 0.95 / 400)


def test_answers_in_which_nothing_differs_are_no_evidence():
    still = [distances_of([1] * 6, 3) for _ in range(4)]
    assert permute_labels(still, generator(1, "test")).p_value == 1.0


def test_an_answer_without_distances_is_left_out():
    whole = distances_of([0, 1, 2, 3, 1], 2)
    matrix = np.full((6, 6), math.nan)
    kept = [0, 1, 3, 4, 5]  # the third answer, the last of a base arm of three, has no value
    matrix[np.ix_(kept, kept)] = whole.matrix
    found = Distances.of(matrix, (3, 3), "case")
    assert (found.base, found.changed) == (2, 3)
    assert found.observed() == pytest.approx(whole.observed())


def test_one_answer_an_arm_is_not_usable_and_one_in_one_arm_is():
    assert not distances_of([0, 1], 1).usable
    assert distances_of([0, 1, 2], 1).usable
    assert not distances_of([0, 1, 2], 0).usable
    assert math.isnan(distances_of([0, 1], 1).within)


@pytest.mark.parametrize(
    ("matrix", "sizes", "fault"),
    [
        (np.zeros((4, 4)), (2, 3), "shape"),
        (np.array([[0.0, 1.0], [2.0, 0.0]]), (1, 1), "symmetric"),
        (np.array([[0.0, -1.0], [-1.0, 0.0]]), (1, 1), "negative"),
        (np.array([[0.0, math.inf], [math.inf, 0.0]]), (1, 1), "infinite"),
    ],
)
def test_it_refuses_what_is_no_matrix_of_distances(matrix, sizes, fault):
    with pytest.raises(ValueError, match=f"'case-7'.*{fault}"):
        Distances.of(matrix, sizes, "case-7")
