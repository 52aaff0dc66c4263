"""The clinical part of a report: what its template needs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from askew.report import clinical_paper_tables as paper
from askew.report import clinical_table as tables
from askew.report.clinical_evidence import Moved, Side
from askew.report.clinical_figure import SHADES, forest, radar
from askew.report.clinical_judge_table import (
    agreement_table,
    card_table,
    out_of,
    pairwise_table,
    rate_table,
)
from askew.report.clinical_method import role_rows, setting_rows
from askew.report.clinical_run import CANNOT_TELL, VERDICTS, ClinicalRun, Finding, as_mapping
from askew.report.clinical_summary import (
    by_verdict,
    findings,
    interaction_words,
    sentence,
    warnings,
)
from askew.report.clinical_words import (
    amount,
    attribute_words,
    contrast_words,
    in_patients,
    interval,
    size,
)
from askew.report.estimates import as_number
from askew.report.figure import Picture
from askew.report.grid import Column, Kind, Row, Table, cell_digits
from askew.report.html_page import html_bytes
from askew.report.links import cases_link
from askew.report.section_rows import untitled
from askew.report.words import UNDEFINED, counted, label, p_value, percent, percent_range
from askew.runfolder import RunFolder
from askew.vignettes import Facts

EXAMPLES = 6  # cases that stand on the page itself; the others are the explorer's
EVIDENCE_BYTES = 400_000
LISTED_DROPPED = 300
LISTED_ROWS = 150  # comparisons in one table; estimates.json has all
DRAWN_ROWS = 600  # in all pictures together
LONGEST_REASON = 300  # characters


@dataclass(frozen=True, slots=True)
class VerdictRow:
    """One comparison as the page tells it."""

    endpoint: str
    comparison: str
    verdict: str
    shade: str
    excess: str
    interval: str
    patients: str
    floor: str
    margin: str
    p_value: str
    visible: str
    vignettes: str
    link: str  # to its cases
    number: list[tuple[str, str]]  # the excess and its interval, with all digits


@dataclass(frozen=True, slots=True)
class VerdictTable:
    """Comparisons, attribute by attribute: (name, whether beside the paper's, rows)."""

    groups: tuple[tuple[str, bool, tuple[VerdictRow, ...]], ...]
    more: int  # that the page has no room for


@dataclass(frozen=True, slots=True)
class Judged:
    """One judge: its card, and why its figures are not to be used, if they are not."""

    name: str
    card: Table
    out: str
    pictures: tuple[Picture, ...]


def clinical_section(
    run: ClinicalRun,
    moved: Sequence[Moved] = (),
    facts: Mapping[str, tuple[int, int]] | None = None,
) -> Mapping[str, object]:
    """What `clinical_section.html.j2` shows of a run.

    Args:
        run: the figures.
        moved: the cases that moved most; those that do not fit are left out.
        facts: relation -> (facts without the filter, with it); None where they are not at hand.
    """
    declared = run.declared()
    judged = [_judged(run, judge, place) for place, judge in enumerate(run.judges)]
    return {
        "run": run,
        "sentence": sentence(run.estimates, run.name),
        "worth": _worth(run),
        "warnings": warnings(run.estimates),
        "headlines": _headlines(run),
        "findings": findings(run.estimates),
        "declared": len(declared),
        "forests": _forests(declared),
        "settled": _grouped([one for one in declared if one.verdict != CANNOT_TELL]),
        "unsettled": _grouped([one for one in declared if one.verdict == CANNOT_TELL]),
        "cannot_tell": sum(one.verdict == CANNOT_TELL for one in declared),
        "medicine": _grouped(run.ought_to_matter()),
        "interactions": _grouped(_interactions(run)),
        "interaction_words": interaction_words(run),
        "exploratory": untitled(run.title, tables.exploratory_table(run)),
        "means": _means_table(run),
        "moved": _fitting(moved),
        "answers": untitled(run.title, tables.answer_table(run)),
        "dropped": untitled(run.title, tables.dropped_table(run)),
        "dropped_list": _dropped_list(run),
        "dropped_more": max(0, _dropped_count(run) - LISTED_DROPPED),
        "facts": _facts_table(run, facts),
        "judged": judged,
        "scores": _score_tables(run),
        "rates": [
            untitled(run.title, table)
            for table in (agreement_table(run), rate_table(run), pairwise_table(run))
            if table.rows
        ],
        "reference": _reference_tables(run),
        "calls": role_rows(run),
        "stages": [(label(name), f"{as_number(n):,.0f}") for name, n in _stages(run)],
        "problems": setting_rows(run.part("problems")),
    }


def fact_counts(folder: RunFolder) -> dict[str, tuple[int, int]] | None:
    """Relation -> facts without the filter of Eq. (1), and with it; None without any facts."""
    found = folder.read_parts("facts", Facts)
    if not found:
        return None
    kept = [one.relation.value for facts in found for one in facts.triplets]
    left = [one.relation.value for facts in found for one in facts.left_out]
    return {
        name: (kept.count(name) + left.count(name), kept.count(name))
        for name in dict.fromkeys([*kept, *left])
    }


def _worth(run: ClinicalRun) -> dict[str, str]:
    """What the answers are worth: a badge and a line."""
    words = {True: "better than chance", False: "not worth comparing", None: "worth not known"}
    shades = {True: "yes", False: "no", None: "open"}
    read = run.figure("worth", "read")
    said = ""
    if read.defined:
        said = (
            f"{percent(read.value)} of {counted(read.n, 'answer')} could be read, 95 % interval "
            f"{percent_range(read.lower, read.upper)}. "
        )
    reason = run.reason[:1].upper() + run.reason[1:]
    return {"badge": words[run.meaningful], "shade": shades[run.meaningful], "said": said + reason}


def _headlines(run: ClinicalRun) -> list[dict[str, str]]:
    groups = by_verdict(run.declared())
    counts = [len(groups.get(verdict, [])) for verdict in VERDICTS]
    texts, arms = run.count("study", "variants"), run.part("study", "arms")
    wanted, had = run.count("answers", "wanted"), run.count("answers", "had")
    repeats = as_number(run.setting("replicates"))
    each = (
        ""
        if math.isnan(repeats)
        else f"{len(run.forms)} × {repeats:.0f}: {counted(len(run.forms), 'form')}, "
        f"{counted(int(repeats), 'repeat')}"
    )
    return [
        {"name": "Vignettes", "value": _shown(run.count("study", "vignettes")), "said": run.data},
        {
            "name": "Texts asked about",
            "value": _shown(texts),
            "said": f"in {counted(len(arms), 'arm')}, the original among them",
        },
        {
            "name": "Answers",
            "value": _shown(had),
            "said": each if had == wanted else f"of {_shown(wanted)}: INCOMPLETE. {each}",
        },
        {
            "name": "Declared comparisons",
            "value": str(sum(counts)),
            "said": f"{counts[0]} {'differs' if counts[0] == 1 else 'differ'}, "
            f"{counts[1]} equivalent, {counts[2]} cannot tell",
        },
    ]


def _shown(number: int | None) -> str:
    return UNDEFINED if number is None else f"{number:,}"


def _forests(found: Sequence[Finding]) -> list[Picture]:
    """One picture an endpoint; the paper's attributes first, race and others below them."""
    pictures = []
    names, places = dict.fromkeys(one.endpoint.name for one in found), _places(found)
    for number, name in enumerate(names):
        own = [one for one in found if one.endpoint.name == name]
        own.sort(key=lambda one: (one.beside, places[one.attribute]))
        drawn = own[: DRAWN_ROWS // len(names)]
        endpoint = own[0].endpoint
        unit = "percentage points" if endpoint.unit.startswith("share") else endpoint.unit
        title = f"{endpoint.title}: difference in {unit}" if unit else endpoint.title
        cut = f" (the first {len(drawn)} of {len(own)})" if len(drawn) < len(own) else ""
        svg = forest(f"forest-{number}", title, endpoint, drawn, cases_link)
        pictures.append(Picture(f"{title}{cut}", svg, f"clinical-forest-{number}"))
    return pictures


def _places(found: Sequence[Finding]) -> dict[str, int]:
    """Attribute -> its place in the order in which they first come."""
    return {name: at for at, name in enumerate(dict.fromkeys(one.attribute for one in found))}


def _grouped(found: Sequence[Finding]) -> VerdictTable:
    """Attribute by attribute, differences first."""
    places = _places(found)
    ordered = sorted(found, key=lambda one: (one.beside, places[one.attribute], _rank(one)))
    groups = groupby(ordered[:LISTED_ROWS], lambda one: (one.attribute, one.beside))
    return VerdictTable(
        tuple(
            (attribute_words(attribute), beside, tuple(_verdict_row(one) for one in rows))
            for (attribute, beside), rows in groups
        ),
        max(0, len(found) - LISTED_ROWS),
    )


def _rank(one: Finding) -> int:
    return VERDICTS.index(one.verdict) if one.verdict in VERDICTS else len(VERDICTS)


def _verdict_row(one: Finding) -> VerdictRow:
    endpoint = one.endpoint
    lacking = f" of {one.vignettes + one.left_out}" if one.left_out else ""
    return VerdictRow(
        endpoint=endpoint.title,
        comparison=contrast_words(one),
        verdict=one.verdict,
        shade=SHADES.get(one.verdict, "open"),
        excess=amount(one.estimate.value, endpoint),
        interval=interval(one.estimate, endpoint) or one.estimate.note,
        patients=in_patients(one),
        floor=size(one.floor.value, endpoint),
        margin=size(one.margin, endpoint),
        p_value=p_value(one.p_adjusted),
        visible=size(one.smallest_visible, endpoint),
        vignettes=f"{one.vignettes}{lacking}",
        link="" if one.relevant else cases_link(one),
        number=cell_digits(one.estimate),
    )


def _interactions(run: ClinicalRun) -> list[Finding]:
    """Multi-hop against direct, over the cases in which the attribute is not known to matter."""
    return [
        one
        for one in run.findings("interactions")
        if one.kind == "levels" and not one.relevant and one.form == run.multi_hop
    ]


def _means_table(run: ClinicalRun) -> Table:
    """What was seen, arm by arm, before any comparison; for the endpoints of one answer."""
    form = run.forms[0] if run.forms else ""
    names = [name for name in run.primary if run.endpoint(name).kind != "distance"]
    columns = (
        Column("Arm"),
        *(Column(_with_unit(run, name), Kind.DIGITS) for name in names),
    )
    rows = [
        Row((arm, *(as_number(as_mapping(found).get(name)) for name in names)))
        for arm, found in list(run.part("means", form).items())[:LISTED_ROWS]
    ]
    notes = ("Arms rest on different vignettes where twins were dropped: do not subtract them.",)
    return Table("Means by arm, before any comparison", columns, tuple(rows), notes)


def _with_unit(run: ClinicalRun, name: str) -> str:
    endpoint = run.endpoint(name)
    return f"{endpoint.title} ({endpoint.unit})" if endpoint.unit else endpoint.title


def _dropped_count(run: ClinicalRun) -> int:
    listed = run.part("study").get("dropped_list")
    return len(listed) if isinstance(listed, list) else 0


def _dropped_list(run: ClinicalRun) -> list[dict[str, str]]:
    listed = run.part("study").get("dropped_list")
    records = listed[:LISTED_DROPPED] if isinstance(listed, list) else []
    return [
        {
            name: str(as_mapping(record).get(name) or "")[:LONGEST_REASON]
            for name in ("vignette", "arm", "kind", "reason")
        }
        for record in records
    ]


def _facts_table(run: ClinicalRun, facts: Mapping[str, tuple[int, int]] | None) -> Table:
    """Facts by relation, with and without the filter (Table 5)."""
    if facts is None:
        return tables.fact_table(run)
    columns = (
        Column("Relation"),
        Column("Without filtering", Kind.COUNT),
        Column("With filtering", Kind.COUNT),
    )
    rows = [Row((label(name), before, kept)) for name, (before, kept) in facts.items()]
    if rows:
        sums = [sum(pair[place] for pair in facts.values()) for place in (0, 1)]
        rows.append(Row(("All relations", *sums)))
    notes = (
        "Filtering keeps the facts whose score R(e) is above the threshold (Eq. 1; Table 5 counts "
        "the same). A count says nothing without precision.",
    )
    return Table("Facts that were found, by relation", columns, tuple(rows), notes)


def _judged(run: ClinicalRun, judge: str, place: int) -> Judged:
    lines = paper.configurations(run, judge)
    pictures = []
    if lines:
        title = f"{judge}: mean bias score on five dimensions, 0 to 1"
        svg = radar(f"radar-{place}", title, lines)
        pictures.append(Picture(title, svg, f"clinical-radar-{place}"))
    return Judged(judge, card_table(run, judge), out_of(run, judge), tuple(pictures))


def _score_tables(run: ClinicalRun) -> list[Table]:
    figures, names = [run.estimates], [run.name]
    made = [
        paper.table_1(figures, intervals=True, names=names),
        *paper.table_3(figures, intervals=True, names=names),
        paper.figure_5(figures, intervals=True, names=names),
    ]
    return [_without_target(table) for table in made if table.rows]


def _reference_tables(run: ClinicalRun) -> list[Table]:
    figures, names = [run.estimates], [run.name]
    made = [
        paper.table_2(figures, intervals=True, names=names),
        paper.reference_table(figures, intervals=True, names=names),
        paper.table_6(figures, intervals=True, names=names),
    ]
    return [_without_target(table) for table in made if table.rows]


def _without_target(table: Table) -> Table:
    """The table without the column of targets, of which a page has one."""
    kept = [place for place, one in enumerate(table.columns) if one.name not in ("Target", "Model")]
    rows = tuple(
        replace(row, cells=tuple(row.cells[place] for place in kept)) for row in table.rows
    )
    return replace(table, columns=tuple(table.columns[place] for place in kept), rows=rows)


def _stages(run: ClinicalRun) -> list[tuple[str, object]]:
    return list(as_mapping(run.top("calls").get("by_stage")).items())


def _fitting(moved: Sequence[Moved]) -> list[Moved]:
    """The cases whose texts leave the page small enough, in their order."""
    room, kept = EVIDENCE_BYTES, []
    for one in moved:
        room -= _size(one.base) + _size(one.changed) + html_bytes(one.vignette.question)
        if room < 0:
            break
        kept.append(one)
    return kept


def _size(side: Side) -> int:
    texts = [piece.text for piece in side.pieces] + [side.reply, side.tally]
    texts += [text for _, text in side.digest]
    return sum(html_bytes(text) for text in texts) + 100 * len(side.pieces)
