"""What numbers of a text demand of the patient's age: years, durations, other people's ages."""

from __future__ import annotations

import re
from collections.abc import Iterator

from askew.perturb import numerals
from askew.perturb.ages import overlap
from askew.perturb.findings import OLDEST, Finding, owner
from askew.perturb.mentions import People
from askew.vignettes import Facts, Relation, Span

# Calendar years are read as seen from here, or from the latest year of the text: a fixed year, as
# a clock would let the same vignette pass in one run and fail in the next.
REFERENCE_YEAR = 2025

_N = numerals.NUMBER
_YEAR = re.compile(
    r"(?P<word>\bin|\bthroughout|\bsince|\bfrom|\buntil|\bduring|\bback in|\baround|\bof|\()\s?"
    r"(?:the )?(?:(?:early|late|mid|spring|summer|fall|autumn|winter|January|February|March|April|"
    r"May|June|July|August|September|October|November|December)\s(?:of\s)?)?"
    r"(?P<year>(?:19|20)\d\d)(?P<decade>s?)\b(?!\s*(?:mg|ml|mL|kcal|calories|units|IU|steps))"
)
# What happened in a year, and the age that it takes.
_LEAST = {"retired": 38, "married": 15, "operated": 14, "gave_up": 13, "worked": 14}
_DATED = re.compile(
    r"\b(?:(?P<retired>retired|retirement)|(?P<married>(?:re)?married|divorced|widowed)|"
    r"(?P<operated>hysterectomy|vasectomy|prostatectomy|mastectomy|menopause|"
    r"gave birth)|(?P<gave_up>(?:quit|stopped|gave up) (?:smoking|cigarettes|drinking|alcohol))"
    r"|(?P<worked>work(?:s|ed|ing)?|job|employed|navy|army|air force|marines|soldier|deployed|"
    r"served|conscripted|graduated|qualified|married|widow(?:er)?|(?:hairdress|teach|driv|min|"
    r"weld|farm|paint|plumb|bak|build|lawy)er|nurse|electrician|carpenter|mechanic|secretary|"
    r"accountant|lost (?:his|her|their) (?:husband|wife)|(?:husband|wife) died))"
    r"\b[^.;,]{0,25}$",
    re.IGNORECASE,
)
_EVENT = re.compile(
    rf"\b(?:(?:at|from|since|until|till|by|before|after)(?: about| around)? (?:the )?ages?(?: of)?|"
    rf"(?:at|when|since|before|until) (?:she|he|they|the patient) (?:was|were|turned)|"
    rf"(?:diagnosed|started|began|occurred|developed|menopause|menarche|onset)(?: \w+){{0,5}}? at|"
    rf"\bat age|, age) (?P<age>{_N})\b(?!\s*(?:weeks?|months?|days?|hours?|minutes?|mg|%|mm|"
    rf"beats|bpm|am\b|pm\b|a\.m|p\.m|o['’]clock|:))",
    re.IGNORECASE,
)
# "a stroke at 54": a bare number after "at" that no vital sign owns and no unit follows.
_BARE_EVENT = re.compile(
    r"(?<!rate )(?<!pulse )(?<!pressure )(?<!saturation )(?<!weight )(?<!glucose )(?<!level )"
    r"(?<!BMI )(?<!stable )\bat (?P<age>[1-9]\d)(?=\s*(?:[.,;)]|$|and\b|but\b|after\b))"
)
_EVENT_IN_DECADE = re.compile(
    rf"\b(?:in|since|from|during|throughout) (?:his|her|their) (?:early |mid[- ]|late )?"
    rf"(?P<decade>{numerals.DECADE})\b",
    re.IGNORECASE,
)
_AGO = re.compile(
    rf"\b(?P<n>{_N})\s+years?\s+(?:ago|earlier|previously|before|prior)\b", re.IGNORECASE
)
_LASTING = re.compile(
    rf"(?:\b(?:for|over|past|last|after|within)(?: (?:the|at least|about|over|nearly|almost|more "
    rf"than|last|past|around|approximately))*\s+(?P<n>{_N})\s+years?\b(?! (?:old|of age))"
    rf"|\b(?:some|these|about|nearly|almost) (?P<j>{_N})\s+years?(?=[.,;])"
    rf"|\b(?P<m>{_N})[- ]years?[- ](?:history|smoking history|marriage|career|course)\b"
    rf"|\b(?:wife|husband) of (?P<w>{_N})\s+years?\b(?! old| of age)"
    rf"|\b(?P<k>{_N})\s+years? (?:of|as|in|at) (?:\w+))",
    re.IGNORECASE,
)
_PACK_YEARS = re.compile(rf"\b(?P<n>{_N})[- ]?pack[- ]?years?\b", re.IGNORECASE)
_CHILDHOOD = re.compile(
    r"\b(?:as a (?:small |young |little )?(?:child|kid|boy|girl|baby|infant|toddler|teenager|teen|"
    r"young (?:adult|man|woman))|(?:in|since|during|from|throughout) (?:early )?"
    r"(?:his |her |their )?(?:childhood|infancy|adolescence|teens|youth))\b",
    re.IGNORECASE,
)
_ADULT_PAST = re.compile(r"adolescence|teen|youth|young (?:adult|man|woman)", re.IGNORECASE)

# What somebody has done for so many years -> the age at which they can have begun it.
_BEGUN = (
    (re.compile(r"smok|pack|cigar|tobacco", re.IGNORECASE), 11),
    (re.compile(r"drink|alcohol|heroin|cocaine|inject", re.IGNORECASE), 11),
    (re.compile(r"work|job|employ|career|teacher|driver|nurse|shipyard|factory|mine|farm|"
                r"construction|army|navy|military|as an? ", re.IGNORECASE), 15),
    (re.compile(r"married|marriage|husband|wife|widow|divorc|spouse", re.IGNORECASE), 16),
    (re.compile(r"retire", re.IGNORECASE), 38),
    (re.compile(r"testosterone|estradiol|hormone|estrogen", re.IGNORECASE), 12),
    (re.compile(r"post-?menopaus|menopaus", re.IGNORECASE), 36),
    (re.compile(r"contracepti|the pill|sexually", re.IGNORECASE), 11),
    (re.compile(r"type (?:2|ii)|statin|COPD|coronary|heart failure|hypertension|osteo|gout",
                re.IGNORECASE), 4),
)  # fmt: skip


_DECADES = re.compile(
    rf"\b(?:(?P<n>{_N}) decades|(?P<half>half a century)|"
    rf"(?P<quarter>(?:a )?quarter of a century))\b(?! old| of age)",
    re.IGNORECASE,
)
_ANNIVERSARY = re.compile(r"\b(?P<n>\d{1,2})(?:st|nd|rd|th) wedding anniversary\b", re.IGNORECASE)
_MARRYING = 16.0  # years
_WORKING_AGE = 15  # years


def match(people: People, facts: Facts) -> list[Finding]:
    """Everything in a text that bounds the patient's age by arithmetic."""
    return [
        *_calendar(people, facts),
        *_events(people, facts),
        *_durations(people, facts),
        *_childhood(people, facts),
        *_birth(people),
    ]


def at_least(
    name: str, people: People, span: Span, youngest: float, usual_from: float = 0.0
) -> Finding:
    return Finding(
        name, people.text[slice(*span)], span, youngest=youngest,
        usual_from=max(youngest, usual_from),
    )  # fmt: skip


def _calendar(people: People, facts: Facts) -> Iterator[Finding]:
    """Of "since 1975": the patient lived then, or a parent of the patient had not died yet."""
    hits = list(_YEAR.finditer(people.text))
    now = max([REFERENCE_YEAR, *(int(hit["year"]) for hit in hits if not hit["decade"])])
    for hit in hits:
        span = Span(*hit.span())
        if owner(people, facts, span) != "patient":
            continue
        last = int(hit["year"]) + (9 if hit["decade"] else 0)
        event = _DATED.search(people.text, max(0, span.start - 50), span.start)
        if event is not None:
            least = _LEAST[str(event.lastgroup)]
            yield at_least("year of an event", people, span, now - last - 1 + least)
            continue
        # The first year of a residence or job is lived through by somebody who was born already.
        yield at_least("calendar year", people, span, max(now - last - 1, 0))


def _events(people: People, facts: Facts) -> Iterator[Finding]:
    """Of "diagnosed at 40", "in her thirties": older than that by now."""
    for hit in (*_EVENT.finditer(people.text), *_BARE_EVENT.finditer(people.text)):
        span = Span(*hit.span())
        value = numerals.value(hit["age"])
        own = any(overlap(span, age.span) for age in people.ages)
        own = own or _apposed_to_relative(people, facts, span)
        if value and not own and owner(people, facts, span) == "patient":
            yield at_least("age at an event", people, span, value)
    for hit in _EVENT_IN_DECADE.finditer(people.text):
        span = Span(*hit.span())
        first = numerals.decade(hit["decade"])
        own = any(overlap(span, age.span) for age in people.ages)
        if first and not own and owner(people, facts, span) == "patient":
            yield at_least("age at an event", people, span, first)


def _apposed_to_relative(people: People, facts: Facts, span: Span) -> bool:
    """Of "his brother has gout, diagnosed at 24": said of the relative, no new subject between."""
    ends = [
        fact.span.end
        for fact in facts.of(Relation.FAMILY_HISTORY)
        if fact.span is not None and fact.span.end <= span.start
    ]
    between = people.text[max(ends) : span.start] if ends else "."
    return not re.search(r"[.;:]|\b(?:he|she|they|patient|i)\b", between, re.IGNORECASE)


def _durations(people: People, facts: Facts) -> Iterator[Finding]:
    for pattern, name in ((_AGO, "years ago"), (_LASTING, "duration")):
        for hit in pattern.finditer(people.text):
            span = Span(*hit.span())
            value = numerals.value(next(group for group in hit.groups() if group))
            if not value or owner(people, facts, span) != "patient":
                continue
            begun = _begun(people, span)
            yield at_least(name, people, span, value + begun)
    for hit in _DECADES.finditer(people.text):
        span = Span(*hit.span())
        lasted = (
            50 if hit["half"] else 25 if hit["quarter"] else 10 * (numerals.value(hit["n"]) or 0)
        )
        if owner(people, facts, span) == "patient":
            yield at_least("duration", people, span, lasted + _begun(people, span))
    for hit in _ANNIVERSARY.finditer(people.text):
        span = Span(*hit.span())
        if owner(people, facts, span) == "patient":
            yield at_least("years of marriage", people, span, _MARRYING + int(hit["n"]))
    for hit in _PACK_YEARS.finditer(people.text):
        span = Span(*hit.span())
        packs = numerals.value(hit["n"]) or 0
        if owner(people, facts, span) == "patient":
            yield at_least("pack-years", people, span, 16 + packs / 2, 16 + packs / 1.5)


def _begun(people: People, span: Span) -> int:
    """The least age at which what lasts so long can have begun, by the words around it."""
    around = people.text[max(0, span.start - 45) : span.end + 25]
    start = max(around.rfind(mark, 0, min(45, span.start)) for mark in ".;")
    clause = around[start + 1 :]
    stop = re.search(r"[.;]", clause[min(45, span.start) - start - 1 :])
    if stop:
        clause = clause[: min(45, span.start) - start - 1 + stop.start()]
    ages = [age for pattern, age in _BEGUN if pattern.search(clause)]
    if re.match(r"after\b", people.text[span.start : span.end], re.IGNORECASE):
        # "retired after 40 years at the mill": so long lasted the work, not the retirement
        ages = [min(age, _WORKING_AGE) for age in ages]
    return max(ages, default=0)


def _childhood(people: People, facts: Facts) -> Iterator[Finding]:
    """Of "as a child": said of somebody who is none any more."""
    for hit in _CHILDHOOD.finditer(people.text):
        span = Span(*hit.span())
        if owner(people, facts, span) != "patient":
            continue
        infancy = re.search(r"infan|baby|toddler", hit[0], re.IGNORECASE)
        grown = 18 if _ADULT_PAST.search(hit[0]) else 3 if infancy else 13
        since = re.match(r"since|from|throughout", hit[0], re.IGNORECASE)
        yield Finding(
            "earlier life", hit[0], span,
            youngest=16 if grown == 18 else 0, usual_from=0 if since else grown,
        )  # fmt: skip


_BORN_AT = re.compile(
    rf"\b(?:born|delivered|birth|premature)\b[^.;]{{0,25}}?\bat {_N}(?:\s?\+\s?\d)?[- ]weeks?\b",
    re.IGNORECASE,
)


def _birth(people: People) -> Iterator[Finding]:
    """Of "a 12-day-old, born at 39 weeks": the weeks at birth are told of who is just born."""
    if people.years is None or people.years >= 1:
        return
    newborn = any(age.unit_name in {"day", "week"} for age in people.ages)
    for hit in _BORN_AT.finditer(people.text):
        yield Finding(
            "weeks at birth", hit[0], Span(*hit.span()),
            oldest=12.0 if newborn else OLDEST, usual_to=12.0,
        )  # fmt: skip
