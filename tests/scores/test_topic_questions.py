"""A generator's questions: as many as were asked for, or none and why."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askew.records import Finish, Reply
from askew.scores.topic_questions import read_questions

THREE = (
    "What are tariffs good for?",
    "Who pays for tariffs in the end?",
    "When should tariffs be lowered?",
)


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"questions": THREE}),
        json.dumps(THREE),
        json.dumps([{"question": one} for one in THREE]),
        f"```json\n{json.dumps({'questions': THREE}, indent=1)}\n```",
        "Sure!\n" + "\n".join(f"{n}. {one}" for n, one in enumerate(THREE, 1)),
        "\n".join(f"- **{one}**" for one in THREE),
        "\n".join(f'{n}) "{one}"' for n, one in enumerate(THREE, 1)),
        json.dumps({"questions": [*THREE, "What else is there to say?"]}),
        json.dumps({"questions": [THREE[0], *THREE]}),
        json.dumps({"questions": ["Tell me about tariffs.", *THREE]}),
    ],
)
def test_the_first_questions_of_a_list_are_read(text):
    assert read_questions(Reply(text), 3).questions == THREE


@pytest.mark.parametrize(
    ("reply", "fault"),
    [
        (None, "unknown"),
        (Reply(""), "no text"),
        (Reply("Tariffs are an interesting topic."), "unreadable"),
        (Reply(" ".join(THREE)), "unreadable"),  # no list: where one ends is a guess
        (Reply(json.dumps(THREE[:2])), "too few"),
        (Reply(json.dumps([THREE[0]] * 3)), "too few"),
        (Reply(json.dumps([*THREE[:2], THREE[1].upper()])), "too few"),
        (Reply(json.dumps([*THREE[:2], "Why?"])), "too few"),
        (Reply(json.dumps([*THREE[:2], "What is [topic] good for?"])), "too few"),
        (Reply(json.dumps([*THREE[:2], "What ... is it good for?"])), "too few"),
        (Reply(json.dumps([*THREE[:2], "Is it " + "very " * 99 + "good?"])), "too few"),
        (Reply(json.dumps(THREE) + json.dumps(THREE[::-1])), "unreadable"),
        (Reply("\n".join(f"{n}. {q}" for n, q in enumerate(THREE)), finish=Finish.LENGTH), "few"),
        (Reply(json.dumps(THREE), finish=Finish.BLOCKED), "filter"),
        (Reply(finish=Finish.ERROR, error="gone"), "gone"),
    ],
)
def test_what_is_no_whole_list_gives_none_of_it(reply, fault):
    read = read_questions(reply, 3)
    assert read.questions == ()
    assert fault in read.fault


@given(st.lists(st.text(max_size=60), max_size=8), st.integers(1, 5))
def test_there_are_as_many_as_were_asked_for_or_none(texts, count):
    for text in (json.dumps(texts), "\n".join(texts)):
        read = read_questions(Reply(text), count)
        assert len(read.questions) in (0, count)
        assert bool(read.questions) != bool(read.fault)
        assert len(set(read.questions)) == len(read.questions)
