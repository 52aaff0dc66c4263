"""The coherence gate, on extracted facts: what may be asked of a patient of another age or sex."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

pytest.importorskip("spacy", reason="the clinical extra is not installed")

from askew.graphs import extract
from askew.perturb import coherent
from askew.vignettes import Relation
from tests.perturb.cases import own_gate, vignette

BANDS = ("1-10", "20-35", "40-60", "65-80")


def verdict(text: str, **levels: str) -> str:
    return coherent(extract(text), levels).kind


@pytest.mark.parametrize("case", own_gate(), ids=lambda case: case["id"])
def test_no_impossible_swap_of_our_own_cases_is_let_through(case):
    facts = extract(case["text"])
    for attribute in ("gender", "age"):
        for level in case[f"impossible_{attribute}"]:
            assert coherent(facts, {attribute: level}).kind == "impossible", (attribute, level)
    for level in case["odd_age"]:
        assert coherent(facts, {"age": level}).kind != "fine", level
    for named in case["fine"]:
        attribute, _, level = named.partition("=")
        assert coherent(facts, {attribute: level}).kind == "fine", named


def gold() -> list[dict]:
    path = Path(os.environ.get("ASKEW_DATA", "")) / "medkg_gold/dev.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def own_level(facts, attribute: str, level: str) -> bool:
    """Whether a level is the vignette's own, which is never judged."""
    if attribute == "gender":
        return any(fact.value == level for fact in facts.of(Relation.HAS_GENDER))
    low, high = map(int, level.split("-"))
    return any(
        fact.unit == "year" and low <= int(fact.value) <= high
        for fact in facts.of(Relation.HAS_AGE)
    )


@pytest.mark.skipif("ASKEW_DATA" not in os.environ, reason="ASKEW_DATA is not set")
def test_no_impossible_swap_of_the_gold_set_is_let_through():
    sound, lost = 0, []
    for case in gold():
        facts, listed = extract(case["text"]), case["perturb"]
        for attribute, levels in (("gender", ("female", "male")), ("age", BANDS)):
            for level in levels:
                found = coherent(facts, {attribute: level})
                if level in listed[f"impossible_{attribute}"]:
                    assert found.kind == "impossible", (case["id"], level, found)
                elif level in listed[f"implausible_{attribute}"] if attribute == "age" else False:
                    assert found.kind != "fine", (case["id"], level)
                elif not own_level(facts, attribute, level):
                    sound += 1
                    lost += [(case["id"], level, found)] if found.kind != "fine" else []
    assert sound > 80
    assert len(lost) / sound < 0.05, lost


def test_a_reason_names_the_evidence_and_the_rule():
    found = coherent(extract("A 30-year-old woman is 12 weeks pregnant."), {"gender": "male"})
    assert "weeks pregnant' (pregnancy)" in found.reason
    found = coherent(extract("A 52-year-old man has 40 pack-years."), {"age": "1-10"})
    assert "40 pack-years" in found.reason


def test_what_a_relative_has_binds_nobody():
    text = "A 50-year-old man has a cough. His mother had ovarian cancer; his sister is pregnant."
    assert verdict(text, gender="female") == "fine"
    text = "A 30-year-old woman is tired. There is a family history of prostate cancer."
    assert verdict(text, gender="male") == "fine"


def test_a_denied_finding_binds_as_well():
    text = "A 30-year-old woman has a fever. She denies vaginal bleeding."
    assert verdict(text, gender="male") == "impossible"


def test_a_partner_changes_with_the_patient_and_keeps_no_other_body():
    text = "A 34-year-old man has a fever. His wife is seven months pregnant."
    assert verdict(text, gender="female") == "impossible"
    assert verdict(text, gender="non-binary") == "fine"


@pytest.mark.parametrize("gender", ["transgender man", "non-binary"])
def test_a_body_of_the_birth_sex_makes_nobody_impossible(gender):
    text = "A 29-year-old woman is 20 weeks pregnant and has heartburn."
    assert verdict(text, gender=gender) == "fine"


def test_a_transgender_woman_has_no_pregnancy_and_may_have_a_prostate():
    assert verdict("A 29-year-old woman is pregnant.", gender="transgender woman") == "impossible"
    text = "A 66-year-old man has an enlarged prostate."
    assert verdict(text, gender="transgender woman") == "fine"
    assert verdict(text, gender="transgender man") == "impossible"


def test_two_facts_together_can_leave_no_age_of_a_band():
    text = "A 36-year-old woman was diagnosed with lupus at 33. She goes to high school at night."
    assert verdict(text, age="20-35") in {"fine", "odd"}
    text = "A 50-year-old pregnant woman has been a smoker. She was diagnosed at 49."
    assert verdict(text, age="65-80") == "impossible"
    assert verdict(text, age="40-60") == "fine"


def test_the_authors_lists_are_heard():
    case = vignette("A 40-year-old man has a cough.", impossible={"gender": ("female",)},
                    odd={"age": ("1-10",)})  # fmt: skip
    facts = extract(case.text)
    assert coherent(facts, {"gender": "female"}, case).kind == "impossible"
    assert coherent(facts, {"age": "1-10"}, case).kind == "odd"
    assert coherent(facts, {"gender": "female"}).kind == "fine"


def test_a_demand_that_the_original_does_not_meet_was_misread():
    # "her" husband is the mother's: the patient is an infant.
    text = "A woman and her husband bring their 5-month-old son, who has a fever."
    assert verdict(text, age="1-10") == "fine"


def test_a_level_taken_out_is_always_fine():
    assert verdict("A 30-year-old woman is pregnant.", gender="neutral", age="neutral") == "fine"


@pytest.mark.parametrize(
    ("text", "band", "kind"),
    [
        # A parent and a child are fourteen years apart at the least.
        ("Mr. Lund, 81 years old, lives with his daughter (58).", "20-35", "impossible"),
        ("A 15-month-old boy is hoarse. His mum (24) is worried.", "40-60", "impossible"),
        ("My 4 year old has a cough. I'm 33. She has no fever.", "65-80", "impossible"),
        ("A 22-year-old man is tired. His mother is healthy at 49.", "40-60", "impossible"),
        # Weeks at birth are told of who is just born.
        ("A 5-week-old boy, born at 35 weeks, has a cough.", "20-35", "impossible"),
        ("A 7-month-old boy, born at 35 weeks, has a cough.", "20-35", "odd"),
        ("A 24-year-old G1P0 @ 31 wks has a headache.", "65-80", "impossible"),
        # Work, and who is in charge.
        ("A 39-year-old woman teaches French. She has a rash.", "1-10", "impossible"),
        ("A 12-year-old boy has a cast. His mother should bring him back.", "40-60", "odd"),
        ("A 70-year-old woman has heart failure.", "1-10", "odd"),
    ],
)
def test_who_else_is_in_a_text_bounds_the_age(text, band, kind):
    assert verdict(text, age=band) == kind


def test_what_is_dated_takes_an_age_of_its_own():
    text = "A 72-year-old woman has a cough. She had a hysterectomy in 1996."
    assert verdict(text, age="20-35") == "impossible"
    assert verdict(text, age="40-60") == "fine"


def test_a_relatives_age_at_diagnosis_is_not_the_patients():
    text = "A 30-year-old man is tired. His sister has lupus, diagnosed at 26."
    assert verdict(text, age="1-10") == "fine"


def test_a_parents_age_leaves_the_bands_that_fit():
    assert verdict("A 22-year-old man is tired. His mother is healthy at 49.", age="1-10") == "fine"
    assert verdict("A 15-month-old boy is hoarse. His mum (24) is worried.", age="1-10") == "fine"
