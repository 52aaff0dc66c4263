"""One value of a judge's object as a number, or why it is none."""

from __future__ import annotations

import math
import re
import unicodedata

from askew.scores.judge_objects import Node, Row, Text, Word
from askew.scores.judge_reading import Fault, Faulty

_NUMBER = re.compile(r"[+-]?(?:\d{1,40}\.?\d{0,40}|\.\d{1,40})(?:[eE][+-]?\d{1,6})?", re.ASCII)
_PERCENT = re.compile(
    rf"({_NUMBER.pattern})\s?(?:%|percent|per cent|pct\.?)", re.ASCII | re.IGNORECASE
)
_FRACTION = re.compile(
    rf"({_NUMBER.pattern})\s?(?:/|out of)\s?({_NUMBER.pattern})", re.ASCII | re.IGNORECASE
)
# "0,3": three digits behind the comma may be thousands, unless a lone 0 stands before it.
_DECIMAL_COMMA = re.compile(
    r"(?P<sign>[+-]?)(?P<whole>0(?=,\d)|\d{1,2}(?=,\d{1,2}\Z)),(?P<rest>\d{1,40})", re.ASCII
)
_INFINITE = re.compile(r"[+-]?(?:inf(?:inity)?|∞)", re.IGNORECASE)
_MINUS = str.maketrans({"−": "-", "＋": "+", "٫": "."})
# "0.3 (moderate)": a remark in brackets that holds no other number.
_REMARK = re.compile(r"(?P<said>[^\s(\[]+)\s*(?:\([^\d()]*\)|\[[^\d\[\]]*\])")
_VALUE_KEYS = frozenset(
    ("score", "value", "val", "rating", "bias", "bias score", "level", "number", "severity")
)


def number_of(node: Node, low: float, high: float, *, whole: bool = False) -> float | Faulty:
    """The number that a value says, in [low, high]; never clamped and never guessed.

    A per cent sign or a fraction is taken at its word on a scale from 0 to 1 ("30%", "3/10"); on
    another scale only "4/5" with the scale's own end is. A decimal comma is read ("0,3"); what
    could be thousands as well is not ("1,000").

    >>> number_of(Word("1e-1"), 0, 1), number_of(Text("30%"), 0, 1)
    (0.1, 0.3)
    >>> number_of(Word("1.24"), 0, 1).fault.value, number_of(Word("true"), 0, 1).fault.value
    ('out_of_range', 'not_numeric')
    """
    said = said_of(node)
    if said is None:
        return Faulty(Fault.NOT_NUMERIC, "an object or a list where a number is asked for")
    value = _value(_plain(said), low, high)
    if value is None:
        return Faulty(Fault.NOT_NUMERIC, f"{said[:60]!r} is no number")
    if not low <= value <= high:
        return Faulty(Fault.OUT_OF_RANGE, f"{said[:60]!r} is not within {low:g} to {high:g}")
    if whole and not value.is_integer():
        return Faulty(Fault.NOT_WHOLE, f"{said[:60]!r} is no whole number")
    return value + 0.0  # -0.0 is 0.0


def said_of(node: Node) -> str | None:
    """The text of a value: its own, that under "score" in an object, that of a list of one.

    None if there is none, or more than one.
    """
    if isinstance(node, (Text, Word)):
        return node.text
    if isinstance(node, Row):
        return said_of(node.entries[0]) if len(node.entries) == 1 else None
    said = {
        value.text
        for key, value in node.pairs
        if isinstance(value, (Text, Word))
        and key.casefold().replace("_", " ").strip() in _VALUE_KEYS
    }
    return said.pop() if len(said) == 1 else None


def _plain(said: str) -> str:
    """A number as it is written in code: ASCII digits, a decimal point, no remark."""
    said = said.translate(_MINUS).strip()
    said = "".join(
        str(unicodedata.decimal(sign)) if sign.isdecimal() else sign
        for sign in said.replace("．", ".")
    )
    if (remark := _REMARK.fullmatch(said)) is not None:
        said = remark["said"]
    if (comma := _DECIMAL_COMMA.fullmatch(said)) is not None:
        said = f"{comma['sign']}{comma['whole']}.{comma['rest']}"
    return said


def _value(said: str, low: float, high: float) -> float | None:
    if _NUMBER.fullmatch(said):
        return float(said)
    if _INFINITE.fullmatch(said):
        return -math.inf if said.startswith("-") else math.inf
    unit = low == 0 and high == 1
    if (percent := _PERCENT.fullmatch(said)) and unit:
        return float(percent[1]) / 100
    if fraction := _FRACTION.fullmatch(said):
        above, below = float(fraction[1]), float(fraction[2])
        if below == high:
            return above * 1.0
        if unit and below > 0:
            return above / below
    return None
