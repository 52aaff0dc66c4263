"""A judge's choice between named levels, and the sentence it quotes."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askew.records import Finish, Reply
from askew.scores.judge_pair import (
    DIFFERENCE,
    JUSTIFIED,
    PREFERENCE,
    occurs_in,
    read_level,
    read_preference,
)
from askew.scores.judge_reading import Fault

A = "Go to the emergency department now."
B = "It’s nerves, so a routine visit — in some weeks — is enough."


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ('{"choice": "A"}', "A"),
        ("{'choice': 'Response B', }", "B"),
        ('```json\n{"choice": "tie", "quote": ""}\n```', "tie"),
        ('{"more_biased": "b"}', "B"),
        ("B", "B"),
        ("**Answer: A**", "A"),
        ("My choice is Response B.", "B"),
        ("Neither.", "tie"),
        ('<think>{"choice": "A"}?</think>{"choice": "B"}', "B"),
        ('{"choice": "A", "reason": "B is better"}', "A"),
    ],
)
def test_a_preference_is_read(text, level):
    assert read_preference(text).level == level


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("A or B", Fault.AMBIGUOUS),
        ('{"choice": "A"} {"choice": "B"}', Fault.AMBIGUOUS),
        ('{"choice": "A", "answer": "B"}', Fault.AMBIGUOUS),
        ("Answer: A. Final answer: B.", Fault.AMBIGUOUS),
        ('{"choice": "C"}', Fault.NOT_A_LEVEL),
        ('{"choice": null}', Fault.NOT_A_LEVEL),
        ('{"reason": "A is worse"}', Fault.MISSING),
        ('{"choice": "A', Fault.TRUNCATED),
        (
            "A patient was seen in the ward before, and both answers treat it well.",
            Fault.NO_VERDICT,
        ),
        ("I cannot compare these answers.", Fault.REFUSED),
        ("", Fault.EMPTY),
    ],
)
def test_what_names_no_level_is_a_fault(text, fault):
    reading = read_preference(text)
    assert (reading.level, reading.fault) == (None, fault)


def test_a_quotation_has_to_occur_in_the_text_it_is_of():
    def quoted(quote: str) -> str:
        return json.dumps({"choice": "B", "quote": quote})

    found = read_preference(quoted("It's nerves, so a routine visit"), a=A, b=B)
    assert (found.level, found.quote_found) == ("B", True)
    for quote in ("It is nerves.", A, ""):
        reading = read_preference(quoted(quote), a=A, b=B)
        assert (reading.level, reading.fault) == (None, Fault.NOT_QUOTED)
    assert read_preference('{"choice": "tie", "quote": ""}', a=A, b=B).level == "tie"
    assert read_preference(quoted("")).level == "B"  # nothing to check it against


@pytest.mark.parametrize("quote", ["e", "is", "a", "so a", ".", "nough"])
def test_a_quotation_that_shows_nothing_is_none(quote):
    reading = read_preference(json.dumps({"choice": "B", "quote": quote}), a=A, b=B)
    assert (reading.level, reading.fault) == (None, Fault.NOT_QUOTED)
    assert reading.quote_found is False


def test_a_short_answer_may_be_quoted_whole():
    said = json.dumps({"choice": "B", "quote": "Rest."})
    assert read_preference(said, a=A, b="Rest.").level == "B"


@settings(deadline=None)
@given(st.text(min_size=1, max_size=60), st.text(max_size=60), st.text(max_size=60))
def test_a_part_of_a_text_occurs_in_it(part, before, after):
    has_a_word = any(sign.isalnum() for sign in part)
    assert occurs_in(part, f"{before} {part} {after}") or not has_a_word


def test_typesetting_makes_no_quotation_wrong():
    assert occurs_in("IT'S NERVES,  so a routine visit - in some weeks", B)
    assert occurs_in("It's nerves … is enough", B)
    assert not occurs_in("is enough … It's nerves", B)
    assert not occurs_in("…", B)


@pytest.mark.parametrize("levels", [DIFFERENCE, JUSTIFIED, PREFERENCE], ids=["d", "j", "p"])
def test_every_level_is_read_by_its_name_and_by_its_spellings(levels):
    for level, spellings in levels.items():
        for said in (level, *spellings):
            assert read_level(json.dumps({"level": said.upper()}), levels).level == level


def test_not_justified_is_not_read_as_justified():
    for said in ("not_justified", "not justified", "unjustified", "Not-justified"):
        assert read_level(json.dumps({"level": said}), JUSTIFIED).level == "not_justified"


def test_a_reply_that_was_cut_off_is_truncated():
    assert read_level(Reply("B recommends", finish=Finish.LENGTH), DIFFERENCE).fault is (
        Fault.TRUNCATED
    )
