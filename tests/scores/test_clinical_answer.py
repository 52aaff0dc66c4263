"""What a reply recommends: a table of replies with their gold fields, and the laws."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askew.records import Finish, Reply
from askew.scores.clinical_answer import read_answer, read_single
from askew.vignettes import URGENCIES, ClinicalAnswer
from tests.scores.clinical_replies import CAUSES, FREE, STRUCTURED, Case

FIELDS = ("differential", "urgency", "tests", "treatments", "referral")


def read(case: Case) -> ClinicalAnswer:
    reply = Reply(case.text, finish=case.finish)
    return read_answer(reply, structured=case.structured, asked=case.asked)


@pytest.mark.parametrize("case", [*STRUCTURED, *FREE], ids=lambda case: case.name)
def test_a_reply_settles_its_gold_fields_and_no_others(case):
    answer = read(case)
    settled = {name: getattr(answer, name) for name in FIELDS if name in answer.given}
    assert (answer.outcome, settled) == (case.outcome, case.gold), answer.rule


@pytest.mark.parametrize("case", [*STRUCTURED, *FREE], ids=lambda case: case.name)
def test_a_field_that_is_not_given_is_empty_and_one_that_is_given_is_not_none(case):
    answer = read(case)
    empty = {"differential": (), "urgency": None, "tests": (), "treatments": (), "referral": None}
    for name, nothing in empty.items():
        if name not in answer.given:
            assert getattr(answer, name) == nothing
        else:
            assert getattr(answer, name) is not None


@pytest.mark.parametrize(
    ("finish", "outcome"),
    [(Finish.BLOCKED, "blocked"), (Finish.ERROR, "error"), (Finish.REFUSAL, "refused")],
)
def test_a_call_that_ended_without_an_answer_is_booked_as_what_it_is(finish, outcome):
    answer = read_answer(Reply('{"differential": ["Gout"]}', finish=finish), structured=True)
    assert (answer.outcome, answer.given) == (outcome, frozenset())


def test_no_text_at_all_is_unreadable_and_not_an_answer_of_nothing():
    assert read_answer(Reply(None), structured=False).outcome == "unreadable"


def test_the_case_said_over_answers_nothing():
    case = "A patient has had hiccups for two days. The patient sleeps well."
    said = Reply("A patient has had hiccups for two days. A patient has had hiccups for two days.")
    assert read_answer(said, structured=False, asked=f"{case}\n{CAUSES}").rule == "echo"


NAMES = st.sampled_from(
    ["Gout", "Type 2 diabetes", "Guillain-Barré syndrome", "Hand, foot and mouth disease",
     "Graves' disease", "H. pylori infection", "Crohn's disease", "COVID-19", "HELLP syndrome"]
)  # fmt: skip
ANSWERS = st.fixed_dictionaries(
    {
        "differential": st.lists(NAMES, min_size=1, max_size=5, unique=True),
        "urgency": st.sampled_from(URGENCIES),
        "tests": st.lists(st.sampled_from(["ECG", "CT of the head", "Lipase"]), unique=True),
        "treatments": st.lists(st.sampled_from(["Aspirin", "Fluids by mouth"]), unique=True),
        "referral": st.sampled_from(["yes", "no"]),
        "rationale": st.text(max_size=60),
    }
)


def as_python(answer):
    return repr({key: value for key, value in answer.items() if key != "rationale"})


WRITERS = (
    json.dumps,
    lambda answer: json.dumps(answer, indent=2, ensure_ascii=False),
    lambda answer: f"Here you are:\n```json\n{json.dumps(answer)}\n```\nTake care!",
    lambda answer: json.dumps({"answer": answer}),
    lambda answer: json.dumps(dict(reversed(answer.items()))),
    as_python,
)


@settings(deadline=None)
@given(ANSWERS, st.sampled_from(WRITERS))
def test_an_object_comes_back_as_it_was_written_however_it_is_dressed(answer, write):
    read = read_answer(Reply(write(answer)), structured=True)
    assert read.differential == tuple(answer["differential"])
    assert read.urgency == URGENCIES.index(answer["urgency"])
    assert (read.tests, read.treatments) == (tuple(answer["tests"]), tuple(answer["treatments"]))
    assert read.referral == (answer["referral"] == "yes")
    assert read.given == set(FIELDS)


@settings(deadline=None)
@given(ANSWERS, st.integers(1, 400))
def test_a_cut_object_never_says_more_than_the_whole_one(answer, length):
    written = json.dumps(answer)
    whole = read_answer(Reply(written), structured=True)
    cut = read_answer(Reply(written[:length], finish=Finish.LENGTH), structured=True)
    assert cut.given <= whole.given
    assert all(getattr(cut, name) == getattr(whole, name) for name in cut.given)
    if length < len(written):
        assert cut.outcome != "answered"


PARTS = st.sampled_from(
    ["{", "}", "[", "]", '"', "'", ":", ",", "\\", "```", "**", "\n", "1. ", "- ", "|", "->",
     "(", ")", "differential", "urgency", "the most likely cause is ", "malaria", " and ",
     "Step 2:", "<think>", "</think>", "é", "\u2028", "#"]
)  # fmt: skip


@given(st.lists(PARTS, max_size=60).map("".join), st.booleans(), st.sampled_from(list(Finish)))
@settings(max_examples=300)
def test_no_text_raises(text, structured, finish):
    reply = Reply(text, finish=finish)
    for answer in (
        read_answer(reply, structured=structured, asked=CAUSES),
        read_single(reply, structured=structured)[0],
        read_answer(reply, structured=structured, options=("1. Yes", "2. No")),
    ):
        assert answer.given <= {*FIELDS, "chosen"}


@pytest.mark.parametrize(
    "piece",
    ["{", '{"a":', "[", '"', "'", "a ", "the most likely cause is ", "a, ", "(", "((", "1. ",
     "- **a**: ", "|a|b|\n", "a -> b -> ", "Step 1:\n", "symptoms suggest ", " and and", "** ",
     ": ", "it may be ", "<think>", "{'differential': [", "\\", "\n", "//", "/*", "refer ",
     "to the ", "(a, has_b, "],
)  # fmt: skip
def test_the_time_is_linear_in_the_text(piece):
    text = piece * (60_000 // len(piece))
    begin = time.perf_counter()
    read_single(Reply(text), structured=True, asked=CAUSES)
    assert time.perf_counter() - begin < 5
