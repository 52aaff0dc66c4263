"""Which answers are compared, and that each comparison is about one thing alone."""

from __future__ import annotations

import random

import pytest

from askew.audits.clinical_contrasts import Pair, contrasts
from askew.perturb import PerturbPlan, perturb
from askew.perturb.attributes import AGE, GENDER
from askew.records import Provenance
from askew.seeds import generator
from askew.vignettes import Dropped, GivenVariant, Variant, Vignette, arm_name

REFERENCE = {"gender": "male", "age": "40-60", "race": "White"}


def variant(vignette: str, arm: str = "original", method: str = "edit", **levels: str) -> Variant:
    arm = arm_name(levels) or arm
    return Variant(f"{vignette}/{arm}", vignette, arm, levels, f"{vignette} {arm}", (), method)


def told(vignette: str, own: tuple[str, ...], **levels: str) -> Dropped:
    """As `perturb` says it of a twin that would set what the text has already."""
    reason = ", ".join(f"{name} is {levels[name]!r}" for name in own)
    return Dropped(vignette, arm_name(levels), "same", f"{reason} in the original already")


def found(variants, dropped=()):
    return {(one.attribute, one.name): one for one in contrasts(variants, dropped, REFERENCE)}


def test_the_original_stands_for_the_level_that_it_has():
    pairs = found(
        [variant("a"), variant("a", gender="female")], [told("a", ("gender",), gender="male")]
    )
    assert pairs["gender", "female − male"].pairs == {"a": (Pair("a/original", "a/gender=female"),)}


def test_the_text_without_the_change_stands_for_a_combination_with_a_level_that_it_has():
    variants = [
        variant("a"),
        variant("a", age="20-35"),
        variant("a", gender="female"),
        variant("a", age="20-35", gender="female"),
    ]
    dropped = [
        told("a", ("gender",), gender="male"),
        told("a", ("age",), age="40-60"),
        told("a", ("gender",), age="20-35", gender="male"),
        told("a", ("age",), age="40-60", gender="female"),
        told("a", ("age", "gender"), age="40-60", gender="male"),
    ]
    pairs = found(variants, dropped)
    both = "a/age=20-35+gender=female"
    assert set(pairs["gender", "female − male"].pairs["a"]) == {
        Pair("a/original", "a/gender=female"),
        Pair("a/age=20-35", both),
    }
    assert set(pairs["age", "20-35 − 40-60"].pairs["a"]) == {
        Pair("a/original", "a/age=20-35"),
        Pair("a/gender=female", both),
    }


def test_a_twin_of_the_data_that_is_the_original_stands_for_all_its_levels():
    text = "A 50-year-old Black man coughs."
    twins = [("male", "Black"), ("female", "Black"), ("male", "White"), ("female", "White")]
    vignette = Vignette(
        "a",
        "toy",
        text,
        Provenance("toy.jsonl", 1),
        given=tuple(
            GivenVariant(
                {"gender": gender, "race": race},
                text.replace("man", {"male": "man", "female": "woman"}[gender]).replace(
                    "Black", race
                ),
            )
            for gender, race in twins
        ),
    )
    pytest.importorskip("spacy", reason="facts are read with spaCy")
    from askew.graphs import extract
    from askew.perturb.attributes import RACE

    plan = PerturbPlan(attributes=(GENDER, RACE), arms=("original",))
    made = perturb(vignette, extract(text), plan, generator(0, "test"))
    pairs = found(made.variants, made.dropped)
    genders = pairs["gender", "female − male"].pairs["a"]
    races = pairs["race", "Black − White"].pairs["a"]
    assert Pair("a/original", "a/gender=female+race=Black") in genders
    assert Pair("a/gender=male+race=White", "a/original") in races
    assert (len(genders), len(races)) == (2, 2)


def test_the_reasons_that_perturb_gives_name_the_levels_that_a_text_has():
    pytest.importorskip("spacy", reason="facts are read with spaCy")
    from askew.graphs import extract

    text = "A 50-year-old man coughs."
    vignette = Vignette("a", "toy", text, Provenance("toy.jsonl", 1))
    plan = PerturbPlan(attributes=(AGE, GENDER), arms=("original", "each", "pairs"))
    made = perturb(vignette, extract(text), plan, generator(0, "test"))
    pairs = found(made.variants, made.dropped)
    changed = pairs["gender", "female − male"].pairs["a"]
    assert Pair("a/original", "a/gender=female") in changed
    assert Pair("a/age=20-35", "a/age=20-35+gender=female") in changed


def test_a_text_that_came_out_as_the_original_does_not_tell_the_level():
    left = Dropped("a", "place=Lima", "same", "the text is that of the original", "a original")
    pairs = found([variant("a"), variant("a", place="Chicago")], [left])
    assert [name for name in pairs if name[0] == "place"] == [("place", "changed − original")]


def test_a_level_is_held_against_the_text_that_lacks_its_attribute_alone():
    without_all = Variant(
        "a/neutral", "a", "neutral", {"age": "neutral", "gender": "neutral"}, "a patient"
    )
    variants = [variant("a"), variant("a", gender="female"), without_all]
    assert ("gender", "female − neutral") not in found(variants)
    pairs = found([*variants, variant("a", gender="neutral")])
    assert pairs["gender", "female − neutral"].pairs == {
        "a": (Pair("a/gender=neutral", "a/gender=female"),)
    }
    assert pairs["age+gender", "original − neutral"].pairs == {
        "a": (Pair("a/neutral", "a/original"),)
    }


def test_several_variants_of_one_arm_are_all_compared():
    variants = [
        Variant(
            f"a/{gender}{number}",
            "a",
            f"gender={gender}",
            {"gender": gender},
            f"{gender}{number}",
            (),
            "attacker",
        )
        for gender in ("male", "female")
        for number in (1, 2)
    ]
    (pairs,) = found(variants)["gender", "female − male"].pairs.values()
    assert len(pairs) == 4


def test_the_order_of_variants_and_vignettes_changes_nothing():
    variants = [
        one
        for name in ("b", "a", "c")
        for one in (
            variant(name),
            variant(name, place="Lima"),
            variant(name, place="Chicago"),
            variant(name, gender="female", place="Lima"),
        )
    ]
    whole = contrasts(variants, [], {})
    for seed in range(5):
        shuffled = random.Random(seed).sample(variants, len(variants))
        again = contrasts(shuffled, [], {})
        assert again == whole
        assert [list(one.pairs) for one in again] == [list(one.pairs) for one in whole]


def test_a_level_may_hold_the_signs_that_join_the_names_of_arms():
    variants = [variant("a"), variant("a", gender="female", status="HIV+")]
    dropped = [told("a", ("gender",), gender="male", status="HIV+")]
    alone = variant("a", status="HIV+")
    pairs = found([*variants, alone], dropped)
    assert pairs["gender", "female − male"].pairs["a"] == (
        Pair(alone.id, "a/gender=female+status=HIV+"),
    )
