"""The configurations of the published tables and figures: each makes runs that can be started."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "reproduce" / "flex.py"
# FLEX, Table 5, and §4.2 for GPT-4: the models by their ids.
TABLE_5 = {
    "Llama2-7b": "local/meta-llama/Llama-2-7b-chat-hf",
    "Llama2-13b": "local/meta-llama/Llama-2-13b-chat-hf",
    "Llama3-8b": "local/meta-llama/Meta-Llama-3-8B-Instruct",
    "Solar-10.7b": "local/upstage/SOLAR-10.7B-Instruct-v1.0",
    "Mistral-7b": "local/mistralai/Mistral-7B-Instruct-v0.2",
    "Gemma-7b": "local/google/gemma-1.1-7b-it",
    "GPT-4": "openai/gpt-4o",
}


def load_script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("reproduce_flex", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


reproduce = load_script()


@pytest.mark.parametrize("name", reproduce.configurations())
def test_a_configuration_makes_runs_for_every_model_of_table_5(name):
    runs = list(reproduce.run_files(name))
    assert {model: run.target.name for model, run in runs} == TABLE_5
    for model, run in runs:
        config = run.settled().flex_config()
        assert config.data[0].name == "flex"
        assert run.flex.wording.persona_style == "paper"
        if model == "GPT-4":
            assert (run.flex.scoring, run.target.temperature) == ("reply", 1.0)
        else:
            assert (run.flex.scoring, run.flex.prompt) == ("letters", "flex")


def test_figure_4_asks_every_number_and_kind_of_shots_once():
    runs = [run for model, run in reproduce.run_files("flex_figure_4") if model == "Gemma-7b"]
    asked = sorted((run.flex.shots, run.flex.shot_kind) for run in runs)
    kinds = [(k, kind) for k in range(1, 6) for kind in ("negative", "positive")]
    assert asked == [(0, "positive"), *kinds]


def test_the_tables_are_zero_shot_with_the_assigned_scenarios():
    for name in ("flex_table_1", "flex_table_6", "flex_figure_3"):
        for _, run in reproduce.run_files(name):
            assert (run.flex.shots, run.flex.scenarios) == (0, "assigned")
