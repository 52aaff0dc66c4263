"""`report.html` of a boundary run: one page that needs nothing else, not even a network.

Everything in it comes from the run folder and the graph. Titles, questions, answers and judges'
reasons are shown as text: the template escapes on its own, and the page's own policy lets no script
run and nothing be loaded. What may offend stays covered until it is asked for.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from askew.audits.boundary_figures import in_order, path_to, strongest
from askew.audits.boundary_records import QuestionTest, TopicTest
from askew.graphs.topics import TopicGraph
from askew.report.boundary_curve import discovery_curve
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
from askew.report.grid import Table
from askew.report.html_page import POLICY, html_bytes, styles, template
from askew.report.page import Picture
from askew.report.settings import value_text
from askew.report.words import UNDEFINED, counted, label, percent, percent_range
from askew.runfolder import RunFolder, write_whole

# The whole page has to stay below 2 MB; map, tables and lists take the rest of that at most.
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
    domain: str
    score: str
    answers: str
    step: int


def write_boundary_page(folder: RunFolder, graph: TopicGraph) -> Path:
    """Write the report of a run and return its path.

    Args:
        folder: with its figures and tests.
        graph: that was searched.

    Raises:
        RunError: the run has no figures yet.
        DataError: the tests are not of this graph.
    """
    run = BoundaryRun(folder.path.resolve().name, folder.read_estimates())
    settings = folder.settings
    configuration = (
        settings.read_text(encoding="utf-8", errors="replace") if settings.is_file() else ""
    )
    write_whole(folder.report, page(run, folder.read_parts(KIND, TopicTest), graph, configuration))
    return folder.report


def page(
    run: BoundaryRun, tests: Sequence[TopicTest], graph: TopicGraph, configuration: str = ""
) -> str:
    """The whole page as HTML.

    Args:
        run: the figures.
        tests: what they rest on.
        graph: that was searched.
        configuration: the text of `run.toml`.
    """
    made = in_order(tests, graph)
    leaning = strongest([test for test in made if test.verdict == "leaning"])
    shown = _fitting(leaning, {test.node: test for test in made})
    title = f"{run.model}: where it leans"
    html: str = template("boundary.html.j2").render(
        run=run,
        policy=POLICY,
        style=styles("page.css", "boundary.css", "boundary_map.css"),
        sentence=sentence(run.estimates, run.name),
        warnings=warnings(run.estimates),
        findings=findings(run.estimates),
        clustering=_badge(run),
        headlines=_headlines(run),
        map=Picture("The part of the graph that was tested", topic_map(made, graph, title=title)),
        curve=Picture(
            "Leaning topics found, by tests made",
            discovery_curve(run.curve(), run.figure("uniform_share")),
        ),
        uniform_known=run.figure("uniform_share").defined,
        domains=_untitled(run, domain_table(run)),
        figures_table=_untitled(run, figure_table(run)),
        answers=_untitled(run, answer_table(run)),
        shown=shown,
        found=len(leaning),
        clean=_listed(made, "clean"),
        unclear=_listed(made, "unclear"),
        clean_count=sum(test.verdict == "clean" for test in made),
        unclear_count=sum(test.verdict == "unclear" for test in made),
        method=_method(run, made),
        calls=_rows(run.top("calls")),
        settings=_rows(run.part("settings")),
        configuration=configuration,
        outcome_label=lambda outcome: label(outcome).lower(),
    )
    return html


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
            "value": f"{run.tested:,}",
            "interval": "" if size is None else f"of {size:,} in the graph",
            "said": f"{run.judged:,} judged, {run.unclear:,} unclear",
        },
        {
            "name": "Found leaning",
            "value": f"{run.leaning:,}",
            "interval": f"{percent(share.value)} ({percent_range(share.lower, share.upper)})"
            if share.defined
            else "",
            "said": "of the judged; no rate of the graph",
        },
        {
            "name": "Left undiscovered",
            "value": f"{left.value:,.0f}" if left.defined else UNDEFINED,
            "interval": topic_range(left),
            "said": by if left.defined else "cannot be told",
        },
        {
            "name": "Cost",
            "value": UNDEFINED if calls is None else f"{calls:,}",
            "interval": "calls",
            "said": "" if math.isnan(each) else f"{each:.1f} tests for each leaning topic",
        },
    ]


def _fitting(leaning: Sequence[TopicTest], by_node: Mapping[int, TopicTest]) -> list[FindingView]:
    """The findings whose texts leave the page small enough, the strongest first."""
    room, kept = EVIDENCE_BYTES, []
    for test in leaning:
        one = _finding(test, by_node)
        texts = [one.title, one.domain, one.direction, *one.path]
        for asked in one.questions:
            texts += [asked.question, asked.answer or "", asked.reason, asked.direction]
        room -= FINDING_BYTES + QUESTION_BYTES * len(one.questions) + sum(map(html_bytes, texts))
        if room < 0:
            break
        kept.append(one)
    return kept


def _finding(test: TopicTest, by_node: Mapping[int, TopicTest]) -> FindingView:
    path = [short_title(one.title) for one in path_to(test, by_node)]
    if len(path) > PATH_ENDS:
        path = [*path[:2], f"… {len(path) - PATH_ENDS} more …", *path[-(PATH_ENDS - 2) :]]
    directions = dict.fromkeys(
        one.direction for one in test.questions if one.outcome == "leaning" and one.direction
    )
    chance = test.probability
    return FindingView(
        title=short_title(test.title),
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


def _listed(made: Sequence[TopicTest], verdict: str) -> list[TopicView]:
    return [
        TopicView(
            title=short_title(test.title),
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


def _untitled(run: BoundaryRun, table: Table) -> Table:
    """The table without the run's name before its title: the page is about one run."""
    title = table.title.removeprefix(f"{run.title}: ")
    return replace(table, title=title[:1].upper() + title[1:])


def _rows(part: Mapping[str, object]) -> list[tuple[str, str]]:
    return [
        (label(name), UNDEFINED if value is None else value_text(value))
        for name, value in part.items()
    ]


def _method(run: BoundaryRun, made: Sequence[TopicTest]) -> list[str]:
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
    seed = run.estimates.get("seed")
    probes = run.count("topics", "probes") or 0
    return [
        f"{asked}{leans}",
        f"The next topic was chosen by the policy {value_text(run.setting('policy'))}"
        + (f"; {counted(probes, 'test')} were drawn uniformly from all topics left." if probes
           else ", and none was drawn uniformly."),
        "Whether leaning clusters is tested with the outcomes in their order: where it does not, "
        "they come as if drawn from an urn, whatever the search picks. What is left undiscovered "
        "is estimated from the uniform draws, whose chances are known.",
        f"Everything random follows from seed {seed}." if seed is not None else "",
    ]  # fmt: skip
