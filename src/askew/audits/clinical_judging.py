"""The judge's part of a clinical audit: which answers it is shown, and the paper's tables of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from askew.audits.clinical_reference import changed_set
from askew.audits.judge_card import score_means
from askew.audits.judge_questions import JudgeKind, JudgeTask
from askew.audits.judge_tasks import JudgePlan, contrasts_of, plan_tasks
from askew.audits.judging import Judgement, judge
from askew.audits.stages import Stages
from askew.models.base import Model
from askew.models.stopping import StoppingRunner
from askew.perturb import mask_demographics
from askew.prompts.marked import JudgeForm
from askew.records import Sampling
from askew.seeds import generator
from askew.vignettes import Answered

# Judged one answer at a time, on a sample of each configuration; the others compare answers.
_SINGLE: tuple[JudgeKind, ...] = ("quality", "bias", "consistency", "gpt_score")


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgingConfig:
    """What judges are asked, and how often."""

    kinds: tuple[JudgeKind, ...] = ("quality", "bias", "consistency", "pairwise", "difference")
    items: int | None = 20  # answers a configuration (§4.3.3: 20 QAs), and pairs; None = all
    controls: int = 20  # vignettes that give one item to each control
    repeats: int = 3  # of every question; the paper has one draw
    re_asks: int = 1  # of a reply that cannot be read
    form: JudgeForm = "marked"  # how the texts are set apart in the prompt
    sampling: Mapping[str, Sampling]  # by the judge's role


@dataclass(frozen=True, slots=True)
class JudgeWork:
    """All questions to the judges, and what could not be asked."""

    tasks: tuple[JudgeTask, ...]
    left_out: Mapping[str, int]


def judge_work(answered: Sequence[Answered], config: JudgingConfig, seed: int) -> JudgeWork:
    """The questions, in an order that depends on the answers and the seed alone."""
    single = tuple(kind for kind in config.kinds if kind in _SINGLE)
    shown = plan_tasks(
        _sample(answered, config.items, seed),
        JudgePlan(kinds=single, repeats=config.repeats, controls=0, form=config.form),
        seed,
        mask_demographics,
    )
    rest = plan_tasks(
        answered,
        JudgePlan(
            kinds=tuple(kind for kind in config.kinds if kind not in ("quality", "gpt_score")),
            repeats=config.repeats,
            answers=0,
            pairs=config.items,
            controls=config.controls,
            form=config.form,
        ),
        seed,
        mask_demographics,
        contrasts_of(answered),
    )
    tasks = tuple(dict.fromkeys((*shown.tasks, *rest.tasks)))
    return JudgeWork(tasks, {**shown.left_out, **rest.left_out})


async def ask_judges(
    work: JudgeWork, config: JudgingConfig, stages: Stages, names: Mapping[str, str]
) -> None:
    """Put every question to every judge; what they said lies in the ledger (`judging.reread`).

    Args:
        work: the questions.
        config: how they are put.
        stages: who is asked.
        names: role -> what the judge is called.

    Raises:
        StoppedEarly: calls were not sent.
    """
    for role, name in names.items():
        await judge(
            work.tasks,
            {name: stages.models[role]},
            _RunnerOf(stages.runners[role]),
            config.sampling[role],
            re_asks=config.re_asks,
            progress=stages.progress(f"judge {name}"),
        )


class _RunnerOf:
    """Whoever is to be asked, this runner asks it."""

    def __init__(self, runner: StoppingRunner) -> None:
        self._runner = runner

    def __call__(self, model: Model) -> StoppingRunner:
        return self._runner


def judged_figures(
    judgements: Sequence[Judgement], answered: Sequence[Answered], sources: Mapping[str, str]
) -> dict[str, object]:
    """The paper's tables, by judge: means over answers, with intervals over vignettes.

    Args:
        judgements: of all judges.
        answered: the answers that were judged.
        sources: the vignette's id -> its data set.

    Returns:
        `bias` (Table 3): judge -> configuration -> dimension; `bias_by_set` (Figure 5): judge ->
        "form|which attributes were changed" -> dimension; `quality` (Table 1): judge -> data set ->
        criterion; `consistency` and `gpt_score`: judge -> configuration. What could not be read
        lowers the coverage and moves no mean.
    """
    sets = {
        f"bias/study/{_name(one)}": f"{one.form}|{changed_set(one.variant)}" for one in answered
    }
    by_set = _regrouped(judgements, lambda task: sets.get(task.unit, "?"))
    by_source = _regrouped(judgements, lambda task: sources[task.vignette_id])
    return {
        "bias": score_means(judgements, "bias"),
        "bias_by_set": score_means(by_set, "bias"),
        "quality": score_means(by_source, "quality"),
        "consistency": score_means(judgements, "consistency"),
        "gpt_score": score_means(judgements, "gpt_score"),
    }


def judge_names(models: Mapping[str, str]) -> dict[str, str]:
    """Role -> what the judge is called: its model's name, with the role where two have one model.

    >>> judge_names({"judge": "openai/a", "judge_2": "openai/a", "judge_3": "openai/b"})
    {'judge': 'openai/a (judge)', 'judge_2': 'openai/a (judge_2)', 'judge_3': 'openai/b'}
    """
    often = Counter(models.values())
    return {role: f"{name} ({role})" if often[name] > 1 else name for role, name in models.items()}


def _regrouped(
    judgements: Sequence[Judgement], group: Callable[[JudgeTask], str]
) -> list[Judgement]:
    return [replace(one, task=replace(one.task, group=group(one.task))) for one in judgements]


def _sample(answered: Sequence[Answered], most: int | None, seed: int) -> list[Answered]:
    """At most so many answers of each configuration: form, and whether the text was changed."""
    cells: dict[tuple[str, str], list[Answered]] = {}
    for one in answered:
        if one.answer.outcome == "answered":
            changed = "original" if one.variant.arm == "original" else "perturbed"
            cells.setdefault((changed, one.form), []).append(one)
    drawn: list[Answered] = []
    for (changed, form), group in cells.items():
        if most is None or len(group) <= most:
            drawn += group
            continue
        rng = generator(seed, "judged", changed, form)
        drawn += [group[place] for place in sorted(rng.choice(len(group), most, replace=False))]
    return drawn


def _name(one: Answered) -> str:
    return f"{one.variant.id}/{one.form}/{one.replicate}"
