"""Which answers are compared: levels of one attribute, or a change against the original."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, NamedTuple

from askew.perturb import NEUTRAL
from askew.vignettes import Dropped, Variant, arm_name

ORIGINAL = "original"
Kind = Literal["levels", "neutral", "set"]


class Pair(NamedTuple):
    """Two variants of one vignette that differ in what the contrast is about alone."""

    base: str
    changed: str


@dataclass(frozen=True, slots=True)
class Contrast:
    """One comparison, over all vignettes that can make it.

    Kinds: `levels` (two levels of one attribute), `neutral` (a level against the text without the
    attribute, and the original against the text without any), `set` (all variants that change these
    attributes against the original: the paper's perturbation sets, §4.3.5).
    """

    attribute: str  # "gender"; of several "age+gender"
    base: str  # a level, "neutral" or "original"
    changed: str  # a level, "original" or "changed"
    kind: Kind
    pairs: Mapping[str, tuple[Pair, ...]]  # by the vignette's id

    @property
    def name(self) -> str:
        """The comparison in words: changed first, as the difference is changed − base."""
        return f"{self.changed} − {self.base}"


class _Entry(NamedTuple):
    variant: str
    level: str
    rest: tuple[tuple[str, str], ...]  # the other attributes that were set, and to what


def contrasts(
    variants: Sequence[Variant], dropped: Sequence[Dropped], reference: Mapping[str, str]
) -> list[Contrast]:
    """Every comparison that the variants allow, in an order that does not depend on theirs.

    A level that the original text already has was not made a second time ("same" among the
    dropped): there the text without that change stands for it, often the original.

    Args:
        variants: of all vignettes.
        dropped: what was not made.
        reference: attribute -> the level that the others are held against, where it occurs; else
            each level is held against each that stands before it in the alphabet.
    """
    entries = _entries(variants, dropped)
    found = [
        contrast
        for attribute in sorted(entries)
        for contrast in _of_attribute(attribute, entries[attribute], reference.get(attribute))
    ]
    return [one for one in (*found, *_without_any(variants), *_sets(variants)) if one.pairs]


def _entries(
    variants: Sequence[Variant], dropped: Sequence[Dropped]
) -> dict[str, dict[str, list[_Entry]]]:
    """Attribute -> vignette -> the variants at a known level of it, the text without it included.

    The text without several attributes at once is no entry: it differs in more than one.
    """
    entries: dict[str, dict[str, list[_Entry]]] = defaultdict(lambda: defaultdict(list))

    def enter(vignette: str, variant: str, levels: Mapping[str, str]) -> None:
        for attribute, level in levels.items():
            rest = tuple(sorted((name, to) for name, to in levels.items() if name != attribute))
            entries[attribute][vignette].append(_Entry(variant, level, rest))

    made = {(one.vignette_id, _place(one)): one.id for one in variants}
    for one in dropped:
        levels = _levels_of(one.arm)
        # A text that was made and came out as the original does not tell the level.
        if one.kind == "same" and levels and not one.text:
            told = _already_told(one, levels)
            left = {name: level for name, level in levels.items() if name not in told}
            stands = made.get((one.vignette_id, arm_name(left) or ORIGINAL))
            if stands is not None:
                enter(one.vignette_id, stands, levels)
    for variant in variants:
        if len(variant.levels) == 1 or NEUTRAL not in variant.levels.values():
            enter(variant.vignette_id, variant.id, variant.levels)
    return entries


def _place(variant: Variant) -> str:
    return variant.arm if variant.arm == ORIGINAL else arm_name(variant.levels)


def _levels_of(arm: str) -> dict[str, str]:
    """Attribute -> level of an arm's name; none of "original" and "neutral".

    >>> _levels_of("age=20-35+insurance=HMO+")
    {'age': '20-35', 'insurance': 'HMO+'}
    """
    parts = (part.partition("=") for part in re.split(r"\+(?=[^+=]+=)", arm))
    return {name: level for name, equals, level in parts if equals}


def _already_told(dropped: Dropped, levels: Mapping[str, str]) -> Mapping[str, str]:
    """Those of the levels that the original text has, as the reason names them.

    A twin of the data that is the original itself names none: the text has them all.
    """
    named = {
        name: level for name, level in levels.items() if f"{name} is {level!r}" in dropped.reason
    }
    return named or levels


def _of_attribute(
    attribute: str, by_vignette: Mapping[str, Sequence[_Entry]], reference: str | None
) -> Iterator[Contrast]:
    levels = {entry.level for entries in by_vignette.values() for entry in entries}
    set_levels = sorted(levels - {NEUTRAL})
    if reference in set_levels:
        held = [(reference, level) for level in set_levels if level != reference]
    else:
        held = list(combinations(set_levels, 2))
    for base, changed in held:
        yield Contrast(attribute, base, changed, "levels", _pairs(by_vignette, base, changed))
    if NEUTRAL in levels:
        for level in set_levels:
            pairs = _pairs(by_vignette, NEUTRAL, level)
            yield Contrast(attribute, NEUTRAL, level, "neutral", pairs)


def _pairs(
    by_vignette: Mapping[str, Sequence[_Entry]], base: str, changed: str
) -> dict[str, tuple[Pair, ...]]:
    """Each variant at one level with each at the other that sets all else alike."""
    found = {}
    for vignette in sorted(by_vignette):
        entries = by_vignette[vignette]
        bases: dict[tuple[tuple[str, str], ...], list[str]] = defaultdict(list)
        for entry in entries:
            if entry.level == base:
                bases[entry.rest].append(entry.variant)
        # One text may stand for several arms, and makes the same pair then.
        pairs = {
            Pair(variant, entry.variant)
            for entry in entries
            if entry.level == changed
            for variant in bases.get(entry.rest, ())
            if variant != entry.variant
        }
        if pairs:
            found[vignette] = tuple(sorted(pairs))
    return found


def _without_any(variants: Sequence[Variant]) -> Iterator[Contrast]:
    """The original against the text without any of the attributes, where they are several."""
    original = _originals(variants)
    by_set: dict[str, dict[str, tuple[Pair, ...]]] = defaultdict(dict)
    for one in variants:
        taken_out = [name for name, level in one.levels.items() if level == NEUTRAL]
        if len(taken_out) > 1 and one.vignette_id in original:
            pair = Pair(one.id, original[one.vignette_id])
            by_set["+".join(sorted(taken_out))][one.vignette_id] = (pair,)
    for name, pairs in sorted(by_set.items()):
        yield Contrast(name, NEUTRAL, ORIGINAL, "neutral", dict(sorted(pairs.items())))


def _sets(variants: Sequence[Variant]) -> Iterator[Contrast]:
    original = _originals(variants)
    by_set: dict[str, dict[str, list[Pair]]] = defaultdict(lambda: defaultdict(list))
    for variant in variants:
        changes = [name for name, level in variant.levels.items() if level != NEUTRAL]
        if changes and variant.vignette_id in original and variant.method != "given":
            pair = Pair(original[variant.vignette_id], variant.id)
            by_set["+".join(sorted(changes))][variant.vignette_id].append(pair)
    for name, pairs in sorted(by_set.items()):
        sets = {one: tuple(sorted(found)) for one, found in sorted(pairs.items())}
        yield Contrast(name, ORIGINAL, "changed", "set", sets)


def _originals(variants: Sequence[Variant]) -> dict[str, str]:
    return {one.vignette_id: one.id for one in variants if one.arm == ORIGINAL}
