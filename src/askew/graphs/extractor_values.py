"""What foreign extractors return as text, as the values of the gold: ages, genders, relatives."""

from __future__ import annotations

import re
from functools import cache

from askew.graphs.ages import number
from askew.graphs.terms import fold, lookup
from askew.vignettes import AgeUnit

GENDERS = ("female", "male", "transgender man", "transgender woman", "non-binary")
_AGE = re.compile(
    r"\b(?P<number>\d{1,3}|[a-z]+(?:[-\s][a-z]+)?)[\s-]*(?P<unit>years?|yrs?|y/?o|months?|mos?|"
    r"weeks?|wks?|days?)\b"
)
_UNITS: tuple[tuple[str, AgeUnit], ...] = (
    ("mo", "month"),
    ("w", "week"),
    ("d", "day"),
    ("y", "year"),
)
_WORDS = {
    "female": ("female", "woman", "women", "girl", "lady", "f", "daughter", "schoolgirl", "mother"),
    "male": ("male", "man", "men", "boy", "gentleman", "m", "son", "schoolboy", "father"),
    "transgender man": ("transgender man", "trans man", "transman", "transgender male", "ftm"),
    "transgender woman": (
        "transgender woman",
        "trans woman",
        "transwoman",
        "transgender female",
        "mtf",
    ),
    "non-binary": ("non-binary", "nonbinary", "non-binary person", "genderqueer", "enby"),
}


def age_of(text: str) -> tuple[int, AgeUnit] | None:
    """The age that a wording says, with its unit; None where it says none.

    >>> age_of("47-year-old"), age_of("six weeks"), age_of("81"), age_of("elderly")
    ((47, 'year'), (6, 'week'), (81, 'year'), None)
    """
    low = text.strip().lower()
    for found in _AGE.finditer(low):
        value = number(found["number"])
        if value is not None:
            return value, _unit(found["unit"])
    return (int(low), "year") if re.fullmatch(r"\d{1,3}", low) else None


def _unit(word: str) -> AgeUnit:
    return next(unit for letter, unit in _UNITS if word.startswith(letter))


def gender_of(text: str) -> str | None:
    """The gender of the gold that a wording names; None where it names none.

    >>> gender_of("Woman"), gender_of("trans man"), gender_of("patient")
    ('female', 'transgender man', None)
    """
    return _genders().get(fold(text))


@cache
def _genders() -> dict[str, str]:
    return {fold(word): gender for gender, words in _WORDS.items() for word in words}


def relative_of(text: str) -> str | None:
    """The blood relative that a text names last, as family history calls it; None without one.

    A spouse, an in-law or a friend is none, and neither is whoever stands before one of them.

    >>> relative_of("her maternal aunt"), relative_of("his mother-in-law"), relative_of("nobody")
    ('aunt', None, None)
    """
    words = fold(text).split()
    relatives = lookup("relatives")
    longest = max(len(wording.split()) for wording in relatives)
    end = len(words)
    while end:
        for length in range(min(longest, end), 0, -1):
            term = relatives.get(" ".join(words[end - length : end]))
            if term is not None:
                return term.tags.get("gold") if term.tags["blood"] == "yes" else None
        end -= 1
    return None
