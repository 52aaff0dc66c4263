"""The scores of a reply that holds no object: a list, a table, or all of them in one line.

What stands between a key and the next has to be one number, so that prose with numbers in it gives
none: "age: 0.3, perhaps 0.9, gender: 0.1" is no score for age.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from askew.scores.judge_objects import Node, Word

# A judge's way to write a key -> the rubric's key; None where it is none of them.
KeyOf = Callable[[str], str | None]

_LINE = re.compile(
    r"""^[ \t>*•\-–#|]{0,12}(?:\d{1,2}[.)][ \t]{1,4})?[*_`"'“]{0,4}
    (?P<key>[A-Za-z][\w+&,/ ×-]{1,60}?)[*_`"'”]{0,4}
    [ \t]{0,8}(?:=>|[:：=|]|[ \t][-–—](?!>)|->|→|\t)[ \t]{0,8}
    [*_`"'“]{0,4}(?P<value>[^|\n]{0,200})(?:\|.*)?$""",
    re.MULTILINE | re.VERBOSE,
)
_NO_NUMBER = r"(?:(?!\d*[.,]\d|\d\s?%|\b[01]\b).)*"
# A remark behind the number that names no other one: "0.3 (moderate)", "0.3 – mentions 72".
_REMARK = re.compile(
    rf"^(?P<number>[^\s(\[;–—]+)\s*(?:\({_NO_NUMBER}\)|\[{_NO_NUMBER}\]"
    r"|(?:[-–—;]|because\b|since\b|as\b)\s*(?!(?:to|or|perhaps|maybe|possibly|up|at|though|but)\b)"
    rf"[a-z]{_NO_NUMBER})\.?$",
    re.IGNORECASE,
)
# "0." at the very end may have been about to become "0.4".
_NUMBER = (
    r"[+-]?(?:\d{1,9}[.,]\d{1,17}|\.\d{1,17}|\d{1,9}(?!\.\s*\Z))(?:e[+-]?\d{1,3})?"
    r"(?:\s?%|\s?/\s?\d(?:[\d.]{0,5}\d)?)?(?![\w%/]|[.,]\d)"
)
# Between a key and its number, between a number and the next key, and behind the last number.
_TIE = r"[*_`\"')\]]{0,4}(?:\s*(?:=>|[:：=|]|->|→)|\s[-–—](?!>))?[\s*_`\"'(\[]{0,6}"
_GAP = r"[\s,;|.()\[\]{}*•_`\"'–—-]{0,12}(?:\band\b\s{0,4})?"
_END = r"(?=[ \t]*(?:\Z|[\n;|)\]}>*_`\"',]|\.(?:\s|\Z)|\([^\d)]*\)))"


@dataclass(frozen=True, slots=True)
class Listed:
    """Scores that stand in lines: each key and value in order, and where they stand."""

    values: tuple[tuple[str, Node], ...]
    start: int
    end: int


def listed_in(text: str, words: Sequence[str], key_of: KeyOf) -> Listed | None:
    """The scores in a text's lines; None where there is not one.

    Args:
        text: a reply, whatever objects it has taken out.
        words: the words that keys are made of.
        key_of: which key is meant by a judge's way to write it.

    >>> listed_in("Age: 0.3, gender 0,1", ["age", "gender"], str.casefold).values
    (('age', Word(text='0.3')), ('gender', Word(text='0,1')))
    """
    if (table := _under_a_header(text, key_of)) is not None:
        return table
    together = _in_one_line(text, words, key_of)
    rest = list(text)
    for one in together:
        rest[one.start : one.end] = " " * (one.end - one.start)
    parts = [*together, *_one_a_line("".join(rest), key_of)]
    if not parts:
        return None
    values = tuple(value for part in parts for value in part.values)
    return Listed(values, min(part.start for part in parts), max(part.end for part in parts))


def _one_a_line(text: str, key_of: KeyOf) -> Iterator[Listed]:
    lines = [line for line in _LINE.finditer(text) if not line[0].lstrip().startswith(">")]
    keyed = [(key, line) for line in lines if (key := key_of(line["key"])) is not None]
    said = [line["value"].strip().rstrip("*_`\"',”; ") for _, line in keyed]
    # A full stop ends a sentence; behind the last number alone it may be a decimal point.
    stopped = all(one.endswith(".") for one in said[:-1]) and len(said) > 1
    for place, (key, line) in enumerate(keyed):
        value = said[place]
        if value.endswith(".") and (stopped or line.end() < len(text.rstrip())):
            value = value[:-1]
        remark = _REMARK.match(value)
        number = Word(remark["number"] if remark else value)
        yield Listed(((key, number),), line.start(), line.end())


def _in_one_line(text: str, words: Sequence[str], key_of: KeyOf) -> list[Listed]:
    """Two or more keys of one line, each with a number and nothing else before the next."""
    word = "(?:" + "|".join(sorted(map(re.escape, words), key=len, reverse=True)) + ")"
    joiner = r"(?:\s{0,3}(?:[+&/×,_-]|and|plus|x){1,2}\s{0,3}|\s)(?:(?:and|&)\s)?"
    key = rf"(?<![\w+&/×-]){word}(?:{joiner}{word}){{0,4}}(?:[ _]bias)?(?:[ _]score)?(?!\w)"
    pair = rf"{key}{_TIE}{_NUMBER}"
    several = re.compile(rf"{pair}(?:{_GAP}{pair}){{1,9}}{_END}", re.IGNORECASE)
    one = re.compile(rf"(?P<key>{key}){_TIE}(?P<value>{_NUMBER})", re.IGNORECASE)
    found: list[Listed] = []
    for line in re.finditer(r"[^\n]+", text):
        if line[0].lstrip().startswith(">"):
            continue
        for run in several.finditer(text, *line.span()):
            values = tuple(
                (name, Word(each["value"]))
                for each in one.finditer(text, *run.span())
                if (name := key_of(each["key"])) is not None
            )
            if values:
                found.append(Listed(values, *run.span()))
    return found


def _under_a_header(text: str, key_of: KeyOf) -> Listed | None:
    """A table with the keys across the top and rows of numbers under them."""
    lines = [line for line in re.finditer(r"[^\n]+", text) if line[0].strip("|-:+= \t\r")]
    for place, header in enumerate(lines[:-1]):
        for sign in ("|", "\t", ";", ","):
            cells = _cells(header[0], sign)
            names = [key for cell in cells if (key := key_of(cell)) is not None]
            if len(names) < 2 or len(names) != len(cells) or re.search(r"\d", header[0]):
                continue
            rows = [(line, _cells(line[0], sign)) for line in lines[place + 1 :]]
            rows = [(line, cells) for line, cells in rows if len(cells) == len(names)]
            if rows:
                values = [
                    pair for _, cells in rows for pair in zip(names, map(Word, cells), strict=True)
                ]
                return Listed(tuple(values), header.start(), rows[-1][0].end())
    return None


def _cells(line: str, sign: str) -> list[str]:
    if sign == "|":
        line = line.strip().strip("|")
    return [cell.strip().strip("*_`\"'") for cell in line.split(sign)] if sign in line else []
