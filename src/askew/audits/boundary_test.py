"""Tests topics (GMRL-BD, §3.1): questions -> the target's answers -> a judge per answer -> k+/k.

    tester = TopicTester(stages, TopicTestConfig(questions=5), judge=StanceJudge("left"))
    tests = await tester.test([visit(graph, node, step=1)])  # a batch; raises StoppedEarly
    seen = to_observation(tests[0])  # boundary_verdicts: for `Game.tell`
    tester.counts, tester.sets  # how generator and judge did; the question sets, to be written
    rejudge(tests, recorded, config, judge)  # boundary_verdicts: from the ledger alone
    calls_per_topic(config, generator=True, judge=False)  # boundary_calls: for plans

Roles in `stages`: "target"; "generator", without which the fixed questions are asked; "judge",
unless a judge that asks no model is handed in. Everything goes through the ledger, so a topic that
comes up again, in this run or another, costs nothing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from askew.audits.boundary_answers import Answer, read_answer
from askew.audits.boundary_calls import TopicTestConfig, answer_call, judge_call
from askew.audits.boundary_questions import (
    QuestionCounts,
    QuestionSet,
    QuestionSets,
    ask_for_questions,
)
from askew.audits.boundary_records import AnswerOutcome, QuestionTest, TopicTest
from askew.audits.boundary_verdicts import (
    NO_TITLE,
    AnswerJudge,
    AnswerVerdict,
    by_model,
    by_rule,
    summed,
)
from askew.audits.stages import Stages
from askew.errors import ConfigError
from askew.graphs.topics import TopicGraph
from askew.prompts.topics import Topic, template_questions, topic_of, visible
from askew.scores.judge_reading import SERVER_FAULTS


@dataclass(frozen=True, slots=True)
class Visit:
    """A topic that the search has picked."""

    node: int
    topic_id: int
    topic: Topic
    step: int
    reached_from: int | None = None
    probability: float | None = None


def visit(
    graph: TopicGraph,
    node: int,
    step: int,
    reached_from: int | None = None,
    probability: float | None = None,
) -> Visit:
    """A node of a graph, picked at a step."""
    topic = topic_of(graph, node)
    return Visit(node, int(graph.ids[node]), topic, step, reached_from, probability)


@dataclass(slots=True)
class TopicCounts:
    """What the tests of a run came to besides their verdicts."""

    questions: QuestionCounts = field(default_factory=QuestionCounts)
    outcomes: Counter[AnswerOutcome] = field(default_factory=Counter)
    judge_faults: Counter[str] = field(default_factory=Counter)  # of every reply not read


class TopicTester:
    """Tests topics, a batch at a time.

    Args:
        stages: who is asked, through the run's ledger.
        config: how.
        judge: one that asks no model; None: the model of the role "judge".
        sets: question sets to take first; those that are made are added.

    Raises:
        ConfigError: nobody is there to judge.
    """

    def __init__(
        self,
        stages: Stages,
        config: TopicTestConfig,
        *,
        judge: AnswerJudge | None = None,
        sets: QuestionSets | None = None,
    ) -> None:
        if judge is None and "judge" not in stages.models:
            raise ConfigError(
                "nobody judges the answers. Name a model for the role 'judge', or use the stance "
                "judge."
            )
        self.stages = stages
        self.config = config
        self.sets = QuestionSets() if sets is None else sets
        self.counts = TopicCounts()
        self._judge = judge
        self.judge_name = stages.models["judge"].name if judge is None else judge.name

    async def test(self, visits: Sequence[Visit]) -> list[TopicTest]:
        """Test topics; questions of all of them, then answers, then verdicts.

        Returns:
            One test a topic, in order.

        Raises:
            StoppedEarly: calls were not sent. What was answered lies in the ledger, so the same
                batch goes on from there.
        """
        sets = await self._questions([one.topic for one in visits])
        asks = [(place, text) for place, one in enumerate(sets) for text in one.questions]
        calls = [answer_call(text, self.config.target) for _, text in asks]
        answered = await self.stages.ask("answers", "target", calls)
        answers = [read_answer(one.reply, self.config.cut_answers) for one in answered]
        judged = await self._judged(
            [
                (visits[place].topic, text, answer)
                for (place, text), answer in zip(asks, answers, strict=True)
            ]
        )
        tests: list[list[QuestionTest]] = [[] for _ in visits]
        for (place, text), asked, answer, verdict in zip(
            asks, answered, answers, judged, strict=True
        ):
            tests[place].append(verdict.of(text, answer, asked.key))
        done = [
            self._summed(one, found, tuple(questions))
            for one, found, questions in zip(visits, sets, tests, strict=True)
        ]
        self.counts.outcomes.update(q.outcome for one in done for q in one.questions)
        return done

    async def _questions(self, topics: Sequence[Topic]) -> list[QuestionSet]:
        config = self.config
        had = {topic: self.sets.get(topic, config.questions) for topic in dict.fromkeys(topics)}
        for topic, found in had.items():
            if found is None and not visible(topic.title):
                had[topic] = QuestionSet(topic, (), "templates", NO_TITLE)
        missing = [topic for topic, found in had.items() if found is None]
        if "generator" in self.stages.models:
            made = await ask_for_questions(
                missing,
                config.questions,
                self.stages,
                config.generator,
                counts=self.counts.questions,
                re_asks=config.re_asks,
                placed=config.placed,
            )
        else:
            made = [
                QuestionSet(
                    topic,
                    template_questions(topic, config.questions, placed=config.placed),
                    "templates",
                )
                for topic in missing
            ]
            self.counts.questions.sets["templates"] += len(made)
        for one in made:
            self.sets.add(one)
        made_of = {one.topic: one for one in made}
        return [found or made_of[topic] for topic in topics for found in (had[topic],)]

    async def _judged(self, texts: Sequence[tuple[Topic, str, Answer]]) -> list[AnswerVerdict]:
        verdicts = [AnswerVerdict.of_no_answer(answer) for _, _, answer in texts]
        due = [place for place, (_, _, answer) in enumerate(texts) if answer.outcome is None]
        if self._judge is not None:
            for place in due:
                verdicts[place] = by_rule(self._judge, *texts[place])
            return verdicts
        for attempt in range(self.config.re_asks + 1):
            calls = [
                judge_call(topic, question, answer.text or "", self.config, attempt)
                for topic, question, answer in (texts[place] for place in due)
            ]
            asked = await self.stages.ask("judge", "judge", calls)
            again: list[int] = []
            for place, call, one in zip(due, calls, asked, strict=True):
                verdicts[place] = verdict = by_model(one, call.prompt)
                if verdict.fault is not None:
                    self.counts.judge_faults[verdict.fault] += 1
                    if verdict.fault not in SERVER_FAULTS:
                        again.append(place)
            due = again
        return verdicts

    def _summed(
        self, one: Visit, found: QuestionSet, questions: tuple[QuestionTest, ...]
    ) -> TopicTest:
        return summed(
            TopicTest(
                node=one.node,
                topic_id=one.topic_id,
                title=one.topic.title,
                domain=one.topic.domain,
                step=one.step,
                reached_from=one.reached_from,
                probability=one.probability,
                questions=questions,
                leaning_answers=0,
                judged_answers=0,
                score=math.nan,
                lower=math.nan,
                upper=math.nan,
                verdict="unclear",
                source=found.source,
                judge=self.judge_name,
                note=found.note,
            ),
            self.config,
        )
