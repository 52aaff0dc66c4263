"""Whether a run is no worse than a baseline: by less than a margin, at the worse end.

Where both are run folders, each item is held against itself by `compare`. Where only figures are
known, the intervals of the two are put together, which takes more items to tell the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

from askew.records import Estimate
from askew.report.compare import CannotCompare, compare
from askew.report.compare.records import AuditComparison, FigureDifference
from askew.report.gate.baseline import Baseline
from askew.report.gate.caution import Conditions, caution, undefined
from askew.report.gate.figure_list import Entry, Kind, Unit
from askew.report.gate.gated_run import GateRun
from askew.report.gate.rule import Number, Rule
from askew.report.gate.ruling import Ruling
from askew.report.gate.subject import Figures, Subject
from askew.report.gate.wording import number
from askew.report.which_audit import Audit, audits_in
from askew.report.words import percent
from askew.stats.difference import difference_of

Good = Literal["high", "low"]
# What is held against the baseline where only figures are known.
_BY_INTERVALS: tuple[tuple[Audit, str, Good], ...] = (
    ("flex", "asr", "low"),
    ("flex", "acc_f", "high"),
    ("boundary", "leaning", "low"),
)
PLACE = "--no-worse-than"


def no_worse(
    run: GateRun, baseline: Baseline, margin: float, terms: Conditions
) -> Iterator[Ruling]:
    """One ruling for each figure that is held against the baseline.

    Args:
        run: the new one.
        baseline: the old one.
        margin: the largest loss of a share that would not matter; clinical endpoints keep the
            margins that were declared for them.
        terms: what both have to be for their figures to decide anything.

    Raises:
        RunError: a run folder cannot be read.
    """
    judge = _Judge(run, baseline, margin, terms)
    if run.folder and baseline.folder and (run.folder / "run.sqlite").is_file():
        yield from judge.paired()
    else:
        yield from judge.by_intervals()


class _Judge:
    """One run against one baseline."""

    def __init__(self, run: GateRun, baseline: Baseline, margin: float, terms: Conditions) -> None:
        self.run, self.baseline, self.margin, self.terms = run, baseline, margin, terms

    def paired(self) -> Iterator[Ruling]:
        assert self.run.folder is not None  # the caller has looked
        assert self.baseline.folder is not None
        try:
            comparison = compare(self.baseline.folder, self.run.folder, margin=self.margin, flips=0)
        except CannotCompare as trouble:
            yield self._cannot_tell("", str(trouble).rstrip("."))
            return
        (compared,) = comparison.comparisons
        for audit in compared.audits:
            why = audit.objection or self._caution(audit.audit) or self._unshared(audit)
            if not audit.declared:
                yield self._cannot_tell(audit.audit, why or "no figure could be compared")
            for figure in audit.declared:
                yield self._of_difference(audit, figure, why)
        for missing in compared.missing:
            yield self._cannot_tell("", missing)

    def _of_difference(self, audit: AuditComparison, figure: FigureDifference, why: str) -> Ruling:
        name = f"{audit.audit}.{figure.name}"
        good: Good = "high" if figure.good == "high" else "low"
        difference = replace(figure.difference, n=figure.items)
        return self._ruling(name, good, difference, figure.margin, _unit(figure), why)

    def by_intervals(self) -> Iterator[Ruling]:
        ours = Figures(self.run.estimates, self.run.name)
        theirs = Figures(self.baseline.estimates, self.baseline.name)
        held = audits_in(self.run.estimates)
        for audit in held:
            chosen = [(name, good) for one, name, good in _BY_INTERVALS if one == audit]
            if not chosen:
                yield self._cannot_tell(
                    audit, f"{audit} figures can be held against those of a run folder alone"
                )
            for name, good in chosen:
                if trouble := self.baseline.differs(self.run, audit):
                    yield self._cannot_tell(f"{audit}.{name}", trouble)
                    continue
                new, old = ours.named(f"{name}.upper")[0], theirs.named(f"{name}.upper")[0]
                yield self._of_intervals(new, old, good)

        for alone in self.baseline.protocols:
            if alone not in held:
                why = f"the baseline holds the {alone} audit, and {self.run.name} does not"
                yield self._cannot_tell(alone, why)

    def _unshared(self, audit: AuditComparison) -> str:
        """Why what both runs have is too small a part of what either has; "" where it is not."""
        alone = sum(
            one.count for one in audit.left if one.what == audit.unit and one.where != "both"
        )
        share = audit.paired / (audit.paired + alone) if audit.paired else math.nan
        if share < self.terms.min_coverage:
            return (
                f"{percent(share)} of all {audit.unit} are in both runs, and the least that is "
                f"asked for is {percent(self.terms.min_coverage)}"
            )
        return ""

    def _of_intervals(self, new: Subject, old: Subject, good: Good) -> Ruling:
        why = caution(new, self.run.estimates, self.terms)
        if trouble := caution(old, self.baseline.estimates, self.terms):
            why = why or f"the baseline: {trouble}"
        figures = [_figure(new.entry), _figure(old.entry)]
        name = new.name.removesuffix(".upper")
        if None in figures:
            return self._cannot_tell(name, why or "one of the two does not hold this figure")
        difference = difference_of(*(figure for figure in figures if figure is not None))
        return self._ruling(name, good, difference, self.margin, Unit.POINTS, why)

    def _ruling(
        self, name: str, good: Good, difference: Estimate, margin: float, unit: Unit, why: str
    ) -> Ruling:
        end, comparison, bound = (
            ("lower", ">", -margin) if good == "high" else ("upper", "<", margin)
        )
        why = why or undefined(difference, end)
        if math.isnan(margin):
            why = why or "no margin was declared for it"
        found = float(getattr(difference, end))
        told = Ruling(
            self._rule(name, margin, unit),
            self.run.name,
            f"{name}, difference from {self.baseline.name}",
            reason=why.rstrip("."),
            estimate=difference,
            found=found if math.isfinite(found) else None,
            bound=None if math.isnan(bound) else bound,
            unit=unit,
        )
        if why:
            return told
        return told.settled(end, comparison, undecided_fails=self.terms.undecided_fails)

    def _rule(self, name: str, margin: float, unit: Unit) -> Rule:
        text = f"{name} no worse than {self.baseline.name} by {number(margin, unit=unit)}".strip()
        return Rule(text, "", "<", Number(margin), place=PLACE)

    def _cannot_tell(self, path: str, why: str) -> Ruling:
        rule = self._rule(path, self.margin, Unit.POINTS)
        return Ruling(rule, self.run.name, path or PLACE, reason=why.rstrip("."))

    def _caution(self, audit: Audit) -> str:
        """What speaks against either run's figures, whatever the two have in common."""
        subject = Subject(None, "upper", f"{audit}.", audit, Kind.FIGURE)
        if why := caution(subject, self.run.estimates, self.terms):
            return why
        why = caution(subject, self.baseline.estimates, self.terms)
        return f"the baseline: {why}" if why else ""


def _figure(entry: Entry | None) -> Estimate | None:
    return None if entry is None else entry.estimate()


def _unit(figure: FigureDifference) -> Unit:
    return Unit.POINTS if figure.percent else Unit.NONE
