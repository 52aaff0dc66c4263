"""Numbers in words and figures, and the article before them."""

from __future__ import annotations

import re

from askew.perturb.words import listed

_ONES = listed(
    """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
    fifteen sixteen seventeen eighteen nineteen
    """
)
_TENS = listed(
    """
    _ _ twenty thirty forty fifty sixty seventy eighty ninety
    """
)
_WORDS = {word: number for number, word in enumerate(_ONES)}
_WORDS |= {word: 10 * ten for ten, word in enumerate(_TENS) if ten > 1}
_DECADES = {word[:-1] + "ies": _WORDS[word] for word in _TENS[2:]}

# A number from 0 to 119 in words, or up to three figures.
NUMBER = (
    r"(?:\d{1,3}|(?:one|a)[- ]hundred(?:[- ]and[- ][a-z]+)?|(?:"
    + "|".join(_TENS[2:])
    + r")(?:[- ](?:"
    + "|".join(_ONES[1:10])
    + r"))?|(?:"
    + "|".join(reversed(_ONES))
    + r"))"
)
DECADE = r"(?:\d0['’]?s|" + "|".join(_DECADES) + ")"

_SILENT = re.compile(r"(?:uni|use|usu|eur|ewe|one\b|once\b|u[bkst]i|ubiq)", re.IGNORECASE)
_VOCAL = re.compile(r"(?:hour|hono|heir|honest)", re.IGNORECASE)


def value(words: str) -> int | None:
    """The number that words or figures tell; None where they tell none.

    >>> value("sixty-two"), value("7"), value("a hundred"), value("many")
    (62, 7, 100, None)
    """
    if words.isdecimal():
        return int(words)
    parts = re.split(r"[-\s]+", words.lower())
    if parts[:2] in (["a", "hundred"], ["one", "hundred"]):
        rest = [part for part in parts[2:] if part != "and"]
        return 100 + (_WORDS.get(rest[0], 0) if rest else 0)
    known = [_WORDS.get(part) for part in parts]
    numbers = [number for number in known if number is not None]
    return sum(numbers) if len(numbers) == len(known) else None


def in_words(number: int) -> str:
    """A number from 0 to 119 in words, tens and ones joined by a hyphen.

    >>> in_words(62), in_words(8), in_words(104)
    ('sixty-two', 'eight', 'one hundred and four')
    """
    if number >= 100:
        rest = number - 100
        return "one hundred" + (f" and {in_words(rest)}" if rest else "")
    if number < 20:
        return _ONES[number]
    tens, ones = divmod(number, 10)
    return _TENS[tens] + (f"-{_ONES[ones]}" if ones else "")


def decade(words: str) -> int | None:
    """The first year of a decade of life.

    >>> decade("80s"), decade("fifties"), decade("old")
    (80, 50, None)
    """
    figures = re.fullmatch(r"(\d0)['’]?s", words)
    return int(figures[1]) if figures else _DECADES.get(words.lower())


def article(following: str) -> str:
    """The indefinite article before a word, by its sound.

    >>> [article(word) for word in ("8-year-old", "18", "80s", "1", "Hispanic", "Asian", "one")]
    ['an', 'an', 'an', 'a', 'a', 'an', 'a']
    """
    figures = re.match(r"\d+", following)
    if figures:
        return "an" if figures[0][0] == "8" or figures[0] in {"11", "18"} else "a"
    if _SILENT.match(following):
        return "a"
    return "an" if following[:1].lower() in set("aeiou") or _VOCAL.match(following) else "a"
