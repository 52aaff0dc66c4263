"""FLEX's figures on random outcomes: the laws that hold whatever a model answers."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest
from statsmodels.stats.contingency_tables import mcnemar as reference_mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import confint_proportions_2indep

from askew.records import Outcome
from askew.seeds import generator
from askew.stats.intervals import (
    Clusters,
    effective_trials,
    newcombe,
    rate_estimate,
    resample,
    wilson,
)
from askew.stats.paired import holm, mcnemar, pairs_needed, smallest_change
from askew.stats.rates import attack_success_rate, bias_score
from askew.stats.robustness import mean_over_categories, pairs_of, robustness

OUTCOMES = st.sampled_from(list(Outcome))
ROWS = st.lists(
    st.tuples(st.sampled_from([f"item-{i}" for i in range(12)]), OUTCOMES, OUTCOMES, st.booleans()),
    max_size=40,
)


RIGHT, WRONG = Outcome.NEUTRAL, Outcome.STEREOTYPED
ESTIMATES = (
    "source_accuracy",
    "flex_accuracy",
    "attack_success_rate",
    "accuracy_change",
    "source_accuracy_alone",
    "flex_accuracy_alone",
    "stereotyped_share_source",
    "stereotyped_share_attacked",
)


def each_once(pairs):
    return Clusters.of([str(place) for place in range(pairs)])


def table_rows(right_in_both, turned_right, turned_wrong, wrong_in_both, times=1):
    """Rows of as many items, each asked `times` times with the same result."""
    pairs = (
        [(RIGHT, RIGHT)] * right_in_both
        + [(WRONG, RIGHT)] * turned_right
        + [(RIGHT, WRONG)] * turned_wrong
        + [(WRONG, WRONG)] * wrong_in_both
    )
    return [(f"item-{i}", *pair, True) for i, pair in enumerate(pairs) for _ in range(times)]


def measure(rows, non_answers="left_out"):
    return robustness(pairs_of(rows), generator(1, "test"), seed=1, non_answers=non_answers)


@settings(max_examples=60, deadline=None)
@given(ROWS, st.sampled_from(["left_out", "wrong"]))
def test_what_the_attack_keeps_bounds_the_attacked_accuracy(rows, non_answers):
    found = measure(rows, non_answers)
    source, flex = found.source_accuracy.value, found.flex_accuracy.value
    success = found.attack_success_rate.value
    if math.isnan(success):
        assert math.isnan(source) or source == 0
        return
    kept = source * (1 - success)
    assert kept - 1e-12 <= flex <= kept + (1 - source) + 1e-12


@settings(max_examples=60, deadline=None)
@given(ROWS)
def test_every_interval_holds_its_value_and_every_bound_holds_the_figure(rows):
    found = measure(rows)
    for name in ESTIMATES:
        estimate = getattr(found, name)
        if estimate.defined:
            assert estimate.lower - 1e-9 <= estimate.value <= estimate.upper + 1e-9
    for name in ("source_accuracy", "flex_accuracy", "attack_success_rate"):
        bounds = getattr(found, f"{name}_bounds")
        for reading in (bounds.all_right, bounds.all_wrong):
            if not math.isnan(reading):
                assert bounds.least - 1e-12 <= reading <= bounds.most + 1e-12


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(OUTCOMES, OUTCOMES), max_size=5))
def test_the_ends_are_reached_by_some_way_to_fill_in_the_non_answers(pairs):
    def fillings(outcome):
        answered = outcome.answered
        return [outcome is Outcome.NEUTRAL] if answered else [True, False]

    rates = []
    slots = [fillings(outcome) for pair in pairs for outcome in pair]
    for filled in product(*slots):
        source, attacked = np.array(filled[0::2], bool), np.array(filled[1::2], bool)
        rate = attack_success_rate(source, attacked).value
        if not math.isnan(rate):
            rates.append(rate)
    rows = [(f"item-{i}", before, after, True) for i, (before, after) in enumerate(pairs)]
    bounds = measure(rows).attack_success_rate_bounds
    if rates:
        assert (bounds.least, bounds.most) == pytest.approx((min(rates), max(rates)))
    else:
        assert math.isnan(bounds.least)
        assert math.isnan(bounds.most)


def test_nothing_undefined_becomes_zero():
    found = measure([])
    for name in ("source_accuracy", "flex_accuracy", "attack_success_rate", "accuracy_change"):
        assert math.isnan(getattr(found, name).value)
    assert math.isnan(found.test.p_value)
    assert math.isnan(found.stereotyped_share_source.value)


def test_a_model_that_is_never_right_has_not_been_shown_to_be_robust():
    found = measure([("a", Outcome.STEREOTYPED, Outcome.STEREOTYPED, True)])
    assert math.isnan(found.attack_success_rate.value)
    assert "none could be turned" in found.attack_success_rate.note
    assert found.source_accuracy.value == 0.0


@pytest.mark.parametrize(
    ("rows", "note"),
    [
        ([], "no pair was asked"),
        ([("a", RIGHT, Outcome.REFUSED, True)], "no pair was answered in both conditions"),
    ],
)
def test_a_figure_without_pairs_says_which_pairs_are_missing(rows, note):
    found = measure(rows)
    assert found.attack_success_rate.note == found.accuracy_change.note == note


def test_refused_and_unreadable_replies_are_neither_right_nor_wrong():
    rows = [
        ("a", Outcome.NEUTRAL, Outcome.NEUTRAL, True),
        ("b", Outcome.NEUTRAL, Outcome.REFUSED, True),
        ("c", Outcome.UNREADABLE, Outcome.STEREOTYPED, True),
        ("d", Outcome.NEUTRAL, Outcome.STEREOTYPED, True),
    ]
    found = measure(rows)
    assert found.answered_in_both == 2
    assert found.attack_success_rate.coverage == 0.5
    assert found.attack_success_rate.value == 0.5
    assert measure(rows, "wrong").attack_success_rate.value == pytest.approx(2 / 3)
    assert found.outcomes_attacked["refused"] == 1


def test_a_zero_rate_still_has_an_upper_bound():
    rows = [(f"item-{i}", Outcome.NEUTRAL, Outcome.NEUTRAL, True) for i in range(50)]
    found = measure(rows)
    assert found.attack_success_rate.value == 0
    assert 0.05 < found.attack_success_rate.upper < 0.1
    assert found.accuracy_change.lower < 0 < found.accuracy_change.upper


def test_bbq_direction_three_of_five_is_a_score_of_one_fifth():
    picks = [Outcome.STEREOTYPED] * 3 + [Outcome.ANTISTEREOTYPED] * 2 + [Outcome.NEUTRAL]
    found = measure([(f"i{n}", pick, pick, True) for n, pick in enumerate(picks)])
    assert found.stereotyped_share_source.value == pytest.approx(3 / 5)
    assert bias_score(3, 2) == pytest.approx(0.2)
    assert found.bias_score_source == pytest.approx((1 - 1 / 6) * 0.2)


@given(st.integers(0, 50), st.integers(0, 50))
def test_swapping_the_two_groups_negates_the_bias_score(biased, other):
    np.testing.assert_allclose(bias_score(biased, other), -bias_score(other, biased), atol=1e-12)


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_equals_scipys(counts):
    hits, trials = counts
    reference = binomtest(hits, trials).proportion_ci(method="wilson")
    assert wilson(hits, trials) == pytest.approx((reference.low, reference.high), abs=1e-9)
    assert (wilson(hits, trials)[0] == 0.0) == (hits == 0)
    assert (wilson(hits, trials)[1] == 1.0) == (hits == trials)


def test_newcombe_gives_the_interval_of_a_published_example():
    """Altman (2000), Statistics with Confidence, p. 52: 14, 5, 0 and 22 of 41 patients."""
    assert newcombe(14, 5, 0, 22) == pytest.approx((0.011, 0.226), abs=0.0005)


CELL = st.integers(0, 60)


@given(st.tuples(CELL, CELL, CELL, CELL))
def test_newcombe_without_correlation_is_the_interval_of_two_separate_samples(table):
    both, gained, lost, neither = table
    units = sum(table)
    assume(0 <= both * neither - gained * lost <= units / 2 and units)
    reference = confint_proportions_2indep(
        both + gained, units, both + lost, units, method="newcomb", compare="diff"
    )
    assert newcombe(*table) == pytest.approx(reference, abs=1e-9)


@given(st.tuples(CELL, CELL, CELL, CELL))
def test_newcombe_holds_the_change_and_turns_round_with_the_conditions(table):
    both, gained, lost, neither = table
    assume(sum(table))
    lower, upper = newcombe(both, gained, lost, neither)
    assert -1 <= lower <= (gained - lost) / sum(table) <= upper <= 1
    assert newcombe(both, lost, gained, neither) == pytest.approx((-upper, -lower), abs=1e-12)


@pytest.mark.parametrize(
    "table", [(150, 0, 4, 0), (996, 0, 4, 0), (496, 0, 4, 500), (5, 0, 3, 0), (0, 4, 0, 4)]
)
def test_a_change_that_the_test_does_not_see_has_an_interval_that_holds_zero(table):
    found = measure(table_rows(*table))
    assert found.test.p_value > 0.1
    assert found.accuracy_change.lower <= 0 <= found.accuracy_change.upper
    assert found.accuracy_change.upper - found.accuracy_change.lower > 0


FEW = st.integers(0, 6)


@settings(max_examples=60, deadline=None)
@given(st.tuples(st.integers(0, 30), FEW, FEW, st.integers(0, 30)), st.integers(1, 3))
def test_with_few_items_moved_no_interval_contradicts_the_exact_test(table, times):
    found = measure(table_rows(*table, times=times))
    change = found.accuracy_change
    if found.test.p_value >= 0.05:
        assert change.lower <= 0 <= change.upper


def test_the_bootstrap_is_kept_where_many_items_moved():
    found = measure(table_rows(60, 12, 30, 20))
    for estimate in (found.accuracy_change, found.attack_success_rate):
        assert "bootstrap" in estimate.method
        assert estimate.seed == 1
    lower, upper = newcombe(60, 12, 30, 20)
    assert found.accuracy_change.lower == pytest.approx(lower, abs=0.015)
    assert found.accuracy_change.upper == pytest.approx(upper, abs=0.015)


def test_nine_items_turned_are_too_few_for_the_bootstrap():
    nine, ten = (measure(table_rows(60, 0, n, 0)).attack_success_rate for n in (9, 10))
    assert (nine.lower, nine.upper) == wilson(9, 69)
    assert nine.method == "wilson"
    assert "bootstrap" in ten.method


def test_few_answered_pairs_among_many_still_have_an_interval():
    rows = [*table_rows(2, 0, 1, 0)]
    rows += [(f"refused-{i}", RIGHT, Outcome.REFUSED, True) for i in range(200)]
    found = measure(rows)
    for name in ("source_accuracy", "flex_accuracy", "attack_success_rate", "accuracy_change"):
        estimate = getattr(found, name)
        assert estimate.n == 3
        assert estimate.coverage == pytest.approx(3 / 203)
        assert estimate.lower < estimate.value or estimate.upper > estimate.value


def test_asking_the_same_again_neither_lowers_p_nor_narrows_an_interval():
    once, often = (measure(table_rows(5, 0, 3, 2, times=times)) for times in (1, 5))
    assert once.test.p_value == often.test.p_value == 0.25
    for name in ("source_accuracy", "flex_accuracy", "attack_success_rate", "accuracy_change"):
        one, other = getattr(once, name), getattr(often, name)
        assert (one.lower, one.upper) == pytest.approx((other.lower, other.upper))


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1))
def test_mcnemar_equals_statsmodels(outcomes):
    source, attacked = np.array(outcomes).T
    table = [
        [int((source & attacked).sum()), int((source & ~attacked).sum())],
        [int((~source & attacked).sum()), int((~source & ~attacked).sum())],
    ]
    reference = reference_mcnemar(table, exact=True).pvalue if (source != attacked).any() else 1.0
    found = mcnemar(source, attacked, each_once(len(outcomes)))
    assert found.p_value == pytest.approx(reference)
    assert (found.turned_wrong, found.turned_right) == (table[0][1], table[1][0])
    assert found.items == found.pairs == len(outcomes)


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("abcdefg"), st.booleans(), st.booleans()), min_size=1),
    st.integers(2, 5),
)
def test_repeating_every_pair_moves_neither_p_nor_the_smallest_change(rows, times):
    def tested(rows):
        names, source, attacked = zip(*rows, strict=True)
        return mcnemar(np.array(source), np.array(attacked), Clusters.of(list(names)))

    once, often = tested(rows), tested(rows * times)
    assert often.p_value == once.p_value
    assert often.items == once.items
    assert often.pairs == times * once.pairs
    np.testing.assert_allclose(often.smallest_change, once.smallest_change)


def test_an_item_counts_once_and_towards_the_side_of_most_of_its_pairs():
    names = ["a", "a", "a", "b", "b", "c"]
    source = np.array([1, 1, 0, 1, 0, 0], bool)
    attacked = np.array([0, 0, 1, 0, 1, 1], bool)
    found = mcnemar(source, attacked, Clusters.of(names))
    assert (found.turned_wrong, found.turned_right, found.pairs) == (3, 3, 6)
    assert (found.items_turned_wrong, found.items_turned_right, found.items) == (1, 1, 3)
    assert found.p_value == 1.0


def test_an_item_that_turns_one_of_its_three_pairs_moves_accuracy_by_a_third():
    source = np.ones(300, bool)
    attacked = source.copy()
    attacked[:60:3] = False  # 20 of 100 items, one pair each
    thirds = mcnemar(source, attacked, Clusters.of([str(i // 3) for i in range(300)]))
    whole = mcnemar(source[::3], attacked[::3], each_once(100))
    assert thirds.smallest_change == pytest.approx(whole.smallest_change / 3)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_equals_statsmodels(p_values):
    np.testing.assert_allclose(holm(p_values), multipletests(p_values, method="holm")[1])


def test_holm_leaves_undefined_tests_out_of_the_family():
    assert holm([0.01, math.nan, 0.04])[0] == pytest.approx(0.02)
    assert math.isnan(holm([0.01, math.nan, 0.04])[1])


def test_a_paired_test_sees_what_an_unpaired_one_misses():
    """220 items, 18 turned wrong and 4 turned right: a pooled z test gives p = 0.18."""
    source = np.array([True] * 130 + [False] * 90)
    attacked = source.copy()
    attacked[:18] = False
    attacked[-4:] = True
    assert mcnemar(source, attacked, each_once(220)).p_value < 0.01


@given(st.floats(0.02, 0.5), st.floats(0.05, 1.0))
def test_the_smallest_change_and_the_pairs_needed_are_inverse(change, share):
    pairs = pairs_needed(change, share)
    assert smallest_change(pairs, share) <= change + 2e-3


def test_clusters_widen_the_interval_of_items_asked_many_times():
    rng = np.random.default_rng(0)
    hit = np.repeat(rng.random(40) < 0.5, 10)
    tried = np.ones(400, bool)
    alone = Clusters.of([str(i) for i in range(400)])
    grouped = Clusters.of([str(i // 10) for i in range(400)])
    narrow, wide = (rate_estimate(hit, tried, c, asked=400) for c in (alone, grouped))
    assert effective_trials(hit, tried, alone) == 400
    assert effective_trials(hit, tried, grouped) == pytest.approx(40, abs=1.5)
    assert wide.upper - wide.lower > 2 * (narrow.upper - narrow.lower)


def test_items_whose_names_differ_by_a_nul_alone_are_two_clusters():
    assert Clusters.of(["b", "a\0", "a", "b"]).of_unit.tolist() == [2, 1, 0, 2]


def test_a_bootstrap_sample_draws_as_many_clusters_as_there_are():
    drawn = resample(Clusters.of(["a", "b", "b", "c"]), np.random.default_rng(0), draws=50)
    assert drawn.shape == (50, 3)
    assert (drawn.sum(axis=1) == 3).all()


def test_the_average_is_the_plain_mean_of_the_categories_and_not_the_pooled_rate():
    one = pairs_of([("a", RIGHT, WRONG, True)] * 1)
    many = pairs_of([(f"b{i}", RIGHT, RIGHT, True) for i in range(9)])
    means = mean_over_categories([one, many], generator(0, "t"), seed=0)
    assert means["attack_success_rate"].value == pytest.approx(0.5)


def test_the_average_of_a_category_without_a_figure_is_undefined():
    empty, some = pairs_of([]), pairs_of([("a", Outcome.NEUTRAL, Outcome.NEUTRAL, True)])
    means = mean_over_categories([empty, some], generator(0, "t"), seed=0)
    assert math.isnan(means["attack_success_rate"].value)


def category(name, turned, kept, missed=0):
    """One category's pairs; items of one name are the same in all categories."""
    pairs = [(RIGHT, WRONG)] * turned + [(RIGHT, RIGHT)] * kept + [(WRONG, WRONG)] * missed
    return pairs_of([(f"{name}-{i}", *pair, True) for i, pair in enumerate(pairs)])


def average(*categories):
    return mean_over_categories(categories, generator(0, "t"), seed=0)["attack_success_rate"]


def test_the_average_says_how_many_trials_it_is_taken_over():
    found = mean_over_categories(
        [category("a", 2, 3, missed=4), category("b", 1, 1)], generator(0, "t"), seed=0
    )
    assert found["attack_success_rate"].n == 7
    assert found["source_accuracy"].n == found["flex_accuracy"].n == 11


def test_categories_of_other_items_average_out_and_those_of_the_same_items_do_not():
    single = wilson(0, 40)[1]
    other = average(category("a", 0, 40), category("b", 0, 40), category("c", 0, 40))
    same = average(*[category("a", 0, 40)] * 3)
    assert other.upper == pytest.approx(single / math.sqrt(3))
    assert same.upper == pytest.approx(single)
    assert other.lower == same.lower == 0


def test_one_category_at_an_edge_is_enough_to_leave_the_bootstrap():
    many = average(category("a", 30, 30), category("b", 30, 30), category("c", 30, 30))
    edge = average(category("a", 30, 30), category("b", 30, 30), category("c", 0, 60))
    assert "bootstrap" in many.method
    assert "wilson" in edge.method
    lower, upper = wilson(30, 60)
    half = math.sqrt(2 * (upper - 0.5) ** 2 + wilson(0, 60)[1] ** 2) / 3
    assert edge.upper == pytest.approx(1 / 3 + half)
    assert many.lower == pytest.approx(0.5 - (0.5 - lower) / math.sqrt(3), abs=0.01)


@settings(max_examples=40, deadline=None)
@given(st.lists(ROWS, min_size=3, max_size=3))
def test_the_interval_of_an_average_holds_it(rows):
    parts = [pairs_of(part) for part in rows]
    for estimate in mean_over_categories(parts, generator(0, "t"), seed=0).values():
        if estimate.defined:
            assert estimate.lower - 1e-9 <= estimate.value <= estimate.upper + 1e-9


@settings(max_examples=20, deadline=None)
@given(ROWS, st.randoms())
def test_the_order_of_the_rows_does_not_move_a_figure(rows, random):
    shuffled = list(rows)
    random.shuffle(shuffled)
    one, other = measure(rows), measure(shuffled)
    np.testing.assert_equal(one.attack_success_rate.value, other.attack_success_rate.value)
    np.testing.assert_equal(one.accuracy_change.upper, other.accuracy_change.upper)


def test_items_that_all_turn_alike_still_have_an_interval():
    right, wrong = Outcome.NEUTRAL, Outcome.STEREOTYPED
    rows = [
        (f"item-{i}", right, wrong if k == 0 else right, True) for i in range(30) for k in range(3)
    ]
    found = measure(rows).attack_success_rate
    assert found.value == pytest.approx(1 / 3)
    assert found.lower < 0.3 < 0.37 < found.upper


@pytest.mark.parametrize(("items", "turned"), [(154, 12), (30, 10), (60, 8), (25, 19)])
def test_interval_and_test_agree_where_items_count_three_times_and_few_moved(items, turned):
    right, wrong = Outcome.NEUTRAL, Outcome.STEREOTYPED
    rows = [
        (f"item-{i}", right, wrong if i < turned and k == 0 else right, True)
        for i in range(items)
        for k in range(3)
    ]
    found = measure(rows)
    change = found.accuracy_change
    assert change.lower <= change.value <= change.upper
    assert found.test.p_value < 0.05
    assert change.upper < 0
