"""A run of one or several audits in one folder: one plan, one ledger, one budget, one report.

Each audit is a part that has its own way of asking; the run file that describes them all, the
folder and the ledger are shared. A part resumes, and can be run alone, in the folder of the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from askew.errors import ConfigError, unknown_name
from askew.models.base import Model, RateLimited, ServerFault
from askew.models.interrupts import Interrupts
from askew.models.registry import load_model
from askew.records import Call
from askew.run import flex
from askew.run.common import (
    check_same_questions,
    engine_of,
    folder_name,
    lanes,
    refuse_imported,
    resolved,
    seconds_each,
    with_part_recorded,
    with_record,
    writing_to,
)
from askew.run.judge_form import judge_form, judged_as_begun
from askew.runfile import Audit, RunFile, read_run_file
from askew.runfolder import RunFolder, write_whole

SAMPLED = 4  # calls that are timed

Told = Callable[[str, int, int], None]
Watch = Callable[[Any], None]


@dataclass(frozen=True, slots=True)
class Prepared:
    """Everything that the parts need, settled and read, before the first call."""

    run: RunFile  # of all audits, settled
    path: Path
    parts: Mapping[Audit, Any]  # of all audits: what each one's own `prepare` has made
    wanted: tuple[Audit, ...]  # those to run
    lent: Model | None = None  # the target that all parts ask, where it was given


class _Lent:
    """A model that several parts ask in turn: a part that closes it leaves it to the next one."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    async def close(self) -> None:
        """Nothing: `execute` closes the model when all parts have ended."""


@dataclass(frozen=True, slots=True)
class PartPlan:
    """What one part would still ask.

    Attributes:
        audit: the part.
        calls: in all, at most, those that are recorded included.
        new: of them, still to be made, at most.
        paid: of the new ones, those of models that cost money a call.
        prompt_tokens: of the new calls, at most.
        completion_tokens: of the new calls, at most.
        money: of the new calls, at most; None where the price of a paid model is not known.
        seconds: of the new calls; None where nothing is known.
        basis: what `seconds` rests on.
        subject: what is asked about: "60 pairs, 70 controls".
    """

    audit: Audit
    calls: int
    new: int
    paid: int
    prompt_tokens: int
    completion_tokens: int
    money: float | None
    seconds: float | None
    basis: str
    subject: str


@dataclass(frozen=True, slots=True)
class PartDone:
    """What became of one part."""

    audit: Audit
    stopped: str | None  # why it stopped early
    message: str
    failed: int
    unknown: int
    missing: int  # replies that a stopped FLEX run lacks; other audits say it in their figures

    @property
    def incomplete(self) -> bool:
        """Whether replies are missing."""
        return self.stopped is not None or bool(self.failed or self.unknown or self.missing)


@dataclass(frozen=True, slots=True)
class Done:
    """What came of a run: its folder, its parts, and those that were not started."""

    folder: RunFolder
    parts: tuple[PartDone, ...]
    left: tuple[Audit, ...]

    @property
    def incomplete(self) -> bool:
        """Whether replies are missing."""
        return bool(self.left) or any(part.incomplete for part in self.parts)


def prepare(
    run: RunFile,
    only: Sequence[str] = (),
    target: Model | None = None,
    told: Told | None = None,
) -> Prepared:
    """Settle the settings and prepare each part; asks nothing.

    Args:
        run: the settings of one audit or several.
        only: the audits to run; (): all of the file.
        target: the model under audit, where it is at hand; None loads it by its name.
        told: told how far the reading of a part's data has come.

    Raises:
        ConfigError, DataError, MissingDependency: a part cannot be run as it is written.
    """
    for name in only:
        if name not in run.audits:
            raise unknown_name("audit of this run file", name, list(run.audits))
    if run.out is not None:
        refuse_imported(run.out)
    parts: dict[Audit, Any] = {}
    lent = None if target is None else cast("Model", _Lent(target))
    for audit in run.audits:
        own = run.part(audit)
        module = module_of(audit)
        more = {"told": told} if audit == "clinical" else {}
        parts[audit] = module.prepare(own, lent, **more)
    keys = {name: part.run.questions_key(checksums_of(part)) for name, part in parts.items()}
    settled = run.settled()
    if len(parts) == 1:
        path = next(iter(parts.values())).path
    else:
        path = run.out or Path("runs") / folder_name(run, keys)
    for name, part in parts.items():
        # Each was settled for a folder of its own, and this one may hold a run already.
        begun = judged_as_begun(part.run, path, judge_form(run.part(name)))
        parts[name] = replace(part, path=path, run=begun)
    settled = settled.model_copy(
        update={name: getattr(part.run, name) for name, part in parts.items() if name != "flex"}
    )
    wanted = tuple(name for name in parts if not only or name in only)
    prepared = Prepared(settled, path, parts, wanted, target)
    _check_folder(prepared)
    return prepared


def _check_folder(prepared: Prepared) -> None:
    """Refuse a folder that holds other audits or other questions.

    Raises:
        ConfigError: it does.
    """
    settings = prepared.path / "run.toml"
    if not settings.is_file():
        return
    there = read_run_file(settings).audits
    if set(there) != set(prepared.run.audits):
        raise ConfigError(
            f"{prepared.path} holds a run of {' and '.join(there)}, and this one is of "
            f"{' and '.join(prepared.run.audits)}. Name another folder with --out; answers that "
            "were had are taken from the folders beside it."
        )
    for part in prepared.parts.values():
        check_same_questions(part.run, prepared.path, checksums_of(part))


def plan(prepared: Prepared) -> list[PartPlan]:
    """What each part would ask and cost, given what is recorded; asks nothing."""
    return [_part_plan(audit, prepared.parts[audit]) for audit in prepared.wanted]


def _part_plan(audit: Audit, part: Any) -> PartPlan:
    if audit == "flex":
        found = flex.plan(part)
        return PartPlan(
            audit,
            found.calls,
            found.new,
            found.new if part.model.paid else 0,
            found.prompt_tokens,
            found.completion_tokens_at_most,
            found.money_at_most if part.model.paid else found.money_at_most or 0.0,
            found.seconds if found.new else 0.0,
            "from the calls made so far" if found.seconds is not None else "",
            f"{part.pairs:,} pairs, {len(part.study.controls):,} controls",
        )
    if audit == "clinical":
        from askew.run.clinical_plan import plan as clinical_plan

        planned: Any = clinical_plan(part)
        steps = planned.stages
        subject = f"{len(part.study.vignettes):,} cases in {len(part.twins.variants):,} texts"
    else:
        from askew.run.boundary_plan import plan as boundary_plan

        planned = boundary_plan(part)
        steps = planned.roles
        subject = f"{planned.topics:,} of {part.graph.size:,} topics"
    return PartPlan(
        audit,
        planned.calls,
        planned.new,
        sum(one.new for one in steps if part.models[one.role].paid),
        sum(one.prompt_tokens for one in steps),
        sum(one.completion_tokens for one in steps),
        _money_of([(one.money, part.models[one.role]) for one in steps if one.new]),
        planned.seconds if planned.new else 0.0,
        planned.seconds_basis,
        subject,
    )


def _money_of(steps: Sequence[tuple[float | None, Model]]) -> float | None:
    """What steps cost at most; a model that costs nothing needs no price."""
    known = [0.0 if money is None and not model.paid else money for money, model in steps]
    found = [money for money in known if money is not None]
    return sum(found) if len(found) == len(known) else None


async def timed(prepared: Prepared, planned: Sequence[PartPlan]) -> list[PartPlan]:
    """The plans with a time for each: models that cost nothing are asked a few calls to measure.

    What they answer is not kept. Of a model that does not answer now the time is not known.
    """
    if all(one.seconds is not None or not one.new for one in planned):
        return list(planned)
    # One model for all parts, given back before they begin: each part loads its own, and weights
    # that lie there several times may not fit; connections belong to the loop they were made on.
    model = prepared.lent or load_model(prepared.run.target.spec())
    try:
        return [
            one
            if one.seconds is not None or not one.new
            else await _timed(prepared.parts[one.audit], model, one)
            for one in planned
        ]
    finally:
        if prepared.lent is None:
            await model.close()


async def _timed(part: Any, model: Model, planned: PartPlan) -> PartPlan:
    try:
        if planned.audit == "flex":
            own = replace(part, model=model)
            found = await flex.duration(own, flex.plan(own))
            return replace(planned, seconds=found.seconds, basis=found.basis)
        calls = _samples(planned.audit, part)
        each = await seconds_each(model, calls)
    except (RateLimited, ServerFault):
        return planned
    seconds = each * planned.new / lanes(part.run, model)
    return replace(planned, seconds=seconds, basis=f"from {len(calls)} calls made just now")


def _samples(audit: Audit, part: Any) -> list[Call]:
    """A few calls of the target, as the part will ask them."""
    sampling = {role: one.sampling() for role, one in part.run.models.items()}
    if audit == "clinical":
        from askew.audits.clinical_answers import asks_of, first_call

        config, cases = part.table.answer_config(sampling["target"]), part.cases()
        asks = asks_of(list(cases.values()), config)[: SAMPLED * config.replicates]
        found = (first_call(cases[ask.variant_id], ask, config) for ask in asks)
        calls = [call for call in found if call is not None]
    else:
        from askew.audits.boundary_calls import sample_calls
        from askew.prompts.topics import topic_of

        calls = sample_calls(topic_of(part.graph, 0), part.table.test_config(sampling))["target"]
    return calls[:SAMPLED]


def begin(prepared: Prepared) -> RunFolder:
    """Make the folder, with the settings of all its audits.

    Where it is there, each audit's own settings stay until that part is run: they say what its
    figures were read by.

    Raises:
        RunError: it cannot be made.
    """
    folder = RunFolder.create(prepared.path)
    if len(prepared.run.audits) == 1:
        return folder  # the part writes its own settings
    if folder.settings.is_file():
        there = read_run_file(folder.settings)
        update: dict[str, Any] = {audit: getattr(there, audit) for audit in there.audits}
        whole = prepared.run.model_copy(update={**update, "record": there.record})
    else:
        whole = prepared.run
        for part in prepared.parts.values():
            whole = with_part_recorded(
                whole, with_record(part.run, checksums_of(part), models_of(part))
            )
    folder.unsettle()
    write_whole(folder.settings, resolved(whole))
    return folder


async def execute_part(
    prepared: Prepared,
    audit: Audit,
    watch: Watch | None = None,
    interrupts: Interrupts | None = None,
) -> PartDone:
    """Ask what is missing of one part, then measure and report; `begin` comes before.

    Args:
        prepared: the run.
        audit: one of its parts.
        watch: told how far it has come, in the way of that audit.
        interrupts: counts what asks the run to stop, where signals do not arrive.
    """
    part = prepared.parts[audit]
    if audit == "flex":
        _, answers = await flex.execute(part, watch, interrupts)
        return PartDone(
            audit,
            answers.stopped,
            answers.message,
            answers.failed,
            answers.unknown,
            answers.missing,
        )
    done = await module_of(audit).execute(part, watch, interrupts=interrupts)
    stop = done.stopped
    return PartDone(
        audit,
        None if stop is None else stop.stopped,
        "" if stop is None else stop.message,
        sum(one.failed for one in done.asked.values()),
        sum(one.unknown for one in done.asked.values()),
        0,
    )


async def execute(
    prepared: Prepared,
    watching: Callable[[Audit], AbstractContextManager[Watch | None]] | None = None,
    interrupts: Interrupts | None = None,
) -> Done:
    """Run every part in turn; a part that stops early (budget, Ctrl-C, endpoint) ends the run.

    The same run started again goes on where it stopped. Other processes are kept out of the folder
    from the first part to the last.

    Args:
        prepared: the run.
        watching: makes what is told how far a part has come, for as long as it runs.
        interrupts: counts what asks the run to stop, where signals do not arrive.
    """
    folder = RunFolder.create(prepared.path)
    left = list(prepared.wanted)
    done: list[PartDone] = []
    try:
        with engine_of(prepared.run), writing_to(folder):
            _check_folder(prepared)  # another process may have begun and ended meanwhile
            begin(prepared)
            while left:
                audit = left.pop(0)
                with watching(audit) if watching else nullcontext() as watch:
                    done.append(await execute_part(prepared, audit, watch, interrupts))
                if done[-1].stopped is not None:
                    break
    finally:
        if prepared.lent is not None:
            await prepared.lent.close()
    return Done(folder, tuple(done), tuple(left))


def module_of(audit: Audit) -> ModuleType:
    """The module that runs an audit; it brings what no other audit needs."""
    if audit == "clinical":
        from askew.run import clinical

        return clinical
    if audit == "boundary":
        from askew.run import boundary

        return boundary
    return flex


def models_of(part: Any) -> Mapping[str, Model]:
    """The models of a prepared part, by role."""
    return {"target": part.model} if isinstance(part, flex.Prepared) else part.models


def checksums_of(part: Any) -> Mapping[str, str]:
    """The checksums of a prepared part's data, by name."""
    found: Mapping[str, str] = part.study.checksums if hasattr(part, "study") else part.checksums
    return found
