"""Everything in `estimates.json` that has a path, and whether a release may be decided by it.

A figure with an interval is decided by an end of the interval. A number that says how much was
measured, what was lost or what was set is a fact and needs no interval. Any other number is a
point value: it would say the same of ten pairs as of ten thousand, and decides nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum

from askew.records import Estimate
from askew.report.clinical_run import read_figure
from askew.report.estimates import as_number, read_estimate

# A comparison's name has a minus sign, which few keyboards have: a hyphen is taken for it.
MINUS = "\N{MINUS SIGN}"
ESTIMATE = "estimate"  # where it ends the path of a figure, it may be left out
ANY = "*"  # in a pattern: any one name
ENDS = ("lower", "upper")
FACTS = ("n", "coverage")  # of a figure


class Kind(StrEnum):
    """What stands at a path."""

    FIGURE = "figure"  # with an interval
    COUNT = "count"  # how much was measured, or lost
    SHARE = "share"  # the same as a share
    SETTING = "setting"
    REACH = "reach"  # the smallest effect that the study could have seen
    P_VALUE = "p value"
    YES_NO = "yes or no"
    WORD = "word"
    POINT = "point value"  # decides nothing


_P_VALUES = frozenset({"p_value", "p_holm", "p_adjusted", "equivalence_p"})
_REACH = frozenset({"smallest_change", "smallest_visible", "smallest_p"})
_YES_NO = frozenset({"meaningful", "out"})  # null where it was not tested
_WORDS = frozenset({"verdict", "reason", "caution", "note", "message", "stopped"})
# Counts of what was found, not of how much was looked at.
_FOUND = frozenset(
    {
        *("neutral", "stereotyped", "antistereotyped", "undirected", "tied"),
        *("turned_right", "turned_wrong", "items_turned_right", "items_turned_wrong"),
        *("leaning", "clean", "misinformation", "one_sided", "moved"),
    }
)
_LOOKED_AT = frozenset({"pairs", "answered_in_both"})  # by slice, whose names are the data's


@dataclass(frozen=True, slots=True)
class Entry:
    """One place of `estimates.json`."""

    path: tuple[str, ...]
    kind: Kind
    found: object  # as JSON holds it

    @property
    def name(self) -> str:
        """The path with dots; a name in it may hold dots itself."""
        return ".".join(self.path)

    @property
    def audit(self) -> str:
        """The audit that it is of; "" for what stands beside the audits."""
        return self.path[0] if self.path[0] in ("flex", "clinical", "boundary") else ""

    def estimate(self) -> Estimate:
        """The figure with its interval, NaN where undefined."""
        record = self.found if isinstance(self.found, Mapping) else {}
        return read_figure(record) if self.audit == "clinical" else read_estimate(record)

    def number(self) -> float:
        """The number that stands there; NaN for null."""
        return as_number(self.found)


def entries(estimates: Mapping[str, object]) -> Iterator[Entry]:
    """Every figure, number, word and yes-or-no in the file, in its order; lists are left out."""
    yield from _below(estimates, ())


def _below(tree: Mapping[str, object], path: tuple[str, ...]) -> Iterator[Entry]:
    for name, found in tree.items():
        place = (*path, name)
        if isinstance(found, list):
            continue
        if not isinstance(found, Mapping):
            yield Entry(place, _kind(place, found), found)
        elif is_figure(found):
            yield Entry(place, Kind.FIGURE, found)
        else:
            yield from _below(found, place)


def is_figure(found: Mapping[str, object]) -> bool:
    """Whether it is a figure with an interval, rather than a table of more.

    A domain, a source or a bias type may be called "value" or "lower": its part is no number.
    """
    if any(isinstance(found.get(name), Mapping) for name in ("value", *ENDS)):
        return False
    return any(name in found for name in ENDS)


def _kind(path: tuple[str, ...], found: object) -> Kind:
    name = path[-1]
    if isinstance(found, bool):
        return Kind.YES_NO
    if isinstance(found, str):
        return Kind.WORD
    if "settings" in path[1:-1] or name == "margin":
        return Kind.SETTING
    for names, kind in ((_P_VALUES, Kind.P_VALUE), (_REACH, Kind.REACH)):
        if name in names:
            return kind
    if found is None and name in _YES_NO:
        return Kind.YES_NO
    if found is None and name in _WORDS:
        return Kind.WORD
    if isinstance(found, int) and (name not in _FOUND or _LOOKED_AT & set(path[1:-1])):
        return Kind.COUNT
    return Kind.POINT


def typed(name: str) -> str:
    """A name as it may be typed."""
    return name.replace(MINUS, "-")


def matches(pattern: str, path: tuple[str, ...]) -> bool:
    """Whether a typed path names this one; `*` stands for any one name.

    Names may hold dots, so the pattern is not cut at its dots.

    >>> matches("flex.pairs.bias_type.v1.0", ("flex", "pairs", "bias_type", "v1.0"))
    True
    >>> matches("flex.pairs.*.v1.0", ("flex", "pairs", "bias_type", "v1.0"))
    True
    >>> matches("flex.pairs.*", ("flex", "pairs", "bias_type", "v1.0"))
    False
    """
    first, *rest = path
    if not rest:
        return pattern in (typed(first), ANY)
    return any(
        matches(pattern[len(head) + 1 :], tuple(rest))
        for head in {typed(first), ANY}
        if pattern.startswith(f"{head}.")
    )


def closest(name: str, known: Iterator[str], count: int = 4) -> list[str]:
    """The known names that are most like `name`, the likest first."""
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(name)
    scored = []
    for one in dict.fromkeys(known):
        matcher.set_seq1(one)
        # The bounds are quick; the ratio itself is not, and a run has thousands of names.
        if matcher.real_quick_ratio() > 0.5 and matcher.quick_ratio() > 0.5:
            scored.append((matcher.ratio(), one))
    return [one for _, one in sorted(scored, key=lambda pair: (-pair[0], pair[1]))[:count]]


class Unit(StrEnum):
    """What a figure is counted in."""

    NONE = ""
    SHARE = "share"  # in [0, 1]
    POINTS = "points"  # a difference of two shares, in [-1, 1]


def unit_of(entry: Entry, estimates: Mapping[str, object]) -> Unit:
    """The unit of a figure with an interval."""
    match entry.path:
        case ("flex", "accuracy_change", *_) | ("boundary", _, "difference"):
            return Unit.POINTS
        case ("flex", *_):
            return Unit.SHARE
        case ("boundary", *names):
            return Unit.NONE if {"lift", "gain", "undiscovered"} & set(names) else Unit.SHARE
        case ("clinical", "worth", name, *_):
            return Unit.POINTS if name == "excess" else Unit.SHARE
        case ("clinical", "effects" | "interactions", *_, name, "estimate" | "floor"):
            unit = _at(estimates, ("clinical", "endpoints", name, "unit"))
            return Unit.POINTS if unit in ("share of answers", "share of pairs") else Unit.NONE
        case _:
            return Unit.NONE


def _at(tree: object, path: tuple[str, ...]) -> object:
    for name in path:
        tree = tree.get(name) if isinstance(tree, Mapping) else None
    return tree


def defined(number: float) -> bool:
    """Whether it is a number that something can be decided by."""
    return math.isfinite(number)
