"""A run of the FLEX audit, from a run file to a folder that has its figures and its report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from askew.audits import flex
from askew.errors import ConfigError, RunError
from askew.models.base import Ability, Model
from askew.models.interrupts import Interrupts
from askew.models.ledger import Ledger
from askew.models.ledgerfile import read_records
from askew.models.registry import load_model
from askew.models.runner import Answers, Plan, Progress, Runner
from askew.privacy.locality import kept_local
from askew.records import Call, Reply
from askew.report.page import write_report
from askew.run.common import (
    default_folder,
    engine_of,
    held_folder,
    keep_figures,
    keep_settings,
    lanes,
    part_figures,
    planning_ledger,
    refuse_imported,
    refuse_remote,
    resolved,
    runner_terms,
    seconds_each,
)
from askew.runfile import RunFile, read_run_file
from askew.runfolder import RunFolder, write_whole

TIMED_CALLS = 8
# An endpoint's time for a reply of a few tokens; between a small hosted model's and a large one's.
ASSUMED_SECONDS_A_REPLY = 1.0


@dataclass(frozen=True, slots=True)
class Prepared:
    """Everything a run needs, settled and read, before the first call."""

    run: RunFile
    path: Path
    model: Model
    config: flex.FlexConfig
    study: flex.Study
    asked: Sequence[flex.Asked]
    calls: Sequence[Call]

    @property
    def pairs(self) -> int:
        """How many pairs of source and attacked prompt are planned."""
        return sum(one.condition == "attacked" for one in self.asked)


@kept_local
def prepare(run: RunFile, target: Model | None = None) -> Prepared:
    """Settle the settings, read the data and build every prompt; asks nothing.

    Args:
        run: the settings.
        target: the model that `run` describes, where it is at hand; None loads it by its name.

    Raises:
        ConfigError, DataError: the run cannot be made as it is written, or has nothing to audit.
    """
    run = run.settled()
    if run.out is not None:
        refuse_imported(run.out)
    model = target or load_model(run.target.spec())
    _check_abilities(run, model)
    config = run.flex_config()
    study = flex.load_study(config, run.seed)
    asked = flex.questions(study, config, run.seed)
    folder = run.out or default_folder(run, study.checksums)
    calls = flex.calls_of(asked, config)
    prepared = Prepared(run, folder, model, config, study, asked, calls)
    if not prepared.pairs:
        raise ConfigError(_nothing_to_audit(study))
    return prepared


def _nothing_to_audit(study: flex.Study) -> str:
    reasons = [f"{what}: {why}" for what, why in study.left_out.items()]
    why = "; ".join(reasons) or "no item is assigned to one of the categories that are asked for"
    return (
        f"there is nothing to audit: no item can be put under a scenario ({why}). Ask for other "
        "categories, add personas or attacked questions, or choose other data."
    )


def plan(prepared: Prepared) -> Plan:
    """What the run would ask and cost, given what is recorded; leaves nothing behind."""
    with planning_ledger(prepared.run, prepared.path, prepared.study.checksums) as ledger:
        runner = Runner(ledger, **runner_terms(prepared.run, "target"))
        return runner.plan(prepared.model, prepared.calls)


@dataclass(frozen=True, slots=True)
class Duration:
    """How long a run will take, and what that rests on."""

    seconds: float
    basis: str


async def duration(prepared: Prepared, planned: Plan) -> Duration:
    """How long the planned calls will take.

    From the run's own calls where it has some. A model that costs nothing is asked a few of them
    (their replies are not kept); for a paid one a time per reply is assumed and named.
    """
    if planned.seconds is not None:
        return Duration(planned.seconds, "from the calls made so far")
    model = prepared.model
    if model.paid or not planned.new:
        at_once = lanes(prepared.run, model) * model.batch
        seconds = planned.new * ASSUMED_SECONDS_A_REPLY / at_once
        return Duration(
            seconds, f"if a reply takes {ASSUMED_SECONDS_A_REPLY:g} s, {at_once} at a time"
        )
    calls = prepared.calls[:: max(1, len(prepared.calls) // TIMED_CALLS)][:TIMED_CALLS]
    seconds = await seconds_each(model, calls) * planned.new / lanes(prepared.run, model)
    return Duration(seconds, f"from {len(calls)} calls made just now")


@kept_local
async def execute(
    prepared: Prepared,
    progress: Callable[[Progress], None] | None = None,
    interrupts: Interrupts | None = None,
) -> tuple[RunFolder, Answers]:
    """Ask what is missing, then score, estimate and report.

    A run that stops early (budget, Ctrl-C, endpoint down) leaves a folder with the figures of what
    it has, marked as incomplete, and goes on where it stopped when it is run again.

    Args:
        prepared: what to ask.
        progress: told how far it has come.
        interrupts: counts what asks the run to stop, where signals do not arrive.
    """
    with held_folder(prepared.run, prepared.path, prepared.study.checksums) as folder:
        questions = flex.as_questions(prepared.asked, prepared.calls, prepared.model)
        keep_settings(folder, prepared.run, prepared.study.checksums, {"target": prepared.model})
        items = {one.id: one for one in (*prepared.study.items, *prepared.study.controls)}
        folder.write_questions(items.values(), questions)
        with engine_of(prepared.run) as engine, Ledger.open(folder.database, "flex") as ledger:
            try:
                runner = Runner(ledger, **runner_terms(prepared.run, "target", interrupts, engine))
                answers = await flex.ask(prepared.calls, prepared.model, runner, progress)
            finally:
                await prepared.model.close()
        figures = _score(folder, prepared.run, answers.replies)
        _report(folder, prepared.run, figures, answers.summary(), _study_notes(prepared))
    return folder, answers


def rescore(path: Path, changes: Mapping[str, object] | None = None) -> RunFolder:
    """Read the recorded replies again and write figures and report anew.

    Needs the run folder alone: no model, no data, no wording. The settings are written once the
    replies could be read by them.

    Args:
        path: the run folder.
        changes: settings to read the replies by, e.g. {"flex.non_answers": "wrong"}.

    Raises:
        ConfigError: a change is no setting, or its value is none that it takes.
        RunError: a change would need other questions than were asked.
    """
    folder = RunFolder.open(path)
    before = read_run_file(folder.settings).part("flex").settled()
    whole = read_run_file(folder.settings, changes).settled()
    run = whole.part("flex").settled()
    if run.questions_key() != before.questions_key():
        raise RunError(
            f"{path}: {', '.join(changes or ())} would change the questions, not how the replies "
            "are read. Start another run with `askew run`."
        )
    recorded = {record.key: record.reply for record in read_records(folder.database)}
    replies = [recorded.get(question.call_key) for question in folder.read_questions()]
    kept = part_figures(folder, "flex")
    flex_part = _plain(kept.get("flex", {}))
    notes: dict[str, object] = {
        key: flex_part[key] for key in ("left_out", "problems") if key in flex_part
    }
    figures = _score(folder, run, replies)
    write_whole(folder.settings, resolved(whole))
    _report(folder, run, figures, kept.get("calls", {}), notes)
    return folder


def _plain(value: object) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {}


def _check_abilities(run: RunFile, model: Model) -> None:
    refuse_remote(run, model)
    wanted = Ability.REPLY if run.flex.scoring == "reply" else Ability.CHOICE_LOG_PROBABILITIES
    if wanted not in model.abilities:
        raise ConfigError(
            f"{model.name} cannot give log-probabilities, which scoring {run.flex.scoring!r} "
            "needs. Use --scoring reply."
            if wanted is Ability.CHOICE_LOG_PROBABILITIES
            else f"{model.name} cannot generate replies. Use --scoring letters or texts."
        )


def _score(
    folder: RunFolder, run: RunFile, replies: Sequence[Reply | None]
) -> Mapping[str, object]:
    """Read the replies, keep the scores, and sum them up."""
    config = run.reading_config()
    items = folder.read_items()
    questions = folder.read_questions()
    scores = flex.read_replies(questions, replies, items, config)
    figures = flex.estimate(questions, scores, items, config, run.seed)
    folder.write_scores(scores)
    return figures


def _report(
    folder: RunFolder,
    run: RunFile,
    figures: Mapping[str, object],
    calls: object,
    notes: Mapping[str, object],
) -> None:
    keep_figures(folder, run, {**figures, **notes, "settings": _settings(run)}, calls)
    write_report(folder)
    folder.write_manifest()


def _settings(run: RunFile) -> dict[str, object]:
    flex_table = run.flex.model_dump(mode="json", exclude_none=True)
    return {**flex_table, "temperature": run.target.temperature}


def _study_notes(prepared: Prepared) -> dict[str, object]:
    return {
        "left_out": dict(prepared.study.left_out),
        "problems": dict(Counter(problem.kind for problem in prepared.study.problems)),
    }
