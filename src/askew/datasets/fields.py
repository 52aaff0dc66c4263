"""Fields to values: each reader takes a record's fields and says what is wrong with one of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from askew.datasets.base import BadRecord
from askew.datasets.phrases import comparable, is_unknown_phrase

# How pandas, R and people write that a cell has no value.
_ABSENT = frozenset({"", "nan", "na", "n/a", "<na>", "none", "null"})
# As an option's whole text, "None" may be an answer; "nan" only ever is a hole in a table.
_ABSENT_OPTION = frozenset({"", "nan", "<na>"})
_WHOLE_NUMBER = re.compile(r"[+-]?\d{1,18}(\.0*)?", re.ASCII)


def is_absent(value: object) -> bool:
    """Whether a field of a record has no value, however that is written.

    >>> [is_absent(value) for value in (None, float("nan"), " NaN ", "None", 0, "nanny")]
    [True, True, True, True, False, False]
    """
    if isinstance(value, str):
        return value.strip().casefold() in _ABSENT
    return value is None or (isinstance(value, float) and value != value)


def text(fields: Mapping[str, Any], name: str) -> str:
    """A text that must be there, stripped; neither empty nor a hole in a table."""
    value = fields.get(name)
    if value is None:
        raise BadRecord("is missing", name)
    if not isinstance(value, str):
        raise BadRecord(f"is {value!r}, expected text", name)
    stripped = value.strip()
    if stripped.casefold() in _ABSENT_OPTION:
        raise BadRecord(f"is {'empty' if not stripped else repr(stripped)}, expected text", name)
    return stripped


def optional_text(fields: Mapping[str, Any], name: str) -> str:
    """A text that may be absent, stripped; "" then, and never "nan" or "None"."""
    value = fields.get(name)
    if is_absent(value):
        return ""
    if not isinstance(value, str):
        raise BadRecord(f"is {value!r}, expected text", name)
    return value.strip()


def identifier(fields: Mapping[str, Any], name: str) -> str:
    """A record's own name: text, or a whole number (7.0, a trace of pandas, is 7)."""
    value = fields.get(name)
    if isinstance(value, str) and value.strip():
        stripped = value.strip()
        return stripped.split(".")[0] if re.fullmatch(r"\d+\.0+", stripped, re.ASCII) else stripped
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(whole_number(fields, name))
    raise BadRecord("is missing" if value is None else f"is {value!r}, expected a name", name)


def whole_number(fields: Mapping[str, Any], name: str) -> int:
    """A whole number: 2, 2.0 and "2" are read as 2; true, null and "two" are not."""
    value = fields.get(name)
    if isinstance(value, bool) or value is None:
        raise BadRecord(f"is {value!r}, expected a whole number", name)
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and _WHOLE_NUMBER.fullmatch(value.strip()):
        return int(value.strip().split(".")[0])
    raise BadRecord(f"is {value!r}, expected a whole number", name)


def option_index(fields: Mapping[str, Any], name: str) -> int:
    """The place of an option: 0, 1 or 2."""
    value = whole_number(fields, name)
    if value not in (0, 1, 2):
        raise BadRecord(f"is {value}, expected 0, 1 or 2", name)
    return value


def options(fields: Mapping[str, Any], names: tuple[str, str, str]) -> tuple[str, str, str]:
    """Three options that can be told apart, stripped."""
    first, second, third = (text(fields, name) for name in names)
    check_different((first, second, third))
    return first, second, third


def check_different(texts: tuple[str, ...]) -> None:
    """Refuse options that differ in case, blanks or the final stop alone.

    A reply that quotes such an option could not be told from one that quotes the other.
    """
    if len({comparable(option) for option in texts}) < len(texts):
        raise BadRecord(f"two options with the same text: {', '.join(map(repr, texts))}")


def check_characters(texts: Iterable[str], name: str) -> None:
    r"""Refuse half a surrogate pair, which a cell's own escapes can make: "\ud800".

    Raises:
        BadRecord: no file could hold the text.
    """
    for found in texts:
        try:
            found.encode()
        except UnicodeEncodeError:
            message = "has an escaped half of a surrogate pair, which is no character"
            raise BadRecord(message, name) from None


def unknown_option(
    texts: tuple[str, str, str], language: str = "en", tagged: frozenset[int] = frozenset()
) -> int:
    """The one option that says "cannot be known".

    Args:
        texts: the options.
        language: picks the table of phrases.
        tagged: indices that the data mark as unknown. The marks and the phrases are joined, so
            that a phrase beside a mark is seen as the second unknown option that it is.
    """
    found = tagged | {i for i, option in enumerate(texts) if is_unknown_phrase(option, language)}
    if not found:
        raise BadRecord(f"no unknown option among {', '.join(map(repr, texts))}")
    if len(found) > 1:
        named = ", ".join(repr(texts[i]) for i in sorted(found))
        raise BadRecord(f"more than one unknown option: {named}")
    return next(iter(found))
