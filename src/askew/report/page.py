"""`report.html`: a run as one page that needs nothing else, not even a network.

Whatever audits the run holds, it is one page: the overview, a section an audit, the items behind
the figures, methods, configuration. Everything in it comes from the run folder. Text of data and
models is shown as text: the template escapes on its own, `finalize` takes out what HTML forbids,
and the page's own policy lets its own script run alone and nothing be loaded.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from askew.audits.boundary_records import TopicTest
from askew.graphs.topic_storage import is_graph_folder, open_graph
from askew.graphs.topics import TopicGraph
from askew.report.boundary_run import BoundaryRun
from askew.report.boundary_section import KIND, boundary_section
from askew.report.clinical_evidence import moved_cases
from askew.report.clinical_run import ClinicalRun
from askew.report.clinical_section import EXAMPLES as CASES
from askew.report.clinical_section import clinical_section, fact_counts
from askew.report.estimates import Run
from askew.report.evidence import turned_pairs
from askew.report.flex_section import EXAMPLES as PAIRS
from askew.report.flex_section import flex_section
from askew.report.html_page import styles, template
from askew.report.items import Shelf
from askew.report.items.flex_shelf import FlexStock
from askew.report.items.index import shelf_of
from askew.report.items.island import island
from askew.report.items.redacted import redacted, redaction_of
from askew.report.items.shelves import Stocks, shelves_of
from askew.report.methods import (
    READING,
    checksum_rows,
    cost_tables,
    methods_of,
    setting_tables,
)
from askew.report.overview import QUESTIONS, TITLES, measured_in, overview
from askew.report.run_record import RunRecord, run_record
from askew.report.scripts import policy, script
from askew.report.shared_page import without_answers, without_cases
from askew.report.which_audit import Audit, audits_of, part_of, settings_of
from askew.runfolder import RunFolder, write_whole

SHEETS = ("page.css", "clinical.css", "boundary.css", "boundary_map.css", "explorer.css")
# The parts of each section, for the contents.
PARTS: Mapping[Audit, Sequence[tuple[str, str]]] = {
    "flex": (
        ("flex-found", "Findings"),
        ("flex-where", "Where it gives way"),
        ("flex-direction", "Direction"),
        ("flex-replies", "Replies"),
        ("flex-untold", "What cannot be told"),
        ("flex-turned", "Turned answers"),
    ),
    "clinical": (
        ("clinical-found", "Verdicts"),
        ("clinical-hops", "Multi-hop"),
        ("clinical-cases", "Cases"),
        ("clinical-asked", "What was asked"),
        ("clinical-judges", "Judges"),
        ("clinical-reference", "Reference"),
    ),
    "boundary": (
        ("boundary-found", "In words"),
        ("boundary-map", "Map"),
        ("boundary-curve", "Discovery"),
        ("boundary-domains", "Domains"),
        ("boundary-evidence", "Findings"),
        ("boundary-others", "Clean and unclear"),
    ),
}


@dataclass(frozen=True, slots=True)
class _Remaining:
    """What a search's belief gives the topics that it has not tested, as the folder keeps it."""

    probabilities: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Content:
    """What a page is made of.

    Attributes:
        name: the run's.
        estimates: `estimates.json`, parsed.
        sections: what the template of each audit's section needs; those of the figures.
        methods: see `methods_of`.
        planned: the audits of the run file.
        record: of model, time and cost.
        configuration: the text of `run.toml`.
        shelves: the items behind the figures; without their texts where a server has them.
        source: where a server answers for the items; "" where the page holds them itself.
        texts: whether the page may hold what was asked and answered.
    """

    name: str
    estimates: Mapping[str, object]
    sections: Mapping[Audit, Mapping[str, object]]
    methods: Sequence[str] = ()
    planned: Sequence[Audit] = ()
    record: RunRecord = field(default_factory=lambda: RunRecord({}))
    configuration: str = ""
    shelves: Sequence[Shelf] = ()
    source: str = ""
    texts: bool = True


def write_report(folder: RunFolder, graph: TopicGraph | None = None) -> Path:
    """Write the report of a run and return its path.

    Args:
        folder: with its figures.
        graph: that the boundary audit has searched, where the folder does not keep it; without it
            such a report has no map.

    Raises:
        RunError: the run has no figures yet, or cannot be read.
        DataError: the tests of the boundary audit are not of its graph.
    """
    write_whole(folder.report, report_html(folder, graph))
    return folder.report


def report_html(
    folder: RunFolder,
    graph: TopicGraph | None = None,
    *,
    source: str = "",
    stocks: Stocks | None = None,
    texts: bool = True,
) -> str:
    """The report of a run as HTML.

    Args:
        folder: see `write_report`.
        graph: see `write_report`.
        source: the address, as a page sees it, at which a server answers for the run's items; ""
            packs them into the page.
        stocks: the run's items, where they were read already.
        texts: False leaves out every prompt, reply and item, and the settings, which may hold some.

    Raises:
        RunError, DataError: see `write_report`.
    """
    if folder.purged:  # what it could be made of is gone; this page was made before
        return _text(folder.report)
    estimates = folder.read_estimates()
    name = folder.path.resolve().name
    settings = settings_of(folder)
    record = run_record(folder, settings)
    stocks = stocks or Stocks(folder)
    rules = redaction_of(folder)
    tests: Sequence[TopicTest] = ()
    sections: dict[Audit, Mapping[str, object]] = {}
    parts = {audit: part_of(estimates, audit) for audit in measured_in(estimates)}
    for audit, part in parts.items():
        if audit == "flex":
            stock = stocks.of(audit)
            assert isinstance(stock, FlexStock)
            pairs, turned = turned_pairs(folder, limit=PAIRS, pairs=stock.pairs)
            sections[audit] = flex_section(
                Run(name, part), redacted(pairs, rules) if texts else (), turned
            )
        elif audit == "clinical":
            clinical = ClinicalRun(name, part)
            moved = redacted(moved_cases(folder, clinical, CASES), rules) if texts else []
            sections[audit] = clinical_section(clinical, moved, fact_counts(folder))
        else:
            tests = folder.read_parts(KIND, TopicTest)
            tests = redacted(tests, rules) if texts else [without_answers(one) for one in tests]
            left = folder.read_parts("remaining", _Remaining)
            sections[audit] = boundary_section(
                BoundaryRun(name, part),
                tests,
                graph or kept_graph(folder),
                left[0].probabilities if left else None,
            )
    if not texts:
        sections = {audit: without_cases(section) for audit, section in sections.items()}
    content = Content(
        name=name,
        estimates=estimates,
        sections=sections,
        methods=methods_of(parts, record, tests),
        planned=audits_of(folder) if settings else (),
        record=record,
        configuration=redacted(_text(folder.settings), rules) if texts else "",
        shelves=() if not texts else _counted_shelves(stocks) if source else shelves_of(stocks),
        source=source,
        texts=texts,
    )
    return page(content)


def page(content: Content) -> str:
    """The whole page as HTML."""
    estimates, sections = content.estimates, content.sections
    parts = {audit: part_of(estimates, audit) for audit in sections}
    running = script()
    html: str = template("report.html.j2").render(
        name=content.name,
        policy=policy(running, served=bool(content.source)),
        style=styles(*SHEETS),
        script=running,
        top=overview(content.name, estimates, content.record, content.planned),
        titles=TITLES,
        contents=[
            (audit, QUESTIONS[audit], _parts_of(audit, sections[audit])) for audit in sections
        ],
        sections=sections,
        shelves=content.shelves,
        island=_items_of(content),
        methods=content.methods,
        cost_tables=cost_tables(parts, content.record),
        checksums=checksum_rows(content.record),
        reading=[READING[audit] for audit in sections],
        settings=setting_tables(parts) if content.texts else [],
        texts=content.texts,
        configuration=content.configuration,
        version=str(estimates.get("askew") or ""),
    )
    return html


def kept_graph(folder: RunFolder) -> TopicGraph | None:
    """The graph that lies in the run folder; None where it was too large to be kept.

    Raises:
        DataError: it is damaged.
    """
    place = folder.path / "graph"
    return open_graph(place).graph if is_graph_folder(place) else None


def _counted_shelves(stocks: Stocks) -> tuple[Shelf, ...]:
    """How many items there are; a server has the items themselves."""
    return tuple(shelf_of(stocks.of(audit), ()) for audit in stocks.audits)


def _items_of(content: Content) -> str:
    """The element that tells the explorer where the items are."""
    if not content.texts:
        return ""
    if not content.source:
        return island(content.shelves, str(content.estimates.get("model") or ""), content.name)
    # As JSON has it, "<" may be written out, and then nothing in it can end the element.
    told = json.dumps({"url": content.source}).replace("<", "\\u003c")
    return f'<script type="application/json" id="askew-source">{told}</script>'


def _parts_of(audit: Audit, section: Mapping[str, object]) -> list[tuple[str, str]]:
    lacking = {"clinical-judges"} if audit == "clinical" and not section["judged"] else set()
    return [(ident, title) for ident, title in PARTS[audit] if ident not in lacking]


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
