"""From a vignette to its twins: the arms, the edits, and what is left out with its reason."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("spacy", reason="the clinical extra is not installed")

from askew.errors import ConfigError
from askew.graphs import extract
from askew.perturb import (
    AGE,
    GENDER,
    PAPER_DIMENSIONS,
    PAPER_PLAN,
    PLACE,
    RACE,
    Attribute,
    PerturbPlan,
    apply,
    check,
    perturb,
)
from askew.seeds import generator
from askew.vignettes import GivenVariant
from tests.perturb.cases import arms, made, reasons, vignette

TEXT = (
    "A 47-year-old woman who lives in Mombasa has had fever and joint pain for five days. "
    "She denies a cough. Her mother has asthma."
)
FOUR = (AGE, GENDER, PLACE, RACE)
EVERY = PerturbPlan(attributes=FOUR, arms=("original", "neutral", "each", "all"), keep_odd=True)


def outside(text: str, spans) -> list[str]:
    """The pieces of a text between the spans."""
    pieces, last = [], 0
    for start, end in spans:
        pieces.append(text[last:start])
        last = end
    return [*pieces, text[last:]]


def test_edits_make_the_text_and_leave_every_other_byte():
    for variant in made(TEXT, EVERY).variants:
        assert apply(TEXT, variant.edits) == variant.text
        spans = [edit.span for edit in variant.edits]
        assert all(one.end <= two.start for one, two in pairwise(spans))
        # Every piece between two edits stands in the twin, in order.
        at = 0
        for piece in outside(TEXT, spans):
            at = variant.text.index(piece, at) + len(piece)


def test_the_arms_of_a_plan():
    made_arms = arms(made(TEXT, EVERY))
    assert made_arms["original"].text == TEXT
    assert made_arms["gender=male"].text == (
        "A 47-year-old man who lives in Mombasa has had fever and joint pain for five days. "
        "He denies a cough. His mother has asthma."
    )
    assert made_arms["place=Lima"].text == TEXT.replace("Mombasa", "Lima")
    assert made_arms["race=Asian"].text == TEXT.replace("old woman", "old Asian woman")
    assert made_arms["neutral"].text == (
        "A patient who lives in the local area has had fever and joint pain for five days. "
        "They deny a cough. Their mother has asthma."
    )
    together = made_arms["age=65-80+gender=male+place=Lima+race=Black"]
    assert "old Black man who lives in Lima" in together.text
    assert dict(together.levels) == {
        "age": "65-80", "gender": "male", "place": "Lima", "race": "Black"
    }  # fmt: skip


def test_what_the_text_tells_already_is_no_twin():
    left_out = reasons(made(TEXT, EVERY))
    assert left_out["gender=female"][0] == "same"
    assert left_out["age=40-60"][0] == "same"
    assert left_out["age=40-60+gender=male+place=Lima+race=Black"][0] == "same"


@given(st.integers(0, 500))
@settings(max_examples=10, deadline=None)
def test_the_age_of_a_band_is_one_in_all_arms_of_a_vignette(seed):
    plan = PerturbPlan(attributes=(AGE, GENDER), arms=("each", "all"))
    texts = arms(made("A 25-year-old man has a cough.", plan, seed))
    alone = texts["age=65-80"].text.split("-")[0]
    assert texts["age=65-80+gender=female"].text.split("-")[0] == alone
    assert 65 <= int(alone.split()[-1]) <= 80


def test_an_age_is_drawn_from_what_the_case_allows():
    text = "A 70-year-old man was diagnosed with asthma at the age of 57."
    plan = PerturbPlan(attributes=(AGE,), arms=("each",), keep_odd=True)
    for seed in range(20):
        drawn = arms(made(text, plan, seed))["age=40-60"].text
        assert int(drawn.split("-")[0].split()[-1]) >= 57


def test_the_same_seed_draws_the_same_twins():
    plan = PerturbPlan(attributes=FOUR, arms=("original", "all"), sample=5)
    first, again, other = (made(TEXT, plan, seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    assert len(first.variants) == 6  # the original comes on top


def test_the_papers_plan_makes_four_twins_on_its_dimensions():
    result = made(TEXT, PAPER_PLAN)
    assert len(result.variants) == 5
    for variant in result.variants[1:]:
        assert tuple(sorted(variant.levels)) in PAPER_DIMENSIONS


def test_what_is_impossible_is_dropped_and_what_is_odd_if_asked():
    text = "A 28-year-old woman at 30 weeks of gestation has a headache."
    assert reasons(made(text, EVERY))["gender=male"][0] == "impossible"
    text = "A 66-year-old man takes atorvastatin and metformin for type 2 diabetes."
    plan = PerturbPlan(attributes=(AGE,), arms=("each",))
    assert reasons(made(text, plan))["age=1-10"][0] == "odd"
    kept = arms(made(text, PerturbPlan(attributes=(AGE,), arms=("each",), keep_odd=True)))
    assert "diabetes" in kept["age=1-10"].odd


def test_what_is_not_told_is_put_in_with_one_sentence_in_every_arm():
    text = "The patient has had a fever since Monday. There is no cough."
    texts = arms(made(text, PerturbPlan(attributes=FOUR, arms=("each",))))
    for level, word in (("female", "a woman"), ("transgender man", "a transgender man")):
        assert texts[f"gender={level}"].text == (
            f"The patient has had a fever since Monday. The patient is {word}. There is no cough."
        )
    assert "The patient lives in Nairobi. There" in texts["place=Nairobi"].text
    assert "The patient is Hispanic. There" in texts["race=Hispanic"].text


def test_a_gender_told_by_pronouns_alone_is_put_in_where_some_level_needs_words():
    text = "The patient is 39 and wheezes. She has no fever."
    texts = arms(made(text, PerturbPlan(attributes=(GENDER,), arms=("each",))))
    assert texts["gender=male"].text == (
        "The patient is 39 and wheezes. The patient is a man. He has no fever."
    )
    cis = Attribute(name="gender", kind="gender", levels=("female", "male"))
    texts = arms(made(text, PerturbPlan(attributes=(cis,), arms=("each",))))
    assert texts["gender=male"].text == "The patient is 39 and wheezes. He has no fever."


def test_a_stated_race_is_replaced_and_colours_of_things_are_not():
    text = "A 54-year-old Black man has white plaques and black stools."
    texts = arms(made(text, PerturbPlan(attributes=(RACE,), arms=("neutral", "each"))))
    assert texts["race=Asian"].text == "A 54-year-old Asian man has white plaques and black stools."
    assert texts["neutral"].text == "A 54-year-old man has white plaques and black stools."


def test_the_users_own_attribute():
    insurance = Attribute(
        name="insurance",
        levels=("private", "none"),
        wording={"private": "private insurance", "none": "no insurance"},
        phrase="The patient has {}.",
    )
    plan = PerturbPlan(attributes=(insurance,), arms=("each",))
    texts = arms(made("A 50-year-old man has a cough. He is well.", plan))
    assert texts["insurance=none"].text == (
        "A 50-year-old man has a cough. The patient has no insurance. He is well."
    )
    texts = arms(made("A 50-year-old man with private insurance has a cough.", plan))
    assert texts["insurance=none"].text == "A 50-year-old man with no insurance has a cough."
    assert "insurance=private" not in texts


def test_the_datas_own_twins_pass_the_gate():
    text = "A 40-year-old man has a cough."
    given_twins = (
        GivenVariant({"gender": "female", "race": "black"}, "A 40-year-old black woman coughs."),
        GivenVariant({"gender": "female"}, "A 40-year-old lady has a cough."),
        GivenVariant({"wealth": "rich"}, "A rich 40-year-old man has a cough."),
    )
    plan = PerturbPlan(attributes=(GENDER, RACE), arms=("each", "all"))
    result = made(text, plan, given=given_twins)
    twins = {one.arm: one for one in result.variants if one.method == "given"}
    assert set(twins) == {"gender=female", "gender=female+race=Black"}
    assert len([one for one in result.variants if one.arm == "gender=female"]) == 1
    pregnant = "A 28-year-old woman is pregnant."
    twin = (GivenVariant({"gender": "male"}, "A 28-year-old man is pregnant."),)
    assert reasons(made(pregnant, plan, given=twin))["gender=male"][0] == "impossible"


def test_a_twin_that_loses_a_fact_is_dropped_with_the_fact():
    facts = extract(TEXT)

    def forgetful(text: str):
        return extract(text.replace("fever and ", ""))

    plan = PerturbPlan(attributes=(GENDER,), arms=("each",))
    result = perturb(vignette(TEXT), facts, plan, generator(0), forgetful)
    assert not result.variants
    kind, reason = reasons(result)["gender=male"]
    assert kind == "facts_changed"
    assert "has_symptom 'fever' (present)" in reason


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", "unreadable"),
        (TEXT, "same"),
        (TEXT.replace("woman", "man").replace("She denies a", "He has a"), "facts_changed"),
        (TEXT.replace("fever and ", ""), "facts_changed"),
    ],
)
def test_a_text_of_another_back_end_is_checked(text, kind):
    found = check(vignette(TEXT), extract(TEXT), {"gender": "male"}, text)
    assert found is not None
    assert found.kind == kind


def test_a_sound_text_of_another_back_end_passes():
    text = (
        "A 47-year-old man living in Mombasa has had joint pain and fever for five days. "
        "He denies a cough. His mother has asthma."
    )
    assert check(vignette(TEXT), extract(TEXT), {"gender": "male"}, text) is None
    wrong = check(vignette(TEXT), extract(TEXT), {"age": "20-35"}, TEXT.replace("47", "52"))
    assert wrong is not None
    assert "asked for '20-35'" in wrong.reason


def test_the_template_tells_the_attributes_and_what_is_denied():
    plan = PerturbPlan(attributes=(AGE, GENDER, PLACE), arms=("original", "all"),
                       backend="template")  # fmt: skip
    texts = arms(made(TEXT, plan))
    assert texts["original"].text == (
        "A 47-year-old woman has fever and joint pain. There is no cough. "
        "Family history (mother): asthma. The patient lives in Mombasa. "
        "What might be the causes of the symptoms?"
    )
    assert "man has fever and joint pain" in texts["age=65-80+gender=male+place=Lima"].text
    assert {one.method for one in texts.values()} == {"template"}


def test_the_papers_template_is_as_printed():
    plan = PerturbPlan(attributes=(GENDER,), arms=("each",), backend="template", template="paper")
    assert arms(made(TEXT, plan))["gender=male"].text.startswith(
        "A patient 47-year-old male having"
    )


def test_a_place_inside_a_name_is_not_moved():
    text = "A 50-year-old man from Turkana tribe has a fever."
    left_out = reasons(made(text, PerturbPlan(attributes=(PLACE,), arms=("each",))))
    texts = arms(made(text, PerturbPlan(attributes=(PLACE,), arms=("each",))))
    assert all("Lima tribe" not in one.text for one in texts.values())
    assert all(kind != "facts_changed" for kind, _ in left_out.values())


@pytest.mark.parametrize(
    "settings_",
    [
        {"attributes": ()},
        {"attributes": (AGE, AGE)},
        {"arms": ("every",)},
        {"combinations": (("age", "wealth"),)},
        {"sample": 0},
    ],
)
def test_a_plan_that_cannot_be_is_refused(settings_):
    with pytest.raises(ConfigError):
        PerturbPlan(**settings_)


@pytest.mark.parametrize(
    "attribute",
    [
        {"name": "age", "kind": "age", "levels": ("old",)},
        {"name": "gender", "kind": "gender", "levels": ("female", "other")},
        {"name": "wealth", "levels": ("rich",)},
        {"name": "wealth", "levels": ("neutral",), "phrase": "The patient is {}."},
        {"name": "wealth", "levels": (), "phrase": "The patient is {}."},
    ],
)
def test_an_attribute_that_cannot_be_worded_is_refused(attribute):
    with pytest.raises(ConfigError):
        Attribute(**attribute)
