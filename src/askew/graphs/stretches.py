"""Whose facts stand where: from which word on a sentence speaks of somebody else."""

from __future__ import annotations

import re
from dataclasses import dataclass

from askew.graphs.page import Page, Sentence
from askew.graphs.person_words import (
    ANY,
    CHILD_OF_WRITER,
    CLINICIAN,
    FAMILY,
    FIRST,
    OTHER,
    PATIENT,
    POSSESSIVES,
    TELLS,
    Person,
)
from askew.graphs.wordlist import word_set

_BEFORE_NOUN = POSSESSIVES | word_set(
    """
    a an the one two older younger elder late paternal maternal half - both year month week
    old
    """
)
_MAIN_VERBS = word_set(
    """
    reports presents complains denies has is was takes comes notes describes attends
    """
)
_SOME_OF_THEM = re.compile(
    r"(?:one|two|three|some|many|several|most|all|none|another|others|each|a few|both) "
    r"(?:of (?:them|whom|the (?:other|others|students|children|staff|passengers)))\b"
)
_BEARS = word_set(
    """
    has had have with who whose died dies was is were are suffers suffered developed takes
    took takes both also recently succumbed survived uses tested got gets lives : ( - – ’s 's
    """
)


@dataclass(frozen=True, slots=True)
class Stretch:
    """From character `start` on, facts belong to `who`, until the next stretch."""

    start: int
    who: str


class Scan:
    """Goes through the sentences in order and says whose facts stand where."""

    def __init__(
        self, page: Page, people: tuple[Person, ...], patient: Person | None, first_person: bool
    ) -> None:
        self.page = page
        self.by_first = {person.first: person for person in people}
        self.patient = patient
        self.first_person = first_person
        self.sex = _patient_sex(page, people, patient)
        self.last_seen: dict[str, str] = {}  # sex -> who was named last
        self.outer = PATIENT  # whose clause a relative clause interrupts
        told = FIRST.search(page.lower) and not CLINICIAN.search(page.lower)
        known = patient or CHILD_OF_WRITER.match(page.lower)
        self.narrated = bool(told and known and not first_person)

    def sentence(self, sentence: Sentence) -> list[Stretch]:
        """The stretches of one sentence; each begins with the patient."""
        who, embedded = PATIENT, False
        found = [Stretch(sentence.start, PATIENT)]
        family = FAMILY.search(self.page.lower, sentence.start, sentence.end)
        for index in range(sentence.first, sentence.last):
            word = self.page.words[index]
            before = who
            person = self.by_first.get(index)
            if person is not None:
                who, embedded = self._named(person, who, embedded, bool(family))
            elif self._is_subject(index):
                meant = self._pronoun(word.lower, who)
                after = {one.lower for one in self.page.words[index + 1 : index + 5]}
                # "She has noticed …" with a male patient: the informant speaks of him.
                who, embedded = (PATIENT if meant != PATIENT and after & TELLS else meant), False
            elif word.text == ";":
                who, embedded = PATIENT, False
            elif _SOME_OF_THEM.match(self.page.lower, word.start):
                who, embedded = OTHER, False
            elif embedded and word.text == "," and self._verb_follows(index):
                who, embedded = self.outer, False
            if family and word.start == family.start() and who == PATIENT:
                who = ANY
            if who != before:
                found.append(Stretch(word.start, who))
        return found

    def _named(self, person: Person, who: str, embedded: bool, family: bool) -> tuple[str, bool]:
        words = self.page.words
        if person.who == PATIENT:
            subject = words[person.last - 1].dep in ("nsubj", "nsubjpass", "ROOT")
            return (PATIENT, False) if subject or who == PATIENT else (who, embedded)
        if person.sex:
            self.last_seen[person.sex] = person.who
        before = words[person.first - 1].lower if person.first else ""
        after = [word.lower for word in words[person.last : person.last + 6]]
        head = words[person.last - 1]
        link = self._before_noun_phrase(person)
        heads_list = family or (who not in (PATIENT, OTHER) and link in (",", "and", "or"))
        if not person.possessed and person.who not in (OTHER, ANY) and not heads_list:
            return self._bare(person, who, embedded, after)
        if after[:1] == ["who"] or after[:2] == [",", "who"] or after[:2] == [",", "whose"]:
            self.outer = person.who if head.dep in ("nsubj", "nsubjpass") else PATIENT
            return person.who, True
        self.outer = PATIENT
        if before == "whose" or (person.first > 1 and words[person.first - 2].lower == "whose"):
            # "A boy whose mother brought him in with a fever": of the boy.
            return (who, embedded) if self._tells(person, after) else (person.who, True)
        if heads_list and link not in ("in", "by", "of"):
            return person.who, embedded
        if head.lower.endswith(("'s", "’s")) and after[:1] not in (["side"], ["house"], ["home"]):
            return person.who, embedded
        subject = head.dep in ("nsubj", "nsubjpass") or bool(_BEARS & set(after[:1]))
        oblique = {before, link} & {"with", "by", "to", "from"}
        if after[:1] == ["with"] and head.dep not in ("nsubj", "nsubjpass"):
            return who, embedded  # "the mother of a toddler with chickenpox": one finding only
        if not subject or oblique or self._tells(person, after):
            return who, embedded
        return person.who, embedded

    def _before_noun_phrase(self, person: Person) -> str:
        """The word before a noun, its article and its adjectives."""
        index = person.first - 1
        while index > 0 and (
            self.page.words[index].lower in _BEFORE_NOUN or self.page.words[index].text.isdigit()
        ):
            index -= 1
        return self.page.words[index].lower if index >= 0 else ""

    def _bare(self, person: Person, who: str, embedded: bool, after: list[str]) -> tuple[str, bool]:
        """Of "a mother", "the son": somebody else as a subject, but no relative by that alone."""
        head = self.page.words[person.last - 1]
        before = self.page.words[person.first - 1].lower if person.first else ""
        article = before in ("a", "an", "one", "two", "three", "paternal", "maternal", "older")
        related = person.who not in ("mother", "father", "son", "daughter", "child", OTHER, "noun")
        bears = head.dep in ("nsubj", "nsubjpass") or bool(_BEARS & set(after[:1]))
        if article and related and bears and not self._tells(person, after):
            return person.who, embedded
        index = person.first - 1
        while (index > 0 and self.page.words[index].lower in _BEFORE_NOUN - {"the"} | {"-"}) or (
            self.page.words[index].text.isdigit()
        ):
            index -= 1
        before = self.page.words[index].lower if index >= 0 else ""
        if before == "the" and head.dep == "nsubj" and not self._tells(person, after):
            return person.who, embedded
        if head.lower.endswith("s") and not self._tells(person, after) and head.dep == "nsubj":
            return person.who, embedded
        return who, embedded

    def _tells(self, person: Person, after: list[str]) -> bool:
        """Whether the person reports about the patient."""
        clause: list[str] = []
        for word in after:
            if word in (",", ";", ".", "that", "of", "and"):
                break
            clause.append(word)
        if after[:1] == [","]:  # "his wife, a nurse, says"
            clause = [word.lower for word in self.page.words[person.last : person.last + 14]]
        return bool(set(clause) & TELLS)

    def _is_subject(self, index: int) -> bool:
        word = self.page.words[index]
        low = word.lower.split("'")[0].split("’")[0]
        if low in ("he", "she", "i"):
            return True
        return low in ("it", "they", "we") and word.dep in ("nsubj", "nsubjpass")

    def _pronoun(self, pronoun: str, who: str) -> str:
        low = pronoun.split("'")[0].split("’")[0]
        if low == "i":
            return OTHER if self.narrated else PATIENT
        if low in ("it", "they", "we"):
            return who if low != "we" else PATIENT
        sex = "male" if low == "he" else "female"
        if self.first_person or (self.sex and sex != self.sex):
            return self.last_seen.get(sex, OTHER)
        return PATIENT

    def _verb_follows(self, index: int) -> bool:
        """Whether the main clause goes on after a comma: "whose father died at 61, has …"."""
        for word in self.page.words[index + 1 : index + 4]:
            if word.tag in ("VBZ", "VBD", "VBP", "MD") or word.lower in _MAIN_VERBS:
                return True
            if word.lower not in ("and", "but", "now", "also", "still") and word.tag != "RB":
                return False
        return False


def _patient_sex(page: Page, people: tuple[Person, ...], patient: Person | None) -> str:
    """The sex of the pronouns that mean the patient: from the noun, else from the most frequent."""
    if patient and patient.sex and not _gender_follows_other_rules(page, patient):
        return patient.sex
    for person in people:
        if person.who == PATIENT and person.sex:
            return person.sex
    letter = re.search(r"\b\d{1,3}\s*(?:y/?\.?o\.?|yr|years?|-)?\s*([mf])\b", page.lower)
    if letter:
        return "male" if letter[1] == "m" else "female"
    counts = {
        "male": len(re.findall(r"\b(?:he|his|him)\b", page.lower)),
        "female": len(re.findall(r"\b(?:she|her|hers)\b", page.lower)),
    }
    if counts["male"] == counts["female"]:
        return ""
    return max(counts, key=lambda sex: counts[sex])


def _gender_follows_other_rules(page: Page, patient: Person) -> bool:
    """A transgender woman's noun is right, but "transgender female-to-male" and "AFAB" mislead."""
    before = page.lower[
        max(page.words[patient.first].start - 30, 0) : page.words[patient.first].start
    ]
    return "non-binary" in before or "nonbinary" in before
