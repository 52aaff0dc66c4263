"""Answers to judge, and judges of known error, asked through the real ledger and runner."""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from askew.audits.judge_tasks import JudgePlan, PlannedTasks, plan_tasks
from askew.audits.judging import Judgement, judge, read
from askew.models.base import ModelSpec
from askew.models.budget import Limits
from askew.models.ledger import Ledger
from askew.models.python_app import PythonApp
from askew.models.runner import Runner
from askew.records import Provenance, Reply
from askew.vignettes import Answered, ClinicalAnswer, Variant, Vignette

URGENT = "Go to the emergency department now."
CALM = "This can wait for a routine visit."


def vignette(number: int, **more: object) -> Vignette:
    """One case."""
    text = f"A 40-year-old man has had chest pain number {number} since noon."
    return Vignette(f"own/{number}", "own", text, Provenance("own.jsonl", number), **more)


def answered(
    case: Vignette,
    text: str,
    *,
    gender: str | None = None,
    replicate: int = 0,
    form: str = "direct",
    outcome: str = "answered",
) -> Answered:
    """One answer to the original, or to the twin of a gender."""
    levels = {} if gender is None else {"gender": gender}
    arm = "original" if gender is None else f"gender={gender}"
    wording = case.text if gender is None else case.text.replace("man", gender)
    variant = Variant(f"{case.id}/{arm}", case.id, arm, levels, wording)
    return Answered(case, variant, form, replicate, ClinicalAnswer(outcome, text))


def answers(count: int, lowered: float = 0.0, seed: int = 0, **more: object) -> list[Answered]:
    """Two answers to each original and two to each woman's twin, a share of those less urgent."""
    rng = random.Random(seed)
    made = []
    for number in range(count):
        case = vignette(number, **more)
        for replicate in range(2):
            body = f"Case {number}, answer {replicate}. An ECG is needed."
            made.append(answered(case, f"{body} {URGENT}", replicate=replicate))
            told = CALM if rng.random() < lowered else URGENT
            made.append(answered(case, f"{body} {told}", gender="woman", replicate=replicate))
    return made


def mask(text: str) -> str:
    """Covers the words that the cases above use."""
    return re.sub(r"\b(?:\d+-year-old|wo)?man\b|\b\d+-year-old\b", "[patient]", text)


def plan(made: Sequence[Answered], seed: int = 0, **sizes: object) -> PlannedTasks:
    """The tasks of a run on these answers."""
    return plan_tasks(made, JudgePlan(**sizes), seed, mask)


def shown(prompt: str) -> dict[str, str]:
    """The texts that a prompt of ours shows."""
    start = prompt.index("{", prompt.index("\n\n"))
    record: dict[str, str] = json.JSONDecoder().raw_decode(prompt, start)[0]
    return record


def is_urgent(text: str) -> bool:
    """Whether an answer above sends the patient to be seen at once."""
    return "emergency" in text


class PairJudge:
    """Compares two answers' urgency; errs at known rates, drawn anew for every call.

    `misses`: share of differences called "same". `invents`: share of equal pairs called different.
    `invalid`: share of replies that are prose.
    """

    def __init__(
        self, *, misses: float = 0.0, invents: float = 0.0, invalid: float = 0.0, seed: int = 0
    ) -> None:
        self.misses, self.invents, self.invalid = misses, invents, invalid
        self.rng = random.Random(seed)

    def __call__(self, prompt: str) -> str:
        if self.rng.random() < self.invalid:
            return "B strikes me as rather less urgent, about 0.4."
        texts = shown(prompt)
        first, second = is_urgent(texts["A"]), is_urgent(texts["B"])
        if first == second:
            level = "same"
            if self.rng.random() < self.invents:
                level = self.rng.choice(("less", "more"))
        elif self.rng.random() < self.misses:
            level = "same"
        else:
            level = "less" if first else "more"
        return json.dumps({"level": level, "quote": "" if level == "same" else texts["B"][:30]})


def asked(
    tasks: PlannedTasks,
    functions: dict[str, Callable[[str], object]],
    path: Path,
    *,
    limits: Limits | None = None,
    re_asks: int = 1,
) -> list[Judgement]:
    """The judgements of the judges that these functions are."""

    async def ask() -> list[Judgement]:
        with Ledger.open(path) as ledger:
            runner = Runner(ledger, limits=limits, reuse=[])
            judges = {name: model_of(name, function) for name, function in functions.items()}
            return await judge(tasks.tasks, judges, lambda model: runner, re_asks=re_asks)

    return asyncio.run(ask())


def model_of(name: str, function: Callable[[str], object]) -> PythonApp:
    """A function as the model of that name; every test has a ledger of its own."""

    def reply(prompt: str) -> object:
        return function(prompt)

    return PythonApp(ModelSpec(name=name, revision="scripted"), reply)


def read_directly(
    tasks: PlannedTasks, functions: dict[str, Callable[[str], object]]
) -> list[Judgement]:
    """The same without a ledger: for many simulated studies."""
    return [
        read(task, Reply(str(function(task.prompt.messages[-1].content))), name)
        for name, function in functions.items()
        for task in tasks.tasks
    ]
