"""Questions and scores as Inspect's samples hold them, and back. Pure.

A sample's metadata say all that a run folder needs: a log of `askew/flex` is read without the data
set.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import TypeAdapter

from askew.audits import flex
from askew.errors import ConfigError, RunError
from askew.models.inspect_ai import reply_of
from askew.prompts.choice import LETTERS
from askew.records import AttackCategory, Item, Message, Outcome, Prompt, Scenario, Score
from askew.runfile import RunFile, checked
from askew.runfolder import Question, item_from_json, json_line
from askew.scores.outcome import ScoreSettings, score_reply

ENDINGS = (".eval", ".json")  # of Inspect's logs
SCORER = "outcome"
SOLVER = "askew/ask"
REPLY = "askew_reply"  # in an output's metadata: our reply, of which Inspect's form lacks parts
TASK_MODEL = "inspect/model"  # stands for the one that Inspect asks, which a task does not know
_ITEM = TypeAdapter(Item)
SETTINGS = "askew_settings"  # in the log's metadata: the settings that its questions were made by


def sample_id(asked: flex.Asked) -> str:
    """Item, condition or scenario, order; replicates of a question are epochs of a sample."""
    scenario = asked.scenario
    what = f"{scenario.category}.{scenario.name}" if scenario else asked.condition
    return f"{asked.item.id}/{what}/{_order(asked)}"


def metadata_of(asked: flex.Asked, place: int) -> dict[str, object]:
    """What a sample bears besides its messages; `place` is where the question stands in the run."""
    item, scenario = asked.item, asked.scenario
    return {
        "item_id": item.id,
        "condition": asked.condition,
        "category": scenario.category.value if scenario else None,
        "scenario": scenario.name if scenario else None,
        "bias_type": item.bias_type,
        "source": item.source,
        "option_order": _order(asked),
        "place": place,
        "item": json.loads(json_line(item)),
    }


def asked_of(
    metadata: Mapping[str, Any], messages: Sequence[Message], replicate: int, run: RunFile
) -> flex.Asked:
    """The question that `metadata_of` has written down, with the prompt that was shown.

    Raises:
        KeyError, TypeError, ValueError: the metadata are not askew's.
    """
    strangers = {message.role for message in messages} - {"system", "user", "assistant"}
    if strangers:
        raise ValueError(f"a message of the role {min(strangers)!r}")
    condition, category = metadata["condition"], metadata["category"]
    if condition not in ("source", "attacked", "control"):
        raise ValueError(f"the condition {condition!r}")
    if (condition == "attacked") != bool(category):
        raise ValueError(f"the condition {condition!r} and the category {category!r}")
    first, second, third = (int(digit) for digit in metadata["option_order"])
    if {first, second, third} != {0, 1, 2}:
        raise ValueError(f"the order {metadata['option_order']!r}")
    # The release's form is one text, which Inspect shows as the user's message.
    plain = run.flex.prompt == "flex" and len(messages) == 1
    return flex.Asked(
        _item_of(metadata["item"]),
        condition,
        (first, second, third),
        Prompt(text=messages[0].content) if plain else Prompt(messages=tuple(messages)),
        Scenario(AttackCategory(category), str(metadata["scenario"])) if category else None,
        replicate,
    )


def _item_of(record: object) -> Item:
    """An item of a log, which anybody may have written.

    Raises:
        ValueError: it is none.
    """
    item: Item = _ITEM.validate_python(record)
    places = [item.neutral, item.answer]
    if item.stereotyped is not None:
        places.append(item.stereotyped)
    if not set(places) <= {0, 1, 2} or item.stereotyped == item.neutral:
        raise ValueError(f"an item whose options {places} are not among three")
    return item


def shown_options(asked: flex.Asked) -> list[str]:
    """The options in the order shown."""
    return [asked.item.options[option] for option in asked.order]


def target_of(asked: flex.Asked) -> str:
    """The letter of the right option, as shown."""
    return LETTERS[asked.order.index(asked.item.answer)]


def score_fields(score: Score) -> dict[str, Any]:
    """A score as the fields of Inspect's `Score`: the outcome is the value, the rule says why."""
    chosen = None if score.chosen is None else LETTERS[score.order.index(score.chosen)]
    return {
        "value": score.outcome.value,
        "answer": chosen,
        "explanation": score.rule,
        "metadata": {
            "chosen": score.chosen,
            "right": score.right,
            "rule": score.rule,
            "replicate": score.replicate,
        },
    }


def read_output(
    metadata: Mapping[str, Any], output: Any, replicate: int, paraphrase: str
) -> dict[str, Any]:
    """Inspect's `ModelOutput` for one sample, read by our rules; the fields of its `Score`."""
    category = metadata["category"]
    first, second, third = (int(digit) for digit in metadata["option_order"])
    score = score_reply(
        item_from_json(metadata["item"]),
        reply_of(output),
        condition=metadata["condition"],
        order=(first, second, third),
        scoring="reply",
        scenario=Scenario(AttackCategory(category), metadata["scenario"]) if category else None,
        settings=ScoreSettings(paraphrase=paraphrase),  # type: ignore[arg-type]  # checked before
        replicate=replicate,
    )
    return score_fields(score)


def figures_of(
    scored: Iterable[tuple[Mapping[str, Any], Any]],
    *,
    seed: int,
    non_answers: str,
    pairs: int | None = None,
) -> dict[str, Any]:
    """The `flex` part of `estimates.json`, from samples' metadata and their scores in Inspect.

    Args:
        scored: for each sample and epoch its metadata and its `Score`.
        seed: of the bootstrap.
        non_answers: see `stats.robustness`.
        pairs: that the task asks for in one epoch; None: those of which the attacked question
            was scored. Pairs that are not there lower the coverage.
    """
    rows = sorted(
        ((m["place"], s.metadata["replicate"], m, s) for m, s in scored), key=lambda row: row[:2]
    )
    items = {m["item_id"]: item_from_json(m["item"]) for _, _, m, _ in rows}
    scores = [_score(metadata, score) for _, _, metadata, score in rows]
    questions = [
        Question(one.item_id, one.condition, one.order, "", one.scenario, one.replicate)
        for one in scores
    ]
    config = flex.FlexConfig()
    config = replace(config, non_answers=non_answers)  # type: ignore[arg-type]  # checked before
    found = flex.estimate(questions, scores, items, config, seed)
    seen = sum(question.condition == "attacked" for question in questions)
    epochs = max((replicate for _, replicate, _, _ in rows), default=0) + 1
    total = seen if pairs is None else max(seen, pairs * epochs)
    absent = total - seen
    missing = found["missing_pairs"]
    assert isinstance(missing, int)
    return {
        **found,
        "planned_pairs": total,
        "missing_pairs": missing + absent,
        "share_seen": seen / total if total else 1.0,
    }


def _score(metadata: Mapping[str, Any], score: Any) -> Score:
    category = metadata["category"]
    first, second, third = (int(digit) for digit in metadata["option_order"])
    more = score.metadata
    return Score(
        item_id=metadata["item_id"],
        condition=metadata["condition"],
        outcome=Outcome(score.value),
        chosen=more["chosen"],
        right=more["right"],
        rule=more["rule"],
        order=(first, second, third),
        scenario=Scenario(AttackCategory(category), metadata["scenario"]) if category else None,
        replicate=more["replicate"],
    )


_FIGURES = {
    "asr": "attack_success_rate",
    "acc_s": "source_accuracy",
    "acc_f": "flex_accuracy",
    "change": "accuracy_change",
}


def _values(found: Mapping[str, Any]) -> dict[str, float]:
    values = {name: found[figure]["overall"].value for name, figure in _FIGURES.items()}
    coverage = found["source_accuracy"]["overall"].coverage * found["share_seen"]
    return {**values, "coverage": coverage}


def _intervals(found: Mapping[str, Any]) -> dict[str, float]:
    ends: dict[str, float] = {}
    for name, figure in _FIGURES.items():
        estimate = found[figure]["overall"]
        ends |= {f"{name}_lower": estimate.lower, f"{name}_upper": estimate.upper}
    return {**ends, "change_p_value": found["test"]["overall"].p_value}


def _further(found: Mapping[str, Any]) -> dict[str, float]:
    success = found["attack_success_rate"].get("category", {})
    by_category = {f"asr_{name}": estimate.value for name, estimate in success.items()}
    counts = {}
    for condition in ("source", "attacked"):
        outcomes = found[f"outcomes_{condition}"]["overall"]
        for kind in ("refused", "unreadable", "truncated", "blocked", "error"):
            counts[f"{condition}_{kind}"] = float(outcomes.get(kind, 0))
    return {
        **by_category,
        "pairs": float(found["planned_pairs"]),
        "missing_pairs": float(found["missing_pairs"]),
        **counts,
        "control_accuracy": found["fit"].accuracy.value,
        "fit": float(found["fit"].meaningful),
    }


# Group of metrics -> its values from `figures_of`; the groups are metrics in `inspect_tasks`.
VALUES: dict[str, Callable[[Mapping[str, Any]], dict[str, float]]] = {
    "robustness": _values,
    "intervals": _intervals,
    "categories_and_outcomes": _further,
}


def metric_arguments(run: RunFile, pairs: int) -> dict[str, Any]:
    """What the metrics need to know besides the scores."""
    return {"pairs": pairs, "seed": run.seed, "non_answers": run.flex.non_answers}


def settings_of(run: RunFile) -> dict[str, object]:
    """What another machine needs to read the replies: no path, no address, no option of a model."""
    target = run.target
    table = run.flex.model_dump(mode="json")
    for source in table["data"]:
        source.pop("path")
    table["wording"].pop("published")
    return {
        "seed": run.seed,
        "flex": table,
        "target": {
            "name": target.name,
            "temperature": target.temperature,
            "max_tokens": target.max_tokens,
            "top_p": target.top_p,
            "seed": target.seed,
            "stop": list(target.stop),
        },
    }


def run_of(settings: Mapping[str, Any], log: str) -> RunFile:
    """The run file that `settings_of` was taken from, as far as it tells.

    Raises:
        RunError: the settings are not askew's, or of another version.
    """
    try:
        target = {name: value for name, value in settings["target"].items() if value is not None}
        values = {"seed": settings["seed"], "models": {"target": target}, "flex": settings["flex"]}
        return checked(values, where=log).settled()
    except (KeyError, TypeError, AttributeError, ConfigError) as trouble:
        raise RunError(
            f"{log}: the settings that askew has written into its metadata cannot be read: "
            f"{trouble}. Import it with the version of askew that wrote it."
        ) from trouble


def _order(asked: flex.Asked) -> str:
    return "".join(map(str, asked.order))
