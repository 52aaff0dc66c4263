"""Fields of a vignette to values. A message shows no more of a patient than a short excerpt.

What a JSON record says with lists and objects, a cell of a table says in words: `a; b; c` for a
list, `gender=male; age=1-10,65-80` for levels, or JSON itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

from askew.datasets import fields
from askew.datasets.base import BadRecord
from askew.datasets.files import cell_json
from askew.datasets.phrases import comparable
from askew.datasets.vignette_records import excerpt
from askew.vignettes import GivenVariant, Relevance

_RELEVANCE = ("relevant", "not_relevant", "unknown")
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*")
_ATTRIBUTE = re.compile(r"[a-z][a-z0-9_]*")


def text(row: Mapping[str, Any], name: str) -> str:
    """A text that must be there, stripped."""
    value = row.get(name)
    if value is not None and not isinstance(value, str):
        raise _wrong(value, "text", name)
    try:
        return fields.text(row, name)
    except BadRecord as bad:
        raise BadRecord(f"{bad.message}. Write the case there, or delete the record", name) from bad


def optional_text(row: Mapping[str, Any], name: str) -> str:
    """A text that may be absent, stripped."""
    value = row.get(name)
    if not isinstance(value, str) and not fields.is_absent(value):
        raise _wrong(value, "text", name)
    return fields.optional_text(row, name)


def name(row: Mapping[str, Any], field: str) -> str:
    """The record's own name; "" where it has none."""
    value = row.get(field)
    if value is None or value != value or (isinstance(value, str) and not value.strip()):
        return ""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise _wrong(value, "text or a whole number", field)
    return " ".join(fields.identifier(row, field).split())


def texts(row: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """A list of texts, stripped, in its order.

    >>> texts({"reference": "malaria; dengue ; typhoid fever"}, "reference")
    ('malaria', 'dengue', 'typhoid fever')
    """
    value = _value(row, name)
    if value is None:
        return ()
    parts = re.split(r"[;\n]", value) if isinstance(value, str) else value
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        raise _wrong(value, "a list of texts", name)
    stripped = tuple(part.strip() for part in parts if part.strip())
    if isinstance(value, list) and len(stripped) < len(value):
        raise BadRecord("holds an empty text. Delete it from the list", name)
    return stripped


def options(row: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """The options of a multiple-choice question: none, or two and more that can be told apart."""
    found = texts(row, name)
    if len(found) == 1:
        raise BadRecord("holds one option. Give two or more, or none", name)
    try:
        fields.check_different(found)
    except BadRecord as bad:
        raise BadRecord("two options with the same text. Change one of them", name) from bad
    return found


def answer(row: Mapping[str, Any], name: str, options: tuple[str, ...]) -> int | None:
    """The place of the right option, given as its text, its letter or (in JSON) its place from 0.

    A number in a table is only read where it is an option's text: people count from 1, programs
    from 0, and nothing tells them apart.

    >>> [answer({"answer": value}, "answer", ("rest", "refer")) for value in ("b", "Refer", 1)]
    [1, 1, 1]
    """
    value = row.get(name)
    if fields.is_absent(value) and comparable(str(value)) not in map(comparable, options):
        return None
    if not options:
        raise BadRecord("is given without options. Fill in 'options' too", name)
    letters = "abcdefghijklmnopqrstuvwxyz"[: len(options)]
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(options):
        return value
    if isinstance(value, str):
        for index, option in enumerate(options):
            if comparable(option) == comparable(value):
                return index
        word = value.strip().casefold().strip("().")
        if len(word) == 1 and word in letters:
            return letters.index(word)
    raise _wrong(value, f"an option's text or a letter from a to {letters[-1]}", name)


def levels(row: Mapping[str, Any], name: str) -> dict[str, tuple[str, ...]]:
    """Levels by attribute.

    >>> levels({"odd": "gender=male; age=1-10,65-80"}, "odd")
    {'gender': ('male',), 'age': ('1-10', '65-80')}
    """
    found: dict[str, tuple[str, ...]] = {}
    for attribute, value in _pairs(row, name, "gender=male; age=1-10,65-80").items():
        parts = value.split(",") if isinstance(value, str) else value
        if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
            raise _wrong(value, f"a list of levels of {attribute!r}", name)
        stripped = tuple(part.strip() for part in parts if part.strip())
        if stripped:
            found[attribute] = stripped
    return found


def perturb(row: Mapping[str, Any], name: str, kind: str) -> dict[str, tuple[str, ...]]:
    """Levels by attribute as a gold file has them: `impossible_gender`, `implausible_age`, ….

    Args:
        row: the record.
        name: the field, an object.
        kind: "impossible" or "implausible".

    >>> perturb({"perturb": {"impossible_gender": ["male"]}}, "perturb", "impossible")
    {'gender': ('male',)}
    """
    value = _value(row, name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise _wrong(value, "an object", name)
    prefix = f"{kind}_"
    own = {k.removeprefix(prefix): v for k, v in value.items() if k.startswith(prefix)}
    return levels({name: own}, name)


def relevance(row: Mapping[str, Any], name: str = "relevance") -> dict[str, Relevance]:
    """Whether the right answer may depend on each attribute that is named."""
    found: dict[str, Relevance] = {}
    for attribute, value in _pairs(row, name, "gender=not_relevant; place=relevant").items():
        word = value.strip().casefold().replace(" ", "_") if isinstance(value, str) else value
        if word not in _RELEVANCE:
            raise BadRecord(
                f"{attribute} is {excerpt(value)!r}, expected {', '.join(_RELEVANCE)}", name
            )
        found[attribute] = cast("Relevance", word)
    return found


def given(row: Mapping[str, Any], name: str) -> tuple[GivenVariant, ...]:
    """Twins that the user wrote: objects with `levels` and `text`."""
    value = _value(row, name)
    if value is None:
        return ()
    if not isinstance(value, list):
        raise _wrong(value, "a list of objects with levels and text, as JSON", name)
    return tuple(_twin(twin, place, name) for place, twin in enumerate(value))


def language(row: Mapping[str, Any], name: str) -> str:
    """A BCP 47 tag; "en" where there is none."""
    tag = optional_text(row, name) or "en"
    if not _LANGUAGE.fullmatch(tag):
        raise BadRecord(f"is {excerpt(tag)!r}, expected a BCP 47 tag such as 'en'", name)
    return tag


def _twin(twin: object, place: int, name: str) -> GivenVariant:
    where = f"twin {place}"
    if not isinstance(twin, dict) or set(twin) != {"levels", "text"}:
        raise BadRecord(f"{where} is {excerpt(twin)!r}, expected 'levels' and 'text' in it", name)
    chosen = twin["levels"]
    if (
        not isinstance(chosen, dict)
        or not chosen
        or not all(isinstance(level, str) and level.strip() for level in chosen.values())
    ):
        raise BadRecord(f"levels of {where} are {excerpt(chosen)!r}, expected one each", name)
    words = twin["text"]
    if not isinstance(words, str) or not words.strip():
        raise BadRecord(f"text of {where} is {excerpt(words)!r}, expected text", name)
    return GivenVariant(
        {_attribute(key, name): level.strip() for key, level in chosen.items()}, words.strip()
    )


def _value(row: Mapping[str, Any], name: str) -> Any:
    """A field's value, with JSON in a cell read; None where there is none."""
    value = row.get(name)
    if fields.is_absent(value) or value in ([], {}):
        return None
    if isinstance(value, str) and value.strip()[:1] in ("[", "{"):
        try:
            return cell_json(value, name)
        except (ValueError, RecursionError) as error:
            raise BadRecord(
                f"is {excerpt(value)!r}, which begins like JSON and is none", name
            ) from error
    return value


def _pairs(row: Mapping[str, Any], name: str, example: str) -> dict[str, Any]:
    """Attribute -> value, of an object or of words parted by semicolons."""
    value = _value(row, name)
    if value is None:
        return {}
    if isinstance(value, str):
        pairs = [part.partition("=") for part in re.split(r"[;\n]", value) if part.strip()]
        if not all(sign and level.strip() for _, sign, level in pairs):
            raise BadRecord(f"is {excerpt(value)!r}, expected a form such as {example!r}", name)
        value = {}
        for attribute, _, level in pairs:
            key = _attribute(attribute, name)
            if key in value:
                raise BadRecord(f"names {key!r} twice. Put its levels together", name)
            value[key] = level
    if not isinstance(value, dict):
        raise _wrong(value, f"an object, or words such as {example!r}", name)
    return {_attribute(key, name): level for key, level in value.items()}


def _attribute(word: str, name: str) -> str:
    """An attribute's name: age, gender, place, race, or a word of the user's own."""
    attribute = "_".join(word.split()).casefold()
    if not _ATTRIBUTE.fullmatch(attribute):
        raise BadRecord(f"names the attribute {excerpt(word)!r}, expected a word", name)
    return attribute


def _wrong(value: object, expected: str, name: str) -> BadRecord:
    return BadRecord(f"is {excerpt(value)!r}, expected {expected}", name)
