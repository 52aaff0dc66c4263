"""Place, race and the user's own attributes: where the text tells them, else where they go in."""

from __future__ import annotations

import re
from collections.abc import Iterator

from askew.perturb import words
from askew.perturb.attributes import NEUTRAL, Attribute
from askew.perturb.edits import NotExpressible
from askew.perturb.mentions import People
from askew.vignettes import Edit, Facts, Relation, Span, Status

PLACE_RELATIONS = {
    "home": Relation.LIVES_IN,
    "origin": Relation.BORN_IN,
    "travel": Relation.TRAVELED_TO,
}
# Reads in place of a name: "lives in the local area", "is from the local area".
UNNAMED_PLACE = "the local area"

_KIND = (
    r"province|district|village|area|region|state|county|city|town|suburbs?|island|refugee camp|"
    r"neighbou?rhood|governorate|prefecture|municipality|community|slum"
)
_CAPITALISED = r"[A-ZÀ-Þ][\w'’.-]*(?:[ -](?:[A-ZÀ-Þ][\w'’.-]*|of|de|da|del|la|el))*"
_BEFORE = re.compile(
    r"(?:\b(?:the|an?|rural|urban|suburban|downtown|central|remote|coastal|inner-city|northern|"
    r"southern|eastern|western|(?:city|town|village|state|province|district) of)\s+)+$",
    re.IGNORECASE,
)
_AFTER = re.compile(
    rf"(?:\s+(?:{_KIND})\b)*"
    rf"(?:,?\s+(?:in\s+(?:the\s+)?)?(?!Patient|He\b|She\b|They\b|The\b)(?P<more>{_CAPITALISED})"
    rf"(?:\s+(?:{_KIND})\b)*)*"
)
# "from Turkana tribe": the place is said of people or things that do not move with the patient.
_OF_A_NAME = re.compile(
    r"(?:['’]s)?\s+(?:tribe|people|market|hospital|clinic|safari|river|lake|reserve|national park|"
    r"university|camp|farm|rainforest|jungle|mountains?|beach)\b",
    re.IGNORECASE,
)
_ONE_BREATH = re.compile(
    rf"(?:\s+(?:{_KIND}))?,?\s+(?:(?:in|of|near)\s+)?(?:the\s+)?(?:\w+\s+)?(?:of\s+)?",
    re.IGNORECASE,
)
_RACE = re.compile(
    r"\b(?:" + "|".join(sorted(words.RACES, key=len, reverse=True)) + r")\b", re.IGNORECASE
)
_RACE_SAID = re.compile(
    r"\b(?:is|was|am|identif\w+ as|self-identif\w+ as|race:?|ethnicity:?)\s+(?:an?\s+)?$",
    re.IGNORECASE,
)
_GAP = re.compile(r"[ ]+(?:[\w'-]+[ ]+){0,2}")
_ENDS = re.compile(r"[.!?][\"”’)]?(?=\s+[A-Z\"“(]|\s*$)")
_NO_END = re.compile(r"\b(?:Dr|Mr|Mrs|Ms|Mx|St|vs|Prof|approx|[A-Z]|y\.o|p\.o|b\.i\.d)\.$")


def place_triplets(facts: Facts, attribute: Attribute) -> list[tuple[str, Span]]:
    """The patient's named places of the kind that the attribute changes."""
    return [
        (str(fact.value), fact.span)
        for fact in facts.of(PLACE_RELATIONS[attribute.place])
        if fact.status is Status.PRESENT and fact.span is not None and _named(fact.evidence)
    ]


def _named(evidence: str) -> bool:
    """Tell a place: "Nairobi" may be changed; "a nursing home" is how somebody lives."""
    return any(word[:1].isupper() for word in evidence.split())


def place_edits(text: str, facts: Facts, attribute: Attribute, level: str) -> list[Edit]:
    """The edits that move the patient; none where the text names no such place.

    Raises:
        NotExpressible: the text names several, and which is meant is not told.
    """
    found = place_triplets(facts, attribute)
    if not found:
        return []
    new = UNNAMED_PLACE if level == NEUTRAL else attribute.worded(level)
    value, span = found[0]
    span = _joined(text, span, [where for _, where in found[1:]])
    edits = [Edit(_widened(text, span), new)]
    inside_name = _OF_A_NAME.match(text, edits[0].span.end)
    if inside_name:
        raise NotExpressible(f"{value!r} is part of a name: {value}{inside_name[0]}")
    for other, where in found[1:]:
        inside = any(_touch(edit.span, where) for edit in edits)
        if not inside and other.casefold() != value.casefold():
            raise NotExpressible(f"the text names two places: {value!r} and {other!r}")
    for again in re.finditer(rf"\b{re.escape(value)}\b", text):
        where = Span(*again.span())
        if not any(_touch(edit.span, where) for edit in edits):
            edits.append(Edit(_widened(text, where), new))
    return [Edit(edit.span, _opening(text, edit)) for edit in edits]


def _opening(text: str, edit: Edit) -> str:
    """The new place, with a capital where it opens a sentence."""
    before = text[: edit.span.start].rstrip()
    opens = not before or before[-1] in ".!?"
    return edit.text[:1].upper() + edit.text[1:] if opens else edit.text


def _joined(text: str, span: Span, others: list[Span]) -> Span:
    """The span of a place with its province and country, where they follow in one breath."""
    for other in sorted(others):
        if span.end <= other.start and _ONE_BREATH.fullmatch(text, span.end, other.start):
            span = Span(span.start, other.end)
    return span


def _touch(first: Span, second: Span) -> bool:
    return first.start < second.end and second.start < first.end


def _widened(text: str, span: Span) -> Span:
    """The whole of a place's name: "the Uige province", "rural Vermont", "Phoenix, Arizona"."""
    before = _BEFORE.search(text, 0, span.start)
    after = _AFTER.match(text, span.end)
    return Span(before.start() if before else span.start, after.end() if after else span.end)


def stated_race(people: People) -> tuple[str, Span] | None:
    """The patient's race and where it stands; None where the text is mute."""
    nouns = [mention.span.start for mention in people.of("patient") if mention.kind != "pronoun"]
    nouns += [token.idx for token in people.doc if token.lower_ in {"patient", "student"}]
    for age in people.ages:
        nouns.append(age.span.start)
    for found in _RACE.finditer(people.text):
        before_noun = any(_GAP.fullmatch(people.text, found.end(), noun) for noun in nouns)
        said = _RACE_SAID.search(people.text, 0, found.start())
        color = re.match(r"\s+(?:blood|cells?|count|matter|stools?|tarry|plaques?|spots?|coat)",
                         people.text[found.end() :])  # fmt: skip
        if (before_noun or said) and not color:
            return words.RACES[found[0].lower()], Span(*found.span())
    return None


def race_edits(people: People, attribute: Attribute, level: str) -> list[Edit]:
    """The edits that tell a race: at the word that tells it now, else before the patient's noun.

    Empty where there is no noun to put it before; then a sentence has to be put in.
    """
    stated = stated_race(people)
    if level == NEUTRAL:
        if stated is None:
            return []
        span = stated[1]
        if not people.text[span.end : span.end + 1] == " " or _RACE_SAID.search(
            people.text, 0, span.start
        ):
            raise NotExpressible(f"{people.text[slice(*span)]!r} cannot be taken out of its clause")
        return [Edit(Span(span.start, span.end + 1), "")]
    word = attribute.worded(level)
    if stated is not None:
        return [Edit(stated[1], word)]
    place = _before_patient(people)
    return [] if place is None else [Edit(Span(place, place), word + " ")]


def _before_patient(people: People) -> int | None:
    """Where an adjective for the patient goes: "A 54-year-old | woman"."""
    for mention in people.of("patient"):
        if mention.kind in {"noun", "letter", "modifier", "stage"} and not mention.past:
            glued = people.text[mention.span.start - 1 : mention.span.start].isalnum()
            return None if glued else mention.span.start
    for age in people.ages:
        rest = people.text[age.span.end :]
        if age.style in {"old", "abbreviated"} and re.match(r"\s[a-z]", rest):
            following = next(token for token in people.doc if token.idx > age.span.end)
            if following.pos_ in {"NOUN", "ADJ", "PROPN"}:
                return int(following.idx)
    return None


def declared_edits(text: str, attribute: Attribute, level: str) -> list[Edit]:
    """The edits of a user's own attribute where one of its wordings stands in the text.

    Raises:
        NotExpressible: it has to be taken out of a text that tells it in words of its own.
    """
    stated = stated_level(text, attribute)
    if stated is None:
        return []
    if level != NEUTRAL:
        return [Edit(stated[1], attribute.worded(level))]
    whole = attribute.sentence(stated[0])
    place = text.find(whole)
    if place < 0:
        raise NotExpressible(
            f"{attribute.worded(stated[0])!r} cannot be taken out of a text that tells "
            f"{attribute.name} in words of its own"
        )
    blank = len(whole) + len(re.match(r"\s*", text[place + len(whole) :])[0])  # type: ignore[index]
    return [Edit(Span(place, place + blank), "")]


def stated_level(text: str, attribute: Attribute) -> tuple[str, Span] | None:
    """The level of a user's own attribute that the text tells, and where."""
    for level in attribute.levels:
        found = re.search(
            rf"(?<!\w){re.escape(attribute.worded(level))}(?!\w)", text, re.IGNORECASE
        )
        if found:
            return level, Span(*found.span())
    return None


def insertion(people: People, sentences: list[str]) -> Iterator[Edit]:
    """The edit that puts sentences in after the first sentence of the text.

    A text that begins with its question gets them before it.
    """
    if not sentences:
        return
    text = people.text
    new = " ".join(_first_person(people, sentence) for sentence in sentences)
    end = first_end(text)
    if end is None:
        stop = "" if text.rstrip()[-1:] in ".!?:" else "."
        place = len(text.rstrip())
        yield Edit(Span(place, place), f"{stop} {new}")
    elif text[end - 1] == "?":
        yield Edit(Span(0, 0), f"{new} ")
    else:
        yield Edit(Span(end, end), f" {new}")


def first_end(text: str) -> int | None:
    """The end of the first sentence; None where nothing ends it."""
    for found in _ENDS.finditer(text):
        if not _NO_END.search(text, 0, found.start() + 1):
            return found.end()
    return None


_I = re.compile(r"^\s*(?:I\b|I['’]m\b|My name\b)")


def _first_person(people: People, sentence: str) -> str:
    """Of "The patient lives in Lima." as a patient who tells of themself says it."""
    if not _I.match(people.text) or people.of("patient"):
        return sentence
    for old, new in (("The patient is ", "I am "), ("The patient lives ", "I live "),
                     ("The patient has ", "I have "), ("The patient's ", "My ")):  # fmt: skip
        if sentence.startswith(old):
            return new + sentence[len(old) :]
    return sentence
