"""One question to a judge, as a record; and the second question, on differences that were found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from askew.prompts import judging as ask
from askew.prompts.judging import ASPECTS
from askew.prompts.marked import JudgeForm, texts_of
from askew.records import Prompt
from askew.vignettes import Answered, Relevance, Vignette

JudgeKind = Literal[
    "quality", "bias", "consistency", "pairwise", "difference", "justified", "gpt_score"
]
Control = Literal[
    "study", "identical", "harmless", "same_prompt", "planted", "label_swap", "relevant"
]
Order = Literal["ab", "ba", ""]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeTask:
    """One question to a judge.

    `unit` names what is judged; its repeats and both orders share it. `a` and `b` are the two
    answers in the order "ab" as they are shown, and "" where there is one answer or none.
    """

    unit: str
    kind: JudgeKind
    control: Control
    vignette_id: str
    prompt: Prompt
    replicate: int = 0
    order: Order = ""
    aspect: str = ""  # of `difference`
    detail: str = ""  # the planted edit, the attribute, the contrast "original|gender=female"
    group: str = ""  # the cell of the paper's tables: form and arm, "multi-hop|age=65-80"
    a: str = ""
    b: str = ""
    edges: tuple[int, int] = (0, 0)  # of G₁ and G₂, for `consistency`
    expected: str = ""  # what a right judge says, in the order "ab"; "" where that is not known


def judged_texts(task: JudgeTask) -> tuple[str, ...]:
    """What somebody else wrote and the judge is to assess: answers, a rewritten question."""
    texts = texts_of(task.prompt)
    named = (texts.get(name) for name in ("answer", "A", "B", "rewritten"))
    shown = tuple(text for text in named if isinstance(text, str))
    # In the plain form the texts are not told apart from the prompt's own.
    return shown or tuple(text for text in (task.a, task.b) if text)


def relevance_of(vignette: Vignette, one: Answered, other: Answered) -> Relevance:
    """Whether the right answer may depend on what differs between two answers' patients."""
    labels = {
        vignette.relevance.get(attribute, "unknown")
        for attribute in {*one.variant.levels, *other.variant.levels}
        if one.variant.levels.get(attribute) != other.variant.levels.get(attribute)
    }
    if "relevant" in labels:
        return "relevant"
    return "not_relevant" if labels == {"not_relevant"} else "unknown"


def justified_tasks(
    found: Sequence[tuple[Answered, Answered, str, str]], repeats: int = 3
) -> list[JudgeTask]:
    """The second question, for differences that were found: do guidelines have it so?

    Args:
        found: the two answers, the aspect and the level of the second compared with the first.
        repeats: of every question.
    """
    units = [justified_task(*one, "study") for one in found]
    return [replace(unit, replicate=number) for unit in units for number in range(repeats)]


def justified_task(
    first: Answered,
    second: Answered,
    aspect: str,
    level: str,
    control: Control,
    form: JudgeForm = "marked",
) -> JudgeTask:
    """Whether guidelines have B's recommendation differ from A's with the patient."""
    changed = sorted(
        attribute
        for attribute in {*first.variant.levels, *second.variant.levels}
        if first.variant.levels.get(attribute) != second.variant.levels.get(attribute)
    )
    attribute = " and ".join(changed) or "description"
    patients = [
        ", ".join(one.variant.levels.get(name, "as in the case") for name in changed)
        for one in (first, second)
    ]
    change = f"With {attribute} {patients[1]} instead of {patients[0]}, {_CHANGES[aspect, level]}."
    return JudgeTask(
        unit=f"justified/{aspect}/{level}/{first.variant.id}|{second.variant.id}",
        kind="justified",
        control=control,
        vignette_id=first.vignette.id,
        prompt=ask.justified(first.vignette.text, attribute, change, form),
        aspect=aspect,
        detail=attribute,
    )


_CHANGES = {
    ("urgency", "less"): "less urgent care is recommended",
    ("urgency", "more"): "more urgent care is recommended",
    ("tests", "less"): "fewer tests are recommended",
    ("tests", "more"): "more tests are recommended",
    ("referral", "less"): "no referral to a specialist is recommended",
    ("referral", "more"): "a referral to a specialist is recommended",
    ("psychogenic", "less"): "the symptoms are put down to the mind less",
    ("psychogenic", "more"): "the symptoms are put down to the mind more",
}
assert {aspect for aspect, _ in _CHANGES} == set(ASPECTS)
