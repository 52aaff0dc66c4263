"""From a difference and its interval to a verdict, for a figure, an audit and a run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from askew.report.compare.records import (
    BETTER,
    CANNOT_TELL,
    SAME,
    WORSE,
    AuditComparison,
    FigureDifference,
    RunComparison,
    Verdict,
)
from askew.report.words import UNDEFINED, listed, p_equals, points, points_range
from askew.stats.more_items import items_to_decide
from askew.stats.multiplicity import benjamini_hochberg
from askew.stats.paired import holm
from askew.stats.verdict import SIZE

# The largest difference that would not matter. FLEX's Table 1 prints runs of one model family that
# lie 3 points and less apart on Acc_F, and one answer in thirty-three is what a reader of a
# hundred answers may well not notice. It is a convention: state your own before you look.
MARGIN = 0.03


def decide(runs: Sequence[RunComparison]) -> tuple[RunComparison, ...]:
    """Every figure of every run with its corrected p value and verdict, and each run with its own.

    Holm's correction is taken over the declared figures of all runs together, Benjamini and
    Hochberg's over all others: with five versions held against one baseline there are five times
    as many chances to be wrong.
    """
    declared = _corrected(runs, declared=True)
    others = _corrected(runs, declared=False)
    return tuple(_decided_run(run, declared, others) for run in runs)


class _Corrected:
    """Corrected p values by figure, and the number of tests."""

    def __init__(self, figures: Sequence[FigureDifference], *, declared: bool) -> None:
        values = [figure.p_value for figure in figures]
        corrected = holm(values) if declared else benjamini_hochberg(values)
        self.p_values = dict(zip(map(id, figures), corrected, strict=True))
        self.tests = sum(not math.isnan(value) for value in values)


def _corrected(runs: Sequence[RunComparison], *, declared: bool) -> _Corrected:
    figures = [
        figure
        for run in runs
        for figure in run.figures
        if (figure.family == "declared") is declared
    ]
    return _Corrected(figures, declared=declared)


def _decided_run(run: RunComparison, declared: _Corrected, others: _Corrected) -> RunComparison:
    audits = tuple(_decided_audit(audit, declared, others) for audit in run.audits)
    several = len(audits) > 1
    verdict, reason = _joined(
        [
            (figure.verdict, _named(figure, f"{_AUDITS[audit.audit]} " if several else ""))
            for audit in audits
            for figure in audit.declared
        ],
        [
            f"{_AUDITS[audit.audit]}: {audit.objection}" if several else audit.objection
            for audit in audits
            if audit.objection
        ],
    )
    changed = replace(run, audits=audits, verdict=verdict)
    return replace(changed, sentence=_sentence(changed, reason))


def _named(figure: FigureDifference, above: str) -> str:
    """The figure in the sentence, with its change where that is what the verdict rests on."""
    change = f" ({_change(figure)})" if figure.verdict in (BETTER, WORSE) else ""
    return f"{above}{figure.title}{change}"


_AUDITS = {"flex": "FLEX", "clinical": "clinical", "boundary": "boundary"}


def _decided_audit(
    audit: AuditComparison, declared: _Corrected, others: _Corrected
) -> AuditComparison:
    figures = []
    for figure in audit.figures:
        family = declared if figure.family == "declared" else others
        known = replace(figure, p_adjusted=family.p_values[id(figure)], tests=family.tests)
        figures.append(figure_verdict(known, audit.objection))
    changed = replace(audit, figures=tuple(figures))
    verdict, reason = _joined(
        [(figure.verdict, figure.title) for figure in changed.declared],
        [audit.objection] if audit.objection else [],
    )
    return replace(changed, verdict=verdict, reason=reason)


def figure_verdict(figure: FigureDifference, objection: str = "") -> FigureDifference:
    """The figure with the verdict, the reason and the number of items that its numbers give.

    1. *cannot tell*, whatever the numbers: something speaks against the whole audit.
    2. *better* or *worse*: the interval lies beyond 0, and the corrected p value is below 0.05.
    3. *no difference within the margin*: the whole interval lies within ± margin.
    4. *cannot tell*: neither.

    Args:
        figure: with its corrected p value.
        objection: why nothing can be told in this audit; "" for no reason.
    """
    difference, margin = figure.difference, figure.margin
    if objection:
        return replace(figure, verdict=CANNOT_TELL, reason=objection)
    if not difference.defined or math.isnan(difference.lower):
        why = difference.note or "there is no interval: too few items tell how others would differ"
        return replace(figure, verdict=CANNOT_TELL, reason=why)
    # An end that a test has moved to 0 does not lie beyond it; the test itself decides then.
    beyond = difference.lower >= 0 or difference.upper <= 0
    within = -margin < difference.lower and difference.upper < margin
    said = f"{_change(figure)}; {_p(figure)}"
    if beyond and figure.p_adjusted < SIZE:
        verdict: Verdict = BETTER if figure.gain > 0 else WORSE
        size = f", by less than the margin of {_amount(margin, figure)}" if within else ""
        return replace(figure, verdict=verdict, reason=f"{said}{size}", more_items=0.0)
    if within:
        reason = f"{said}; the interval lies within ±{_amount(margin, figure)}"
        return replace(figure, verdict=SAME, reason=reason, more_items=0.0)
    wanted = items_to_decide(difference.value, figure.spread, margin, tests=max(1, figure.tests))
    more = wanted if math.isinf(wanted) else max(1.0, wanted - figure.items)
    return replace(figure, verdict=CANNOT_TELL, reason=said, more_items=more)


_UNITS = {"flex": "items", "clinical": "vignettes", "boundary": "topics"}


def more_words(figure: FigureDifference) -> str:
    """How many more items would decide, in words; "" where it is decided."""
    if figure.verdict != CANNOT_TELL or math.isnan(figure.more_items):
        return ""
    noun = _UNITS[figure.audit]
    if math.isinf(figure.more_items):
        return f"no number of {noun} would decide it: the difference is 0 and there is no margin"
    return f"about {_two_digits(figure.more_items):,} more {noun} would decide it"


def _two_digits(number: float) -> int:
    """Rounded up to two digits, as the number is no more certain than that."""
    if number < 100:
        return math.ceil(number)
    step = int(10 ** (math.floor(math.log10(number)) - 1))
    return math.ceil(number / step) * step


_LISTED = 4  # figures that the sentence names before it counts them


def _joined(found: Sequence[tuple[Verdict, str]], objections: Sequence[str]) -> tuple[Verdict, str]:
    """One verdict of several: a gain on one figure does not make up for a loss on another."""
    by_verdict: dict[Verdict, list[str]] = {}
    for verdict, title in found:
        by_verdict.setdefault(verdict, []).append(title)
    better, worse = by_verdict.get(BETTER, []), by_verdict.get(WORSE, [])
    open_ = by_verdict.get(CANNOT_TELL, [])
    untold = listed(open_) if len(open_) <= _LISTED else f"{len(open_)} figures"
    rest = f"; it cannot be told for {untold}" if open_ else ""
    why = f" ({'; '.join(dict.fromkeys(objections))})" if objections and open_ else ""
    if better and worse:
        return CANNOT_TELL, f"better in {listed(better)}, worse in {listed(worse)}{rest}{why}"
    if worse:
        return WORSE, f"worse in {listed(worse)}{rest}{why}"
    if better:
        return BETTER, f"better in {listed(better)}{rest}{why}"
    if found and not open_:
        return SAME, f"within the margin in {listed(by_verdict[SAME])}"
    if objections:
        return CANNOT_TELL, "; ".join(dict.fromkeys(objections))
    if not found:
        return CANNOT_TELL, "no figure could be compared"
    same = by_verdict.get(SAME, [])
    beside = f", while {listed(same)} lies within the margin" if same else ""
    return CANNOT_TELL, f"it cannot be told for {untold}{beside}"


_ANSWERS: dict[Verdict, str] = {
    BETTER: "is fairer than",
    WORSE: "is less fair than",
    SAME: "is no different within the margin from",
    CANNOT_TELL: "cannot be told to be fairer or less fair than",
}


def _sentence(run: RunComparison, reason: str) -> str:
    return f"{run.other.title} {_ANSWERS[run.verdict]} {run.baseline.title}: {reason}."


def _change(figure: FigureDifference) -> str:
    difference = figure.difference
    name = "distance from no lean " if figure.good == "no lean" else ""
    if figure.percent:
        ends = points_range(difference.lower, difference.upper, 1)
        return f"{name}{points(difference.value, 1)} points, {ends}"
    return (
        f"{name}{_number(difference.value)}, {_number(difference.lower)} to "
        f"{_number(difference.upper)}"
    )


def _number(value: float) -> str:
    if math.isnan(value):
        return UNDEFINED
    return f"{value:+.3g}".replace("-", "−") if value else "0"


def _amount(margin: float, figure: FigureDifference) -> str:
    return f"{margin * 100:g} points" if figure.percent else f"{margin:g}"


def _p(figure: FigureDifference) -> str:
    how = "Holm" if figure.family == "declared" else "Benjamini-Hochberg, exploratory"
    return f"{p_equals(figure.p_adjusted)} ({how})"
