"""Analysis: Table 4's counts, exact tests, raters and scenarios crossed, false detections."""

from __future__ import annotations

import csv
import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askew.errors import ConfigError, DataError
from askew.runfolder import json_text
from askew.seeds import generator
from askew.survey.analysis import analyse, check_test, net_choices
from askew.survey.collected import Collected, Rater, Rating, Status, read_csv, write_csv
from askew.survey.pooled import crossed_estimate, pooled
from askew.survey.table import lines, table_4
from tests.survey.studies import included, rating, study, with_counts

GOLDEN = Path(__file__).parents[1] / "golden" / "clinical_table4.csv"
RATERS = 15


def table_4_rows() -> list[dict[str, str]]:
    with GOLDEN.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def counts(column: str) -> list[int]:
    return [round(float(row[column]) / 100 * RATERS) for row in table_4_rows()]


def the_papers_study():
    """A study of the paper's size whose raters answer as Table 4 counts them."""
    truth = [tuple(row["correct_features"].split("+")) for row in table_4_rows()]
    exported = study(true_attributes=truth, raters=RATERS)
    detected = {name: counts(f"{name}_percent") for name in ("age", "gender", "location")}
    ratings = [
        rating(
            exported,
            rater,
            f"S{place + 1}",
            rater <= chose,
            noticed=tuple(name for name, found in detected.items() if rater <= found[place]),
        )
        for place, chose in enumerate(counts("chose_multi_hop_percent"))
        for rater in range(1, RATERS + 1)
    ]
    return exported, Collected(included(RATERS), tuple(ratings))


@pytest.fixture(scope="module")
def paper():
    exported, collected = the_papers_study()
    return analyse(exported.survey, exported.key, collected)


def test_table_4_counts_give_the_exact_p_values_and_none_after_holm(paper):
    assert [one.chose_ours.value * RATERS for one in paper.scenarios] == pytest.approx(
        [11, 8, 9, 12, 12]
    )
    one_sided = [one.p_greater for one in paper.scenarios]
    assert one_sided == pytest.approx([0.059, 0.50, 0.30, 0.018, 0.018], abs=5e-3)
    corrected = [one.p_greater_holm for one in paper.scenarios]
    assert corrected == pytest.approx([0.18, 0.61, 0.61, 0.088, 0.088], abs=5e-3)
    two_sided = [one.p_two_sided for one in paper.scenarios]
    assert two_sided == pytest.approx([0.118, 1.0, 0.607, 0.035, 0.035], abs=1e-3)
    assert min(one.p_two_sided_holm for one in paper.scenarios) > 0.05


def test_table_4_is_printed_in_its_own_layout(paper):
    head, rows = table_4(paper)
    cells = {row[0]: row[1:] for row in rows}
    assert head == ["Scenario", "S1", "S2", "S3", "S4", "S5"]
    assert cells["Chose Multi hop (%)"] == ["73.3", "53.3", "60.0", "80.0", "80.0"]
    assert cells["Correct features"][0] == "Age, Location"
    assert cells["Gender detection (%)"] == ["6.7", "26.7", "46.7*", "13.3", "40.0*"]
    assert cells["P, one-sided (exact)"] == ["0.059", "0.500", "0.304", "0.018", "0.018"]


def test_table_4_has_as_many_false_detections_as_its_counts_say(paper):
    gender = next(one for one in paper.detection if one.attribute == "gender")
    assert gender.hits.value == pytest.approx((7 + 6) / 30)
    assert gender.false_alarms.value == pytest.approx((1 + 4 + 2) / 45)
    assert gender.beyond_guessing == pytest.approx(13 / 30 - 7 / 45)
    location = next(one for one in paper.detection if one.attribute == "location")
    assert location.hits.n == 75
    assert math.isnan(location.false_alarms.value)  # it differs everywhere
    assert math.isnan(location.beyond_guessing)


def test_undefined_figures_are_null_in_json(paper):
    values = json.loads(json_text(paper))
    location = next(one for one in values["detection"] if one["attribute"] == "location")
    assert location["false_alarms"]["value"] is None
    assert values["scenarios"][0]["p_greater"] == pytest.approx(0.0592, abs=1e-4)


def test_a_t_test_by_scenario_is_refused_with_the_reason():
    for name in ("t", "t-test", "t_test", "T-Test"):
        with pytest.raises(ConfigError, match="yes or no"):
            check_test(name)
    with pytest.raises(ConfigError, match="Use --test exact"):
        check_test("anova")
    check_test("exact")


# Raters and scenarios are crossed


def test_few_raters_who_always_agree_are_no_many_independent_choices():
    """Four raters in fifty scenarios: 200 choices for ours, and four people."""
    found = pooled(np.ones((4, 50)), 0)
    assert found.p_over_raters == pytest.approx(2 / 2**4)
    assert found.p_over_scenarios < 0.001
    assert found.share_ours.lower < 0.55


def test_five_scenarios_cannot_speak_for_others_below_one_in_sixteen():
    found = pooled(np.ones((100, 5)), 0)
    assert found.p_over_raters < 0.001
    assert found.p_over_scenarios == found.smallest_p_over_scenarios == pytest.approx(1 / 16)


@given(st.integers(2, 8), st.integers(2, 8), st.integers(0, 99))
def test_swapping_the_arms_mirrors_the_pooled_answer(raters, scenarios, seed):
    net = np.sign(generator(seed).normal(size=(raters, scenarios)))
    one, other = pooled(net, 0), pooled(-net, 0)
    assert one.share_ours.value == pytest.approx(1 - other.share_ours.value)
    assert one.share_ours.lower == pytest.approx(1 - other.share_ours.upper)
    assert one.p_over_raters == pytest.approx(other.p_over_raters)
    assert one.p_majorities == pytest.approx(other.p_majorities, nan_ok=True)


@pytest.mark.parametrize("net", [[[0, 0], [0, 0]], [[1, -1], [-1, 1]], [[1, 1], [1, 1]]])
def test_an_interval_is_never_a_point(net):
    found = crossed_estimate(np.array(net, dtype=float))
    assert found.upper - found.lower > 0.3


def simulated(rng: np.random.Generator) -> np.ndarray:
    """15 raters and 12 scenarios that both lean, about no preference at all."""
    lean = rng.normal(0, 0.8, (15, 1)) + rng.normal(0, 0.8, (1, 12))
    return np.where(rng.random((15, 12)) < 1 / (1 + np.exp(-lean)), 1.0, -1.0)


def test_the_crossed_interval_covers_where_one_of_independent_choices_does_not():
    from askew.stats.intervals import wilson

    rng = generator(0, "crossed coverage")
    crossed, independent, studies = 0, 0, 400
    for _ in range(studies):
        net = simulated(rng)
        found = crossed_estimate(net)
        crossed += found.lower <= 0.5 <= found.upper
        lower, upper = wilson(float((net > 0).sum()), net.size)
        independent += lower <= 0.5 <= upper
    assert crossed / studies >= 0.93
    assert independent / studies < 0.75


def test_no_answer_at_all_is_undefined_and_not_zero():
    exported = study(2)
    found = analyse(exported.survey, exported.key, Collected((), ()))
    assert math.isnan(found.pooled.share_ours.value)
    assert all(math.isnan(one.p_greater) for one in found.scenarios)
    assert math.isnan(found.agreement.choice_alpha)
    assert "–" in "\n".join(lines(found))


# Who counts


def test_only_included_raters_count_and_the_others_are_named():
    exported = study(2)
    whole = with_counts(exported, [3, 3], raters=3)
    people = (
        *included(2),
        Rater("3", Status.EXCLUDED, {"postgraduate": "no"}),
        Rater("4", Status.DECLINED, {}),
        Rater("5", Status.INCLUDED, {"postgraduate": "yes"}),
    )
    found = analyse(exported.survey, exported.key, Collected(people, whole.ratings))
    assert [one.chose_ours.n for one in found.scenarios] == [2, 2]
    assert found.people.by_status["excluded"] == found.people.by_status["declined"] == 1
    assert (found.people.complete, found.people.incomplete, found.people.silent) == (2, 1, 1)
    assert found.people.said["postgraduate"] == {"yes": 1, "no": 1}


def test_incomplete_raters_count_unless_they_are_left_out():
    exported = study(2)
    ratings = with_counts(exported, [2, 2], raters=2).ratings[:-1]  # rater 2 stopped after S1
    collected = Collected(included(2), ratings)
    every = analyse(exported.survey, exported.key, collected)
    assert [one.chose_ours.n for one in every.scenarios] == [2, 1]
    complete = analyse(exported.survey, exported.key, collected, complete_only=True)
    assert [one.chose_ours.n for one in complete.scenarios] == [1, 1]
    assert complete.people.incomplete == 1


def test_no_difference_is_in_no_test_and_is_half_a_choice_in_the_pooled_share():
    exported = study(1)
    chosen = with_counts(exported, [1], raters=2).ratings
    undecided = tuple(replace(one, choice="no_difference") for one in chosen[1:])
    found = analyse(
        exported.survey, exported.key, Collected(included(2), (*chosen[:1], *undecided))
    )
    assert (found.scenarios[0].chose_ours.n, found.scenarios[0].no_difference) == (1, 1)
    assert found.pooled.share_ours.value == pytest.approx(0.75)


# Order and agreement


def test_raters_who_always_choose_the_left_show_an_order_effect_and_no_preference():
    exported = study(4, raters=10)
    ratings = tuple(
        Rating(str(rater), one.id, sheet.left[one.id], sheet.left[one.id], ())
        for rater, sheet in enumerate(exported.survey.sheets, start=1)
        for one in exported.survey.scenarios
    )
    found = analyse(exported.survey, exported.key, Collected(included(10), ratings))
    assert found.order.left_chosen.value == 1.0
    assert found.order.p_two_sided < 0.001
    assert found.order.ours_when_left.value == 1.0
    assert found.order.ours_when_right.value == 0.0
    assert found.pooled.share_ours.value == 0.5  # the balance takes the order out


def test_agreement_is_that_of_the_package_and_of_hand_counting():
    exported = study(2)
    found = analyse(exported.survey, exported.key, with_counts(exported, [3, 1], raters=3))
    assert found.agreement.choice_percent == pytest.approx((1 + 1 / 3) / 2)
    krippendorff = pytest.importorskip("krippendorff", reason="askew[clinical] is not installed")
    net = np.array([[1, 1], [1, -1], [1, -1]])
    expected = krippendorff.alpha(reliability_data=net, level_of_measurement="nominal")
    assert found.agreement.choice_alpha == pytest.approx(expected)


def test_net_choices_name_arms_and_not_labels():
    exported = study(3)
    collected = with_counts(exported, [2, 0, 1], raters=2)
    net = net_choices(exported.survey, exported.key, collected.ratings)
    np.testing.assert_array_equal(net, [[1, -1, 1], [1, -1, -1]])


# Answers as a table


def test_answers_come_back_from_the_table_they_are_written_to(tmp_path):
    exported, collected = the_papers_study()
    people = (*collected.raters, Rater("16", Status.EXCLUDED, {"clinician": "no"}))
    collected = Collected(people, collected.ratings)
    write_csv(tmp_path / "answers.csv", collected)
    again = read_csv(tmp_path / "answers.csv", exported.survey)
    assert again.raters == collected.raters
    assert sorted(again.ratings, key=str) == sorted(collected.ratings, key=str)


def test_a_comment_cannot_run_in_a_spreadsheet(tmp_path):
    exported = study(1)
    one = rating(exported, 1, "S1", True, noticed=(), comment="=HYPERLINK(1)")
    write_csv(tmp_path / "a.csv", Collected(included(1), (one,)))
    assert "'=HYPERLINK" in (tmp_path / "a.csv").read_text()


@pytest.mark.parametrize(
    ("row", "field"),
    [
        ("1,S9,a", "scenario"),
        ("1,S1,left", "choice"),
        (",S1,a", "rater"),
        ("1,S1,a\n1,S1,b", "scenario"),
        ("1,S1,a,gendr", "noticed"),
        ("1,S1,a,age+none", "noticed"),
    ],
)
def test_a_row_of_answers_that_cannot_be_used_is_named(tmp_path, row, field):
    path = tmp_path / "answers.csv"
    more = ",noticed" if row.count(",") == 3 else ""
    path.write_text(f"rater,scenario,choice{more}\n{row}\n")
    with pytest.raises(DataError, match=rf"(?s)answers\.csv:.*{field}"):
        read_csv(path, study(2).survey)


def test_another_tools_table_needs_three_columns_alone(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text("rater;scenario;choice\nAnn;S1;A\nBo;S1; b \n")
    exported = study(1)
    found = analyse(exported.survey, exported.key, read_csv(path, exported.survey))
    assert found.scenarios[0].chose_ours.n == 2
    assert math.isnan(found.scenarios[0].detected["age"])  # nobody was asked
    assert math.isnan(found.order.left_chosen.value)
