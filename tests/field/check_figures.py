"""Cases about figures and the order of options: `flex.metrics`, `flex.options`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from askew.audits.flex import FlexConfig, as_questions, calls_of, load_study, questions
from askew.audits.flex_figures import figures
from askew.datasets import DataSpec, load
from askew.models.base import ModelSpec
from askew.models.chat_api import ChatApi
from askew.prompts.choice import PromptFormat, option_order, render
from askew.records import AttackCategory, Item, Outcome
from askew.stats.rates import ambiguous_bias_score
from tests.field.audits import own_items, write_lines
from tests.field.check_data import bbq_row
from tests.field.folder import Case, CaseFolder
from tests.field.gold_answers import item_of, reply_of, score_of
from tests.field.registry import check


@check("case-03")
def biased_follows_the_polarity_of_the_question(case: Case, folder: CaseFolder, work: Path) -> None:
    predictions = case["input"]["predictions"]
    items = _controls(predictions, work)
    places = {"stereotyped group": "A", "other group": "B", "unknown": "C"}
    scores = [
        replace(score_of(reply_of(places[prediction["picked"]], "stop"), item), condition="control")
        for item, prediction in zip(items, predictions, strict=True)
    ]
    chosen = [p for p in predictions if p["picked"] != "unknown"]
    biased = sum((p["polarity"] == "neg") == (p["picked"] == "stereotyped group") for p in chosen)
    expected = 2 * biased / len(chosen) - 1
    by_id = {item.id: item for item in items}
    found: Any = figures([], scores, by_id, seed=0, non_answers="left_out")
    assert found["disambiguated_bias_score"]["overall"] == pytest.approx(expected)
    outcomes = [score.outcome for score in scores]
    counts = outcomes.count(Outcome.STEREOTYPED), outcomes.count(Outcome.ANTISTEREOTYPED)
    assert ambiguous_bias_score(0.0, *counts) == pytest.approx(expected)


def _controls(predictions: list[dict[str, str]], work: Path) -> list[Item]:
    """BBQ rows whose first answer is the stereotyped group, with the release's metadata beside.

    Its `target_loc` names the answer that follows the stereotype: in questions that are not
    negative ("who is good with phones?") that is the other group.
    """
    rows, targets = [], ["category,question_index,example_id,target_loc"]
    for number, prediction in enumerate(predictions):
        polarity = prediction["polarity"]
        changes = {"question_polarity": polarity, "context_condition": "disambig"}
        rows.append(bbq_row(number, ("The aunt", "The nephew", "Unknown"), 0, **changes))
        targets.append(f"Age,1,{number},{0 if polarity == 'neg' else 1}")
    (work / "additional_metadata.csv").write_text("\n".join(targets))
    return list(load(DataSpec("bbq", write_lines(work / "Age.jsonl", rows))).controls)


@check("case-53")
def the_label_follows_shuffled_options(case: Case, folder: CaseFolder, work: Path) -> None:
    options, label = case["input"]["options"], case["input"]["label"]
    names = dict(zip("ABC", options, strict=True))
    item = item_of({"question": "Who?", **names, "unknown": "ABC"[label]})
    orders = set()
    for seed in case["input"]["seeds"]:
        order = option_order(item, seed, "shuffled")
        orders.add(order)
        prompt = render(item, PromptFormat(scoring="texts"), order)
        assert prompt.choices == tuple(options[place] for place in order)
        _check_run_order(work, seed)
    assert len(orders) > 1, "nothing was shuffled"


def _check_run_order(work: Path, seed: int) -> None:
    """In a whole study: one order an item, whatever else is asked, and it is in the record."""
    few, many = _orders(work, 3, seed), _orders(work, 8, seed)
    assert few == {name: many[name] for name in few}
    assert all(len(found) == 1 for found in many.values())


def _orders(work: Path, count: int, seed: int) -> dict[str, set[tuple[int, ...]]]:
    """Item -> the orders recorded for its questions; each prompt is checked against its record."""
    data = own_items(work, count)
    config = FlexConfig(
        data=(DataSpec("own", data["path"]),),
        controls=0,
        categories=(AttackCategory.PERSONA_INJECTION, AttackCategory.COMPETING_OBJECTIVES),
        prompt_format=PromptFormat(scoring="texts"),
        option_order="shuffled",
    )
    study = load_study(config, seed)
    asked = questions(study, config, seed)
    assert {one.condition for one in asked} == {"source", "attacked"}
    for one in asked:
        neutral = one.prompt.choices[one.order.index(one.item.neutral)]
        assert neutral == one.item.options[one.item.neutral]
    model = ChatApi(ModelSpec(name="openai/toy", base_url="http://127.0.0.1:9"))
    found: dict[str, set[tuple[int, ...]]] = {}
    for question in as_questions(asked, calls_of(asked, config), model):
        found.setdefault(question.item_id, set()).add(question.order)
    return found
