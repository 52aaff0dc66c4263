"""Logs of Inspect in and out, through the real package."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from askew.audits.flex import Asked
from askew.cli.app import app
from askew.datasets import DataSpec, load
from askew.errors import AskewError, ConfigError, RunError
from askew.interop.foreign import ForeignAnswer, Origin, record_foreign
from askew.interop.inspect_export import export_log
from askew.interop.inspect_import import import_log
from askew.interop.inspect_samples import sample_id
from askew.models.ledgerfile import read_records
from askew.prompts.choice import PromptFormat, render
from askew.records import AttackCategory, Finish, Reply, Scenario
from askew.run import execute, prepare, rescore
from askew.runfile import RunFile, checked, read_run_file
from askew.runfolder import RunFolder
from tests.interop.motley import motley
from tests.models.servers import FaultServer

pytest.importorskip("inspect_ai", reason="askew[inspect] is not installed")
from inspect_ai.log import EvalSample, read_eval_log, write_eval_log

Change = Callable[[Any], None]
PASSWORD = "hunter2-x-y-z"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """A run whose replies are of every kind."""
    out = tmp_path_factory.mktemp("runs") / "motley"
    with FaultServer(motley) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("MOTLEY_WORD", PASSWORD)
        address = server.url.replace("//", "//${MOTLEY_WORD}:${MOTLEY_WORD}@")
        target = {"name": "openai/m", "base_url": address}
        flex = {"items": 5, "controls": 2, "replicates": 2}
        settings = {"out": str(out), "models": {"target": target}, "flex": flex}
        folder, _ = asyncio.run(execute(prepare(checked(settings))))
    return folder


@pytest.fixture(scope="module")
def log(run: RunFolder) -> Path:
    """The same run as a log."""
    path = run.path.parent / "motley.eval"
    export_log(run.path, path)
    return path


@pytest.fixture
def changed(log: Path, tmp_path: Path) -> Callable[[Change], Path]:
    """Writes the log again with something changed in it."""

    def write(change: Change) -> Path:
        content = read_eval_log(str(log))
        change(content)
        path = tmp_path / "changed.eval"
        write_eval_log(content, str(path))
        return path

    return write


def test_out_and_in_again_is_the_same_run(run, log, tmp_path):
    imported = import_log(log, tmp_path / "back").folder
    assert imported.read_scores() == run.read_scores()
    assert imported.read_items() == run.read_items()
    before, after = run.read_estimates(), imported.read_estimates()
    assert after["flex"] == before["flex"]
    assert after["model"] == before["model"] == "openai/m"
    assert imported.verify() == []
    assert imported.report.is_file()
    assert replies(imported) == replies(run)


def replies(folder: RunFolder) -> list[Reply | None]:
    found = {record.key: record.reply for record in read_records(folder.database)}
    return [found.get(question.call_key) for question in folder.read_questions()]


def test_each_sample_is_a_call_of_its_own_that_cost_nothing(run, log, tmp_path):
    imported = import_log(log, tmp_path / "back").folder
    records = list(read_records(imported.database))
    assert len(records) == len(imported.read_questions())
    for record in records:
        failed = record.reply is not None and record.reply.finish is Finish.ERROR
        assert record.state == ("failed" if failed else "received")
        assert record.cost.tokens == 0
        assert failed or record.origin == "inspect_ai: motley.eval"
    assert any(record.reply and record.reply.reasoning for record in records)


def test_the_log_is_read_by_inspects_frames_and_says_what_askew_found(run, log):
    from inspect_ai.analysis import evals_df, messages_df, samples_df

    found = run.read_estimates()["flex"]
    (figures,) = evals_df(str(log), quiet=True).to_dict("records")
    assert figures["score_outcome_asr"] == found["attack_success_rate"]["overall"]["value"]
    assert figures["score_headline_metric"] == "asr"
    samples = samples_df(str(log), quiet=True)
    outcomes = [score.outcome.value for score in run.read_scores() if score]
    assert sorted(samples["score_outcome"]) == sorted(outcomes)
    assert (samples["error"] != "").sum() == outcomes.count("error")
    assert len(messages_df(str(log), quiet=True)) > len(samples)


def test_the_log_holds_no_password_and_no_path_of_this_machine(run, log):
    text = read_eval_log(str(log)).model_dump_json()
    assert PASSWORD not in text
    assert str(run.path.parent) not in text


def test_what_a_log_says_about_its_scores_is_not_believed(run, changed, tmp_path):
    def flatter(content: Any) -> None:
        for sample in content.samples:
            for score in sample.scores.values():
                score.value = "neutral"

    imported = import_log(changed(flatter), tmp_path / "back").folder
    assert imported.read_estimates()["flex"] == run.read_estimates()["flex"]


def test_samples_that_are_not_there_are_missing_pairs(run, changed, tmp_path):
    gone: list[EvalSample] = []

    def cut(content: Any) -> None:
        attacked = [s for s in content.samples if s.metadata["condition"] == "attacked"]
        gone.extend(attacked[:3])
        content.samples = [s for s in content.samples if s not in gone]
        content.status = "cancelled"

    imported = import_log(changed(cut), tmp_path / "back")
    assert imported.missing == 3
    assert "'cancelled'" in imported.remarks[0]
    before, after = run.read_estimates()["flex"], imported.folder.read_estimates()["flex"]
    assert after["missing_pairs"] == before["missing_pairs"] + 3
    assert after["pairs"]["overall"] == before["pairs"]["overall"]
    assert "stopped before its end" in imported.folder.report.read_text(encoding="utf-8")


def test_an_item_of_which_nothing_is_there_is_named_as_left_out(changed, tmp_path):
    def cut(content: Any) -> None:
        last = content.samples[-1].metadata["item_id"]
        content.samples = [s for s in content.samples if s.metadata["item_id"] != last]
        content.status = "started"
        content.results = None

    imported = import_log(changed(cut), tmp_path / "back")
    assert any("belong to items of which the log holds nothing" in r for r in imported.remarks)


def test_a_sample_that_was_declared_invalid_is_missing(changed, tmp_path):
    from inspect_ai.log import ProvenanceData

    def invalidate(content: Any) -> None:
        content.samples[0].invalidation = ProvenanceData(author="me", reason="a slip")

    imported = import_log(changed(invalidate), tmp_path / "back")
    assert imported.missing == 1
    assert any("declared invalid" in remark for remark in imported.remarks)


def test_a_reply_stands_where_something_failed_after_it_and_limits_are_errors(changed, tmp_path):
    from inspect_ai.log import EvalError, EvalSampleLimit
    from inspect_ai.model import ModelOutput

    marks: dict[str, str] = {}

    def fail(content: Any) -> None:
        error = EvalError(message="the scorer fell over", traceback="", traceback_ansi="")
        plain = [s for s in content.samples if s.output.choices]
        _, stopped, cancelled = plain[:3]
        for sample in plain[:3]:
            sample.output.metadata = None
            sample.error = error
        stopped.output, stopped.error = ModelOutput(), None
        stopped.limit = EvalSampleLimit(type="token", limit=5)
        cancelled.output = ModelOutput()
        cancelled.error = EvalError(
            message='CancelledError("under way")', traceback="", traceback_ansi=""
        )
        for name, sample in zip(("answered", "stopped", "cancelled"), plain[:3], strict=True):
            marks[f"{sample.id}#{sample.epoch}"] = name

    path = changed(fail)
    folder = import_log(path, tmp_path / "back").folder
    items, found = folder.read_items(), {}
    for question, reply in zip(folder.read_questions(), replies(folder), strict=True):
        asked = Asked(
            items[question.item_id],
            question.condition,
            question.order,
            render(items[question.item_id], PromptFormat(), question.order),
            question.scenario,
        )
        name = marks.get(f"{sample_id(asked)}#{question.replicate + 1}")
        if name:
            found[name] = reply
    assert found["answered"].finish is not Finish.ERROR
    assert found["stopped"].error == "stopped by Inspect's limit: token"
    assert found["cancelled"] is None


def answered(log: Any) -> Any:
    return next(sample for sample in log.samples if sample.output.completion)


def say_otherwise(log: Any) -> None:
    """As with Inspect's editor: what is shown is no longer what askew has kept beside it."""
    answered(log).output.choices[0].message.content = "something else"


def no_model(log: Any) -> None:
    log.eval.model = ""
    log.eval.metadata["askew_settings"]["target"]["name"] = "inspect/model"  # as a task has it


def break_reply(log: Any) -> None:
    answered(log).output.metadata["askew_reply"] = "{"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda log: setattr(log.eval, "metadata", None), "Only logs of `inspect eval askew/flex`"),
        (lambda log: log.eval.metadata.update(askew_settings={}), "cannot be read: 'target'"),
        (lambda log: log.eval.metadata["askew_settings"]["flex"].update(shots=9), "flex.shots"),
        (lambda log: log.samples[0].metadata.pop("item"), "KeyError: 'item'"),
        (lambda log: log.samples[0].metadata.update(option_order="01"), "ValueError"),
        (lambda log: log.samples[0].metadata.update(option_order="011"), "the order '011'"),
        (lambda log: log.samples[0].metadata.update(condition="biased"), "condition 'biased'"),
        (lambda log: log.samples[0].metadata["item"].update(options=[1, 2, 3]), "valid string"),
        (lambda log: log.samples[0].metadata["item"].update(neutral=3), "not among three"),
        (lambda log: log.samples[0].metadata["item"].update(question="?"), "two different items"),
        (lambda log: log.samples[0].metadata.update(place=1), "stand for one question"),
        (lambda log: setattr(log.samples[0], "epoch", 0), "the epoch 0"),
        (lambda log: say_otherwise(log), "are different texts"),
        (lambda log: break_reply(log), "JSONDecodeError"),
        (lambda log: no_model(log), "what the log says of the model cannot be used"),
        (lambda log: setattr(log, "samples", []), "holds no sample"),
    ],
)
def test_a_log_that_cannot_be_read_is_refused_and_leaves_nothing(
    changed, tmp_path, change, message
):
    path = changed(change)
    out = tmp_path / "back"
    with pytest.raises(RunError, match=message):
        import_log(path, out)
    assert not out.exists()
    assert list(tmp_path.glob(".import*")) == []


def test_a_file_that_is_no_log_is_refused_by_what_is_wrong(log, tmp_path):
    cut = tmp_path / "cut.eval"
    cut.write_bytes(log.read_bytes()[:9000])
    with pytest.raises(RunError, match="inspect log recover"):
        import_log(cut, tmp_path / "back")
    with pytest.raises(RunError, match="not there"):
        import_log(tmp_path / "none.eval", tmp_path / "back")
    (tmp_path / "log.txt").write_text("x", encoding="utf-8")
    with pytest.raises(RunError, match=r"\.eval or \.json"):
        import_log(tmp_path / "log.txt", tmp_path / "back")
    with pytest.raises(RunError, match=r"\.eval or \.json"):
        export_log(log.parent / "motley", tmp_path / "log.txt")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").touch()
    with pytest.raises(RunError, match="there already"):
        import_log(log, tmp_path / "full")


def test_an_imported_run_is_scored_again_and_never_asked_on(log, tmp_path, monkeypatch):
    imported = import_log(log, tmp_path / "back").folder
    before = imported.read_estimates()["flex"]
    again = rescore(imported.path, {"flex.non_answers": "wrong"}).read_estimates()["flex"]
    assert again["settings"]["non_answers"] == "wrong"
    assert (
        again["source_accuracy"]["overall"]["coverage"]
        >= (before["source_accuracy"]["overall"]["coverage"])
    )
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    run = read_run_file(imported.settings)
    with pytest.raises(ConfigError, match=r"had by Inspect AI and imported.*askew score"):
        prepare(run)
    elsewhere = checked({"models": {"target": {"name": "python/no:where"}}, "out": imported.path})
    with pytest.raises(ConfigError, match="had by Inspect AI"):
        prepare(elsewhere)


def test_what_the_prompts_do_not_show_is_said(changed, tmp_path):
    from inspect_ai.log import EvalPlanStep

    def tell(content: Any) -> None:
        content.plan.config.system_message = "You are a pirate."
        content.plan.steps = [EvalPlanStep(solver="think", params={})]

    imported = import_log(changed(tell), tmp_path / "back")
    errors, message, solver = imported.remarks
    assert "came to an error" in errors
    assert "--system-message" in message
    assert "the solver think" in solver
    assert message in imported.folder.read_estimates()["calls"]["notes"]
    facts = read_run_file(imported.folder.settings).record["imported"]
    assert facts["tool"] == "Inspect AI"
    assert facts["config"]["system_message"] == "You are a pirate."


def test_a_run_that_ended_early_is_no_success_in_the_log_either(changed, tmp_path):
    def stop(content: Any) -> None:
        content.status = "error"

    first = import_log(changed(stop), tmp_path / "first")
    assert first.ended_early
    assert first.missing == 0
    export_log(first.folder.path, tmp_path / "again.eval")
    assert import_log(tmp_path / "again.eval", tmp_path / "second").ended_early


def test_a_log_whose_name_is_no_text_is_read_too(run, log, tmp_path):
    path = tmp_path / os.fsdecode(b"caf\xe9.eval")
    try:
        path.write_bytes(log.read_bytes())
    except OSError:
        pytest.skip("this file system takes names in UTF-8 only")
    imported = import_log(path, tmp_path / "back").folder
    assert imported.read_scores() == run.read_scores()


def test_json_logs_go_both_ways_too(run, tmp_path):
    path = tmp_path / "run.json"
    export_log(run.path, path)
    imported = import_log(path, tmp_path / "back").folder
    assert imported.read_estimates()["flex"] == run.read_estimates()["flex"]


def test_likelihoods_go_both_ways(tmp_path):
    """A run whose replies are log-probabilities, in the release's own form of one text."""
    items = load(DataSpec("starter"), seed=0).items[:2]
    form = PromptFormat(form="flex", scoring="letters")
    answers = []
    for item in items:
        for scenario in (None, Scenario(AttackCategory.COMPETING_OBJECTIVES, "dan")):
            prompt = render(item, form, (0, 1, 2), scenario=scenario)
            condition = "attacked" if scenario else "source"
            asked = Asked(item, condition, (0, 1, 2), prompt, scenario)
            reply = Reply(log_probabilities=(-1.5, float("-inf"), float("nan")))
            answers.append(ForeignAnswer(asked, reply, "here", sample_id(asked)))
    run = checked(
        {
            "models": {"target": {"name": "local/some-model"}},
            "flex": {"prompt": "flex", "scoring": "letters"},
        }
    )
    first = record_foreign(tmp_path / "first", run, answers, origin(tmp_path))
    export_log(first.path, tmp_path / "log.eval")
    second = import_log(tmp_path / "log.eval", tmp_path / "second").folder
    assert second.read_scores() == first.read_scores()
    assert second.read_estimates()["flex"] == first.read_estimates()["flex"]
    calls = [record.call.prompt.text for record in read_records(second.database)]
    assert calls == [answer.asked.prompt.text for answer in answers]


def origin(folder: Path) -> Origin:
    log = folder / "foreign.log"
    log.write_text("whatever", encoding="utf-8")
    return Origin(tool="a tool", files=[log], identity={})


ANYTHING = st.one_of(st.none(), st.text(st.characters(), max_size=12))  # half surrogates too
SOME_REPLY = st.builds(
    Reply,
    text=ANYTHING,
    reasoning=ANYTHING,
    finish=st.sampled_from(Finish),
    prompt_tokens=st.one_of(st.none(), st.integers(0, 9)),
    completion_tokens=st.one_of(st.none(), st.integers(0, 9)),
    served_model=st.one_of(st.none(), st.just("m-1")),
    fingerprint=st.one_of(st.none(), st.just("fp")),
    error=ANYTHING,
    adapted=st.sampled_from([(), ("temperature left out",)]),
)


@given(st.lists(st.one_of(st.none(), SOME_REPLY), min_size=4, max_size=4))
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_whatever_was_said_comes_back_as_it_was(tmp_path_factory, said):
    folder = tmp_path_factory.mktemp("said")
    item = load(DataSpec("starter"), seed=0).items[0]
    names = (None, "dan", "stan", "dude")
    answers = []
    for name, reply in zip(names, said, strict=True):
        scenario = Scenario(AttackCategory.COMPETING_OBJECTIVES, name) if name else None
        prompt = render(item, PromptFormat(), (0, 1, 2), scenario=scenario)
        asked = Asked(item, "attacked" if name else "source", (0, 1, 2), prompt, scenario)
        answers.append(ForeignAnswer(asked, reply, "here", sample_id(asked)))
    run: RunFile = checked({"models": {"target": {"name": "http/app"}}})
    first = record_foreign(folder / "first", run, answers, origin(folder))
    assert replies(first) == said
    export_log(first.path, folder / "log.eval")
    second = import_log(folder / "log.eval", folder / "second").folder
    assert replies(second) == said
    assert second.read_scores() == first.read_scores()
    assert second.read_estimates()["flex"] == first.read_estimates()["flex"]


def test_answers_that_nothing_tells_apart_are_one_call_and_the_first_reply_counts(tmp_path):
    item = load(DataSpec("starter"), seed=0).items[0]
    asked = Asked(item, "source", (0, 1, 2), render(item, PromptFormat(), (0, 1, 2)))
    attacked = replace(
        asked,
        condition="attacked",
        scenario=Scenario(AttackCategory.COMPETING_OBJECTIVES, "dan"),
    )
    said = [Reply(text=letter, finish=Finish.STOP) for letter in "ABC"]
    answers = [
        ForeignAnswer(asked, None, "nowhere"),
        ForeignAnswer(attacked, said[0], "line 1"),
        ForeignAnswer(attacked, said[1], "line 2"),
        ForeignAnswer(asked, said[2], "line 3", "another"),
        ForeignAnswer(asked, None, "", "never seen", prompt_known=False),
    ]
    run = checked({"models": {"target": {"name": "http/app"}}})
    folder = record_foreign(tmp_path / "run", run, answers, origin(tmp_path))
    assert replies(folder) == [said[0], said[0], said[0], said[2], None]
    assert [record.origin for record in read_records(folder.database)] == ["line 1", "line 3"]
    calls = folder.read_estimates()["calls"]
    assert (calls["calls"], calls["reused"], calls["duplicates"], calls["missing"]) == (5, 2, 2, 1)


def test_the_commands_go_both_ways_and_tell_scripts_what_is_missing(run, tmp_path):
    command = CliRunner()
    log, out = tmp_path / "out.eval", tmp_path / "back"
    done = command.invoke(app, ["export", "inspect", str(run.path), str(log)])
    assert done.exit_code == 0, done.output
    done = command.invoke(app, ["import", "inspect", str(log), "--out", str(out), "--json"])
    assert done.exit_code == 4  # some of its calls were errors
    assert json.loads(done.stdout)["flex"] == run.read_estimates()["flex"]
    done = command.invoke(app, ["import", "inspect", str(log), "--out", str(tmp_path / "again")])
    assert "ASR" in done.stdout
    assert "\x1b" not in done.stdout
    again = command.invoke(app, ["import", "inspect", str(log), "--out", str(out)])
    assert isinstance(again.exception, AskewError)
