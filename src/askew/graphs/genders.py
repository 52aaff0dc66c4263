"""The patient's gender, and the sex at birth where the text says it."""

from __future__ import annotations

import re

from askew.graphs.ages import letter_sex
from askew.graphs.page import Page
from askew.graphs.people import People
from askew.graphs.person_words import FEMALE_NOUNS, MALE_NOUNS, PATIENT, sex_of
from askew.vignettes import Relation, Span, Status, Triplet

_MAN = r"(?:man|men|male|boy|guy|masculine)"
_WOMAN = r"(?:woman|women|female|girl|lady|feminine)"
_TRANS = r"(?:transgender(?:ed)?|transsexual|trans)"
_IDENTITIES = (
    (
        "non-binary",
        re.compile(
            r"\b(?:non[\s-]?binary|gender[\s-]?queer|gender[\s-]?fluid|agender|enby|"
            r"bigender|genderless"
            r"|gender[\s-]non[\s-]?conforming|two[\s-]spirit|gender[\s-]diverse)\b"
        ),
    ),
    (
        "transgender man",
        re.compile(
            rf"\b{_TRANS}[\s-]?(?:{_MAN})\b|\b(?:ftm|f2m|female[\s-]to[\s-]male)\b|\btransman\b"
            rf"|\btransmasc\w*\b|\bman (?:of {_TRANS} experience|who is {_TRANS})\b"
        ),
    ),
    (
        "transgender woman",
        re.compile(
            rf"\b{_TRANS}[\s-]?(?:{_WOMAN})\b|\b(?:mtf|m2f|male[\s-]to[\s-]female)\b|\btranswoman\b"
            rf"|\btransfem\w*\b|\bwoman (?:of {_TRANS} experience|who is {_TRANS})\b"
        ),
    ),
)
_TRANS_ALONE = re.compile(rf"\b{_TRANS}(?:gender)?\b|\bgender (?:affirming|transition)")
_IDENTIFIES = re.compile(
    rf"\b(?:identif(?:y|ies|ied|ying) as|lives as|living as|transitioned to|gender(?: "
    rf"identity)? (?:is|:)) (?:an? )?"
    rf"(?P<now>{_TRANS} )?(?P<what>{_MAN}|{_WOMAN})\b"
)
_SEX = r"(?P<sex>female|male|girl|boy|woman|man)"
_BIRTH = (
    re.compile(
        rf"\b(?:was |were )?(?:assigned|designated|registered|recorded as|sexed)(?: "
        rf"as)?(?: an?)? ?{_SEX}(?: sex)? at birth\b"
    ),
    re.compile(
        rf"\b(?:(?:sex )?(?:assigned|recorded|registered) )?(?:sex )?at birth(?: is| was|"
        rf":|,| of)? ?(?:an? )?{_SEX}\b"
    ),
    re.compile(
        rf"\b(?:birth|natal|biological|assigned)(?:ly)?[\s-]sex(?: is| was|:|,| of)? ?{_SEX}\b"
    ),
    re.compile(
        rf"\b{_SEX} (?:sex )?(?:assigned )?at birth\b|\b{_SEX.replace('sex>', 'sexb>')} birth sex\b"
    ),
    re.compile(rf"\b(?:biologically|anatomically|natal|born(?: as)?(?: an?)?) {_SEX}\b"),
    re.compile(r"\b(?P<letters>afab|amab|dfab|dmab)\b"),
)
_PRONOUN = re.compile(r"\b(?P<male>he|him|his|himself)\b|\b(?P<female>she|her|hers|herself)\b")


def birth_sex(page: Page) -> list[Triplet]:
    """The sex at birth, where the text says it: at most one triplet.

    >>> from askew.graphs.page import cut
    >>> from askew.graphs.parsing import parse
    >>> [found.value for found in birth_sex(cut(parse("A trans man, assigned female at birth.")))]
    ['female']
    """
    for pattern in _BIRTH:
        for found in pattern.finditer(page.lower):
            groups = found.groupdict()
            word = groups.get("sex") or groups.get("sexb") or groups.get("letters") or ""
            if word in ("boy", "girl") and found.group().startswith("born"):
                continue  # "was born a girl" is rare; "boy, born at 39 weeks" is not
            value = "female" if word in ("female", "girl", "woman", "afab", "dfab") else "male"
            return [_triplet(page, Relation.HAS_BIRTH_SEX, value, *found.span(), "birth_sex")]
    return []


def plain_gender(page: Page) -> list[Triplet]:
    """The first word that names a gender, whoever's it is: no logic."""
    for word in page.words:
        if sex := sex_of(word.lower):
            return [_triplet(page, Relation.HAS_GENDER, sex, word.start, word.end, "noun")]
    return []


def patient_gender(page: Page, people: People) -> list[Triplet]:
    """The patient's gender: at most one triplet."""
    born = birth_sex(page)
    found = (
        _identity(page, people, born)
        or _noun(page, people)
        or _letter(page, people)
        or _pronoun(page, people, born)
    )
    return [found] if found else []


def _identity(page: Page, people: People, born: list[Triplet]) -> Triplet | None:
    for value, pattern in _IDENTITIES:
        for found in pattern.finditer(page.lower):
            if people.holder(found.start()) == PATIENT and not _others(page, people, found.start()):
                return _triplet(page, Relation.HAS_GENDER, value, *found.span(), "identity")
    alone = _TRANS_ALONE.search(page.lower)
    said = _IDENTIFIES.search(page.lower)
    if said and (said["now"] or alone or born):
        value = "transgender man" if re.fullmatch(_MAN, said["what"]) else "transgender woman"
        return _triplet(page, Relation.HAS_GENDER, value, *said.span("what"), "identity")
    return None


def _others(page: Page, people: People, start: int) -> bool:
    """Whether the wording stands at a noun for somebody else: "her trans daughter"."""
    index = page.word_at(start)
    for place in range(index, min(index + 4, len(page.words))):
        person = people.at(place)
        if person is not None:
            return person.who != PATIENT and person.possessed
    return False


def _noun(page: Page, people: People) -> Triplet | None:
    for person in people.mentions:
        if person.who != PATIENT or not person.sex:
            continue
        word = page.words[person.last - 1]
        if word.lower.rstrip("s") in ("wife", "husband") and not person.possessed:
            continue
        return _triplet(page, Relation.HAS_GENDER, person.sex, word.start, word.end, "noun")
    for index, word in enumerate(page.words):  # "an 80-year-old female patient", "male, 34"
        if word.lower not in ("female", "male") or people.holder(word.start) != PATIENT:
            continue
        after = page.words[index + 1].lower if index + 1 < len(page.words) else ""
        if people.at(index) is None and after not in ("partner", "partners", "pattern", "sex"):
            return _triplet(page, Relation.HAS_GENDER, word.lower, word.start, word.end, "noun")
    return None


def _letter(page: Page, people: People) -> Triplet | None:
    age = letter_sex(page, people)
    if age is None:
        return None
    at = next(place for place in range(age.start, age.end) if page.text[place] in "MF")
    return _triplet(page, Relation.HAS_GENDER, age.sex, at, at + 1, "letter")


def _pronoun(page: Page, people: People, born: list[Triplet]) -> Triplet | None:
    """The first pronoun that means the patient.

    A pronoun that an informant's or relative's own mention explains is passed over: "a mother
    brings her infant" says nothing of the infant.
    """
    if people.first_person:
        return _first_person(page, people)
    transgender = _TRANS_ALONE.search(page.lower)
    if re.search(r"\bthey/them\b", page.lower):
        return None
    votes: list[tuple[str, int, int]] = []
    for found in _PRONOUN.finditer(page.lower):
        sex = "male" if found["male"] else "female"
        if people.holder(found.start()) == PATIENT and not _explained(
            page, people, found.start(), sex
        ):
            votes.append((sex, *found.span()))
    if not votes:
        return None
    sexes = [sex for sex, _, _ in votes]
    sex = max(("male", "female"), key=lambda one: (sexes.count(one), one == sexes[0]))
    _, start, end = next(vote for vote in votes if vote[0] == sex)
    value = sex
    if transgender:
        value = "transgender man" if sex == "male" else "transgender woman"
    return _triplet(page, Relation.HAS_GENDER, value, start, end, "pronoun")


def _explained(page: Page, people: People, start: int, sex: str) -> bool:
    """Whether another person of that sex is nearer before the pronoun, in its own sentence."""
    sentence = page.sentence_at(start)
    index = page.word_at(start)
    inside = [
        one for one in people.mentions if sentence.first <= one.first < index and one.who != PATIENT
    ]
    possessor = page.words[index].lower in ("his", "her", "their")
    if possessor:
        after = next((one for one in people.mentions if index < one.first <= index + 6), None)
        before = [one for one in inside if one.sex in (sex, "")]
        if after is not None and after.who == PATIENT and before:
            return True  # "a mother brings her infant": the mother's
        # "his wife … his son": possessives mean the patient unless somebody else stands between.
        return bool(before) and not any(one.possessed for one in before)
    subject = page.words[index].lower in ("he", "she")
    return bool(
        [one for one in inside if one.sex == sex or (one.sex == "" and not subject)]
        and not any(
            one.who == PATIENT and sentence.first <= one.first < index for one in people.mentions
        )
    )


def _first_person(page: Page, people: People) -> Triplet | None:
    """The noun in "I'm a 34-year-old woman", "as a mum of two"."""
    found = re.search(
        r"\b(?:i'm|i’m|i am|as|im) (?:an? )?(?:[\w-]+[\s,]+){0,5}?(?P<noun>\w+)\b", page.lower
    )
    while found:
        noun = found["noun"]
        if noun in FEMALE_NOUNS | MALE_NOUNS:
            sex = sex_of(noun)
            return _triplet(page, Relation.HAS_GENDER, sex, *found.span("noun"), "noun")
        index = page.word_at(found.start("noun")) + 1
        nearby = page.words[index : index + 5]
        match = next((word for word in nearby if sex_of(word.lower)), None)
        if match is None or people.holder(match.start) != PATIENT:
            return None
        sex = sex_of(match.lower)
        return _triplet(page, Relation.HAS_GENDER, sex, match.start, match.end, "noun")
    return None


def _triplet(
    page: Page, relation: Relation, value: str, start: int, end: int, rule: str
) -> Triplet:
    return Triplet(relation, value, Status.PRESENT, Span(start, end), page.text[start:end], rule)
