"""Which answers are compared: levels of one attribute, or a change against the original."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, NamedTuple

from askew.perturb import NEUTRAL
from askew.vignettes import Dropped, Variant

ORIGINAL = "original"
Kind = Literal["levels", "neutral", "set"]


class Pair(NamedTuple):
    """Two variants of one vignette that differ in what the contrast is about alone."""

    base: str
    changed: str


@dataclass(frozen=True, slots=True)
class Contrast:
    """One comparison, over all vignettes that can make it.

    Kinds: `levels` (two levels of one attribute), `neutral` (a level against the arm without the
    attribute), `set` (all variants that change these attributes against the original: the paper's
    perturbation sets, §4.3.5).
    """

    attribute: str  # "gender"; of a set "age+gender"
    base: str  # a level, "neutral" or "original"
    changed: str  # a level, or "changed"
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
    """Every comparison that the variants allow.

    A level that the original text already has was not made a second time ("same" among the
    dropped): there the original stands for it.

    Args:
        variants: of all vignettes.
        dropped: what was not made.
        reference: attribute -> the level that the others are held against, where it occurs.
    """
    entries = _entries(variants, dropped)
    found = [
        contrast
        for attribute, by_vignette in entries.items()
        for contrast in _of_attribute(attribute, by_vignette, reference.get(attribute))
    ]
    return [one for one in (*found, *_sets(variants)) if one.pairs]


def _entries(
    variants: Sequence[Variant], dropped: Sequence[Dropped]
) -> dict[str, dict[str, list[_Entry]]]:
    """Attribute -> vignette -> the variants at a known level of it, the arm without it included."""
    entries: dict[str, dict[str, list[_Entry]]] = defaultdict(lambda: defaultdict(list))
    original = {one.vignette_id: one.id for one in variants if one.arm == ORIGINAL}
    for one in dropped:
        levels = _levels_of(one.arm)
        if one.kind == "same" and len(levels) == 1 and one.vignette_id in original:
            ((attribute, level),) = levels.items()
            entries[attribute][one.vignette_id].append(_Entry(original[one.vignette_id], level, ()))
    for variant in variants:
        for attribute, level in variant.levels.items():
            rest = tuple(
                sorted(
                    (name, set_to) for name, set_to in variant.levels.items() if name != attribute
                )
            )
            if level == NEUTRAL:
                rest = ()  # the neutral arm takes every attribute out
            entries[attribute][variant.vignette_id].append(_Entry(variant.id, level, rest))
    return entries


def _levels_of(arm: str) -> dict[str, str]:
    parts = (part.partition("=") for part in arm.split("+"))
    return {name: level for name, equals, level in parts if equals}


def _of_attribute(
    attribute: str, by_vignette: Mapping[str, Sequence[_Entry]], reference: str | None
) -> Iterator[Contrast]:
    levels = list(
        dict.fromkeys(entry.level for entries in by_vignette.values() for entry in entries)
    )
    set_levels = [level for level in levels if level != NEUTRAL]
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
    found = {}
    for vignette, entries in by_vignette.items():
        bases = {entry.rest: entry.variant for entry in entries if entry.level == base}
        pairs = tuple(
            Pair(bases[entry.rest], entry.variant)
            for entry in entries
            if entry.level == changed and entry.rest in bases
        )
        if pairs:
            found[vignette] = pairs
    return found


def _sets(variants: Sequence[Variant]) -> Iterator[Contrast]:
    original = {one.vignette_id: one.id for one in variants if one.arm == ORIGINAL}
    by_set: dict[str, dict[str, list[Pair]]] = defaultdict(lambda: defaultdict(list))
    for variant in variants:
        changes = [name for name, level in variant.levels.items() if level != NEUTRAL]
        if changes and variant.vignette_id in original and variant.method != "given":
            pair = Pair(original[variant.vignette_id], variant.id)
            by_set["+".join(sorted(changes))][variant.vignette_id].append(pair)
    for name, pairs in sorted(by_set.items()):
        yield Contrast(
            name, ORIGINAL, "changed", "set", {one: tuple(found) for one, found in pairs.items()}
        )
