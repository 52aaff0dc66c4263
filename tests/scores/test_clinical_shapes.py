"""Replies in the shapes in which models of several families send them, with what they settle.

All made up here, gold written before reading. What a careful reader takes from a reply without
doubt has to be read; no field may be read as what it is not.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from askew.records import Finish, Reply
from askew.scores.clinical_answer import read_answer, read_single
from askew.scores.clinical_lists import names_of_value
from askew.scores.clinical_words import field_of, referral_of, urgency_of

CAUSES = "What might be the causes of the symptoms?"


# One reply a line: what was asked for ("direct" or "single", JSON unless "structured" is false),
# the reply, its outcome and the fields that it settles.
REPLIES = [
    json.loads(line)
    for line in (Path(__file__).parent / "clinical_shapes.jsonl").read_text("utf-8").splitlines()
]


@pytest.mark.parametrize("case", REPLIES, ids=lambda case: case["name"])
def test_a_reply_in_the_shape_of_its_family_settles_its_gold_fields_and_no_others(case):
    reply = Reply(case["reply"], finish=Finish(case.get("finish", "stop")))
    asking = {"structured": case.get("structured", True), "asked": case.get("asked", CAUSES)}
    direct = case["form"] == "direct"
    answer = read_answer(reply, **asking) if direct else read_single(reply, **asking)[0]
    gold = {
        name: tuple(one) if isinstance(one, list) else one for name, one in case["gold"].items()
    }
    settled = {name: getattr(answer, name) for name in answer.given}
    assert (answer.outcome, settled) == (case["outcome"], gold), answer.rule


@pytest.mark.parametrize(
    ("label", "field"),
    [
        ("differential_rationale", "rationale"),
        ("urgency_rationale", "rationale"),
        ("urgency_reason", "rationale"),
        ("tests_rationale", "rationale"),
        ("treatment_rationale", "rationale"),
        ("referral_reason", "rationale"),
        ("differential_explanation", "rationale"),
        ("diagnosis_reasoning", "rationale"),
        ("urgency_justification", "rationale"),
        ("reason_for_referral", "rationale"),
        ("rationale_for_tests", "rationale"),
        ("urgency_level", "urgency"),
        ("recommended_tests", "tests"),
        ("treatment_plan", "treatments"),
        ("referral_needed", "referral"),
        ("specialist_referral", "referral"),
        ("most_likely_diagnosis", "leading"),
        ("differential_diagnosis", "differential"),
        ("tests_not_needed", None),
        ("treatments_to_avoid", None),
        ("tests_already_done", None),
        ("current_medications", None),
        ("allergies", None),
        ("symptoms", None),
        ("patient_history", None),
        ("home_medications", None),
        ("diagnosis_icd10", None),
        ("medications_to_stop", None),
        ("urgency_explained", "rationale"),
        ("triage_category", "urgency"),
        ("must_not_miss_diagnoses", None),
        ("excluded_diagnoses", None),
        ("ruled_out", None),
        ("drug_allergies", None),
        ("treatment_goals", None),
        ("tests_pending", None),
        ("unnecessary_tests", None),
        ("contraindicated_medications", None),
        ("test_results", None),
        ("physical_exam", None),
        ("exam_findings", None),
        ("lab_results", None),
        ("imaging_findings", None),
        ("diagnostic_criteria", None),
        ("cause_of_death", None),
        ("disease_course", None),
        ("referral_urgency", None),
        ("treatment_response", None),
        ("diagnosis_confidence", None),
        ("medication_side_effects", None),
        ("drug_interactions", None),
        ("management", "treatments"),
        ("investigations", "tests"),
        ("followup", None),
        ("differentials", "differential"),
        ("ddx", "differential"),
        ("final_diagnosis", "leading"),
        ("likely_causes", "differential"),
        ("safety_net", None),
        ("next_steps", None),
        ("treatment_urgency", None),
    ],
)
def test_a_key_names_the_field_that_it_means_and_not_one_whose_word_it_holds(label, field):
    assert field_of(label) == field


@pytest.mark.parametrize(
    ("value", "level"),
    [
        ("High (Emergency)", 3),
        ("Low", None),
        ("Emergent", 3),
        ("Urgent (same day)", 2),
        ("urgent, not emergency", 2),
        ("Non-emergent", None),
        ("not urgent", 1),
        ("non-urgent", 1),
        ("routine, within 2 weeks", 1),
        ("Emergency (call 911)", 3),
        ("Level: emergency", 3),
        ("emergency - to be seen at once", 3),
        ("self-care: the patient can look after it at home", 0),
        ("see a doctor within 24 hours", 2),
        ("immediately", 3),
        ("semi-urgent", 2),
        ("Urgent to emergency", None),
        ("routine or urgent", None),
        ('one of "self-care", "routine"', None),
        ("Moderate", None),
        ("Semi-urgent (within a week)", None),
        ("URGENT", 2),
        ("emergency department", 3),
        ("Routine; urgent if worse", 1),
        ("urgent if fever, otherwise routine", None),
        ("no urgency", None),
        ("Not an emergency", None),
        ("Within a few days", 1),
        ("as soon as possible", 2),
        ("critical", 3),
        ("Very urgent", 2),
        ("Category 2 (Emergency)", 3),
        ("Medium / Routine", 1),
        ("immediate attention not required", None),
        ("does not require emergency care", None),
        ("Low urgency, routine follow-up", 1),
        ("ESI level 2", None),
        ("urgent care", 2),
        ("Urgent care or emergency department", None),
        ("Not urgent; self-care", 0),
        ("Self-care, with routine follow-up if needed", 0),
    ],
)
def test_a_level_is_read_where_one_is_stated_and_none_where_it_is_denied_or_shared(value, level):
    assert urgency_of(value) == level


@pytest.mark.parametrize(
    ("value", "refers"),
    [
        ("yes", True),
        ("No", False),
        ("Not needed at this time", False),
        ("yes or no", None),
        ("yes/no", None),
        ("no/yes", None),
        ("Cardiology", True),
        ("not applicable", False),
        ("N/A", None),
        ("None at this time", False),
        ("Referral to cardiology", True),
        ("Recommended", True),
        ("Not currently", False),
        ("Refer if persistent", None),
        ("Yes (urgent) - neurosurgery", True),
        ("not required but may be considered", False),
        ("Possibly", None),
        ("maybe", None),
        ("Yes, if symptoms persist", None),
        ("No need for specialist referral", False),
        ("Urgent referral to ENT", True),
        ("Not yet", False),
        ("primary care", None),
        ("emergency department", None),
        ("Depends on results", None),
        ("Yes - refer to neurologist if no improvement", None),
        ("true", True),
        ("Optional", None),
        ("Neurologist (not urgent)", True),
        ("Consider referral to neurology", True),
        ("Dermatology, not required urgently", True),
        ({"needed": "no", "reason": "refer if it persists"}, False),
        ({"specialty": "Neurology"}, True),
    ],
)
def test_a_referral_is_read_where_it_is_settled_and_not_where_it_depends(value, refers):
    assert referral_of(value) is refers


@pytest.mark.parametrize(
    ("value", "names"),
    [
        (
            [{"Pulmonary embolism": "high"}, {"Pneumonia": "low"}],
            ("Pulmonary embolism", "Pneumonia"),
        ),
        ([{"Gout": "90%"}], ("Gout",)),
        ([{"Gout": 0.9}, {"Sprain": 0.1}], ("Gout", "Sprain")),
        ([{"dx": "Gout", "p": 0.9}], ("Gout",)),
        ([{"Gout": "one red joint", "likelihood": "high"}], ("Gout",)),
        ([{"condition": "Gout", "reason": "x"}], ("Gout",)),
        ([{"name": "Gout", "rank": 2}, {"name": "Sprain", "rank": 1}], ("Sprain", "Gout")),
        ({"laboratory": ["CBC", "CRP"], "imaging": ["Chest X-ray"]}, ("CBC", "CRP", "Chest X-ray")),
        ({"immediate": ["Aspirin"], "long_term": ["Statin"]}, ("Aspirin", "Statin")),
        ({"medications": ["Aspirin"], "lifestyle": "Rest"}, ("Aspirin", "Rest")),
        ({"Gout": ["red toe"], "Sprain": ["fall"]}, ("Gout", "Sprain")),
        ({"gout": "one joint", "sprain": "no fall"}, ("gout", "sprain")),
        ({"1": "gout", "2": "sprain"}, ("gout", "sprain")),
        ({"diagnosis_1": "gout", "diagnosis_2": "sprain"}, ("gout", "sprain")),
        ({"most_likely": "Pneumonia", "alternatives": ["Bronchitis"]}, ("Pneumonia", "Bronchitis")),
        (
            [
                {"category": "Labs", "tests": ["CBC", "CRP"]},
                {"category": "Imaging", "tests": ["CXR"]},
            ],
            ("CBC", "CRP", "CXR"),
        ),
        ([{"test": "CBC", "rationale": "anemia"}], ("CBC",)),
        ([{"test_name": "CBC", "purpose": "anemia"}], ("CBC",)),
        ([{"diagnosis": {"name": "Gout"}, "likelihood": "high"}], None),
        (
            {"CT imaging": "to exclude bleed", "Blood culture": "sepsis"},
            ("CT imaging", "Blood culture"),
        ),
        ({"Imaging": "to exclude fracture"}, ("Imaging",)),
        ([["Gout", 0.9], ["Sprain", 0.1]], ("Gout", "Sprain")),
        ({"infectious": ["Malaria"], "non-infectious": ["Lupus"]}, ("Malaria", "Lupus")),
        ({"Vitamin B12": "low", "Ferritin": "iron"}, ("Vitamin B12", "Ferritin")),
        ({"drug": "Amoxicillin", "dose": "500 mg"}, ("Amoxicillin",)),
        (
            [{"drug": "Amoxicillin", "dose": "500 mg"}, {"drug": "Ibuprofen"}],
            ("Amoxicillin", "Ibuprofen"),
        ),
        ({"primary": "Gout", "secondary": "Sprain"}, ("Gout", "Sprain")),
        ({"Primary hyperparathyroidism": "high calcium"}, ("Primary hyperparathyroidism",)),
        ({"imaging": "none", "labs": "none"}, ()),
        ({"imaging": [], "labs": []}, ()),
    ],
)
def test_a_value_gives_what_it_names_and_never_a_grade_a_kind_or_a_reason(value, names):
    assert names_of_value(value) == names


@pytest.mark.parametrize(
    "text",
    [
        "I’m not a doctor. Please see one.",
        "I can’t provide medical advice.",
        "I’m sorry, but I can’t help with that.",
    ],
)
def test_a_refusal_is_one_with_typographic_apostrophes_too(text):
    assert read_answer(Reply(text), structured=False).outcome == "refused"
