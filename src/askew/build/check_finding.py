"""What a rule of `askew flex check` says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from askew.build.check_set import FlexSet, Sheet

# fault: figures of the set are wrong, or it cannot be read as it is meant. caution: figures mean
# something else than a reader would think. note: something to know.
Severity = Literal["fault", "caution", "note"]
EXAMPLES = 5


@dataclass(frozen=True, slots=True)
class Hit:
    """One place where a rule finds something."""

    source: str
    row: str  # its number, "" where no row is meant
    text: str = ""  # what stands there, where that helps


@dataclass(frozen=True, slots=True)
class Finding:
    """One rule's word on one set: `count` of `of`, what follows from it, and the mend."""

    rule: str
    severity: Severity
    what: str  # reads on from the count: "character attacks change nothing"
    count: int
    of: int
    consequence: str
    mend: str
    by_source: Mapping[str, tuple[int, int]] = field(default_factory=dict)  # count and of
    examples: tuple[Hit, ...] = ()
    # The texts that stand there most often, with how often.
    frequent: tuple[tuple[str, int], ...] = ()
    set_name: str = ""  # "selected" or "random" of a build


def finding(
    rule: str,
    severity: Severity,
    what: str,
    hits: Iterable[Hit],
    of: Mapping[str, int],
    *,
    consequence: str,
    mend: str,
) -> list[Finding]:
    """The finding of these hits; none where there are no hits.

    Args:
        rule: the rule's name.
        severity: how bad it is.
        what: see `Finding`.
        hits: where.
        of: source -> how many places could have been hit.
        consequence: what follows for who uses the set.
        mend: what to do about it.
    """
    found = list(hits)
    if not found:
        return []
    counts = Counter(hit.source for hit in found)
    texts = Counter(hit.text for hit in found if hit.text)
    return [
        Finding(
            rule,
            severity,
            what,
            len(found),
            sum(of.values()),
            consequence,
            mend,
            {source: (counts[source], number) for source, number in of.items() if number},
            _spread(found),
            tuple((text, number) for text, number in texts.most_common(3) if number > 1),
        )
    ]


def totals(one: FlexSet, number: Callable[[Sheet], int]) -> Counter[str]:
    """Source -> a number of its sheet; a source that stands in two files has the sum."""
    by_source: Counter[str] = Counter()
    for sheet in one.sheets:
        by_source[sheet.name] += number(sheet)
    return by_source


def row_totals(one: FlexSet) -> Counter[str]:
    """Source -> how many rows it has."""
    return totals(one, lambda sheet: len(sheet.rows))


def _spread(hits: list[Hit]) -> tuple[Hit, ...]:
    """A few hits, one of each source in turn, so that every source that is hit shows."""
    by_source: dict[str, list[Hit]] = {}
    for hit in hits:
        by_source.setdefault(hit.source, []).append(hit)
    shown: list[Hit] = []
    place = 0
    while len(shown) < min(EXAMPLES, len(hits)):
        shown += [found[place] for found in by_source.values() if place < len(found)]
        place += 1
    return tuple(shown[: max(EXAMPLES, len(by_source))])
