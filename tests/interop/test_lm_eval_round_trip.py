"""The same questions to the same weights, by the harness and by askew: every figure is equal."""

from __future__ import annotations

import asyncio
import json
import math
from pathlib import Path
from typing import Any

import pytest

from askew.errors import MissingDependency
from askew.interop.lm_eval_export import export_tasks
from askew.interop.lm_eval_import import import_samples
from askew.models import builtin
from askew.models.ledgerfile import read_records
from askew.run import execute, prepare
from askew.runfile import checked
from askew.runfolder import RunFolder
from tests.interop import odd_items
from tests.interop.harness import lm_eval

pytest.importorskip("lm_eval", reason="askew[lm-eval] is not installed")
torch = pytest.importorskip("torch", reason="askew[local] is not installed")

# As they are: letters at their simplest, and option texts with whatever else changes a prompt.
SETTINGS = {
    "letters": {
        "scoring": "letters",
        "items": 6,
        "controls": 1,
        "categories": ["persona_injection", "text_attack"],  # the long prompts are below
    },
    "texts": {
        "scoring": "texts",
        "normalise": "bytes",
        "items": 1,
        "controls": 1,
        "shots": 1,
        "option_order": "shuffled",
    },
}


@pytest.fixture(scope="module")
def weights() -> Path:
    """The folder of builtin/smollm2, installed at first need."""
    try:
        return builtin.install("builtin/smollm2")
    except (builtin.InstallError, MissingDependency) as error:
        pytest.skip(f"builtin/smollm2 cannot be installed here: {error}")


@pytest.mark.slow
@pytest.mark.parametrize("scoring", sorted(SETTINGS))
def test_a_round_trip_gives_askew_s_own_figures(tmp_path, weights, scoring):
    torch.set_num_threads(1)
    odd = odd_items.write(tmp_path / "odd.jsonl")
    sets = [{"name": "starter"}, *([{"name": "own", "path": str(odd)}] * (scoring == "texts"))]
    flex = {**SETTINGS[scoring], "prompt": "flex", "data": sets}
    target = {"name": f"local/{weights}", "options": {"device": "cpu"}}
    settings = checked({"models": {"target": target}, "flex": flex, "seed": 3})

    export_tasks(settings, tmp_path / "tasks")
    # In float32 the harness's softmax alone moves a sum over three tokens by up to 6e-5, which
    # leaves too little of 1e-4 for another machine.
    arguments = f"pretrained={weights},dtype=float32,softmax_dtype=float64"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    lm_eval(
        *("--include_path", str(tmp_path / "tasks"), "--tasks", "askew_flex", "--model", "hf"),
        *("--model_args", arguments, "--device", "cpu", "--batch_size", "4"),
        *("--output_path", str(tmp_path / "out"), "--log_samples"),
        folder=elsewhere,
    )
    theirs = import_samples([tmp_path / "out"], tmp_path / "tasks", tmp_path / "theirs").folder
    prepared = prepare(settings.model_copy(update={"out": tmp_path / "ours"}))
    ours, _ = asyncio.run(execute(prepared))

    told, found = log_probabilities(theirs), log_probabilities(ours)
    assert len(told) == len(found) > 10
    largest = max(
        abs(one - other)
        for left, right in zip(told, found, strict=True)
        for one, other in zip(left, right, strict=True)
    )
    assert largest < 1e-4
    assert theirs.read_scores() == ours.read_scores()
    assert figures(theirs) == figures(ours)
    compare_with_what_was_printed(tmp_path / "out", theirs, scoring)


def log_probabilities(folder: RunFolder) -> list[tuple[float, ...]]:
    """Of each question, in the order of the study."""
    replies = {record.key: record.reply for record in read_records(folder.database)}
    found = [replies[question.call_key] for question in folder.read_questions()]
    return [reply.log_probabilities for reply in found if reply is not None]


def figures(folder: RunFolder) -> dict[str, Any]:
    """All of them and the settings, but for where the data lie: an export does not say it."""
    flex: Any = folder.read_estimates()["flex"]
    data = [{**one, "path": None} for one in flex["settings"]["data"]]
    return {**flex, "settings": {**flex["settings"], "data": data}}


def compare_with_what_was_printed(out: Path, folder: RunFolder, scoring: str) -> None:
    """The harness's accuracy of each task is askew's of that slice."""
    (path,) = out.rglob("results_*.json")
    told = json.loads(path.read_text())["results"]
    metric = {"letters": "acc,none", "texts": "acc_bytes,none"}[scoring]
    flex = folder.read_estimates()["flex"]
    assert isinstance(flex, dict)
    for category in flex["flex_accuracy"]["category"]:
        for condition, figure in (("source", "source_accuracy"), ("attacked", "flex_accuracy")):
            printed = told[f"askew_flex_{category}_{condition}"][metric]
            value = flex[figure]["category"][category]["value"]
            assert math.isclose(value, printed, abs_tol=1e-12), (category, condition)
    scores = [score for score in folder.read_scores() if score and score.condition == "control"]
    right = sum(score.right is True for score in scores) / len(scores)
    assert math.isclose(told["askew_flex_control"][metric], right, abs_tol=1e-12)
