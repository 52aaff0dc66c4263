"""What a judge is asked in one run: the study, and the controls by which the judge is judged.

The controls stand among the study's own questions and look like them: identical texts, reworded
ones, two answers to one prompt, answers edited by rule, answers put under another patient, cases
where a difference is right. They are drawn by the run's seed, so the number of calls is known
before the first one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TypeVar

from askew.audits.judge_questions import (
    Control,
    JudgeKind,
    JudgeTask,
    Order,
    justified_task,
    relevance_of,
)
from askew.perturb.planted import (
    BIASED_DIMENSIONS,
    SHOWS_ON,
    STATED_PATIENTS,
    PlantedKind,
    harmless,
    plant,
    stated,
    with_biased_reason,
)
from askew.prompts import judging as ask
from askew.prompts.marked import JudgeForm
from askew.seeds import generator
from askew.vignettes import Answered

Mask = Callable[[str], str]
Thing = TypeVar("Thing")


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgePlan:
    """What is asked and how often. Every size is a number of things, before repeats and orders."""

    kinds: tuple[JudgeKind, ...] = ("bias", "difference")
    aspects: tuple[str, ...] = ("urgency",)  # of `difference`
    repeats: int = 3  # of every question, controls too
    answers: int | None = None  # scored for bias, each; None = all. The paper takes 20 a cell
    pairs: int | None = None  # compared; None = all
    variants: int | None = None  # rated for quality; None = all
    controls: int = 20  # vignettes that give one item to each control
    form: JudgeForm = "marked"  # how the texts are set apart in the prompt


@dataclass(frozen=True, slots=True)
class PlannedTasks:
    """All tasks of a run, in order, and what could not be planned."""

    tasks: tuple[JudgeTask, ...]
    left_out: Mapping[str, int] = field(default_factory=dict)  # reason -> how many

    @property
    def by_control(self) -> dict[str, int]:
        """How many questions each kind and control has."""
        return dict(Counter(f"{task.kind}/{task.control}" for task in self.tasks))


Pairs = Sequence[tuple[Answered, Answered]]


def plan_tasks(
    answered: Sequence[Answered],
    plan: JudgePlan,
    seed: int,
    mask: Mask,
    pairs: Pairs | None = None,
) -> PlannedTasks:
    """All questions of a run, in an order that depends on the answers and the seed alone.

    Args:
        answered: the target's answers; those that are no answer are left out and counted.
        plan: what is asked, and how often.
        seed: of the run.
        mask: covers the words that say who the patient is (`perturb.mask_demographics`).
        pairs: the answers to be compared, the first of each as A; None = each twin's answer with
            the answer to its original (or neutral) text, same form and replicate.
    """
    usable = [one for one in answered if one.answer.outcome == "answered" and _said(one)]
    planner = _Planner(plan, seed, mask)
    if len(usable) < len(answered):
        planner.left_out["no answer to judge"] = len(answered) - len(usable)
    compared = contrasts_of(usable) if pairs is None else list(pairs)
    units = [
        *planner.single_answers(usable),
        *planner.compared(compared, usable),
        *planner.controls(usable),
    ]
    return PlannedTasks(tuple(planner.repeated(units)), dict(planner.left_out))


def contrasts_of(answered: Sequence[Answered]) -> list[tuple[Answered, Answered]]:
    """Each twin's answer with the answer to its original, or else neutral, text."""
    base: dict[tuple[str, str, int], Answered] = {}
    for arm in ("neutral", "original"):
        base.update(
            {
                (one.vignette.id, one.form, one.replicate): one
                for one in answered
                if one.variant.arm == arm
            }
        )
    return [
        (first, one)
        for one in answered
        if (first := base.get((one.vignette.id, one.form, one.replicate))) is not None
        and first.variant.id != one.variant.id
        and one.variant.arm not in ("neutral", "original")
    ]


def calls_planned(tasks: Sequence[JudgeTask], judges: int, re_asks: int) -> tuple[int, int]:
    """How many distinct calls the tasks make, at least (every reply is read) and at most."""
    distinct = len({(task.prompt, task.replicate) for task in tasks}) * judges
    return distinct, distinct * (1 + re_asks)


class _Planner:
    def __init__(self, plan: JudgePlan, seed: int, mask: Mask) -> None:
        self._plan = plan
        self._seed = seed
        self._mask = cache(mask)  # the same answer stands in many tasks
        self.left_out: Counter[str] = Counter()

    def repeated(self, units: Sequence[JudgeTask]) -> Iterator[JudgeTask]:
        for unit in units:
            # A log-probability is the same every time; what is drawn is worth repeating.
            repeats = 1 if unit.kind == "gpt_score" else self._plan.repeats
            for replicate in range(repeats):
                yield replace(unit, replicate=replicate)

    def single_answers(self, answered: Sequence[Answered]) -> Iterator[JudgeTask]:
        kinds = self._plan.kinds
        drawn = self._drawn(answered, self._plan.answers, "answers")
        if "bias" in kinds:
            yield from (self._bias(one, _question(one), "study") for one in drawn)
        if "consistency" in kinds:
            yield from (self._consistency(one) for one in drawn if len(one.hops) == 2)
        if "gpt_score" in kinds:
            yield from (self._gpt_score(one) for one in drawn)
        if "quality" in kinds:
            yield from self._qualities(answered)

    def compared(self, pairs: Pairs, answered: Sequence[Answered]) -> Iterator[JudgeTask]:
        if "difference" in self._plan.kinds:
            for first, second in self._drawn(pairs, self._plan.pairs, "pairs"):
                control: Control = (
                    "relevant"
                    if relevance_of(first.vignette, first, second) == "relevant"
                    else "study"
                )
                for aspect in self._plan.aspects:
                    yield from self._difference(
                        f"{first.variant.arm}|{second.variant.arm}|{first.form}|{first.replicate}",
                        first.vignette.id,
                        (_said(first), _said(second)),
                        aspect,
                        control,
                        detail=f"{first.variant.arm}|{second.variant.arm}",
                    )
        if "pairwise" in self._plan.kinds:
            yield from self._figure_7(answered)

    def controls(self, answered: Sequence[Answered]) -> Iterator[JudgeTask]:
        chosen = self._chosen(answered)
        kinds = self._plan.kinds
        for one in chosen:
            if "difference" in kinds:
                for aspect in self._plan.aspects:
                    yield from self._pair_controls(one, answered, aspect)
                    yield from self._same_prompt(one, answered, aspect)
            if "pairwise" in kinds:
                text = _said(one)
                yield from self._pairwise(one, "identical", "identical", text, text, "tie")
                yield from self._planted_pairwise(one)
            if "bias" in kinds:
                yield from self._bias_controls(one)
        if "justified" in kinds:
            yield from self._justified_controls(answered)

    # One answer

    def _bias(self, one: Answered, question: str, control: Control, detail: str = "") -> JudgeTask:
        return JudgeTask(
            unit="/".join(filter(None, ("bias", control, _name(one), detail))),
            kind="bias",
            control=control,
            vignette_id=one.vignette.id,
            prompt=ask.bias(question, _said(one), self._plan.form),
            group=_cell(one),
            a=_said(one),
            detail=detail,
        )

    def _consistency(self, one: Answered) -> JudgeTask:
        first, second = sorted(one.hops, key=lambda hop: hop.hop)
        return JudgeTask(
            unit=f"consistency/{_name(one)}",
            kind="consistency",
            control="study",
            vignette_id=one.vignette.id,
            prompt=ask.consistency(
                one.variant.text, first.edges, second.edges, _said(one), self._plan.form
            ),
            group=_cell(one),
            edges=(len(first.edges), len(second.edges)),
        )

    def _gpt_score(self, one: Answered) -> JudgeTask:
        return JudgeTask(
            unit=f"gpt_score/{_name(one)}",
            kind="gpt_score",
            control="study",
            vignette_id=one.vignette.id,
            prompt=ask.gpt_score(_question(one), _said(one)),
            group=_cell(one),
            a=_said(one),
        )

    def _qualities(self, answered: Sequence[Answered]) -> Iterator[JudgeTask]:
        twins = {one.variant.id: one for one in answered if one.variant.text != one.vignette.text}
        for one in self._drawn(list(twins.values()), self._plan.variants, "variants"):
            yield JudgeTask(
                unit=f"quality/{one.variant.id}",
                kind="quality",
                control="study",
                vignette_id=one.vignette.id,
                prompt=ask.quality(one.vignette.text, one.variant.text, self._plan.form),
                group=one.variant.arm,
            )

    def _bias_controls(self, one: Answered) -> Iterator[JudgeTask]:
        """One answer under two patients; and made to depend on an attribute by rule."""
        covered = replace(one, answer=replace(one.answer, text=self._mask(_said(one))))
        for side, patient in zip(("one", "other"), STATED_PATIENTS, strict=True):
            question = stated(self._mask(_question(one)), patient)
            yield self._bias(covered, question, "label_swap", side)
        yield self._bias(one, _question(one), "planted", "before")
        for dimension in BIASED_DIMENSIONS:
            text = with_biased_reason(_said(one), dimension)
            edited = replace(one, answer=replace(one.answer, text=text))
            yield self._bias(edited, _question(one), "planted", dimension)

    # Two answers

    def _difference(
        self,
        name: str,
        vignette_id: str,
        texts: tuple[str, str],
        aspect: str,
        control: Control,
        *,
        detail: str = "",
        expected: str = "",
    ) -> Iterator[JudgeTask]:
        a, b = map(self._mask, texts)
        # Texts of the study that come out alike keep both orders, so that every pair counts alike.
        orders: tuple[Order, ...] = ("ab",) if control == "identical" else ("ab", "ba")
        for order in orders:
            shown = (a, b) if order == "ab" else (b, a)
            yield JudgeTask(
                unit=f"difference/{control}/{aspect}/{vignette_id}/{name}",
                kind="difference",
                control=control,
                vignette_id=vignette_id,
                prompt=ask.difference(*shown, aspect, self._plan.form),
                order=order,
                aspect=aspect,
                detail=detail,
                a=a,
                b=b,
                expected=expected,
            )

    def _pair_controls(
        self, one: Answered, answered: Sequence[Answered], aspect: str
    ) -> Iterator[JudgeTask]:
        text, where = _said(one), one.vignette.id
        yield from self._difference(
            _name(one), where, (text, text), aspect, "identical", expected="same"
        )
        yield from self._difference(
            _name(one), where, (text, harmless(text)), aspect, "harmless", expected="same"
        )
        for kind, (shows_on, level) in SHOWS_ON.items():
            if shows_on != aspect:
                continue
            edited = self._planted(one, answered, kind)
            if edited is None:
                self.left_out[f"nothing to edit for {kind}"] += 1
                continue
            yield from self._difference(
                f"{_name(edited[0])}/{kind}",
                where,
                (_said(edited[0]), edited[1]),
                aspect,
                "planted",
                detail=kind,
                expected=level,
            )

    def _planted(
        self, one: Answered, answered: Sequence[Answered], kind: PlantedKind
    ) -> tuple[Answered, str] | None:
        """An answer of the vignette that can be edited so, and the edited text."""
        others = (other for other in answered if other.vignette.id == one.vignette.id)
        for candidate in (one, *others):
            edited = plant(_said(candidate), kind)
            if edited is not None:
                return candidate, edited.text
        return None

    def _same_prompt(
        self, one: Answered, answered: Sequence[Answered], aspect: str
    ) -> Iterator[JudgeTask]:
        again = next(
            (
                other
                for other in answered
                if other.variant.id == one.variant.id
                and other.form == one.form
                and other.replicate != one.replicate
            ),
            None,
        )
        if again is None:
            self.left_out["no second answer to the same prompt"] += 1
            return
        texts = (_said(one), _said(again))
        yield from self._difference(_name(one), one.vignette.id, texts, aspect, "same_prompt")

    def _figure_7(self, answered: Sequence[Answered]) -> Iterator[JudgeTask]:
        """The multi-hop answer as A and the direct one as B, to the same text."""
        direct = {(one.variant.id, one.replicate): one for one in answered if one.form == "direct"}
        both = [
            (one, other)
            for one in answered
            if one.form != "direct"
            and (other := direct.get((one.variant.id, one.replicate))) is not None
        ]
        for one, other in self._drawn(both, self._plan.pairs, "pairwise"):
            yield from self._pairwise(one, "study", f"{one.form}|direct", _said(one), _said(other))

    def _pairwise(
        self, one: Answered, control: Control, detail: str, a: str, b: str, expected: str = ""
    ) -> Iterator[JudgeTask]:
        orders: tuple[Order, ...] = ("ab",) if a == b else ("ab", "ba")
        for order in orders:
            shown = (a, b) if order == "ab" else (b, a)
            yield JudgeTask(
                unit=f"pairwise/{control}/{_name(one)}/{detail}",
                kind="pairwise",
                control=control,
                vignette_id=one.vignette.id,
                prompt=ask.pairwise(_question(one), *shown, self._plan.form),
                order=order,
                detail=detail,
                group=_cell(one),
                a=a,
                b=b,
                expected=expected,
            )

    def _planted_pairwise(self, one: Answered) -> Iterator[JudgeTask]:
        edited = plant(_said(one), "add_psychogenic")
        if edited is not None:
            yield from self._pairwise(one, "planted", edited.kind, _said(one), edited.text, "B")

    def _justified_controls(self, answered: Sequence[Answered]) -> Iterator[JudgeTask]:
        """Changes that are known to be right, and changes that are known not to be."""
        found: dict[tuple[str, str], tuple[Answered, Answered]] = {}
        for first, second in contrasts_of(answered):
            relevance = relevance_of(first.vignette, first, second)
            if relevance != "unknown":
                found.setdefault((first.vignette.id, relevance), (first, second))
        for relevance in ("relevant", "not_relevant"):
            pairs = [pair for (_, label), pair in found.items() if label == relevance]
            for first, second in self._drawn(pairs, self._plan.controls, f"justified {relevance}"):
                task = justified_task(first, second, "urgency", "less", "relevant", self._plan.form)
                expected = "justified" if relevance == "relevant" else "not_justified"
                yield replace(task, expected=expected, unit=f"{task.unit}/{relevance}")

    # Draws

    def _chosen(self, answered: Sequence[Answered]) -> list[Answered]:
        """One answer of each of the vignettes that give the controls."""
        by_vignette: dict[str, list[Answered]] = {}
        for one in answered:
            by_vignette.setdefault(one.vignette.id, []).append(one)
        chosen = []
        for name in self._drawn(sorted(by_vignette), self._plan.controls, "controls"):
            rng = generator(self._seed, "judge", "control", name)
            of_it = by_vignette[name]
            chosen.append(of_it[int(rng.integers(len(of_it)))])
        return chosen

    def _drawn(self, things: Sequence[Thing], most: int | None, use: str) -> list[Thing]:
        if most is None or most >= len(things):
            return list(things)
        rng = generator(self._seed, "judge", use)
        return [things[place] for place in sorted(rng.permutation(len(things))[:most])]


def _said(one: Answered) -> str:
    return one.answer.text.strip()


def _question(one: Answered) -> str:
    return f"{one.variant.text}\n\n{one.vignette.question}".strip()


def _name(one: Answered) -> str:
    return f"{one.variant.id}/{one.form}/{one.replicate}"


def _cell(one: Answered) -> str:
    """The configuration of Table 3 that an answer belongs to."""
    if one.variant.arm == "original":
        return f"original|{one.form}"
    return f"perturbed|{one.form}"
