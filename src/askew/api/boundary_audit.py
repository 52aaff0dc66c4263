"""Run the boundary audit, or say what it would take."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from askew.api.ending import errors_of, stopped_cleanly, warn_of_missing
from askew.api.results import Run
from askew.api.roles import Asked, with_roles
from askew.api.settings import Chosen, Function, chosen, given
from askew.api.telling import telling
from askew.errors import ConfigError

if TYPE_CHECKING:
    from askew.audits.boundary import Found
    from askew.run.boundary_plan import BoundaryPlan


@dataclass(frozen=True, slots=True)
class PlannedBoundary:
    """What a boundary audit would ask and cost; nothing was asked.

    Attributes:
        path: the run folder that `boundary` would make or go on with.
        model: the target's name.
        models: the names of all models, by role; without a judge a rule judges, and without a
            generator the questions are askew's own.
        paid: whether asking any of them costs something.
        topics: of the graph, or of the part of it that is searched.
        tests: topics that are tested, at most.
        calls: role by role: calls, how many of them are still to be made, tokens, and money, each
            at most; which topics are asked about is found out by asking.
    """

    path: Path
    model: str
    models: Mapping[str, str]
    paid: bool
    topics: int
    tests: int
    calls: BoundaryPlan


def plan_boundary(
    model: str | Function | None = None,
    *,
    file: str | Path | None = None,
    judge: Asked | None = None,
    generator: Asked | None = None,
    models: Mapping[str, Asked] | None = None,
    graph: str | Path | None = None,
    domains: str | Sequence[str] | None = None,
    policy: str | None = None,
    queries: int | None = None,
    questions: int | None = None,
    slant: str | None = None,
    out: str | Path | None = None,
    seed: int | None = None,
    budget: Mapping[str, object] | None = None,
    progress: object = None,
    **settings: object,
) -> PlannedBoundary:
    """What `boundary` with the same arguments would ask and cost; asks nothing.

    `progress` is not used: the arguments of the one are those of the other.

    Raises:
        AskewError: the run cannot be made as it is asked for.
    """
    from askew.run.boundary import prepare
    from askew.run.boundary_plan import plan

    named = given(
        graph=_graph(graph),
        domains=domains,
        policy=policy,
        queries=queries,
        questions=questions,
        slant=slant,
        out=out,
        seed=seed,
        budget=budget,
    )
    wanted = _chosen(model, file, judge, generator, models, {**named, **settings})
    prepared = prepare(wanted.run, wanted.target)
    return PlannedBoundary(
        path=prepared.path.resolve(),
        model=prepared.target.name,
        models={role: one.name for role, one in prepared.models.items()},
        paid=prepared.paid,
        topics=prepared.graph.size,
        tests=prepared.tests,
        calls=plan(prepared),
    )


def boundary(
    model: str | Function | None = None,
    *,
    file: str | Path | None = None,
    judge: Asked | None = None,
    generator: Asked | None = None,
    models: Mapping[str, Asked] | None = None,
    graph: str | Path | None = None,
    domains: str | Sequence[str] | None = None,
    policy: str | None = None,
    queries: int | None = None,
    questions: int | None = None,
    slant: str | None = None,
    out: str | Path | None = None,
    seed: int | None = None,
    budget: Mapping[str, object] | None = None,
    progress: bool | Callable[[Found], None] = True,
    **settings: object,
) -> Run:
    """Run the boundary audit, or go on with it, as `askew boundary search` with the same settings.

    The same call again asks nothing that is recorded, and one with more `queries` goes further. It
    may be called where an event loop is running, as in a notebook. It does not ask before it spends
    money: see `plan_boundary`, and set a budget.

    Args:
        model: the target, "provider/model" (default: builtin/smollm2), or a function from a prompt
            to an answer. One that no module holds needs a `revision`.
        file: a run file with a [boundary] table; what is given here goes before what it says.
        judge: who judges the answers, "provider/model" or a table of a run file; without one, a
            rule looks for the `slant`.
        generator: who writes the questions, in the same form; default: askew's own questions.
        models: models by role, in place of `judge` and `generator`.
        graph: "starter" (default), or the folder of a graph.
        domains: only topics of these domains of the graph; all by default.
        policy: who says which topic is next: "learned" (default), "neighbour_share", "uniform", …
        queries: topics to test.
        questions: of each topic.
        slant: what a rule looks for where no model judges: "any", "left", one's own.
        out: the run folder; default: runs/MODEL-HASH.
        seed: the one seed.
        budget: at most so much: {"calls": 500, "tokens": 100_000, "money": 2.0}.
        progress: True writes to stderr how far it has come; a function is told of it after every
            batch of topics, in the calling thread.
        settings: any other setting of the run file, by its name (`start="Trade policy"`,
            `probes=0.2`, `base_url=…`) or its dotted key (`**{"models.judge.temperature": 0.0}`).

    Returns:
        The run, opened.

    Raises:
        AskewError: the run cannot be made as it is asked for.
        KeyboardInterrupt: Ctrl-C, once the run has stopped cleanly; what was received is kept.

    Warns:
        IncompleteRun: replies are missing.
    """
    from askew.models.background import run_in_background
    from askew.run.boundary import execute, prepare

    named = given(
        graph=_graph(graph),
        domains=domains,
        policy=policy,
        queries=queries,
        questions=questions,
        slant=slant,
        out=out,
        seed=seed,
        budget=budget,
    )
    wanted = _chosen(model, file, judge, generator, models, {**named, **settings})
    with telling(progress, _line) as tell:
        prepared = prepare(wanted.run, wanted.target)
        with stopped_cleanly(prepared.path):
            done = run_in_background(
                lambda interrupts, step: execute(prepared, step, interrupts=interrupts), tell
            )
    if done.incomplete:
        stop = done.stopped
        tested = f"after {len(done.tests):,} topics"
        warn_of_missing(
            done.folder.path,
            stopped="" if stop is None else f"({stop.stopped}) {tested}: {stop.message}",
            failed=sum(one.failed for one in done.asked.values()),
            errors=errors_of(done.folder),
            unknown=sum(one.unknown for one in done.asked.values()),
        )
    return Run(done.folder.path.resolve())


def _chosen(
    model: str | Function | None,
    file: str | Path | None,
    judge: Asked | None,
    generator: Asked | None,
    models: Mapping[str, Asked] | None,
    settings: Mapping[str, object],
) -> Chosen:
    """The settings with the models of all roles among them."""
    named = given(judge=judge, generator=generator).items()
    return chosen(model, None, file, with_roles(settings, named, models), "boundary")


def _graph(graph: object) -> str | None:
    """The graph as a run file names it.

    Raises:
        ConfigError: it is no name and no path.
    """
    from askew.runfile.boundary import STARTER

    if graph is None or graph == STARTER:
        return graph if graph is None else STARTER
    if not isinstance(graph, str | Path):
        raise ConfigError(
            f"graph is {type(graph).__name__}, expected {STARTER!r} or the folder of a graph. "
            "`askew.graphs.topic_storage.save_graph` makes a folder of a graph at hand."
        )
    return str(Path(graph).expanduser().absolute())


def _line(now: Found) -> str:
    unclear = f", {now.unclear:,} unclear" if now.unclear else ""
    return f"{now.tested:,} of {now.queries:,} topics tested, {now.leaning:,} leaning{unclear}"
