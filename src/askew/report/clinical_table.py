"""The tables of one clinical run: verdicts, interactions, what was asked, what was dropped.

They read figures from `estimates.json` as it is parsed and compute none.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from askew.report.clinical_judge_table import judge_tables
from askew.report.clinical_run import VERDICTS, ClinicalRun, Finding, as_mapping
from askew.report.clinical_words import attribute_words, contrast_words, form_words
from askew.report.estimates import as_number
from askew.report.grid import Column, Kind, Row, Table, Value
from askew.report.words import UNDEFINED, label

LISTED_EXPLORATORY = 40
SIGNIFICANT = 0.05
OUTCOMES = ("answered", "refused", "unreadable", "truncated", "blocked", "error")

EFFECT_COLUMNS = (
    Column("Attribute"),
    Column("Comparison"),
    Column("Endpoint"),
    Column("Verdict"),
    Column("Excess", Kind.SCORE),
    Column("from", Kind.SCORE, "95 %"),
    Column("to", Kind.SCORE, "95 %"),
    Column("In 100", Kind.POINTS),
    Column("Floor", Kind.SCORE),
    Column("Margin", Kind.SCORE),
    Column("p", Kind.P_VALUE),
    Column("p adj.", Kind.P_VALUE),
    Column("Visible", Kind.SCORE),
    Column("n", Kind.COUNT),
)
BRIEF = ("Attribute", "Comparison", "Endpoint", "Verdict", "Excess", "from", "to", "p adj.", "n")


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


def verdict_table(run: ClinicalRun, *, brief: bool = False) -> Table:
    """The declared comparisons, differences first.

    Args:
        run: the figures.
        brief: leave out what a narrow terminal has no room for.
    """
    found = sorted(run.declared(), key=_place)
    columns = [column for column in EFFECT_COLUMNS if not brief or column.name in BRIEF]
    rows = [_row(run, one, columns) for one in found]
    title = f"{run.title}: do the answers move? (declared beforehand)"
    return _table(run, title, columns, rows, _how(found, brief=brief))


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
        row = _row(run, one, EFFECT_COLUMNS)
        rows.append(Row((form_words(one.form), *row.cells), row.objection))
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
        row = _row(run, one, EFFECT_COLUMNS)
        cases = " (ought to matter)" if one.relevant else ""
        rows.append(Row((form_words(one.form), row.cells[0], *row.cells[1:]), row.objection))
        if cases:
            rows[-1] = Row(
                (form_words(one.form), f"{row.cells[0]}{cases}", *row.cells[1:]), row.objection
            )
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
    notes = ["“Same”: the original has that level already, and stands for the twin."]
    notes = notes if "same" in kinds else []
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
    unit = "" if one.endpoint.is_share else f" ({one.endpoint.unit})" if one.endpoint.unit else ""
    cells: dict[str, Value] = {
        "Attribute": attribute_words(one.attribute),
        "Comparison": contrast_words(one),
        "Endpoint": f"{one.endpoint.title}{unit}",
        "Verdict": one.verdict,
        "Excess": one.estimate.value,
        "from": one.estimate.lower,
        "to": one.estimate.upper,
        "In 100": share,
        "Floor": one.floor.value,
        "Margin": one.margin,
        "p": one.p_value,
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


def _how(found: Sequence[Finding], *, brief: bool) -> list[str]:
    if not found:
        return []
    tests = max(one.tests for one in found)
    said = [
        "Excess: changed minus base, above what two answers to one prompt differ by, by vignette. "
        f"p adj.: Holm's correction over {tests} tests.",
    ]
    if not brief:
        said.append(
            "In 100: the excess as patients of a hundred, where it is a share. Floor: the "
            "same-prompt noise. Visible: what four of five such studies would see, before the "
            f"correction; {UNDEFINED} is none of any size."
        )
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
