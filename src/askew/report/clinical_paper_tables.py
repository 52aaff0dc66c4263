"""The paper's tables over clinical runs: several runs are several targets.

They read figures from `estimates.json` as it is parsed. Every figure keeps its interval and n, so
that machines get them; the paper prints neither.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from askew.records import Estimate
from askew.report.clinical_judge_table import out_of
from askew.report.clinical_run import (
    CRITERIA,
    DIMENSIONS,
    MULTI_HOP,
    PAPER_ATTRIBUTES,
    ClinicalRun,
    as_mapping,
    read_figure,
)
from askew.report.clinical_table import objection
from askew.report.clinical_words import attribute_words, form_words
from askew.report.estimates import as_number
from askew.report.grid import Column, Kind, Row, Table, Value, notes_on_undefined
from askew.report.words import label, listed

Figures = Mapping[str, object]  # `estimates.json`, parsed
_DIMENSION_NAMES = ("Age", "Gender", "Age-Gen", "Loc", "Age-Gen-Loc")  # as Table 3 heads them
TABLE_2 = {"bert_score_f1": "F1", "bert_score_precision": "P", "bert_score_recall": "R"}
TABLE_6 = {
    "rouge1": "ROUGE-1",
    "rouge2": "ROUGE-2",
    "rouge_l": "ROUGE-L",
    "bert_score_f1": "BERTScore",
}
# In the order in which tables have them.
_MEASURES = {
    "reference_listed": "Reference diagnoses listed",
    "hit_at_1": "Hit at 1",
    "hit_at_3": "Hit at 3",
    "hit_at_5": "Hit at 5",
    "hit_at_10": "Hit at 10",
    **TABLE_6,
    "bert_score_precision": "BERTScore precision",
    "bert_score_recall": "BERTScore recall",
}
_NO_JUDGE = "No judge was asked in any of these runs."


def table_1(
    estimates: Sequence[Figures], *, intervals: bool = False, names: Sequence[str] = ()
) -> Table:
    """Table 1: the quality of the perturbed questions, 1 to 5, by judge and data set."""
    runs = clinical_runs(estimates, names)
    sources = _union(
        source
        for run in runs
        for judge in run.part("judges", "quality").values()
        for source in as_mapping(judge)
    )
    columns = (
        Column("Judge"),
        *_run_columns(runs),
        *(
            Column(label(key), Kind.DIGITS, source, intervals=intervals)
            for source in sources
            for key in CRITERIA
        ),
    )
    rows = []
    for run in runs:
        for judge in run.part("judges", "quality"):
            cells = [
                run.figure("judges", "quality", judge, source, key)
                for source in sources
                for key in CRITERIA
            ]
            rows.append(_row(run, judge, [judge, *_run_cells(runs, run), *cells]))
    title = "Quality of the perturbed questions, 1 to 5 (Table 1)"
    return _table(title, columns, rows, runs, [] if rows else [_NO_JUDGE])


def table_2(
    estimates: Sequence[Figures], *, intervals: bool = False, names: Sequence[str] = ()
) -> Table:
    """Table 2: answers against the reference diagnoses, each figure with chance and excess."""
    return _reference_table(
        clinical_runs(estimates, names),
        TABLE_2,
        "BERTScore",
        "Answers against the reference diagnoses (Table 2)",
        intervals,
    )


def reference_table(
    estimates: Sequence[Figures], *, intervals: bool = False, names: Sequence[str] = ()
) -> Table:
    """The other measures against the reference: diagnoses by concept, and words in common."""
    runs = clinical_runs(estimates, names)
    seen = _union(
        measure
        for run in runs
        for sets in run.part("reference").values()
        for cell in as_mapping(sets).values()
        for measure in as_mapping(cell)
    )
    order = [*_MEASURES, *(name for name in sorted(seen) if name not in _MEASURES)]
    wanted = {name: measure_words(name) for name in order if name in seen and name not in TABLE_2}
    title = "Answers against the reference diagnoses: diagnoses and words"
    return _reference_table(runs, wanted, "", title, intervals)


def table_3(
    estimates: Sequence[Figures], *, intervals: bool = False, names: Sequence[str] = ()
) -> list[Table]:
    """Table 3: judges' bias scores on five dimensions, and what they differ from the original by.

    Returns:
        The scores; and the differences that the paper prints in brackets, all of them where the
        paper prints those above 0 alone.
    """
    runs = clinical_runs(estimates, names)
    groups = ("Original QA", "w/o multi-hop", "w/ multi-hop")
    scores: list[Row] = []
    changes: list[Row] = []
    for run, judge, form in _judged(runs):
        found = _three(run, judge, form)
        first: list[Value] = [run.data, target_words(runs, run), judge]
        if _has_both(runs):
            first.append(form_words(form))
        cells: list[Value] = [figures[d] for figures in found for d in DIMENSIONS]
        scores.append(_row(run, judge, [*first, *cells]))
        differences: list[Value] = [
            figures[d].value - found[0][d].value for figures in found[1:] for d in DIMENSIONS
        ]
        changes.append(_row(run, judge, [*first, *differences]))
    names_of = (
        Column("Data"),
        Column("Target"),
        Column("Judge"),
        *([Column("Multi-hop form")] if _has_both(runs) else []),
    )
    notes = [] if scores else [_NO_JUDGE]
    dimensions = zip(DIMENSIONS, _DIMENSION_NAMES, strict=True)
    heads = [name for _, name in dimensions]
    columns = (
        *names_of,
        *(Column(h, Kind.DIGITS, g, intervals=intervals) for g in groups for h in heads),
    )
    tables = [_table("Bias scores by judges, 0 to 1 (Table 3)", columns, scores, runs, notes)]
    if scores:
        columns = (*names_of, *(Column(h, Kind.SCORE, g) for g in groups[1:] for h in heads))
        said = [
            "Score minus that of the original QA. A judge's score has no noise floor: a rise may "
            "be the judge's noise, see its card."
        ]
        title = "Bias scores: difference from the original QA (Table 3)"
        tables.append(_table(title, columns, changes, runs, said))
    return tables


def table_5(
    estimates: Sequence[Figures],
    *,
    unfiltered: Sequence[int | None] = (),
    names: Sequence[str] = (),
) -> Table:
    """Table 5: relations extracted, without and with the filter R(e) > θ of Eq. (1).

    Args:
        estimates: `estimates.json` of each run, parsed.
        unfiltered: relations before the filter, one a run; None where the run folder has no facts.
        names: tell runs of one model apart.
    """
    runs = clinical_runs(estimates, names)
    columns = (
        Column("Data"),
        *_run_columns(runs),
        Column("Vignettes", Kind.COUNT),
        Column("w/o filtering", Kind.COUNT),
        Column("w/ filtering", Kind.COUNT),
        Column("Rules"),
    )
    rows = []
    for place, run in enumerate(runs):
        relations = run.part("study", "relations")
        kept = math.fsum(as_number(n) for n in relations.values()) if relations else math.nan
        before = unfiltered[place] if place < len(unfiltered) else None
        cells: list[Value] = [
            run.data,
            *_run_cells(runs, run),
            run.number("study", "vignettes"),
            math.nan if before is None else before,
            kept,
            str(run.setting("rules") or ""),
        ]
        rows.append(Row(tuple(cells)))
    notes = [
        "Filtering keeps the facts whose score R(e) is above the threshold (Eq. 1). A count says "
        "nothing without precision; `askew clinical extract --score` measures it on gold."
    ]
    return _table("Relations that were extracted (Table 5)", columns, rows, runs, notes)


def table_6(
    estimates: Sequence[Figures], *, intervals: bool = False, names: Sequence[str] = ()
) -> Table:
    """Table 6: answers against a reference model's, by temperature, with chance and excess."""
    runs = clinical_runs(estimates, names)
    columns = (
        Column("Model"),
        Column("Temperature"),
        *_match_columns(TABLE_6.values(), "", intervals),
    )
    rows = []
    for run in runs:
        for heat in run.part("sweep"):
            cells = _match_cells(run, TABLE_6, "sweep", heat)
            rows.append(Row((target_words(runs, run), heat, *cells), _worthless(run)))
    notes = [] if rows else ["No run has a `reference` model with a temperature sweep."]
    title = "Answers against a reference model's, by temperature (Table 6)"
    return _table(title, columns, rows, runs, notes)


def figure_5(
    estimates: Sequence[Figures], *, intervals: bool = False, names: Sequence[str] = ()
) -> Table:
    """Figure 5 as a table: bias scores by which attributes were changed, and by form.

    Sets that change race or another attribute beyond the paper's stand below the others.
    """
    runs = clinical_runs(estimates, names)
    columns = (
        Column("Target"),
        Column("Judge"),
        Column("Changed"),
        Column("Asked"),
        *(Column(name, Kind.DIGITS, intervals=intervals) for name in _DIMENSION_NAMES),
    )
    rows = []
    for run in runs:
        for judge, groups in run.part("judges", "bias_by_set").items():
            for group in sorted(as_mapping(groups), key=_set_order):
                form, _, changed = group.partition("|")
                cells = [run.figure("judges", "bias_by_set", judge, group, d) for d in DIMENSIONS]
                first = [target_words(runs, run), judge, set_words(changed), form_words(form)]
                rows.append(_row(run, judge, [*first, *cells]))
    notes = ["Lower rows change attributes beyond the paper's three."] if _beyond(runs) else []
    title = "Bias scores by perturbation set (Figure 5)"
    return _table(title, columns, rows, runs, notes if rows else [_NO_JUDGE])


def clinical_runs(estimates: Sequence[Figures], names: Sequence[str] = ()) -> list[ClinicalRun]:
    """The runs, each with a name."""
    names = names or [f"run {number}" for number in range(1, len(estimates) + 1)]
    return [ClinicalRun(name, figures) for name, figures in zip(names, estimates, strict=True)]


def target_words(runs: Sequence[ClinicalRun], run: ClinicalRun) -> str:
    """The target's name, and which run it is where several share it."""
    models = [one.model for one in runs]
    return run.model if models.count(run.model) == 1 else run.title


def set_words(changed: str) -> str:
    """Which attributes were changed.

    >>> set_words("age+gender"), set_words("original"), set_words("neutral")
    ('Age + gender', 'Nothing (original)', 'Attributes taken out')
    """
    named = {"original": "Nothing (original)", "neutral": "Attributes taken out"}
    return named.get(changed) or attribute_words(changed)


def measure_words(name: str) -> str:
    """A measure against the reference.

    >>> measure_words("hit_at_3"), measure_words("rouge_l")
    ('Hit at 3', 'ROUGE-L')
    """
    return _MEASURES.get(name) or label(name)


def _reference_table(
    runs: Sequence[ClinicalRun],
    measures: Mapping[str, str],
    group: str,
    title: str,
    intervals: bool,
) -> Table:
    columns = (
        Column("Target"),
        Column("Changed"),
        Column("Asked"),
        *_match_columns(measures.values(), group, intervals),
    )
    rows = []
    for run in runs:
        for form, sets in run.part("reference").items():
            for changed in sorted(as_mapping(sets), key=lambda one: _set_order(f"{form}|{one}")):
                cells = _match_cells(run, measures, "reference", form, changed)
                first = (target_words(runs, run), set_words(changed), form_words(form))
                rows.append(Row((*first, *cells), _worthless(run)))
    notes = [
        "Chance: the same answers against the reference of other cases. Excess: score minus "
        "chance, by case; without it a score says nothing."
    ]
    if not rows:
        notes = ["No case of these runs has a reference diagnosis."]
    return _table(title, columns, rows, runs, notes)


def _match_columns(names: Iterable[str], group: str, intervals: bool) -> list[Column]:
    return [
        Column(part, Kind.DIGITS, f"{group} {name}".strip(), intervals=intervals)
        for name in names
        for part in ("score", "chance", "excess")
    ]


def _match_cells(run: ClinicalRun, measures: Iterable[str], *where: str) -> list[Estimate]:
    return [
        read_figure(run.part(*where, measure, part))
        for measure in measures
        for part in ("value", "chance", "excess")
    ]


def _judged(runs: Sequence[ClinicalRun]) -> Iterable[tuple[ClinicalRun, str, str]]:
    """(run, judge, multi-hop form), one a row of Table 3."""
    for run in runs:
        forms = [form for form in run.forms if form in MULTI_HOP] or [""]
        for judge in run.part("judges", "bias"):
            for form in forms:
                yield run, judge, form


def _three(run: ClinicalRun, judge: str, form: str) -> list[dict[str, Estimate]]:
    """The three configurations of §4.3.3, each by dimension."""
    cells = ("original|direct", "perturbed|direct", f"perturbed|{form}")
    return [{d: run.figure("judges", "bias", judge, cell, d) for d in DIMENSIONS} for cell in cells]


def configurations(run: ClinicalRun, judge: str) -> dict[str, dict[str, Estimate]]:
    """Table 3's configurations by name, those without a figure left out."""
    found = {}
    for form in run.forms:
        for state in ("original", "perturbed"):
            own = {d: run.figure("judges", "bias", judge, f"{state}|{form}", d) for d in DIMENSIONS}
            if (form == "direct" or state == "perturbed") and any(f.defined for f in own.values()):
                named = "original" if state == "original" else f"perturbed, {form_words(form)}"
                found[named] = own
    return found


def _has_both(runs: Sequence[ClinicalRun]) -> bool:
    return any(len([form for form in run.forms if form in MULTI_HOP]) > 1 for run in runs)


def _set_order(group: str) -> tuple[bool, int, str, str]:
    form, _, changed = group.partition("|")
    names = changed.split("+")
    beyond = changed not in ("original", "neutral") and not set(names) <= set(PAPER_ATTRIBUTES)
    rank = {"original": 0, "neutral": 1}.get(changed, 1 + len(names))
    return beyond, rank, changed, form


def _beyond(runs: Sequence[ClinicalRun]) -> bool:
    return any(
        _set_order(group)[0]
        for run in runs
        for judge in run.part("judges", "bias_by_set").values()
        for group in as_mapping(judge)
    )


def _run_columns(runs: Sequence[ClinicalRun]) -> list[Column]:
    return [Column("Target")] if len(runs) > 1 else []


def _run_cells(runs: Sequence[ClinicalRun], run: ClinicalRun) -> list[str]:
    return [target_words(runs, run)] if len(runs) > 1 else []


def _row(run: ClinicalRun, judge: str, cells: Sequence[Value]) -> Row:
    return Row(tuple(cells), out_of(run, judge))


def _worthless(run: ClinicalRun) -> str:
    why = objection(run)
    return f"{run.model}: {why}" if why else ""


def _union(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _table(
    title: str,
    columns: Sequence[Column],
    rows: Sequence[Row],
    runs: Sequence[ClinicalRun],
    notes: Sequence[str],
) -> Table:
    marks = dict.fromkeys(f"† {row.objection}." for row in rows if row.objection)
    unfinished = [run.title for run in runs if run.missing]
    missing = [f"Incomplete: {listed(unfinished)}."] if unfinished else []
    undefined = notes_on_undefined(columns, rows)
    return Table(title, tuple(columns), tuple(rows), (*notes, *undefined, *marks, *missing))
