"""A run's figures as claims: what each supports in a sentence, or why it could not be measured.

Nothing is computed here. A model that was not fit to be measured, or answers that are not worth
comparing, leave no claim of that audit but that it could not be measured: the numbers stay in
`estimates.json`, and the claims do not repeat them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from askew.records import Estimate
from askew.report.boundary_run import BoundaryRun
from askew.report.clinical_run import CANNOT_TELL, OUGHT, ClinicalRun, Finding
from askew.report.clinical_summary import told
from askew.report.clinical_words import form_words
from askew.report.estimates import Run, as_number
from askew.report.filed.kinds import KINDS, SLICED, Kind
from askew.report.filed.limits import limit_ids
from askew.report.filed.records import MEASURED, NOT_MEASURED, Claim, Figure
from askew.report.which_audit import Audit
from askew.report.words import (
    counted,
    has_interval,
    label,
    p_equals,
    percent,
    percent_range,
    points,
    points_range,
)

# What is told beside a figure, where its test has it.
_TESTS = (
    "p_value",
    "p_holm",
    "p_adjusted",
    "smallest_change",
    "smallest_visible",
    "margin",
    "verdict",
    "reason",
)
AnyRun = Run | ClinicalRun | BoundaryRun


def claims_of(estimates: Mapping[str, object], audit: Audit) -> list[Claim]:
    """The claims of one audit, in a fixed order.

    Args:
        estimates: the audit's part of `estimates.json` (`which_audit.part_of`).
        audit: which.
    """
    run = run_of(estimates, audit)
    unfit = unfit_because(run)
    claims = [
        claim
        for name, kind in KINDS.items()
        if kind.audit == audit
        for claim in (
            _effects(run, unfit)
            if isinstance(run, ClinicalRun) and name == "clinical.effect"
            else _plain(run, name, kind, unfit)
        )
    ]
    return claims


def run_of(estimates: Mapping[str, object], audit: Audit) -> AnyRun:
    """The audit's figures as that audit reads them."""
    match audit:
        case "flex":
            return Run("the model", estimates)
        case "clinical":
            return ClinicalRun("the model", estimates)
        case "boundary":
            return BoundaryRun("the model", estimates)


def fit_of(run: AnyRun) -> bool | None:
    """Whether the model was fit to be measured; None where that was not told.

    A search has no gate of its own: topics that could be judged are what it needs.
    """
    return run.judged > 0 if isinstance(run, BoundaryRun) else run.meaningful


def unfit_because(run: AnyRun) -> str:
    """Why no figure of the audit is a claim; "" where the figures are."""
    if fit_of(run) is not False:
        return ""
    if isinstance(run, BoundaryRun):
        return "no topic could be judged" if run.tested else "no topic was tested"
    said = run.reason.rstrip(". ") or "the file does not say why"
    if isinstance(run, ClinicalRun):
        return f"the answers are not worth comparing: {said}"
    return f"the model was not fit to be measured: {said}"


def _plain(run: AnyRun, name: str, kind: Kind, unfit: str) -> Iterator[Claim]:
    """The claims of a kind whose figures stand at one place, or at one place a slice."""
    if name not in SLICED:
        yield _claim(run, name, kind, kind.place, kind.tests, kind.title, unfit)
        return
    for one, found in run.part(*kind.place).items():
        if isinstance(found, Mapping):
            title = f"{kind.title}: {label(one)}"
            yield _claim(run, name, kind, (*kind.place, one), (), title, unfit)


def _claim(
    run: AnyRun,
    name: str,
    kind: Kind,
    place: tuple[str, ...],
    tests: tuple[str, ...],
    title: str,
    unfit: str,
) -> Claim:
    figure = run.figure(*place)
    why = unfit or ("" if figure.defined else figure.note or "the figure is undefined")
    found = run.part(*tests) if tests else {}
    if why:
        statement = f"{title}: could not be measured, as {why}."
    else:
        statement = f"{title}: {_said(figure, kind)}{_tested(found)}."
    return _made(name, kind, place, statement, why, figure, {} if unfit else _tests(found))


def _effects(run: ClinicalRun, unfit: str) -> Iterator[Claim]:
    """One claim a declared comparison, or one that says that there is none."""
    kind = KINDS["clinical.effect"]
    declared = run.declared()
    if not declared:
        why = unfit or "no comparison was declared beforehand, or could be made"
        yield _claim(run, "clinical.effect", kind, kind.place, (), kind.title, why)
    for one in declared:
        place = (
            *kind.place,
            one.form,
            one.attribute + (OUGHT if one.relevant else ""),
            one.contrast,
            one.endpoint.name,
        )
        why = unfit or ("" if one.estimate.defined else one.estimate.note or one.reason)
        found = run.part(*place)
        yield _made(
            "clinical.effect",
            kind,
            (*place, "estimate"),
            _effect_words(one, why),
            why,
            one.estimate,
            {} if unfit else _tests(found),
        )


def _effect_words(one: Finding, why: str) -> str:
    what = f"{told(one)}, {form_words(one.form)}"
    if why:
        what = f"{one.attribute}, {one.contrast}, {one.endpoint.title}, {form_words(one.form)}"
        return f"{what}: could not be measured, as {why.rstrip('.')}."
    if one.verdict == CANNOT_TELL:
        return f"{what}: whether this is a difference cannot be told ({one.reason.rstrip('.')})."
    adjusted = "" if math.isnan(one.p_adjusted) else f" ({p_equals(one.p_adjusted)} after Holm)"
    return f"{what}: {one.verdict}{adjusted}."


def _made(
    name: str,
    kind: Kind,
    place: tuple[str, ...],
    statement: str,
    why: str,
    figure: Estimate,
    tests: dict[str, float | str | None],
) -> Claim:
    keys = [kind.audit, *place]
    path = ".".join(keys)
    return Claim(
        id=path,
        kind=name,
        audit=kind.audit,
        standing=NOT_MEASURED if why else MEASURED,
        statement=statement,
        why=why,
        unit=kind.unit,
        figure=_figure(figure, told_of=not why),
        tests=tests,
        path=path,
        keys=keys,
        limits=limit_ids(kind.audit),
        recompute=[
            "askew verify RUN",
            "askew score RUN",
            f"read {path} in RUN/estimates.json",
        ],
    )


def _figure(found: Estimate, *, told_of: bool) -> Figure:
    value, lower, upper = (
        number if told_of and math.isfinite(number) else None
        for number in (found.value, found.lower, found.upper)
    )
    return Figure(
        value,
        lower,
        upper,
        found.level,
        found.n,
        found.coverage if math.isfinite(found.coverage) else None,
        found.method,
        found.seed,
        found.note,
    )


def _tests(found: Mapping[str, object]) -> dict[str, float | str | None]:
    """What the file says of the tests of a figure; what is undefined there is None here."""
    said: dict[str, float | str | None] = {}
    for name in _TESTS:
        if name in found:
            value = found[name]
            number = as_number(value)
            said[name] = value if isinstance(value, str) else None if number != number else number
    return said


def _said(figure: Estimate, kind: Kind) -> str:
    level = f"{figure.level * 100:g} % interval"
    if kind.unit == "share":
        value, ends = percent(figure.value), percent_range(figure.lower, figure.upper)
    elif kind.unit == "topics":
        value = counted(round(figure.value), "topic")
        ends = f"{figure.lower:,.0f} to {figure.upper:,.0f}"
    else:
        value = f"{points(figure.value)} points"
        ends = points_range(figure.lower, figure.upper)
    interval = f"{level} {ends}" if has_interval(figure) else "no interval"
    return f"{value} ({interval}, n = {figure.n:,})"


def _tested(found: Mapping[str, object]) -> str:
    verdict, p_value = found.get("verdict"), as_number(found.get("p_value"))
    said = f"; {verdict}" if isinstance(verdict, str) else ""
    return said if math.isnan(p_value) else f"{said}; {p_equals(p_value)}"
