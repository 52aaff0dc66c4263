"""Which scenarios fit an item, and how many may come to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from askew.build.settings import BuildConfig
from askew.prompts.scenarios import changes_nothing, scenarios_for
from askew.prompts.text_attack import text_attack_kinds
from askew.records import AttackCategory, Item, Scenario


def fitting(item: Item, category: AttackCategory, config: BuildConfig) -> tuple[Scenario, ...]:
    """The scenarios of a category that fit the item now, without text attacks that change nothing.

    Those that are made are checked; a data set may bring one that leaves its question as it was.
    """
    return tuple(
        scenario
        for scenario in scenarios_for(item, category, config.wording)
        if not changes_nothing(scenario, item)
    )


def to_build_from(item: Item, config: BuildConfig) -> Item:
    """The item as the build takes it: with the text attacks that it brings, or without."""
    return item if config.keep_text_attacks else replace(item, text_attacks={})


def scenario_counts(items: Sequence[Item], config: BuildConfig) -> list[int]:
    """How many scenarios fit each item; text attacks still to be made count as if they passed."""
    # Without plug-ins the bias type decides about personas and objectives.
    by_type: dict[str, int] = {}
    counts = []
    for item in items:
        instructed = None if config.wording.plug_ins else by_type.get(item.bias_type)
        if instructed is None:
            instructed = sum(
                len(scenarios_for(item, category, config.wording))
                for category in config.categories
                if category is not AttackCategory.TEXT_ATTACK
            )
            by_type[item.bias_type] = instructed
        counts.append(instructed + len(text_kinds(item, config)))
    return counts


def text_kinds(item: Item, config: BuildConfig) -> set[str]:
    """The text attacks that an item may come to have: its own, and those to be made."""
    if AttackCategory.TEXT_ATTACK not in config.categories:
        return set()
    return {*text_attack_kinds(item), *config.text_attacks}
