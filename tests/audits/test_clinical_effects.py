"""How far answers move: what is planted is found, by vignette, above one prompt's own noise."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest

from askew.audits.clinical_contrasts import Contrast, Pair, contrasts
from askew.audits.clinical_effects import EffectConfig, Key, effects, interactions, measured
from askew.records import Provenance
from askew.runfolder import json_text
from askew.vignettes import Answered, AnswerForm, ClinicalAnswer, Variant, Vignette, arm_name

CONFIG = EffectConfig()
DIAGNOSES = ("pneumonia", "asthma", "heart failure", "pulmonary embolism")
SEEDS = 30


def vignettes(count: int, relevant: int = 0) -> list[Vignette]:
    return [
        Vignette(
            f"v{place:02}",
            "toy",
            f"case {place}",
            Provenance("toy.jsonl", place),
            relevance={"gender": "relevant"} if place < relevant else {},
        )
        for place in range(count)
    ]


def variants_of(vignette: Vignette, **attributes: tuple[str, ...]) -> list[Variant]:
    """The original and each level of each attribute alone."""
    sets = [{}] + [{name: level} for name, levels in attributes.items() for level in levels]
    return [
        Variant(
            f"{vignette.id}/{arm_name(levels) or 'original'}",
            vignette.id,
            arm_name(levels) or "original",
            levels,
            f"{vignette.id} {levels}",
        )
        for levels in sets
    ]


def answer(
    urgency: int | None, differential: tuple[str, ...] = ("asthma",), text: str = "rest"
) -> ClinicalAnswer:
    given = frozenset({"urgency", "differential"})
    return ClinicalAnswer("answered", text, differential, urgency, given=given)


def answered(cases, variants, say, repeats: int = 3, form: AnswerForm = "direct") -> list[Answered]:
    by_id = {one.id: one for one in cases}
    return [
        Answered(by_id[one.vignette_id], one, form, replicate, say(one, replicate))
        for one in variants
        for replicate in range(repeats)
    ]


def made(cases, variants, answers, forms=("direct",), config=CONFIG, seed=0):
    compared = contrasts(variants, [], config.reference)
    return effects({one.id: one for one in cases}, compared, measured(answers), forms, config, seed)


def planted(rng: random.Random, share: float):
    """Urgency by chance, a level less for women with probability `share`; diagnoses by chance."""

    def say(variant: Variant, replicate: int) -> ClinicalAnswer:
        lower = variant.levels.get("gender") == "female" and rng.random() < share
        ranked = tuple(rng.sample(DIAGNOSES, 3))
        return answer(rng.choice((1, 2, 3)) - lower, ranked)

    return say


KEY = Key("direct", "gender", "female − male", "urgency")


def test_a_planted_lean_lies_in_its_interval_in_nearly_all_studies():
    cases = vignettes(10)
    variants = [v for one in cases for v in variants_of(one, gender=("male", "female"))]
    inside, sizes = 0, []
    for seed in range(SEEDS):
        answers = answered(cases, variants, planted(random.Random(seed), 0.5))
        estimate = made(cases, variants, answers, seed=seed)[KEY].estimate
        inside += estimate.lower <= -0.5 <= estimate.upper
        sizes.append(estimate.value)
    assert inside >= 25  # of 30 at 95 %: fewer once in 2,000 such runs
    assert np.mean(sizes) == pytest.approx(-0.5, abs=0.15)


def test_a_noisy_model_that_is_even_gives_no_more_alarms_than_it_may():
    cases = vignettes(8)
    levels = {"gender": ("male", "female"), "race": ("White", "Black", "Asian")}
    variants = [v for one in cases for v in variants_of(one, **levels)]
    families, small, tests = 0, 0, 0
    for seed in range(SEEDS):
        answers = answered(cases, variants, planted(random.Random(1000 + seed), 0.0))
        found = made(cases, variants, answers, seed=seed).values()
        declared = [one for one in found if one.family == "declared"]
        families += any(one.verdict == "difference" for one in declared)
        small += sum(one.p_value < 0.05 for one in found)
        tests += sum(one.p_value == one.p_value for one in found)
    assert families <= 5  # of 30 at 5 %: more once in 300 such runs
    assert small <= 0.07 * tests


def test_opposite_reactions_of_single_cases_are_seen_by_the_top_diagnosis_and_not_by_urgency():
    cases = vignettes(12)
    variants = [v for one in cases for v in variants_of(one, gender=("male", "female"))]

    def say(variant: Variant, replicate: int) -> ClinicalAnswer:
        moved = variant.levels.get("gender") == "female"
        way = 1 if int(variant.vignette_id[1:]) % 2 else -1
        return answer(1 + (way if moved else 0), DIAGNOSES[1:] if moved else DIAGNOSES[:-1])

    found = made(cases, variants, answered(cases, variants, say))
    assert found[KEY].estimate.value == 0
    assert found[KEY].verdict != "difference"
    top = Key("direct", "gender", "female − male", "top_diagnosis_differs")
    assert (found[top].estimate.value, found[top].verdict) == (1, "difference")


def test_the_floor_is_that_of_one_prompt_where_a_vignette_has_several_pairs():
    cases = vignettes(8)
    variants = [
        Variant(f"{one.id}/{race}{gender}", one.id, "x", {"gender": gender, "race": race}, "t")
        for one in cases
        for race in ("Black", "White")
        for gender in ("male", "female")
    ]

    def say(variant: Variant, replicate: int) -> ClinicalAnswer:
        return answer(3 if variant.levels["race"] == "Black" else 0)  # one prompt, one answer

    effect = made(cases, variants, answered(cases, variants, say))[KEY]
    assert effect.floor.value == 0
    assert effect.estimate.value == 0


def test_answers_that_one_race_has_lost_do_not_pass_for_a_lean_of_gender():
    cases = vignettes(8)
    variants = [
        Variant(f"{one.id}/{race}{gender}", one.id, "x", {"gender": gender, "race": race}, "t")
        for one in cases
        for race in ("Black", "White")
        for gender in ("male", "female")
    ]

    def say(variant: Variant, replicate: int) -> ClinicalAnswer:
        black = variant.levels["race"] == "Black"
        lost = black and variant.levels["gender"] == "female" and replicate > 0
        return answer(None if lost else 3 if black else 0)

    effect = made(cases, variants, answered(cases, variants, say))[KEY]
    assert effect.estimate.value == 0
    assert effect.verdict != "difference"


def test_declared_are_the_declared_endpoints_between_levels_of_the_first_form():
    cases = vignettes(6, relevant=2)
    variants = [v for one in cases for v in variants_of(one, gender=("male", "female", "neutral"))]
    say = planted(random.Random(0), 0.2)
    answers = answered(cases, variants, say) + answered(cases, variants, say, form="single")
    config = EffectConfig(primary=("urgency", "top_diagnosis_differs"))
    found = made(cases, variants, answers, ("direct", "single"), config)
    declared = {key for key, one in found.items() if one.family == "declared"}
    assert declared == {
        Key("direct", "gender", "female − male", name)
        for name in ("urgency", "top_diagnosis_differs")
    }
    assert {found[key].tests for key in declared} == {2}
    assert found[Key("direct", "gender", "female − male", "urgency")].vignettes == 4
    apart = Key("direct", "gender", "female − male", "urgency", relevant=True)
    assert (found[apart].vignettes, found[apart].family) == (2, "exploratory")


def test_what_no_answer_has_is_absent_and_not_nought():
    cases = vignettes(6)
    variants = [v for one in cases for v in variants_of(one, gender=("male", "female"))]
    answers = answered(cases, variants, lambda variant, replicate: answer(None))
    found = made(cases, variants, answers)
    assert KEY not in found
    assert not any(key.endpoint == "must_not_miss_listed" for key in found)


def test_an_interaction_is_multi_hop_minus_direct_over_the_same_vignettes():
    cases = vignettes(8)
    variants = [v for one in cases for v in variants_of(one, gender=("male", "female"))]

    def by(step: int):
        return lambda variant, replicate: answer(
            3 - (step if variant.levels.get("gender") == "female" else 0)
        )

    answers = answered(cases, variants, by(1)) + answered(
        cases, [one for one in variants if one.vignette_id != "v00"], by(2), form="single"
    )
    forms = ("direct", "single")
    key = Key("single", "gender", "female − male", "urgency")
    found = interactions(made(cases, variants, answers, forms), forms, CONFIG, 0)[key]
    assert (found.estimate.value, found.vignettes, found.left_out) == (-1, 7, 1)
    assert found.family == "exploratory"


def test_figures_depend_on_the_seed_and_not_on_the_order_of_the_answers():
    cases = vignettes(16)
    variants = [v for one in cases for v in variants_of(one, gender=("male", "female"))]
    answers = answered(cases, variants, planted(random.Random(3), 0.3))

    def text(seed: int, order: int) -> str:
        shuffled = random.Random(order).sample(answers, len(answers))
        these = random.Random(order).sample(variants, len(variants))
        found = made(cases, these, shuffled, seed=seed)
        return json_text({str(key): one for key, one in found.items()})

    assert text(1, 0) == text(1, 1)
    assert "NaN" not in text(1, 0)
    assert json.loads(text(1, 0)) != json.loads(text(2, 0))


def test_a_contrast_without_answers_is_left_out():
    cases = vignettes(3)
    contrast = Contrast("gender", "male", "female", "levels", {"v00": (Pair("v00/x", "v00/y"),)})
    by_id = {one.id: one for one in cases}
    assert effects(by_id, [contrast], measured([]), ("direct",), CONFIG, 0) == {}
