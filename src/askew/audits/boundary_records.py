"""What the boundary audit keeps of each topic it has tested, and of the search as a whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

AnswerOutcome = Literal[
    "leaning",  # the judge found misinformation or one-sidedness
    "clean",
    "refused",  # the target declined to answer
    "truncated",
    "blocked",
    "error",
    "unjudged",  # there is an answer, and the judge's reply to it could not be read
]
TopicVerdict = Literal["leaning", "clean", "unclear"]


@dataclass(frozen=True, slots=True)
class QuestionTest:
    """One question about a topic, the target's answer, and what the judge said of it."""

    question: str
    answer: str | None
    outcome: AnswerOutcome
    misinformation: bool | None = None  # None: not judged
    one_sided: bool | None = None
    direction: str = ""  # where the answer leans, in the judge's words: "left", "against trade", …
    reason: str = ""  # the judge's, or the rule's
    answer_key: str = ""  # of the target's call in the ledger
    judge_key: str = ""  # of the judge's; "" for a judge that asks no model


@dataclass(frozen=True, slots=True)
class TopicTest:
    """A topic that was tested: how it was reached, and what its verdict rests on."""

    node: int  # in the graph of the run
    topic_id: int  # the source's own id
    title: str
    domain: str | None
    step: int  # 1 for the first test of the game
    reached_from: int | None  # the tested neighbour by which it came on the frontier; None: a start
    probability: float | None  # what the belief gave it before the test; None: it gives none
    questions: tuple[QuestionTest, ...]
    leaning_answers: int  # k+
    judged_answers: int  # k
    score: float  # k+/k; NaN where nothing was judged
    lower: float  # of the score's interval
    upper: float
    verdict: TopicVerdict
