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
    [ \t]{0,8}(?:[:：=|]|[ \t][-–—]|=>|->|→|\t)[ \t>]{0,8}
    [*_`"'“]{0,4}(?P<value>[^|\n]{0,200})(?:\|.*)?$""",
    re.MULTILINE | re.VERBOSE,
)
# A remark behind the number that names no other one: "0.3 (moderate)", "0.3 – mentions 72".
_REMARK = re.compile(
    r"^(?P<number>[^\s(\[;–—]+)\s*(?:\(.*\)|\[.*\]"
    r"|(?:[-–—;]|because\b|since\b|as\b)\s*(?!(?:to|or|perhaps|maybe|possibly|up|at|though|but)\b)"
    r"[a-z](?:(?!\d*[.,]\d|\d\s?%|\b[01]\b).)*)\.?$",
    re.IGNORECASE,
)
_NUMBER = r"[+-]?(?:\d{1,9}(?:[.,]\d{1,17})?|\.\d{1,17})(?:e[+-]?\d{1,3})?(?:\s?%|\s?/\s?[\d.]{1,6})?"
# Between a key and its number, and between a number and the next key.
_TIE = r"[*_`\"')\]]{0,4}(?:\s*(?:[:：=|]|=>|->|→)|\s[-–—])?[\s>*_`\"'(\[]{0,6}"
_GAP = r"[\s,;|.()\[\]{}*•_`\"'–—-]{0,12}(?:\band\b\s{0,4})?"
_RULE = re.compile(r"[\s|:+=-]*")


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
    for read in (_in_one_line(text, words, key_of), _under_a_header(text, key_of)):
        if read is not None:
            return read
    return _one_a_line(text, key_of)


def _one_a_line(text: str, key_of: KeyOf) -> Listed | None:
    values: list[tuple[str, Node]] = []
    start, end = len(text), 0
    for line in _LINE.finditer(text):
        key = key_of(line["key"])
        if key is None or line[0].lstrip().startswith(">"):
            continue
        said = line["value"].strip().rstrip("*_`\"',”; ").removesuffix("</")
        if said.endswith(".") and line.end() < len(text.rstrip()):
            said = said[:-1]  # the end of a sentence; at the end of the text it may be cut off
        remark = _REMARK.match(said)
        values.append((key, Word(remark["number"] if remark else said)))
        start, end = min(start, line.start()), max(end, line.end())
    return Listed(tuple(values), start, end) if values else None


def _in_one_line(text: str, words: Sequence[str], key_of: KeyOf) -> Listed | None:
    """Two or more keys of one line, each with a number and nothing else before the next."""
    word = "(?:" + "|".join(sorted(map(re.escape, words), key=len, reverse=True)) + ")"
    joiner = r"(?:\s{0,3}(?:[+&/×,_-]|and|plus|x){1,2}\s{0,3}|\s)(?:(?:and|&)\s)?"
    key = rf"(?<![\w+&/×-]){word}(?:{joiner}{word}){{0,4}}(?:[ _]bias)?(?:[ _]score)?(?!\w)"
    pair = rf"(?P<key>{key}){_TIE}(?P<value>{_NUMBER})(?![\w%/]|[.,]\d)"
    several = re.compile(rf"{pair}(?:{_GAP}{key}{_TIE}{_NUMBER}(?![\w%/]|[.,]\d)){{1,9}}", re.I)
    one = re.compile(pair, re.I)
    runs = [run for line in _lines(text) for run in several.finditer(text, *line)]
    values: list[tuple[str, Node]] = []
    for run in runs:
        for found in one.finditer(text, run.start(), run.end()):
            name = key_of(found["key"])
            if name is not None:
                values.append((name, Word(found["value"])))
        behind = text[run.end() : run.end() + 40]
        if values and (_goes_on(behind) or behind.strip() == "."):
            # "0.55 to 0.9" is no number, and "0." may have been about to become one.
            values[-1] = (values[-1][0], Word(values[-1][1].text + behind.split("\n")[0]))  # type: ignore[union-attr]
    if not values:
        return None
    return Listed(tuple(values), runs[0].start(), runs[-1].end())


def _goes_on(behind: str) -> bool:
    """Whether something follows the last number of a line that may belong to it."""
    return re.match(r"[ \t]*(?:\Z|[\n;|)\]}>*_`\"',]|\.(?:\s|\Z)|\([^\d)]*\))", behind) is None


def _lines(text: str) -> Iterator[tuple[int, int]]:
    """Where each line begins and ends; marked quotations are left out."""
    for line in re.finditer(r"[^\n]+", text):
        if not line[0].lstrip().startswith(">"):
            yield line.span()


def _under_a_header(text: str, key_of: KeyOf) -> Listed | None:
    """A table with the keys across the top and one row of numbers."""
    lines = [line for line in re.finditer(r"[^\n]+", text) if line[0].strip("|-:+= \t\r")]
    for place, header in enumerate(lines[:-1]):
        for sign in ("|", "\t", ";", ","):
            names = [key_of(cell) for cell in _cells(header[0], sign)]
            if len(names) < 2 or None in names:
                continue
            rows = [_cells(line[0], sign) for line in lines[place + 1 :]]
            rows = [row for row in rows if len(row) == len(names)]
            if not rows:
                continue
            values = [
                (name, Word(cell))
                for row in rows
                for name, cell in zip(names, row, strict=True)
                if name is not None
            ]
            return Listed(tuple(values), header.start(), lines[place + len(rows)].end())
    return None


def _cells(line: str, sign: str) -> list[str]:
    if sign == "|":
        line = line.strip().strip("|")
    return [cell.strip().strip("*_`\"'") for cell in line.split(sign)] if sign in line else []
