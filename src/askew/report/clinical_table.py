"""The tables of one clinical run: verdicts, interactions, what was asked, what was dropped.

They read figures from `estimates.json` as it is parsed and compute none.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from askew.report.clinical_judge_table import judge_tables
from askew.report.clinical_run import OUGHT, VERDICTS, ClinicalRun, Finding, as_mapping
from askew.report.clinical_summary import SIGNIFICANT, out_of_reach
from askew.report.clinical_words import attribute_words, contrast_words, form_words
from askew.report.estimates import as_number
from askew.report.grid import Column, Kind, Row, Table, Value
from askew.report.words import UNDEFINED, label

LISTED_EXPLORATORY = 40
OUTCOMES = ("answered", "refused", "unreadable", "truncated", "blocked", "error")

EFFECT_COLUMNS = (
    Column("Comparison"),
    Column("Endpoint"),
    Column("Verdict"),
    Column("Excess", Kind.SCORE),
    Column("From", Kind.SCORE),
    Column("To", Kind.SCORE),
    Column("In 100", Kind.POINTS),
    Column("Floor", Kind.SCORE),
    Column("Margin", Kind.SCORE),
    Column("p adj.", Kind.P_VALUE),
    Column("Visible", Kind.SCORE),
    Column("n", Kind.COUNT),
)


def run_table(estimates: Mapping[str, object], name: str = "") -> list[Table]:
    """Everything about one run, one table a question.

    Args:
        estimates: `estimates.json`, parsed.
        name: the run's, for the titles; the model's name alone stands there if it is left out.
    """
    run = ClinicalRun(name, estimates)
    return [
        verdict_table(run),
        medicine_table(run),
        interaction_table(run),
        exploratory_table(run),
        answer_table(run),
        dropped_table(run),
        fact_table(run),
        *judge_tables(run),
    ]


def brief_table(run: ClinicalRun) -> Table:
    """The declared comparisons in short: one row an attribute and endpoint, its strongest shown."""
    groups: dict[tuple[str, str], list[Finding]] = {}
    for one in run.declared():
        groups.setdefault((one.attribute, one.endpoint.name), []).append(one)
    columns = (
        Column("Strongest comparison"),
        Column("Endpoint"),
        Column("Verdicts"),
        Column("Excess", Kind.SCORE),
        Column("From", Kind.SCORE),
        Column("To", Kind.SCORE),
        Column("p adj.", Kind.P_VALUE),
    )
    rows = []
    for own in sorted(groups.values(), key=lambda own: min(map(_place, own))):
        first = min(own, key=_strength)
        cells: tuple[Value, ...] = (
            comparison_words(first),
            _endpoint_words(first),
            _verdict_counts(own),
            first.estimate.value,
            first.estimate.lower,
            first.estimate.upper,
            first.p_adjusted,
        )
        rows.append(Row(cells, objection(run)))
    title = f"{run.title}: do the answers move with the patient?"
    notes = [
        "One row an attribute and endpoint; strongest: a difference, or else the largest excess "
        f"against its margin. {_how(run.declared())[0]}"
        if rows
        else "No comparison was declared beforehand, or none could be made.",
        *filter(None, [out_of_reach(run)]),
    ]
    return _table(run, title, columns, rows, notes)


def verdict_table(run: ClinicalRun) -> Table:
    """The declared comparisons, differences first."""
    found = sorted(run.declared(), key=_place)
    rows = [_row(run, one, EFFECT_COLUMNS) for one in found]
    title = f"{run.title}: do the answers move? (declared beforehand)"
    notes = [*_how(found), *filter(None, [out_of_reach(run)])]
    return _table(run, title, EFFECT_COLUMNS, rows, notes)


def medicine_table(run: ClinicalRun) -> Table:
    """The same comparisons over the cases in which a difference is medicine."""
    rows = [_row(run, one, EFFECT_COLUMNS) for one in sorted(run.ought_to_matter(), key=_place)]
    notes = [
        "Over the cases in which the attribute ought to matter: a difference here is medicine, and "
        "none may be the fault. These are no part of the verdict."
    ]
    title = f"{run.title}: where an attribute ought to matter"
    return _table(run, title, EFFECT_COLUMNS, rows, notes)


def interaction_table(run: ClinicalRun) -> Table:
    """Whether multi-hop answers move more than direct ones."""
    found = [one for one in run.findings("interactions") if not one.relevant]
    columns = (Column("Multi-hop form"), *EFFECT_COLUMNS)
    order = {"levels": 0, "set": 1, "neutral": 2}
    found.sort(key=lambda one: (order.get(one.kind, 3), _place(one)))
    rows = []
    for one in found:
        cells = _row(run, one, EFFECT_COLUMNS).cells
        rows.append(Row((form_words(one.form), *cells), objection(run)))
    notes = [
        "Excess: what multi-hop answers move by minus what direct ones do, by vignette, on the "
        "same cases. A taller score of a judge is no such difference."
    ]
    return _table(run, f"{run.title}: multi-hop against direct", columns, rows, notes)


def exploratory_table(run: ClinicalRun, most: int = LISTED_EXPLORATORY) -> Table:
    """What was not declared, smallest p first; corrected by Benjamini and Hochberg's method."""
    found = run.exploratory()
    tested = [one for one in found if not math.isnan(one.p_value)]
    columns = (Column("Asked"), *EFFECT_COLUMNS)
    rows = []
    for one in tested[:most]:
        cells = _row(run, one, EFFECT_COLUMNS).cells
        rows.append(Row((form_words(one.form), *cells), objection(run)))
    beyond = sum(one.p_adjusted < SIGNIFICANT for one in tested)
    notes = [
        f"{len(tested):,} tests were run that nobody declared; {beyond:,} have p < {SIGNIFICANT:g} "
        "after Benjamini and Hochberg's correction. They are hints for another study.",
    ]
    if len(tested) > most:
        notes.append(f"Shown: the {most} with the smallest p; estimates.json has all.")
    return _table(run, f"{run.title}: exploratory", columns, rows, notes)


def answer_table(run: ClinicalRun) -> Table:
    """What the replies came to, by the form in which they were asked for."""
    by_form = run.part("answers", "by_form")
    seen = dict.fromkeys(
        (*OUTCOMES, *(name for counts in by_form.values() for name in as_mapping(counts)))
    )
    columns = (Column("Asked"), *(Column(label(name), Kind.COUNT) for name in seen))
    rows = []
    for form, counts in by_form.items():
        numbers = [as_number(as_mapping(counts).get(name, 0)) for name in seen]
        rows.append(Row((form_words(form), *numbers)))
    wanted, had = run.count("answers", "wanted"), run.count("answers", "had")
    notes = [f"{had:,} of {wanted:,} answers were had."] if wanted and had is not None else []
    return _table(run, f"{run.title}: what the replies came to", columns, rows, notes)


def dropped_table(run: ClinicalRun) -> Table:
    """Twins that were not asked about, by kind."""
    columns = (Column("Not asked about"), Column("Twins", Kind.COUNT))
    kinds = run.part("study", "dropped")
    rows = [
        Row((_DROPPED.get(kind, label(kind)), as_number(count))) for kind, count in kinds.items()
    ]
    same = ["“Same”: the original has that level already, and stands for the twin."]
    notes = same if "same" in kinds else []
    return _table(run, f"{run.title}: twins that were dropped", columns, rows, notes)


def fact_table(run: ClinicalRun) -> Table:
    """Facts by relation, as the run's rule set found them."""
    columns = (Column("Relation"), Column("Facts", Kind.COUNT))
    relations = run.part("study", "relations")
    rows = [Row((label(name), as_number(count))) for name, count in relations.items()]
    rules = run.setting("rules")
    notes = [f"Rule set: {rules}. A count says nothing without precision."] if rules else []
    return _table(run, f"{run.title}: facts that were found", columns, rows, notes)


_DROPPED = {
    "impossible": "Impossible",
    "odd": "Odd to a clinician",
    "not_expressible": "Cannot be put into this text",
    "facts_changed": "Other facts would have changed",
    "same": "Same as the original",
    "unreadable": "Made by a model, and not readable",
}


def _row(run: ClinicalRun, one: Finding, columns: Sequence[Column]) -> Row:
    share = one.estimate.value if one.endpoint.is_share else None
    cells: dict[str, Value] = {
        "Comparison": comparison_words(one),
        "Endpoint": _endpoint_words(one),
        "Verdict": one.verdict,
        "Excess": one.estimate.value,
        "From": one.estimate.lower,
        "To": one.estimate.upper,
        "In 100": share,
        "Floor": one.floor.value,
        "Margin": one.margin,
        "p adj.": one.p_adjusted,
        "Visible": one.smallest_visible,
        "n": one.vignettes,
    }
    return Row(tuple(cells[column.name] for column in columns), objection(run))


def objection(run: ClinicalRun) -> str:
    """Why the figures of a run mean little; "" where nothing speaks against them."""
    if run.meaningful is not False:
        return ""
    return run.reason.rstrip(".") or "the file does not say why"


def _place(one: Finding) -> tuple[int, bool]:
    verdict = VERDICTS.index(one.verdict) if one.verdict in VERDICTS else len(VERDICTS)
    return verdict, one.beside


def comparison_words(one: Finding) -> str:
    """Who is compared with whom in what: "Gender: female against male"."""
    cases = OUGHT if one.relevant else ""
    return f"{attribute_words(one.attribute)}{cases}: {contrast_words(one)}"


def _endpoint_words(one: Finding) -> str:
    """The endpoint, with its unit where that is no share of answers."""
    title, unit = one.endpoint.title, one.endpoint.unit
    return title if unit.startswith("share") or not unit else f"{title} ({unit})"


def _strength(one: Finding) -> tuple[int, float]:
    relative = abs(one.estimate.value) / one.margin if one.margin > 0 else 0.0
    return _place(one)[0], -relative if relative >= 0 else 0.0


def _verdict_counts(found: Sequence[Finding]) -> str:
    """How many comparisons have which verdict, in few words: "1 differs, 2 open"."""
    counts = {verdict: sum(one.verdict == verdict for one in found) for verdict in VERDICTS}
    differ, equal, open_ = counts.values()
    parts = [
        f"{differ} {'differs' if differ == 1 else 'differ'}" if differ else "",
        f"{equal} equivalent" if equal else "",
        f"{open_} cannot tell" if open_ else "",
    ]
    return ", ".join(part for part in parts if part)


def _how(found: Sequence[Finding]) -> list[str]:
    if not found:
        return []
    tests = max(one.tests for one in found)
    said = [
        "Excess: changed minus base, above what two answers to one prompt differ by, by vignette, "
        f"with its 95 % interval, of itself alone. p adj.: after Holm's correction over {tests} "
        "tests; the verdict goes by it.",
        "In 100: the excess as patients of a hundred, where it is a share. Floor: the same-prompt "
        "noise. Visible: what four of five such studies would see, before the correction; "
        f"{UNDEFINED} is none of any size.",
    ]
    if any(one.beside for one in found):
        said.append("Attributes beyond age, gender and place stand beside the paper's, not in it.")
    return said


def _table(
    run: ClinicalRun,
    title: str,
    columns: Sequence[Column],
    rows: Sequence[Row],
    notes: Sequence[str],
) -> Table:
    why = objection(run)
    marked = any(row.objection for row in rows)
    meaning = [f"† {run.model}: {why}. Differences of such answers mean little."] if marked else []
    missing = []
    if run.missing:
        wanted = run.count("answers", "wanted") or 0
        missing = [f"The run is incomplete: {run.missing:,} of {wanted:,} answers are missing."]
    return Table(title, tuple(columns), tuple(rows), (*notes, *meaning, *missing))
