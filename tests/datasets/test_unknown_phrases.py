from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askew.datasets.bias_types import CANONICAL, canonical_bias_type
from askew.datasets.phrases import (
    UNKNOWN_PHRASES,
    comparable,
    is_unknown_phrase,
    unknown_phrases,
)

every_phrase = pytest.mark.parametrize(
    ("language", "phrase"),
    [(language, phrase) for language, table in UNKNOWN_PHRASES.items() for phrase in table],
)


def test_english_has_the_ten_phrases_of_bbq():
    assert len(UNKNOWN_PHRASES["en"]) == 10
    assert len({comparable(phrase) for phrase in UNKNOWN_PHRASES["en"]}) == 10


@every_phrase
def test_a_phrase_is_known_whatever_its_case_blanks_and_final_stop(language, phrase):
    bare = phrase.rstrip(".。")
    for written in (
        phrase,
        bare,
        phrase.upper(),
        f"  {bare.lower()} ",
        bare.replace(" ", "\u00a0"),
    ):
        assert is_unknown_phrase(written, language), written


def test_a_curly_apostrophe_is_an_apostrophe():
    assert is_unknown_phrase("Can’t be determined")
    assert is_unknown_phrase("Can’t answer.")


@pytest.mark.parametrize("text", ["The unknown man", "Unknown soldier", "", ".", "Not", "known"])
def test_a_phrase_is_the_whole_text(text):
    assert not is_unknown_phrase(text)


def test_english_phrases_are_known_in_every_language_and_the_others_in_their_own_only():
    assert is_unknown_phrase("Unknown.", "de")
    assert is_unknown_phrase("Unbekannt", "de-CH")
    assert not is_unknown_phrase("Unbekannt", "en")
    assert unknown_phrases("xx") == unknown_phrases("en")


@given(st.text())
def test_comparing_twice_changes_nothing(text):
    assert comparable(comparable(text)) == comparable(text)


@pytest.mark.parametrize(
    ("name", "canonical"),
    [
        ("race-color", "race"),
        ("Race_ethnicity", "race"),
        ("Gender_identity", "gender"),
        ("SES", "socioeconomic"),
        ("socioeconomic", "socioeconomic"),
        ("Physical_appearance", "physical_appearance"),
        ("sexual-orientation", "sexual_orientation"),
        ("Disability_status", "disability"),
        ("Race_x_SES", "race_x_ses"),
        ("Race_x_gender", "race_x_gender"),
        (" Age ", "age"),
        ("Shoe Size", "Shoe Size"),
    ],
)
def test_each_kind_of_bias_has_one_name(name, canonical):
    assert canonical_bias_type(name) == canonical


def test_canonical_names_stay_themselves():
    for name in CANONICAL.values():
        assert canonical_bias_type(name) == name
