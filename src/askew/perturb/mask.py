"""A text without its demographics, for a judge who is to see the medicine and not the label."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from askew.perturb import words
from askew.perturb.ages import find_ages, overlap
from askew.perturb.agreement import verb_edits
from askew.perturb.edits import NotExpressible, apply
from askew.perturb.pronouns import pronoun_case
from askew.perturb.reading import read
from askew.vignettes import Edit, Span

if TYPE_CHECKING:
    from spacy.tokens import Token

AGE, PLACE, GROUP, NAME = "[age]", "[place]", "[group]", "[name]"

_GENDER_ADJECTIVE = re.compile(
    r"\b(?:transgender|transsexual|transwom[ae]n|transm[ae]n|trans(?= (?:wom|m[ae]n|girl|boy|male|"
    r"female|patient|person))|cisgender|cis(?= (?:wom|m[ae]n|male|female))|non-?binary|genderqueer|"
    r"AFAB|AMAB|MTF|FTM)\b[ ]?",
    re.IGNORECASE,
)
_STAGE = re.compile(
    r"\b(?:elderly|middle[- ]aged|young|teenage|adolescent|pa?ediatric|geriatric|older|infant|"
    r"newborn|adult)(?= (?:\[|(?:\w+ )?(?:patient|person|m[ae]n|wom[ae]n|male|female|boy|girl|"
    r"adult|individual)s?))[ ]",
    re.IGNORECASE,
)
_DEMONYM = re.compile(
    r"\b(?:(?:East|South|West|North|Southeast|Sub-Saharan)[- ])?(?:African|Asian|European|Indian|"
    r"Chinese|Japanese|Korean|Vietnamese|Filipino|Filipina|Mexican|Nigerian|Kenyan|Ghanaian|"
    r"Ethiopian|Somali|Pakistani|Bangladeshi|Arab|Jewish|Ashkenazi|Caribbean|Haitian|Puerto Rican|"
    r"Brazilian|Russian|Italian|Irish|Greek|Turkish|Iranian|Native American|American Indian)"
    r"(?= (?:m[ae]n|wom[ae]n|male|female|boy|girl|patient|person|descent|origin|ancestry|heritage|"
    r"immigrant|background)s?\b)"
)
_COLORS_OF_THINGS = re.compile(
    r"\s+(?:blood|cells?|count|matter|stools?|tarry|plaques?|spots?|coat|eschar|tea|market|box|"
    r"patch(?:es)?|nails?|sputum|discharge|bile|line)",
    re.IGNORECASE,
)
_RACE = re.compile(
    r"\b(?:" + "|".join(sorted(words.RACES, key=len, reverse=True)) + r")s?\b", re.IGNORECASE
)
_PLURAL = dict.fromkeys(
    ("men", "women", "boys", "girls", "males", "females", "gentlemen", "ladies"), "people"
)
_STAGES = frozenset(words.AGED) - {"senior"}


def mask_demographics(text: str) -> str:
    """A text in which nobody's age, gender, place, race or name can be read.

    Ages become "[age]", places "[place]", ethnic groups "[group]", persons' names "[name]"; he and
    she become they, with the verb; "man", "girl" and "infant" become "person", "mother" "parent".
    Twins that differ in these words alone become equal. Organs and pregnancies stay: they are the
    medicine. It never fails: a verb that is not sure stays as it is.

    >>> mask_demographics("A 47-year-old man from Lima has chest pain. He denies fever.")
    'A [age] person from [place] has chest pain. They deny fever.'
    """
    doc = read(text)
    edits = [Edit(age.span, AGE) for age in find_ages(text)]
    for pattern, new in ((_GENDER_ADJECTIVE, ""), (_STAGE, ""), (_DEMONYM, GROUP)):
        edits += [Edit(Span(*hit.span()), new) for hit in pattern.finditer(text)]
    edits += [
        Edit(Span(*hit.span()), GROUP)
        for hit in _RACE.finditer(text)
        if not _COLORS_OF_THINGS.match(text, hit.end())
    ]
    for entity in doc.ents:
        span = Span(entity.start_char, entity.end_char)
        if entity.label_ in {"GPE", "LOC"} and entity.text[:1].isupper():
            edits.append(Edit(span, PLACE))
    for token in doc:
        edits += _word(text, token)
    masked = apply(text, _apart(edits))
    # "An [age]" of "an 8-year-old" and "A [age]" of "a 9-year-old" are one.
    return re.sub(r"\b([Aa])n(?= \[)", r"\1", masked)


def _word(text: str, token: Token) -> list[Edit]:
    """The edits of one noun, title, letter or pronoun."""
    low, span = token.lower_.strip("."), Span(token.idx, token.idx + len(token))
    if low in words.PRONOUN_GENDER and not (token.text.isupper() and len(token) > 2):
        return _pronoun(token, span)
    if low in words.TITLES and token.text[:1].isupper() and token.i + 1 < len(token.doc):
        following = token.doc[token.i + 1]
        return [Edit(Span(token.idx, following.idx + len(following)), NAME)]
    if token.text in words.NAMES and token.ent_type_ in {"PERSON", "ORG", "GPE", ""}:
        return [Edit(span, NAME)]
    if low in _PLURAL:
        return [Edit(span, _cased(token.text, _PLURAL[low]))]
    if low in {"male", "female"}:
        following = token.doc[token.i + 1] if token.i + 1 < len(token.doc) else None
        if following is not None and following.pos_ in {"NOUN", "PROPN"}:
            return [Edit(Span(token.idx, following.idx), "")]
        return [Edit(span, "person")]
    if low in words.NOUNS and token.tag_.startswith("N"):
        row = words.NOUNS[low].row
        stage = row in {"adult", "child", "polite", "sex", "familiar", "school"}
        return [Edit(span, _cased(token.text, "person" if stage else words.ROWS[row][2]))]
    if low in _STAGES and token.tag_ == "NN":
        return [Edit(span, _cased(token.text, "person"))]
    if token.text in {"M", "F"} and re.search(r"(?:\d|y/?o|old)\s?$", text[: token.idx]):
        return [Edit(span, " person" if text[token.idx - 1].isdigit() else "person")]
    return []


def _pronoun(token: Token, span: Span) -> list[Edit]:
    case = pronoun_case(token)
    new = words.PRONOUNS[case][2]
    edits = [Edit(span, _cased(token.text, new))]
    if case == "subject" and words.PRONOUN_GENDER[token.lower_] != "neutral":
        try:
            edits += verb_edits(token, to_they=True)
        except NotExpressible:
            return edits  # the judge can read "they has"
    return edits


def _cased(old: str, new: str) -> str:
    return new[:1].upper() + new[1:] if old[:1].isupper() else new


def _apart(edits: list[Edit]) -> list[Edit]:
    """The edits that do not overlap, the longer first."""
    kept: list[Edit] = []
    for edit in sorted(edits, key=lambda edit: edit.span.start - edit.span.end):
        if not any(overlap(edit.span, other.span) for other in kept):
            kept.append(edit)
    return kept
