"""One run, from a run file to a run folder that has its figures and its report."""

from __future__ import annotations

import platform
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from askew import __version__
from askew.audits import flex
from askew.errors import ConfigError, RunError
from askew.models.base import Ability, Model
from askew.models.dispatch import RunnerSettings
from askew.models.imported import cannot_be_asked
from askew.models.interrupts import Interrupts
from askew.models.ledger import Ledger
from askew.models.ledgerfile import read_records
from askew.models.prices import Prices
from askew.models.registry import load_model
from askew.models.runner import Answers, Plan, Progress, Runner
from askew.records import Call, Reply
from askew.report.page import write_page
from askew.runfile import RunFile, read_run_file, write_run_file
from askew.runfolder import RunFolder, cannot_make, canonical_hash, write_whole

TIMED_CALLS = 8
# An endpoint's time for a reply of a few tokens; between a small hosted model's and a large one's.
ASSUMED_SECONDS_A_REPLY = 1.0
# What a figure may depend on besides askew itself; written into the resolved run file.
_PACKAGES = ("numpy", "scipy", "torch", "transformers", "tokenizers", "aiohttp")


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
        _refuse_imported(run.out)
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


def default_folder(run: RunFile, checksums: Mapping[str, str]) -> Path:
    """`runs/MODEL-HASH`: named by what is asked, so that the same command resumes the same run."""
    model = run.target.name.replace("/", "-").replace(":", "-")
    return Path("runs") / f"{model}-{canonical_hash(run.questions_key(checksums))[:8]}"


def plan(prepared: Prepared) -> Plan:
    """What the run would ask and cost, given what is recorded; leaves nothing behind."""
    if (prepared.path / "run.sqlite").is_file():
        with Ledger.open(_folder(prepared).database) as ledger:
            return _runner(prepared, ledger).plan(prepared.model, prepared.calls)
    # A ledger beside the runs that answers may be reused from, and gone afterwards.
    beside = prepared.path.parent if prepared.path.parent.is_dir() else None
    try:
        temporary = TemporaryDirectory(prefix=".plan-", dir=beside)
    except OSError as trouble:
        raise cannot_make(prepared.path, trouble) from trouble
    with temporary as folder, Ledger.open(Path(folder) / "run.sqlite") as ledger:
        return _runner(prepared, ledger).plan(prepared.model, prepared.calls)


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
        at_once = model.parallel * model.batch
        seconds = planned.new * ASSUMED_SECONDS_A_REPLY / at_once
        return Duration(
            seconds, f"if a reply takes {ASSUMED_SECONDS_A_REPLY:g} s, {at_once} at a time"
        )
    calls = prepared.calls[:: max(1, len(prepared.calls) // TIMED_CALLS)][:TIMED_CALLS]
    await model.ask(calls[:1])  # loads the weights
    began = time.monotonic()
    await model.ask(calls)
    took = time.monotonic() - began
    return Duration(took / len(calls) * planned.new, f"from {len(calls)} calls made just now")


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
    folder = _folder(prepared)
    questions = flex.as_questions(prepared.asked, prepared.calls, prepared.model)
    write_whole(folder.settings, _resolved(_with_record(prepared)))
    items = {one.id: one for one in (*prepared.study.items, *prepared.study.controls)}
    folder.write_questions(items.values(), questions)
    with Ledger.open(folder.database) as ledger:
        try:
            runner = _runner(prepared, ledger, interrupts)
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
    before = read_run_file(folder.settings).settled()
    run = read_run_file(folder.settings, changes).settled()
    if run.questions_key() != before.questions_key():
        raise RunError(
            f"{path}: {', '.join(changes or ())} would change the questions, not how the replies "
            "are read. Start another run with `askew run`."
        )
    recorded = {record.key: record.reply for record in read_records(folder.database)}
    replies = [recorded.get(question.call_key) for question in folder.read_questions()]
    kept = _plain(folder.read_estimates()) if folder.estimates.is_file() else {}
    flex_part = _plain(kept.get("flex", {}))
    notes: dict[str, object] = {
        key: flex_part[key] for key in ("left_out", "problems") if key in flex_part
    }
    figures = _score(folder, run, replies)
    write_whole(folder.settings, _resolved(run))
    _report(folder, run, figures, kept.get("calls", {}), notes)
    return folder


def _plain(value: object) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {}


def _check_abilities(run: RunFile, model: Model) -> None:
    if run.local_only and model.remote:
        raise ConfigError(
            f"{model.name} sends prompts off this machine, and local_only is set. "
            "Choose a local/ or builtin/ model, or leave local_only out."
        )
    wanted = Ability.REPLY if run.flex.scoring == "reply" else Ability.CHOICE_LOG_PROBABILITIES
    if wanted not in model.abilities:
        raise ConfigError(
            f"{model.name} cannot give log-probabilities, which scoring {run.flex.scoring!r} "
            "needs. Use --scoring reply."
            if wanted is Ability.CHOICE_LOG_PROBABILITIES
            else f"{model.name} cannot generate replies. Use --scoring letters or texts."
        )


def _refuse_imported(path: Path) -> None:
    """Ask nothing in a folder of replies that another tool has had."""
    if (path / "run.toml").is_file():
        imported = read_run_file(path / "run.toml").record.get("imported")
        if isinstance(imported, Mapping):
            raise cannot_be_asked(str(path), str(imported.get("tool")))


def _folder(prepared: Prepared) -> RunFolder:
    """The run's folder, refused where it holds another run."""
    path = prepared.path
    if (path / "run.toml").is_file():
        _refuse_imported(path)
        there = read_run_file(path / "run.toml").questions_key()
        wanted = prepared.run.questions_key(prepared.study.checksums)
        if differing := _differences(there, wanted):
            raise ConfigError(
                f"{path} holds a run with other questions: {', '.join(differing)} differ. "
                "Name another folder with --out, or delete this one."
            )
    return RunFolder.create(path)


def _differences(one: object, other: object, path: str = "") -> list[str]:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        keys = sorted({*one, *other})
        return [
            place
            for key in keys
            for place in _differences(one.get(key), other.get(key), f"{path}.{key}".lstrip("."))
        ]
    return [] if one == other else [path]


def _runner(prepared: Prepared, ledger: Ledger, interrupts: Interrupts | None = None) -> Runner:
    run = prepared.run
    return Runner(
        ledger,
        limits=run.budget.limits(),
        price_of=Prices.load(run.prices).price_of,
        reuse=[RunFolder.open(path).database for path in run.reuse] or None,
        settings=RunnerSettings(unknown=run.unknown, concurrency=run.target.concurrency),
        interrupts=interrupts,
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
    folder.write_estimates(
        {
            "askew": __version__,
            "model": run.target.name,
            "seed": run.seed,
            "calls": calls,
            "flex": {**figures, **notes, "settings": _settings(run)},
        }
    )
    write_page(folder)
    folder.write_manifest()


def _settings(run: RunFile) -> dict[str, object]:
    flex_table = run.flex.model_dump(mode="json", exclude_none=True)
    return {**flex_table, "temperature": run.target.temperature}


def _study_notes(prepared: Prepared) -> dict[str, object]:
    return {
        "left_out": dict(prepared.study.left_out),
        "problems": dict(Counter(problem.kind for problem in prepared.study.problems)),
    }


def _with_record(prepared: Prepared) -> RunFile:
    """The settings with what else the figures depend on: versions, checksums, the model itself."""
    packages = {name: found for name in _PACKAGES if (found := _version(name))}
    record = {
        "askew": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": packages,
        "data": dict(prepared.study.checksums),
        "model": {
            key: value for key, value in prepared.model.identity().items() if value is not None
        },
    }
    return prepared.run.model_copy(update={"record": record})


def _resolved(run: RunFile) -> str:
    """The text of `run.toml`, without `out`: a run folder may be moved."""
    return write_run_file(run.model_copy(update={"out": None}))


def _version(package: str) -> str | None:
    try:
        return version(package)
    except ModuleNotFoundError:
        return None
