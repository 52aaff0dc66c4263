"""The map of a boundary search: what was tested, what it showed, and how the search went there.

Drawn as SVG. A shape stands for a verdict, beside its colour: a diamond leans, a full circle is
clean, a square could not be judged, a ring was not tested. Every text is escaped here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from askew.audits.boundary_figures import strongest
from askew.audits.boundary_records import TopicTest
from askew.graphs.topics import TopicGraph
from askew.report.boundary_chosen import Drawn, chosen
from askew.report.boundary_layout import HEIGHT, WIDTH, layout
from askew.report.boundary_summary import short_title
from askew.report.figure import picture, short, shown_text
from askew.report.html_page import styles
from askew.report.words import counted, listed
from askew.runfolder import write_whole

DRAWN = 1_000  # topics on the picture: first the tested ones, then what lies beside leaning ones
WHOLE = 400  # a graph no larger than this is drawn whole
EDGES = 2_500  # of the graph, drawn faintly
LABELS = 36  # titles beside leaning topics; all others are in the tooltips
SAID = 40  # leaning topics in the text alternative
LONGEST_LABEL = 26
_LETTER = 6.2  # width of a label's letter in the map's units, at its size
_LINE = 11


def topic_map(
    tests: Sequence[TopicTest], graph: TopicGraph, *, ident: str = "map", title: str = "The map"
) -> str:
    """The map as one SVG, for a page that has `boundary_map.css`.

    Args:
        tests: of the run.
        graph: that was searched.
        ident: an id that the page uses once; not from data.
        title: what is shown.
    """
    drawn = chosen(tests, graph, DRAWN, WHOLE)
    places = layout(drawn.groups, drawn.edges)
    where = {node: (short(x), short(y)) for node, (x, y) in zip(drawn.nodes, places, strict=True)}
    parts = [_edges(drawn, where), _paths(drawn, where)]
    parts += _group_names(drawn, places)
    parts += [_mark(node, drawn.tests.get(node), graph, where[node]) for node in drawn.nodes]
    parts += _labels(drawn, places)
    shape = f'class="topic-map" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}"'
    return picture(ident, title, _said(drawn, graph), HEIGHT, parts, shape=shape)


def write_map(path: Path, tests: Sequence[TopicTest], graph: TopicGraph, model: str) -> None:
    """The map as a file of its own.

    Raises:
        RunError: the file cannot be written.
    """
    svg = topic_map(tests, graph, title=f"{model}: where it leans")
    write_whole(path, standalone(svg))


def standalone(svg: str) -> str:
    """A picture with its style inside, for a file of its own."""
    head, _, rest = svg.partition(">")
    return f"{head}><style>{styles('boundary_map.css', themed=False)}</style>{rest}\n"


def _edges(drawn: Drawn, where: Mapping[int, tuple[str, str]]) -> str:
    """The graph's edges as one path; those of tested topics first where there are too many."""
    tested = np.array([node in drawn.tests for node in drawn.nodes], np.bool_)
    order = np.argsort(-tested[drawn.edges].sum(axis=1), kind="stable")[:EDGES]
    moves = [
        f"M{' '.join(where[drawn.nodes[one]])}L{' '.join(where[drawn.nodes[other]])}"
        for one, other in drawn.edges[order].tolist()
    ]
    return f'<path class="edge" d="{"".join(moves)}"/>' if moves else ""


def _paths(drawn: Drawn, where: Mapping[int, tuple[str, str]]) -> str:
    """The steps of the search: from the tested topic by which each was reached."""
    moves = [
        f"M{' '.join(where[test.reached_from])}L{' '.join(where[node])}"
        for node, test in sorted(drawn.tests.items())
        if test.reached_from is not None and test.reached_from in drawn.tests
    ]
    return f'<path class="step" d="{"".join(moves)}"/>' if moves else ""


def _mark(node: int, test: TopicTest | None, graph: TopicGraph, place: tuple[str, str]) -> str:
    x, y = place
    title = short_title(graph.title(node))
    if test is None:
        said = shown_text(f"{title}: not tested")
        return f'<circle class="open" cx="{x}" cy="{y}" r="2.6"><title>{said}</title></circle>'
    drawn = ", drawn uniformly" if test.probe else ""
    counts = f"{test.leaning_answers} of {test.judged_answers} judged answers lean"
    said = f"{title}: {test.verdict}, {counts}; test {test.step}{drawn}"
    shape = {
        "leaning": f'<path class="leaning" d="M{x} {y}m0 -7.5l7.5 7.5l-7.5 7.5l-7.5 -7.5z">',
        "clean": f'<circle class="clean" cx="{x}" cy="{y}" r="4.6">',
        "unclear": f'<path class="unclear" d="M{x} {y}m-4.5 -4.5h9v9h-9z">',
    }[test.verdict]
    tag = shape[1:].split(" ", 1)[0]
    ring = f'<circle class="drawn" cx="{x}" cy="{y}" r="10"/>' if test.probe else ""
    return f"{ring}{shape}<title>{shown_text(said)}</title></{tag}>"


def _group_names(drawn: Drawn, places: NDArray[np.float64]) -> list[str]:
    parts = []
    for number, name in enumerate(drawn.names):
        own = places[drawn.groups == number]
        if not name or not len(own):
            continue
        x, y = np.median(own[:, 0]), own[:, 1].min()
        half = len(name) * 4.5
        x = min(max(float(x), half), WIDTH - half)
        parts.append(
            f'<text class="group" x="{short(x)}" y="{short(max(14.0, float(y) - 12))}" '
            f'text-anchor="middle">{shown_text(_cut(name))}</text>'
        )
    return parts


def _labels(drawn: Drawn, places: NDArray[np.float64]) -> list[str]:
    """Titles of the strongest findings, where they do not lie on one another."""
    leaning = [test for test in drawn.tests.values() if test.verdict == "leaning"]
    place = {node: number for number, node in enumerate(drawn.nodes)}
    marks = [
        (x - 6, y - 6, x + 6, y + 6)
        for x, y in (places[place[node]].tolist() for node in drawn.tests)
    ]
    taken: list[tuple[float, float, float, float]] = []
    parts: list[str] = []
    for test in strongest(leaning):
        if len(parts) == LABELS:
            break
        x, y = (float(one) for one in places[place[test.node]])
        label = _cut(test.title)
        box = _free(x, y, len(label) * _LETTER, taken, marks)
        if box is None:
            continue
        taken.append(box)
        # Letters are wider in some fonts: the text starts at the mark, on whichever side it is.
        start, anchor = (box[0], "start") if box[0] > x else (box[2], "end")
        if box[0] < x < box[2]:
            start, anchor = x, "middle"
        parts.append(
            f'<text class="label" x="{short(start)}" y="{short(box[3] - 2.5)}" '
            f'text-anchor="{anchor}">{shown_text(label)}</text>'
        )
    return parts


def _free(
    x: float,
    y: float,
    width: float,
    taken: Sequence[tuple[float, float, float, float]],
    marks: Sequence[tuple[float, float, float, float]],
) -> tuple[float, float, float, float] | None:
    """A place for a label beside its mark: right, left, above or below; None: all are taken."""
    for left, top in (
        (x + 10, y - _LINE / 2),
        (x - 10 - width, y - _LINE / 2),
        (x - width / 2, y - 10 - _LINE),
        (x - width / 2, y + 10),
    ):
        box = (left, top, left + width, top + _LINE)
        inside = left >= 2 and box[2] <= WIDTH - 2 and top >= 2 and box[3] <= HEIGHT - 2
        if inside and not any(_cover(box, one) for one in (*taken, *marks)):
            return box
    return None


def _cover(
    one: tuple[float, float, float, float], other: tuple[float, float, float, float]
) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _said(drawn: Drawn, graph: TopicGraph) -> str:
    """The map in words."""
    kinds = {
        verdict: [test for test in drawn.tests.values() if test.verdict == verdict]
        for verdict in ("leaning", "clean", "unclear")
    }
    counts = listed([f"{len(tests):,} {verdict}" for verdict, tests in kinds.items()])
    beside = len(drawn.nodes) - len(drawn.tests)
    text = (
        f"{counted(len(drawn.tests), 'tested topic')} ({counts}) and {beside:,} that were not "
        f"tested, of {graph.size:,} in the graph."
    )
    if drawn.left_out:
        text += f" {drawn.left_out:,} more were tested and have no room here."
    leaning = strongest(kinds["leaning"])
    if leaning:
        named = [short_title(test.title) for test in leaning[:SAID]]
        more = f" and {len(leaning) - SAID:,} more" if len(leaning) > SAID else ""
        text += f" Leaning: {', '.join(named)}{more}."
    return text


def _cut(text: str) -> str:
    text = short_title(text)
    return text if len(text) <= LONGEST_LABEL else f"{text[: LONGEST_LABEL - 1]}…"
