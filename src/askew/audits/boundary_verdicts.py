"""What answers come to: a verdict each, k+/k with its interval, and the topic's verdict."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from askew.audits.boundary_answers import Answer, read_answer
from askew.audits.boundary_calls import TopicTestConfig
from askew.audits.boundary_records import AnswerOutcome, QuestionTest, TopicTest, TopicVerdict
from askew.audits.stages import Asked
from askew.models.embedder import Embedder
from askew.prompts.topics import Topic, judge_prompt
from askew.records import Prompt, Reply
from askew.scores.stance import StanceVerdict
from askew.scores.topic_judge import TopicReading, read_own
from askew.search.game import Observation
from askew.stats.intervals import wilson


class AnswerJudge(Protocol):
    """A judge that asks no model (`scores.stance.StanceJudge`)."""

    name: str

    def judge(self, topic: str, question: str, answer: str) -> StanceVerdict:
        """Whether an answer takes a side; `leaning` is None where it cannot be read."""
        ...


@dataclass(frozen=True, slots=True)
class AnswerVerdict:
    """What became of one answer."""

    outcome: AnswerOutcome
    reason: str
    misinformation: bool | None = None
    one_sided: bool | None = None
    direction: str = ""
    key: str = ""
    fault: str | None = None

    @classmethod
    def of_no_answer(cls, answer: Answer) -> AnswerVerdict:
        return cls(answer.outcome or "unjudged", answer.reason)

    def of(self, question: str, answer: Answer, answer_key: str) -> QuestionTest:
        return QuestionTest(
            question=question,
            answer=answer.text,
            outcome=self.outcome,
            misinformation=self.misinformation,
            one_sided=self.one_sided,
            direction=self.direction,
            reason=self.reason,
            answer_key=answer_key,
            judge_key=self.key,
        )


def by_rule(judge: AnswerJudge, topic: Topic, question: str, answer: Answer) -> AnswerVerdict:
    said = judge.judge(topic.title, question, answer.text or "")
    if said.leaning is None:
        return AnswerVerdict("unjudged", said.reason)
    # A stance is one-sidedness; whether it is true is beyond a judge without knowledge.
    outcome: AnswerOutcome = "leaning" if said.leaning else "clean"
    return AnswerVerdict(outcome, said.reason, None, said.leaning, said.direction)


def by_model(asked: Asked, prompt: Prompt) -> AnswerVerdict:
    """What the judge's reply to its prompt says."""
    if asked.reply is None:
        return AnswerVerdict(
            "unjudged", "it is unknown what became of the judge's call", key=asked.key
        )
    return _of_reading(read_own(asked.reply, prompt), asked.key)


def _of_reading(read: TopicReading, key: str) -> AnswerVerdict:
    if read.leaning is None:
        return AnswerVerdict(
            "unjudged", f"the judge's reply: {read.detail}", key=key, fault=read.fault
        )
    return AnswerVerdict(
        "leaning" if read.leaning else "clean",
        read.reason,
        read.misinformation,
        read.one_sided,
        read.direction,
        key,
    )


def summed(test: TopicTest, config: TopicTestConfig) -> TopicTest:
    """The test with what its answers come to: k+, k, k+/k with Wilson's interval, the verdict."""
    outcomes = Counter(one.outcome for one in test.questions)
    leaning, judged = outcomes["leaning"], outcomes["leaning"] + outcomes["clean"]
    score = leaning / judged if judged else math.nan
    lower, upper = wilson(leaning, judged)
    verdict: TopicVerdict
    if judged < config.needed:
        verdict = "unclear"
    else:
        verdict = "leaning" if score >= config.threshold else "clean"
    return replace(
        test,
        leaning_answers=leaning,
        judged_answers=judged,
        score=score,
        lower=lower,
        upper=upper,
        verdict=verdict,
        threshold=config.threshold,
        note="; ".join(filter(None, (_of_questions(test.note), _without_verdict(outcomes)))),
    )


def to_observation(test: TopicTest, embedder: Embedder | None = None) -> Observation:
    """What a game is told of a test.

    An unclear topic shows nothing (NaN): a few stray answers must not steer the search.

    Args:
        test: the topic's.
        embedder: for h0 (Eq. 4), the mean of its answers' vectors; None makes none. Refusals,
            cut-off texts and failures are no answers.
    """
    return Observation(
        score=math.nan if test.verdict == "unclear" else test.score,
        answers=test.judged_answers,
        threshold=test.threshold,
        answer_vector=None if embedder is None else answer_vector(test, embedder),
    )


def answer_vector(test: TopicTest, embedder: Embedder) -> NDArray[np.float32] | None:
    """Shape (dimensions,): the mean of the answers' vectors; None where nothing was answered."""
    texts = [
        one.answer
        for one in test.questions
        if one.answer and one.outcome in ("leaning", "clean", "unjudged")
    ]
    if not texts:
        return None
    return np.asarray(embedder.embed(texts).mean(axis=0), np.float32)


def rejudge(
    tests: Sequence[TopicTest],
    recorded: Mapping[str, Reply | None],
    config: TopicTestConfig,
    judge: AnswerJudge | None = None,
) -> list[TopicTest]:
    """The tests read again from the replies in the ledger; asks no model.

    Args:
        tests: as they were made.
        recorded: call key -> reply, of all keys that the tests name.
        config: how to read them now: threshold, fewest judged answers, cut answers.
        judge: one that asks no model, in place of what judged before; None: the recorded verdicts.
    """
    return [_reread(test, recorded, config, judge) for test in tests]


def recorded_keys(tests: Sequence[TopicTest], role: str) -> list[str]:
    """The keys of a role's calls that the tests rest on, each once: "target" or "judge"."""
    keys = (
        one.answer_key if role == "target" else one.judge_key
        for test in tests
        for one in test.questions
    )
    return list(dict.fromkeys(key for key in keys if key))


def _reread(
    test: TopicTest,
    recorded: Mapping[str, Reply | None],
    config: TopicTestConfig,
    judge: AnswerJudge | None,
) -> TopicTest:
    topic = Topic(test.title, domain=test.domain)
    questions: list[QuestionTest] = []
    for one in test.questions:
        answer = read_answer(recorded.get(one.answer_key), config.cut_answers)
        if answer.outcome is not None:
            verdict = AnswerVerdict.of_no_answer(answer)
        elif judge is not None:
            verdict = by_rule(judge, topic, one.question, answer)
        elif one.judge_key:
            shown = judge_prompt(topic, one.question, answer.text or "", config.judge_form)
            verdict = by_model(Asked(one.judge_key, recorded.get(one.judge_key)), shown)
        else:
            verdict = AnswerVerdict("unjudged", "no judge was asked about this answer")
        questions.append(verdict.of(one.question, answer, one.answer_key))
    name = test.judge if judge is None else judge.name
    return summed(replace(test, questions=tuple(questions), judge=name), config)


# How notes begin that say where a topic's questions come from, or why it has none.
NO_TITLE = "the title has no visible character to ask about"
_OF_QUESTIONS = (NO_TITLE, "the generator's list: ")


def _of_questions(note: str) -> str:
    """Of a note, the part that says where the questions come from."""
    first = note.split("; ", 1)[0]
    return first if first.startswith(_OF_QUESTIONS) else ""


def _without_verdict(outcomes: Counter[AnswerOutcome]) -> str:
    """How many answers gave no verdict, by kind: "all 5 answers refused"."""
    total = outcomes.total()
    kinds = [
        (kind, outcomes[kind]) for kind in ("refused", "blocked", "truncated", "error", "unjudged")
    ]
    return ", ".join(
        f"all {total} answers {kind}" if count == total else f"{count} of {total} {kind}"
        for kind, count in kinds
        if count
    )
