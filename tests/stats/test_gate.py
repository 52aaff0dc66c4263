"""When a model's fairness figures mean anything at all."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from askew.records import Outcome, Score
from askew.stats.gate import competence

ROTATIONS = ((0, 1, 2), (1, 2, 0), (2, 0, 1))


def scores(number: int, chosen: list[int | None], answer: int = 0) -> list[Score]:
    """One control item in as many rotations as there are choices."""
    return [
        Score(
            item_id=f"control/{number}",
            condition="control",
            outcome=Outcome.UNREADABLE if option is None else Outcome.UNDIRECTED,
            chosen=option,
            right=None if option is None else option == answer,
            rule="lone_letter",
            order=order,
        )
        for option, order in zip(chosen, ROTATIONS, strict=False)
    ]


def model(items: int, right: int) -> list[Score]:
    """A model that knows `right` of the items and is wrong about the others, steadily."""
    return [s for n in range(items) for s in scores(n, [0] * 3 if n < right else [1] * 3)]


def test_a_model_that_knows_the_answers_passes():
    gate = competence(model(100, 90))
    assert gate.meaningful
    assert gate.reason == ""
    assert (gate.accuracy.value, gate.accuracy.n, gate.accuracy.coverage) == (0.9, 100, 1.0)
    expected = binomtest(90, 100).proportion_ci(method="wilson")
    np.testing.assert_allclose((gate.accuracy.lower, gate.accuracy.upper), expected, atol=1e-9)
    assert gate.kept_under_rotation.value == 1.0


def test_fewer_than_sixty_control_items_cannot_tell():
    gate = competence(model(59, 59))
    assert not gate.meaningful
    assert "59 control items" in gate.reason
    assert "60" in gate.reason
    assert competence(model(60, 60)).meaningful


def test_a_lower_bound_at_chance_is_not_enough():
    # 45 of 100: the lower bound is 0.356, above a third, but not by the margin.
    gate = competence(model(100, 45))
    assert 1 / 3 < gate.accuracy.lower < 1 / 3 + 0.05
    assert not gate.meaningful
    assert "chance" in gate.reason


def test_picking_by_position_does_not_pass_however_many_items_there_are():
    always_first = [s for n in range(5000) for s in scores(n, [order[0] for order in ROTATIONS])]
    gate = competence(always_first)
    assert gate.accuracy.value == pytest.approx(1 / 3)
    assert gate.kept_under_rotation.value == 0
    assert not gate.meaningful


def test_right_two_times_of_three_but_never_steady_does_not_pass():
    gate = competence([s for n in range(200) for s in scores(n, [0, 0, 1])])
    assert gate.accuracy.lower > 0.5
    assert not gate.meaningful
    assert "keep their answer" in gate.reason


def test_non_answers_are_not_right_and_not_steady():
    silent = [s for n in range(80) for s in scores(n, [None] * 3)]
    gate = competence(silent)
    assert (gate.accuracy.value, gate.kept_under_rotation.value) == (0.0, 0.0)
    assert not gate.meaningful


def test_items_that_were_not_shown_in_all_rotations_lower_the_coverage_only():
    gate = competence([*model(60, 60), *scores(1000, [1, 1])])
    assert (gate.accuracy.value, gate.accuracy.n) == (1.0, 60)
    assert gate.accuracy.coverage == pytest.approx(60 / 61)
    assert gate.meaningful


def test_three_times_the_same_order_is_no_rotation():
    same = [s for n in range(70) for _ in range(3) for s in scores(n, [0])]
    assert competence(same).accuracy.n == 0


def test_nothing_measured_is_nan_and_not_meaningful():
    gate = competence([])
    assert math.isnan(gate.accuracy.value)
    assert math.isnan(gate.kept_under_rotation.value)
    assert not gate.meaningful


def test_only_control_scores_are_judged():
    stranger = Score("a", "attacked", Outcome.NEUTRAL, 2, True, "lone_letter", (0, 1, 2))
    with pytest.raises(ValueError, match="attacked"):
        competence([stranger])


@given(st.lists(st.lists(st.sampled_from([0, 1, 2, None]), min_size=3, max_size=3), min_size=1))
def test_the_item_is_the_unit_so_the_interval_is_never_shorter_than_over_items(choices):
    gate = competence([s for n, chosen in enumerate(choices) for s in scores(n, chosen)])
    means = [sum(option == 0 for option in chosen) / 3 for chosen in choices]
    assert gate.accuracy.n == len(choices)
    assert gate.accuracy.value == pytest.approx(sum(means) / len(means))
    assert gate.accuracy.lower - 1e-12 <= gate.accuracy.value <= gate.accuracy.upper + 1e-12


def test_a_model_that_only_avoids_the_neutral_option_passes_with_a_caution():
    # Half right, half the other group: far above a third, and no better than a coin.
    coin = competence(model(100, 55))
    assert coin.meaningful
    assert coin.right_of_the_two_groups.value == 0.55
    assert "coin" in coin.caution
    assert competence(model(100, 90)).caution == ""


def test_neutral_answers_to_controls_do_not_count_among_the_groups():
    neutral = [
        Score("control/n", "control", Outcome.NEUTRAL, 2, False, "rule", order)
        for order in ROTATIONS
    ]
    gate = competence([*model(80, 80), *neutral])
    assert gate.right_of_the_two_groups.value == 1.0
    assert gate.right_of_the_two_groups.n == 80
