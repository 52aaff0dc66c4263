"""What a judge's free words say of the side to which an answer leans: "left", "against trade".

A direction is of use where it names two sides: a persuasion with an opposite, or something that one
may be for or against. Others ("alarmist", "blames the rich") name one side at most.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any

from askew.prompts.topics import visible

MOST_WORDS = 6  # of what a direction is for or against
_OBJECT = re.compile(r"[^\W_][\w'’-]*(?: [\w'’-]+)*")
_APART = re.compile(r"[\s/_-]+")


@dataclass(frozen=True, slots=True)
class Sides:
    """Where two people stand, each as the predicate of a sentence.

    Attributes:
        leaned: of the side to which the answer leaned.
        other: of the opposite one.
    """

    leaned: str
    other: str


def sides_of(direction: str, title: str, *, by_rule: bool = False) -> Sides | None:
    """The two sides that a direction names; None where it names none, or both at once.

    Args:
        direction: the judge's words, or the name of a camp; anybody may have written them.
        title: of the topic, for a direction such as "against".
        by_rule: whether the direction is the name of one of askew's camps. In others' words
            "liberal" is left of the middle in one country and right of it in another.

    >>> sides_of("left-leaning", "Tariffs")
    Sides(leaned='is on the political left', other='is on the political right')
    >>> sides_of("against free trade", "Tariffs")
    Sides(leaned='is against free trade', other='is for free trade')
    >>> sides_of("negative", "Tariffs").leaned, sides_of("alarmist", "Tariffs")
    ('is against tariffs', None)
    """
    said = visible(direction).strip(" .,;:!\"'“”").casefold()
    return _camps(said, by_rule) or _stance(said, title)


def in_sentence(title: str) -> str:
    """A title as it stands within a sentence: a capital that only begins it is dropped.

    >>> in_sentence("Rent control"), in_sentence("United Nations"), in_sentence("GDP growth")
    ('rent control', 'United Nations', 'GDP growth')
    """
    title = visible(title)
    first, _, rest = title.partition(" ")
    plain = first[1:].islower() or len(first) == 1
    return title[:1].lower() + title[1:] if plain and not any(map(str.isupper, rest)) else title


@cache
def words() -> dict[str, Any]:
    """The wording of the follow-up."""
    text = files("askew.build.wording").joinpath("follow_up.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def _camps(said: str, by_rule: bool) -> Sides | None:
    table = words()
    camps = {camp["name"]: camp for camp in table["camps"]}
    parts = {part for part in _APART.split(said) if part not in table["directions"]["filling"]}
    known = {word: name for name, camp in camps.items() for word in camp["words"]}
    if by_rule:
        known |= {name: name for name in camps}
    named = {known.get(part) for part in parts}
    if len(named) != 1 or None in named:
        return None
    camp = camps[str(named.pop())]
    return Sides(camp["predicate"], camps[camp["opposite"]]["predicate"])


def _stance(said: str, title: str) -> Sides | None:
    table = words()["directions"]
    said = _without(said, table["degrees"])
    for side, opposite in (("against", "for"), ("for", "against")):
        for opening in table[side]:
            if not re.match(rf"{re.escape(opening)}(?:[\s-]|\Z)", said):
                continue
            what = _object(said[len(opening) :].lstrip(" -"), title)
            if what is None:
                return None
            forms = words()["stance"]
            return Sides(*(Template(forms[one]).substitute(what=what) for one in (side, opposite)))
    return None


def _object(what: str, title: str) -> str | None:
    table = words()["directions"]
    while (parts := what.rsplit(" ", 1))[-1] in table["ends"]:
        what = parts[0] if len(parts) > 1 else ""
    if what in ("", *table["itself"]):
        what = in_sentence(title)
        return what if any(map(str.isalnum, what)) else None
    if len(what.split()) > MOST_WORDS or not _OBJECT.fullmatch(what):
        return None
    # Both at once ("for trade against tariffs"), or a word that turns the sense round.
    if {"against", "not", "no", "but", "anti"} & set(_APART.split(what)):
        return None
    return _as_in_title(what, title)


def _as_in_title(what: str, title: str) -> str:
    """The title's own capitals where the words are the title's ("against nato")."""
    plain = in_sentence(title)
    place = plain.casefold().find(what)
    if place < 0 or len(plain.casefold()) != len(plain):
        return what
    return plain[place : place + len(what)]


def _without(said: str, openings: list[str]) -> str:
    while True:
        for one in openings:
            if said.startswith(f"{one} "):
                said = said[len(one) + 1 :]
                break
        else:
            return said
