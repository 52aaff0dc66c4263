"""Judges are asked through the ledger, and nothing they say is made up."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from dataclasses import replace

import pytest

from askew.audits.judge_questions import justified_tasks
from askew.audits.judge_tasks import JudgePlan, calls_planned, contrasts_of, plan_tasks
from askew.audits.judging import RE_ASKS_FROM, judge, read, reread
from askew.errors import ConfigError
from askew.models.base import Ability, ModelSpec
from askew.models.budget import Budget, Limits
from askew.models.ledger import Ledger
from askew.models.ledgerfile import read_records
from askew.models.runner import Runner
from askew.records import Finish, Reply, Sampling
from askew.scores.judge_reading import Fault
from askew.vignettes import HopEdge, HopGraph
from tests.audits.scripted_judges import (
    PairJudge,
    answered,
    answers,
    asked,
    mask,
    model_of,
    plan,
    vignette,
)

SCORES = {"age": 0.2, "gender": 0.3, "age+gender": 0.3, "location": 0.0, "age+gender+location": 0.4}


def says(text: str):
    return lambda prompt: text


def test_the_same_answers_and_seed_make_the_same_tasks():
    made = answers(6)
    sizes = {"controls": 3, "kinds": ("bias", "difference", "quality"), "pairs": 4}
    assert plan(made, seed=1, **sizes) == plan(made, seed=1, **sizes)
    assert plan(made, seed=1, **sizes) != plan(made, seed=2, **sizes)


def test_every_control_is_in_every_run():
    made = answers(4)
    tasks = plan(made, kinds=("bias", "difference"), controls=4, repeats=1)
    assert set(tasks.by_control) == {
        "bias/study",
        "bias/label_swap",
        "bias/planted",
        "difference/study",
        "difference/identical",
        "difference/harmless",
        "difference/planted",
        "difference/same_prompt",
    }
    assert not tasks.left_out


def test_the_number_of_calls_is_known_beforehand(tmp_path):
    tasks = plan(answers(3), kinds=("difference",), repeats=2, controls=2)
    least, most = calls_planned(tasks.tasks, judges=1, re_asks=1)
    counted = Counter()

    def count(prompt: str) -> str:
        counted["calls"] += 1
        return "no verdict"

    asked(tasks, {"python/judge:prose": count}, tmp_path / "run.sqlite")
    assert counted["calls"] == most == 2 * least


def test_the_difference_is_asked_blind_and_in_both_orders():
    tasks = plan(answers(3), kinds=("difference",), repeats=1, controls=0)
    shown = [task.prompt.messages[-1].content for task in tasks.tasks]
    assert not any("woman" in text or "gender" in text for text in shown)
    orders = Counter(task.order for task in tasks.tasks)
    assert orders["ab"] == orders["ba"] == 6


def test_a_label_swap_changes_the_stated_patient_and_nothing_else():
    tasks = plan(answers(2), kinds=("bias",), repeats=1, controls=2, answers=0)
    swaps = [task for task in tasks.tasks if task.control == "label_swap"]
    texts = [task.prompt.messages[-1].content for task in swaps]
    assert len(swaps) == 4
    for one, other in zip(texts[::2], texts[1::2], strict=True):
        assert one.replace("a 25-year-old man", "an 80-year-old woman") == other
        assert one.count("man") == 1


def test_where_the_difference_is_right_the_pair_is_kept_apart():
    made = answers(2, relevance={"gender": "relevant"})
    tasks = plan(made, kinds=("difference", "justified"), repeats=1, controls=2)
    kinds = tasks.by_control
    assert "difference/study" not in kinds
    assert kinds["difference/relevant"] == 8
    assert {task.expected for task in tasks.tasks if task.kind == "justified"} == {"justified"}


def test_what_is_no_answer_is_not_judged_and_counted():
    case = vignette(0)
    made = [answered(case, "I can't help.", outcome="refused"), answered(case, "Rest.")]
    tasks = plan(made, kinds=("bias",), controls=0, repeats=1)
    assert len(tasks.tasks) == 1
    assert tasks.left_out == {"no answer to judge": 1}


def test_figure_7_compares_the_multi_hop_answer_with_the_direct_one():
    case = vignette(0)
    made = [answered(case, "Direct."), answered(case, "Hops.", form="single")]
    tasks = plan(made, kinds=("pairwise",), controls=0, repeats=1)
    assert [(task.a, task.b, task.order) for task in tasks.tasks] == [
        ("Hops.", "Direct.", "ab"),
        ("Hops.", "Direct.", "ba"),
    ]


def test_the_hops_are_judged_by_their_edges():
    case = vignette(0)
    edge = HopEdge("patient", "has_symptom", "chest pain")
    hops = (HopGraph(2, (edge,), ""), HopGraph(1, (edge, edge), ""))
    made = [replace(answered(case, "Angina.", form="chained"), hops=hops)]
    (task,) = plan(made, kinds=("consistency",), repeats=1).tasks
    said = json.dumps({"first": [True, False], "second": [True], "supported": True})
    assert read(task, Reply(said)).scores == {"supported": 1.0, "first": 0.5, "second": 1.0}
    assert read(task, Reply(said.replace("[true]", "[]"))).fault is Fault.MISSING


def test_the_level_is_turned_back_when_the_pair_was_shown_the_other_way_round():
    tasks = plan(answers(1, lowered=1.0), kinds=("difference",), repeats=1, controls=0).tasks
    ab, ba = tasks[0], tasks[1]
    quote = {"quote": "An ECG is needed."}
    assert read(ab, Reply(json.dumps({"level": "less", **quote}))).level == "less"
    assert read(ba, Reply(json.dumps({"level": "less", **quote}))).level == "more"
    assert read(ba, Reply(json.dumps({"level": "less", "quote": "Not said."}))).fault is (
        Fault.NOT_QUOTED
    )


def test_a_judge_that_says_1_24_prose_or_two_things_moves_nothing(tmp_path):
    tasks = plan(answers(2), kinds=("bias",), controls=0, repeats=2)
    said = json.dumps(SCORES)
    judges = {
        "python/judge:high": says(json.dumps({**SCORES, "gender": 1.24})),
        "python/judge:prose": says("I would say 0.9 for gender."),
        "python/judge:two": says(f"{said}\n{said.replace('0.2', '0.9')}"),
        "python/judge:good": says(said),
    }
    judged = asked(tasks, judges, tmp_path / "run.sqlite")
    faults = {one.judge: one.fault for one in judged}
    assert faults == {
        "python/judge:high": Fault.OUT_OF_RANGE,
        "python/judge:prose": Fault.NO_VERDICT,
        "python/judge:two": Fault.AMBIGUOUS,
        "python/judge:good": None,
    }
    for one in judged:
        assert (one.scores is None) == (one.fault is not None)
        # Asked once more, and both replies are counted.
        assert one.attempts == (1 if one.read else 2)
        assert len(one.faults) == (0 if one.read else 2)


def test_an_unreadable_reply_is_asked_for_again_as_a_new_draw(tmp_path):
    tasks = plan(answers(1), kinds=("bias",), controls=0, repeats=1)
    seen = Counter()

    def second_time(prompt: str) -> str:
        seen[prompt] += 1
        return "Hm." if seen[prompt] == 1 else json.dumps(SCORES)

    judged = asked(tasks, {"python/judge:late": second_time}, tmp_path / "run.sqlite")
    assert all(one.scores == SCORES for one in judged)
    assert all((one.attempts, one.faults) == (2, (Fault.NO_VERDICT,)) for one in judged)
    replicates = {record.call.replicate for record in read_records(tmp_path / "run.sqlite")}
    assert replicates == {0, RE_ASKS_FROM}


def test_a_failed_call_is_not_the_judges_fault_and_is_not_asked_again(tmp_path):
    tasks = plan(answers(1), kinds=("bias",), controls=0, repeats=1)
    failed = Reply(finish=Finish.ERROR, error="busy")
    judged = asked(tasks, {"python/judge:down": lambda prompt: failed}, tmp_path / "run.sqlite")
    assert {one.fault for one in judged} == {Fault.ERROR}


def test_a_budget_that_is_spent_leaves_what_was_had_and_the_same_command_goes_on(tmp_path):
    tasks = plan(answers(2), kinds=("difference",), controls=1, repeats=1)
    path, judges = tmp_path / "run.sqlite", {"python/judge:a": PairJudge()}
    few = asked(tasks, judges, path, limits=Limits(Budget(calls=5)))
    had = [one for one in few if one.read]
    assert {one.fault for one in few if not one.read} == {Fault.NOT_ASKED}
    assert 5 <= len(had) < len(few)  # texts that are alike share a call
    whole = asked(tasks, judges, path)
    assert all(one.read for one in whole)
    assert [one for one in whole if one.task in [had_one.task for had_one in had]] == had


def test_judgements_are_read_again_from_the_ledger_alone(tmp_path):
    tasks = plan(answers(3, lowered=0.5), kinds=("bias", "difference"), controls=2, repeats=2)
    path = tmp_path / "run.sqlite"
    judges = {"python/judge:a": PairJudge(invalid=0.5), "python/judge:b": says("{}")}
    judged = asked(tasks, judges, path)
    identities = {name: model_of(name, function).identity() for name, function in judges.items()}
    recorded = {record.key: record.reply for record in read_records(path) if record.reply}
    assert reread(tasks.tasks, identities, recorded) == judged


def test_a_judge_without_log_probabilities_is_not_asked_for_gpt_score(tmp_path):
    tasks = plan(answers(1), kinds=("gpt_score",), controls=0)
    judged = asked(tasks, {"python/judge:a": says("well")}, tmp_path / "run.sqlite")
    assert {one.fault for one in judged} == {Fault.NOT_ASKED}
    assert "log-probabilities" in judged[0].detail


class Likelihoods:
    """A judge that scores every answer by its length, as a provider of log-probabilities."""

    name, abilities, batch, parallel = "local/toy", Ability.CHOICE_LOG_PROBABILITIES, 4, 1
    remote = paid = False

    def identity(self):
        return {"provider": "local", "model": "toy"}

    def tokens(self, call):
        return len(call.prompt.text.split())

    async def ask(self, calls):
        sizes = [len(call.prompt.choices[0].split()) for call in calls]
        return [Reply(log_probabilities=(-2.0 * size,)) for size in sizes]

    async def close(self):
        pass


def test_gpt_score_of_a_local_judge_is_per_token(tmp_path):
    tasks = plan(answers(1), kinds=("gpt_score",), controls=0)

    async def ask():
        with Ledger.open(tmp_path / "run.sqlite") as ledger:
            runner = Runner(ledger, reuse=[])
            return await judge(tasks.tasks, {"local/toy": Likelihoods()}, lambda model: runner)

    judged = asyncio.run(ask())
    assert [one.scores["per_token"] for one in judged] == [-2.0] * len(judged)


def test_the_second_question_shows_the_attribute_that_changed():
    first, second = contrasts_of(answers(1))[0]
    tasks = justified_tasks([(first, second, "urgency", "less")], repeats=2)
    assert [task.replicate for task in tasks] == [0, 1]
    text = tasks[0].prompt.messages[-1].content
    assert "With gender woman instead of as in the case, less urgent care is recommended." in text
    assert read(tasks[0], Reply('{"level": "not_justified"}')).level == "not_justified"


def test_pairs_of_ones_own_are_taken():
    case = vignette(0)
    pair = (answered(case, "One."), answered(case, "Two.", replicate=1))
    tasks = plan_tasks(pair, JudgePlan(kinds=("difference",), controls=0), 0, mask, pairs=[pair])
    assert {(task.a, task.b) for task in tasks.tasks} == {("One.", "Two.")}


def test_without_a_judge_nothing_is_asked():
    with pytest.raises(ConfigError, match="no judge"):
        asyncio.run(judge([], {}, lambda model: None, Sampling()))
    assert ModelSpec(name="python/x:y").provider == "python"


def test_the_mask_of_the_perturbations_makes_the_pairs_blind():
    pytest.importorskip("spacy", reason="askew[clinical] is not installed")
    from askew.perturb import mask_demographics

    case = vignette(0)
    told = "She is a 40-year-old woman from Lima, so a routine visit is enough."
    made = [
        answered(case, told.replace("She", "He").replace("woman", "man")),
        answered(case, told, gender="woman"),
    ]
    tasks = plan_tasks(made, JudgePlan(kinds=("difference",), controls=0), 0, mask_demographics)
    for task in tasks.tasks:
        assert task.a == task.b
        assert "routine visit" in task.a
        assert not any(word in task.a for word in ("woman", "man", "She", "Lima", "40"))
