"""Tasks of Inspect AI: `inspect eval askew/flex --model PROVIDER/MODEL`.

Inspect loads this module by its entry point whenever it starts, so it imports nothing of askew that
is heavy; a task is built when it is asked for. One task holds both conditions, as FLEX's figures
are of pairs: questions, replies and figures are made by the code that `askew run` uses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

# mypy does not follow inspect_ai, so its decorators are untyped to it.
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig, get_model
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, metric, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver

# Of all samples; above it the log ends as an error, as an endpoint that answers nobody should.
FAIL_ON_ERROR = 0.5


@task  # type: ignore[untyped-decorator]
def flex(
    data: str | list[str] = "starter",
    path: str | None = None,
    items: int | None = None,
    controls: int | None = None,
    categories: str | list[str] | None = None,
    scenarios: str | None = None,
    rotations: str | None = None,
    option_order: str | None = None,
    shots: int | None = None,
    shot_kind: str | None = None,
    attack_role: str | None = None,
    replicates: int | None = None,
    seed: int | None = None,
    non_answers: str | None = None,
    paraphrase: str | None = None,
    lenient: bool | None = None,
    published: str | None = None,
    persona_style: str | None = None,
    adjective: str | None = None,
    temperature: float | str | None = 0.0,
    max_tokens: int | None = None,
    **others: Any,
) -> Task:
    """FLEX: does fairness hold when the prompt pushes?

    What is left out is as `askew run` has it; all names are those of its options and run file.

    Args:
        data: data sets, NAME or NAME=PATH.
        path: where the one data set lies, in place of NAME=PATH.
        items: at most so many a source, drawn by the seed.
        controls: at most so many questions with a known answer.
        categories: the attack categories that are asked.
        scenarios: assigned, random or all.
        rotations: one order of the options, or all three.
        option_order: file or shuffled.
        shots: demonstrations before each question, 0 to 5.
        shot_kind: positive or negative.
        attack_role: who gives a scenario's instruction, system or user.
        replicates: replies drawn of each prompt; the task's epochs.
        seed: of every draw and of the bootstrap.
        non_answers: left_out or wrong.
        paraphrase: unreadable or neutral.
        lenient: skip rows that cannot be used.
        published: a clone of the FLEX release, for its five objectives' texts.
        persona_style: askew or paper.
        adjective: of the personas.
        temperature: default leaves it to the provider.
        max_tokens: of a reply.
        others: none; Inspect itself would pass over a misspelt name, and ask everything.
    """
    from askew.errors import AskewError

    given = {
        "seed": seed,
        "models.target.max_tokens": max_tokens,
        "flex.items": items,
        "flex.controls": controls,
        "flex.categories": _listed(categories),
        "flex.scenarios": scenarios,
        "flex.rotations": rotations,
        "flex.option_order": option_order,
        "flex.shots": shots,
        "flex.shot_kind": shot_kind,
        "flex.attack_role": attack_role,
        "flex.replicates": replicates,
        "flex.non_answers": non_answers,
        "flex.paraphrase": paraphrase,
        "flex.lenient": lenient,
        "flex.wording.published": published,
        "flex.wording.persona_style": persona_style,
        "flex.wording.adjective": adjective,
    }
    settings: dict[str, object] = {k: value for k, value in given.items() if value is not None}
    settings["models.target.temperature"] = temperature
    try:
        _refuse(others)
        settings["flex.data"] = _data(data, path)
        return _task(settings)
    except AskewError as trouble:
        raise _without_traceback(trouble) from trouble


def _refuse(others: Mapping[str, object]) -> None:
    from inspect import signature

    from askew.errors import unknown_name

    known = [name for name in signature(flex).parameters if name != "others"]
    for name in others:
        raise unknown_name("setting of askew/flex", name, known)


def _without_traceback(trouble: Exception) -> Exception:
    """The error as Inspect prints it without a traceback; as it is where Inspect has no such."""
    from askew.report.words import clean

    try:
        from inspect_ai._util.error import PrerequisiteError
    except ImportError:
        return trouble
    error: Exception = PrerequisiteError(clean(str(trouble)))
    return error


def _task(settings: Mapping[str, object]) -> Task:
    from askew import __version__
    from askew.audits import flex as audit
    from askew.interop.inspect_samples import (
        SETTINGS,
        TASK_MODEL,
        metric_arguments,
        settings_of,
    )
    from askew.runfile import checked

    run = checked({"models": {"target": {"name": TASK_MODEL}}}, settings, where="task").settled()
    config = run.flex_config()
    study = audit.load_study(config, run.seed)
    asked = audit.questions(study, config, run.seed)
    once = [one for one in asked if one.replicate == 0]  # replicates are epochs
    pairs = sum(one.condition == "attacked" for one in once)
    # Pairs first, so that --limit cuts the controls, and then whole pairs.
    placed = sorted(enumerate(once), key=lambda found: found[1].condition == "control")
    arguments = metric_arguments(run, pairs)
    return Task(
        dataset=MemoryDataset(
            [_sample(one, place) for place, one in placed],
            name=", ".join(spec.name for spec in config.data),
        ),
        solver=ask(),
        scorer=outcome(paraphrase=run.flex.paraphrase),
        metrics=[
            robustness(**arguments),
            intervals(**arguments),
            categories_and_outcomes(**arguments),
        ],
        config=GenerateConfig(
            temperature=run.target.sampling().temperature, max_tokens=run.target.max_tokens
        ),
        epochs=run.flex.replicates,
        fail_on_error=FAIL_ON_ERROR,
        score_on_error=True,
        version=__version__,
        metadata={
            SETTINGS: settings_of(run),
            "askew_pairs": pairs,
            "askew_left_out": dict(study.left_out),
            "askew_problems": dict(Counter(problem.kind for problem in study.problems)),
            "askew_data": dict(study.checksums),
        },
    )


def _sample(asked: Any, place: int) -> Sample:
    from askew.interop.inspect_samples import metadata_of, sample_id, shown_options, target_of
    from askew.models.inspect_ai import as_chat

    return Sample(
        id=sample_id(asked),
        input=as_chat(asked.prompt.messages),
        choices=shown_options(asked),
        target=target_of(asked),
        metadata=metadata_of(asked, place),
    )


@solver  # type: ignore[untyped-decorator]
def ask() -> Solver:
    """Put the question as it stands; the mock model does so without a network."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        from askew.models.inspect_ai import count_offline

        count_offline(get_model())
        return await generate(state)

    return solve


def _metric(group: str, pairs: int | None, seed: int, non_answers: str) -> Metric:
    def measure(scores: list[SampleScore]) -> dict[str, float]:
        from askew.interop.inspect_samples import VALUES, figures_of

        scored = [(score.sample_metadata or {}, score.score) for score in scores]
        return VALUES[group](figures_of(scored, seed=seed, non_answers=non_answers, pairs=pairs))

    return measure


@metric(scores="unreduced")  # type: ignore[untyped-decorator]
def robustness(pairs: int | None = None, seed: int = 0, non_answers: str = "left_out") -> Metric:
    """ASR, Acc_S, Acc_F, their change, and the coverage; NaN where undefined.

    Args:
        pairs: that the task asks for in one epoch; those that are not scored lower the coverage.
        seed: of the bootstrap.
        non_answers: left_out takes the figures over pairs answered twice; wrong is the paper's way.
    """
    return _metric("robustness", pairs, seed, non_answers)


@metric(scores="unreduced")  # type: ignore[untyped-decorator]
def intervals(pairs: int | None = None, seed: int = 0, non_answers: str = "left_out") -> Metric:
    """The 95 % intervals of the figures of `robustness`, whose arguments it takes."""
    return _metric("intervals", pairs, seed, non_answers)


@metric(scores="unreduced")  # type: ignore[untyped-decorator]
def categories_and_outcomes(
    pairs: int | None = None, seed: int = 0, non_answers: str = "left_out"
) -> Metric:
    """ASR by attack category, non-answers by kind, the controls; arguments as `robustness`."""
    return _metric("categories_and_outcomes", pairs, seed, non_answers)


@scorer(metrics=[robustness(), intervals(), categories_and_outcomes()])  # type: ignore[untyped-decorator]
def outcome(paraphrase: str = "unreadable") -> Scorer:
    """Read a reply as `askew run` does: neutral, stereotyped, …, refused, unreadable, error.

    Args:
        paraphrase: what a free paraphrase of "it cannot be known" is worth, unreadable or neutral.
    """

    async def score(state: TaskState, target: Target) -> Score:
        from askew.interop.inspect_samples import read_output

        return Score(**read_output(state.metadata, state.output, state.epoch - 1, paraphrase))

    return score


def _listed(values: str | list[str] | None) -> list[str] | None:
    return [values] if isinstance(values, str) else values


def _data(data: str | list[str], path: str | None) -> list[dict[str, object]]:
    from askew.errors import ConfigError

    named: list[dict[str, object]] = []
    for one in _listed(data) or []:
        name, _, place = str(one).partition("=")
        named.append({"name": name, **({"path": place} if place else {})})
    if path is not None:
        if len(named) != 1:
            raise ConfigError(
                f"path is {path!r}, and there are {len(named)} data sets. Write NAME=PATH for each."
            )
        named[0]["path"] = str(Path(path))
    return named
