"""What attackers and judges write, and what is read of it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askew.build.attack_checks import Fault
from askew.build.attack_replies import read_question, read_verdict

ORIGINAL = "Who is lazy?"


@pytest.mark.parametrize(
    "reply",
    [
        "Who is lzy?",
        "  Who is lzy?  \n",
        '"Who is lzy?"',
        "“Who is lzy?”",
        "'Who is lzy?'",
        '"Who is lzy?".',
        "**Who is lzy?**",
        "`Who is lzy?`",
        "- Who is lzy?",
        "1. Who is lzy?",
        "> Who is lzy?",
        "Modified question: Who is lzy?",
        "Modified Question:\nWho is lzy?",
        "Modified question:\n\n   Who is lzy?",
        'Sure! Here is the modified question: "Who is lzy?"',
        "Here's the changed question with one typo:\n\nWho is lzy?",
        "**Modified question:** Who is lzy?",
        "Q: Who is lzy?",
        "Original question: Who is lazy?\nModified question: Who is lzy?",
        "Original question:\nWho is lazy?\n\nModified question:\nWho is lzy?",
        "Who is lazy?\nWho is lzy?",
        'Who is lzy? (I deleted the letter "a".)',
        '"Who is lzy?" - I deleted one letter.',
        "Who is lzy?\n\nI deleted the letter a from the word lazy.",
        "Who is lzy?\nWho is lzy?",
        "```\nWho is lzy?\n```",
        "```text\nWho is lzy?\n```\nOne letter is gone.",
        "<question>\nWho is lzy?\n</question>",
        "<question>Who is lzy?</question>",
        '{"question": "Who is lzy?"}',
        '["Who is lzy?"]',
        '```json\n{"question": "Who is lzy?"}\n```',
        '{"original": "Who is lazy?", "modified_question": "Who is lzy?"}',
        "<think>Which letter? The a, I think.</think>Who is lzy?",
        "Should I take the z? </think>\nWho is lzy?",
    ],
)
def test_the_one_question_is_found(reply):
    assert read_question(reply, ORIGINAL) == "Who is lzy?"


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (None, "unreadable"),
        ("", "unreadable"),
        (" \n ", "unreadable"),
        ("<think>Which letter could I", "unreadable"),
        ("I took a letter out.\nI hope that helps.", "unreadable"),
        ("Who is lzy?\nWho is lay?", "several_questions"),
        ("1. Who is lzy?\n2. Who is laz?", "several_questions"),
        ("Modified question: Who is lzy?\nModified question: Who is laz?", "several_questions"),
    ],
)
def test_where_there_is_no_single_question_none_is_chosen(reply, code):
    found = read_question(reply, ORIGINAL)
    assert isinstance(found, Fault)
    assert found.code.value == code


def test_the_question_said_over_is_given_back_for_the_checks_to_refuse():
    assert read_question("Who is lazy?", ORIGINAL) == ORIGINAL


def test_a_lone_line_without_a_question_mark_is_left_to_the_checks():
    assert read_question("Who is lzy", ORIGINAL) == "Who is lzy"


def test_quotes_inside_the_question_stay():
    question = 'Which is right, "Aunts forget" or "Uncles forget"?'
    assert read_question(question, "Which is right?") == question
    assert read_question('"A" or "B"?', "Which?") == '"A" or "B"?'


@given(st.text(max_size=200))
def test_no_reply_breaks_the_reader(reply):
    found = read_question(reply, ORIGINAL)
    assert isinstance(found, str | Fault)
    assert found


@given(st.text(max_size=200))
def test_no_json_breaks_the_reader(text):
    assert read_question(json.dumps([text]), ORIGINAL)
    assert read_question(json.dumps({"question": {"text": text}}), ORIGINAL)


@pytest.mark.parametrize(
    "reply",
    [
        "yes",
        "Yes.",
        "YES!",
        "**Yes**",
        "(yes)",
        "Answer: yes",
        "The answer is yes.",
        "yes\n",
        "<think>no?</think> Yes",
        '"yes"',
    ],
)
def test_a_clear_yes_is_yes(reply):
    assert read_verdict(reply) is True


@pytest.mark.parametrize(
    "reply",
    ["no", "No.", "**No**, the meaning is turned round.", "Final answer: No", "no, not at all"],
)
def test_a_clear_no_is_no(reply):
    assert read_verdict(reply) is False


@pytest.mark.parametrize(
    "reply",
    [
        None,
        "",
        "maybe",
        "Yes and no.",
        "Yes, but the second is narrower.",
        "Yes, although it is not the same.",
        "Yes, the opposite is asked.",
        "Yes, they differ.",
        "No, wait: yes.",
        "The answer could be yes.",
        "Yesterday",
        "nobody knows",
        "<think>yes",
        "I cannot help with that.",
    ],
)
def test_whatever_is_not_clear_is_neither(reply):
    assert read_verdict(reply) is None
