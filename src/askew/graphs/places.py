"""Where the patient lives, comes from and has been."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from askew.graphs.context import Context
from askew.graphs.lexicon import Piece, listed
from askew.graphs.page import Page
from askew.graphs.people import People
from askew.graphs.person_words import PATIENT
from askew.graphs.place_patterns import (
    AFTER_TRIGGER,
    CANCELLED,
    DIRECTIONS,
    DWELLING,
    HOSPITAL_BEFORE,
    IN,
    INSTITUTION,
    NAME_AFTER,
    NAME_BEFORE,
    NATIONAL,
    PLANS,
    RACIAL,
    TRIGGER,
    WITHIN,
)
from askew.graphs.rules import RuleSet
from askew.graphs.terms import fold, lookup
from askew.vignettes import Relation, Span, Status, Triplet


@dataclass(frozen=True, slots=True)
class _Place:
    start: int
    end: int
    value: str
    rule: str


# "A friend from Oslo": where somebody comes from who is not the patient.
_OF_ANOTHER = re.compile(
    r"\b(?:friend|room-?mate|flat-?mate|house-?mate|neighbou?r|partner|husband|wife|girlfriend"
    r"|boyfriend|uncle|aunt|cousin|carer|colleague|co-?worker|boss|visitor|relative|guest)s?"
    r"(?: who (?:is|are|comes?))? from (?:[\w-]+ ){0,2}$"
)


def find(
    page: Page, parts: list[Piece], people: People, context: Context, rules: RuleSet
) -> list[Triplet]:
    """Homes, origins and journeys of the patient, in the order of the text."""
    places = _named(page, parts, rules)
    found = _institutions(page, people, places)
    for place in places:
        relation = _relation(page, place, places)
        if relation is None or not _whose(page, people, place.start):
            continue
        if _OF_ANOTHER.search(page.lower[max(place.start - 50, 0) : place.start]):
            continue
        status = _status(page, place, relation, context)
        if status is None:
            continue
        span = Span(place.start, place.end)
        text = page.text[place.start : place.end]
        fired = f"{place.rule} + place"
        found.append(Triplet(relation, place.value, status, span, text, fired))
    found = _apart(page, found) + _demonyms(page, parts, people)
    if any(_grew(page, one) for one in found) and not all(_grew(page, one) for one in found):
        others = [one for one in found if one.relation is Relation.BORN_IN and not _grew(page, one)]
        found = [one for one in found if not others or not _grew(page, one)]
    return _clean(sorted(found, key=lambda triplet: triplet.span or Span(0, 0)))


def _apart(page: Page, found: list[Triplet]) -> list[Triplet]:
    """Home and origin told apart: who is from one place and lives in another was born there."""

    def after(triplet: Triplet, words: str) -> bool:
        start = triplet.span.start if triplet.span else 0
        return bool(re.search(words, page.lower[max(start - 60, 0) : start]))

    homes = [one for one in found if one.relation is Relation.LIVES_IN]
    told = [one for one in homes if after(one, r"\b(?:liv|resid)(?:es?|ed|ing)\b[^.;]{0,45}$")]
    origins = [one for one in homes if one not in told and after(one, r"\bfrom (?:[\w-]+ ){0,2}$")]
    if not told:
        return found
    return [replace(one, relation=Relation.BORN_IN) if one in origins else one for one in found]


def _grew(page: Page, triplet: Triplet) -> bool:
    """Whether an origin is only where somebody grew up: the place of birth goes before it."""
    if triplet.relation is not Relation.BORN_IN or triplet.span is None:
        return False
    before = page.lower[max(triplet.span.start - 25, 0) : triplet.span.start]
    return bool(re.search(r"\b(?:raised|grew up|brought up|growing up)\b", before))


def plain(page: Page) -> list[Triplet]:
    """Every place that spaCy names, as a home: extraction without rules."""
    return [
        Triplet(
            Relation.LIVES_IN,
            entity.text,
            Status.PRESENT,
            Span(entity.start_char, entity.end_char),
            entity.text,
            "ner",
        )
        for entity in page.doc.ents
        if entity.label_ in ("GPE", "LOC")
    ]


def _named(page: Page, parts: list[Piece], rules: RuleSet) -> list[_Place]:
    """Names of places: the gazetteer's, and spaCy's where the gazetteer has none."""
    found: list[_Place] = []
    for entry in listed(page, parts, "places") if "lists" in rules else ():
        words = page.words[entry.first : entry.last]
        start, end = words[0].start, words[-1].end
        end -= 2 if page.lower[start:end].endswith(("'s", "’s")) else 0
        if words[0].text[:1].isupper() and not _in_name(page, start, end):
            rule = "guarded" if entry.guarded else "list"
            found.append(_Place(start, end, page.text[start:end], rule))
    for entity in page.doc.ents if "ner" in rules else ():
        start, end = entity.start_char, entity.end_char
        text = entity.text.strip()
        if entity.label_ not in ("GPE", "LOC", "FAC") or not text[:1].isalpha():
            continue
        if any(start < one.end and one.start < end for one in found):
            continue
        if text.lower().startswith("the "):
            start, text = start + 4, text[4:]
        if text.isupper() and len(text) <= 4:
            continue  # "ER", "ICU"
        if text[:1].isupper() and not _in_name(page, start, start + len(text)):
            found.append(_Place(start, start + len(text), text, "ner"))
    found += _capitalised(page, found)
    named = [place for place in found if place.value.lower() not in DIRECTIONS]
    return _joined(page, sorted(named, key=lambda place: place.start))


def _joined(page: Page, found: list[_Place]) -> list[_Place]:
    """A town with the state or country after it as one place: "Miami, Florida".

    A twin that moves the patient has to replace both, or it would put Nairobi in Florida.
    """
    joined: list[_Place] = []
    for place in found:
        last = joined[-1] if joined else None
        if last and WITHIN.fullmatch(page.text, last.end, place.start) and _contains(place, last):
            value = page.text[last.start : place.end]
            joined[-1] = replace(last, end=place.end, value=" ".join(value.split()))
        else:
            joined.append(place)
    return joined


def _contains(larger: _Place, smaller: _Place) -> bool:
    """Whether one place can lie in the other: "Laos, Cambodia" are two countries side by side."""
    outer = lookup("places").get(fold(larger.value))
    inner = lookup("places").get(fold(smaller.value.split(",")[-1]))
    if outer is None:
        return False
    if inner is None and smaller.rule == "ner":
        return True  # a village or a home that no gazetteer has
    if outer.tags.get("kind") not in ("country", "state", "region", "continent"):
        return False
    if inner is None:
        return True
    if inner.tags.get("kind") in ("country", "continent"):
        return False
    country = inner.tags.get("country")
    return country in (None, outer.name, outer.tags.get("country"))


def _capitalised(page: Page, known: list[_Place]) -> list[_Place]:
    """Capitalised names straight after "lives in" that no list and no model knows."""
    found = []
    for match in AFTER_TRIGGER.finditer(page.text):
        start, end = match.span("what")
        if any(start < one.end and one.start < end for one in known) or _in_name(page, start, end):
            continue
        if page.lower[start:end] in ("christmas", "easter", "i", "dr", "mr", "mrs"):
            continue
        found.append(_Place(start, end, page.text[start:end], "ner"))
    return found


def _in_name(page: Page, start: int, end: int) -> bool:
    """Whether a place is only part of a name: a hospital, a disease, a doctor."""
    before, after = page.text[max(start - 40, 0) : start], page.text[end : end + 45]
    if NAME_AFTER.match(after) or NAME_BEFORE.search(before):
        return True
    return bool(re.match(r"-(?!born|based)\w", after))


def _whose(page: Page, people: People, start: int) -> bool:
    """Whether the clause is about the patient; "we live in …" counts the patient in."""
    return people.holder(start) == PATIENT


def _relation(page: Page, place: _Place, places: list[_Place]) -> Relation | None:
    """What ties the patient to a place: the nearest trigger before it in the sentence."""
    sentence = page.sentence_at(place.start)
    began = sentence.start
    before = page.lower[began : place.start]
    text = before
    for one in places:  # places are no triggers, and a list of them shares one
        if sentence.start <= one.start < place.start:
            text = text[: one.start - began] + " " * (one.end - one.start) + text[one.end - began :]
    last: re.Match[str] | None = None
    for found in TRIGGER.finditer(text):
        if found.lastgroup == "abroad":
            continue
        if DWELLING.fullmatch(found.group().strip()) and not IN.match(text, found.end()):
            continue
        # "Returned from": the verb before it says more than "from".
        if (
            found.lastgroup == "from"
            and last
            and (found.start() - last.end() < 35 or "migrat" in last.group())
        ):
            continue
        last = found
    if re.match(r"['’]?s?[\s-]*born\b|\s+native\b", page.lower[place.end : place.end + 8]):
        return Relation.BORN_IN
    where = re.search(
        r", where (?:he|she|they|i) (?:\w+ )*?(?:lives?|lived|resides?|grew up|was born)",
        page.lower[place.end : place.end + 40],
    )
    if last is None and where:
        return Relation.BORN_IN if re.search(r"born|grew", where.group()) else Relation.LIVES_IN
    if last is None or HOSPITAL_BEFORE.search(before[last.end() :] and before):
        return None
    gap = text[last.end() :]
    if not _near(gap):
        return None
    return _of_trigger(last, gap, text, bool(where), page.lower[place.end : sentence.end])


def _near(gap: str) -> bool:
    """Whether a place can still belong to a trigger: a few words of place, time and company."""
    return len(gap) <= 75 and not re.search(
        r"\b(?:because|reports|presents|has had|complains|hospital|clinic|doctor|"
        r"developed|with (?:fever|pain|diarrhea)|fever|treated|works|speaks|seen|"
        r"diagnosed)\b",
        gap,
    )


def _of_trigger(
    trigger: re.Match[str], gap: str, before: str, where: bool, after: str
) -> Relation | None:
    kind, word = str(trigger.lastgroup), trigger.group().strip()
    full = before[trigger.start() :]
    to = bool(re.search(r"\b(?:to|into|in)\s+(?:the |rural |\w+ern )*\s*$", before))
    if kind == "lives":
        if re.search(
            r"\bused to live\b|\b(?:previously|formerly|once) (?:lived|resided)\b", before
        ):
            return None
        if re.search(r"\blived\b", word) and not re.search(
            r"\b(?:has|have|had|'s|since)\b", before[-60:] + after[:30]
        ):
            return None
        return Relation.LIVES_IN if not re.search(r"\bfrom\b", gap) else Relation.BORN_IN
    if kind == "born":
        if re.match(
            r"(?:moved|relocated|came|migrat|immigrat|emigrat|adopted|arrived)", word
        ) and re.search(r"\bto\b", gap):
            return Relation.LIVES_IN
        if word.startswith(("came", "comes", "coming")) and "from" not in gap:
            return None
        if word == "left":
            return (
                Relation.BORN_IN
                if re.search(r"\bleft (?:his|her|their) (?:native|home)\b", full)
                else None
            )
        if word.startswith(("born", "raised", "grew", "growing", "brought", "childhood")):
            return (
                Relation.BORN_IN
                if re.match(
                    r"\s*(?:and (?:raised|brought up|bred) )?(?:abroad )?(?:in|near|on|"
                    r"outside|at)\b|\s*(?:\w+ )*in\b",
                    gap,
                )
                else None
            )
        if word.startswith("arrived") and re.search(r"\bin\b", gap) and "from" not in gap:
            return Relation.LIVES_IN
        return (
            Relation.BORN_IN
            if re.search(r"\bfrom\b|\bof\b|\bin\b|\bto\b", gap) or word == "fled"
            else None
        )
    if kind == "went":
        if word.startswith("work") and not re.search(r"\bin\b", gap):
            return None
        if word.startswith("work") and not re.search(
            r"\b(?:weeks?|months?|summer|spring|autumn|winter|last year|this year|earlier|"
            r"returned|recently|abroad|overseas|volunteer\w*)\b",
            before + after,
        ):
            return None
        if word in (
            "back",
            "been",
            "gone",
            "go",
            "off",
            "going",
            "goes",
            "went",
            "spend",
            "spending",
            "spent",
            "drive",
            "drove",
            "driving",
        ) and not re.search(r"\b(?:to|from|in|through|at)\b", gap):
            return None
        if word in (
            "dive",
            "fishing",
            "hunting",
            "conference",
            "wedding",
            "mission",
            "exchange",
            "funeral",
            "festival",
            "retreat",
        ) and not re.search(r"\b(?:in|to|at|near|on|from)\b", gap):
            return None
        return Relation.TRAVELED_TO
    if re.search(r"\b(?:returned|back|flew|flight|trip)\b", before[-40:]):
        return Relation.TRAVELED_TO
    near = re.search(
        r"\bfrom (?:the )?(?:\w+ern |rural |urban |a (?:\w+ )?(?:town|village|farm|"
        r"suburb|city) (?:in|near|outside|of) |central |downtown |upstate |outside |"
        r"near |suburban )*\s*(?:,\s*)*$",
        before,
    )
    person = re.search(
        r"\b(?:calls?|letter|referred|transferred|scar|pain|specialist|colleague|"
        r"visitor|news|relative|phoned|imported|bought)\b[^,]*from\b[^,]*$",
        before,
    )
    return Relation.LIVES_IN if near and not person and not to else None


def _status(page: Page, place: _Place, relation: Relation, context: Context) -> Status | None:
    sentence = page.sentence_at(place.start)
    before = page.lower[sentence.start : place.start]
    after = page.lower[place.end : sentence.end]
    if relation is not Relation.TRAVELED_TO:
        reading = context.read(place.start, place.end)
        return None if reading.status is Status.ABSENT else Status.PRESENT
    reading = context.read(place.start, place.end)
    if CANCELLED.search(before + after[:40]):
        return Status.ABSENT
    if reading.status is Status.ABSENT:
        return Status.ABSENT
    if re.search(r"\bask(?:s|ed)? (?:about|whether)\b", before) and not PLANS.search(before):
        return None
    clause = before.rsplit(" but ", 1)[-1]
    if PLANS.search(clause) or re.match(
        r"[^.,;]{0,30}\b(?:next (?:week|month|year|summer|winter|spring|fall|autumn)|"
        r"tomorrow|in (?:two|three|\d+) (?:days|weeks|months)(?:' time)?)\b(?! ago)",
        after,
    ):
        return Status.PLANNED
    if reading.hypothetical:
        return None
    return Status.PRESENT


def _institutions(page: Page, people: People, places: list[_Place]) -> list[Triplet]:
    """Homes that are institutions: "lives in a nursing home"."""
    found = []
    for match in INSTITUTION.finditer(page.lower):
        sentence = page.sentence_at(match.start())
        before = page.lower[sentence.start : match.start()]
        home = re.search(
            r"\b(?:lives?|lived|living|resid\w+|stays?|staying|housed|resident of|"
            r"inmate (?:of|at|in)|incarcerated|detained|moved (?:in)?to|brought (?:in "
            r")?from|transferred from|sent (?:in )?from|referred from|admitted from|"
            r"comes? from|from|serving \w+ \w+ in)\b[^,;]{0,25}$",
            before,
        )
        inmate = re.match(
            r"['’s]*\s+(?:resident|inmate|dweller)\b", page.lower[match.end() : match.end() + 12]
        )
        if not (home or inmate) or people.holder(match.start()) != PATIENT:
            continue
        if re.search(r"\b(?:work|visit|volunteer|return|employ)\w*\b", before[-30:]):
            continue
        near = [one for one in places if 0 <= one.start - match.end() <= 12]
        if near and re.fullmatch(
            r"\s*(?:in|near|outside|at|,)\s+(?:\w+ern )?", page.lower[match.end() : near[0].start]
        ):
            continue  # the town says more: "a dormitory in Austin"
        span = Span(*match.span("what"))
        text = page.text[span.start : span.end]
        found.append(
            Triplet(Relation.LIVES_IN, text.lower(), Status.PRESENT, span, text, "institution")
        )
    return found


def _demonyms(page: Page, parts: list[Piece], people: People) -> list[Triplet]:
    """Origins given as the country: "a Brazilian man", "she is Somali"."""
    found = []
    for entry in listed(page, parts, "demonyms"):
        words = page.words[entry.first : entry.last]
        start, end = words[0].start, words[-1].end
        if not words[0].text[:1].isupper() or words[-1].lower in RACIAL:
            continue
        if not _of_patient(page, people, entry.first, entry.last):
            continue
        value = entry.term.tags.get("country", entry.term.name)
        found.append(
            Triplet(
                Relation.BORN_IN,
                value,
                Status.PRESENT,
                Span(start, end),
                page.text[start:end],
                "demonym",
            )
        )
    return found


def _of_patient(page: Page, people: People, first: int, last: int) -> bool:
    if people.holder(page.words[first].start) != PATIENT:
        return False
    after = page.words[last : last + 4]
    for offset, word in enumerate(after):
        person = people.at(last + offset)
        if person is not None:
            return person.who == PATIENT
        if word.lower in NATIONAL:
            return True
        if not word.tag.startswith(("JJ", "NN", "VB", "CD", "HYPH")) and word.text != "-":
            break
    before = [word.lower for word in page.words[max(first - 3, 0) : first]]
    closes = (
        not after or after[0].text in ".,;" or after[0].lower in ("and", "by", "but", "with", "who")
    )
    says = before[-1:] and before[-1] in (
        "is",
        "am",
        "i'm",
        "she's",
        "he's",
        "originally",
        "ethnically",
    )
    if closes and before[-1:] in (["a"], ["an"], ["old"]):
        return True  # "a Ghanaian who has settled in Bristol", "a 36-year-old Kenyan"
    by_birth = [word.lower for word in after[:2]]
    if by_birth in (["by", "birth"], ["by", "origin"], ["by", "nationality"]):
        return True
    return bool(closes and says)


def _clean(found: list[Triplet]) -> list[Triplet]:
    """One triplet a relation and place."""
    seen: set[tuple[Relation, str]] = set()
    kept = []
    for triplet in found:
        key = triplet.relation, str(triplet.value).lower()
        if key not in seen:
            seen.add(key)
            kept.append(triplet)
    return kept
