"""One thing that a text names: a complaint, a diagnosis or a drug."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["symptom", "condition", "medication"]
KINDS: dict[Kind, str] = {
    "symptom": "symptoms",
    "condition": "conditions",
    "medication": "medications",
}


@dataclass(frozen=True, slots=True)
class Mention:
    """One thing that a text names, at characters `start` to `end`."""

    start: int
    end: int
    kind: Kind
    value: str
    fired: tuple[str, ...]
    name: str = ""  # the term's name in its list; "" where no list has it

    def overlaps(self, other: Mention) -> bool:
        """Whether the two share a character."""
        return self.start < other.end and other.start < self.end


def plain_text(text: str) -> str:
    """The text in lower case, with single spaces.

    >>> plain_text("Chest  pain")
    'chest pain'
    """
    return " ".join(text.split()).lower()
