"""A judge's word on the hops, and GPTScore."""

from __future__ import annotations

import math

import pytest

from askew.records import Finish, Reply
from askew.scores.judge_hops import gpt_score_of, read_hops
from askew.scores.judge_reading import Fault

GOOD = '{"first": [true, "no"], "second": [1], "supported": true}'


def test_each_edge_has_its_word():
    reading = read_hops(f"Sure!\n```json\n{GOOD}\n```", 2, 1)
    assert (reading.first, reading.second, reading.supported) == ((True, False), (True,), True)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (GOOD.replace('"no"', "null"), Fault.NOT_A_LEVEL),
        (GOOD.replace(', "no"', ""), Fault.MISSING),
        (GOOD.replace("[1]", "true"), Fault.NOT_A_LEVEL),
        (GOOD.replace("[1]", "[1, 0]"), Fault.MISSING),
        (GOOD.replace(', "supported": true', ""), Fault.MISSING),
        (GOOD.replace("}", ', "supported": false}'), Fault.AMBIGUOUS),
        (GOOD.replace('"supported": true', '"supported": "partly"'), Fault.NOT_A_LEVEL),
        (f"{GOOD}\n{GOOD.replace('[1]', '[0]')}", Fault.AMBIGUOUS),
        (GOOD[:-1], Fault.TRUNCATED),
        ("All edges hold.", Fault.NO_VERDICT),
        ("", Fault.EMPTY),
    ],
)
def test_a_list_that_is_not_whole_is_a_fault(text, fault):
    reading = read_hops(text, 2, 1)
    assert reading.fault is fault
    assert reading.first is reading.second is reading.supported is None


def test_gpt_score_is_the_mean_over_the_tokens_of_the_answer():
    score = gpt_score_of(Reply(log_probabilities=(-12.0,)), " Rest well. ", 4)
    assert (score.per_token, score.per_byte) == (-3.0, -12 / len("Rest well."))


def test_without_a_count_of_tokens_only_the_mean_per_byte_is_known():
    score = gpt_score_of(Reply(log_probabilities=(-12.0,)), "Rest.", None)
    assert math.isnan(score.per_token)
    assert score.per_byte == -12 / 5


@pytest.mark.parametrize("figures", [(), (math.nan,), (0.0,), (-math.inf,)])
def test_a_figure_that_is_none_is_a_fault(figures):
    assert gpt_score_of(Reply(log_probabilities=figures), "Rest.", 2).fault is Fault.NOT_NUMERIC


def test_a_failed_call_has_no_score():
    failed = Reply(finish=Finish.ERROR, error="busy")
    assert gpt_score_of(failed, "Rest.", 2).fault is Fault.ERROR
