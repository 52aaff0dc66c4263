"""A run of the clinical audit, from a run file to a folder that has its figures and its report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from askew.audits.clinical_answers import Ask, Case, ask_all, asks_of, read_all
from askew.audits.clinical_figures import ReadingTools, figures
from askew.audits.clinical_generated import generate
from askew.audits.clinical_judging import ask_judges, judge_names, judge_work, judged_figures
from askew.audits.clinical_reference import SweepAsk, against_a_model, ask_sweep
from askew.audits.clinical_study import Study, Twins, load_study, make_twins, originals
from askew.audits.judge_card import judge_card
from askew.audits.judge_questions import JudgeTask
from askew.audits.judging import reread
from askew.audits.stages import Stages, Watch
from askew.errors import ConfigError, RunError
from askew.models.base import Ability, Model
from askew.models.embedder import load_embedder
from askew.models.interrupts import Interrupts
from askew.models.ledger import Ledger
from askew.models.ledgerfile import read_records
from askew.models.registry import load_model
from askew.models.stopping import Asked, StoppedEarly, StoppingRunner
from askew.models.token_vectors import TokenEncoder
from askew.privacy.locality import kept_local
from askew.records import Reply
from askew.report.page import write_report
from askew.run.clinical_checks import check_judges, check_measures
from askew.run.common import (
    check_prices,
    default_folder,
    engine_of,
    held_folder,
    keep_figures,
    keep_settings,
    part_figures,
    refuse_imported,
    refuse_remote,
    resolved,
    runner_terms,
)
from askew.run.judge_form import judge_form, judged_as_begun
from askew.runfile import ClinicalTable, RunFile, read_run_file
from askew.runfile.clinical import NO_EMBEDDER
from askew.runfolder import RunFolder, write_whole
from askew.vignettes import Answered, Dropped, Facts, Variant, Vignette

Told = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Prepared:
    """Everything a run needs, settled and read, before the first call."""

    run: RunFile
    path: Path
    models: Mapping[str, Model]  # by role
    study: Study
    twins: Twins  # made by rule; where models make them, the original texts alone

    @property
    def table(self) -> ClinicalTable:
        """The audit's settings."""
        assert self.run.clinical is not None
        return self.run.clinical

    @property
    def target(self) -> Model:
        """The model under audit."""
        return self.models["target"]

    @property
    def paid(self) -> bool:
        """Whether a call of any role may cost money."""
        return any(model.paid for model in self.models.values())

    def cases(self, twins: Twins | None = None) -> dict[str, Case]:
        """Every text that is asked about, by the variant's id."""
        vignettes = {one.id: one for one in self.study.vignettes}
        return {
            one.id: Case(vignettes[one.vignette_id], one) for one in (twins or self.twins).variants
        }


@dataclass(frozen=True, slots=True)
class Done:
    """What came of a run: its folder, and what is missing."""

    folder: RunFolder
    asked: Mapping[str, Asked]  # by role
    stopped: StoppedEarly | None
    stage: str  # at which it stopped; "" where it ran to its end

    @property
    def incomplete(self) -> bool:
        """Whether replies are missing."""
        return self.stopped is not None or any(
            one.failed or one.unknown for one in self.asked.values()
        )


@kept_local
def prepare(run: RunFile, target: Model | None = None, told: Told | None = None) -> Prepared:
    """Settle the settings, read the data, make the twins that rules make; asks nothing.

    Args:
        run: the settings, with a `[clinical]` table.
        target: the model under audit, where it is at hand; None loads it by its name.
        told: told how far the reading of facts has come.

    Raises:
        ConfigError, DataError, MissingDependency: the run cannot be made as it is written, or has
            nothing to ask about.
    """
    run = run.settled()
    assert run.clinical is not None
    if run.out is not None:
        refuse_imported(run.out)
    models = {
        role: target if role == "target" and target is not None else load_model(table.spec())
        for role, table in run.models.items()
    }
    for role, model in models.items():
        refuse_remote(run, model)
        if Ability.REPLY not in model.abilities:
            raise ConfigError(
                f"{model.name} cannot write replies, which the {role} of a clinical audit has to. "
                "Name another model."
            )
    check_judges(run, models)
    check_prices(run, models)
    config = run.clinical.study_config()
    study = load_study(config, run.seed, told)
    check_measures(run, study)
    by_model = run.clinical.backend == "model"
    twins = originals(study) if by_model else make_twins(study, config, run.seed)
    if not twins.variants:
        raise ConfigError(_nothing_left(twins))
    path = run.out or default_folder(run, study.checksums)
    return Prepared(judged_as_begun(run, path), path, models, study, twins)


def _nothing_left(twins: Twins) -> str:
    kinds = Counter(one.kind for one in twins.dropped)
    why = ", ".join(f"{count:,} {kind}" for kind, count in kinds.most_common()) or "no arm is asked"
    return (
        f"there is nothing to ask about: no variant is left ({why}). Ask for other arms or "
        "attributes, or choose other data."
    )


@kept_local
async def execute(
    prepared: Prepared, watch: Watch | None = None, interrupts: Interrupts | None = None
) -> Done:
    """Ask what is missing, stage by stage, then measure and report.

    A run that stops early (budget, Ctrl-C, endpoint down) leaves a folder with the figures of what
    it has, marked as incomplete, and goes on where it stopped when it is run again.

    Args:
        prepared: what to ask.
        watch: told how far each stage has come.
        interrupts: counts what asks the run to stop, where signals do not arrive.
    """
    run, study = prepared.run, prepared.study
    with held_folder(run, prepared.path, study.checksums) as folder:
        keep_settings(folder, run, study.checksums, prepared.models)
        folder.write_parts("vignette", study.vignettes)
        folder.write_parts("facts", [study.facts[one.id] for one in study.vignettes])
        folder.write_parts(
            "identity",
            [Identity(role, dict(one.identity())) for role, one in prepared.models.items()],
        )
        if prepared.table.backend != "model" or not folder.read_parts("variant", Variant):
            # Those that models made stay where a run goes on: what was asked about them is there.
            _write_twins(folder, prepared.twins)
        asked = {role: Asked() for role in prepared.models}
        stopped: StoppedEarly | None = None
        with engine_of(run) as engine, Ledger.open(folder.database, "clinical") as ledger:
            runners = {
                role: StoppingRunner(
                    ledger, asked[role], **runner_terms(run, role, interrupts, engine)
                )
                for role in prepared.models
            }
            stages = Stages(prepared.models, runners, watch)
            try:
                await _ask(prepared, folder, stages)
            except StoppedEarly as stop:
                stopped = stop
            finally:
                for model in prepared.models.values():
                    await model.close()
            spent = ledger.spent()
        stage = stages.name if stopped is not None else ""
        calls = {
            "by_role": {role: _summary(one) for role, one in asked.items()},
            "by_stage": dict(stages.calls),
            "spent": {role: asdict(cost) for role, cost in spent.items()},
            "stopped": stopped.stopped if stopped else None,
            "message": stopped.message if stopped else "",
            "stage": stage,
        }
        problems = dict(Counter(problem.kind for problem in study.problems))
        _report(folder, run, calls, {"problems": problems})
    return Done(folder, asked, stopped, stage)


def rescore(path: Path, changes: Mapping[str, object] | None = None) -> RunFolder:
    """Read the recorded replies again and write figures and report anew; asks no model.

    Args:
        path: the run folder.
        changes: settings to read the replies by, e.g. {"clinical.margins.urgency": 0.2}.

    Raises:
        ConfigError: a change is no setting, or its value is none that it takes.
        RunError: a change would need other questions than were asked.
    """
    folder = RunFolder.open(path)
    before = read_run_file(folder.settings).part("clinical").settled()
    whole = read_run_file(folder.settings, changes).settled()
    run = whole.part("clinical").settled()
    if run.questions_key() != before.questions_key() or judge_form(run) != judge_form(before):
        raise RunError(
            f"{path}: {', '.join(changes or ())} would change the questions, not how the replies "
            "are read. Start another run with `askew run`."
        )
    kept = part_figures(folder, "clinical")
    part = kept.get("clinical")
    notes = {"problems": part.get("problems", {})} if isinstance(part, dict) else {}
    folder.unsettle()
    write_whole(folder.settings, resolved(whole))
    _report(folder, run, kept.get("calls", {}), notes)
    return folder


@dataclass(frozen=True, slots=True)
class Identity:
    """A role's model as the keys of its calls name it."""

    role: str
    values: Mapping[str, Any]


async def _ask(prepared: Prepared, folder: RunFolder, stages: Stages) -> None:
    """All stages, in order.

    Raises:
        StoppedEarly: calls were not sent; what was had lies in the folder.
    """
    run, table, twins = prepared.run, prepared.table, prepared.twins
    if table.backend == "model":
        sampling = {role: run.models[role].sampling() for role in ("generator", "attacker")}
        config = table.generator_config(sampling["generator"], sampling["attacker"])
        twins = twins.with_more(await generate(prepared.study, config, stages))
        _write_twins(folder, twins)
    cases = prepared.cases(twins)
    answers = table.answer_config(run.target.sampling())
    asks = asks_of(list(cases.values()), answers)
    kept: list[Ask] = []

    def keep(known: Sequence[Ask]) -> None:
        kept[:] = known
        folder.write_parts("ask", known)

    replies = await ask_all(cases, asks, answers, stages, keep)
    if "reference" in prepared.models:
        plain = [case for case in cases.values() if case.variant.arm == "original"]
        sampling_of_it = run.models["reference"].sampling()
        sweep = await ask_sweep(plain, answers, sampling_of_it, table.temperatures, stages)
        folder.write_parts("sweep", sweep)
    if run.judges:
        answered = [one for one in read_all(cases, kept, replies, answers) if one is not None]
        judging = table.judging_config({role: run.models[role].sampling() for role in run.judges})
        work = judge_work(answered, judging, run.seed)
        folder.write_parts("judge task", work.tasks)
        await ask_judges(work, judging, stages, _judge_names(run))


def _report(folder: RunFolder, run: RunFile, calls: object, notes: Mapping[str, object]) -> None:
    figures = {**_figures(folder, run), **notes, "settings": _settings(run)}
    keep_figures(folder, run, figures, calls)
    write_report(folder)
    folder.write_manifest()


def _figures(folder: RunFolder, run: RunFile) -> dict[str, object]:
    """Everything that the folder tells, read from its parts and its ledger alone."""
    assert run.clinical is not None
    vignettes = folder.read_parts("vignette", Vignette)
    found = folder.read_parts("facts", Facts)
    facts = {one.id: its for one, its in zip(vignettes, found, strict=True)}
    twins = Twins(
        tuple(folder.read_parts("variant", Variant)), tuple(folder.read_parts("dropped", Dropped))
    )
    recorded = {record.key: record.reply for record in read_records(folder.database)}
    by_id = {one.id: one for one in vignettes}
    cases = {one.id: Case(by_id[one.vignette_id], one) for one in twins.variants}
    answers = run.clinical.answer_config(run.target.sampling())
    asks = folder.read_parts("ask", Ask) or asks_of(list(cases.values()), answers)
    answered = read_all(cases, asks, recorded, answers)
    tools = _tools(run.clinical.embedder)
    made = figures(
        vignettes,
        facts,
        twins,
        answered,
        answers.forms,
        run.clinical.effect_config(),
        tools,
        run.seed,
    )
    sweep = folder.read_parts("sweep", SweepAsk)
    if sweep:
        made["sweep"] = against_a_model(sweep, cases, recorded, run.seed, tools.token_vectors)
    had = [one for one in answered if one is not None]
    return {**made, "judges": _judged(folder, run, had, recorded, by_id)}


def _judged(
    folder: RunFolder,
    run: RunFile,
    answered: Sequence[Answered],
    recorded: Mapping[str, Reply | None],
    vignettes: Mapping[str, Vignette],
) -> dict[str, object]:
    """The judges' tables, and the card that says what they are worth."""
    assert run.clinical is not None
    tasks = folder.read_parts("judge task", JudgeTask)
    if not tasks:
        return {}
    config = run.clinical.judging_config({role: run.models[role].sampling() for role in run.judges})
    identities = {one.role: one.values for one in folder.read_parts("identity", Identity)}
    had = {key: reply for key, reply in recorded.items() if reply is not None}
    judgements = [
        judgement
        for role, name in _judge_names(run).items()
        for judgement in reread(
            tasks, {name: identities[role]}, had, config.sampling[role], re_asks=config.re_asks
        )
    ]
    sources = {name: one.source for name, one in vignettes.items()}
    temperatures = {
        name: sampling.temperature
        for role, name in _judge_names(run).items()
        if (sampling := config.sampling[role]).temperature is not None
    }
    card = judge_card(
        judgements, seed=run.seed, targets=(run.target.name,), temperature=temperatures
    )
    return {**judged_figures(judgements, answered, sources), "card": card}


def _judge_names(run: RunFile) -> dict[str, str]:
    return judge_names({role: run.models[role].name for role in run.judges})


def _tools(embedder: str) -> ReadingTools:
    if embedder == NO_EMBEDDER:
        return ReadingTools()

    def embed(texts: Sequence[str]) -> np.ndarray[Any, np.dtype[np.float32]]:
        return load_embedder(embedder).embed(texts)

    return ReadingTools(embed=embed, token_vectors=TokenEncoder(embedder).token_vectors)


def _write_twins(folder: RunFolder, twins: Twins) -> None:
    folder.write_parts("variant", twins.variants)
    folder.write_parts("dropped", twins.dropped)


def _summary(asked: Asked) -> dict[str, object]:
    return {
        "asked": asked.asked,
        "reused": asked.reused,
        "failed": asked.failed,
        "unknown": asked.unknown,
        "notes": asked.notes,
    }


def _settings(run: RunFile) -> dict[str, object]:
    """What the figures depend on; where the data lay is for `run.toml` alone to say."""
    assert run.clinical is not None
    table = run.clinical.model_dump(mode="json", exclude_none=True)
    for source in table["data"]:
        source.pop("path", None)
    return {**table, "temperature": run.target.temperature, "max_tokens": run.target.max_tokens}
