"""The registry of extreme scenarios: which ones fit an item, and what each of them says.

A scenario either puts an instruction before the query or replaces the question:

    category               names                                 says
    persona_injection      the personas of the item's bias type  an instruction
    competing_objectives   dan, stan, dude, …; plug-ins          an instruction
    text_attack            character, word, sentence_v1, …       a changed question
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from importlib.metadata import entry_points
from typing import Literal

from askew.datasets.bias_types import canonical_bias_type
from askew.errors import ConfigError, DataError, bad_field, unknown_name
from askew.prompts.objectives import objective_instruction
from askew.prompts.persona import (
    persona_instruction,
    personas,
    released_personas,
)
from askew.prompts.text_attack import (
    TEXT_ATTACKS,
    attacked_question,
    changes_nothing_of,
    text_attack_kinds,
)
from askew.prompts.wording import DEFAULT_WORDING, OBJECTIVES, Wording
from askew.records import Assignment, AttackCategory, Item, Scenario
from askew.seeds import generator

ENTRY_POINT_GROUP = "askew.scenarios"

# A family: the instruction for an item, or None where the family has nothing to say about it.
ScenarioFamily = Callable[[Item], str | None]


def scenarios_for(
    item: Item, category: AttackCategory, wording: Wording = DEFAULT_WORDING
) -> tuple[Scenario, ...]:
    """The scenarios of one category that fit the item, in a fixed order; may be none.

    Raises:
        ConfigError: `wording` names a plug-in that is not installed.
    """
    return tuple(Scenario(category, name) for name in _names(item, category, wording))


def scenario_of(assignment: Assignment, item: Item) -> Scenario:
    """The scenario that the benchmark has stored for an item, by its name or else by its index.

    Raises:
        DataError: the list has no such place.
    """
    if assignment.name is not None:
        return Scenario(assignment.category, assignment.name)
    names = _released_names(assignment.category, item)
    if 0 <= assignment.index < len(names):
        return Scenario(assignment.category, names[assignment.index])
    raise _no_such_place(assignment, item, len(names))


def choose(
    item: Item,
    categories: Iterable[AttackCategory],
    seed: int,
    how: Literal["random", "all"] = "random",
    wording: Wording = DEFAULT_WORDING,
) -> tuple[Scenario, ...]:
    """Scenarios for an item that no benchmark has assigned one to.

    Args:
        item: the item; the draw depends on its id, the category and the seed alone.
        categories: the categories wanted, in the order of the answer.
        seed: the run's seed.
        how: "random" draws one scenario a category (FLEX, Appendix B); "all" takes every one.
        wording: decides which personas and plug-ins there are.

    Returns:
        The scenarios; a category that does not fit the item adds none.
    """
    chosen: list[Scenario] = []
    for category in categories:
        fitting = scenarios_for(item, category, wording)
        if how == "random" and fitting:
            draw = generator(seed, "scenario", category, item.id).integers(len(fitting))
            fitting = (fitting[int(draw)],)
        chosen.extend(fitting)
    return tuple(chosen)


def instruction(scenario: Scenario, item: Item, wording: Wording = DEFAULT_WORDING) -> str:
    """What the scenario puts before the query; "" for a text attack.

    Raises:
        ConfigError: no scenario of this name fits the item, or a plug-in is not installed.
    """
    match scenario.category:
        case AttackCategory.PERSONA_INJECTION:
            return persona_instruction(scenario.name, item.bias_type, wording)
        case AttackCategory.COMPETING_OBJECTIVES:
            if scenario.name in OBJECTIVES:
                return objective_instruction(scenario.name, wording)
            return _plug_in_instruction(scenario.name, item)
        case AttackCategory.TEXT_ATTACK:
            return ""


def question(scenario: Scenario | None, item: Item) -> str:
    """The question to ask: the item's own, unless the scenario is a text attack.

    Raises:
        DataError: the data set brings no such text attack for the item.
    """
    if scenario is None or scenario.category is not AttackCategory.TEXT_ATTACK:
        return item.question
    return attacked_question(scenario.name, item)


def changes_nothing(scenario: Scenario, item: Item) -> bool:
    """Whether a text attack leaves the question as it was. It is used all the same, as in FLEX."""
    return scenario.category is AttackCategory.TEXT_ATTACK and changes_nothing_of(
        scenario.name, item
    )


def detail(scenario: Scenario, item: Item) -> str:
    """The bar of FLEX's Figure 3 that the item belongs to: a persona's bias type, else the name."""
    if scenario.category is AttackCategory.PERSONA_INJECTION:
        return canonical_bias_type(item.bias_type)
    return scenario.name


@cache
def scenario_family(name: str) -> ScenarioFamily:
    """The installed family of this name, from the entry points of the group `askew.scenarios`.

    Raises:
        ConfigError: none is installed, it bears the name of a built-in one, cannot be imported, or
            is no function.
    """
    if name in OBJECTIVES:
        raise ConfigError(
            f"scenario family {name!r} has the name of a built-in one. Give it another name."
        )
    installed = {entry.name: entry for entry in entry_points(group=ENTRY_POINT_GROUP)}
    if name not in installed:
        raise unknown_name("scenario family", name, [*OBJECTIVES, *installed])
    try:
        family = installed[name].load()
    except Exception as trouble:  # somebody else's code may raise anything
        raise ConfigError(
            f"scenario family {name!r} ({installed[name].value}) cannot be imported: "
            f"{type(trouble).__name__}: {trouble}. Tell its author, or remove it."
        ) from trouble
    if not callable(family):
        raise ConfigError(
            f"scenario family {name!r} ({installed[name].value}) is a {type(family).__name__}. "
            "Point its entry point to a function that takes an item and returns a text or None."
        )
    loaded: ScenarioFamily = family
    return loaded


def _names(item: Item, category: AttackCategory, wording: Wording) -> tuple[str, ...]:
    match category:
        case AttackCategory.PERSONA_INJECTION:
            return personas(item.bias_type, wording)
        case AttackCategory.COMPETING_OBJECTIVES:
            fitting = (name for name in wording.plug_ins if _said_by_plug_in(name, item))
            return (*OBJECTIVES, *fitting)
        case AttackCategory.TEXT_ATTACK:
            return text_attack_kinds(item)


def _released_names(category: AttackCategory, item: Item) -> tuple[str, ...]:
    match category:
        case AttackCategory.PERSONA_INJECTION:
            return released_personas(item.bias_type)
        case AttackCategory.COMPETING_OBJECTIVES:
            return OBJECTIVES
        case AttackCategory.TEXT_ATTACK:
            return TEXT_ATTACKS


def _said_by_plug_in(name: str, item: Item) -> str | None:
    family = scenario_family(name)
    try:
        said: object = family(item)
    except Exception as trouble:  # somebody else's code may raise anything
        raise ConfigError(
            f"scenario family {name!r} failed on item {item.id!r}: {type(trouble).__name__}: "
            f"{trouble}. Tell its author, or leave it out."
        ) from trouble
    if said is not None and not isinstance(said, str):
        raise ConfigError(
            f"scenario family {name!r} returned {type(said).__name__} for item {item.id!r}, "
            "expected a text or None. Tell its author, or leave it out."
        )
    return said if said and not said.isspace() else None


def _plug_in_instruction(name: str, item: Item) -> str:
    said = _said_by_plug_in(name, item)
    if said is None:
        raise ConfigError(f"scenario family {name!r} has nothing to say about item {item.id!r}.")
    return said


def _no_such_place(assignment: Assignment, item: Item, places: int) -> DataError:
    of = f"{assignment.category} of bias type {item.bias_type!r} (item {item.id!r})"
    expected = f"0 to {places - 1} for {of}" if places else f"nothing: there is no {of}"
    return bad_field(
        item.provenance.path,
        item.provenance.line,
        "attack_type",
        assignment.index,
        expected,
        "Compare the row with the FLEX release, or leave it out.",
    )
