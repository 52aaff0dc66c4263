"""The sentence and the findings: they say what the figures show and no more."""

from __future__ import annotations

import pytest

from askew.report.summary import findings, sentence, warnings

from .conftest import estimate, tiny


def figures(*, p_value=0.001, turned=0.5, smallest=0.12, **outcomes):
    made = tiny("toy", turned)
    made["flex"]["source_accuracy"]["overall"] = estimate(0.64, 0.6, 0.7, 150)
    made["flex"]["flex_accuracy"]["overall"] = estimate(0.41, 0.3, 0.5, 150)
    made["flex"]["attack_success_rate"]["overall"] = (
        estimate(turned, 0.34, 0.52, 96) if turned is not None else estimate(None, n=0)
    )
    test = {"p_value": p_value, "p_holm": p_value, "smallest_change": smallest}
    made["flex"]["test"] = {
        "overall": test,
        "bias_type": {"age": test},
        "scenario": {"competing_objectives": {"dan": test}},
    }
    made["flex"]["accuracy_change"] = {"bias_type": {"age": estimate(-0.2, -0.3, -0.1)}}
    counts = {"neutral": 150 - sum(outcomes.values()), **outcomes}
    made["flex"]["outcomes_attacked"] = {"overall": counts}
    return made


def test_a_fit_model_with_a_clear_change():
    assert sentence(figures(turned=0.43)) == (
        "toy was fit to be measured (80 % of 70 controls right, 95 % interval 70–90 %): asked "
        "plainly it stayed neutral in 64 % of 150 pairs, under attack in 41 %; the attack turned "
        "43 % (34–52 %) of the neutral answers."
    )


def test_a_model_that_fails_its_controls_gets_no_figures_in_its_sentence():
    made = figures()
    made["flex"]["fit"] = {"meaningful": False, "reason": "it got 3 of 20 controls right."}
    assert sentence(made) == (
        "toy was NOT fit to be measured: it got 3 of 20 controls right; its fairness figures are "
        "not meaningful."
    )
    assert "not fit to be measured" in warnings(made)[0]
    made["flex"]["missing_pairs"] = 450
    assert sentence(made).endswith("not meaningful; 450 of 600 planned pairs lack a reply.")


def test_a_change_that_cannot_be_told_from_0_comes_with_what_could_have_been_seen():
    text = sentence(figures(p_value=0.4))
    assert "the change is not distinguishable from 0 (p = 0.400)" in text
    assert "the smallest change this study could have seen: 12 points" in text
    assert "too small to see" in sentence(figures(p_value=0.4, smallest=None))


def test_nothing_neutral_at_first_is_not_robustness():
    text = sentence(figures(turned=None))
    assert "the attack success rate is undefined" in text
    assert "turned 0" not in text


def test_no_pair_turned_comes_with_its_interval():
    made = figures(turned=0.0)
    made["flex"]["attack_success_rate"]["overall"] = estimate(0.0, 0.0, 0.04, 96)
    assert "the attack turned none of the 96 neutral answers (95 % interval 0–4 %)" in sentence(
        made
    )


def test_no_pair_answered_says_that_nothing_can_be_said():
    made = figures()
    made["flex"]["source_accuracy"]["overall"] = estimate(None, n=0)
    made["flex"]["missing_pairs"] = 7
    assert "nothing can be said" in sentence(made)
    assert "neutral in" not in sentence(made)
    assert "nothing can be said of its fairness; 7 of 157 planned pairs lack" in sentence(made)
    assert findings(made)[0].startswith("7 of 157 planned pairs lack a reply")


@pytest.mark.parametrize("nothing", [{}, {"model": "toy"}, {"flex": None}, {"flex": {"fit": []}}])
def test_figures_that_are_missing_are_said_to_be_missing(nothing):
    assert "was not tested" in sentence(nothing)
    assert "nothing can be said" in sentence(nothing)
    assert findings(nothing) == ["Nothing was measured."]
    assert warnings(nothing)


def test_replies_that_were_cut_off_are_warned_of_above_a_threshold():
    assert not warnings(figures(truncated=5))
    many = figures(truncated=45)
    assert "30 % of the replies of toy were cut off" in warnings(many)[0]
    assert "30 % of the replies were cut off (counted by pair)" in sentence(many)


def test_low_coverage_is_said_unless_non_answers_count_as_wrong():
    made = figures()
    made["flex"]["source_accuracy"]["overall"]["coverage"] = 0.55
    assert "only 55 % of the pairs were answered in both" in sentence(made)
    assert warnings(made)[0].startswith("Only 55 % of the pairs were answered in both conditions")
    made["flex"]["settings"]["non_answers"] = "wrong"
    assert "only 55 %" not in sentence(made)


def test_blocked_replies_are_counted_and_how_they_enter_is_stated():
    made = figures(blocked=6, refused=2)
    made["flex"]["attack_success_rate_bounds"] = {"overall": {"least": 0.4, "most": 0.6}}
    (text,) = [text for text in findings(made) if "were no answer" in text]
    assert text == (
        "8 of 150 replies, counted by pair, were no answer (2 refused and 6 blocked). They are "
        "left out of the figures; had they been answers, the attack success rate would lie between "
        "40 % and 60 %."
    )


def test_an_answer_to_every_question_is_said_to_be_full_coverage():
    assert "All 150 replies, counted by pair, were answers, so coverage is 100 %." in (
        findings(figures())
    )


@pytest.mark.parametrize("coverage", [1.0, 150 / 600])
def test_pairs_that_are_missing_are_never_passed_over(coverage):
    made = figures()
    made["flex"]["missing_pairs"] = 450
    made["flex"]["source_accuracy"]["overall"]["coverage"] = coverage
    lack = "450 of 600 planned pairs lack a reply, and the figures are those of the 150 pairs asked"
    assert f"; {lack} so far" in sentence(made)
    assert warnings(made) == [f"{lack} so far."]
    assert f"{lack} so far. All 150 replies, counted by pair, were answers." in findings(made)


def test_low_coverage_of_an_unfinished_run_is_that_of_the_pairs_asked():
    made = figures()
    made["flex"]["missing_pairs"] = 450
    made["flex"]["source_accuracy"]["overall"]["n"] = 90
    assert "only 60 % of the 150 pairs asked so far were answered in both" in sentence(made)


def test_a_caution_is_said_in_the_sentence_and_in_the_warnings():
    made = figures()
    made["flex"]["fit"]["caution"] = "it chose like a coin"
    assert "70–90 %), but it chose like a coin: asked" in sentence(made)
    assert warnings(made) == ["toy passed the controls, but it chose like a coin."]


def test_findings_name_only_what_holds_after_correction():
    (text,) = [text for text in findings(figures()) if "Holm" in text]
    assert "1 of 1 bias type, Age −20 points (−30 to −10)" in text
    (text,) = [text for text in findings(figures(p_value=0.2)) if "Holm" in text]
    assert "accuracy changes in none of 1 detailed scenario" in text
    assert "smallest change any of them could have seen: 12 points" in text


def test_the_direction_of_the_lean_is_told_with_its_ideal_and_what_it_lacks():
    made = figures()
    made["flex"]["stereotyped_share_attacked"] = {"overall": estimate(0.61, 0.54, 0.7, 80)}
    made["flex"]["undirected"], made["flex"]["pairs"] = {"overall": 12}, {"overall": 150}
    (text,) = [text for text in findings(made) if "stereotype (ideal" in text]
    assert "61 % (54–70 %) went with the stereotype (ideal 50 %), which leans" in text
    assert "12 pairs of 150 could not be used" in text
    made["flex"]["stereotyped_share_attacked"]["overall"]["lower"] = 0.45
    assert any("no lean that could be told from chance" in text for text in findings(made))


def test_a_whole_run_has_three_to_five_findings(run):
    assert 3 <= len(findings(run.read_estimates())) <= 5
