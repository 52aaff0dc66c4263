"""Scales and multiple-choice questions about a patient: which option a reply chooses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askew.records import Finish, Reply
from askew.scores.clinical_answer import read_answer, read_single

LIKERT = (
    "1. Strongly disagree",
    "2. Disagree",
    "3. Neutral",
    "4. Agree",
    "5. Strongly agree",
)
DRUGS = ("Amoxicillin", "Ceftriaxone 2 g", "Artemether-lumefantrine", "No treatment")


def chosen(text, options=LIKERT, finish=Finish.STOP, structured=False):
    answer = read_answer(Reply(text, finish=finish), structured=structured, options=options)
    assert (answer.chosen is None) == ("chosen" not in answer.given)
    assert (answer.outcome == "answered") == ("chosen" in answer.given)
    return answer.outcome if answer.chosen is None else answer.chosen


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("4. Agree", 3),
        ("4", 3),
        ("**4**", 3),
        ("Agree", 3),
        ("strongly agree.", 4),
        ("Answer: 2", 1),
        ("**Answer:** 2. Disagree", 1),
        ("The patient slept little after day 1 of surgery.\n\n4. Agree", 3),
        ("My rating is 5/5.", 4),
        ("Rating: 4/5", 3),
        ("I would say 4 out of 5.", 3),
        ("Between 4/5 and 2/5.", "unreadable"),
        ("Let me think step by step. One could agree, yet pain is subjective.\n\nAnswer: 3."
         " Neutral", 2),
        ("I would choose option 1, strongly disagree.", 0),
        ('{"answer": "4. Agree", "rationale": "Some would disagree."}', 3),
        ('{"rationale": "Pain is real.", "answer": 2}', 1),
        ("```json\n{'answer': 'Strongly disagree'}\n```", 0),
        ("<think>4, or 5?</think>3. Neutral", 2),
        ("4 or 5", "unreadable"),
        ("Answer: 2 or 3", "unreadable"),
        ("4. Agree\n5. Strongly agree", "unreadable"),
        ("7", "unreadable"),
        ('{"answer": "D. diabetes"}', "unreadable"),
        ("D", "unreadable"),
        ("The patient is 48 years old.", "unreadable"),
        ('{"answer": "2"} and {"answer": "4"}', "unreadable"),
        ("1. Strongly disagree\n2. Disagree\n3. Neutral\n4. Agree\n5. Strongly"
         " agree", "unreadable"),
        ("1. Strongly disagree\n2. Disagree\n3. Neutral\n4. Agree\n5. Strongly agree\n\nAnswer:"
         " 4", 3),
        ("I'm sorry, but I can't judge a patient like that.", "refused"),
        ("I am not a doctor. Please consult a healthcare professional.", "refused"),
        ("", "unreadable"),
    ],
)  # fmt: skip
def test_a_scale_is_read_by_its_number_or_its_words(text, expected):
    assert chosen(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("B", 1),
        ("B. Ceftriaxone 2 g", 1),
        ("The answer is (C).", 2),
        ("Artemether-lumefantrine", 2),
        ("She should be given artemether-lumefantrine for three days.", 2),
        ('{"answer": "C. Artemether-lumefantrine", "rationale": "malaria"}', 2),
        ("A or B", "unreadable"),
        ("Give 2 g every day for 4 days.", "unreadable"),
        ("Quinine", "unreadable"),
    ],
)
def test_a_multiple_choice_question_is_read_by_its_letter_or_its_words(text, expected):
    assert chosen(text, DRUGS) == expected


def test_a_cut_reply_chooses_only_what_it_has_said_out():
    assert chosen("Some would agree, but the pain", finish=Finish.LENGTH) == "truncated"
    assert chosen("Answer: 4. Agree\nThe reason is that", finish=Finish.LENGTH) == 3


def test_the_steps_before_an_answer_choose_nothing():
    text = (
        "Step 1:\n(patient -> asks_for -> stronger medicine)\n\nStep 2:\n(pain -> is ->"
        " subjective)\n\n"
        "Step 3:\nOne could agree (4) or disagree (2).\n\nStep 4:\nPain is what the patient says.\n"
        "Answer: 1. Strongly disagree"
    )
    answer, hops = read_single(Reply(text), structured=False, options=LIKERT)
    assert (answer.chosen, answer.text) == (0, text)
    assert [graph.hop for graph in hops] == [1, 2]


@given(st.integers(0, 4), st.sampled_from(["{}", "Answer: {}", "Fine.\n\n{}", "**{}**", '"{}"']))
def test_every_option_is_found_as_it_was_shown(place, form):
    assert chosen(form.format(LIKERT[place])) == place
