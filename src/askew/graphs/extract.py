"""Text to facts: the function F(T, A) of §3.1, with the filter of Eq. (1)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from askew.graphs import ages, cues, genders, mentions, people, places
from askew.graphs.context import Context
from askew.graphs.findings import Finder
from askew.graphs.lexicon import Piece, pieces
from askew.graphs.mention import Mention
from askew.graphs.page import Page, cut
from askew.graphs.parsing import parse, parse_many
from askew.graphs.people import People
from askew.graphs.rules import RuleSet, relevance, rule_set, rule_text
from askew.vignettes import AgeUnit, Facts, Relation, Span, Status, Triplet

if TYPE_CHECKING:
    from spacy.tokens import Doc

_UNITS: tuple[AgeUnit, ...] = ("month", "week", "day", "year")
_GESTATION = re.compile(
    r"\b(?P<what>\d{1,2}(?:\s?\+\s?\d)?(?:[\s-]|\s?and \d/7 )?(?:weeks?|wks?|"
    r"months?)?['’]?s?[\s-]*(?:of |in )?(?:gestation|pregnant|into (?:her|the|a) "
    r"pregnancy)|\w+ weeks['’]?s? (?:of )?(?:gestation|pregnant)|\bg\d+\s?p\d+\w* (?:at|@) "
    r"\d+(?:\s?\+\s?\d)? ?(?:weeks?|wks?)|\d{1,2} ?(?:wk|w)s? ?(?:ga|iup)|(?:first|second|third) "
    r"trimester|expecting (?:a baby|her \w+ (?:child|baby)|twins))\b"
)
_BORN_AT = re.compile(
    r"\b(?:born|delivered|delivery|birth|premature|infant|neonate|newborn|baby)\b"
)
_ARTICLES = re.compile(r"\b(?:the|a|an|his|her|their|my|your|our|its)\b")

Scored = tuple[Triplet, tuple[str, ...]]


def extract(text: str, rules: str | RuleSet = "full") -> Facts:
    """The facts of one text about its patient.

    Args:
        text: any text; one that speaks of no patient gives no facts.
        rules: a `RuleSet` or the name of one (`rules.RULE_SETS`), with single rules taken off or
            put on: "full-context".

    Returns:
        Triplets whose R(e) is above the set's theta, cues, and what was left out.

    Raises:
        ConfigError: the rule set is unknown.
        MissingDependency: spaCy or its English pipeline is not installed.

    >>> facts = extract("A 66-year-old man from Lisbon has a fever but denies chest pain.")
    >>> [(str(fact.relation), fact.value, str(fact.status)) for fact in facts.triplets][2:]
    [('lives_in', 'Lisbon', 'present'), ('has_symptom', 'fever', 'present'), \
('has_symptom', 'chest pain', 'absent')]
    """
    return facts_of(text, parse(text), rule_set(rules))


def extract_many(texts: Iterable[str], rules: str | RuleSet = "full") -> Iterator[Facts]:
    """The same for many texts, in order; spaCy reads them in batches."""
    chosen = rule_set(rules)
    kept: list[str] = []

    def keeping() -> Iterator[str]:
        for text in texts:
            kept.append(text)
            yield text

    for doc in parse_many(keeping()):
        yield facts_of(kept.pop(0), doc, chosen)


def facts_of(text: str, doc: Doc, rules: RuleSet) -> Facts:
    """The facts of a text that is parsed already (`graphs.parse`)."""
    page = cut(doc)
    if not page.words:
        return Facts(text, ())
    parts = pieces(page)
    everybody = people.find(page, parts, experiencers="experiencer" in rules)
    found = mentions.find(page, parts, rules)
    if "lists" in rules:
        found = _with_gestation(page, found)
    context = Context(
        page,
        [(one.start, one.end) for one in found],
        hypothetical="hypothetical" in rules,
        examination="examination" in rules,
    )
    plain = [
        *_demographics(page, everybody, rules),
        *_places(page, parts, everybody, context, rules),
    ]
    scored = [(triplet, _fired(triplet)) for triplet in plain]
    scored += Finder(page, everybody, found, context, rules).triplets()
    kept, left = _filtered(scored, rules.theta)
    noticed = cues.find(page, parts, everybody, context) if "cues" in rules else []
    # Evidence is cut from the text as given: a lone surrogate was read as another character.
    return Facts(
        text,
        tuple(_evidence(text, triplet) for triplet in _unique(kept)),
        tuple(noticed),
        tuple(_evidence(text, triplet) for triplet in left),
    )


def _evidence(text: str, triplet: Triplet) -> Triplet:
    assert triplet.span is not None
    return replace(triplet, evidence=text[triplet.span.start : triplet.span.end])


def _demographics(page: Page, everybody: People, rules: RuleSet) -> list[Triplet]:
    if "expressions" not in rules:
        return _entity_age(page)
    age = ages.patient_age(page, everybody) if "age_logic" in rules else ages.plain_ages(page)
    if "gender_logic" in rules:
        return [*age, *genders.patient_gender(page, everybody), *genders.birth_sex(page)]
    return [*age, *genders.plain_gender(page)]


def _entity_age(page: Page) -> list[Triplet]:
    """An age from a DATE entity alone: what spaCy gives without any rule."""
    for entity in page.doc.ents:
        text = entity.text.lower()
        if entity.label_ == "DATE" and "old" in text:
            value = ages.number(text.split("-")[0].split()[0])
            if value is not None:
                unit: AgeUnit = next((one for one in _UNITS if one in text), "year")
                return [
                    Triplet(
                        Relation.HAS_AGE,
                        value,
                        Status.PRESENT,
                        Span(entity.start_char, entity.end_char),
                        entity.text,
                        "ner",
                        unit=unit,
                        qualifier="exact",
                    )
                ]
    return []


def _places(
    page: Page, parts: list[Piece], everybody: People, context: Context, rules: RuleSet
) -> list[Triplet]:
    if "place_logic" in rules:
        return places.find(page, parts, everybody, context, rules)
    return places.plain(page) if "ner" in rules else []


def _with_gestation(page: Page, found: list[Mention]) -> list[Mention]:
    """Weeks of gestation say a pregnancy; those at which a child was born do not."""
    more = list(found)
    for match in _GESTATION.finditer(page.lower):
        start, end = match.span("what")
        before = page.lower[max(start - 35, 0) : start]
        if _BORN_AT.search(before) or re.match(
            r"[\s-]*(?:infant|newborn|boy|girl|baby)", page.lower[end:]
        ):
            continue
        more = [one for one in more if not (one.start < end and start < one.end)]
        more.append(Mention(start, end, "condition", "pregnancy", ("gestation",), "pregnancy"))
    return sorted(more, key=lambda one: one.start)


def _fired(triplet: Triplet) -> tuple[str, ...]:
    return tuple(triplet.rule.split(" + "))


def _filtered(scored: list[Scored], theta: float) -> tuple[list[Triplet], list[Triplet]]:
    """Eq. (1): what is kept and what is left out, both in the order of the text."""
    kept: list[Triplet] = []
    left: list[Triplet] = []
    for triplet, fired in scored:
        score = relevance(fired)
        marked = replace(triplet, rule=rule_text(fired), score=score)
        (kept if score > theta else left).append(marked)
    order = _in_order
    return sorted(kept, key=order), sorted(left, key=order)


_FIRST = (Relation.HAS_AGE, Relation.HAS_GENDER, Relation.HAS_BIRTH_SEX)


def _in_order(triplet: Triplet) -> tuple[int, int, str]:
    start = triplet.span.start if triplet.span else 0
    return (
        _FIRST.index(triplet.relation) if triplet.relation in _FIRST else 9,
        start,
        triplet.relation,
    )


def words_of(value: str | int) -> frozenset[str]:
    """The words of a value as values are compared: lower case, no articles and possessives."""
    low = re.sub(r"['’]s\b", "", str(value).lower())
    return frozenset(re.findall(r"\w+", _ARTICLES.sub(" ", low)))


def _unique(found: list[Triplet]) -> list[Triplet]:
    """Each fact once: a later mention in the same or in vaguer words adds nothing."""
    kept: list[Triplet] = []
    for triplet in found:
        place = next((at for at, one in enumerate(kept) if _same(one, triplet)), None)
        if place is None:
            kept.append(triplet)
        elif _says_more(kept[place], triplet):
            kept[place] = triplet
    return kept


def _same(one: Triplet, other: Triplet) -> bool:
    if one.relation is not other.relation or one.relative != other.relative:
        return False
    first, second = words_of(one.value), words_of(other.value)
    if one.status is other.status:
        return first <= second or second <= first
    # "Suspected pneumonia … pneumonia was ruled out": the later word counts.
    return Status.POSSIBLE in (one.status, other.status) and first == second


def _says_more(kept: Triplet, later: Triplet) -> bool:
    """Whether a later mention replaces the first: a possibility that was settled."""
    return kept.status is Status.POSSIBLE and later.status is not Status.POSSIBLE
