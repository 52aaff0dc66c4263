"""Effects of a counterfactual change: laws, edges, verdicts."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import permutation_test, ttest_1samp
from statsmodels.stats.contingency_tables import mcnemar

from askew.seeds import generator
from askew.stats.counterfactual import distance_effect, interaction, signed_effect

STUDIES = st.lists(
    st.tuples(
        st.lists(st.integers(0, 3), min_size=1, max_size=4),
        st.lists(st.integers(0, 3), min_size=1, max_size=4),
    ),
    min_size=1,
    max_size=14,
)


def names(count):
    return [f"case-{number}" for number in range(count)]


def signed(base, changed, margin=0.3, **options):
    arms = [[np.array(row, float) for row in arm] for arm in (base, changed)]
    return signed_effect(*arms, names(len(base)), margin, generator(1, "test"), **options)


def study(shift=0.0, vignettes=20, seed=1, repeats=5):
    """Normal answers about vignettes that differ much; `shift` moves the changed arm."""
    rng = generator(seed, "study")
    centre = rng.normal(0, 2, size=(vignettes, 1))
    base, changed = centre + rng.normal(size=(2, vignettes, repeats))
    return base, changed + shift


def diagnoses(rows, sizes=(5, 5), margin=0.1, **options):
    """The effect on "the top diagnosis differs" of answers by number."""
    matrices = [(np.array(row)[:, None] != np.array(row)[None, :]).astype(float) for row in rows]
    return distance_effect(
        matrices, [sizes] * len(rows), names(len(rows)), margin, generator(1, "test"), **options
    )


# Signed effects


def test_without_ties_the_test_is_scipys_on_vignette_means():
    base, changed = study(0.5, vignettes=10)
    means = changed.mean(axis=1) - base.mean(axis=1)
    expected = permutation_test(
        (means,), np.mean, permutation_type="samples", n_resamples=np.inf
    ).pvalue
    assert signed(base, changed).p_value == pytest.approx(expected)


def test_the_interval_is_students_on_vignette_means():
    base, changed = study(0.5)
    means = changed.mean(axis=1) - base.mean(axis=1)
    expected = ttest_1samp(means, 0).confidence_interval(0.95)
    estimate = signed(base, changed).estimate
    assert (estimate.lower, estimate.upper) == pytest.approx(tuple(expected))
    assert estimate.value == pytest.approx(means.mean())
    assert estimate.n == 20


def test_the_effect_size_is_d_z():
    base, changed = study(0.5)
    means = changed.mean(axis=1) - base.mean(axis=1)
    assert signed(base, changed).effect_size == pytest.approx(means.mean() / means.std(ddof=1))


@settings(max_examples=60, deadline=None)
@given(STUDIES)
def test_the_interval_never_claims_more_than_the_test_and_is_no_point(rows):
    base, changed = zip(*rows, strict=True)
    effect = signed(base, changed, span=3)
    estimate = effect.estimate
    if len(rows) == 1:
        assert math.isnan(estimate.lower)
        return
    assert estimate.lower < estimate.upper
    assert -3 <= estimate.lower <= estimate.value <= estimate.upper <= 3
    if effect.p_value >= 0.05:
        assert estimate.lower <= 0 <= estimate.upper


@settings(max_examples=40, deadline=None)
@given(STUDIES)
def test_swapping_the_arms_turns_the_sign_and_nothing_else(rows):
    base, changed = zip(*rows, strict=True)
    there, back = signed(base, changed, span=3), signed(changed, base, span=3)
    assert there.estimate.value == pytest.approx(-back.estimate.value)
    assert there.p_value == pytest.approx(back.p_value)
    assert there.equivalence_p == pytest.approx(back.equivalence_p, nan_ok=True)
    if len(rows) > 1:
        assert there.estimate.lower == pytest.approx(-back.estimate.upper)


@settings(max_examples=30, deadline=None)
@given(STUDIES, st.randoms(use_true_random=False))
def test_the_order_of_the_vignettes_does_not_matter(rows, shuffler):
    shuffled = list(rows)
    shuffler.shuffle(shuffled)
    first = signed(*zip(*rows, strict=True), span=3)
    second = signed(*zip(*shuffled, strict=True), span=3)
    assert first.p_value == pytest.approx(second.p_value)
    assert first.estimate.lower == pytest.approx(second.estimate.lower, nan_ok=True)


def test_asking_the_same_again_makes_no_new_patients():
    base, changed = study(0.3)
    once = signed(base, changed)
    thrice = signed(np.tile(base, 3), np.tile(changed, 3))
    assert thrice.p_value == once.p_value
    assert thrice.estimate.lower == pytest.approx(once.estimate.lower)
    assert thrice.vignettes == 20


def test_vignettes_may_have_any_number_of_answers_and_lack_values():
    base = [[1, 2, math.nan], [2], [math.nan], [3, 3], []]
    changed = [[2], [2, 2, 3], [1, 1], [math.nan, 2], [1]]
    effect = signed(base, changed)
    assert effect.per_vignette == (
        ("case-0", 0.5),
        ("case-1", pytest.approx(1 / 3)),
        ("case-3", -1.0),
    )
    assert (effect.vignettes, effect.left_out, effect.estimate.coverage) == (3, 2, 0.6)


def test_a_binary_endpoint_gives_a_risk_difference_and_an_odds_ratio():
    base = [[1, 1, 0, 1, 1]] * 10 + [[0, 0, 1, 0, 0]] * 10
    changed = [[1, 0, 0, 1, 0]] * 10 + [[0, 0, 0, 0, 0]] * 10
    effect = signed(base, changed)
    assert effect.estimate.value == pytest.approx(-0.3)
    assert effect.odds_ratio == pytest.approx((0.2 * 0.4) / (0.8 * 0.6 + 0.2))
    assert effect.estimate.method.startswith("newcombe")
    assert effect.floor.value == pytest.approx((0.4 + 0.6 + 0.4 + 0.0) / 4)


def test_one_yes_or_no_an_arm_is_mcnemars_exact_test():
    base = [[1]] * 9 + [[0]] * 2 + [[1]] * 10
    changed = [[0]] * 9 + [[1]] * 2 + [[1]] * 10
    expected = mcnemar([[10, 9], [2, 0]], exact=True).pvalue
    effect = signed(base, changed)
    assert effect.p_value == pytest.approx(expected)
    assert effect.odds_ratio == pytest.approx(2 / 9)
    assert "ask each prompt at least twice" in effect.floor.note


def test_a_scale_on_which_only_0_and_1_were_seen_is_no_binary_endpoint():
    rows = [[0, 1], [1, 1], [0, 0], [1, 0], [0, 1], [0, 0], [1, 1]]
    assert math.isnan(signed(rows, rows[::-1], span=3).odds_ratio)
    assert not math.isnan(signed(rows, rows[::-1]).odds_ratio)


def test_the_floor_is_what_answers_to_one_prompt_differ_by():
    assert signed([[0, 1, 3], [2, 2]], [[1], [2, 3]]).floor.value == pytest.approx(
        (2 + (0 + 1) / 2) / 2
    )


def test_random_slopes_are_no_difference_and_a_shift_is():
    vignettes = 40
    way = np.where(np.arange(vignettes) % 2 == 0, 1.0, -1.0)[:, None]
    base, changed = study(vignettes=vignettes)
    assert signed(base, changed + 2 * way).verdict == "cannot tell"
    assert signed(base, changed + 2).verdict == "difference"


# Edges


def test_one_vignette_has_a_value_and_no_interval():
    effect = signed([[1, 2]], [[3, 3]])
    assert effect.estimate.value == 1.5
    assert math.isnan(effect.estimate.lower)
    assert (effect.p_value, effect.verdict) == (1.0, "cannot tell")
    assert "no effect of any size" in effect.reason


@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_fewer_than_six_vignettes_cannot_tell_a_difference(count):
    effect = signed([[0, 0]] * count, [[3, 2]] * count, span=3)
    assert effect.verdict == "cannot tell"
    assert math.isnan(effect.smallest_visible)
    assert effect.estimate.lower <= 0 < effect.estimate.upper
    assert "no effect of any size" in effect.reason


@pytest.mark.parametrize(
    ("base", "changed"), [([[math.nan]] * 4, [[1.0]] * 4), ([[]] * 3, [[]] * 3), ([], [])]
)
def test_where_nothing_was_answered_all_is_undefined(base, changed):
    effect = signed(base, changed)
    assert not effect.estimate.defined
    assert all(map(math.isnan, (effect.p_value, effect.effect_size, effect.equivalence_p)))
    assert (effect.vignettes, effect.left_out, effect.verdict) == (0, len(base), "cannot tell")
    assert effect.reason


def test_answers_that_never_move_get_the_rule_of_three():
    effect = signed([[2, 2]] * 60, [[2, 2]] * 60, margin=0.3, span=3)
    share = 1 - 0.025 ** (1 / 60)
    assert effect.estimate.upper == pytest.approx(3 * share)
    assert effect.estimate.lower == pytest.approx(-3 * share)
    assert effect.p_value == 1.0
    assert math.isnan(effect.effect_size)
    assert effect.smallest_visible > 0
    assert effect.verdict == "equivalent within the margin"
    few = signed([[2, 2]] * 12, [[2, 2]] * 12, margin=0.3, span=3)
    assert few.verdict == "cannot tell"


def test_answers_that_never_move_on_an_unknown_scale_are_bounded_by_nothing():
    effect = signed([[2, 2]] * 60, [[2, 2]] * 60)
    assert math.isnan(effect.estimate.lower)
    assert math.isnan(effect.equivalence_p)
    assert (effect.verdict, "range is unknown" in effect.estimate.note) == ("cannot tell", True)


def test_answers_that_all_move_alike_are_a_difference_with_an_interval():
    effect = signed([[2, 2]] * 10, [[1, 1]] * 10, span=3)
    assert effect.verdict == "difference"
    assert effect.estimate.lower < -1 < effect.estimate.upper <= 0


def test_ten_thousand_vignettes_take_seconds():
    rng = generator(1, "huge")
    base, changed = rng.integers(0, 4, size=(2, 10_000, 5))
    started = time.process_time()
    effect = signed(base, changed, margin=0.1)
    assert time.process_time() - started < 20
    assert effect.verdict == "equivalent within the margin"


def test_the_same_seed_gives_the_same_effect():
    base, changed = study(0.2, vignettes=30)
    assert repr(signed(base, changed)) == repr(signed(base, changed))


@pytest.mark.parametrize("margin", [0.0, -0.2, math.inf])
def test_a_margin_is_a_distance(margin):
    with pytest.raises(ValueError, match="margin"):
        signed([[1]], [[2]], margin=margin)


def test_arms_of_other_vignettes_are_refused():
    rng = generator(1, "test")
    with pytest.raises(ValueError, match="2 ids for arms of 2 and 1"):
        signed_effect([np.zeros(2)] * 2, [np.zeros(2)], ["a", "b"], 0.3, rng)
    with pytest.raises(ValueError, match="come twice: a"):
        signed_effect([np.zeros(2)] * 2, [np.zeros(2)] * 2, ["a", "a"], 0.3, rng)
    with pytest.raises(ValueError, match="infinite"):
        signed_effect([np.array([math.inf])], [np.zeros(2)], ["a"], 0.3, rng)


# Verdicts


def test_the_verdicts_and_their_reasons():
    base, changed = study(vignettes=60)
    moved = signed(base, changed + 1.5, margin=0.5)
    assert moved.verdict == "difference"
    assert "larger than the margin of 0.5" in moved.reason
    same = signed(base, changed, margin=0.6)
    assert same.verdict == "equivalent within the margin"
    assert "smaller than 0.6" in same.reason
    open_ = signed(base[:8], changed[:8], margin=0.2)
    assert open_.verdict == "cannot tell"
    assert f"{open_.smallest_visible:.3g} or more" in open_.reason


def test_a_real_difference_may_be_too_small_to_matter_and_is_said_to_be():
    base, changed = study(0.4, vignettes=200)
    effect = signed(base, changed, margin=1.0)
    assert effect.verdict == "difference"
    assert "yet smaller than the margin of 1" in effect.reason


def test_without_a_margin_nothing_is_equivalent():
    base, changed = study(vignettes=200)
    effect = signed(base, changed, margin=math.nan)
    assert effect.verdict == "cannot tell"
    assert math.isnan(effect.equivalence_p)


# Distances


def test_the_same_diagnoses_in_both_arms_are_no_excess():
    rng = generator(2, "diagnoses")
    effect = diagnoses(rng.integers(0, 3, size=(25, 10)))
    assert effect.p_value > 0.05
    assert effect.estimate.lower <= 0 <= effect.estimate.upper
    assert effect.floor.value == pytest.approx(2 / 3, abs=0.08)


def test_distances_see_vignettes_that_react_each_its_own_way():
    rng = generator(3, "diagnoses")
    rows = rng.integers(0, 3, size=(25, 10))
    rows[:, 5:] = np.where(rng.random((25, 5)) < 0.7, rng.integers(3, 9, size=(25, 1)), rows[:, 5:])
    effect = diagnoses(rows)
    assert effect.verdict == "difference"
    assert effect.estimate.value > 0.1


def test_one_vignette_can_be_seen_to_react_but_says_nothing_of_others():
    effect = diagnoses([[0] * 5 + [1] * 5])
    assert effect.p_value == pytest.approx(2 / 252)
    assert effect.verdict == "difference"
    assert math.isnan(effect.estimate.lower)


def test_one_answer_an_arm_has_no_floor_and_no_excess():
    effect = diagnoses([[0, 1]] * 12, sizes=(1, 1))
    assert not effect.floor.defined
    assert not effect.estimate.defined
    assert (effect.verdict, effect.left_out) == ("cannot tell", 12)
    assert "at least twice" in effect.reason


def test_answers_that_never_differ_are_bounded_and_the_reason_says_what_would_show():
    effect = diagnoses([[4] * 10] * 30)
    assert (effect.estimate.value, effect.p_value) == (0.0, 1.0)
    assert effect.estimate.upper == pytest.approx(1 - 0.025 ** (1 / 30))
    assert 0 < effect.smallest_visible < 0.1


def test_what_distances_could_have_seen_is_seen_four_times_of_five():
    rng = generator(4, "visible")
    null = [diagnoses(rng.integers(0, 3, size=(12, 10)), draws=299) for _ in range(20)]
    visible = float(np.mean([effect.smallest_visible for effect in null]))
    # An excess of ½Σ(p − r)²: a share q of three other diagnoses, as likely, gives q²/3.
    share = math.sqrt(3 * visible)
    seen = []
    for _ in range(200):
        rows = rng.integers(0, 3, size=(12, 10))
        rows[:, 5:] += 3 * (rng.random((12, 5)) < share)
        seen.append(diagnoses(rows, draws=299).p_value < 0.05)
    assert 0.65 < np.mean(seen) < 0.95


# Interactions


def test_an_interaction_is_the_difference_of_two_effects():
    base, changed = study(0.2)
    direct, multi_hop = signed(base, changed), signed(base, changed + 1)
    effect = interaction(multi_hop, direct, 0.3, generator(1, "test"))
    assert effect.estimate.value == pytest.approx(1.0)
    assert effect.verdict == "difference"
    back = interaction(direct, multi_hop, 0.3, generator(1, "test"))
    assert back.estimate.value == pytest.approx(-1.0)


def test_vignettes_that_one_of_the_two_lacks_are_left_out():
    base, changed = study(vignettes=12)
    base[3] = math.nan
    direct = signed(base, changed)
    multi_hop = signed(*study(vignettes=10, seed=2))
    effect = interaction(multi_hop, direct, 0.3, generator(1, "test"))
    assert (effect.vignettes, effect.left_out) == (9, 3)
    assert effect.estimate.coverage == pytest.approx(0.75)
    assert "case-3" not in dict(effect.per_vignette)


def test_effects_of_other_vignettes_have_no_interaction():
    direct = signed([[1, 2]], [[2, 2]])
    rng = generator(1, "test")
    other = signed_effect([np.ones(2)], [np.ones(2)], ["other"], 0.3, rng)
    effect = interaction(other, direct, 0.3, rng)
    assert not effect.estimate.defined
    assert effect.left_out == 2
