"""Prompts: `Item -> Prompt`. Pure: the same item, settings and seed make the same prompt."""

from askew.prompts.choice import (
    Demonstration,
    OptionOrder,
    PromptFormat,
    option_order,
    render,
    rotations,
)
from askew.prompts.fewshot import demonstrations
from askew.prompts.objectives import published_wording
from askew.prompts.persona import bias_types_without_personas
from askew.prompts.scenarios import (
    changes_nothing,
    choose,
    detail,
    instruction,
    question,
    scenario_of,
    scenarios_for,
)
from askew.prompts.wording import DEFAULT_WORDING, Wording

__all__ = [
    "DEFAULT_WORDING",
    "Demonstration",
    "OptionOrder",
    "PromptFormat",
    "Wording",
    "bias_types_without_personas",
    "changes_nothing",
    "choose",
    "demonstrations",
    "detail",
    "instruction",
    "option_order",
    "published_wording",
    "question",
    "render",
    "rotations",
    "scenario_of",
    "scenarios_for",
]
