"""A rule of the gate as it is written: `flex.attack_success_rate.overall.upper < 0.2`."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from enum import StrEnum
from operator import eq, ge, gt, le, lt, ne

from askew.errors import ConfigError
from askew.report.gate.figure_list import MINUS

COMPARISONS = {"<": lt, "<=": le, ">": gt, ">=": ge, "==": eq, "!=": ne}
_SPELLED = {"≤": "<=", "≥": ">=", "≠": "!="}
_OPERATORS = re.compile(r"<=|>=|==|!=|≤|≥|≠|<|>")
_NUMBER = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?)\s*(%?)")
_QUOTED = re.compile(r"\"([^\"]*)\"|'([^']*)'")
_BASELINE = "baseline."
_OFFSET = re.compile(r"\s*([+-])\s*((?:\d+\.?\d*|\.\d+)\s*%?)$")
EXAMPLE = "e.g. 'asr.upper < 20 %', 'flex.fit.meaningful == true' or 'asr.n >= 300'"


class Severity(StrEnum):
    """What a rule that does not hold leads to."""

    FAIL = "fail"  # the gate fails
    WARN = "warn"  # it is said, and the gate does not fail


class Outcome(StrEnum):
    """What became of a rule, or of the gate."""

    PASS = "pass"
    FAIL = "fail"
    CANNOT_TELL = "could not tell"


@dataclass(frozen=True, slots=True)
class Number:
    """A number; `percent` says that it was written as one of a hundred."""

    value: float
    percent: bool = False


@dataclass(frozen=True, slots=True)
class FromBaseline:
    """A bound of the baseline's own figure, and what is added to it."""

    subject: str
    plus: float = 0.0


Operand = Number | bool | str | FromBaseline


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule.

    Attributes:
        text: as it was written.
        subject: the path of a figure or fact, with the end of the interval, as it was written.
        comparison: one of `COMPARISONS`.
        operand: what it is compared with; text is a quoted word.
        severity: what it leads to where it does not hold.
        why: the reason for the rule, by whoever wrote it; may be empty.
        place: where it was written: "gate.toml:7", "--rule".
    """

    text: str
    subject: str
    comparison: str
    operand: Operand
    severity: Severity = Severity.FAIL
    why: str = ""
    place: str = "--rule"


def parse_rule(
    text: str, *, severity: Severity = Severity.FAIL, why: str = "", place: str = "--rule"
) -> Rule:
    """The rule that a text states.

    A name in a path may hold spaces and signs, so what follows an operator decides which operator
    it is: the last one with a number, a word, true or false, or a baseline's figure behind it.

    >>> parse_rule("asr.upper < 20 %").operand
    Number(value=0.2, percent=True)
    >>> parse_rule("asr.upper < baseline.asr.upper + 0.05").operand
    FromBaseline(subject='asr.upper', plus=0.05)

    Raises:
        ConfigError: it states none; the text says what is wrong and how to mend it.
    """
    for found in reversed(list(_OPERATORS.finditer(text))):
        subject, right = text[: found.start()].strip(), text[found.end() :].strip()
        operand = _operand(right)
        if operand is not None and subject:
            comparison = _SPELLED.get(found[0], found[0])
            return Rule(text.strip(), subject, comparison, operand, severity, why, place)
    raise ConfigError(f"{place}: {text!r}: {_what_is_wrong(text)}")


def _operand(text: str) -> Operand | None:
    if text in ("true", "false"):
        return text == "true"
    if quoted := _QUOTED.fullmatch(text):
        return quoted[1] if quoted[1] is not None else quoted[2]
    if text.startswith(_BASELINE):
        return _from_baseline(text.removeprefix(_BASELINE))
    return read_number(text)


def read_number(text: str) -> Number | None:
    """A number as it is typed, or one of a hundred; None for what is neither.

    >>> read_number("3 %"), read_number(".5").value, read_number("nan")
    (Number(value=0.03, percent=True), 0.5, None)
    """
    found = _NUMBER.fullmatch(text.replace(MINUS, "-"))
    if found is None or not math.isfinite(float(found[1])):
        return None
    return Number(float(found[1]) / (100 if found[2] else 1), bool(found[2]))


def _from_baseline(text: str) -> FromBaseline | None:
    text = text.replace(MINUS, "-")
    plus = 0.0
    if offset := _OFFSET.search(text):
        number = read_number(offset[2])
        assert number is not None  # the pattern is a number's
        plus, text = float(f"{offset[1]}1") * number.value, text[: offset.start()]
    return FromBaseline(text.strip(), plus) if text.strip() else None


def _what_is_wrong(text: str) -> str:
    """Why a text is no rule, by the commonest slips."""
    if not _OPERATORS.search(text):
        if "=" in text:
            return f"`=` compares nothing. Write `==`; {EXAMPLE}."
        return (
            "there is no comparison in it. Write a figure, one of < <= > >= == != and a number; "
            f"{EXAMPLE}. In a shell the rule has to stand in quotes, or `<` is taken for a file."
        )
    right = _OPERATORS.split(text)[-1].strip()
    if re.fullmatch(r"[+-]?\d+,\d+\s*%?", right):
        return f"{right!r} has a comma. Write {right.replace(',', '.')}, without a comma."
    if right.lower() in ("nan", "inf", "-inf", "infinity"):
        return f"nothing can be compared with {right}. Write a number."
    if right.lower() in ("true", "false"):
        return f"write {right.lower()}, in small letters."
    if not right:
        return f"nothing stands behind the comparison. {EXAMPLE[:1].upper()}{EXAMPLE[1:]}."
    if not _OPERATORS.split(text)[0].strip():
        return f"no figure stands before the comparison; {EXAMPLE}."
    return (
        f"{right!r} is no number. Write a number (0.2), a percentage (20 %), true or false, a word "
        'in quotes ("equivalent"), or a figure of the baseline (baseline.asr.upper + 0.05).'
    )
