"""The records of who is meant by the words of a text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from askew.perturb.ages import Age, in_years
from askew.perturb.attributes import FEMALE, MALE, NON_BINARY, TRANS_MAN, TRANS_WOMAN
from askew.perturb.words import Gender
from askew.vignettes import Span

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

Who = Literal["patient", "partner", "other", "unsure"]
Kind = Literal["noun", "stage", "pronoun", "title", "letter", "name", "modifier", "pronouns_used"]

PRONOUNS_OF: dict[str, Gender] = {
    FEMALE: "female",
    TRANS_WOMAN: "female",
    MALE: "male",
    TRANS_MAN: "male",
    NON_BINARY: "neutral",
}


@dataclass(frozen=True, slots=True)
class Mention:
    """One word that means somebody."""

    span: Span
    kind: Kind
    who: Who
    gender: Gender
    token: int  # index in the parsed text
    case: str = ""  # of a pronoun: a key of `words.PRONOUNS`
    row: str = ""  # of a noun: a key of `words.ROWS`
    statement: str = ""  # "transgender", where the noun has it before it
    attributive: bool = False  # "male" before a noun
    past: bool = False  # "as a boy": the noun's stage of life is not the present one


@dataclass(frozen=True, slots=True)
class People:
    """A text with everybody in it."""

    text: str
    doc: Doc
    gender: str | None  # the patient's level of `gender`; None where the text does not tell
    mentions: tuple[Mention, ...]
    ages: tuple[Age, ...]  # the patient's
    anchors: frozenset[int] = frozenset()  # the tokens that the patient's age and gender speak of

    def of(self, who: Who) -> tuple[Mention, ...]:
        """The words that mean one person."""
        return tuple(mention for mention in self.mentions if mention.who == who)

    @property
    def states_gender(self) -> bool:
        """Whether a noun, letter, title or adjective tells the patient's gender."""
        return any(
            mention.kind in {"noun", "letter", "title", "modifier"}
            and (mention.gender != "neutral" or mention.kind == "modifier")
            for mention in self.of("patient")
        )

    @property
    def years(self) -> float | None:
        """The patient's age in years."""
        return in_years(self.ages[0]) if self.ages else None


def definite(token: Token) -> bool:
    return any(
        child.lower_ in {"the", "this", "that"} and child.dep_ == "det" for child in token.children
    )


def as_a(token: Token) -> bool:
    """Of "as a child", "as a boy": the patient, earlier."""
    return bool(re.search(r"\bas an? (?:\w+ )?$", token.doc.text[: token.idx]))
