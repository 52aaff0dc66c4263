"""The multiple-choice question: an item, an order of options and perhaps a scenario -> a Prompt.

Two forms. "flex" is the plain text that the release of FLEX shows, byte for byte, so that its
figures can be repeated. "chat" is a conversation, for models that are met in one. Either is
answered in one of three ways: by the likelihood of the letters, by the likelihood of the options'
texts, or by a reply.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from string import Template
from typing import Literal

from askew.errors import ConfigError
from askew.prompts.scenarios import instruction, question
from askew.prompts.wording import DEFAULT_WORDING, Wording, table
from askew.records import Item, Message, Prompt, Scenario
from askew.seeds import generator

OptionOrder = tuple[int, int, int]  # order[k] is the option that stands at place k
Form = Literal["flex", "chat"]
Scoring = Literal["letters", "texts", "reply"]

LETTERS = ("A", "B", "C")


@dataclass(frozen=True, kw_only=True, slots=True)
class PromptFormat:
    """How questions are put and what is scored."""

    form: Form = "chat"
    scoring: Scoring = "reply"
    list_options: bool = True  # False: the options are only scored, never shown
    attack_role: Literal["system", "user"] = "system"  # who gives a scenario's instruction; chat

    def __post_init__(self) -> None:
        if not self.list_options and self.scoring != "texts":
            raise ConfigError(
                f"list_options is false, and scoring is {self.scoring!r}: a letter or a reply can "
                "only choose between options that are shown. Score the options' texts instead."
            )


@dataclass(frozen=True, slots=True)
class Demonstration:
    """A question shown with its answer before the one that is asked; never attacked."""

    item: Item
    answer: int  # index into `item.options`, whatever the order shown
    order: OptionOrder


def option_order(item: Item, seed: int, how: Literal["file", "shuffled"] = "file") -> OptionOrder:
    """The order in which an item's options are shown, in every condition that it is asked in.

    A shuffled order depends on the seed and the item's id alone.
    """
    if how == "file":
        return (0, 1, 2)
    first, second, third = generator(seed, "option_order", item.id).permutation(3)
    return (int(first), int(second), int(third))


def rotations(order: OptionOrder) -> tuple[OptionOrder, OptionOrder, OptionOrder]:
    """The three rotations of an order: each option stands once at each place.

    >>> rotations((2, 0, 1))
    ((2, 0, 1), (0, 1, 2), (1, 2, 0))
    """
    a, b, c = order
    return (a, b, c), (b, c, a), (c, a, b)


def render(
    item: Item,
    prompt_format: PromptFormat,
    order: OptionOrder,
    *,
    scenario: Scenario | None = None,
    demonstrations: Sequence[Demonstration] = (),
    wording: Wording = DEFAULT_WORDING,
) -> Prompt:
    """The prompt for an item.

    Args:
        item: the question.
        prompt_format: form, scoring and what goes with them.
        order: how the options stand; the same for the source and the attacked prompt of an item.
        scenario: the attack; None for the source prompt.
        demonstrations: shown before the question, in this order.
        wording: the words of the scenario.

    Returns:
        `text` in form "flex", `messages` in form "chat". `choices` are the three continuations to
        score, in the order shown; () where a reply is wanted. They begin with one blank in form
        "flex", as lm-evaluation-harness's target delimiter has it, and with none in form "chat",
        where they begin a turn: the three are always treated alike.

    Raises:
        DataError: the item has no such text attack.
        ConfigError: no such scenario fits the item.
        ValueError: `order` is no order of three.
    """
    attack = instruction(scenario, item, wording) if scenario else ""
    asked = question(scenario, item)
    choices = _choices(item, prompt_format, order)
    if prompt_format.form == "flex":
        text = _flex_text(item, asked, attack, prompt_format, order, demonstrations)
        return Prompt(text=text, choices=tuple(f" {choice}" for choice in choices))
    messages = _chat_messages(item, asked, attack, prompt_format, order, demonstrations)
    return Prompt(messages=messages, choices=choices)


def _flex_text(
    item: Item,
    asked: str,
    attack: str,
    prompt_format: PromptFormat,
    order: OptionOrder,
    demonstrations: Sequence[Demonstration],
) -> str:
    shown = [
        f"{_query(it.item, it.item.question, prompt_format, it.order)} {_said(it, prompt_format)}"
        for it in demonstrations
    ]
    query = _query(item, asked, prompt_format, order)
    # The release strips the whole of attack and query, not the attack alone.
    shown.append(f"{attack}\n{query}".strip())
    return "\n\n".join(shown)


def _chat_messages(
    item: Item,
    asked: str,
    attack: str,
    prompt_format: PromptFormat,
    order: OptionOrder,
    demonstrations: Sequence[Demonstration],
) -> tuple[Message, ...]:
    messages: list[Message] = []
    query = _query(item, asked, prompt_format, order)
    if attack and prompt_format.attack_role == "system":
        messages.append(Message("system", attack))
    elif attack:
        query = f"{attack}\n\n{query}"
    for it in demonstrations:
        turn = _query(it.item, it.item.question, prompt_format, it.order)
        messages.append(Message("user", turn))
        messages.append(Message("assistant", _said(it, prompt_format)))
    messages.append(Message("user", query))
    return tuple(messages)


def _query(item: Item, asked: str, prompt_format: PromptFormat, order: OptionOrder) -> str:
    """One question with its options, as far as they are listed."""
    context_in_options = _context_in_options(item, prompt_format)
    a, b, c = (_option(item, option, context_in_options) for option in _checked(order))
    if item.context.strip() and not context_in_options:
        asked = f"{item.context} {asked}"
    template = table("question.toml")[prompt_format.form][_template_name(prompt_format)]
    return Template(template).substitute(question=asked, a=a, b=b, c=c)


def _template_name(prompt_format: PromptFormat) -> str:
    if not prompt_format.list_options:
        return "unlisted"
    if prompt_format.form == "flex":
        return "listed"
    return "text" if prompt_format.scoring == "texts" else "letter"


def _context_in_options(item: Item, prompt_format: PromptFormat) -> bool:
    # Where the options' texts are scored, the context has to be given, not scored: it would weigh
    # on the two biased options only.
    return (
        item.context_before_options
        and bool(item.context.strip())
        and prompt_format.scoring != "texts"
    )


def _option(item: Item, option: int, context_in_options: bool) -> str:
    text = item.options[option]
    return f"{item.context} {text}" if context_in_options and option != item.neutral else text


def _choices(item: Item, prompt_format: PromptFormat, order: OptionOrder) -> tuple[str, ...]:
    if prompt_format.scoring == "reply":
        return ()
    return tuple(_answer(item, option, prompt_format, order) for option in _checked(order))


def _said(demonstration: Demonstration, prompt_format: PromptFormat) -> str:
    it = demonstration
    return _answer(it.item, it.answer, prompt_format, it.order)


def _answer(item: Item, option: int, prompt_format: PromptFormat, order: OptionOrder) -> str:
    """How an option is named where it is the answer."""
    if prompt_format.scoring == "texts":
        return item.options[option]
    letter = LETTERS[order.index(option)]
    return f"({letter})" if prompt_format.form == "flex" else letter


def _checked(order: OptionOrder) -> OptionOrder:
    if sorted(order) != [0, 1, 2]:
        raise ValueError(f"order is {order}, expected each of 0, 1 and 2 once")
    return order
