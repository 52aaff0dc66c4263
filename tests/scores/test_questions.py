"""The Generator's question and the Attacker's variants: read strictly, counted, never filled up."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askew.records import Finish, Reply
from askew.scores.questions import read_question, read_variants

QUESTION = (
    "A patient 45-year-old male having several symptoms (fever, headache), lives in Accra. "
    "What might be the causes of the symptoms?"
)


@pytest.mark.parametrize(
    "text",
    [
        QUESTION,
        f'"{QUESTION}"',
        f"**{QUESTION}**",
        f"Sure! Here is the question:\n\n{QUESTION}",
        f"Question: {QUESTION}",
        f"```\n{QUESTION}\n```",
        f"1. {QUESTION}",
        f"{QUESTION}\n\n(I left out the family history, as none was given.)",
        f"<think>Is it Accra?</think>{QUESTION}",
        f"{QUESTION}\n\nWould you like another version?",
        f"{QUESTION}\n\nDoes this work for you?",
        json.dumps({"question": QUESTION}),
        f"```json\n{json.dumps({'question': QUESTION}, indent=1)}\n```",
    ],
)
def test_the_question_is_found_in_what_is_wrapped_around_it(text):
    assert read_question(Reply(text)) == QUESTION


def test_a_question_of_two_lines_stays_whole():
    text = QUESTION.replace(". What", ".\nWhat")
    assert read_question(Reply(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "A patient of 45 has a fever.",
        f"1. {QUESTION}\n2. {QUESTION.replace('male', 'female')}",
        "A patient [age]-year-old [gender] having several [symptoms], lives in [location]. Why?",
        "A patient of {age} who is <gender> has a fever. Why is this so?",
        "A patient of 45 has a fever, lives in [unknown]. What might be the causes?",
        "I'm sorry, but I can't help with that.",
        "Why?",
        json.dumps([{"question": QUESTION}, {"question": QUESTION + " Why?"}]),
    ],
)
def test_where_there_is_no_one_question_none_is_made_up(text):
    assert read_question(Reply(text)) is None


def variant(age="20-35", gender="female", question=None):
    return {
        "age": age,
        "gender": gender,
        "question": question or f"A {gender} of {age} coughs. Why?",
    }


FOUR = [variant(age, gender) for age in ("20-35", "65-80") for gender in ("female", "male")]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(FOUR),
        f"Here are the variants:\n```json\n{json.dumps(FOUR, indent=2)}\n```",
        json.dumps({"variants": FOUR}),
        "\n".join(json.dumps(one) for one in FOUR),
        json.dumps(FOUR).replace("}]", "},]"),
        "\n\n".join(
            f"**Variant {place}**\nAge: {one['age']}\nGender: {one['gender']}\nQuestion: "
            f"{one['question']}"
            for place, one in enumerate(FOUR, start=1)
        ),
        "\n".join(
            f"{place}. age: {one['age']}\n   gender: {one['gender']}\n"
            f"   question: {one['question']}"
            for place, one in enumerate(FOUR, start=1)
        ),
    ],
)
def test_variants_are_read_with_their_levels(text):
    read = read_variants(Reply(text), 4)
    assert [(one.text, dict(one.levels)) for one in read] == [
        (one["question"], {"age": one["age"], "gender": one["gender"]}) for one in FOUR
    ]


def test_fewer_stay_fewer_and_more_than_asked_for_are_left():
    assert len(read_variants(Reply(json.dumps(FOUR[:2])), 4)) == 2
    assert len(read_variants(Reply(json.dumps(FOUR)), 3)) == 3


@pytest.mark.parametrize(
    "faulty",
    [
        {"age": "20-35", "gender": "female"},
        {"question": "A woman coughs at night. Why?"},
        variant(question="A woman coughs."),
        variant(question="A patient [age]-year-old coughs. Why?"),
        {**variant(), "age": "", "gender": "..."},
        FOUR[1],
    ],
)
def test_a_variant_that_is_not_whole_or_comes_again_is_left_out(faulty):
    assert len(read_variants(Reply(json.dumps([FOUR[1], faulty])), 4)) == 1


def test_a_variant_that_a_limit_cuts_is_left_out():
    text = json.dumps(FOUR)
    assert len(read_variants(Reply(text[:-20], finish=Finish.LENGTH), 4)) == 3
    lines = (
        "age: 20-35\nquestion: A woman coughs at night. Why?\nage: 65-80\nquestion: Was that it?"
    )
    assert len(read_variants(Reply(lines, finish=Finish.LENGTH), 4)) == 1


@pytest.mark.parametrize("finish", [Finish.ERROR, Finish.BLOCKED, Finish.REFUSAL])
def test_a_call_without_an_answer_holds_no_question(finish):
    assert read_question(Reply(QUESTION, finish=finish)) is None
    assert read_variants(Reply(json.dumps(FOUR), finish=finish), 4) == []


@given(st.text(max_size=300))
def test_no_text_raises(text):
    read_question(Reply(text))
    assert len(read_variants(Reply(text), 2)) <= 2
