"""Masking: twins that differ in demographics alone become one text."""

from __future__ import annotations

import pytest

pytest.importorskip("spacy", reason="the clinical extra is not installed")

from askew.perturb import AGE, GENDER, RACE, PerturbPlan, mask_demographics
from tests.perturb.cases import made

TELLING = {"he", "she", "his", "her", "hers", "him", "man", "woman", "boy", "girl", "mr", "mrs"}


def test_twins_become_equal():
    text = (
        "A 47-year-old man has had chest pain since Monday. He denies fever, and it woke him. "
        "His father had gout. Order an ECG for him."
    )
    plan = PerturbPlan(attributes=(AGE, GENDER, RACE), arms=("original", "each"), keep_odd=True)
    masked = {
        mask_demographics(one.text).replace("[group] ", "")
        for one in made(text, plan).variants
    }  # fmt: skip
    assert len(masked) == 1, masked


@pytest.mark.parametrize(
    "text",
    [
        "Mr. Lee is a 66M from Boston. His wife drove him. He's tired.",
        "This young Hispanic woman should see a gynecologist; she may be anxious.",
        "An elderly lady in her 80s, and a boy aged 7. Mrs. Poe knows.",
        "",
        "No words of anybody.",
    ],
)
def test_no_telling_word_is_left(text):
    masked = mask_demographics(text)
    words = {word.strip(".,;'") for word in masked.lower().replace("'", " ").split()}
    assert not words & TELLING
    for told in ("Boston", "Hispanic", "80s", "66", "Lee"):
        assert told not in masked


def test_the_medicine_stays():
    text = "Give 500 mg twice daily for 10 days; check the prostate and a white blood cell count."
    assert mask_demographics(text) == text
