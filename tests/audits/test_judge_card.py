"""The card recovers what is known of scripted judges."""

from __future__ import annotations

import json
import math
import random
import re

import numpy as np
import pytest

from askew.audits.clinical_judging import judge_names
from askew.audits.judge_card import family_of, judge_card, score_means
from askew.records import Estimate
from tests.audits.scripted_judges import (
    PairJudge,
    answered,
    answers,
    asked,
    is_urgent,
    plan,
    read_directly,
    shown,
    vignette,
)

DIMENSIONS = ("age", "gender", "age+gender", "location", "age+gender+location")


def card_of(function, made, seed=0, **sizes):
    tasks = plan(made, seed, **{"kinds": ("difference",), "repeats": 2, **sizes})
    judged = read_directly(tasks, {"python/judge:a": function})
    return judge_card(judged, seed=seed)["judges"]["python/judge:a"]


def holds(estimate: Estimate, value: float) -> bool:
    return estimate.lower - 1e-9 <= value <= estimate.upper + 1e-9


def scores(**found: float) -> str:
    return json.dumps({key: found.get(key.replace("+", "_"), 0.1) for key in DIMENSIONS})


def test_a_judge_without_error_has_a_clean_card():
    card = card_of(PairJudge(), answers(20, lowered=0.4))
    assert card["invalid"].value == 0
    assert not card["out"]
    assert card["order_flips"]["difference"].value == 0
    assert card["placebo"]["difference/identical"].value == 0
    assert card["placebo"]["difference/harmless"].value == 0
    assert card["planted"]["difference/lower_urgency"].value == 1
    assert card["repeats"]["difference"].value == 1
    overall = card["rates"]["urgency"]["less"]["overall"]
    assert overall["corrected"].value == pytest.approx(overall["called"].value)


@pytest.mark.parametrize(("misses", "invents", "share"), [(0.2, 0.1, 0.3), (0.4, 0.05, 0.0)])
def test_known_errors_are_recovered_within_their_intervals(misses, invents, share):
    """Over many studies; the true rates are those that the judge is written with."""
    covered = {"detection": 0, "false": 0, "corrected": 0}
    for seed in range(40):
        made = answers(20, lowered=share, seed=seed)
        true = np.mean([not is_urgent(one.answer.text) for one in made if one.variant.levels])
        judge = PairJudge(misses=misses, invents=invents, seed=seed)
        card = card_of(judge, made, seed, controls=20, repeats=1)
        covered["detection"] += holds(card["planted"]["difference/lower_urgency"], 1 - misses)
        covered["false"] += holds(card["placebo"]["difference/harmless"], invents)
        changed = card["rates"]["urgency"]["changed"]["overall"]
        covered["corrected"] += holds(changed["corrected"], true)
    # At 95 %, fewer than 34 of 40 has a chance of 0.3 %.
    assert min(covered.values()) >= 34, covered


def test_the_correction_takes_out_what_the_judge_invents():
    made = answers(40, lowered=0.0)
    called, corrected = [], []
    for seed in range(12):
        card = card_of(PairJudge(invents=0.3, seed=seed), made, seed, repeats=1)
        overall = card["rates"]["urgency"]["changed"]["overall"]
        called.append(overall["called"].value)
        corrected.append(overall["corrected"].value)
    assert 0.25 < np.mean(called) < 0.35
    assert np.mean(corrected) < 0.06


def test_a_judge_that_tells_nothing_gives_no_rate():
    card = card_of(lambda prompt: '{"level": "same", "quote": ""}', answers(10, lowered=0.5))
    corrected = card["rates"]["urgency"]["less"]["overall"]["corrected"]
    assert math.isnan(corrected.value)
    assert "tells nothing" in corrected.note


def test_a_judge_of_which_too_much_cannot_be_read_is_out(tmp_path):
    tasks = plan(answers(15, lowered=0.3), kinds=("difference",), repeats=2)
    judges = {"python/judge:bad": PairJudge(invalid=0.2), "python/judge:good": PairJudge()}
    cards = judge_card(asked(tasks, judges, tmp_path / "run.sqlite"), seed=0)["judges"]
    bad, good = cards["python/judge:bad"], cards["python/judge:good"]
    assert holds(bad["invalid"], 0.2)
    assert (bad["out"], good["out"]) == (True, False)
    assert math.isnan(bad["rates"]["urgency"]["less"]["overall"]["corrected"].value)
    assert "cannot be read" in bad["warnings"][0]
    assert bad["counts"]["faults"] == {"no_verdict": bad["counts"]["faults"]["no_verdict"]}
    assert bad["counts"]["re_asked"] > 0
    assert not good["warnings"]


def test_a_judge_that_always_names_the_second_flips_with_the_order():
    def second(prompt: str) -> str:
        return json.dumps({"level": "less", "quote": shown(prompt)["B"]})

    card = card_of(second, answers(10), repeats=1)
    assert card["order_flips"]["difference"].value == 1
    assert card["placebo"]["difference/identical"].value == 1


class PlaceJudge:
    """Says that the second is the less urgent one in a share of its replies, whatever is shown."""

    def __init__(self, share: float, seed: int) -> None:
        self.share, self.rng, self.fair = share, random.Random(seed), PairJudge(seed=seed)

    def __call__(self, prompt: str) -> str:
        if self.rng.random() >= self.share:
            return self.fair(prompt)
        return json.dumps({"level": "less", "quote": shown(prompt)["B"][:30]})


def test_what_a_judge_calls_by_the_place_is_taken_out_of_its_rates():
    """It calls a change in 70 % of equal pairs, and of true ones turns 35 % the other way round."""
    covered = {"changed": 0, "less": 0, "more": 0}
    for seed in range(30):
        made = answers(20, lowered=0.4, seed=seed)
        true = np.mean([not is_urgent(one.answer.text) for one in made if one.variant.levels])
        card = card_of(PlaceJudge(0.7, seed), made, seed)
        for call, value in (("changed", true), ("less", true), ("more", 0.0)):
            corrected = card["rates"]["urgency"][call]["overall"]["corrected"]
            covered[call] += holds(corrected, value)
        flips = card["order_flips"]["difference"].value
        assert 0.5 < flips < 0.95
    # At 95 %, fewer than 25 of 30 has a chance of 0.6 %.
    assert min(covered.values()) >= 25, covered


def test_a_judge_that_always_names_the_same_place_gives_no_rate_in_either_direction():
    def second(prompt: str) -> str:
        return json.dumps({"level": "less", "quote": shown(prompt)["B"]})

    rates = card_of(second, answers(20, lowered=0.4))["rates"]["urgency"]
    for call in ("less", "more", "changed"):
        corrected = rates[call]["overall"]["corrected"]
        assert math.isnan(corrected.value), call
        assert "tells nothing" in corrected.note
        assert math.isnan(rates[call]["same_prompt"]["corrected"].value)


def test_a_judge_that_goes_by_the_label_shows_its_effect():
    def by_label(prompt: str) -> str:
        old = "80-year-old woman" in prompt
        return scores(age=0.6 if old else 0.1, gender=0.1)

    made = answers(12)
    card = card_of(by_label, made, kinds=("bias",), repeats=1)
    effect = card["label_effect"]
    assert effect["age"].value == pytest.approx(0.5)
    assert effect["gender"].value == pytest.approx(0)
    assert effect["age"].n == 12


def test_the_label_effect_of_a_noisy_judge_is_covered():
    covered = 0
    for seed in range(40):
        rng = random.Random(seed)

        def noisy(prompt: str, rng: random.Random = rng) -> str:
            shift = 0.2 if "80-year-old woman" in prompt else 0.0
            return scores(age=min(1, max(0, rng.gauss(0.4 + shift, 0.1))))

        card = card_of(noisy, answers(10), seed, kinds=("bias",), repeats=1, answers=0)
        covered += holds(card["label_effect"]["age"], 0.2)
    assert covered >= 34  # of 40 at 95 %: fewer has a chance of 0.3 %


def test_a_planted_reason_is_found_on_its_own_dimension():
    def finds_age(prompt: str) -> str:
        return scores(age=0.8 if "At the patient's age" in prompt else 0.2)

    card = card_of(finds_age, answers(8), kinds=("bias",), repeats=2)
    found = {name: estimate.value for name, estimate in card["planted"].items()}
    assert found == {"bias/age": 1, "bias/gender": 0, "bias/location": 0}
    assert card["placebo"]["bias/repeat"].value == 0


def test_specificity_is_taken_where_the_difference_is_right():
    right = answers(6, relevance={"gender": "relevant"})
    wrong = [
        answered(vignette(100 + n, relevance={"gender": "not_relevant"}), "Rest.", gender=gender)
        for n in range(4)
        for gender in (None, "woman")
    ]

    def always(prompt: str) -> str:
        return '{"level": "justified"}'

    card = card_of(always, [*right, *wrong], kinds=("justified",))
    found = {name: (one.value, one.n) for name, one in card["specificity"].items()}
    assert found == {"justified": (1.0, 12), "not_justified": (0.0, 8)}


def test_judges_that_agree_have_an_alpha_of_one_and_chance_has_none(tmp_path):
    tasks = plan(answers(25, lowered=0.5), kinds=("difference",), repeats=1)
    rng = random.Random(3)

    def guess(prompt: str) -> str:
        return json.dumps(
            {"level": rng.choice(["less", "same", "more"]), "quote": shown(prompt)["B"]}
        )

    alike = {"python/judge:a": PairJudge(), "python/judge:b": PairJudge()}
    between = judge_card(read_directly(tasks, alike), seed=0)["between"]
    assert between["alpha"]["difference"].value == 1
    assert between["weighted_kappa"]["python/judge:a|python/judge:b"].value == 1
    guessing = {"python/judge:a": PairJudge(), "python/judge:c": guess}
    chance = judge_card(read_directly(tasks, guessing), seed=0)["between"]["alpha"]["difference"]
    assert holds(chance, 0.0)


def test_the_card_counts_the_replies_that_were_had(tmp_path):
    """Questions that come out alike share one reply, which is counted once."""
    told = []

    def judge(prompt: str) -> str:
        told.append(prompt)
        return "Hard to say." if len(told) % 5 == 0 else scores()

    tasks = plan(answers(6), kinds=("bias",), repeats=2, controls=6)
    card = judge_card(asked(tasks, {"python/judge:a": judge}, tmp_path / "run.sqlite"), seed=0)
    counts = card["judges"]["python/judge:a"]["counts"]
    assert len(tasks.tasks) > counts["questions"]
    assert counts["replies"] == len(told)
    assert card["judges"]["python/judge:a"]["invalid"].n == len(told)
    assert counts["faults"]["no_verdict"] == len(told) // 5


def test_self_judging_is_warned_of():
    tasks = plan(answers(3), kinds=("difference",), repeats=1)
    names = ("openai/gpt-4o", "local/Llama-3.2-3B", "openai/gpt-4.1")
    judged = read_directly(tasks, dict.fromkeys(names, PairJudge()))
    cards = judge_card(judged, seed=0, targets=["openai/gpt-4o"], temperature=0.0)["judges"]
    said = {name: " ".join(card["warnings"]) for name, card in cards.items()}
    assert "judges its own answers" in said["openai/gpt-4o"]
    assert "own family" in said["openai/gpt-4.1"]
    assert "family" not in said["local/Llama-3.2-3B"]
    assert all("temperature 0" in words for words in said.values())


def test_two_roles_of_one_model_are_warned_of_as_one():
    names = tuple(judge_names({"judge": "http/own", "judge_2": "http/own"}).values())
    tasks = plan(answers(3), kinds=("difference",), repeats=1)
    judged = read_directly(tasks, dict.fromkeys(names, PairJudge()))
    cards = judge_card(judged, seed=0, targets=["http/own"])["judges"]
    assert list(cards) == ["http/own (judge)", "http/own (judge_2)"]
    assert all("judges its own answers" in " ".join(one["warnings"]) for one in cards.values())


def test_each_judge_is_warned_of_by_its_own_temperature():
    names = ("http/a", "http/b")
    tasks = plan(answers(3), kinds=("difference",), repeats=1)
    judged = read_directly(tasks, dict.fromkeys(names, PairJudge()))
    cards = judge_card(judged, seed=0, temperature={"http/a": 0.5, "http/b": 0.0})["judges"]
    assert not cards["http/a"]["warnings"]
    assert "temperature 0" in " ".join(cards["http/b"]["warnings"])


def test_families_are_known_by_name():
    assert family_of("openai/chatgpt-4o-latest") == family_of("inspect/openai/o3-mini") == "gpt"
    assert family_of("local/Meta-Llama-3.1-8B-Instruct") == "llama"
    assert family_of("http/philosopher") == ""


def test_means_are_taken_over_what_was_read_and_say_what_was_not():
    made = [answered(vignette(n), f"Answer {n}.") for n in range(4)]
    tasks = plan(made, kinds=("bias",), controls=0, repeats=2)

    def by_number(prompt: str) -> str:
        number = int(re.search(r"Answer (\d)\.", prompt)[1])
        return "1.24" if number == 3 else scores(gender=(0.1, 0.3, 0.8)[number])

    means = score_means(read_directly(tasks, {"python/judge:a": by_number}), "bias")
    gender = means["python/judge:a"]["original|direct"]["gender"]
    assert gender.value == pytest.approx(0.4)
    assert (gender.n, gender.coverage, gender.note) == (3, 0.75, "1 of 4 without verdict")


def test_without_any_verdict_a_mean_is_undefined():
    made = [answered(vignette(n), "Rest.") for n in range(3)]
    tasks = plan(made, kinds=("bias",), controls=0, repeats=1)
    means = score_means(read_directly(tasks, {"python/judge:a": lambda prompt: "Hm."}), "bias")
    (mean,) = means["python/judge:a"]["original|direct"].values()
    assert math.isnan(mean.value)
    assert mean.note == "3 of 3 without verdict"
