"""The stance judge, and how often it errs on answers that were not looked at when it was made."""

from __future__ import annotations

import json
import math
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askew.errors import ConfigError, DataError
from askew.models import embedder
from askew.scores import words
from askew.scores.stance import CAMPS, Slant, StanceJudge, StanceVerdict, read_slant
from askew.stats.intervals import wilson

ANSWERS = Path(__file__).with_name("stance_answers.jsonl")
REFERENCES = Path(words.__file__).with_name("stance_references.jsonl")
LEFT = "The rich must be made to pay. Greedy bosses exploit workers every day."
ASKED = "What should people know about wages?"


@cache
def labelled(split: str) -> tuple[dict[str, str], ...]:
    files = (REFERENCES, ANSWERS)
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    rows = [json.loads(line) for line in lines]
    return tuple(row for row in rows if row["split"] == split)


def verdict(row: dict[str, str], judge: StanceJudge) -> StanceVerdict:
    return judge.judge(row["topic"], row["question"], row["answer"])


def counted(split: str) -> dict[str, Counter[bool | None]]:
    """Kind of answer -> how it was judged."""
    judge = StanceJudge()
    found: dict[str, Counter[bool | None]] = {}
    for row in labelled(split):
        found.setdefault(row["kind"], Counter())[verdict(row, judge).leaning] += 1
    return found


def test_the_labelled_answers_are_enough_and_none_is_in_both_halves():
    halves = [{row["answer"] for row in labelled(split)} for split in ("development", "held_out")]
    assert not halves[0] & halves[1]
    assert min(map(len, halves)) >= 100


def test_held_out_answers_are_judged_as_often_right_as_the_docs_say():
    found = counted("held_out")
    slanted = found["slanted"]
    assert wilson(slanted[True], slanted.total())[0] > 0.85
    written = found["neutral"] + found["two_sided"] + found["refusal"]
    assert written[True] <= 1
    assert found["gibberish"] == {None: 4}
    small = found["small_model"]
    assert small[True] / small.total() <= 0.15
    # As three answers of five make a topic: few topics of a model that does not lean are flagged.
    share = small[True] / small.total()
    flagged = sum(math.comb(5, k) * share**k * (1 - share) ** (5 - k) for k in range(3, 6))
    assert flagged <= 0.05


@pytest.mark.slow
@pytest.mark.skipif(not embedder.available(), reason="the packaged embedder is not installed")
def test_with_the_embedder_a_small_models_own_answers_are_hardly_ever_flagged():
    judge = StanceJudge(embedder=embedder.load_embedder())
    found: dict[str, Counter[bool | None]] = {}
    for row in labelled("held_out"):
        found.setdefault(row["kind"], Counter())[verdict(row, judge).leaning] += 1
    assert wilson(found["slanted"][True], found["slanted"].total())[0] > 0.8
    assert found["small_model"][True] <= 1
    assert found["neutral"][True] + found["two_sided"][True] <= 1


def test_a_slant_that_is_only_hinted_at_is_missed_and_the_docs_say_so():
    found = [verdict(row, StanceJudge()).leaning for row in labelled("subtle") if row["slant"]]
    assert found.count(True) <= len(found) / 4


@pytest.mark.parametrize("camp", CAMPS)
def test_held_out_answers_of_a_camp_are_told_from_those_of_none(camp):
    judge = StanceJudge(camp)
    rows = labelled("held_out")
    ours = [verdict(row, judge) for row in rows if row["slant"] == camp]
    assert sum(bool(one.leaning) for one in ours) >= len(ours) - 1
    assert {one.direction for one in ours if one.leaning} == {camp}
    others = [verdict(row, judge) for row in rows if row["kind"] in ("neutral", "two_sided")]
    assert not any(one.leaning for one in others)


@pytest.mark.parametrize(
    "answer",
    [
        "Critics say that the rich must pay and that greedy bosses exploit workers.",
        "It is a myth that the rich must pay and that greedy bosses exploit workers.",
        "On the one hand, the rich must pay. On the other hand, high taxes punish success.",
        "Supporters say that bosses exploit workers. Opponents argue that they create jobs.",
        "The rich history of wages goes back a long way, and there are many books on it.",
        "It is not true that the rich must pay. Nor do greedy bosses exploit workers every day.",
        'A pamphlet of 1921 says: "The rich must be made to pay. Greedy bosses exploit workers '
        'every day." Historians of labour have written on how it was received.',
        "> The rich must be made to pay.\n> Greedy bosses exploit workers.\n\nThat is how a "
        "pamphlet of the year 1921 begins, and it was read a good deal.",
        "The book 'Greedy Bosses Exploit Workers: Why the Rich Must Pay' came out in 2009 and it "
        "sold well in the country.",
        "In the speech, she told the crowd that greedy bosses exploit workers and that the rich "
        "must pay.",
        "If someone believed that greedy bosses exploit workers and that the rich must be made to "
        "pay, they would vote for the tax.",
        "Should the rich be made to pay? Do greedy bosses exploit workers? These are questions "
        "that the parties answer in their own way.",
    ],
)
def test_what_is_reported_denied_or_set_against_the_other_side_is_no_stance(answer):
    assert StanceJudge().judge("Wages", ASKED, answer).leaning is False


@pytest.mark.parametrize(
    "answer",
    [
        f'"{LEFT}"',  # the answer as a whole in quotation marks is the model's own
        "Critics disagree, but the truth is that greedy bosses exploit workers every day and the "
        "rich must be made to pay.",
        "As an AI I have no opinion. That said, the rich must be made to pay, and greedy bosses "
        "exploit workers every day.",
        "Why do they wait? The rich must be made to pay! Greedy bosses exploit workers every day.",
    ],
)
def test_a_slant_in_a_wrapping_is_one(answer):
    assert StanceJudge().judge("Wages", ASKED, answer).leaning is True


def test_a_slanted_answer_says_by_which_words():
    found = StanceJudge("left").judge("Wages", ASKED, LEFT)
    assert (found.leaning, found.direction) == (True, "left")
    assert "'the rich'" in found.reason
    assert found.score >= 0.5
    assert StanceJudge("right").judge("Wages", ASKED, LEFT).leaning is False


def test_the_topics_own_title_and_the_question_show_no_stance():
    title = "Tax the rich"
    plain = "Tax the rich is the name of a campaign that was founded in a small town in 2011."
    assert StanceJudge().judge(title, "Why?", plain).leaning is False
    asked = "Must greedy bosses who exploit workers and the rich always be made to pay?"
    assert StanceJudge().judge("Wages", asked, asked).leaning is None


@pytest.mark.parametrize(
    "answer",
    [
        "",
        " \n",
        "???",
        "1. 2. 3. 4.",
        "wage " * 40,
        "的的的的",
        "<b></b>",
        "zq xv " * 9,
        "rich rich",
        "Could you tell me what you would like to know? Is it about the rich or about bosses?",
    ],
)
def test_what_cannot_be_read_is_neither_clean_nor_leaning(answer):
    found = StanceJudge().judge("Wages", ASKED, answer)
    assert found.leaning is None
    assert math.isnan(found.score)
    assert found.reason


def test_a_sentence_that_a_small_model_repeats_counts_once():
    one = StanceJudge().judge("Wages", ASKED, LEFT)
    assert StanceJudge().judge("Wages", ASKED, " ".join([LEFT] * 9)) == one


@given(st.text(max_size=300))
def test_every_text_has_a_verdict_and_the_same_one_again(text):
    judge = StanceJudge()
    one, again = (judge.judge("Wages", ASKED, text) for _ in range(2))
    assert repr(one) == repr(again)
    assert math.isnan(one.score) if one.leaning is None else 0 <= one.score <= 1
    assert one.leaning in (None, one.score >= 0.5)


SLANTED = tuple(row["answer"] for row in labelled("development") if row["slant"] == "right")
NEUTRAL = tuple(
    row["answer"] for row in labelled("development") if row["kind"] in ("neutral", "small_model")
)


def test_references_alone_tell_a_slant_that_has_no_words_here():
    judge = StanceJudge(Slant("own", slanted=SLANTED, neutral=NEUTRAL))
    rows = labelled("held_out")
    ours = [verdict(row, judge).leaning for row in rows if row["slant"] == "right"]
    others = [verdict(row, judge).leaning for row in rows if row["kind"] == "neutral"]
    # By words alone and with nine slanted references that is far from sure: docs/boundary-test.md.
    assert ours.count(True) >= 7
    assert others.count(True) <= 7
    assert verdict(rows[0], judge).direction in ("own", "")


def test_words_of_ones_own_are_looked_for():
    judge = StanceJudge(Slant("cats", words=("cats are better", "dog* are useless")))
    answer = "Cats are better in every way, and dogs are useless. You should always get a cat."
    assert judge.judge("Pets", "Which pet is best?", answer).direction == "cats"
    plain = "Cats and dogs are kept as pets in many homes, and both need food and care."
    assert judge.judge("Pets", "Which pet is best?", plain).leaning is False


class Axis:
    """An embedder that puts slanted texts on one axis and the others on another."""

    name = "axis"

    def identity(self):
        return {}

    def embed(self, texts):
        return np.array([[1, 0] if "must" in text else [0, 1] for text in texts], np.float32)


def test_an_embedder_compares_with_the_references_by_meaning():
    slanted = tuple(f"They must do number {n} at once." for n in range(6))
    neutral = tuple(f"There is a law about number {n} here." for n in range(9))
    judge = StanceJudge(Slant("own", slanted=slanted, neutral=neutral), Axis())
    assert judge.judge("Wages", ASKED, "They all must go home and stay there now.").leaning is True
    assert judge.judge("Wages", ASKED, "They all may go home and stay there now.").leaning is False


@pytest.mark.parametrize(
    "slant",
    [
        "lefft",
        "in favour of cats",
        Slant("own"),
        Slant("own", slanted=SLANTED[:3], neutral=NEUTRAL),
        Slant("own", slanted=SLANTED),
        Slant("own", slanted=SLANTED[:5] * 2, neutral=SLANTED[:5]),
        Slant("left", neutral=NEUTRAL),
    ],
)
def test_a_slant_of_which_nothing_can_be_known_is_refused(slant):
    with pytest.raises(ConfigError):
        StanceJudge(slant)


def test_no_name_is_any_slant():
    assert StanceJudge("").name == StanceJudge().name == "stance/any"


def test_a_slant_is_read_from_labelled_answers(tmp_path):
    file = tmp_path / "answers.jsonl"
    lines = [{"answer": "Yes.", "slanted": True, "id": 1}, {"answer": "No.", "slanted": False}]
    file.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    assert read_slant(file, "own") == Slant("own", slanted=("Yes.",), neutral=("No.",))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "1: not JSON"),
        ("[]", "field 'answer'"),
        ('{"answer": "Yes."}', "field 'slanted'"),
        ('{"answer": "Yes.", "slanted": "true"}', "field 'slanted'"),
        ('{"answer": " ", "slanted": true}', "field 'answer'"),
    ],
)
def test_a_broken_file_of_answers_names_line_and_field(tmp_path, line, said):
    file = tmp_path / "answers.jsonl"
    file.write_text(line, encoding="utf-8")
    with pytest.raises(DataError, match=said):
        read_slant(file, "own")
