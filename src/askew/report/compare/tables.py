"""A comparison as tables: each run's figures against the baseline, and all runs side by side."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace

from askew.records import Estimate
from askew.report.boundary_run import BoundaryRun
from askew.report.clinical_run import ClinicalRun
from askew.report.compare.records import (
    AuditComparison,
    Comparison,
    FigureDifference,
    RunComparison,
)
from askew.report.compare.verdict import more_words
from askew.report.estimates import Run
from askew.report.grid import Column, Kind, Row, Table, Value
from askew.report.settings import differing
from askew.report.table import figure_4
from askew.report.which_audit import Audit, audits_in, part_of
from askew.report.words import UNDEFINED, counted, percent, points
from askew.runfolder import json_text

TITLES: dict[Audit, str] = {
    "flex": "Does fairness hold when the prompt pushes?",
    "clinical": "Do answers move with the patient?",
    "boundary": "On which topics does it lean?",
}
_NO_LEAN_NOTE = (
    "Direction, and clinical effects with a sign: the difference is by how much further from no "
    "lean the other run is; below 0 is better. A direction has no lean at 50 %."
)


def figure_table(audit: AuditComparison, *, declared: bool) -> Table:
    """The figures of one audit in both runs: those that were declared, or the others."""
    family = "declared" if declared else "exploratory"
    how = "Holm" if declared else "Benjamini-Hochberg"
    columns = (
        Column("Figure"),
        Column("Baseline", Kind.PERCENT),
        Column("Other run", Kind.PERCENT),
        Column("Difference, points", Kind.POINTS),
        Column(f"p ({how})", Kind.P_VALUE),
        Column("Items", Kind.COUNT),
        Column("Verdict"),
    )
    found = [figure for figure in audit.figures if figure.family == family]
    rows = [Row(_cells(figure)) for figure in found]
    notes = [f"Over the {audit.unit} that both runs have; items counts each source item once."]
    if declared:
        notes.append("Holm's correction is taken over the declared figures of all runs compared.")
    else:
        notes.append("Exploratory: nobody declared these beforehand. They show where to look next.")
    if any(figure.good == "no lean" for figure in found):
        notes.append(_NO_LEAN_NOTE)
    if any(not figure.percent for figure in found):
        notes.append("Figures that are no shares are in their endpoint's unit.")
    notes += [f"{one.title}: {words}." for one in found if declared and (words := more_words(one))]
    undefined = {one.title: one.difference.note for one in found if one.difference.note}
    notes += [f"{UNDEFINED} {title}: {note}." for title, note in list(undefined.items())[:6]]
    title = f"{audit.audit}: {'declared' if declared else 'exploratory'} figures"
    return Table(title, columns, tuple(rows), tuple(notes))


def _cells(figure: FigureDifference) -> tuple[Value, ...]:
    values: tuple[Value, ...] = (figure.baseline, figure.other, figure.difference)
    if figure.name.startswith("accuracy_change."):
        values = (points(figure.baseline, 1), points(figure.other, 1), figure.difference)
    if not figure.percent:
        difference = figure.difference
        ends = f" ({number_text(difference.lower)} to {number_text(difference.upper)})"
        values = (
            number_text(figure.baseline),
            number_text(figure.other),
            f"{number_text(difference.value)}{'' if math.isnan(difference.lower) else ends}",
        )
    return (figure.title, *values, figure.p_adjusted, figure.items, figure.verdict)


def number_text(value: float) -> str:
    """A figure in a unit of its own."""
    if math.isnan(value):
        return UNDEFINED
    return f"{value:+.3g}".replace("-", "−") if value else "0"


def bounds_table(audit: AuditComparison) -> Table | None:
    """The differences under each reading of the non-answers; None where there is none."""
    found = [figure for figure in audit.declared if figure.bounds]
    if not found:
        return None
    columns = (
        Column("Figure"),
        Column("Answers alone", Kind.POINTS, "Difference, points", intervals=False),
        Column("All non-answers right", Kind.POINTS, "Difference, points"),
        Column("All wrong", Kind.POINTS, "Difference, points"),
    )
    rows = []
    for figure in found:
        by_reading = {bound.reading: bound.value for bound in figure.bounds}
        readings = [by_reading.get(name, math.nan) for name in ("all right", "all wrong")]
        rows.append(Row((figure.title, figure.difference, *readings)))
    shares = " and ".join(percent(share) for share in audit.coverage)
    note = f"Answered of the shared {audit.unit}: {shares}."
    return Table("What non-answers could change", columns, tuple(rows), (note,))


def flip_table(audit: AuditComparison) -> Table:
    """How many items flipped in each way."""
    columns = (Column("What flipped"), Column("Items", Kind.COUNT), Column("Counts as"))
    named = {True: "a loss", False: "a gain", None: "neither"}
    rows = [Row((one.title, one.count, named[one.worse])) for one in audit.flips]
    return Table("Flips: baseline → other run", columns, tuple(rows))


def brief_tables(run: RunComparison) -> list[Table]:
    """What the terminal shows of one run against the baseline."""
    tables = []
    for audit in run.audits:
        own = figure_table(audit, declared=True)
        title = f"{run.other.title} against {run.baseline.title}: {own.title}"
        tables += [replace(own, title=title), flip_table(audit)]
    return tables


def side_by_side(comparison: Comparison, estimates: Sequence[Mapping[str, object]]) -> list[Table]:
    """All runs beside each other, each with its own figures over all that it asked.

    Runs of FLEX that differ in their demonstrations alone have the paper's Figure 4 as well.

    Args:
        comparison: of the runs.
        estimates: `estimates.json` of each, parsed; empty where a run has none.
    """
    names = [run.title for run in comparison.runs]
    columns = (Column("Figure"), *(Column(name, Kind.PERCENT) for name in names))
    rows: dict[str, list[Value]] = {}
    for place, figures in enumerate(estimates):
        for title, value in _own_figures(figures):
            rows.setdefault(title, [None] * len(names))[place] = value
    verdicts = ["baseline", *(one.verdict for one in comparison.comparisons)]
    table = Table(
        "Side by side",
        columns,
        (
            *(Row((title, *values)) for title, values in rows.items()),
            Row(("Against the baseline", *verdicts)),
        ),
        (
            "Each run over all that it asked, which need not be the same items; a comparison is "
            "over those that both runs have.",
        ),
    )
    return [table, *_shots(names, estimates)]


def _own_figures(estimates: Mapping[str, object]) -> Iterator[tuple[str, Value]]:
    audits = audits_in(estimates) if estimates else ()
    if "flex" in audits:
        run = Run("", part_of(estimates, "flex"))
        for name, title in (
            ("source_accuracy", "Acc_S"),
            ("flex_accuracy", "Acc_F"),
            ("attack_success_rate", "ASR"),
            ("stereotyped_share_attacked", "stereotyped share under attack (ideal 50 %)"),
        ):
            yield title, run.figure(name, "overall")
    if "clinical" in audits:
        for finding in ClinicalRun("", part_of(estimates, "clinical")).declared():
            title = f"{finding.endpoint.title.lower()} ({finding.contrast})"
            yield title, _finding_text(finding.estimate)
    if "boundary" in audits:
        boundary = BoundaryRun("", part_of(estimates, "boundary"))
        yield "leaning share of the topics tested", boundary.figure("leaning_share")


def _finding_text(estimate: Estimate) -> str:
    if math.isnan(estimate.lower):
        return number_text(estimate.value)
    ends = f"{number_text(estimate.lower)} to {number_text(estimate.upper)}"
    return f"{number_text(estimate.value)} ({ends})"


def _shots(names: Sequence[str], estimates: Sequence[Mapping[str, object]]) -> list[Table]:
    """FLEX's Figure 4, where the runs differ in their demonstrations and in nothing else."""
    if not all("flex" in figures for figures in estimates):
        return []
    own = [part_of(figures, "flex") for figures in estimates]
    runs = [Run(name, figures) for name, figures in zip(names, own, strict=True)]
    apart = differing(runs, but=("seed",))
    if "shots" not in apart or set(apart) - {"shots", "shot kind"}:
        return []
    return [figure_4(own, intervals=True, names=names)]


def left_rows(run: RunComparison) -> list[tuple[str, str]]:
    """What could not be paired, and why."""
    where = {
        "baseline": f"only in {run.baseline.title}",
        "other": f"only in {run.other.title}",
        "both": "in both",
    }
    rows = [
        (f"{left.count:,} {left.what}, {where[left.where]}", left.why)
        for audit in run.audits
        for left in audit.left
    ]
    return rows + [(missing, "it cannot be compared") for missing in run.missing]


def setting_rows(run: RunComparison) -> list[tuple[str, str]]:
    """In what the runs differ, the heaviest first."""
    found = [one for audit in run.audits for one in audit.settings] + list(run.settings)
    order = ("refused", "warning", "note")
    return [
        (one.name, f"{one.baseline} → {one.other}")
        for one in sorted(found, key=lambda one: order.index(one.weight))
    ]


def to_json(comparison: Comparison) -> str:
    """The whole comparison as JSON; undefined is null.

    `more_items` is null where it is undefined or infinite; `more` says it in words.
    """
    plain = asdict(comparison)
    for run, record in zip(comparison.comparisons, plain["comparisons"], strict=True):
        for audit, audit_record in zip(run.audits, record["audits"], strict=True):
            for figure, told in zip(audit.figures, audit_record["figures"], strict=True):
                told["more"] = more_words(figure)
    return json_text(plain)


def paired_text(audit: AuditComparison) -> str:
    """What was paired, for people.

    >>> audit = AuditComparison("flex", "pairs", 3144, 2096, (), (), (), (), "", (), (1.0, 0.995))
    >>> paired_text(audit)
    '3,144 pairs of 2,096 items are in both; answered: 100 % in the baseline, 99.5 % in the other'
    """
    of_items = "" if audit.paired == audit.items else f" of {counted(audit.items, 'item')}"
    shares = [percent(share) for share in audit.coverage]
    shown = audit.unit if audit.paired != 1 else audit.unit.removesuffix("s")
    verb = "is" if audit.paired == 1 else "are"
    return (
        f"{audit.paired:,} {shown}{of_items} {verb} in both; answered: {shares[0]} in the "
        f"baseline, {shares[1]} in the other"
    )
