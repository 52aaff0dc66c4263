"""The patient's age: which number, in which unit, and whose."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

from askew.graphs.page import Page
from askew.graphs.people import People
from askew.graphs.person_words import FEMALE_NOUNS, MALE_NOUNS, NEUTRAL_NOUNS, PATIENT
from askew.graphs.terms import fold, lookup
from askew.graphs.wordlist import word_set
from askew.vignettes import AgeUnit, Relation, Span, Status, Triplet

_ONES = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_NUMBERS = {word: value for value, word in enumerate(_ONES)} | {
    word: 10 * (place + 2) for place, word in enumerate(_TENS)
}
_WORDED = (
    rf"(?:(?:{'|'.join(_TENS)})(?:[\s-](?:{'|'.join(_ONES[1:10])}))?|(?:{'|'.join(_ONES[1:])})"
    r"|(?:one|a) hundred(?: and (?:one|two|three|four|five))?)"
)
_NUMBER = rf"(?:\d{{1,3}}(?:[.,]5|½)?|{_WORDED})"
_UNIT = r"(?:years?|yrs?|y|months?|mos?|mths?|weeks?|wks?|wk|days?|d)"
_UNITS: dict[str, AgeUnit] = {"y": "year", "m": "month", "w": "week", "d": "day"}

# "47-year-old", "66 y/o", "sixty-two years of age", "18 months old", "47yo", "3 wk old"
_YEARS_OLD = re.compile(
    rf"(?<![\w.,])(?P<n>{_NUMBER})(?:[\s-]+and[\s-]a[\s-]half)?[\s-]*(?P<unit>{_UNIT})"
    rf"(?:[\s-]*(?:of[\s-]+age|old)\b|\s?/\s?o\b|\.?\s?o\b\.?)"
)
# "66M", "75 F", "45/F", "47yF"
_LETTER = re.compile(
    r"(?<![\w.,/:-])(?P<n>\d{1,3})\s?(?:y|yr|yrs|y/?o)?[\s/-]?(?P<sex>[MF])\b(?![.'’-]\w)"
)
_LETTER_FIRST = re.compile(
    r"(?<![\w.])(?P<sex>[MF])\s?[/,]?\s?(?P<n>\d{1,3})\b(?![.,/]\d|\s*(?:%|kg|cm|mm|mg|bpm))"
)
# "aged 45", "age: 7 months", "Age 45"
_AGED = re.compile(
    rf"\b(?P<word>aged?)(?:\s*[:=]\s*|"
    rf"\s+(?:of\s+)?)(?P<n>{_NUMBER})(?:[\s-]*(?P<unit>{_UNIT}))?\b(?![\w.]*\s*(?:%|/))"
)
# "is 39", "I'm 41", "who turned 50 last week", "is now 6 months"
_IS = re.compile(
    rf"\b(?:(?:is|am|'m|’m|was|turned|turns|just turned|'s|’s|she's|he's|being)(?: "
    rf"(?:now|currently|only|almost"
    rf"|nearly|just|about|around|turning))? )(?P<n>{_NUMBER})(?:[\s-]*(?P<unit>{_UNIT}))?"
    r"(?P<after>\s*(?:[,.;!?)]|$|and\b|but\b|with\b|years?\b|who\b|now\b|today\b|old\b|"
    r"this\b|last\b|–|—|-\s"
    r"|female\b|male\b|so\b|has\b|when\b|because\b|on \w+day\b|in (?:jan|feb|mar|apr|"
    r"may|jun|jul|aug|sep|oct|nov|dec)))"
)
# "Mr. Obi, 58, …", "the patient (58)", "my husband (71)"
_APPOSED = re.compile(
    rf"(?:,\s*|\(\s*)(?:age\s+|aged\s+)?(?P<n>\d{{1,3}})(?:\s*(?P<unit>{_UNIT}))?\s*(?=[,)]|$)"
)
# "A widower of 83", "a geologist of 69"; "a grandmother of five" counts children, in words or below
# an adult's age.
_OF = re.compile(
    r"\b(?P<noun>[a-z]{3,}) of (?P<n>\d{1,3})(?: years)?\b(?!\s*(?:children|kids|sons|"
    r"daughters|weeks|months|days|hours|minutes|mg|g|ml|pounds|kg|[%/.]))"
)
_DECADE = re.compile(
    r"\bin (?:his|her|their|my) (?:early |mid |late |mid-|early-|late-|very )*(?P<n>\d0)['’]?s\b"
    r"|\bin (?:his|her|their|my) (?:early |mid |late |mid-|early-|late-)*(?P<word>"
    r"twenties|thirties|forties|fifties|sixties|seventies|eighties|nineties|teens)\b"
)
_PERIODS = {"teens": 10} | {
    word[:-1] + "ies": value for word, value in _NUMBERS.items() if value >= 20 and value % 10 == 0
}
_SOMETHING = re.compile(rf"\b(?P<word>{'|'.join(_TENS)})-something(?:[\s-]year[\s-]old)?\b")
_FOLK = re.compile(
    r"\b(?P<word>vicenarian|tricenarian|quadragenarian|quinquagenarian|sexagenarian"
    r"|septuagenarian|octogenarian|nonagenarian)s?\b"
)
_FOLKS = {
    name: 20 + 10 * place
    for place, name in enumerate(
        (
            "vicenarian",
            "tricenarian",
            "quadragenarian",
            "quinquagenarian",
            "sexagenarian",
            "septuagenarian",
            "octogenarian",
            "nonagenarian",
        )
    )
}
# What makes a number no age now.
_NOT_NOW_BEFORE = re.compile(
    r"(?:\bat(?: the)?(?: age)?(?: of)?|\bsince(?: the)?(?: age)?(?: of)?|\bwhen (?:he|"
    r"she|they|i|we) (?:was|were)"
    r"|\bfrom(?: the)? age(?: of)?|\bby(?: the)? age(?: of)?|\buntil(?: the)?(?: "
    r"age)?(?: of)?|\bage of onset.{0,5}"
    r"|\bbefore(?: the)?(?: age)?(?: of)?|\bafter(?: the)?(?: age)?(?: of)?|\baround(?: "
    r"the)?(?: age)?(?: of)?"
    r"|\bunder|\bover|\bgestational|\bolder than|\byounger than|\bas an?|\bdied|\bbone|"
    r"\bmenarche|\bmenopause)\s*(?:age[d:]?\s*)?$"
)
# Of these, a number after "of" counts children.
_HAVE_CHILDREN = word_set("mother father mum mom mama dad grandmother grandfather multipara")
_AS_A = re.compile(r"\b(?:as|like|than) an? $")
_GESTATION = re.compile(
    r"^\s*+(?:['’]s?\s*+)?(?:gestation|pregnant|of gestation|of pregnancy|ga\b)|^\s*+pregnan"
)


@dataclass(frozen=True, slots=True)
class Age:
    """One expression of an age and what speaks for its being the patient's."""

    start: int
    end: int
    value: int
    unit: AgeUnit
    rule: str
    decade: bool = False
    sex: str = ""  # of "66M"
    rank: int = 0  # lower is surer


def number(text: str) -> int | None:
    """The whole number that digits or words say; None where they say none.

    >>> number("sixty-two"), number("47"), number("1.5")
    (62, 47, 1)
    """
    low = text.lower().replace("½", "")
    if low[:1].isdigit():
        return int(re.split(r"[.,]", low)[0])
    if "hundred" in low:
        return 100 + sum(
            _NUMBERS.get(part, 0) for part in low.split()[2:] if part not in ("one", "a")
        )
    parts = [_NUMBERS[part] for part in re.split(r"[\s-]+", low) if part in _NUMBERS]
    return sum(parts) if parts else None


def expressions(page: Page) -> list[Age]:
    """Everything that looks like an age, whoever's it is, surest form first."""
    found: list[Age] = []
    for rank, pattern in enumerate((_YEARS_OLD, _AGED, _LETTER, _LETTER_FIRST, _IS, _APPOSED, _OF)):
        cased = pattern in (_LETTER, _LETTER_FIRST)
        for match in pattern.finditer(page.text if cased else page.lower):
            age = _age(match, rank)
            if age and not any(age.start < one.end and one.start < age.end for one in found):
                found.append(age)
    found = [_lettered(page, age) for age in found]
    for match in _DECADE.finditer(page.lower):
        tens = int(match["n"]) if match["n"] else _PERIODS[match["word"]]
        found.append(Age(*match.span(), tens, "year", "age", decade=True, rank=1))
    for match in _SOMETHING.finditer(page.lower):
        tens = _NUMBERS[match["word"]]
        found.append(Age(*match.span(), tens, "year", "age", decade=True, rank=1))
    for match in _FOLK.finditer(page.lower):
        found.append(Age(*match.span(), _FOLKS[match["word"]], "year", "age", decade=True, rank=1))
    return found


_LETTER_AFTER = re.compile(r"\s*[,-]?\s?(?P<sex>[MF])\b(?![.'’-]\w)")


def _lettered(page: Page, age: Age) -> Age:
    """The age with the letter that follows it: "66 y/o M"."""
    letter = None if age.sex else _LETTER_AFTER.match(page.text, age.end)
    if letter is None:
        return age
    sex = "male" if letter["sex"] == "M" else "female"
    return replace(age, end=letter.end(), sex=sex)


def _age(match: re.Match[str], rank: int) -> Age | None:
    groups = match.groupdict()
    if "noun" in groups and not _names_person(groups["noun"]):
        return None
    value = number(groups["n"])
    unit = _unit(groups.get("unit") or "y")
    if value is None or (unit == "year" and value > 120):
        return None
    if (unit == "year" and "half" in match.group()) or "½" in groups["n"] or ".5" in groups["n"]:
        # Whole numbers only: "two and a half years" is 30 months, as a nurse would write it.
        value, unit = value * 12 + 6, "month"
    end = match.end()
    if "after" in groups:
        end = match.start("after")
    start = match.start("n") if rank >= 4 else match.start()
    sex = {"M": "male", "F": "female"}.get(groups.get("sex") or "", "")
    return Age(start, end, value, unit, "age", sex=sex, rank=rank)


def _names_person(noun: str) -> bool:
    """Whether an age can follow "of": "a widower of 83", "a geologist of 69"."""
    person = noun in FEMALE_NOUNS | MALE_NOUNS | NEUTRAL_NOUNS and noun not in _HAVE_CHILDREN
    return person or fold(noun) in lookup("occupations")


def _unit(word: str) -> AgeUnit:
    if word.startswith("mo") or word.startswith("mth"):
        return "month"
    return _UNITS[word[0]]


def plain_ages(page: Page) -> list[Triplet]:
    """Every age-like expression as the patient's: a regular expression without logic."""
    return [_triplet(page, age) for age in expressions(page) if age.rank <= 1][:1]


def patient_age(page: Page, people: People) -> list[Triplet]:
    """The patient's age now: at most one triplet."""
    known = [
        (_distance(page, people, age), age.rank, age.start, age)
        for age in expressions(page)
        if _now(page, age) and _is_patients(page, people, age)
    ]
    if not known:
        return []
    return [_triplet(page, min(known, key=lambda entry: entry[:3])[3])]


def letter_sex(page: Page, people: People) -> Age | None:
    """The age expression with a letter for the sex, "66M", where it is the patient's."""
    return next(
        (age for age in expressions(page) if age.sex and _is_patients(page, people, age)), None
    )


def _triplet(page: Page, age: Age) -> Triplet:
    qualifier: Literal["exact", "decade"] = "decade" if age.decade else "exact"
    return Triplet(
        Relation.HAS_AGE,
        age.value,
        Status.PRESENT,
        Span(age.start, age.end),
        page.text[age.start : age.end],
        age.rule,
        unit=age.unit,
        qualifier=qualifier,
        years=(age.value, age.value + 9) if age.decade else None,
    )


def _now(page: Page, age: Age) -> bool:
    """Whether it is an age now: not at a diagnosis, not a duration, not weeks of gestation."""
    before = page.lower[max(age.start - 40, 0) : age.start]
    after = page.lower[age.end : age.end + 25]
    gestation = age.unit != "year" and _GESTATION.search(after)  # not "a 31-year-old pregnant …"
    if gestation or _NOT_NOW_BEFORE.search(before.replace("aged ", "at ")):
        return bool(re.search(r"\bwas (?:an?|the) $", before))
    if age.rank == 1 and page.lower[age.start : age.start + 4] == "aged":
        return not re.search(
            r"\b(?:when|while|died|diagnosed|children|sons?|daughters?|kids)\s$", before
        )
    if age.rank == 1 and not age.decade:
        # "diagnosed at age 12" is caught above, "age 12 when …" here.
        return not re.search(r"^\s*(?:when|he|she|onwards)\b", after)
    if _AS_A.search(before):
        return False
    if age.decade:
        began = page.sentence_at(age.start).start
        clause = page.lower[began : age.start]
        return not re.search(
            r"\b(?:diagnosed|died|since|began|started|onset|had|developed)\b[^,]*$", clause
        )
    return True


def _is_patients(page: Page, people: People, age: Age) -> bool:
    owner = _owner(page, people, age)
    return owner == PATIENT


def _owner(page: Page, people: People, age: Age) -> str:
    """Whose age an expression is."""
    first, after = page.word_at(age.start), page.word_at(age.end)
    # The noun that it describes: "a 31-year-old retired school teacher".
    for index in range(after, min(after + 7, len(page.words))):
        word = page.words[index]
        person = people.at(index)
        if person is not None and age.rank in (0, 2, 3):
            return person.who
        if word.text in ",;.()" or word.tag in ("VBZ", "VBD", "VBP", "MD", "IN", "TO"):
            break
    # What it is apposed to or said of: "his wife, aged 60,", "my dad is 70".
    sentence = page.sentence_at(age.start)
    for index in range(first - 1, max(sentence.first - 1, first - 7), -1):
        person = people.at(index)
        if person is not None:
            return person.who
        word = page.words[index]
        if word.lower in ("he", "she", "i", "i'm", "i’m", "he's", "she's"):
            return people.holder(word.start)
        if word.tag in ("VBZ", "VBD", "VBP") and word.lower not in (
            "is",
            "am",
            "are",
            "was",
            "'s",
            "'m",
        ):
            break
    return people.holder(age.start)


def _distance(page: Page, people: People, age: Age) -> int:
    """0 beside the mention that introduces the patient, 1 elsewhere."""
    if people.patient is None:
        return 0
    near = page.words[people.patient.first].start
    return 0 if abs(age.start - near) < 60 else 1
