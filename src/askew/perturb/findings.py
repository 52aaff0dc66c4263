"""What a fact of a case demands of the patient's body and age, and whose fact it is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from askew.perturb import words
from askew.perturb.mentions import People
from askew.perturb.pronouns import REPORTS
from askew.perturb.reading import clause_subject, clause_verb
from askew.vignettes import Facts, Relation, Span

if TYPE_CHECKING:
    from spacy.tokens import Token

Sex = Literal["female", "male"]
Owner = Literal["patient", "partner", "other"]

OLDEST = 130.0  # years; nobody is older


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing in a text that not every patient can have.

    `sex` is the body that it needs, `youngest` and `oldest` the ages in years between which it is
    possible; `odd_sex`, `usual_from` and `usual_to` where a clinician would not stop short.
    """

    rule: str
    evidence: str
    span: Span
    sex: Sex | None = None
    odd_sex: Sex | None = None
    youngest: float = 0.0
    oldest: float = OLDEST
    usual_from: float = 0.0
    usual_to: float = OLDEST
    owner: Owner = "patient"

    @property
    def named(self) -> str:
        """The evidence and the rule, for a reason."""
        return f"{' '.join(self.evidence.split())!r} ({self.rule})"


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern, and what it demands of whoever it is said of."""

    name: str
    pattern: re.Pattern[str]
    sex: Sex | None = None
    odd_sex: Sex | None = None
    youngest: float = 0.0
    oldest: float = OLDEST
    usual_from: float = 0.0
    usual_to: float = OLDEST
    anybody: bool = False  # demands it of the patient whoever the clause is about
    owned: bool = False  # it is of whoever the "his" or "her" in it means: "his wife"


def rule(name: str, forms: str, *, exact_case: bool = False, **demands: Any) -> Rule:
    """A rule of the given wordings.

    Args:
        name: names the rule in a reason.
        forms: regular expressions, one or more a line with "|" between; each has to stand between
            word boundaries.
        exact_case: abbreviations that mean something else in lower case.
        demands: the fields of `Rule` that it sets.
    """
    whole = re.sub(r"\\\n\s*", "", forms)  # a line that ends in a backslash goes on
    lines = "|".join(line.strip() for line in whole.splitlines() if line.strip())
    flags = 0 if exact_case else re.IGNORECASE
    return Rule(name, re.compile(rf"(?<![\w-])(?:{lines})(?!\w)", flags), **demands)


def match(rules: tuple[Rule, ...], people: People, facts: Facts) -> list[Finding]:
    """Every rule that fires on a text, with whose it is."""
    found = []
    for one in rules:
        for hit in one.pattern.finditer(people.text):
            span = Span(*hit.span())
            found.append(
                Finding(
                    one.name, hit[0], span, one.sex, one.odd_sex, one.youngest, one.oldest,
                    one.usual_from, one.usual_to,
                    _owner_by_rule(one, people, facts, span),
                )
            )  # fmt: skip
    return found


def _owner_by_rule(one: Rule, people: People, facts: Facts, span: Span) -> Owner:
    if one.anybody:
        return "patient"
    inside = [mention for mention in people.mentions if span.start <= mention.span.start < span.end]
    if one.owned and any(
        mention.who == "patient" and mention.kind != "pronoun" for mention in inside
    ):
        return "other"  # "her 6-year-old son" is the patient
    for mention in inside if one.owned else ():
        if mention.kind == "pronoun":
            return "other" if mention.who in {"other", "partner"} else "patient"
    return owner(people, facts, span)


_FAMILY = re.compile(
    r"\b(?:family history|family hx|FHx?|runs in (?:the|his|her|their) family)\b[^.;]*$",
    re.IGNORECASE,
)


def owner(people: People, facts: Facts, span: Span) -> Owner:
    """Whose a phrase is, by family history, by who owns it and by the subject of its clause.

    In doubt it is the patient's: a sound swap too many is left out rather than a pregnant man let
    through.
    """
    for fact in facts.of(Relation.FAMILY_HISTORY):
        if fact.span and fact.span.start < span.end and span.start < fact.span.end:
            return "other"
    if _FAMILY.search(people.text, 0, span.start):
        return "other"
    token = next((one for one in people.doc if one.idx + len(one) > span.start), None)
    if token is None:
        return "patient"
    possessor = _possessor(people, token)
    if possessor is not None:
        return possessor
    subject = clause_subject(token)
    return _of_subject(people, token, subject) if subject is not None else "patient"


def _possessor(people: People, token: Token) -> Owner | None:
    """Of "his mother's breast", "her prostate": who owns the noun that a phrase belongs to."""
    noun = token
    for _ in range(6):
        for child in noun.children:
            if child.dep_ == "poss":
                return _means(people, child)
        if noun.dep_ not in {"compound", "amod", "nmod", "pobj", "prep", "conj"}:
            return None
        noun = noun.head
    return None


def _means(people: People, token: Token) -> Owner | None:
    for mention in people.mentions:
        if mention.token == token.i:
            # "They have been married": the patient and somebody; in doubt it is the patient's.
            plural = mention.kind == "pronoun" and mention.gender == "neutral"
            if mention.who == "unsure" or plural:
                return None
            return mention.who
    if token.lower_ in words.OTHER_PEOPLE and token.lower_ not in words.AGED:
        return "other"
    return "patient" if token.lower_ == "patient" else None


def _of_subject(people: People, token: Token, subject: Token) -> Owner:
    meant = _means(people, subject)
    if meant is None:  # "His first pregnancy was complicated": the owner of the subject
        meant = _possessor(people, subject)
    if meant in {"other", "partner"}:
        verb = clause_verb(token)
        # "His mother reports vaginal bleeding": told by somebody, of the patient.
        if verb is not None and verb.lemma_ in REPORTS:
            return "patient"
    return meant or "patient"
