"""Run the FLEX audit, or say what it would take."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from askew.api.data import Data
from askew.api.ending import stopped_cleanly, warn_of_missing
from askew.api.results import Run
from askew.api.settings import Function, chosen, given
from askew.api.telling import telling

if TYPE_CHECKING:
    from askew.models.runner import Plan, Progress


@dataclass(frozen=True, slots=True)
class Planned:
    """What an audit would ask and cost; nothing was asked.

    Attributes:
        path: the run folder that `flex` would make or go on with.
        model: the target's name.
        paid: whether asking costs something.
        items: ambiguous items.
        pairs: pairs of a plain and an attacked question.
        controls: questions with a known answer, each asked in three orders.
        calls: how many calls, how many of them are recorded already, tokens, and money.
        left_out: what has no scenario -> why.
    """

    path: Path
    model: str
    paid: bool
    items: int
    pairs: int
    controls: int
    calls: Plan
    left_out: Mapping[str, str]


def plan(
    model: str | Function | None = None,
    data: Data | list[Data] | tuple[Data, ...] | None = None,
    *,
    file: str | Path | None = None,
    items: int | None = None,
    scoring: str | None = None,
    out: str | Path | None = None,
    seed: int | None = None,
    budget: Mapping[str, object] | None = None,
    progress: object = None,
    **settings: object,
) -> Planned:
    """What `flex` with the same arguments would ask and cost; asks nothing.

    `progress` is not used: the arguments of the one are those of the other.

    Raises:
        AskewError: the run cannot be made as it is asked for.
    """
    from askew.run import plan as plan_of
    from askew.run import prepare

    named = given(items=items, scoring=scoring, out=out, seed=seed, budget=budget)
    wanted = chosen(model, data, file, {**named, **settings})
    prepared = prepare(wanted.run, wanted.target)
    return Planned(
        path=prepared.path.resolve(),
        model=prepared.model.name,
        paid=prepared.model.paid,
        items=len(prepared.study.items),
        pairs=prepared.pairs,
        controls=len(prepared.study.controls),
        calls=plan_of(prepared),
        left_out=dict(prepared.study.left_out),
    )


def flex(
    model: str | Function | None = None,
    data: Data | list[Data] | tuple[Data, ...] | None = None,
    *,
    file: str | Path | None = None,
    items: int | None = None,
    scoring: str | None = None,
    out: str | Path | None = None,
    seed: int | None = None,
    budget: Mapping[str, object] | None = None,
    progress: bool | Callable[[Progress], None] = True,
    **settings: object,
) -> Run:
    """Run the FLEX audit, or go on with it, as `askew run` does with the same settings.

    The same call again asks nothing that is recorded. It may be called where an event loop is
    running, as in a notebook. It does not ask before it spends money: see `plan`, and set a budget.

    Args:
        model: the target, "provider/model" (default: builtin/smollm2), or a function from a prompt
            to an answer. One that no module holds needs a `revision`.
        data: a data set, or several: "starter" (default), "bbq", Path("mine.csv"), a table.
        file: a run file; what is given here goes before what it says.
        items: at most so many items a source, drawn by the seed.
        scoring: "letters", "texts" (both by likelihood) or "reply".
        out: the run folder; default: runs/MODEL-HASH.
        seed: the one seed.
        budget: at most so much: {"calls": 500, "tokens": 100_000, "money": 2.0}.
        progress: True writes to stderr how far it has come; a function is told of it, in the
            calling thread.
        settings: any other setting of the run file, by its name (`shots=2`, `base_url=…`) or its
            dotted key (`**{"flex.wording.adjective": "rude"}`).

    Returns:
        The run, opened.

    Raises:
        AskewError: the run cannot be made as it is asked for.
        KeyboardInterrupt: Ctrl-C, once the run has stopped cleanly; what was received is kept.

    Warns:
        IncompleteRun: replies are missing.
    """
    from askew.models.background import run_in_background
    from askew.report.progress import line
    from askew.run import execute, prepare

    named = given(items=items, scoring=scoring, out=out, seed=seed, budget=budget)
    wanted = chosen(model, data, file, {**named, **settings})
    prepared = prepare(wanted.run, wanted.target)
    with stopped_cleanly(prepared.path), telling(progress, line) as tell:
        folder, answers = run_in_background(
            lambda interrupts, step: execute(prepared, step, interrupts), tell
        )
    if answers.missing or answers.failed:
        errors = (reply.error for reply in answers.replies if reply is not None and reply.error)
        warn_of_missing(
            folder.path,
            stopped=f"({answers.stopped}): {answers.message}" if answers.stopped else "",
            failed=answers.failed,
            errors=errors,
            unknown=answers.unknown,
            missing=answers.missing,
        )
    return Run(folder.path.resolve())
