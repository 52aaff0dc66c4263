"""The judges of a clinical run as tables: first what they are worth, then what they said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from askew.records import Estimate
from askew.report.clinical_run import DIMENSIONS, ClinicalRun, as_mapping, read_figure
from askew.report.estimates import as_number
from askew.report.grid import Column, Kind, Row, Table, Value, notes_on_undefined
from askew.report.words import label

CARD_COLUMNS = (
    Column("Check"),
    Column("A good judge"),
    Column("Share", Kind.PERCENT),
    Column("Number", Kind.DIGITS),
    Column("n", Kind.COUNT),
)
_KINDS = {
    "difference": "blind difference",
    "pairwise": "which of two is more biased",
    "justified": "do guidelines have it so",
    "bias": "bias score",
    "quality": "quality score",
    "consistency": "consistency of hops",
}
_PLACEBOS = {
    "identical": "two identical answers",
    "harmless": "two answers that differ in a harmless word",
    "same_prompt": "two answers to the same prompt",
    "repeat": "the same answer scored twice",
}
_CALLS = {"less": "less in the twin", "more": "more in the twin", "changed": "changed at all"}
_CHOICES = {
    "A": "the multi-hop answer (A)",
    "B": "the direct answer (B)",
    "tie": "neither",
}


def judge_tables(run: ClinicalRun) -> list[Table]:
    """Every judge's card, then the rates that they called and their pairwise result."""
    cards = [card_table(run, judge) for judge in run.judges if run.judge_card(judge)]
    if not cards:
        return []
    others = (agreement_table(run), rate_table(run), pairwise_table(run))
    return [*cards, *(table for table in others if table.rows)]


def card_table(run: ClinicalRun, judge: str) -> Table:
    """What one judge is worth, from the controls of the run."""
    card = run.judge_card(judge)
    rows = [
        Row((check, ideal, share, number, (share or number or _NOTHING).n))
        for check, ideal, share, number in _checks(card)
    ]
    counts = as_mapping(card.get("counts"))
    notes = [_counted(counts)] if counts else []
    faults = {name: as_number(n) for name, n in as_mapping(counts.get("faults")).items()}
    if faults:
        said = ", ".join(f"{name.replace('_', ' ')} {n:,.0f}" for name, n in faults.items())
        notes.append(f"What was wrong with replies: {said}. None of them moved a score.")
    notes += run.warnings_of(judge)
    notes += notes_on_undefined(CARD_COLUMNS, rows)
    out = " (out)" if run.is_out(judge) else ""
    return Table(f"Judge card: {judge}{out}", CARD_COLUMNS, tuple(rows), tuple(notes))


def agreement_table(run: ClinicalRun) -> Table:
    """How far several judges agree."""
    columns = (Column("What"), Column("Between"), Column("Agreement", Kind.DIGITS))
    between = run.part("judges", "card", "between")
    rows = [
        Row((_of_kind(name), "all judges (Krippendorff’s alpha)", read_figure(as_mapping(found))))
        for name, found in as_mapping(between.get("alpha")).items()
    ]
    rows += [
        Row(
            (
                _of_kind("difference"),
                f"{pair.replace('|', ' and ')} (weighted kappa)",
                read_figure(as_mapping(found)),
            )
        )
        for pair, found in as_mapping(between.get("weighted_kappa")).items()
    ]
    notes = ["1 is full agreement, 0 what chance gives.", *notes_on_undefined(columns, rows)]
    return Table(f"{run.title}: agreement of the judges", columns, tuple(rows), tuple(notes))


def rate_table(run: ClinicalRun) -> Table:
    """How often a blind judge calls twins different, and the same corrected for its errors."""
    columns = (
        Column("Judge"),
        Column("Aspect"),
        Column("Called"),
        Column("Pairs"),
        Column("As called", Kind.PERCENT),
        Column("Corrected", Kind.PERCENT),
        Column("n", Kind.COUNT),
    )
    rows = []
    for judge in run.judges:
        for aspect, calls in as_mapping(run.judge_card(judge).get("rates")).items():
            for call, groups in as_mapping(calls).items():
                for name, found in _groups(as_mapping(groups)):
                    called = read_figure(as_mapping(found.get("called")))
                    corrected = read_figure(as_mapping(found.get("corrected")))
                    cells: tuple[Value, ...] = (
                        judge,
                        label(aspect),
                        _CALLS.get(call, call),
                        name,
                        called,
                        corrected,
                        called.n,
                    )
                    rows.append(Row(cells, out_of(run, judge)))
    notes = [
        "The judge sees both answers without any word on the patient. Corrected: for its false "
        "calls on placebo pairs and its misses of planted edits (Rogan and Gladen).",
        *out_notes(run),
        *notes_on_undefined(columns, [row for row in rows if not row.objection]),
    ]
    return Table(f"{run.title}: what blind judges called", columns, tuple(rows), tuple(notes))


def pairwise_table(run: ClinicalRun) -> Table:
    """Figure 7: which answer is named as the more biased one, in both orders."""
    columns = (Column("Judge"), Column("Named as more biased"), Column("Share", Kind.PERCENT))
    rows = [
        Row((judge, _CHOICES.get(choice, choice), figure), out_of(run, judge))
        for judge in run.judges
        for choice, figure in _figures(run.judge_card(judge), "pairwise")
    ]
    notes = [
        "Every pair is shown in both orders; flips of the order stand in the card.",
        *out_notes(run),
        *notes_on_undefined(columns, [row for row in rows if not row.objection]),
    ]
    title = f"{run.title}: multi-hop or direct, which is more biased (Figure 7)"
    return Table(title, columns, tuple(rows), tuple(notes))


def out_of(run: ClinicalRun, judge: str) -> str:
    """Why a judge's figures are not to be used; "" where they are."""
    if not run.is_out(judge):
        return ""
    invalid = read_figure(as_mapping(run.judge_card(judge).get("invalid")))
    return f"{judge} is out: {invalid.value:.1%} of its replies cannot be read"


def out_notes(run: ClinicalRun) -> list[str]:
    """One note for each judge that is out."""
    return [f"† {why}." for judge in run.judges if (why := out_of(run, judge))]


_NOTHING = read_figure({})


def _checks(
    card: Mapping[str, object],
) -> Iterator[tuple[str, str, Estimate | None, Estimate | None]]:
    """(check, what a good judge has, a share, a number): one of the last two."""
    if "invalid" in card:
        yield "Replies that cannot be read", "none; out above 5 %", _figure(card, "invalid"), None
    for name, found in _figures(card, "order_flips"):
        yield f"Verdict flips with the order: {_of_kind(name)}", "0 %", found, None
    for name, found in _figures(card, "placebo"):
        kind, _, control = name.partition("/")
        what = f"Placebo, {_PLACEBOS.get(control, control)}: {_of_kind(kind)}"
        chance = control == "same_prompt"
        ideal = "the noise of the model" if chance else "0 %"
        yield what, ideal, found, None
    for name, found in _figures(card, "planted"):
        kind, _, edit = name.partition("/")
        yield f"Planted bias found, {label(edit).lower()}: {_of_kind(kind)}", "100 %", found, None
    for name, found in _figures(card, "label_effect"):
        what = f"Score moves with the stated patient alone: {name}"
        yield what, "0", None, found
    for name, found in _figures(card, "specificity"):
        what = f"Changes known to be {label(name).lower()}, called so"
        yield what, "100 %", found, None
    for name, found in _figures(card, "repeats"):
        yield f"Repeats agree (alpha): {_of_kind(name)}", "1", None, found


def _groups(found: Mapping[str, object]) -> Iterator[tuple[str, Mapping[str, object]]]:
    names = {
        "overall": "twin and original",
        "same_prompt": "same prompt (noise)",
        "relevant": "where it ought to differ",
    }
    for name, title in names.items():
        if isinstance(found.get(name), Mapping):
            yield title, as_mapping(found[name])


def _figure(card: Mapping[str, object], name: str) -> Estimate:
    return read_figure(as_mapping(card.get(name)))


def _figures(card: Mapping[str, object], name: str) -> Sequence[tuple[str, Estimate]]:
    """The figures of one part of the card; dimensions in the order of the paper's tables."""
    order = {dimension: place for place, dimension in enumerate(DIMENSIONS)}
    found = [
        (key, read_figure(as_mapping(figure))) for key, figure in as_mapping(card.get(name)).items()
    ]
    return sorted(found, key=lambda one: order.get(one[0].rpartition("/")[2], -1))


def _of_kind(name: str) -> str:
    kind, _, key = name.partition("/")
    shown = _KINDS.get(kind, label(kind).lower())
    return f"{shown}, {key.replace('_', ' ')}" if key else shown


def _counted(counts: Mapping[str, object]) -> str:
    numbers = {name: as_number(counts.get(name)) for name in ("questions", "replies", "read")}
    return (
        f"{numbers['questions']:,.0f} questions, {numbers['replies']:,.0f} replies with re-asks, "
        f"{numbers['read']:,.0f} questions with a verdict."
    )
