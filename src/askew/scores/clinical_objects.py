"""Fields of an answer that stand in JSON: one object, several, or a list of diagnoses."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal, TypeVar

from askew.scores.clean import unescaped
from askew.scores.clinical_found import Found
from askew.scores.clinical_lists import names_of_value
from askew.scores.clinical_words import field_of, referral_of, urgency_of, value_under
from askew.scores.loose_json import LooseObject, loose_list, loose_objects

T = TypeVar("T")
Outcome = Literal["answered", "refused", "unreadable", "truncated", "blocked", "error"]

_BARE_FIELD = re.compile(
    r"\s{0,20}[\"“'](?:differential|urgency|answer|diagnos\w+)[\"”']\s?:", re.I
)


def list_alone(text: str, headless: bool) -> Found | None:
    """A reply that is a list and no object: diagnoses, each a text or an object of its own."""
    entries = loose_list(text)
    if not entries:
        return None
    if all(isinstance(one, str) for one in entries):
        names = names_of_value(entries) if headless else None
        return Found(listed=list(names)) if names else None
    records = [one for one in entries if isinstance(one, Mapping)]
    named = [_diagnosis_of(one) for one in records]
    if len(records) < len(entries) or len(records) < 2 or not all(named):
        return None
    found = Found(listed=list(names_of_value(entries) or ()))
    for record in records:
        for key, value in record.items():
            if field_of(str(key)) == "tests":
                found.tests = _added(found.tests, value)
            elif field_of(str(key)) == "treatments":
                found.treatments = _added(found.treatments, value)
    return found


def _diagnosis_of(record: Mapping[object, object]) -> str | None:
    """The diagnosis that an object is about; None where it states a whole differential, or none."""
    said = [one for key, one in record.items() if field_of(str(key)) in ("differential", "leading")]
    return said[0] if len(said) == 1 and isinstance(said[0], str) else None


def answer_objects(text: str) -> list[LooseObject]:
    """The objects of a text that have a field of an answer, wrappers around them taken off."""
    plain = unescaped(text)
    # As it is; with entities resolved; with quotes escaped twice; with the first brace left out.
    bare = "{" + text if _BARE_FIELD.match(text) else ""
    for version in (text, plain, plain.replace('\\"', '"'), bare):
        found = [one for outer in loose_objects(version) for one in [_unwrapped(outer)] if one]
        if found:
            return found
    return []


def _unwrapped(outer: LooseObject) -> LooseObject | None:
    fields: Mapping[str, object] = outer.fields
    for _ in range(3):
        names = {field_of(key) for key in (*fields, *outer.contradicted)} - {None, "rationale"}
        inner = [value for value in fields.values() if isinstance(value, Mapping)]
        if names and not (names == {"answer"} and inner):
            return LooseObject(fields, outer.contradicted, outer.state, outer.end)
        if len(inner) != 1:
            break
        fields = {str(key): value for key, value in inner[0].items()}
    # A first key that is one of ours and was cut off: the answer had begun.
    return outer if outer.state in ("cut", "broken") and not outer.fields else None


def read_objects(objects: Sequence[LooseObject], *, cut: bool) -> tuple[Outcome, Found, str]:
    """The outcome, the fields and the rule of what objects state together.

    Args:
        objects: as from `answer_objects`.
        cut: by the token limit.
    """
    read = [_found_in(one) for one in objects]
    stated = [one for one in read if one.given]
    differentials = {one.differential for one in stated if one.differential}
    if len(differentials) > 1:
        return "unreadable", Found(), "two_answers"
    found = _merged(stated)
    states = {one.state for one in objects}
    if "broken" in states:
        return "unreadable", found, "broken_json"
    if "cut" in states or (cut and "open" in states):
        return "truncated", found, "cut_off"
    if not found.given:
        return "unreadable", Found(), "no_fields"
    return "answered", found, "json"


def _found_in(one: LooseObject) -> Found:
    found = Found()
    urgencies: list[int | None] = []
    referrals: list[bool | None] = []
    for key, value in one.fields.items():
        name = field_of(key)
        if name in ("differential", "leading", "others"):
            names = list(names_of_value(value) or ())
            if name == "leading":
                found.leading += names
            elif name == "others":
                found.others += names
            else:
                found.listed = [*(found.listed or []), *names]
        elif name == "urgency":
            urgencies.append(_urgency_of_value(value))
        elif name == "referral":
            referrals.append(referral_of(value))
        elif name == "tests":
            found.tests = _added(found.tests, value)
        elif name == "treatments":
            found.treatments = _added(found.treatments, value)
    found.urgency, found.referral = _only(urgencies), _only(referrals)
    return found


def _only(values: Sequence[T | None]) -> T | None:
    """The one value that keys of the same meaning state; None where they differ."""
    stated = {value for value in values if value is not None}
    return stated.pop() if len(stated) == 1 else None


def _urgency_of_value(value: object) -> int | None:
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, Mapping):
        stated = value_under(value, r"level|urgency|value|category|class|triage|rating")
        levels = [urgency_of(one) for one in value.values() if isinstance(one, str)]
        return urgency_of(stated) if isinstance(stated, str) else _only(levels)
    return urgency_of(value) if isinstance(value, str) else None


def _added(known: list[str] | None, value: object) -> list[str] | None:
    names = names_of_value(value)
    return known if names is None else [*(known or []), *names]


def _merged(read: Sequence[Found]) -> Found:
    """The fields of several objects; one that two objects state differently is not settled."""
    if not read:
        return Found()
    merged = read[0]
    for other in read[1:]:
        for name in ("urgency", "tests", "treatments", "referral"):
            own, theirs = getattr(merged, name), getattr(other, name)
            if own is not None and theirs is not None and own != theirs:
                setattr(merged, name, None)
                setattr(other, name, None)
        merged = merged.completed_by(other)
    return merged
