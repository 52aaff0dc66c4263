"""The page of a comparison: the verdict on top, what it rests on, and the items that flipped."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from askew import __version__
from askew.report.compare.figure import difference_plot
from askew.report.compare.records import (
    BETTER,
    CANNOT_TELL,
    WORSE,
    AuditComparison,
    Comparison,
    Flip,
    RunComparison,
    Verdict,
)
from askew.report.compare.tables import (
    TITLES,
    bounds_table,
    figure_table,
    flip_table,
    left_rows,
    paired_text,
    setting_rows,
    side_by_side,
)
from askew.report.compare.verdict import more_words
from askew.report.figure import Picture
from askew.report.grid import Table
from askew.report.html_page import styles, template
from askew.report.items import item_link
from askew.report.scripts import policy
from askew.report.words import counted
from askew.runfolder import RunFolder

_BADGES: dict[Verdict, str] = {BETTER: "yes", WORSE: "no", CANNOT_TELL: "open"}


@dataclass(frozen=True, slots=True)
class Link:
    """Where an item stands in a run's report: a way there, or the path in words alone."""

    name: str
    href: str
    text: str


@dataclass(frozen=True, slots=True)
class ShownFlip:
    """A flip with the links to both reports."""

    flip: Flip
    links: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class ShownKind:
    """One kind of flip."""

    title: str
    worse: bool | None
    count: int
    flips: tuple[ShownFlip, ...]


@dataclass(frozen=True, slots=True)
class ShownAudit:
    """One audit of one run against the baseline, as the page has it."""

    title: str
    audit: AuditComparison
    badge: str
    paired: str
    picture: Picture
    declared: Table
    exploratory: Table | None
    bounds: Table | None
    flips: Table
    kinds: tuple[ShownKind, ...]
    more: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ShownRun:
    """One run against the baseline, as the page has it."""

    run: RunComparison
    badge: str
    audits: tuple[ShownAudit, ...]
    settings: Sequence[tuple[str, str]]
    left: Sequence[tuple[str, str]]
    anchor: str


def page_text(comparison: Comparison, out: Path) -> str:
    """The page as HTML.

    Args:
        comparison: what is shown.
        out: where the page will lie; links to the runs' reports start there.
    """
    folders = [RunFolder(Path(run.path)) for run in comparison.runs]
    figures: list[Mapping[str, object]] = [
        folder.read_estimates() if folder.estimates.is_file() else {} for folder in folders
    ]
    runs = [
        _shown_run(run, place, (folders[0], folders[place + 1]), out)
        for place, run in enumerate(comparison.comparisons)
    ]
    return template("compare.html.j2").render(
        policy=policy(None),
        style=styles("page.css", "compare.css"),
        comparison=comparison,
        runs=runs,
        tables=side_by_side(comparison, figures),
        method=_method(comparison),
        version=__version__,
    )


def _shown_run(
    run: RunComparison, place: int, folders: tuple[RunFolder, RunFolder], out: Path
) -> ShownRun:
    audits = tuple(
        _shown_audit(audit, f"plot-{place}-{audit.audit}", folders, out) for audit in run.audits
    )
    return ShownRun(
        run,
        _BADGES.get(run.verdict, "same"),
        audits,
        setting_rows(run),
        left_rows(run),
        f"run-{place + 1}",
    )


def _shown_audit(
    audit: AuditComparison, ident: str, folders: tuple[RunFolder, RunFolder], out: Path
) -> ShownAudit:
    others = figure_table(audit, declared=False)
    kinds = tuple(
        ShownKind(
            kind.title,
            kind.worse,
            kind.count,
            tuple(ShownFlip(flip, _links(audit, flip, folders, out)) for flip in kind.shown),
        )
        for kind in audit.flips
        if kind.count
    )
    return ShownAudit(
        TITLES[audit.audit],
        audit,
        _BADGES.get(audit.verdict, "same"),
        paired_text(audit),
        difference_plot(ident, audit.declared),
        figure_table(audit, declared=True),
        others if others.rows else None,
        bounds_table(audit),
        flip_table(audit),
        kinds,
        _more(audit),
    )


def _more(audit: AuditComparison) -> tuple[str, ...]:
    """What would decide the first figures that cannot be told; the table has all of them."""
    found = [f"{one.title}: {words}" for one in audit.declared if (words := more_words(one))]
    return tuple(found[:3])


def _links(
    audit: AuditComparison, flip: Flip, folders: tuple[RunFolder, RunFolder], out: Path
) -> tuple[Link, ...]:
    names = ("the baseline's report", "the other run's report")
    return tuple(
        _link(name, folder, item_link(audit.audit, ident), out)
        for name, folder, ident in zip(names, folders, flip.idents, strict=True)
        if ident
    )


def _link(name: str, folder: RunFolder, fragment: str, out: Path) -> Link:
    """A relative link, of which every part is quoted: a folder's name cannot become a scheme."""
    report = folder.report
    try:
        way = os.path.relpath(report.resolve(), out.resolve().parent)
    except ValueError:  # on another drive
        return Link(name, "", str(report))
    if not report.is_file():
        return Link(name, "", str(report))
    quoted = "/".join(quote(os.fsencode(part), safe="") for part in Path(way).parts)
    return Link(name, f"./{quoted}{fragment}", str(report))


def _method(comparison: Comparison) -> str:
    runs = counted(len(comparison.comparisons), "run")
    return (
        f"{runs} held against one baseline. Items are paired by id, attack, order of the options "
        "and replicate (FLEX), by case, comparison and endpoint (clinical), or by topic "
        "(boundary), and only where both runs were asked the same. p values: exact tests that swap "
        "the runs' labels item by item, an item with all its attacks and replicates counted once; "
        "with one pair an item this is McNemar's. Intervals: 95 %, paired bootstrap over items, "
        "or a hybrid score interval where few items moved. Declared are the overall figures, "
        "corrected by Holm over all runs; all others are exploratory. Better and worse need the "
        "interval beyond 0 and the corrected p below 0.05; no difference within the margin needs "
        f"the whole interval within ±{comparison.margin * 100:g} points (clinical endpoints: the "
        f"margin declared for each). Seed {comparison.seed}."
    )
