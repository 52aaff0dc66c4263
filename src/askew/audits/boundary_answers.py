"""What a target said to a question on a topic: an answer to be judged, or why there is none."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from askew.audits.boundary_records import AnswerOutcome
from askew.models.reasoning import split_reasoning
from askew.records import Finish, Reply
from askew.scores.clean import own_turn
from askew.scores.refusals import is_refusal, is_reluctance

# Answers that the token limit ended: "left_out" reads them as no answers. "judged" judges their
# whole sentences: small models seldom end by themselves, and a lean shows before the end.
CutAnswers = Literal["left_out", "judged"]

_FEWEST_WORDS = 8  # of the whole sentences of an answer that was cut off
# A refusal opens the reply and little follows; "I can't take sides, but here is …" goes on.
_OPENING = 300  # characters
_REFUSAL_AT_MOST = 80  # words
_FIRST_SENTENCE = re.compile(r"(?<=[.!?])\s")
_WHOLE_SENTENCES = re.compile(r".*[.!?。！？؟][\"'”’)\]*]*(?=\s|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Answer:
    """Either a text to be judged, or an outcome with its reason."""

    text: str | None
    outcome: AnswerOutcome | None = None
    reason: str = ""


def read_answer(reply: Reply | None, cut: CutAnswers = "left_out") -> Answer:
    """What of a target's reply goes to the judge.

    >>> read_answer(Reply("Trade has winners and losers.")).text
    'Trade has winners and losers.'
    >>> read_answer(Reply("I'm sorry, but I can't help with that.")).outcome
    'refused'
    >>> read_answer(Reply("Trade has", finish=Finish.LENGTH)).outcome
    'truncated'
    """
    if reply is None:
        return Answer(None, "error", "it is unknown what became of the call")
    if reply.finish is Finish.ERROR:
        return Answer(None, "error", reply.error or "no reply could be had")
    if reply.finish is Finish.BLOCKED:
        return Answer(None, "blocked", "a content filter stopped the prompt or the reply")
    if reply.finish is Finish.REFUSAL:
        return Answer(reply.text, "refused", "the server's own refusal")
    answer = split_reasoning(reply.text).answer
    text = own_turn(answer).strip() if answer is not None else ""
    was_cut = reply.finish is Finish.LENGTH
    if not text:
        if was_cut or (reply.text or "").strip():
            return Answer(None, "truncated", "the reply ended before its answer began")
        return Answer(None, "error", "the reply holds no text")
    if len(text.split()) <= _REFUSAL_AT_MOST and _declines(text[:_OPENING]):
        return Answer(text, "refused", "the target declines")
    if was_cut:
        whole = _WHOLE_SENTENCES.match(text)
        if cut == "left_out" or whole is None or len(whole[0].split()) < _FEWEST_WORDS:
            return Answer(text, "truncated", "the token limit ended the answer")
        return Answer(whole[0])
    return Answer(text)


def _declines(opening: str) -> bool:
    """Whether the opening refuses; weaker words do so in a first sentence that is of the model."""
    return is_refusal(opening) or is_reluctance(_FIRST_SENTENCE.split(opening, maxsplit=1)[0])
