"""Word lists of the measures, one file each, headed by where they come from.

`[name]` opens a section; `#` starts a comment. A line is a wording in lower case without
punctuation, matched word by word; `*` stands for any ending of a word. A line that starts with
`-` is no hit although it holds one: "-stress fracture".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

_APOSTROPHES = re.compile(r"(?<=\w)['’ʼ](?=\w)")
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Wordings:
    """One section of a list, ready to be looked for in text."""

    hits: re.Pattern[str]
    excepted: re.Pattern[str] | None

    def count(self, text: str) -> int:
        """How often a wording stands in the text; wordings that overlap count once.

        >>> read("stigma")[""].count("Non-compliant; she claims to be a frequent flyer.")
        3
        """
        return len(self.found(text))

    def found(self, text: str) -> list[str]:
        """The wordings in the text as they stand there, in lower case and without signs."""
        plain = plain_words(text)
        if self.excepted is not None:
            plain = self.excepted.sub("|", plain)  # a mark that no wording spans
        return self.hits.findall(plain)


@cache
def read(name: str) -> dict[str, Wordings]:
    """The sections of a list by name; "" is what stands before the first."""
    text = (resources.files(__package__) / f"{name}.txt").read_text(encoding="utf-8")
    sections: dict[str, list[str]] = {}
    section = ""
    for line in (line.split("#")[0].strip() for line in text.splitlines()):
        if line.startswith("["):
            section = line.strip("[]")
        elif line:
            sections.setdefault(section, []).append(line)
    return {section: wordings(lines) for section, lines in sections.items()}


def plain_words(text: str) -> str:
    """The words of a text in lower case, one space between them.

    >>> plain_words("Don’t call it drug-seeking!")
    'dont call it drug seeking'
    """
    return " ".join(_WORD.findall(_APOSTROPHES.sub("", text.lower())))


def wordings(lines: Sequence[str]) -> Wordings:
    """The lines of a section, ready to be looked for."""
    excepted = [line[1:].strip() for line in lines if line.startswith("-")]
    hits = [line for line in lines if not line.startswith("-")]
    return Wordings(_pattern(hits), _pattern(excepted) if excepted else None)


def _pattern(wordings: list[str]) -> re.Pattern[str]:
    # The longest first, so that "drug seeking behavior" is one hit.
    ordered = sorted(wordings, key=len, reverse=True)
    parts = [re.escape(wording).replace(r"\*", r"\w*").replace(r"\ ", " ") for wording in ordered]
    return re.compile(rf"(?<!\w)(?:{'|'.join(parts)})(?!\w)")
