"""Age: every form in which a text tells it, and the same form with another age."""

from __future__ import annotations

import pytest

pytest.importorskip("spacy", reason="the clinical extra is not installed")

from askew.graphs import extract
from askew.perturb.edits import apply, settle
from askew.perturb.people import find_people
from askew.perturb.rewrite import rewrite
from askew.perturb.wording import Target


def at(text: str, years: int | None) -> str:
    target = Target(years=years, ageless=years is None)
    return apply(text, settle(text, rewrite(find_people(text, extract(text)), target)))


@pytest.mark.parametrize(
    ("text", "years", "expected"),
    [
        ("A 47-year-old woman has a cough.", 8, "An 8-year-old girl has a cough."),
        ("An 8-year-old boy has a cough.", 47, "A 47-year-old man has a cough."),
        ("An 18 year old male has a cough.", 25, "A 25 year old male has a cough."),
        ("66 y/o M c/o SOB.", 24, "24 y/o M c/o SOB."),
        ("75F w/ chest pain.", 30, "30F w/ chest pain."),
        ("A sixty-two-year-old man has gout.", 44, "A forty-four-year-old man has gout."),
        ("A 6-month-old boy has croup.", 5, "A 5-year-old boy has croup."),
        ("A woman in her 80s fell.", 45, "A woman in her 40s fell."),
        ("A woman in her eighties fell.", 45, "A woman in her forties fell."),
        ("A woman in her late 70s fell.", 7, "A girl aged 7 fell."),
        ("The patient is 39 and she coughs.", 70, "The patient is 70 and she coughs."),
        ("An elderly 80-year-old man fell.", 30, "A young 30-year-old man fell."),
        ("A 3-week-old infant vomits.", 50, "A 50-year-old patient vomits."),
        ("A 15-year-old teenager has acne.", 70, "A 70-year-old patient has acne."),
    ],
)  # fmt: skip
def test_the_form_stays_and_the_nouns_follow(text, years, expected):
    assert at(text, years) == expected


@pytest.mark.parametrize(
    "kept",
    [
        "His 12-year-old son coughs too.",
        "His wife, a 44-year-old nurse, found him.",
        "It began 3 weeks ago.",
        "He was diagnosed at the age of 21.",
        "His father died at 61.",
        "He was born at 39 weeks.",
        "BP is 140/90, temperature 39.",
    ],
)
def test_other_numbers_stay(kept):
    text = f"A 47-year-old man has a fever. {kept}"
    assert at(text, 52) == f"A 52-year-old man has a fever. {kept}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A 47-year-old man has a cough.", "A male patient has a cough."),
        ("An 8-year-old girl has a cough.", "A female patient has a cough."),
        ("66 y/o M c/o SOB.", "Male patient c/o SOB."),
        ("The patient is 39 and she wheezes.", "The patient is of unstated age and she wheezes."),
    ],
)
def test_an_age_can_be_taken_out(text, expected):
    assert at(text, None).lower() == expected.lower()
