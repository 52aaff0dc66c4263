"""Who is meant by each noun, pronoun, title and letter of a text: the patient, or somebody else.

Three kinds of people matter: the patient, the patient's husband, wife or partner (whose word
follows the patient's gender), and everybody else, whose words stay as they are. A word that could
mean two of them is `unsure`: an edit that needs it is not made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from askew.perturb import words
from askew.perturb.ages import Age, in_years, overlap, patient_ages
from askew.perturb.mentions import People
from askew.perturb.nouns import NounReader, noun_after
from askew.perturb.pronouns import PronounReader
from askew.perturb.reading import read
from askew.vignettes import Facts, Relation

if TYPE_CHECKING:
    from spacy.tokens import Doc


def find_people(text: str, facts: Facts) -> People:
    """Everybody in a text.

    Args:
        text: the vignette.
        facts: what was found in it; its age and gender say which words mean the patient.
    """
    doc = read(text)
    ages = _own_ages(text, doc, facts)
    gender = _stated(facts)
    reader = NounReader(text, doc, facts, ages, gender)
    nouns = reader.nouns()
    gender = gender or reader.guess(nouns)
    years = in_years(ages[0]) if ages else None
    anchors = frozenset(reader.anchors)
    mentions = PronounReader(text, doc, nouns, anchors, years).resolve(gender)
    return People(text, doc, gender, mentions, ages, anchors)


def _stated(facts: Facts) -> str | None:
    found = facts.of(Relation.HAS_GENDER)
    return str(found[0].value) if found else None


def _own_ages(text: str, doc: Doc, facts: Facts) -> tuple[Age, ...]:
    if facts.of(Relation.HAS_AGE):
        return tuple(
            age
            for age in patient_ages(text, facts)
            if _owned(doc, age, facts)
        )  # fmt: skip
    return ()


def _owned(doc: Doc, age: Age, facts: Facts) -> bool:
    """Whether a repeat of the patient's age stands at a noun that may be the patient."""
    if any(fact.span and overlap(age.span, fact.span) for fact in facts.of(Relation.HAS_AGE)):
        return True
    noun = noun_after(doc, age.span.end)
    return noun is None or words.NOUNS.get(noun.lower_, words.Noun("", "neutral")).row not in (
        words.RELATION_ROWS
    )
