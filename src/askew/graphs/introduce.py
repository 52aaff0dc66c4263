"""Which mention introduces the patient: the subject, the child that is brought, the narrator."""

from __future__ import annotations

import re

from askew.graphs.page import Page
from askew.graphs.person_words import (
    CHILD_OF_WRITER,
    CLINICIAN,
    FAMILY,
    FIRST,
    OTHER,
    STAFF,
    TELLS,
    Person,
)

_GIVES_OVER = re.compile(
    r"\b(?P<verb>brings?|brought(?: in)?|carries|carried|takes|took|accompan(?:ies|ied)|"
    r"presents? with"
    r"|caller\b[^.;]{0,50}?\babout|presented with|comes? (?:in )?with|came (?:in )?with|"
    r"attends? with|calls? about|called about"
    r"|(?:think|believe|suspect)s?(?: that)?|(?:is|are|am|'m|was|were) (?:very |really |"
    r"so )?(?:worried|concerned|calling|writing|asking|here"
    r"|enquiring|inquiring) (?:about|for|with|on behalf of)|have|has|consults? (?:you )?about"
    r"|seeks? (?:advice|help|care) (?:for|about)|looks? after|cares? for|phones? about|"
    r"rings? about)"
    r" (?P<owner>her|his|their|my|our|an?|the|one of (?:her|his|their|my|our))\b"
)
_OF_A = re.compile(
    r"\b(?:mother|father|parents?|wife|husband|guardian|carer|caregiver|mum|mom|dad|spouse|partner"
    r"|grandmother|grandfather|daughter|son|sister|brother|aunt|uncle)s? of (?:a|an|the|this|our)\b"
)


def introduced(page: Page, people: tuple[Person, ...]) -> tuple[Person | None, bool]:
    """The mention that introduces the patient, and whether the patient writes."""
    by_first = {person.first: person for person in people}
    lower = page.lower.replace("’", "'")
    given = _given_over(page, lower, by_first)
    if given:
        return given, False
    first = FIRST.search(lower)
    if first and not CLINICIAN.search(lower) and not _quoted(lower, first.start()):
        if CHILD_OF_WRITER.match(lower):
            return None, False
        told = next((one for one in people if _starts_my(page, one, first.start())), None)
        return told, told is None
    of_a = next((one for one in _OF_A.finditer(lower) if _is_about(page, one.end())), None)
    start = page.word_at(of_a.end()) if of_a else 0
    open_people = [one for one in people if one.first >= start]
    introduced = [one for one in open_people if _can_be_patient(page, one, people)]
    named = [one for one in introduced if page.words[one.last - 1].lower.startswith("patient")]
    aged = [one for one in introduced if _has_age(page, one)]
    return next(iter(aged or introduced or named), None), False


def _is_about(page: Page, end: int) -> bool:
    """Whether "the parents of a …" goes on with the patient: an age, or what the parents tell."""
    at = page.word_at(end)
    near = [word.lower for word in page.words[at : at + 8]]
    aged = any(word in ("old", "year", "month", "week", "day") for word in near[:6])
    return aged or bool(set(near[1:5]) & TELLS)


def _given_over(page: Page, lower: str, by_first: dict[int, Person]) -> Person | None:
    """The son whom a mother brings, the father about whom somebody writes."""
    for found in _GIVES_OVER.finditer(lower):
        sentence = page.sentence_at(found.start())
        if sentence.first > 0 and page.sentences.index(sentence) > 1:
            return None
        before = lower[sentence.start : found.start()]
        passive = re.search(r"\b(?:is|was|been|being|gets|got|were|are) (?:\w+ )?$", before)
        if passive and found["verb"].startswith(("brought", "carried", "accompanied", "took")):
            continue
        at = page.word_at(found.end())
        noun = next((by_first[index] for index in range(at, at + 10) if index in by_first), None)
        if noun is None:
            continue
        middle = lower[found.end() : page.words[noun.first].start]
        after = lower[page.words[noun.last - 1].end :][:20]
        if set(middle) & set(",;.") or re.search(r"\b(?:of|with|for|to|and|by)\b", middle):
            continue
        verb = found["verb"]
        if verb in ("have", "has"):
            # "I have a 4-year-old son who …" introduces him; "She has a son" does not.
            aged = re.search(r"\d|old|month|week", middle) and "who" in after
            if not aged or not re.search(r"\bi\b|\bwe\b", before):
                continue
        if verb.startswith(("think", "believe", "suspect")) and not re.match(
            r".*\b(?:i|we) (?:\w+ )?$", before
        ):
            continue
        if verb in ("takes", "took") and not re.match(r"\s*(?:in )?to\b", after):
            continue
        subject = set(before.split()) & {
            "mother",
            "father",
            "parents",
            "mum",
            "mom",
            "dad",
            "parent",
        }
        if verb.startswith(("present", "com", "came", "attend")) and not subject:
            continue
        if verb.startswith(("present", "com", "came", "attend")) and not _has_age(page, noun):
            continue
        if verb.startswith(("look", "care")) or (
            found["owner"] == "the" and not _has_age(page, noun)
        ):
            continue
        if not re.search(r"\w", before) or "patient" in before.split():
            continue
        return noun
    return None


def _quoted(lower: str, at: int) -> bool:
    return lower.count('"', 0, at) % 2 == 1 or lower.count("“", 0, at) > lower.count("”", 0, at)


def _starts_my(page: Page, person: Person, first: int) -> bool:
    """Whether the text opens with "my …" and that person is what it is about."""
    opening = page.words[page.word_at(first)]
    if opening.lower != "my" or not person.possessed:
        return False
    if not 0 < person.first - page.word_at(first) <= 6:
        return False
    after = [word.lower for word in page.words[person.last : person.last + 4]]
    return not (set(after[:2]) & TELLS) or "and" in after[:1]


def _can_be_patient(page: Page, person: Person, people: tuple[Person, ...]) -> bool:
    word = page.words[person.last - 1]
    owned = person.possessed and not word.lower.startswith("patient")  # "my patient"
    if owned or (person.who == OTHER and not _has_age(page, person)):
        return False
    before = [one.lower for one in page.words[max(person.first - 8, 0) : person.first]]
    after = {one.lower for one in page.words[person.last : person.last + 3]}
    if person.who != "noun" and before[-1:] != ["old"]:
        start = page.words[person.first].start
        family = FAMILY.search(page.lower, page.sentence_at(start).start, start)
        if after & TELLS or family:
            return False  # "Dad says she has had a cold", "FHx: mother - gallstones"
    if word.lower in STAFF and not _has_age(page, person):
        return False
    if second_noun(page, person, people):
        return False
    return not (before[-1:] == ["by"] or before[-2:] == ["by", "a"])


def second_noun(page: Page, person: Person, people: tuple[Person, ...]) -> bool:
    """Whether a noun stands in apposition to somebody else: "his wife, a 68-year-old nurse"."""
    for other in people:
        if other.first < person.first and (other.possessed or other.who == OTHER):
            gap = [one.lower for one in page.words[other.last : person.first]]
            nearest = not any(other.first < one.first < person.first for one in people)
            if set(gap) & {".", ";", "?", "!"}:
                continue  # another sentence: "his sister, a librarian. The 64-year-old patient"
            if nearest and gap[:1] in ([","], ["("]) and set(gap) & {"a", "an"}:
                return gap.count(",") <= 1 and ":" not in gap
    return False


def _has_age(page: Page, person: Person) -> bool:
    start = page.words[max(person.first - 8, 0)].start
    stop = page.words[min(person.last + 5, len(page.words) - 1)].end
    near = page.lower[start:stop]
    return bool(re.search(r"\d|old\b|aged|teen|ties\b|\bin (?:his|her|their) ", near))
