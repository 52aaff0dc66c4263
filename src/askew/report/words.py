"""Figures and names as people read them. Undefined is a dash, never 0."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from askew.records import Estimate

UNDEFINED = "–"
NOT_MEANINGFUL = "†"
ROUNDING = 1e-9

_NAMES = {
    "dan": "DAN",
    "stan": "STAN",
    "dude": "DUDE",
    "self_cipher": "Self-Cipher",
    "sentence_v1": "Sentence V1",
    "sentence_v2": "Sentence V2",
    "bbq": "BBQ",
    "crows_pairs": "CrowS-Pairs",
    "stereoset": "StereoSet",
    "ses": "Socio-economic status",
    "lgbtq": "LGBTQ",
}
# Control characters but for tabs and ends of lines; half surrogate pairs; embeddings, overrides and
# isolates, which unbalanced turn the text around them as well; separators that end a line for some
# and not for others; what is never seen (zero width spaces, invisible operators, tags: a text in
# the text); what Unicode calls no character. The joiners of emoji and of Persian stay.
STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069\ufdd0-\ufdef"
    "\u180e\u200b\u2028\u2029\u2060-\u2065\u206a-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"
    + "".join(chr(plane << 16 | last) for plane in range(17) for last in (0xFFFE, 0xFFFF))
    + "]"
)
# Marks that are set above and below one another: no script needs so many, and a flood of them is
# drawn over the lines around.
_MOST_MARKS = 8
_MARK = (
    "[\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0e31\u0e34-\u0e3a"
    "\u0e47-\u0e4e\u0eb1-\u0ebc\u0ec8-\u0ecd\u0f71-\u0f84\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff"
    "\ufe20-\ufe2f]"
)
FLOOD = re.compile(f"({_MARK}{{{_MOST_MARKS}}})({_MARK}+)")


def label(name: str) -> str:
    """A name of askew's own, made readable; a user's own name is kept as given.

    >>> label("persona_injection"), label("dan"), label("My set")
    ('Persona injection', 'DAN', 'My set')
    """
    if name in _NAMES:
        return _NAMES[name]
    if re.fullmatch(r"[a-z][a-z0-9_]*", name):
        return name.replace("_", " ").capitalize()
    return name


def clean(text: str) -> str:
    r"""The text without characters that steer a terminal or that HTML forbids, each named instead.

    >>> clean("red \x1b[31m\r\nnext")
    'red ⟨U+001B⟩[31m\nnext'
    >>> clean("a" + 60 * "\u0301")[9:]
    '⟨52 more marks⟩'
    """
    shown = STEERING.sub(_named, text.replace("\r\n", "\n"))
    return shown if shown.isascii() else FLOOD.sub(_counted_marks, shown)


def _counted_marks(flood: re.Match[str]) -> str:
    return f"{flood[1]}⟨{counted(len(flood[2]), 'more mark')}⟩"


def _named(sign: re.Match[str]) -> str:
    return f"⟨U+{ord(sign[0]):04X}⟩"


def percent(share: float, places: int = 0) -> str:
    """A share in [0, 1] as a percentage; only none is 0 %, and only all is 100 %.

    What differs from none or all by less than `ROUNDING` is a sum's rounding error.

    >>> percent(0.643), percent(0.003), percent(0.9999), percent(float("nan"))
    ('64 %', '0.3 %', '>99.9 %', '–')
    """
    if math.isnan(share):
        return UNDEFINED
    return f"{_percent_number(share, places)} %"


def percent_range(lower: float, upper: float, places: int = 0) -> str:
    """An interval of shares.

    >>> percent_range(0.66, 0.853)
    '66–85 %'
    """
    if math.isnan(lower) or math.isnan(upper):
        return "no interval"
    return f"{_percent_number(lower, places)}–{_percent_number(upper, places)} %"


def _percent_number(share: float, places: int) -> str:
    share = next((end for end in (0.0, 1.0) if abs(share - end) < ROUNDING), share)
    for digits in range(places, 2):
        shown = f"{share * 100:.{digits}f}"
        if float(shown) not in (0.0, 100.0) or share in (0.0, 1.0):
            return shown
    return "<0.1" if share < 0.5 else ">99.9"


def points(change: float, places: int = 0) -> str:
    """A change of a share in percentage points, with its sign.

    >>> points(-0.214), points(0.0), points(0.0004)
    ('−21', '0', '+0.0')
    """
    if math.isnan(change):
        return UNDEFINED
    shown = f"{change * 100:+.{places}f}"
    if float(shown) == 0:
        if change == 0:
            return "0"
        shown = f"{change * 100:+.1f}"
    return shown.replace("-", "−")


def points_range(lower: float, upper: float, places: int = 0) -> str:
    """An interval of changes.

    >>> points_range(-0.3, -0.112)
    '−30 to −11'
    """
    if math.isnan(lower) or math.isnan(upper):
        return "no interval"
    return f"{points(lower, places)} to {points(upper, places)}"


def digits(value: float, places: int = 4) -> str:
    """A share with as many digits as the papers' tables print.

    >>> digits(0.70459), digits(float("nan"))
    ('0.7046', '–')
    """
    return UNDEFINED if math.isnan(value) else f"{value:.{places}f}"


def p_value(value: float) -> str:
    """A p value; a small one is given as a bound, as no test is sure to more digits than that.

    >>> p_value(0.0312), p_value(0.00002), p_value(float("nan"))
    ('0.031', '<0.001', '–')
    """
    if math.isnan(value):
        return UNDEFINED
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def p_equals(value: float) -> str:
    """The same in running text.

    >>> p_equals(0.0312), p_equals(0.00002)
    ('p = 0.031', 'p < 0.001')
    """
    shown = p_value(value)
    return f"p < {shown[1:]}" if shown.startswith("<") else f"p = {shown}"


def share_with_interval(figure: Estimate) -> str:
    """A share with its interval, or a dash with the reason why there is none.

    >>> share_with_interval(Estimate(0.43, 0.34, 0.52, 96, 1.0, "wilson"))
    '43 % (34–52 %)'
    """
    if not figure.defined:
        return f"{UNDEFINED} ({figure.note})" if figure.note else UNDEFINED
    return f"{percent(figure.value)} ({percent_range(figure.lower, figure.upper)})"


def has_interval(figure: Estimate) -> bool:
    """Whether there is a value with both ends of its interval."""
    return figure.defined and not math.isnan(figure.lower) and not math.isnan(figure.upper)


def listed(parts: Sequence[str]) -> str:
    """A list in a sentence.

    >>> listed(["age", "race", "gender"])
    'age, race and gender'
    """
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun.

    >>> counted(1, "pair"), counted(3144, "reply", "replies")
    ('1 pair', '3,144 replies')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
