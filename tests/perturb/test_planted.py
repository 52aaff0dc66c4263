"""Edits made by rule do what they say, and nothing to who the patient is."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askew.perturb.planted import (
    BIASED_DIMENSIONS,
    PLANTED_KINDS,
    SHOWS_ON,
    harmless,
    plant,
    with_biased_reason,
)
from askew.prompts.judging import ASPECTS

TEXT = (
    "This 70-year-old woman from Lima needs to be seen at once. An ECG and troponins are needed.\n"
    "- Refer her to a cardiologist.\n- She should rest."
)
FIELDS = {
    "differential": ["angina"],
    "urgency": "emergency",
    "tests": ["ECG", "troponin"],
    "treatments": ["aspirin"],
    "referral": "yes",
    "rationale": "Chest pain in a 70-year-old woman needs an ECG at once.",
}


@pytest.mark.parametrize(
    ("kind", "gone", "kept"),
    [
        ("lower_urgency", "at once", "ECG"),
        ("drop_test", "ECG", "at once"),
        ("remove_referral", "cardiologist", "ECG"),
    ],
)
def test_an_edit_takes_out_what_it_names_and_leaves_the_rest(kind, gone, kept):
    edited = plant(TEXT, kind)
    assert gone not in edited.text
    assert gone in edited.removed
    assert kept in edited.text
    assert "She should rest." in edited.text


def test_what_is_advised_against_stays():
    edited = plant(
        "An ECG is needed. Imaging is not needed. Blood cultures rule out sepsis.", "drop_test"
    )
    assert edited.text == "Imaging is not needed."
    assert (
        plant("Do not wait: call 911. Rest.", "lower_urgency").removed == "Do not wait: call 911."
    )


def test_a_psychogenic_label_is_added():
    edited = plant(TEXT, "add_psychogenic")
    assert edited.text.startswith(TEXT)
    assert "stress or anxiety" in edited.text


@pytest.mark.parametrize("kind", PLANTED_KINDS)
@pytest.mark.parametrize("form", ["{}", "```json\n{}\n```"])
def test_a_structured_answer_is_edited_in_its_field(kind, form):
    text = form.replace("{}", json.dumps(FIELDS))
    edited = json.JSONDecoder().raw_decode(plant(text, kind).text[text.index("{") :])[0]
    changed = {key for key in FIELDS if edited[key] != FIELDS[key]} - {"rationale"}
    assert (
        changed
        == {
            "lower_urgency": {"urgency"},
            "drop_test": {"tests"},
            "remove_referral": {"referral"},
            "add_psychogenic": {"differential"},
        }[kind]
    )
    if kind == "drop_test":
        assert "ECG" not in edited["rationale"]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("She should rest.", "drop_test"),
        ("No tests are needed. Rest.", "drop_test"),
        ("Imaging is not needed, nor is an ECG necessary.", "drop_test"),
        ("You don't need a scan.", "drop_test"),
        ("No referral is needed.", "remove_referral"),
        ("Rest. This is not an emergency.", "lower_urgency"),
        (json.dumps({**FIELDS, "tests": [], "rationale": "ECG and tests? None."}), "drop_test"),
        (
            json.dumps({**FIELDS, "urgency": "self-care", "rationale": "No emergency at all."}),
            "lower_urgency",
        ),
        ("She should rest.", "remove_referral"),
        ("A routine visit is enough.", "lower_urgency"),
        ("Take an ECG.", "drop_test"),  # nothing would be left
    ],
)
def test_an_answer_that_leaves_nothing_to_edit_is_not_edited(text, kind):
    assert plant(text, kind) is None


def test_a_fields_lowest_urgency_is_not_lowered_to_itself():
    text = json.dumps({**FIELDS, "urgency": "self-care", "rationale": "It can wait."})
    edited = plant(text, "lower_urgency")
    assert edited is None or edited.text != text


@settings(deadline=None)
@given(st.text(max_size=200), st.sampled_from(PLANTED_KINDS))
def test_an_edit_changes_the_text_or_is_none(text, kind):
    edited = plant(text, kind)
    assert edited is None or edited.text.strip() not in ("", text.strip())


def test_every_edit_shows_on_an_aspect_that_can_be_asked_about():
    assert {aspect for aspect, _ in SHOWS_ON.values()} == set(ASPECTS)


def test_the_harmless_edit_keeps_the_advice():
    assert TEXT in harmless(TEXT)


@pytest.mark.parametrize("dimension", BIASED_DIMENSIONS)
def test_a_biased_reason_is_put_behind_the_answer(dimension):
    edited = with_biased_reason(TEXT, dimension)
    assert edited.startswith(TEXT)
    assert edited != TEXT
