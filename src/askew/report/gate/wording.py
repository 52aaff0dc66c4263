"""A ruling in words: what was found, what was asked for, and what would decide it."""

from __future__ import annotations

import math

from askew.records import Estimate
from askew.report.gate.figure_list import Unit
from askew.report.words import UNDEFINED
from askew.stats.size_for_bound import size_for_bound

Found = float | str | bool
_SAID = {
    "<": "below",
    "<=": "at most",
    ">": "above",
    ">=": "at least",
    "==": "",
    "!=": "other than",
}
_ROUNDING = 1e-14  # what is left of 0 where figures were added and taken away
_END = {"lower": "the lower end", "upper": "the upper end"}


def number(value: float, *, unit: Unit, digits: int = 4) -> str:
    """A number with so many digits that count, a share as a percentage.

    >>> number(0.0965408, unit=Unit.SHARE), number(462.0, unit=Unit.NONE)
    ('9.654 %', '462')
    >>> number(-0.5, unit=Unit.POINTS)
    '−50 points'
    """
    if not math.isfinite(value):
        return UNDEFINED
    if abs(value) < _ROUNDING:
        value = 0.0
    if unit is not Unit.NONE:
        sign = "%" if unit is Unit.SHARE else "points"
        return f"{value * 100:.{digits}g} {sign}".replace("-", "−")
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}".replace("-", "−")
    return f"{value:.{digits}g}".replace("-", "−")


def interval(figure: Estimate, *, unit: Unit) -> str:
    """The ends of an interval.

    >>> interval(Estimate(0.1, 0.034, 0.25, 40, 1.0, "wilson"), unit=Unit.SHARE)
    '3.4 to 25 %'
    """
    ends = (figure.lower, figure.upper)
    if any(math.isnan(end) for end in ends):
        return "no interval"
    lower, upper = (number(end, unit=unit, digits=3) for end in ends)
    return f"{lower.removesuffix(' points').removesuffix(' %')} to {upper}"


def read(found: Found | None, *, unit: Unit) -> str:
    """What was found, as it is shown in a table."""
    if found is None:
        return UNDEFINED
    if isinstance(found, bool):
        return "true" if found else "false"
    return f'"{found}"' if isinstance(found, str) else number(found, unit=unit)


def kept(end: str, comparison: str, found: Found, bound: Found, *, unit: Unit) -> str:
    """Why a rule holds."""
    return _told(end, comparison, found, bound, "is", unit=unit)


def missed(
    end: str, comparison: str, found: Found, bound: Found, figure: Estimate | None, *, unit: Unit
) -> str:
    """Why a rule does not hold, and what would decide it.

    Args:
        end: of the figure's interval; "" for a fact.
        comparison: the rule's.
        found: what was found.
        bound: what it was compared with.
        figure: where its interval holds the bound, so that the rule may hold all the same.
        unit: of the numbers.
    """
    told = _told(end, comparison, found, bound, "is not", unit=unit)
    if figure is None or not isinstance(bound, float):
        return told
    whole = interval(figure, unit=unit)
    told += f"; the interval, {whole}, holds the bound, so that the run does not exclude the rule"
    reach = figure.upper if end == "upper" else figure.lower
    score = figure.method.startswith("wilson")
    needed = size_for_bound(figure.value, reach, bound, figure.n, score=score)
    if needed is None:
        return f"{told}. The value itself does not keep it"
    more = f"about n = {needed:,} instead of {figure.n:,} would do"
    return f"{told}. If the value stays as it is, {more}"


def _told(end: str, comparison: str, found: Found, bound: Found, verb: str, *, unit: Unit) -> str:
    ours, theirs = _apart(found, bound, unit=unit)
    said = f"{verb} {_SAID[comparison]}".rstrip()
    return (
        f"{_END.get(end, 'it')}, {ours}, {said} {theirs}"
        if end in _END
        else (f"{ours} {said} {theirs}")
    )


def _apart(found: Found, bound: Found, *, unit: Unit) -> tuple[str, str]:
    """Both as text, with as many digits as it takes to tell them apart."""
    if not _is_number(found) or not _is_number(bound):
        return read(found, unit=unit), read(bound, unit=unit)
    for digits in range(4, 18):
        ours, theirs = (number(float(one), unit=unit, digits=digits) for one in (found, bound))
        if ours != theirs or found == bound:
            break
    return ours, theirs


def _is_number(found: Found) -> bool:
    return isinstance(found, int | float) and not isinstance(found, bool)
