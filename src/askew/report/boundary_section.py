"""The boundary part of a report: what its template needs, and how it was measured.

What may offend stays covered until it is asked for.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from askew.audits.boundary_figures import in_order, path_to, strongest
from askew.audits.boundary_records import QuestionTest, TopicTest
from askew.graphs.topics import TopicGraph
from askew.report.boundary_curve import curve_note, discovery_curve
from askew.report.boundary_island import map_island
from askew.report.boundary_map import topic_map
from askew.report.boundary_run import CLUSTERS, DOES_NOT, BoundaryRun
from askew.report.boundary_summary import (
    findings,
    sentence,
    short_title,
    topic_range,
    warnings,
)
from askew.report.boundary_table import answer_table, domain_table, figure_table
from askew.report.figure import Picture
from askew.report.html_page import html_bytes
from askew.report.items import item_link, items_link
from askew.report.items.boundary_shelf import topic_idents
from askew.report.section_rows import untitled
from askew.report.settings import value_text
from askew.report.words import UNDEFINED, counted, percent, percent_range

EVIDENCE_BYTES = 900_000
FINDING_BYTES = 1_200  # what a finding takes besides its texts
QUESTION_BYTES = 450
# Of one text. Twenty questions with their answers and reasons at this length still fit, so the
# strongest finding always has its evidence on the page.
TEXT_BYTES = 10_000
LISTED = 1_500  # clean and unclear topics in the lists
PATH_ENDS = 8  # topics of a longer path that are shown
KIND = "topic test"  # of the records in the run folder


@dataclass(frozen=True, slots=True)
class FindingView:
    """One topic found leaning, as the page tells it."""

    title: str
    link: str
    domain: str
    score: str
    step: int
    probe: bool
    chance: str  # what the belief gave it before; "" where it gives none
    direction: str
    path: tuple[str, ...]
    questions: tuple[QuestionTest, ...]


@dataclass(frozen=True, slots=True)
class TopicView:
    """One other tested topic, in a list."""

    title: str
    link: str
    domain: str
    score: str
    answers: str
    step: int


def boundary_section(
    run: BoundaryRun,
    tests: Sequence[TopicTest],
    graph: TopicGraph | None,
    remaining: Sequence[float] | None = None,
) -> Mapping[str, object]:
    """What `boundary_section.html.j2` shows of a run.

    Args:
        run: the figures.
        tests: what they rest on.
        graph: that was searched; None where it is not at hand, and there is no map then.
        remaining: what the search's belief gives the topics that were not tested, in the order of
            the graph; None where it has none.

    Raises:
        DataError: the tests are not of this graph.
    """
    made = sorted(tests, key=lambda test: test.step) if graph is None else in_order(tests, graph)
    leaning = strongest([test for test in made if test.verdict == "leaning"])
    links = {
        test.node: item_link("boundary", ident)
        for test, ident in zip(tests, topic_idents(tests), strict=True)
    }
    shown = _fitting(leaning, {test.node: test for test in made}, links)
    title = f"{run.model}: where it leans"
    uniform, size = run.figure("uniform_share"), run.count("topics", "graph")
    drawn = data = ""
    if graph is not None:
        drawn = topic_map(made, graph, title=title)
        data = map_island(made, graph, remaining)
    return {
        "run": run,
        "sentence": sentence(run.estimates, run.name),
        "warnings": warnings(run.estimates),
        "findings": findings(run.estimates),
        "clustering": _badge(run),
        "headlines": _headlines(run),
        "map": drawn,
        "map_island": data,
        "curve": Picture(
            "Leaning topics found, by tests made",
            discovery_curve(run.curve(), uniform, made, size),
            "boundary-discovery",
        ),
        "curve_note": curve_note(uniform, made, size),
        "uniform_known": uniform.defined,
        "domains": untitled(run.title, domain_table(run)),
        "figures_table": untitled(run.title, figure_table(run)),
        "answers": untitled(run.title, answer_table(run)),
        "shown": shown,
        "found": len(leaning),
        "found_link": items_link("boundary", verdict="leaning"),
        "clean": _listed(made, "clean", links),
        "unclear": _listed(made, "unclear", links),
        "clean_count": sum(test.verdict == "clean" for test in made),
        "unclear_count": sum(test.verdict == "unclear" for test in made),
    }


def _badge(run: BoundaryRun) -> dict[str, str]:
    shade = {CLUSTERS: "yes", DOES_NOT: "no"}.get(run.clustering, "open")
    words = {
        CLUSTERS: "leaning clusters",
        DOES_NOT: "leaning does not cluster",
    }.get(run.clustering, "clustering: cannot tell")
    return {"shade": shade, "words": words}


def _headlines(run: BoundaryRun) -> list[dict[str, str]]:
    size, share = run.count("topics", "graph"), run.figure("leaning_share")
    left = run.figure("undiscovered", "probes")
    by = "by uniform draws"
    if not left.defined:
        left, by = run.figure("undiscovered", "belief"), "by the search's own belief"
    calls, each = run.calls, run.number("cost", "topics_per_finding")
    return [
        {
            "name": "Topics tested",
            "link": items_link("boundary"),
            "value": f"{run.tested:,}",
            "interval": "" if size is None else f"of {size:,} in the graph",
            "said": f"{run.judged:,} judged, {run.unclear:,} unclear",
        },
        {
            "name": "Found leaning",
            "link": items_link("boundary", verdict="leaning") if run.leaning else "",
            "value": f"{run.leaning:,}",
            "interval": f"{percent(share.value)} ({percent_range(share.lower, share.upper)})"
            if share.defined
            else "",
            "said": "of the judged; no rate of the graph",
        },
        {
            "name": "Left undiscovered",
            "link": "",
            "value": f"{left.value:,.0f}" if left.defined else UNDEFINED,
            "interval": topic_range(left),
            "said": by if left.defined else "cannot be told",
        },
        {
            "name": "Cost",
            "link": "",
            "value": UNDEFINED if calls is None else f"{calls:,}",
            "interval": "calls",
            "said": "" if math.isnan(each) else f"{each:.1f} tests for each leaning topic",
        },
    ]


def _fitting(
    leaning: Sequence[TopicTest], by_node: Mapping[int, TopicTest], links: Mapping[int, str]
) -> list[FindingView]:
    """The findings whose texts leave the page small enough, the strongest first."""
    room, kept = EVIDENCE_BYTES, []
    for test in leaning:
        one = _finding(test, by_node, links[test.node])
        texts = [one.title, one.domain, one.direction, *one.path]
        for asked in one.questions:
            texts += [asked.question, asked.answer or "", asked.reason, asked.direction]
        room -= FINDING_BYTES + QUESTION_BYTES * len(one.questions) + sum(map(html_bytes, texts))
        if room < 0:
            break
        kept.append(one)
    return kept


def _finding(test: TopicTest, by_node: Mapping[int, TopicTest], link: str) -> FindingView:
    path = [short_title(one.title) for one in path_to(test, by_node)]
    if len(path) > PATH_ENDS:
        path = [*path[:2], f"… {len(path) - PATH_ENDS} more …", *path[-(PATH_ENDS - 2) :]]
    directions = dict.fromkeys(
        one.direction for one in test.questions if one.outcome == "leaning" and one.direction
    )
    chance = test.probability
    return FindingView(
        title=short_title(test.title),
        link=link,
        domain=short_title(test.domain or ""),
        score=_score(test),
        step=test.step,
        probe=test.probe,
        chance="" if chance is None or math.isnan(chance) else percent(chance),
        direction=short_title("; ".join(directions)),
        path=tuple(path),
        questions=tuple(
            replace(
                one,
                question=_cut(one.question),
                answer=None if one.answer is None else _cut(one.answer),
                reason=_cut(one.reason),
                direction=short_title(one.direction),
            )
            for one in test.questions
        ),
    )


def _cut(text: str) -> str:
    """The text as far as the page has room for one; what is left out is counted."""
    if len(text) <= TEXT_BYTES and html_bytes(text) <= TEXT_BYTES:
        return text
    kept = text[:TEXT_BYTES]
    while html_bytes(kept) > TEXT_BYTES:
        kept = kept[: len(kept) // 2]
    return f"{kept} … ({counted(len(text) - len(kept), 'more character')}: see the run folder)"


def _score(test: TopicTest) -> str:
    if math.isnan(test.score):
        return f"{UNDEFINED} nothing could be judged"
    ends = percent_range(test.lower, test.upper)
    return (
        f"{test.leaning_answers} of {test.judged_answers} answers lean: {percent(test.score)} "
        f"({ends})"
    )


def _listed(made: Sequence[TopicTest], verdict: str, links: Mapping[int, str]) -> list[TopicView]:
    return [
        TopicView(
            title=short_title(test.title),
            link=links[test.node],
            domain=short_title(test.domain or ""),
            score=_score(test),
            answers=_outcomes(test),
            step=test.step,
        )
        for test in [one for one in made if one.verdict == verdict][:LISTED]
    ]


def _outcomes(test: TopicTest) -> str:
    """What the answers came to, and the test's own note."""
    counts: dict[str, int] = {}
    for one in test.questions:
        counts[one.outcome] = counts.get(one.outcome, 0) + 1
    said = ", ".join(f"{count} {outcome}" for outcome, count in counts.items())
    return short_title(f"{said}; {test.note}" if test.note and said else test.note or said)


def boundary_method(run: BoundaryRun, made: Sequence[TopicTest]) -> list[str]:
    """How it was measured, in sentences; what the file does not say is not said here either."""
    questions = [len(test.questions) for test in made]
    judges = sorted({test.judge for test in made if test.judge})
    judged = f" by {', '.join(judges)}" if judges else ""
    thresholds = sorted({test.threshold for test in made})
    asked = ""
    if questions:
        low, high = min(questions), max(questions)
        number = str(low) if low == high else f"{low} to {high}"
        asked = f"Each topic was tested with {number} questions, and each answer judged{judged}. "
    limits = " or ".join(percent(one) for one in thresholds)
    leans = f"A topic leans where {limits} or more of its judged answers do." if thresholds else ""
    probes = run.count("topics", "probes") or 0
    return [
        f"{asked}{leans}",
        f"The next topic was chosen by the policy {value_text(run.setting('policy'))}"
        + (f"; {counted(probes, 'test')} were drawn uniformly from all topics left." if probes
           else ", and none was drawn uniformly."),
        "Whether leaning clusters is tested with the outcomes in their order: where it does not, "
        "they come as if drawn from an urn, whatever the search picks. What is left undiscovered "
        "is estimated from the uniform draws, whose chances are known.",
    ]  # fmt: skip
