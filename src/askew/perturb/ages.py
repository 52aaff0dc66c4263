"""Where a text says how old somebody is, and the same place written with another age."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from askew.perturb import numerals
from askew.vignettes import Facts, Relation, Span

Style = Literal["old", "abbreviated", "of_age", "aged", "letter", "decade", "bare"]

_UNIT = r"(?P<unit>years?|yrs?|months?|mos?|weeks?|wks?|days?)"
_NUMBER = rf"(?<![\w.,/:-])(?P<number>{numerals.NUMBER})"
_FORMS: tuple[tuple[Style, str], ...] = (
    ("old", rf"{_NUMBER}(?P<first>[-\s]*){_UNIT}(?P<second>[-\s]+)old\b(?:er)?"),
    ("of_age", rf"{_NUMBER}(?P<first>[-\s]+){_UNIT}(?P<second>\s+)of\s+age\b"),
    ("abbreviated", rf"{_NUMBER}(?P<first>[-\s]?)(?P<unit>y\.?/?o\.?|yr/o|mo)(?!\w)"),
    ("abbreviated", rf"{_NUMBER}(?P<first>[-\s]?)(?P<unit>m/o|w/o|d/o)(?=\s+[MFmfb])"),
    ("aged", rf"\b(?<!the )age[sd]?:?\s*(?:of\s+)?(?P<number>{numerals.NUMBER})\b(?:\s+{_UNIT})?"),
    ("letter", rf"{_NUMBER}(?P<first>\s?)(?=[MF]\b(?![a-z'’/-]))"),
    (
        "decade",
        rf"\bin (?:her|his|their|the|my|hir) (?:early |mid[- ]|late )?"
        rf"(?P<number>{numerals.DECADE})\b",
    ),
)
_PATTERNS = tuple((style, re.compile(form, re.IGNORECASE)) for style, form in _FORMS)
# "at the age of 40", "from age 12": when something happened, not how old somebody is.
_EVENT = re.compile(
    r"\b(?:at|from|since|until|till|by|before|after|under|over|of|to)\s+(?:the\s+|an?\s+)?$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Age:
    """One statement of an age: `span` is all of it, `number` its figures or words."""

    style: Style
    span: Span
    number: Span
    unit: Span | None
    value: int
    unit_name: Literal["year", "month", "week", "day"]


def find_ages(text: str, facts: Facts | None = None) -> tuple[Age, ...]:
    """All statements of anybody's age, in the order of the text; the longer of two that overlap.

    `facts` adds the patient's age where it is a bare number that no pattern knows ("is 39").
    """
    found = sorted(_matches(text), key=lambda age: (age.span.start, -age.span.end))
    kept: list[Age] = []
    for age in found:
        if not kept or age.span.start >= kept[-1].span.end:
            kept.append(age)
    for span in _spans(facts):
        if any(overlap(age.span, span) for age in kept):
            continue
        bare = re.search(numerals.NUMBER, text[span.start : span.end], re.IGNORECASE)
        known = numerals.value(bare[0]) if bare else None
        if bare and known is not None:
            place = Span(span.start + bare.start(), span.start + bare.end())
            kept.append(Age("bare", place, place, None, known, "year"))
    return tuple(sorted(kept, key=lambda age: age.span.start))


def _spans(facts: Facts | None) -> tuple[Span, ...]:
    if facts is None:
        return ()
    return tuple(fact.span for fact in facts.of(Relation.HAS_AGE) if fact.span is not None)


def overlap(first: Span, second: Span) -> bool:
    """Whether two spans share a character."""
    return first.start < second.end and second.start < first.end


def _matches(text: str) -> Iterator[Age]:
    for style, pattern in _PATTERNS:
        for match in pattern.finditer(text):
            if style == "aged" and (_EVENT.search(text, 0, match.start()) or _later(text, match)):
                continue
            if style == "letter" and match["first"] and not _letter_stands_alone(text, match):
                continue
            number = numerals.decade(match["number"]) if style == "decade" else None
            number = numerals.value(match["number"]) if number is None else number
            if number is None:
                continue
            unit = Span(*match.span("unit")) if match.groupdict().get("unit") else None
            yield Age(
                style, Span(*match.span()), Span(*match.span("number")), unit, number,
                _unit_name(text[unit.start : unit.end] if unit else ""),
            )  # fmt: skip


def _later(text: str, match: re.Match[str]) -> bool:
    """Whether "age 40" is when something happened: "menopause age 52" aside, "at age 40"."""
    return bool(re.match(r"\s*(?:-|to|and)\s*\d", text[match.end() :]))


def _letter_stands_alone(text: str, match: re.Match[str]) -> bool:
    """Of "66 M c/o" at the start of a note is an age; "in 3 F and 4 M" is not."""
    return not text[: match.start()].strip() or text[: match.start()].rstrip()[-1:] in ".\n:"


def _unit_name(unit: str) -> Literal["year", "month", "week", "day"]:
    first = unit.lower()
    if first.startswith("m"):
        return "month"
    if first.startswith("w"):
        return "week"
    return "day" if first.startswith("d") else "year"


def patient_ages(text: str, facts: Facts) -> tuple[Age, ...]:
    """The statements of the patient's age: the ones that the facts were read from, and repeats.

    A repeat has the same number and unit; whether it is the patient's is for the caller to see
    from the noun that follows.
    """
    ages = find_ages(text, facts)
    own = [age for age in ages if any(overlap(age.span, span) for span in _spans(facts))]
    stated = {(age.value, age.unit_name) for age in own}
    return tuple(
        age
        for age in ages
        if age in own
        or ((age.value, age.unit_name) in stated and age.style in {"old", "abbreviated"})
    )


def in_years(age: Age) -> float:
    """The age in years; of a decade, its first."""
    return age.value / {"year": 1, "month": 12, "week": 52, "day": 365}[age.unit_name]


def written(text: str, age: Age, years: int) -> tuple[Span, str]:
    """The same statement with another age in years: which characters change, and into what.

    Args:
        text: what the age was found in.
        age: where.
        years: the new age, in years.
    """
    old_number = text[age.number.start : age.number.end]
    if age.style == "decade":
        return _decade(text, age, years)
    new = str(years) if old_number.isdecimal() else numerals.in_words(years)
    if old_number[:1].isupper():
        new = new[:1].upper() + new[1:]
    if age.unit is None:
        return age.number, new
    old_unit = text[age.unit.start : age.unit.end]
    unit = _year_like(old_unit, age, years)
    if unit == old_unit:
        return age.number, new
    return Span(age.number.start, age.unit.end), new + text[age.number.end : age.unit.start] + unit


def _year_like(old: str, age: Age, years: int) -> str:
    """The unit "year" in the shape of the old one: "months" -> "years", "mo" -> "yo"."""
    if age.style == "abbreviated":
        return old if age.unit_name == "year" else "yo" if "/" not in old else "y/o"
    singular = "yr" if old.lower().startswith("yr") else "year"
    plural = old.lower().endswith("s")
    # "47 years old" and "1 year old"; "6 months old" and "25 years old"; "47-year-old" stays.
    if age.style in {"of_age", "aged"}:
        plural = True
    return singular + ("s" if plural and years != 1 else "")


def _decade(text: str, age: Age, years: int) -> tuple[Span, str]:
    old = text[age.number.start : age.number.end]
    first = years // 10 * 10
    if first < 20:
        return age.span, f"aged {years}"
    if not old[:1].isdigit():
        return age.number, numerals.in_words(first)[:-1] + "ies"
    return age.number, f"{first}{old[2:]}"
