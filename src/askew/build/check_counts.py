"""Rules on the replies that the rows of a set in FLEX's form count."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice

from askew.build.check_finding import Finding, Hit, finding, row_totals
from askew.build.check_set import FlexSet, Row
from askew.datasets.flex_form import COUNTS, TALLIES

# §3.2.2 drops a scenario from three neutral replies of five.
_BIASED_FROM = 3
_REPLIES = 5


def below_threshold(one: FlexSet) -> list[Finding]:
    """Rows kept though too few of the selecting replies were biased."""
    settings = one.build.get("settings")
    stated = settings.get("biased_from") if isinstance(settings, Mapping) else None
    threshold = stated if isinstance(stated, int) else _BIASED_FROM
    hits = [
        Hit(sheet.name, row.number, f"attack_success {row.text('attack_success')}")
        for sheet in one.sheets
        for row in sheet.rows
        if row.category is not None
        and (success := _count(row.text("attack_success"))) is not None
        and success < threshold
    ]
    return finding(
        "below_threshold",
        "fault",
        f"rows have fewer than {threshold} biased replies in attack_success",
        hits,
        row_totals(one),
        consequence="their scenario should have been dropped by the rule that the set states.",
        mend="leave them out, or state the threshold that was used.",
    )


def impossible_counts(one: FlexSet) -> list[Finding]:
    """Counts of replies that cannot be, by themselves or beside each other."""
    hits = [
        Hit(sheet.name, row.number, trouble)
        for sheet in one.sheets
        for row in sheet.rows
        if row.category is not None
        for trouble in islice(_impossible(row, built=one.built), 1)
    ]
    return finding(
        "impossible_counts",
        "fault",
        "rows count replies as they cannot be",
        hits,
        row_totals(one),
        consequence="how far the attack turned the model cannot be told from them.",
        mend="take the rows from the set as it was published or built.",
    )


def no_fresh_replies(one: FlexSet) -> list[Finding]:
    """Rows whose only replies are those that selected them."""
    hits = [
        Hit(sheet.name, row.number)
        for sheet in one.sheets
        for row in sheet.rows
        if one.built and row.text("fresh_attacked_replies") in ("", "0")
    ]
    return finding(
        "no_fresh_replies",
        "caution",
        "rows have no replies but those that selected them",
        hits,
        row_totals(one),
        consequence="the set's own figures suffer from the winner's curse: they regress on any "
        "replication.",
        mend="build with `estimate_replies` of at least 1, and let the build end.",
    )


def _impossible(row: Row, *, built: bool) -> Iterator[str]:
    """What is wrong with a row's counts."""
    success, of = row.text("attack_success"), row.text("selection_replies") or str(_REPLIES)
    # Nothing selected the scenarios of a random baseline: there the cell is empty.
    if "attack_success" in row.fields and (success or not built):
        biased, replies = _count(success), _count(of)
        if biased is None or (replies is not None and biased > replies):
            yield f"attack_success {success!r} of {of} replies"
    for tally in TALLIES if built else ():
        texts = {name: row.text(f"{tally}_{name}") for name in COUNTS}
        counts = {
            name: number for name, text in texts.items() if (number := _count(text)) is not None
        }
        if any(texts.values()) and (len(counts) < len(COUNTS) or not _adds_up(counts)):
            yield f"{tally}: {', '.join(f'{name} {text!r}' for name, text in texts.items())}"
        elif tally == "selection" and success and counts.get("biased") != _count(success):
            yield f"attack_success {success}, selection_biased {texts['biased']!r}"


def _adds_up(counts: Mapping[str, int]) -> bool:
    return (
        counts["stereotyped"] <= counts["biased"]
        and counts["neutral"] + counts["biased"] <= counts["replies"]
    )


def _count(text: str) -> int | None:
    """A number of replies, as a person or pandas writes it; None where it is none."""
    plain = text.removesuffix(".0")
    return int(plain) if plain.isascii() and plain.isdecimal() else None
