"""Who is meant: the patient, a blood relative, or somebody whose facts are not wanted."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from askew.graphs.introduce import introduced, second_noun
from askew.graphs.lexicon import Piece, listed
from askew.graphs.page import Page
from askew.graphs.person_words import (
    ANY,
    FEMALE_NOUNS,
    MALE_NOUNS,
    NEUTRAL_NOUNS,
    NOUN_ENDS,
    OTHER,
    PATIENT,
    POSSESSIVES,
    REFERS_BACK,
    STAFF,
    TELLS,
    Person,
    sex_of,
)
from askew.graphs.stretches import Scan, Stretch
from askew.graphs.wordlist import word_set


@dataclass(frozen=True, slots=True)
class People:
    """Everybody in a text, and whose facts stand where."""

    mentions: tuple[Person, ...]
    patient: Person | None  # the first mention of the patient by a noun
    first_person: bool  # the patient is the one who writes
    stretches: tuple[Stretch, ...]

    def holder(self, character: int) -> str:
        """Whose facts stand at a character."""
        who = PATIENT
        for stretch in self.stretches:
            if stretch.start > character:
                break
            who = stretch.who
        return who

    def is_patient(self, word: int) -> bool:
        """Whether the word belongs to a mention of the patient."""
        return any(
            person.who == PATIENT and person.first <= word < person.last for person in self.mentions
        )

    def at(self, word: int) -> Person | None:
        """The mention that covers a word."""
        return next((one for one in self.mentions if one.first <= word < one.last), None)


_BORN_AS = re.compile(
    r"(?:assigned|registered|recorded|designated|sex|born)(?: as| a| at birth| is|:)* (?:fe)?male\b"
    r"|\b(?:fe)?male at birth"
)


_AS_A_CHILD = re.compile(
    r"\bas an? (?:young |small |little |teenage )?(?:boy|girl|child|kid|baby|infant|toddler|"
    r"teenager|teen|adolescent|student|man|woman|adult)$"
)


def mentions(page: Page, parts: list[Piece]) -> tuple[Person, ...]:
    """Every person that a noun names, in order; relatives by their own name."""
    found = [
        _relative(page, entry.first, entry.last, entry.term.tags)
        for entry in listed(page, parts, "relatives")
        if entry.term.tags.get("blood") and not _part_of_name(page, entry.first, entry.last)
    ]
    taken = {word for person in found for word in range(person.first, person.last)}
    for index, word in enumerate(page.words):
        low = word.lower.rstrip(".")
        around = (
            page.lower[max(word.start - 4, 0) : word.start],
            page.lower[word.end : word.end + 4],
        )
        if low in ("male", "female") and _BORN_AS.search(
            page.lower[: word.end + 9], max(word.start - 20, 0)
        ):
            continue  # "assigned male at birth" names a record, not a person
        if "-to-" in around or (low == "teens" and around[0].strip() in ("her", "his")):
            continue  # "male-to-female", "in her teens"
        if index in taken or word.tag.startswith("VB"):
            continue
        if _AS_A_CHILD.search(page.lower, max(word.start - 16, 0), word.end):
            continue  # "had measles as a boy" names an age, not a person
        singular = low[:-1] if low.endswith("s") and len(low) > 3 else low
        if {low, singular} & (FEMALE_NOUNS | MALE_NOUNS | NEUTRAL_NOUNS):
            before = [one.lower for one in page.words[max(index - 7, 0) : index]]
            owned = _possessed(before) and singular not in ("patient", "pt")
            sex = sex_of(low) or sex_of(singular)
            found.append(Person(index, index + 1, "noun", sex, owned))
    found.sort(key=lambda person: person.first)
    return tuple(_of_another(page, found))


def _relative(page: Page, first: int, last: int, tags: object) -> Person:
    assert hasattr(tags, "get")
    before = [word.lower for word in page.words[max(first - 7, 0) : first]]
    who = OTHER if tags.get("blood") == "no" else str(tags.get("gold", ANY))
    who = ANY if who == "relative" else who
    return Person(first, last, who, str(tags.get("sex", "")), _possessed(before))


def _possessed(before: list[str]) -> bool:
    """Whether a possessive stands before a noun, with nothing but its adjectives between."""
    for word in reversed(before):
        if word in POSSESSIVES or word.endswith(("'s", "’s")):
            return True
        if not (word.isalnum() or word in "-/") or word in NOUN_ENDS:
            return False
        if word in ("a", "an", "the"):
            return False
    return False


def _part_of_name(page: Page, first: int, last: int) -> bool:
    """Words such as "family medicine", "sister ship", "brother" in a name of a place."""
    after = page.words[last].lower if last < len(page.words) else ""
    head = page.words[last - 1].lower
    if head == "family":
        return after in ("medicine", "physician", "doctor", "practice", "planning", "history", "hx")
    return after == "tongue" or (head in ("child", "children") and after == "care")


def _of_another(page: Page, found: list[Person]) -> list[Person]:
    """Settle "his wife's mother" (nobody's), "her mother's sister" (an aunt)."""
    aunts = {"sister": "aunt", "brother": "uncle", "mother": "grandmother", "father": "grandfather"}
    settled: list[Person] = []
    for person in found:
        previous = settled[-1] if settled else None
        owner = page.words[person.first - 1].lower if person.first else ""
        if previous and previous.last == person.first and owner.endswith(("'s", "’s", "'", "’")):
            if previous.who in ("mother", "father") and person.who in aunts:
                person = replace(person, who=aunts[person.who])
            elif previous.who != "noun":
                person = replace(person, who=OTHER)
        settled.append(person)
    return settled


def find(page: Page, parts: list[Piece], *, experiencers: bool = True) -> People:
    """Everybody in a text; with `experiencers` off, every fact is taken to be the patient's."""
    people = mentions(page, parts)
    patient, first_person = introduced(page, people)
    seen = people
    people = tuple(
        replace(person, who=OTHER)
        if person.who in ("noun", OTHER)
        and not person.possessed
        and person != patient
        and second_noun(page, person, seen)
        else _settle(page, person, patient, first_person)
        for person in people
    )
    people = _inverted(page, people)
    patient = next((person for person in people if patient and person.first == patient.first), None)
    stretches: list[Stretch] = []
    if experiencers:
        scan = Scan(page, people, patient, first_person)
        for sentence in page.sentences:
            stretches += scan.sentence(sentence)
    return People(people, patient, first_person, tuple(stretches))


# Who an informant means by "her mother", "his wife": the patient, seen from the other side.
_CHILDREN = word_set("son daughter child")
_PARENTS = word_set("mother father parent")
_INVERSE: tuple[tuple[frozenset[str], frozenset[str]], ...] = (
    (_CHILDREN, word_set("mother father mum mom dad")),
    (word_set("wife husband spouse partner"), word_set("wife husband spouse")),
    (_PARENTS, word_set("son daughter child baby infant boy girl")),
    (word_set("sister brother sibling"), word_set("sister brother")),
)


def _inverted(page: Page, people: tuple[Person, ...]) -> tuple[Person, ...]:
    """Settle "the patient's daughter states that her mother …": she is the patient."""
    settled = list(people)
    for place, teller in enumerate(people):
        sentence = page.sentence_at(page.words[teller.first].start)
        head = page.words[teller.last - 1].lower
        for later in range(place + 1, len(people)):
            person = people[later]
            if person.first >= sentence.last:
                break
            between = [word.lower for word in page.words[teller.last : person.first]]
            noun = page.words[person.last - 1].lower
            told = set(between) & TELLS and person.possessed and teller.who != PATIENT
            inverse = any(
                ({head, teller.who} & ones) and noun in others for ones, others in _INVERSE
            )
            if told and inverse and person.who != PATIENT:
                settled[later] = replace(person, who=PATIENT)
    return tuple(settled)


def _settle(page: Page, person: Person, patient: Person | None, first_person: bool) -> Person:
    """Say who a noun is, now that the patient is known."""
    if patient and person.first == patient.first:
        return replace(person, who=PATIENT)
    word = page.words[person.last - 1].lower
    before = [one.lower for one in page.words[max(person.first - 3, 0) : person.first]]
    if person.who not in ("noun", OTHER) or (person.who == OTHER and person.possessed):
        same = patient and _says_same(page, person, patient)
        return replace(person, who=PATIENT) if same else person
    if word.startswith(("patient", "pt")) or word in ("mr", "mrs", "ms", "mr.", "mrs.", "ms."):
        return replace(person, who=PATIENT)
    if word in STAFF and set(before) & {"the", "a", "her", "his", "my"}:
        return replace(person, who=OTHER)
    agrees = not (person.sex and patient and patient.sex and person.sex != patient.sex)
    refers = set(before) & REFERS_BACK and agrees
    if patient and 0 < person.first - patient.last <= 8 and before[-1:] in (["old"], ["o"], ["yo"]):
        return replace(person, who=PATIENT)  # "Patient is 25 year old female"
    if (
        patient
        and 0 <= person.first - patient.last <= 2
        and all(
            one.tag.startswith(("NN", "JJ", "VBN"))
            for one in page.words[patient.last : person.first]
        )
    ):
        return replace(person, who=PATIENT)  # "a male college athlete"
    # "She is a nurse", "he, a farmer, …": a further noun for the patient.
    predicate = page.words[person.first].dep in ("attr", "appos", "ROOT", "compound")
    return replace(person, who=PATIENT if refers or predicate or first_person else OTHER)


def _says_same(page: Page, person: Person, patient: Person) -> bool:
    """Whether "my dad", "her son" or "the baby" is once more the relative who is the patient."""
    word = page.words[person.last - 1].lower
    first = page.words[patient.last - 1].lower
    before = page.words[person.first - 1].lower if person.first else ""
    if word == first and (person.possessed or before in REFERS_BACK):
        return True
    if before in ("the", "this") and person.who in ("child", "son", "daughter"):
        return not (person.sex and patient.sex and person.sex != patient.sex)
    return False
