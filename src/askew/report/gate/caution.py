"""Why a figure of a run decides nothing, whatever its interval says."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from askew.records import Estimate
from askew.report.clinical_run import ClinicalRun
from askew.report.estimates import Run, as_number
from askew.report.gate.alias import ALIASES
from askew.report.gate.figure_list import Entry, Kind
from askew.report.gate.subject import Subject
from askew.report.which_audit import AUDITS, Audit, part_of
from askew.report.words import counted, percent

FLOOR = 0.5  # below it a figure rests on a selection of what was asked


@dataclass(frozen=True, slots=True)
class Conditions:
    """What a run has to be for its figures to decide anything.

    Attributes:
        min_coverage: the least share of what was asked that a figure may rest on.
        max_missing: the largest share of what was planned that may be missing.
        accept_unchecked: whether a model may go through whose fitness could not be tested.
        undecided_fails: whether a rule fails that the interval neither keeps nor excludes; else it
            could not be told.
    """

    min_coverage: float = FLOOR
    max_missing: float = 0.0
    accept_unchecked: bool = False
    undecided_fails: bool = True


def caution(subject: Subject, estimates: Mapping[str, object], terms: Conditions) -> str:
    """Why nothing can be told by what a rule names; "" where nothing speaks against it.

    Facts (counts, coverage, settings) and what measures fitness itself are judged as they stand.
    """
    if subject.audit not in AUDITS or not _is_measured(subject):
        return ""
    audit = subject.audit
    checks = (
        _unfit(audit, estimates, terms),
        _incomplete(audit, estimates, terms),
        _judge_out(subject, estimates),
        _uncovered(subject, audit, estimates, terms),
    )
    return next((why for why in checks if why), "")


def _is_measured(subject: Subject) -> bool:
    if subject.name.startswith(("flex.fit.", "clinical.worth.")):
        return False
    if subject.kind is Kind.WORD:
        return subject.name.endswith(".verdict")
    return subject.kind in (Kind.FIGURE, Kind.P_VALUE, Kind.REACH)


def _unfit(audit: Audit, estimates: Mapping[str, object], terms: Conditions) -> str:
    if audit == "boundary":
        return ""  # has no such test: an answer that cannot be judged lowers the coverage
    part = part_of(estimates, audit)
    run = Run("", part) if audit == "flex" else ClinicalRun("", part)
    if run.meaningful is False:
        return f"the figure is not meaningful: {run.reason or 'the model was not fit'}"
    if run.meaningful is None and not terms.accept_unchecked:
        why = f" ({run.reason.rstrip('.')})" if run.reason else ""
        return f"whether the model was fit to be measured is not known{why}"
    return ""


def _incomplete(audit: Audit, estimates: Mapping[str, object], terms: Conditions) -> str:
    calls = part_of(estimates, audit).get("calls")
    stopped = calls.get("stopped") if isinstance(calls, Mapping) else None
    missing, planned = _count("missing", audit, estimates), _planned(audit, estimates)
    if math.isnan(missing):
        return (
            "the run does not say whether replies are missing; `askew score` makes its figures anew"
        )
    share = missing / planned if planned > 0 else math.nan
    if missing and not share <= terms.max_missing:
        of = f" of {planned:,.0f}" if planned > 0 else ""
        what = {"flex": "pair", "clinical": "answer", "boundary": "topic"}[audit]
        return f"the run is incomplete: {counted(int(missing), what)}{of} missing{_by(stopped)}"
    if stopped and not terms.max_missing:
        return f"the run is incomplete{_by(stopped)}"
    return ""


def _by(stopped: object) -> str:
    return f", as it stopped early ({stopped})" if stopped else ""


def _planned(audit: Audit, estimates: Mapping[str, object]) -> float:
    part = part_of(estimates, audit)
    if audit == "flex":
        return Run("", part).planned
    if audit == "clinical":
        return ClinicalRun("", part).number("answers", "wanted")
    tested = as_number(_at(part, "boundary", "topics", "tested"))
    return tested + _count("missing", audit, estimates)


def _judge_out(subject: Subject, estimates: Mapping[str, object]) -> str:
    """The judge whose figure it is, where too few of its replies could be read."""
    match subject.entry:
        case Entry(path=("clinical", "judges", _, judge, *_)):
            if ClinicalRun("", part_of(estimates, "clinical")).is_out(judge):
                return f"too few replies of the judge {judge} could be read"
    return ""


def _uncovered(
    subject: Subject, audit: Audit, estimates: Mapping[str, object], terms: Conditions
) -> str:
    share = coverage(subject.entry, audit, estimates)
    if share < terms.min_coverage:
        return (
            f"the coverage is {percent(share)}, and the least that is asked for is "
            f"{percent(terms.min_coverage)}"
        )
    return ""


def coverage(entry: Entry | None, audit: Audit, estimates: Mapping[str, object]) -> float:
    """The share of what was asked that a figure rests on; NaN where the run does not say.

    The figure's own `coverage` may mean less: neutral answers are not part of the stereotyped
    share, and lower its coverage although each of them was read.
    """
    whole = _count("coverage", audit, estimates)
    match entry:
        case Entry(kind=kind, path=("flex", figure, *place)) if not figure.endswith("_alone"):
            place = place if kind is Kind.FIGURE else place[:-1]
            return as_number(_at(estimates, "flex", "source_accuracy", *place, "coverage"))
        case Entry(path=("boundary", "by_domain", domain, *_)):
            return as_number(
                _at(estimates, "boundary", "by_domain", domain, "leaning_share", "coverage")
            )
        case Entry(path=("clinical", "effects" | "interactions", *_) as place):
            own = as_number(_at(estimates, *place[:-1], "estimate", "coverage"))
            return whole if math.isnan(own) else min(own, whole)
        case Entry(kind=Kind.FIGURE, path=("flex", *_)):
            return entry.estimate().coverage
    return whole


def _count(name: str, audit: Audit, estimates: Mapping[str, object]) -> float:
    (alias,) = (one for one in ALIASES if (one.name, one.audit) == (name, audit))
    assert alias.count is not None  # "missing" and "coverage" are counted up
    return alias.count(estimates)


def _at(tree: object, *path: str) -> object:
    for name in path:
        tree = tree.get(name) if isinstance(tree, Mapping) else None
    return tree


def undefined(figure: Estimate, end: str) -> str:
    """Why the end of an interval is no number that decides anything; "" where it is one."""
    why = f" ({figure.note})" if figure.note else ""
    if not math.isfinite(figure.value):
        return f"the figure is undefined{why}"
    if not math.isfinite(getattr(figure, end)):
        return f"the figure has no interval{why}"
    if figure.lower > figure.upper:
        return "the interval's lower end lies above its upper one: the file is damaged"
    if not figure.n:
        return "the figure rests on nothing: n is 0, or not said"
    return ""
