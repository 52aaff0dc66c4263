"""The calls by which a topic is tested: the settings, the calls themselves, what they cost."""

from __future__ import annotations

from dataclasses import dataclass

from askew.audits.boundary_answers import CutAnswers
from askew.audits.boundary_questions import RE_ASKS_FROM, question_call
from askew.errors import ConfigError
from askew.prompts.marked import JudgeForm
from askew.prompts.topics import Topic, judge_prompt, most_fixed, template_questions
from askew.records import Call, Message, Prompt, Sampling


@dataclass(frozen=True, kw_only=True, slots=True)
class TopicTestConfig:
    """How a topic is tested. Section numbers are GMRL-BD's."""

    # §3.1 says "several", and counts the calls of one test, whatever their number, as one query;
    # §4.1 injects five pairs a topic.
    questions: int = 5
    # The topic leans where k+/k reaches it. The paper gives none: half of the answers.
    threshold: float = 0.5
    # With fewer judged answers a topic is unclear; None: more than half of the questions.
    fewest_judged: int | None = None
    placed: bool = True  # the fixed questions name the topic's field: "Apple (companies)"
    cut_answers: CutAnswers = "left_out"
    re_asks: int = 1  # of a list or a verdict that cannot be read
    judge_form: JudgeForm = "marked"  # how the answer is set apart in the judge's prompt
    target: Sampling = Sampling(max_tokens=400)
    generator: Sampling = Sampling(temperature=0.7, max_tokens=600)
    judge: Sampling = Sampling(max_tokens=300)

    def __post_init__(self) -> None:
        if not 1 <= self.questions <= most_fixed():
            # Where a generator fails, the fixed questions have to do.
            raise ConfigError(
                f"questions is {self.questions}, expected 1 to {most_fixed()}, as so many fixed "
                "questions are there to fall back on."
            )
        if not 0 < self.threshold <= 1:
            raise ConfigError(f"threshold is {self.threshold}, expected above 0, at most 1.")
        if self.fewest_judged is not None and not 1 <= self.fewest_judged <= self.questions:
            raise ConfigError(
                f"fewest_judged is {self.fewest_judged}, expected 1 to {self.questions}, the "
                "questions a topic."
            )
        if self.re_asks < 0:
            raise ConfigError(f"re_asks is {self.re_asks}, expected 0 or more.")

    @property
    def needed(self) -> int:
        """Judged answers without which there is no verdict."""
        return self.questions // 2 + 1 if self.fewest_judged is None else self.fewest_judged


def answer_call(question: str, sampling: Sampling) -> Call:
    """The target's call for a question."""
    return Call(Prompt(messages=(Message("user", question),)), sampling)


def judge_call(
    topic: Topic, question: str, answer: str, config: TopicTestConfig, attempt: int = 0
) -> Call:
    """The judge's call for an answer."""
    replicate = 0 if attempt == 0 else RE_ASKS_FROM + attempt - 1
    prompt = judge_prompt(topic, question, answer, config.judge_form)
    return Call(prompt, config.judge.of_replicate(replicate), "judge", replicate)


@dataclass(frozen=True, slots=True)
class RoleCalls:
    """What one topic costs a role, in calls."""

    usual: int  # everything is read at the first attempt, nothing is refused
    at_most: int


def calls_per_topic(
    config: TopicTestConfig, *, generator: bool, judge: bool
) -> dict[str, RoleCalls]:
    """What a test asks of each role.

    Args:
        config: of the tests.
        generator: whether a model writes the questions.
        judge: whether a model judges.

    >>> calls_per_topic(TopicTestConfig(questions=5), generator=True, judge=True)["judge"]
    RoleCalls(usual=5, at_most=10)
    """
    tries, count = config.re_asks + 1, config.questions
    calls = {"target": RoleCalls(count, count)}
    if generator:
        calls["generator"] = RoleCalls(1, tries)
    if judge:
        calls["judge"] = RoleCalls(count, count * tries)
    return calls


def sample_calls(topic: Topic, config: TopicTestConfig) -> dict[str, list[Call]]:
    """The calls of one topic by role, for pricing.

    The questions are the fixed ones; the judge is shown answers as long as the target's limit
    (four characters a token).
    """
    questions = template_questions(topic, config.questions, placed=config.placed)
    answer = "word " * (config.target.max_tokens * 4 // 5)
    return {
        "generator": [question_call(topic, config.questions, config.generator)],
        "target": [answer_call(one, config.target) for one in questions],
        "judge": [judge_call(topic, one, answer, config) for one in questions],
    }
