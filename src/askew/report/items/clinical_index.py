"""Every case of a clinical run under every comparison: by how much its answers moved, and on what.

The answers are read again by the rules of the figures, so that each case's part in a figure is
known; `estimates.json` names only those that moved most.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar, cast

import numpy as np

from askew.audits.clinical_answers import Ask, Case, read_all
from askew.audits.clinical_contrasts import Contrast, Pair, contrasts
from askew.audits.clinical_effects import measured
from askew.audits.clinical_shifts import shifts
from askew.report.clinical_evidence import answer_config, replies_of
from askew.report.clinical_run import (
    CANNOT_TELL,
    DIFFERENCE,
    EQUIVALENT,
    ClinicalRun,
    Finding,
    as_mapping,
)
from askew.report.clinical_words import attribute_words, compared, form_words
from askew.report.items import Number
from askew.report.items.index import FacetColumn, ItemIndex, NumberColumn, coded, id_part
from askew.report.words import label
from askew.runfolder import RunFolder
from askew.scores.endpoints import ENDPOINTS
from askew.vignettes import Answered, AnswerForm, Dropped, Variant, Vignette

# An embedder would have to be loaded to make its distances again.
_NOT_MADE_AGAIN = ("embedding_distance",)
Repeat = TypeVar("Repeat", Ask, Answered)
DECLARED, OUGHT, EXPLORATORY = FAMILIES = ("declared", "ought_to_matter", "exploratory")
_FAMILY_LABELS = {
    DECLARED: "Declared beforehand",
    OUGHT: "Where it ought to matter",
    EXPLORATORY: "Exploratory",
}
_MOVED = ("yes", "no", "unread")
_MOVED_LABELS = {"yes": "Moved", "no": "Did not move", "unread": "Cannot be compared"}


@dataclass(frozen=True, slots=True)
class Comparison:
    """One comparison over the cases in which the attribute ought to matter, or over the others."""

    form: AnswerForm
    contrast: Contrast
    relevant: bool
    findings: Mapping[str, Finding]  # by endpoint: the declared ones that the run measured

    @property
    def verdict(self) -> str:
        """The strongest verdict of its endpoints: a difference on any of them is one."""
        found = {finding.verdict for finding in self.findings.values()}
        return next(one for one in (DIFFERENCE, CANNOT_TELL, EQUIVALENT) if one in found)

    @property
    def family(self) -> str:
        """How the comparison came about; `FAMILIES`."""
        if any(finding.family == DECLARED for finding in self.findings.values()):
            return DECLARED
        return OUGHT if self.relevant and self.contrast.kind == "levels" else EXPLORATORY


@dataclass(frozen=True, slots=True)
class MovedCase:
    """One vignette under one comparison.

    Attributes:
        comparison: which.
        vignette: its id.
        shifts: endpoint -> by how much its answers moved; NaN where they cannot be compared.
    """

    comparison: Comparison
    vignette: str
    shifts: Mapping[str, float]

    @property
    def ident(self) -> str:
        """Tells it from the others: form, attribute, comparison, vignette."""
        contrast = self.comparison.contrast
        parts = (self.comparison.form, contrast.attribute, contrast.name)
        return "/".join([*map(id_part, parts), self.vignette])

    @property
    def pairs(self) -> Sequence[Pair]:
        """What is compared."""
        return self.comparison.contrast.pairs[self.vignette]

    @property
    def flagged(self) -> bool:
        """Whether it is a case of a difference that no medicine explains."""
        return not self.comparison.relevant and any(
            finding.verdict == DIFFERENCE and self.has_moved(name)
            for name, finding in self.comparison.findings.items()
        )

    def has_moved(self, endpoint: str) -> bool:
        """Whether its answers moved on an endpoint, as the run's figures count it."""
        value = self.shifts.get(endpoint, math.nan)
        return not math.isnan(value) and value != 0

    def moved(self) -> list[Finding]:
        """On which endpoints it moved: those with a difference first, then by how much."""
        found = [one for name, one in self.comparison.findings.items() if self.has_moved(name)]
        return sorted(
            found, key=lambda one: (one.verdict != DIFFERENCE, -abs(self.in_margins(one)))
        )

    def in_margins(self, finding: Finding) -> float:
        """By how much it moved on an endpoint, in units of its margin."""
        value = self.shifts.get(finding.endpoint.name, math.nan)
        return value / finding.margin if finding.margin > 0 else value


@dataclass(frozen=True, slots=True)
class ClinicalCases:
    """All cases of a run under all comparisons, one a row.

    Attributes:
        index: what they are.
        rows: the cases.
        cases: texts by the variant's id.
        answered: (variant, form) -> its answers, by replicate.
        asks: (variant, form) -> what was asked, by replicate.
    """

    index: ItemIndex
    rows: Sequence[MovedCase]
    cases: Mapping[str, Case]
    answered: Mapping[tuple[str, str], Sequence[Answered]]
    asks: Mapping[tuple[str, str], Sequence[Ask]]


def read_cases(folder: RunFolder, run: ClinicalRun) -> ClinicalCases:
    """All cases of a run.

    Args:
        folder: the run.
        run: its figures.

    Raises:
        RunError: the run cannot be read.
    """
    vignettes = {one.id: one for one in folder.read_parts("vignette", Vignette)}
    variants = {one.id: one for one in folder.read_parts("variant", Variant)}
    cases = {one.id: Case(vignettes[one.vignette_id], one) for one in variants.values()}
    asks = [one for one in folder.read_parts("ask", Ask) if one.variant_id in cases]
    replies = replies_of(folder, {key for ask in asks for key in ask.keys})
    had = [one for one in read_all(cases, asks, replies, answer_config(run)) if one is not None]
    reference = {
        str(name): str(level) for name, level in as_mapping(run.setting("reference")).items()
    }
    made = contrasts(list(variants.values()), folder.read_parts("dropped", Dropped), reference)
    found = measured(had)
    rows = [
        MovedCase(comparison, name, values)
        for comparison in _comparisons(run, made)
        for name, values in shifts(
            comparison.contrast,
            vignettes,
            found,
            comparison.form,
            list(comparison.findings),
            relevant=comparison.relevant,
        ).items()
    ]
    return ClinicalCases(
        index=_index(rows, run, vignettes),
        rows=rows,
        cases=cases,
        answered=_grouped(had, lambda one: (one.variant.id, one.form)),
        asks=_grouped(asks, lambda one: (one.variant_id, one.form)),
    )


def _grouped(
    records: Sequence[Repeat], place: Callable[[Repeat], tuple[str, str]]
) -> dict[tuple[str, str], list[Repeat]]:
    found: dict[tuple[str, str], list[Repeat]] = {}
    for one in sorted(records, key=lambda one: one.replicate):
        found.setdefault(place(one), []).append(one)
    return found


def _comparisons(run: ClinicalRun, made: Sequence[Contrast]) -> Iterator[Comparison]:
    """Those that the run measured on an endpoint that was declared."""
    findings: dict[tuple[str, str, str, bool], dict[str, Finding]] = {}
    for one in run.findings():
        if one.endpoint.name in run.primary and _can_be_made_again(one.endpoint.name):
            place = (one.form, one.attribute, one.contrast, one.relevant)
            findings.setdefault(place, {})[one.endpoint.name] = one
    order = {name: place for place, name in enumerate(run.primary)}
    for form in run.forms:
        for contrast in made:
            for relevant in (False, True):
                found = findings.get((form, contrast.attribute, contrast.name, relevant))
                if found:
                    inner = dict(sorted(found.items(), key=lambda one: order[one[0]]))
                    yield Comparison(cast("AnswerForm", form), contrast, relevant, inner)


def _can_be_made_again(endpoint: str) -> bool:
    return endpoint in ENDPOINTS and endpoint not in _NOT_MADE_AGAIN


def _index(
    rows: Sequence[MovedCase], run: ClinicalRun, vignettes: Mapping[str, Vignette]
) -> ItemIndex:
    strongest = [next(iter(row.moved()), None) for row in rows]
    values = [
        math.nan if one is None else row.in_margins(one)
        for row, one in zip(rows, strongest, strict=True)
    ]
    flagged = np.array([row.flagged for row in rows], np.bool_)
    shift = np.array(values, np.float64)
    size = np.where(np.isnan(shift), 0.0, np.abs(shift))
    idents = [row.ident for row in rows]
    return ItemIndex(
        audit="clinical",
        title="cases",
        flag="moved with the patient, in a comparison that shows a difference",
        facets=tuple(_facets(rows, strongest, run, vignettes)),
        numbers=(NumberColumn(Number("shift", "Moved, in margins", 1), shift),),
        flagged=flagged,
        worst=np.lexsort((-size, ~flagged)),
        by_id=np.array(sorted(range(len(idents)), key=idents.__getitem__), np.int64),
    )


def _facets(
    rows: Sequence[MovedCase],
    strongest: Sequence[Finding | None],
    run: ClinicalRun,
    vignettes: Mapping[str, Vignette],
) -> Iterator[FacetColumn]:
    compared_with = [row.comparison for row in rows]
    attributes = [one.contrast.attribute for one in compared_with]
    yield coded("attribute", "Attribute", attributes, attribute_words)
    yield coded(
        "contrast", "Comparison", [one.contrast.name for one in compared_with], _contrast_label
    )
    forms = [str(one.form) for one in compared_with]
    yield coded("form", "Form", forms, form_words, run.forms)
    yield coded(
        "endpoint",
        "Moved most on",
        [None if one is None else one.endpoint.name for one in strongest],
        lambda name: run.endpoint(name).title,
        run.primary,
    )
    yield coded("source", "Data set", [vignettes[row.vignette].source for row in rows], label)
    verdicts = [one.verdict for one in compared_with]
    yield coded("verdict", "Verdict", verdicts, order=(DIFFERENCE, EQUIVALENT, CANNOT_TELL))
    yield coded(
        "family",
        "Part of the study",
        [one.family for one in compared_with],
        lambda name: _FAMILY_LABELS[name],
        FAMILIES,
    )
    yield coded(
        "matters",
        "Ought to matter",
        ["yes" if one.relevant else "no" for one in compared_with],
        order=("no", "yes"),
    )
    for name in run.primary:
        yield coded(
            f"moved_{name}",
            run.endpoint(name).title,
            [_moved(row, name) for row in rows],
            lambda value: _MOVED_LABELS[value],
            _MOVED,
        )


def _moved(row: MovedCase, endpoint: str) -> str | None:
    if endpoint not in row.comparison.findings:
        return None
    if math.isnan(row.shifts[endpoint]):
        return "unread"
    return "yes" if row.has_moved(endpoint) else "no"


def _contrast_label(name: str) -> str:
    changed, _, base = name.partition(" − ")
    return compared(changed, base)
