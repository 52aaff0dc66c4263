"""Gold triplets as a file holds them, checked against the text that they were read from.

One triplet is an object with `r` (the relation), `t` (the value), `status`, `span` (start and end
in characters) and `evidence` (the text there); `h` is always "patient". `unit`, `qualifier` and
`range` go with an age, `relative` with a family history. What only the scoring of an extractor
needs (`alt`, `r_alt`, `optional`, `status_lenient`, `relative_lenient`) is passed over here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from askew.datasets import fields
from askew.datasets.base import BadRecord
from askew.datasets.files import cell_json
from askew.datasets.vignette_records import excerpt
from askew.vignettes import AgeUnit, Relation, Span, Status, Triplet

_UNITS = ("year", "month", "week", "day")
_QUALIFIERS = ("exact", "decade")
_SCORING = {"alt", "r_alt", "optional", "status_lenient", "relative_lenient"}
_KNOWN = {"h", "r", "t", "status", "span", "evidence", "unit", "qualifier", "range", "relative"}


def triplets_of(row: Mapping[str, Any], name: str, text: str) -> tuple[Triplet, ...] | None:
    """The triplets of one record; None where it has none, () where it says that there are none.

    Raises:
        BadRecord: one of them is not of the form, or its span does not hold its evidence.
    """
    value = row.get(name)
    if fields.is_absent(value):
        return None
    if isinstance(value, str):
        try:
            value = cell_json(value, name)
        except (ValueError, RecursionError) as error:
            raise BadRecord("is no JSON, expected a list of triplets", name) from error
    if not isinstance(value, list):
        raise BadRecord(f"is {excerpt(value)!r}, expected a list of triplets", name)
    return tuple(_triplet(given, place, name, text) for place, given in enumerate(value))


def _triplet(given: Any, place: int, name: str, text: str) -> Triplet:
    try:
        if not isinstance(given, dict):
            raise BadRecord(f"is {excerpt(given)!r}, expected an object")
        unknown = sorted(set(given) - _KNOWN - _SCORING)
        if unknown:
            raise BadRecord(f"has the unknown key {unknown[0]!r}")
        if given.get("h", "patient") != "patient":
            raise BadRecord(f"h is {excerpt(given['h'])!r}, expected 'patient'")
        relation = Relation(_one_of(given, "r", tuple(Relation)))
        span = _span(given, text)
        is_age = relation is Relation.HAS_AGE
        return Triplet(
            relation=relation,
            value=_age(given) if is_age else _word(given, "t"),
            status=Status(_one_of(given, "status", tuple(Status))),
            span=span,
            evidence=text[span.start : span.end],
            rule="",
            unit=cast("AgeUnit", _one_of(given, "unit", _UNITS)) if is_age else None,
            qualifier=_qualifier(given) if is_age else None,
            years=_range(given) if is_age else None,
            relative=_word(given, "relative") if relation is Relation.FAMILY_HISTORY else None,
        )
    except BadRecord as bad:
        raise BadRecord(f"triplet {place}: {bad.message}", name) from bad


def _one_of(given: Mapping[str, Any], key: str, known: tuple[str, ...]) -> str:
    value = given.get(key)
    if not isinstance(value, str) or value not in known:
        raise BadRecord(f"{key} is {excerpt(value)!r}, expected {', '.join(known)}")
    return value


def _word(given: Mapping[str, Any], key: str) -> str:
    value = given.get(key)
    if not isinstance(value, str) or not value.strip():
        raise BadRecord(f"{key} is {excerpt(value)!r}, expected text")
    return value


def _age(given: Mapping[str, Any]) -> int:
    value = given.get("t")
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise BadRecord(f"t is {excerpt(value)!r}, expected a whole number of {given.get('unit')}s")
    return value


def _qualifier(given: Mapping[str, Any]) -> Any:
    return _one_of(given, "qualifier", _QUALIFIERS) if "qualifier" in given else None


def _range(given: Mapping[str, Any]) -> tuple[int, int] | None:
    if "range" not in given:
        return None
    first, last = _two_numbers(given, "range")
    return first, last


def _span(given: Mapping[str, Any], text: str) -> Span:
    start, end = _two_numbers(given, "span")
    if not 0 <= start < end <= len(text):
        raise BadRecord(f"span is {start} to {end}, the text has {len(text)} characters")
    if given.get("evidence") != text[start:end]:
        raise BadRecord(
            f"evidence is {excerpt(given.get('evidence'))!r}, the text has "
            f"{excerpt(text[start:end])!r} at its span"
        )
    return Span(start, end)


def _two_numbers(given: Mapping[str, Any], key: str) -> tuple[int, int]:
    value = given.get(key)
    if (
        not isinstance(value, list)
        or len(value) != 2
        or not all(isinstance(number, int) and not isinstance(number, bool) for number in value)
    ):
        raise BadRecord(f"{key} is {excerpt(value)!r}, expected two whole numbers")
    return value[0], value[1]
