"""What the diagnoses of an answer are called when answers are compared."""

from __future__ import annotations

import pytest

from askew.scores.answer_concepts import (
    diagnosis_concept,
    diagnosis_concepts,
    ranked_concepts,
)


@pytest.mark.parametrize(
    "item",
    [
        "Pulmonary embolism",
        "pulmonary emboli",
        "1. Pulmonary embolism (PE)",
        "PE (pulmonary embolism)",
        "**Acute pulmonary embolism**",
        "Suspected pulmonary embolism",
        "Rule out pulmonary embolism",
        "Pulmonary embolism, likely",
        "Pulmonary embolism - recent flight, pleuritic pain",
        "Pulmonary embolism: the flight and the leg pain fit",
        "Pulmonary embolism due to a deep vein thrombosis",
        "PULMONARY EMBOLISM.",
        "Pulmonary embolism 60%",
        "Pulmonary embolism with strain of the right heart",
        "Pulmonary embolism without infarction",
    ],
)
def test_one_diagnosis_has_one_name_however_it_is_worded(item):
    assert diagnosis_concept(item) == diagnosis_concept("pulmonary embolism")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Pulmonary embolism", "Pneumonia"),
        ("Type 1 diabetes", "Type 2 diabetes"),
        ("Hypothyroidism", "Hyperthyroidism"),
        ("Stable angina", "Myocardial infarction"),
        ("Ulcerative colitis", "Ischemic colitis"),
        ("Wibble syndrome", "Wobble syndrome"),
        ("Gonococcal pharyngitis", "Chlamydial pharyngitis"),
        ("Non-gonococcal urethritis", "Gonococcal urethritis"),
        ("Herpes simplex virus (HSV) pharyngitis", "Herpes simplex virus infection"),
        ("Acute pancreatitis", "Chronic pancreatitis"),
        ("Hepatitis B", "Hepatitis C"),
        ("Group A streptococcal wibble", "Group B streptococcal wibble"),
        ("心筋梗塞", "肺炎"),
        ("II型糖尿病", "II度熱傷"),
    ],
)
def test_two_diagnoses_have_two_names(one, other):
    assert diagnosis_concept(one) != diagnosis_concept(other)


def test_a_diagnosis_that_is_named_to_be_denied_is_not_listed():
    assert ranked_concepts(["No anemia", "Anxiety - ruled out", "Pneumonia excluded", "Gout"]) == (
        diagnosis_concept("gout"),
    )
    assert ranked_concepts(["Rule out pneumonia"]) == (diagnosis_concept("pneumonia"),)


def test_a_diagnosis_that_no_list_knows_keeps_its_words():
    assert diagnosis_concept("3) Possible Wibble’s syndrome (rare)") == "wibble syndrome"
    assert diagnosis_concept("Инфаркт миокарда") == "инфаркт миокарда"
    assert diagnosis_concept(" … ") == ""


def test_a_class_before_the_colon_is_not_the_diagnosis():
    assert diagnosis_concept("Cardiac: myocardial infarction") == diagnosis_concept("MI")
    assert diagnosis_concept("Wibble syndrome: fever") == "wibble syndrome"
    assert diagnosis_concept("Wibble syndrome (fever)") == "wibble syndrome"


def test_both_of_two_that_are_offered_as_either_are_named():
    both = diagnosis_concepts("Pneumonia or pulmonary embolism")
    assert {diagnosis_concept("pneumonia"), diagnosis_concept("PE")} <= both
    assert diagnosis_concept("Pneumonia/pulmonary embolism") == diagnosis_concept("pneumonia")


def test_a_diagnosis_that_comes_again_keeps_its_first_rank():
    ranked = ranked_concepts(["Pulmonary embolism", "Pneumonia", "PE", "", "pneumonia"])
    assert ranked == (diagnosis_concept("PE"), diagnosis_concept("pneumonia"))


def test_what_is_lacking_is_not_named():
    assert diagnosis_concept("sepsis") not in diagnosis_concepts("Pneumonia without sepsis")
    assert diagnosis_concept("sepsis") in diagnosis_concepts("Pneumonia with sepsis")
