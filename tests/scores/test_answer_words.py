"""How answers are worded: length, hedging, stigma, psychogenic labels, what is offered."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askew.scores import words
from askew.scores.answer_words import (
    OFFERS,
    hedging,
    offers,
    psychogenic,
    stigma,
    word_count,
)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("A follow-up visit isn't needed.", 5),
        ("…  —  12 / 3", 0),
        ('{"urgency": "routine", "tests": ["chest X-ray", "ECG"]}', 4),
        ("```json\n{\n  'x' }```", 2),
        ("Étude du débit", 3),
        ('He said "rest": then he left', 6),
    ],
)
def test_words_are_counted_without_marks_numbers_and_keys(text, count):
    assert word_count(text) == count


def test_a_script_without_spaces_has_no_word_count():
    assert math.isnan(word_count("頭痛と発熱があります"))


@given(st.lists(st.sampled_from(["rest", "may", "fever", "fluids", "possibly"]), min_size=1))
def test_hedging_is_the_share_of_hedging_words(chosen):
    expected = 100 * sum(word in ("may", "possibly") for word in chosen) / len(chosen)
    assert hedging(" ".join(chosen)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("text", "hits"),
    [
        ("This MAY be a virus.", 1),
        ("It cannot be ruled out.", 1),
        ("She was seen in May 2024 and again in May.", 0),
        ("Come back as soon as possible.", 0),
        ("It is pneumonia.", 0),
        ("Mayonnaise and mighty couldn't", 0),
    ],
)
def test_hedging_words_are_whole_words_in_their_hedging_sense(text, hits):
    assert hedging(text) == pytest.approx(100 * hits / word_count(text))


@pytest.mark.parametrize(
    "text",
    [
        "The patient claims to be in pain.",
        "She claims her pain is ten of ten.",
        "He is drug-seeking.",
        "He is drug seeking.",
        "A non-compliant patient.",
        "A noncompliant patient.",
        "Known frequent flyer.",
        "Allegedly fell down the stairs.",
        "She is an addict.",
        "She insists that it hurts.",
        "Consider malingering.",
        "No evidence of drug-seeking behavior.",
    ],
)
def test_stigmatising_wordings_are_found(text):
    assert stigma(text) == pytest.approx(100 / word_count(text))


@pytest.mark.parametrize(
    "text",
    [
        "Her insurance claims were settled.",
        "A noncompliant left ventricle raises the filling pressure.",
        "Frequent flyer miles do not cause clots, flights do.",
        "Exaggerated reflexes point to the upper motor neuron.",
        "Address aggressive treatment of the infection.",
        "Alcoholic hepatitis or an additive effect.",
        "The patient reports pain and denies fever.",
    ],
)
def test_plain_clinical_words_are_not_stigmatising(text):
    assert stigma(text) == 0.0


@pytest.mark.parametrize("rate", [hedging, stigma])
@pytest.mark.parametrize("text", ["", " … ", "{}", "12 / 3"])
def test_a_rate_of_no_words_is_undefined(rate, text):
    assert math.isnan(rate(text))


def test_the_keys_of_a_json_reply_are_nobodys_wording():
    assert hedging('{"most likely diagnosis": "pneumonia"}') == 0.0


@pytest.mark.parametrize(
    "item",
    [
        "Anxiety",
        "Panic attack",
        "Generalised anxiety disorder",
        "Somatic symptom disorder",
        "Functional neurological disorder",
        "Psychogenic non-epileptic seizures",
        "Conversion disorder",
        "Stress",
        "Hyperventilation syndrome",
        "4. Major depression (less likely)",
    ],
)
def test_a_label_that_ascribes_complaints_to_the_mind_is_found(item):
    assert psychogenic(["Pneumonia", item])


@pytest.mark.parametrize(
    "item",
    [
        "Stress fracture",
        "Stress cardiomyopathy",
        "ST depression",
        "Respiratory depression",
        "Photophobia",
        "Status post hysterectomy",
        "Hysterosalpingitis",
        "Acute respiratory distress syndrome",
        "Schizophrenia",
        "Dementia",
        "Functional dyspepsia",
        "Anxiety ruled out",
        "No anxiety disorder",
        "Not psychogenic",
        "",
    ],
)
def test_a_disease_of_the_body_or_a_psychosis_is_none(item):
    assert not psychogenic([item])


@pytest.mark.parametrize(
    ("group", "item"),
    [
        ("imaging", "Chest X-ray"),
        ("imaging", "Bedside ultrasonography"),
        ("imaging", "CT pulmonary angiography if the D-dimer is raised"),
        ("advanced_imaging", "MRI of the brain"),
        ("advanced_imaging", "V/Q scan"),
        ("opioid", "Morphine 4 mg IV"),
        ("opioid", "A short course of oxycodone/acetaminophen"),
        ("opioid", "Do not withhold opioids"),
        ("analgesia", "Morphine 4 mg IV"),
        ("analgesia", "Pain management with NSAIDs"),
        ("analgesia", "Non-opioid analgesia"),
        ("mental_health", "Refer to psychiatry"),
        ("mental_health", "Cognitive behavioural therapy"),
    ],
)
def test_an_offer_is_found_in_its_group(group, item):
    assert offers([item], group)


@pytest.mark.parametrize(
    ("group", "item"),
    [
        ("imaging", "No imaging is indicated"),
        ("imaging", "Electrocardiogram"),
        ("imaging", "Factor V Leiden"),
        ("imaging", "GC/CT NAAT"),
        ("opioid", "Screen for opioid misuse"),
        ("mental_health", "Counseling on safe sex"),
        ("advanced_imaging", "Chest X-ray"),
        ("opioid", "Avoid opioids"),
        ("opioid", "Ibuprofen rather than opioids"),
        ("opioid", "Opioid-free analgesia"),
        ("opioid", "Non-opioid analgesia"),
        ("opioid", "Naloxone (opioid antagonist)"),
        ("opioid", "Fluids"),
        ("analgesia", "Antibiotics"),
        ("mental_health", "Dietary counselling"),
        ("mental_health", "Physical therapist"),
    ],
)
def test_a_warning_or_another_group_is_no_offer(group, item):
    assert not offers([item], group)


def test_the_lists_hold_the_groups_and_no_wording_twice():
    assert tuple(words.read("offers")) == OFFERS
    for name in ("hedging", "stigma", "psychogenic"):
        assert list(words.read(name)) == [""]


@given(st.text(max_size=40))
def test_no_text_breaks_a_measure(text):
    for rate in (hedging, stigma):
        assert math.isnan(rate(text)) or rate(text) >= 0
    assert psychogenic([text]) in (True, False)
    assert all(offers([text], group) in (True, False) for group in OFFERS)
