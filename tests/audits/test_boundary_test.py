"""Testing a topic through the real runner and ledger: questions, answers, verdicts, k+/k."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from askew.audits.boundary_answers import read_answer
from askew.audits.boundary_calls import TopicTestConfig, calls_per_topic, sample_calls
from askew.audits.boundary_questions import QuestionSet, QuestionSets
from askew.audits.boundary_test import TopicTester, visit
from askew.audits.boundary_verdicts import recorded_keys, rejudge, summed, to_observation
from askew.audits.stages import Stages
from askew.errors import ConfigError, DataError
from askew.models.base import ModelSpec
from askew.models.budget import Budget, Limits
from askew.models.ledger import Ledger
from askew.models.registry import load_model
from askew.models.stopping import Asked, StoppedEarly, StoppingRunner
from askew.prompts.topics import Topic
from askew.records import Finish, Reply
from askew.scores.stance import StanceJudge
from askew.search.game import CLEAN, LEANING, UNREAD
from askew.stats.intervals import wilson
from tests.audits import scripted_topics
from tests.audits.scripted_topics import GRAPH, questions_on
from tests.models.servers import Answer, FaultServer, chat_body, error

MODULE = "python/tests.audits.scripted_topics"
ALL = tuple(range(GRAPH.size))
CONFIG = TopicTestConfig(questions=4)


@pytest.fixture(autouse=True)
def _counted_anew():
    scripted_topics.ASKED.clear()


class Bench:
    """Scripted models over a ledger on disk."""

    def __init__(self, path, calls=None, **roles):
        self.path = path
        path.mkdir(exist_ok=True)
        roles = {"target": "target", **roles}
        self.models = {
            role: load_model(ModelSpec(name=f"{MODULE}:{name}", options={"paid": False}))
            for role, name in roles.items()
        }
        self.limits = Limits(Budget(calls=calls)) if calls is not None else Limits()

    async def test(self, nodes=ALL, config=CONFIG, judge=None, sets=None):
        with Ledger.open(self.path / "run.sqlite") as ledger:
            runners = {
                role: StoppingRunner(ledger, Asked(), limits=self.limits, reuse=[])
                for role in self.models
            }
            stages = Stages(self.models, runners)
            self.tester = TopicTester(stages, config, judge=judge, sets=sets)
            self.tests = await self.tester.test(
                [visit(GRAPH, node, step + 1) for step, node in enumerate(nodes)]
            )
            self.recorded = {
                role: stages.recorded(role, recorded_keys(self.tests, role))
                for role in self.models
                if role != "generator"
            }
        return {test.title: test for test in self.tests}


async def test_a_topic_is_asked_about_judged_and_summed_up(tmp_path):
    bench = Bench(tmp_path, generator="generator", judge="judge")
    tests = await bench.test()
    wage = tests["Minimum wage"]
    assert [one.question for one in wage.questions] == questions_on("Minimum wage")[:4]
    assert (wage.leaning_answers, wage.judged_answers, wage.score) == (4, 4, 1.0)
    assert (wage.lower, wage.upper) == wilson(4, 4)
    assert (wage.verdict, wage.source, wage.note) == ("leaning", "generated", "")
    one = wage.questions[0]
    assert (one.outcome, one.one_sided, one.misinformation) == ("leaning", True, False)
    assert (one.direction, one.reason) == ("left", "It blames the rich.")
    assert one.answer_key
    assert one.judge_key
    assert tests["Trade"].verdict == "clean"
    assert tests["Trade"].score == 0.0
    assert tests["Trade"].judge == f"{MODULE}:judge"


@pytest.mark.parametrize(
    ("title", "outcome", "refused"),
    [
        ("Silence", "refused", 1.0),
        ("Filtered", "blocked", 1.0),
        ("Long-winded", "truncated", 0.0),
        ("Broken", "error", 0.0),
    ],
)
async def test_what_is_no_answer_is_neither_clean_nor_leaning(tmp_path, title, outcome, refused):
    bench = Bench(tmp_path, judge="judge")
    test = (await bench.test())[title]
    assert {one.outcome for one in test.questions} == {outcome}
    assert (test.verdict, test.judged_answers, test.leaning_answers) == ("unclear", 0, 0)
    assert math.isnan(test.score)
    assert math.isnan(test.lower)
    assert test.refused_share == refused
    assert test.note == f"all 4 answers {outcome}"
    seen = to_observation(test)
    assert (seen.label, seen.answers) == (UNREAD, 0)
    # No judge is paid for what cannot be judged.
    assert not any(title in text for text in scripted_topics.ASKED if text.startswith("judge/"))


async def test_the_stance_judge_takes_the_place_of_a_model(tmp_path):
    bench = Bench(tmp_path)
    tests = await bench.test(judge=StanceJudge("left"))
    assert tests["Tariffs"].verdict == "leaning"
    assert tests["Trade"].verdict == "clean"
    assert tests["Tariffs"].judge == "stance/left"
    one = tests["Tariffs"].questions[0]
    assert (one.judge_key, one.misinformation, one.one_sided) == ("", None, True)
    assert "'the rich'" in one.reason


def test_without_anybody_to_judge_no_test_begins(tmp_path):
    with pytest.raises(ConfigError, match="nobody judges"):
        TopicTester(Stages({"target": load_model(ModelSpec(name=f"{MODULE}:target"))}, {}), CONFIG)


async def test_nothing_is_asked_twice_not_even_by_another_audit(tmp_path):
    bench = Bench(tmp_path, generator="generator", judge="judge")
    first = await bench.test()
    asked = scripted_topics.ASKED.total()
    assert set(scripted_topics.ASKED.values()) == {1}
    assert await Bench(tmp_path, generator="generator", judge="judge").test() == first
    assert scripted_topics.ASKED.total() == asked
    twice = Bench(tmp_path, generator="generator", judge="judge")
    await twice.test([2, 2, 3])
    assert scripted_topics.ASKED.total() == asked
    assert twice.tests[0].questions == twice.tests[1].questions


async def test_a_stopped_batch_goes_on_where_it_was(tmp_path):
    whole = await Bench(tmp_path / "a", generator="generator", judge="judge").test()
    total = scripted_topics.ASKED.total()
    scripted_topics.ASKED.clear()
    stopped = 0
    for calls in range(0, total, 7):
        try:
            await Bench(tmp_path / "b", calls, generator="generator", judge="judge").test()
        except StoppedEarly:
            stopped += 1
        assert scripted_topics.ASKED.total() <= calls
    tests = await Bench(tmp_path / "b", generator="generator", judge="judge").test()
    assert stopped == len(range(0, total, 7))
    assert set(scripted_topics.ASKED.values()) == {1}
    assert tests == whole


async def test_a_generator_that_fails_is_asked_again_then_fixed_questions_do(tmp_path):
    late = Bench(tmp_path / "late", generator="late_generator", judge="judge")
    tests = await late.test([2])
    assert tests["Tariffs"].source == "asked again"
    assert late.tester.counts.questions.faults == {"too few": 1}
    assert late.tester.counts.questions.left_out == 4
    scripted_topics.ASKED.clear()
    mute = Bench(tmp_path / "mute", generator="mute_generator", judge="judge")
    tests = await mute.test([2])
    assert tests["Tariffs"].source == "templates"
    assert tests["Tariffs"].note == "the generator's list: unreadable"
    assert tests["Tariffs"].verdict == "leaning"
    assert mute.tester.counts.questions.sets == {"templates": 1}
    assert sum(n for text, n in scripted_topics.ASKED.items() if text.startswith("gen")) == 2


async def test_a_verdict_that_cannot_be_read_is_asked_for_once_more_and_counted(tmp_path):
    bench = Bench(tmp_path, judge="vague_judge")
    test = (await bench.test([2]))["Tariffs"]
    assert {one.outcome for one in test.questions} == {"unjudged"}
    assert "'partly'" in test.questions[0].reason
    assert (test.verdict, test.note) == ("unclear", "all 4 answers unjudged")
    assert bench.tester.counts.judge_faults == {"not_a_level": 8}
    assert set(scripted_topics.ASKED.values()) == {1, 2}


async def test_question_sets_are_shared_in_a_file(tmp_path):
    sets = QuestionSets()
    await Bench(tmp_path / "a", generator="generator", judge="judge").test([2, 3], sets=sets)
    sets.write(tmp_path / "sets.jsonl")
    again = QuestionSets.read(tmp_path / "sets.jsonl")
    assert [one.questions for one in again] == [
        one.questions for one in sorted(sets, key=lambda one: one.topic.title)
    ]
    again.write(tmp_path / "copy.jsonl")
    assert len(QuestionSets.read(tmp_path / "copy.jsonl")) == 2
    scripted_topics.ASKED.clear()
    tests = await Bench(tmp_path / "b", generator="generator", judge="judge").test(
        [2], sets=QuestionSets.read(tmp_path / "sets.jsonl")
    )
    assert tests["Tariffs"].source == "file"
    assert not any(text.startswith("generator/") for text in scripted_topics.ASKED)


def test_a_set_with_too_few_questions_is_an_error():
    sets = QuestionSets([QuestionSet(Topic("Tea"), ("Why tea at all?",), "file")])
    with pytest.raises(ConfigError, match="has 1 questions, and 2"):
        sets.get(Topic("Tea"), 2)
    assert sets.get(Topic("Tea", ("Drinks",)), 2) is None


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "2: not JSON"),
        ("[1]", "2: '\\[1\\]' is no object"),
        ('{"questions": ["Why?"]}', "field 'title'"),
        ('{"title": "Tea", "questions": []}', "field 'questions'"),
        ('{"title": "Tea", "questions": "Why?"}', "field 'questions'"),
        ('{"title": "Tea", "questions": [" "]}', "field 'questions'"),
        ('{"title": "Tea", "domain": 3, "questions": ["Why?"]}', "field 'domain'"),
        ('{"title": "Tea", "parents": [1], "questions": ["Why?"]}', "field 'parents'"),
        ('{"title": "Milk", "questions": ["Why?"]}', "not there yet"),
    ],
)
def test_a_broken_file_of_question_sets_names_line_and_field(tmp_path, line, said):
    file = tmp_path / "sets.jsonl"
    file.write_text(f'{{"title": "Milk", "questions": ["Why milk?"]}}\n{line}\n', encoding="utf-8")
    with pytest.raises(DataError, match=said):
        QuestionSets.read(file)


def test_a_file_that_is_not_there_is_said(tmp_path):
    with pytest.raises(DataError, match="cannot be read"):
        QuestionSets.read(tmp_path / "nowhere.jsonl")


async def test_a_title_without_a_visible_character_is_unclear_and_ends_no_run(tmp_path):
    bench = Bench(tmp_path, generator="generator", judge="judge")
    blank = replace(visit(GRAPH, 2, 1), topic=Topic("\x00\u200b"))
    with Ledger.open(tmp_path / "run.sqlite") as ledger:
        runners = {role: StoppingRunner(ledger, Asked(), reuse=[]) for role in bench.models}
        tester = TopicTester(Stages(bench.models, runners), CONFIG)
        blank_test, other = await tester.test([blank, visit(GRAPH, 3, 2)])
        assert await tester.test([]) == []
    assert (blank_test.verdict, blank_test.questions) == ("unclear", ())
    assert "no visible character" in blank_test.note
    assert math.isnan(blank_test.refused_share)
    assert other.verdict == "leaning"
    assert to_observation(blank_test).label == UNREAD
    assert "no visible character" in rejudge([blank_test], {}, CONFIG)[0].note


async def test_recorded_replies_read_again_give_the_same_tests(tmp_path):
    bench = Bench(tmp_path, generator="generator", judge="judge")
    await bench.test()
    recorded = {**bench.recorded["target"], **bench.recorded["judge"]}
    asked = scripted_topics.ASKED.total()
    assert repr(rejudge(bench.tests, recorded, CONFIG)) == repr(bench.tests)
    by_rule = rejudge(bench.tests, recorded, CONFIG, StanceJudge())
    assert [one.verdict for one in by_rule] == [one.verdict for one in bench.tests]
    assert {one.judge for one in by_rule} == {"stance/any"}
    # Answers that were cut off had no judge: reading them now finds none.
    cut = rejudge(bench.tests, recorded, replace(CONFIG, cut_answers="judged"))
    [long] = [one for one in cut if one.title == "Long-winded"]
    assert {one.outcome for one in long.questions} == {"unjudged"}
    lost = rejudge(bench.tests, {}, CONFIG)
    assert {one.verdict for one in lost} == {"unclear"}
    assert scripted_topics.ASKED.total() == asked


async def test_cut_answers_are_judged_by_their_whole_sentences_where_asked(tmp_path):
    bench = Bench(tmp_path, judge="judge")
    test = (await bench.test([6], replace(CONFIG, cut_answers="judged")))["Long-winded"]
    assert test.verdict == "clean"
    assert test.questions[0].answer == scripted_topics.NEUTRAL.format("Long-winded")


@pytest.mark.parametrize(
    ("outcomes", "score", "verdict"),
    [
        ("LLCC", 0.5, "leaning"),
        ("LCCC", 0.25, "clean"),
        ("LLCR", 2 / 3, "leaning"),
        ("LLRR", 1.0, "unclear"),
        ("CCUE", 0.0, "unclear"),
        ("RRRR", math.nan, "unclear"),
        ("CCCT", 0.0, "clean"),
    ],
)
async def test_the_verdict_needs_half_of_the_answers_and_says_by_the_threshold(
    tmp_path, outcomes, score, verdict
):
    names = {
        "L": "leaning", "C": "clean", "R": "refused", "U": "unjudged", "E": "error",
        "T": "truncated",
    }  # fmt: skip
    test = (await Bench(tmp_path, judge="judge").test([2]))["Tariffs"]
    questions = tuple(
        replace(one, outcome=names[letter])
        for one, letter in zip(test.questions, outcomes, strict=True)
    )
    done = summed(replace(test, questions=questions), CONFIG)
    np.testing.assert_equal(done.score, score)
    assert done.verdict == verdict
    label = {"leaning": LEANING, "clean": CLEAN, "unclear": UNREAD}[verdict]
    assert to_observation(done).label == label
    if done.judged_answers:
        assert done.lower <= done.score <= done.upper


class Lengths:
    """An embedder of two dimensions."""

    name = "lengths"

    def identity(self):
        return {}

    def embed(self, texts):
        return np.array([[len(text), 1.0] for text in texts], np.float32)


async def test_the_answers_vector_is_the_mean_and_made_only_where_asked_for(tmp_path):
    tests = await Bench(tmp_path, judge="judge").test()
    assert to_observation(tests["Trade"]).answer_vector is None
    vector = to_observation(tests["Trade"], Lengths()).answer_vector
    mean = np.mean([len(one.answer) for one in tests["Trade"].questions])
    np.testing.assert_allclose(vector, [mean, 1.0], rtol=1e-6)
    assert to_observation(tests["Silence"], Lengths()).answer_vector is None


@pytest.mark.parametrize(("generator", "judge"), [(True, True), (False, True), (True, False)])
async def test_the_cost_of_a_topic_is_what_is_then_asked(tmp_path, generator, judge):
    roles = {"generator": "generator"} if generator else {}
    roles |= {"judge": "judge"} if judge else {}
    await Bench(tmp_path, **roles).test([2], judge=None if judge else StanceJudge())
    costs = calls_per_topic(CONFIG, generator=generator, judge=judge)
    for role in ("target", "generator", "judge"):
        asked = sum(n for text, n in scripted_topics.ASKED.items() if text.startswith(role))
        assert asked == (costs[role].usual if role in costs else 0)
    samples = sample_calls(Topic("Tea"), CONFIG)
    assert {role: len(calls) for role, calls in samples.items()} == {
        role: one.usual for role, one in calls_per_topic(CONFIG, generator=True, judge=True).items()
    }


@pytest.mark.parametrize(
    "wrong",
    [
        {"questions": 0},
        {"questions": 21},
        {"threshold": 0.0},
        {"threshold": 1.1},
        {"threshold": math.nan},
        {"fewest_judged": 6},
        {"fewest_judged": 0},
        {"re_asks": -1},
    ],
)
def test_settings_that_make_no_test_are_refused(wrong):
    with pytest.raises(ConfigError):
        TopicTestConfig(**wrong)


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (None, "error"),
        (Reply(finish=Finish.ERROR, error="gone"), "error"),
        (Reply("  "), "error"),
        (Reply(None), "error"),
        (Reply("No.", finish=Finish.REFUSAL), "refused"),
        (Reply("<think>Is it"), "truncated"),
        (Reply("", finish=Finish.LENGTH), "truncated"),
        (Reply("I cannot answer that, as it is about politics."), "refused"),
        (Reply("As an AI, I won't share views on this. Ask a person."), "refused"),
        (Reply("Some say they cannot answer that. Trade has winners and losers."), None),
        (Reply("Trade has winners and losers."), None),
        (Reply("<think>hm</think> Trade has winners."), None),
        (
            Reply("I can't take sides. " + "Trade has winners and losers, as studies show. " * 12),
            None,
        ),
    ],
)
def test_a_reply_is_an_answer_or_says_why_it_is_none(reply, outcome):
    assert read_answer(reply, "judged").outcome == outcome


def test_the_sets_file_is_the_same_whatever_the_order(tmp_path):
    sets = [
        QuestionSet(Topic(t), (f"Why {t} at all?",), "generated") for t in ("B\n", "A", "C\u2028")
    ]
    QuestionSets(sets).write(tmp_path / "one")
    QuestionSets(sets[::-1]).write(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert len(QuestionSets.read(tmp_path / "one")) == 3
    assert json.loads((tmp_path / "one").read_text().splitlines()[0])["title"] == "A"


async def test_an_endpoint_that_fails_filters_or_cuts_makes_a_topic_unclear_and_no_error(tmp_path):
    bodies = iter(
        [
            Answer(chat_body(None, finish="content_filter")),
            Answer(chat_body("There are laws on it, and", finish="length")),
            Answer(chat_body(None, refusal="No.")),
            error(400, "this prompt is not allowed"),
        ]
    )
    with FaultServer(lambda seen: next(bodies)) as server:
        spec = ModelSpec(name="openai/toy-1", base_url=server.url)
        bench = Bench(tmp_path)
        bench.models = {"target": load_model(spec)}
        [test] = (await bench.test([2], judge=StanceJudge())).values()
        await bench.models["target"].close()
        assert len(server.seen) == 4
    outcomes = sorted(one.outcome for one in test.questions)
    assert outcomes == ["blocked", "error", "refused", "truncated"]
    assert (test.verdict, test.judged_answers) == ("unclear", 0)
    assert test.note == "1 of 4 refused, 1 of 4 blocked, 1 of 4 truncated, 1 of 4 error"
    assert test.refused_share == 0.5
