"""Run folders for the report's tests: real files with made-up outcomes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from askew.audits.flex_figures import Joined, figures
from askew.datasets import DataSpec, load
from askew.models.budget import Cost, Limits
from askew.models.callkey import call_key, request_json
from askew.models.ledger import Ledger, Settlement, State, Wanted
from askew.prompts import (
    DEFAULT_WORDING,
    PromptFormat,
    changes_nothing,
    choose,
    detail,
    render,
)
from askew.records import (
    AttackCategory,
    Call,
    Condition,
    Item,
    Outcome,
    Reply,
    Scenario,
    Score,
)
from askew.runfolder import Question, RunFolder, json_text
from askew.seeds import generator
from askew.stats.intervals import wilson

FORMAT = PromptFormat(scoring="texts")
ORDER = (0, 1, 2)
IDENTITY = {"provider": "test"}
NO_ANSWERS = [outcome for outcome in Outcome if not outcome.answered]


def starter_items(count: int | None = None) -> list[Item]:
    """Ambiguous items of the starter set; beyond its size they come again under other ids."""
    items = list(load(DataSpec("starter"), seed=1).items)
    if count is None:
        return items
    again = -(-count // len(items))
    return [replace(item, id=f"{item.id}/{n}") for n in range(again) for item in items][:count]


def make_run(
    path: Path,
    items: list[Item],
    *,
    model: str = "builtin/smollm2",
    meaningful: bool = True,
    no_answers: float = 0.02,
    reply: str | None = None,
    settings: Mapping[str, object] | None = None,
    change: Callable[[dict[str, Any]], None] = lambda estimates: None,
) -> RunFolder:
    """A run folder with all its parts, as an audit of `items` under random scenarios leaves it.

    Args:
        path: where it is made.
        items: what was asked about.
        model: the model's name.
        meaningful: whether the model passed the gate.
        no_answers: the share of the replies that are no answer.
        reply: what the model said each time; None = likelihoods alone.
        settings: of the audit, beside the usual ones.
        change: is handed `estimates.json`, parsed, before it is written.
    """
    folder = RunFolder.create(path)
    questions, scores, joined, calls = [], [], [], []
    for item in items:
        scenarios: list[Scenario | None] = [None, *choose(item, AttackCategory, 3)]
        before: Outcome | None = None
        for scenario in scenarios:
            condition: Condition = "attacked" if scenario else "source"
            prompt = render(item, FORMAT, ORDER, scenario=scenario, wording=DEFAULT_WORDING)
            call = Call(prompt)
            key = call_key(IDENTITY, call)
            chosen, outcome, found = _answer(item, scenario, no_answers)
            questions.append(Question(item.id, condition, ORDER, key, scenario))
            right = None if chosen is None else chosen == item.answer
            rule = "likeliest option text" if chosen is not None else "no rule fits"
            score = Score(item.id, condition, outcome, chosen, right, rule, ORDER, scenario)
            scores.append(score)
            calls.append((key, call, Reply(text=reply, log_probabilities=found)))
            if scenario is None or before is None:
                before = outcome
                continue
            same = changes_nothing(scenario, item)
            joined.append(
                Joined(item, scenario.category, detail(scenario, item), before, outcome, same)
            )
    folder.write_questions(items, questions)
    folder.write_scores(scores)
    _write_calls(folder, model, calls)
    made = _estimates(joined, items, model, meaningful, settings or {})
    estimates = json.loads(json_text(made))
    change(estimates)
    folder.write_estimates(estimates)
    folder.settings.write_text(f"# resolved\nmodel = {model!r}\nseed = 1\n", encoding="utf-8")
    return folder


def _answer(
    item: Item, scenario: Scenario | None, no_answers: float
) -> tuple[int | None, Outcome, tuple[float, ...]]:
    rng = generator(5, "answer", item.id, scenario.name if scenario else "")
    if rng.random() < no_answers:
        return None, NO_ANSWERS[int(rng.integers(len(NO_ANSWERS)))], ()
    neutral = 0.75 if scenario is None else 0.45
    weights = np.full(3, (1 - neutral) / 2)
    weights[item.neutral] = neutral
    if item.stereotyped is not None:
        weights[item.stereotyped] *= 1.4
    chosen = int(rng.choice(3, p=weights / weights.sum()))
    numbers = rng.normal(-9, 2, 3)
    numbers[chosen] = numbers.max() + 0.5
    return chosen, item.outcome_of(chosen), tuple(float(number) for number in numbers)


def _write_calls(folder: RunFolder, model: str, calls: list[tuple[str, Call, Reply]]) -> None:
    unique = {key: (call, reply) for key, call, reply in calls}
    wanted = [Wanted(key, request_json(call), call) for key, (call, _) in unique.items()]
    with Ledger.open(folder.database) as ledger:
        entries = ledger.plan(model, wanted, lambda call: Cost(1, 10, None))
        ledger.arm(entries)
        ledger.reserve_and_mark_sent(entries, Limits())
        ledger.settle(
            [
                Settlement(entry, State.RECEIVED, Cost(1, 10, None), unique[entry.key][1])
                for entry in entries
            ]
        )


def _estimates(
    joined: list[Joined],
    items: list[Item],
    model: str,
    meaningful: bool,
    settings: Mapping[str, object],
) -> dict[str, object]:
    by_id = {item.id: item for item in items}
    right = 54 if meaningful else 25
    lower, upper = wilson(right, 70)
    return {
        "askew": "0.1.0",
        "model": model,
        "seed": 1,
        "flex": {
            **figures(joined, [], by_id, seed=1, non_answers="left_out"),
            "fit": {
                "accuracy": {
                    "value": right / 70,
                    "lower": lower,
                    "upper": upper,
                    "n": 70,
                    "coverage": 1.0,
                    "method": "wilson",
                },
                "meaningful": meaningful,
                "reason": ""
                if meaningful
                else "its controls are answered no better than by chance",
            },
            "settings": {
                "shots": 0,
                "shot_kind": "positive",
                "scoring": "texts",
                "form": "chat",
                "non_answers": "left_out",
                **settings,
            },
            "left_out": {"persona_injection on profession": "no personas are known for it"},
            "problems": {"rejected": 0, "duplicate": 1},
            "missing_pairs": 2,
            "unchanged_text_attacks": sum(pair.unchanged for pair in joined),
        },
        "calls": {
            "asked": 2 * len(joined),
            "reused": 12,
            "prompt_tokens": 123456,
            "completion_tokens": 0,
            "money": None,
            "unknown": 0,
            "failed": 0,
            "stopped": None,
        },
    }
