"""Text Attack: the question itself is changed (FLEX, §3.1.3); the changed question is data."""

from __future__ import annotations

from askew.errors import DataError
from askew.records import Item

# In the release's order, to which its index points. V1 paraphrases; V2 offers only the two groups.
TEXT_ATTACKS = ("character", "word", "sentence_v1", "sentence_v2")


def text_attack_kinds(item: Item) -> tuple[str, ...]:
    """The kinds that the item brings: the paper's in the paper's order, then the user's own."""
    own = sorted(set(item.text_attacks) - set(TEXT_ATTACKS))
    return (*(kind for kind in TEXT_ATTACKS if kind in item.text_attacks), *own)


def attacked_question(kind: str, item: Item) -> str:
    """The question that takes the place of the item's own.

    Raises:
        DataError: the data set brings no such question for the item.
    """
    if kind not in item.text_attacks:
        known = ", ".join(text_attack_kinds(item)) or "none"
        raise DataError(
            f"{item.provenance.path}:{item.provenance.line}: the data set has no text attack "
            f"{kind!r} for item {item.id!r} (it has: {known}). "
            "Add the changed question to the data, or leave this text attack out."
        )
    return item.text_attacks[kind]


def changes_nothing_of(kind: str, item: Item) -> bool:
    """Whether the changed question is the item's own, blanks aside."""
    return attacked_question(kind, item).split() == item.question.split()
