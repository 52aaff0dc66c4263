"""Extracted facts against gold triplets: precision, recall and F1, with status and without."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from askew.datasets.gold_triplets import GoldRecord, GoldTriplet
from askew.vignettes import Facts, Relation, Triplet

_ARTICLES = re.compile(r"\b(?:the|a|an|his|her|their|my|your|our|its)\b")
_POSSESSIVE = re.compile(r"['’]s\b|(?<=s)['’](?!\w)")
# The README: word inclusion is "not for gender" ("man" is in "transgender man").
_EXACT = frozenset({Relation.HAS_GENDER, Relation.HAS_BIRTH_SEX})


@dataclass(frozen=True, slots=True)
class Counts:
    """What was found, counted."""

    hits: int = 0  # gold triplets that were found
    false: int = 0  # predicted triplets that match no gold one
    missed: int = 0  # gold triplets that were not found

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.hits + other.hits, self.false + other.false, self.missed + other.missed)

    @property
    def precision(self) -> float:
        """In [0, 1]; NaN where nothing was predicted."""
        said = self.hits + self.false
        return self.hits / said if said else math.nan

    @property
    def recall(self) -> float:
        """In [0, 1]; NaN where the gold holds nothing."""
        wanted = self.hits + self.missed
        return self.hits / wanted if wanted else math.nan

    @property
    def f1(self) -> float:
        """In [0, 1]; NaN where there is neither gold nor prediction."""
        total = 2 * self.hits + self.false + self.missed
        return 2 * self.hits / total if total else math.nan


@dataclass(frozen=True, slots=True)
class Scoring:
    """The score of an extractor on a gold file."""

    overall: Counts
    per_relation: Mapping[Relation, Counts]  # relations that occur in gold or prediction
    overall_ignoring_status: Counts
    per_relation_ignoring_status: Mapping[Relation, Counts]
    by_tag: Mapping[str, Counts]  # with status, over the records that carry the tag
    relations: int  # triplets predicted, before any was compared: the paper's Table 5 counts these
    errors: tuple[str, ...]  # each wrong or missed triplet, in words: "dev-3: missed …"


@dataclass(frozen=True, slots=True)
class _Compared:
    counts: dict[Relation, Counts]
    errors: tuple[str, ...]


def score(predicted: Sequence[Facts], gold: Sequence[GoldRecord]) -> Scoring:
    """Compare facts with gold, record by record.

    A predicted triplet matches a gold one if relation, value and status agree. Each gold triplet is
    matched once; a further mention of a matched fact is no error; an optional one counts neither
    way. What else was predicted is a false positive.

    Args:
        predicted: shape (records,). The facts of each record's text, in the order of the gold.
        gold: shape (records,).

    Raises:
        ValueError: the two differ in length or in text, so they are not the same records.
    """
    if len(predicted) != len(gold):
        raise ValueError(f"{len(predicted)} sets of facts for {len(gold)} gold records")
    for facts, record in zip(predicted, gold, strict=True):
        if facts.text != record.text:
            raise ValueError(f"the facts beside gold record {record.id!r} are of another text")
    strict = [
        _compare(f.triplets, g, with_status=True) for f, g in zip(predicted, gold, strict=True)
    ]
    loose = [
        _compare(f.triplets, g, with_status=False) for f, g in zip(predicted, gold, strict=True)
    ]
    tags = sorted({tag for record in gold for tag in record.tags})
    return Scoring(
        _total(strict),
        _per_relation(strict),
        _total(loose),
        _per_relation(loose),
        {
            tag: _total(
                [one for one, record in zip(strict, gold, strict=True) if tag in record.tags]
            )
            for tag in tags
        },
        sum(len(facts.triplets) for facts in predicted),
        tuple(error for one in strict for error in one.errors),
    )


def _total(compared: Sequence[_Compared]) -> Counts:
    return sum((one for each in compared for one in each.counts.values()), Counts())


def _per_relation(compared: Sequence[_Compared]) -> dict[Relation, Counts]:
    found = {
        relation: sum((each.counts.get(relation, Counts()) for each in compared), Counts())
        for relation in Relation
    }
    return {relation: counts for relation, counts in found.items() if counts != Counts()}


def _compare(predicted: Sequence[Triplet], record: GoldRecord, *, with_status: bool) -> _Compared:
    """One record: greedy, sure matches first, so that "fever" does not use up "high fever"."""
    pairs = _assign(predicted, record.triplets, with_status=with_status)
    counts: dict[Relation, Counts] = {}
    errors: list[str] = []

    def add(relation: Relation, **more: int) -> None:
        counts[relation] = counts.get(relation, Counts()) + Counts(**more)

    for place, triplet in enumerate(predicted):
        if place in pairs:
            matched = record.triplets[pairs[place]]
            if not matched.optional:
                add(matched.relation, hits=1)
        elif not any(agrees(triplet, one, with_status=with_status) for one in record.triplets):
            add(triplet.relation, false=1)
            errors.append(f"{record.id}: wrong {_words(triplet)} by {triplet.rule}")
    for place, wanted in enumerate(record.triplets):
        if place not in pairs.values() and not wanted.optional:
            add(wanted.relation, missed=1)
            errors.append(f"{record.id}: missed {_words(wanted)}")
    return _Compared(counts, tuple(errors))


def _words(triplet: Triplet | GoldTriplet) -> str:
    relative = f" of {triplet.relative}" if triplet.relative else ""
    unit = f" {triplet.unit}" if triplet.unit else ""
    return f"{triplet.relation} {triplet.value!r}{unit}{relative} ({triplet.status})"


def _assign(
    predicted: Sequence[Triplet], gold: Sequence[GoldTriplet], *, with_status: bool
) -> dict[int, int]:
    """Predicted -> gold, one to one, as many as can be: augmenting paths (Kuhn, 1955)."""
    taken: dict[int, int] = {}  # gold -> predicted

    def place(one: int, seen: set[int]) -> bool:
        options = [
            at
            for at, wanted in enumerate(gold)
            if at not in seen and agrees(predicted[one], wanted, with_status=with_status)
        ]
        # Required ones first: an optional match is worth nothing.
        for at in sorted(options, key=lambda at: gold[at].optional):
            seen.add(at)
            if at not in taken or place(taken[at], seen):
                taken[at] = one
                return True
        return False

    for one in range(len(predicted)):
        place(one, set())
    return {one: at for at, one in taken.items()}


def agrees(triplet: Triplet, wanted: GoldTriplet, *, with_status: bool = True) -> bool:
    """Whether a predicted triplet matches a gold one, as the gold's README defines it."""
    if triplet.relation not in (wanted.relation, *wanted.other_relations):
        return False
    if with_status and not wanted.any_status and triplet.status is not wanted.status:
        return False
    if wanted.relation is Relation.HAS_AGE:
        return triplet.value == wanted.value and triplet.unit == wanted.unit
    if wanted.relation is Relation.FAMILY_HISTORY and not _relatives_agree(triplet, wanted):
        return False
    return any(
        _values_agree(triplet.relation, str(triplet.value), str(value))
        for value in (wanted.value, *wanted.alternatives)
    )


def _relatives_agree(triplet: Triplet, wanted: GoldTriplet) -> bool:
    return wanted.any_relative or wanted.relative in ("any", triplet.relative)


def _values_agree(relation: Relation, found: str, wanted: str) -> bool:
    first, second = normalised(found), normalised(wanted)
    if first == second or relation in _EXACT:
        return first == second
    return bool(first and second) and (set(first) <= set(second) or set(second) <= set(first))


def normalised(value: str) -> tuple[str, ...]:
    """The words of a value: lower-cased, without articles and possessives.

    >>> normalised("The patient's left Knee pain")
    ('patient', 'left', 'knee', 'pain')
    """
    low = _POSSESSIVE.sub("", value.lower())
    return tuple(re.findall(r"\w+", _ARTICLES.sub(" ", low)))


Extractor = Callable[[Sequence[str]], Sequence[Facts]]


def score_extractor(extractor: Extractor, gold: Sequence[GoldRecord]) -> Scoring:
    """The score of any extractor: an LLM's, GLiNER's or medspaCy's stand behind this too."""
    return score(list(extractor([record.text for record in gold])), gold)
