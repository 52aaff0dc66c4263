"""Run the clinical audit, or say what it would take."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from askew.api.data import Data
from askew.api.ending import errors_of, stopped_cleanly, warn_of_missing
from askew.api.results import Run
from askew.api.roles import Asked, with_roles
from askew.api.settings import Chosen, Function, chosen, given
from askew.api.telling import telling

if TYPE_CHECKING:
    from askew.audits.stages import Stage
    from askew.run.clinical_plan import ClinicalPlan


@dataclass(frozen=True, slots=True)
class PlannedClinical:
    """What a clinical audit would ask and cost; nothing was asked.

    Attributes:
        path: the run folder that `clinical` would make or go on with.
        model: the target's name.
        models: the names of all models, by role.
        paid: whether asking any of them costs something.
        vignettes: the cases that were read.
        variants: the texts to ask about: originals and counterfactual twins. Twins that models are
            still to make are not among them.
        dropped: why a twin is not asked about -> how many; "same" are those that the original
            stands for.
        calls: stage by stage: calls, how many of them are recorded already, tokens, and money.
    """

    path: Path
    model: str
    models: Mapping[str, str]
    paid: bool
    vignettes: int
    variants: int
    dropped: Mapping[str, int]
    calls: ClinicalPlan


def plan_clinical(
    model: str | Function | None = None,
    data: Data | list[Data] | tuple[Data, ...] | None = None,
    *,
    file: str | Path | None = None,
    vignettes: int | None = None,
    attributes: str | Sequence[str] | None = None,
    answers: str | Sequence[str] | None = None,
    replicates: int | None = None,
    judges: Asked | list[Asked] | tuple[Asked, ...] | None = None,
    models: Mapping[str, Asked] | None = None,
    out: str | Path | None = None,
    seed: int | None = None,
    budget: Mapping[str, object] | None = None,
    progress: object = None,
    **settings: object,
) -> PlannedClinical:
    """What `clinical` with the same arguments would ask and cost; asks nothing.

    `progress` is not used: the arguments of the one are those of the other.

    Raises:
        AskewError: the run cannot be made as it is asked for.
    """
    from collections import Counter

    from askew.run.clinical import prepare
    from askew.run.clinical_plan import plan

    named = given(vignettes=vignettes, replicates=replicates, out=out, seed=seed, budget=budget)
    lists = given(attributes=_listed(attributes), answers=_listed(answers))
    wanted = _chosen(model, data, file, judges, models, {**named, **lists, **settings})
    prepared = prepare(wanted.run, wanted.target)
    return PlannedClinical(
        path=prepared.path.resolve(),
        model=prepared.target.name,
        models={role: one.name for role, one in prepared.models.items()},
        paid=prepared.paid,
        vignettes=len(prepared.study.vignettes),
        variants=len(prepared.twins.variants),
        dropped=dict(Counter(one.kind for one in prepared.twins.dropped)),
        calls=plan(prepared),
    )


def clinical(
    model: str | Function | None = None,
    data: Data | list[Data] | tuple[Data, ...] | None = None,
    *,
    file: str | Path | None = None,
    vignettes: int | None = None,
    attributes: str | Sequence[str] | None = None,
    answers: str | Sequence[str] | None = None,
    replicates: int | None = None,
    judges: Asked | list[Asked] | tuple[Asked, ...] | None = None,
    models: Mapping[str, Asked] | None = None,
    out: str | Path | None = None,
    seed: int | None = None,
    budget: Mapping[str, object] | None = None,
    progress: bool | Callable[[Stage], None] = True,
    **settings: object,
) -> Run:
    """Run the clinical audit, or go on with it, as `askew clinical run` with the same settings.

    The same call again asks nothing that is recorded. It may be called where an event loop is
    running, as in a notebook. It does not ask before it spends money: see `plan_clinical`, and set
    a budget.

    Args:
        model: the target, "provider/model" (default: builtin/smollm2), or a function from a prompt
            to an answer. One that no module holds needs a `revision`.
        data: a clinical data set, or several: "starter" (default), "zack_nurse=FOLDER",
            Path("mine.csv"), a table.
        file: a run file with a [clinical] table; what is given here goes before what it says.
        vignettes: at most so many cases a source, drawn by the seed.
        attributes: what is changed about the patient: "gender", or several.
        answers: the forms of the answers, the primary one first: "direct", "single", "chained".
        replicates: answers to one prompt; with 1 there is no noise floor.
        judges: "provider/model" or a table of a run file, or several; none by default.
        models: the models of other roles, e.g. {"reference": "openai/gpt-4o"}.
        out: the run folder; default: runs/MODEL-HASH.
        seed: the one seed.
        budget: at most so much: {"calls": 500, "tokens": 100_000, "money": 2.0}.
        progress: True writes to stderr how far it has come; a function is told of it, in the
            calling thread.
        settings: any other setting of the run file, by its name (`structured=False`, `base_url=…`)
            or its dotted key (`**{"clinical.judge.items": 5}`).

    Returns:
        The run, opened.

    Raises:
        AskewError: the run cannot be made as it is asked for.
        KeyboardInterrupt: Ctrl-C, once the run has stopped cleanly; what was received is kept.

    Warns:
        IncompleteRun: replies are missing.
    """
    from askew.models.background import run_in_background
    from askew.run.clinical import execute, prepare

    named = given(vignettes=vignettes, replicates=replicates, out=out, seed=seed, budget=budget)
    lists = given(attributes=_listed(attributes), answers=_listed(answers))
    wanted = _chosen(model, data, file, judges, models, {**named, **lists, **settings})
    with telling(progress, _line) as tell:
        prepared = prepare(wanted.run, wanted.target)
        with stopped_cleanly(prepared.path):
            done = run_in_background(
                lambda interrupts, step: execute(prepared, step, interrupts), tell
            )
    if done.incomplete:
        stop = done.stopped
        warn_of_missing(
            done.folder.path,
            stopped="" if stop is None else f"({stop.stopped}) at {done.stage}: {stop.message}",
            failed=sum(one.failed for one in done.asked.values()),
            errors=errors_of(done.folder),
            unknown=sum(one.unknown for one in done.asked.values()),
        )
    return Run(done.folder.path.resolve())


def _chosen(
    model: str | Function | None,
    data: Data | list[Data] | tuple[Data, ...] | None,
    file: str | Path | None,
    judges: Asked | list[Asked] | tuple[Asked, ...] | None,
    models: Mapping[str, Asked] | None,
    settings: Mapping[str, object],
) -> Chosen:
    """The settings with the models of all roles among them."""
    named = with_roles(settings, _judges(judges), models)
    return chosen(model, data, file, named, "clinical")


def _judges(judges: object) -> list[tuple[str, object]]:
    """The judges by role: "judge", "judge_2" and so on."""
    if judges is None:
        return []
    several = list(judges) if isinstance(judges, list | tuple) else [judges]
    return [
        ("judge" if place == 1 else f"judge_{place}", one)
        for place, one in enumerate(several, start=1)
    ]


def _listed(names: str | Sequence[str] | None) -> list[str] | None:
    """Names as the run file has them; a text may hold several with commas, as an option does."""
    if names is None:
        return None
    several = names.split(",") if isinstance(names, str) else names
    return [name.strip() for name in several if name.strip()]


def _line(stage: Stage) -> str:
    from askew.report.progress import how_far

    now = stage.progress
    return f"{stage.name}: {now.done:,} of {now.total:,}, {how_far(now)}"
