"""What a label means: biased, not biased, a number, or a word of its own."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

_POSITIVE = frozenset(("biased", "bias", "yes", "y", "true", "1", "1.0"))
_NEGATIVE = frozenset(
    ("not biased", "unbiased", "non biased", "nonbiased", "no bias", "no", "n", "false", "0", "0.0",
     "fair")
)  # fmt: skip
# "None" is a level of many scales; these only ever are holes in a table.
_MISSING = frozenset(("", "nan", "na", "n/a", "<na>", "null"))
_DECIMAL_COMMA = re.compile(r"([+-]?\d{1,9}),(\d{1,2})", re.ASCII)
POSITIVE, NEGATIVE = "biased", "not_biased"


def plain_label(label: object) -> str:
    """A label without case, blanks around it and control characters."""
    signs = "".join(sign if sign.isprintable() else " " for sign in str(label))
    return " ".join(signs.casefold().strip().strip(".!").split())


def is_missing(value: object) -> bool:
    """Whether a field holds no label.

    >>> [is_missing(value) for value in (None, " ", "NaN", "none", 0)]
    [True, True, True, False, False]
    """
    if isinstance(value, str):
        return value.strip().casefold() in _MISSING
    return value is None or (isinstance(value, float) and math.isnan(value))


def normal_label(label: str) -> str:
    """A label in one spelling: "biased", "not_biased", or itself in lower case.

    >>> [normal_label(label) for label in ("Yes", "Unbiased", " 0 ", "Severe")]
    ['biased', 'not_biased', 'not_biased', 'severe']
    """
    plain = plain_label(label)
    spoken = re.sub(r"[\s_-]+", " ", plain)
    if spoken in _POSITIVE:
        return POSITIVE
    return NEGATIVE if spoken in _NEGATIVE else plain


def number_in(label: str) -> float | None:
    """The number that a label is; None for words.

    >>> number_in("4"), number_in("0,4"), number_in("1,000"), number_in("yes")
    (4.0, 0.4, None, None)
    """
    if (comma := _DECIMAL_COMMA.fullmatch(label.strip())) is not None:
        label = f"{comma[1]}.{comma[2]}"
    try:
        number = float(label)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def is_scale(labels: Iterable[str]) -> bool:
    """Whether labels are numbers of a scale, and not the 0 and 1 of no and yes.

    >>> is_scale(["1", "4"]), is_scale(["1", "0"]), is_scale(["1", "severe"])
    (True, False, False)
    """
    numbers = [number_in(label) for label in labels]
    return None not in numbers and any(number not in (0.0, 1.0) for number in numbers)
