"""The coherence gate hears a limit in everyday words, in trade names and in arithmetic."""

from __future__ import annotations

import pytest

pytest.importorskip("spacy", reason="the clinical extra is not installed")

from askew.graphs import extract
from askew.perturb import coherent

BANDS = ("1-10", "20-35", "40-60", "65-80")
GENDERS = ("female", "male")


def impossible(text: str) -> set[str]:
    """The bands and genders at which the case contradicts itself."""
    facts = extract(text)
    found = {band for band in BANDS if coherent(facts, {"age": band}).kind == "impossible"}
    return found | {
        gender for gender in GENDERS if coherent(facts, {"gender": gender}).kind == "impossible"
    }


@pytest.mark.parametrize(
    ("text", "levels"),
    [
        # childbearing
        ("A 29-year-old woman, whose baby is due next month, has hives.", "male 1-10 65-80"),
        ("A 26-year-old woman is carrying twins and feels faint.", "male 1-10 65-80"),
        ("A 31-year-old woman at 11 weeks is sick all day.", "male 1-10 65-80"),
        ("A 32-year-old woman, five months gone, has cramps.", "male 1-10 65-80"),
        ("A 30-year-old woman on maternity leave has hives.", "male 1-10 65-80"),
        ("A 33-year-old woman had a baby two weeks ago and sweats.", "male 1-10 65-80"),
        ("A 35-year-old woman has cracked nipples.", "male 1-10 65-80"),
        ("A 37-year-old woman had her eggs frozen.", "male 1-10"),
        # contraception
        ("A 27-year-old woman was fitted with a coil in May.", "male 1-10 65-80"),
        ("A 22-year-old woman on Microgynon has calf pain.", "male 1-10 65-80"),
        # cycles
        ("A 28-year-old woman has irregular cycles.", "male 1-10 65-80"),
        ("A 46-year-old woman passes clots every month.", "male 1-10 65-80"),
        ("A 63-year-old woman bled eight years after the change.", "male 1-10 20-35"),
        # semen
        ("A 38-year-old man found blood in his semen.", "female 1-10"),
        ("A 34-year-old man with azoospermia is tired.", "female 1-10"),
        ("A 5-year-old boy has one ball that has not come down.", "female"),
    ],
)
def test_a_body_told_in_everyday_words(text, levels):
    assert set(levels.split()) <= impossible(text)


@pytest.mark.parametrize(
    "text",
    [
        "A 5-month-old boy was switched to a soy formula.",
        "A 9-week-old girl vomits after feeds.",
        "A 6-week-old boy cries after every bottle.",
        "A 10-month-old girl has eczema and is given formula at night.",
        "A 3-month-old boy had his vaccines at 2 months and has cried since.",
        "A 9-month-old girl wheezes; her mother breastfeeds her.",
        "A 7-month-old girl has started solids.",
        "A 13-month-old boy took his first steps last week.",
        "A 17-month-old boy does not walk yet. He crawls.",
        "A 4-day-old girl has a red cord stump.",
        "A 2-year-old boy was found in his cot.",
        "A 19-month-old boy has his health visitor worried.",
        "A 3-year-old girl choked at her childminder's.",
        "A 4-year-old girl started reception last month.",
        "A 9-year-old girl is in Year 5.",
        "A 6-year-old boy lost his first milk tooth.",
    ],
)
def test_a_childhood_told_in_everyday_words(text):
    assert {"20-35", "40-60", "65-80"} <= impossible(text)


@pytest.mark.parametrize(
    ("text", "bands"),
    [
        ("A 71-year-old pensioner is breathless.", "1-10 20-35"),
        ("A 73-year-old woman had her golden wedding.", "1-10 20-35 40-60"),
        ("A 68-year-old man had his 40th wedding anniversary.", "1-10 20-35"),
        ("A 56-year-old man whose daughter got married has a cough.", "1-10 20-35"),
        ("A 52-year-old woman has a son at university.", "1-10 20-35"),
        ("A 70-year-old grandmother of nine has hives.", "1-10 20-35"),
        ("A 43-year-old man served two tours in Afghanistan.", "1-10"),
        ("A 22-year-old man lost his driving licence.", "1-10"),
        ("A 36-year-old man on paternity leave has hives.", "1-10"),
        ("A 40-year-old man has an ex-wife who has herpes.", "1-10"),
        ("A 25-year-old master's student has a cough.", "1-10"),
        ("A 20-year-old conscript limps.", "1-10 65-80"),
        # arithmetic
        ("A 63-year-old foreman retired after 40 years at the steelworks.", "1-10 20-35"),
        ("A 75-year-old man lost his wife of 51 years.", "1-10 20-35 40-60"),
        ("A 64-year-old man with a 40 pack-year history coughs.", "1-10 20-35"),
        ("A 50-year-old man gave up cigarettes in 1999.", "1-10 20-35"),
        ("A 66-year-old man retired from the police in 2015.", "1-10 20-35"),
        ("A 58-year-old woman has been a hairdresser since 1990.", "1-10 20-35"),
        ("A 79-year-old man was in the navy in 1965.", "1-10 20-35 40-60"),
        ("A 66-year-old man has had lupus since his forties.", "1-10 20-35"),
        ("A 66-year-old woman has had lupus for three decades.", "1-10"),
        ("A 70-year-old man has taken lithium for half a century.", "1-10 20-35"),
        ("A 58-year-old man took methotrexate throughout the 1990s.", "1-10"),
    ],
)
def test_a_grown_life_told_in_everyday_words(text, bands):
    assert set(bands.split()) <= impossible(text)


@pytest.mark.parametrize(
    "text",
    [
        "A 52-year-old woman has hives. Her daughter is on maternity leave.",
        "A 47-year-old man has hives. His sister was fitted with a coil.",
        "A 33-year-old man has hives. His baby is teething.",
        "A 45-year-old woman had a coil embolised in an aneurysm.",
        "A 3-year-old boy drank a bottle of cough syrup.",
        "A 38-year-old woman is better since the change in dose.",
    ],
)
def test_everyday_words_bind_nobody_else(text):
    assert not impossible(text) & {"20-35", "40-60", "female", "male"}


def test_who_has_never_had_a_period_can_be_a_girl():
    text = "A 15-year-old girl has not yet had menarche."
    assert "male" in impossible(text)
    assert not {"1-10", "20-35"} & impossible(text)
    assert not set(BANDS) & impossible("A 16-year-old girl has never had a period.")
