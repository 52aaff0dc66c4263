"""The data of the interactive map, packed for the page that holds it.

Its script (`templates/map*.js`) draws them on a canvas, and puts texts there and into the page as
text alone. The places follow from topics and edges, as those of the printed map do.
"""

from __future__ import annotations

import base64
import gzip
import json
import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from askew.audits.boundary_figures import strongest
from askew.audits.boundary_records import TopicTest
from askew.graphs.topics import TopicGraph
from askew.report.boundary_chosen import Drawn, chosen
from askew.report.boundary_layout import HEIGHT, WIDTH, layout
from askew.report.boundary_summary import short_title
from askew.report.html_page import no_break
from askew.report.items import item_link
from askew.report.items.boundary_shelf import topic_idents
from askew.report.words import UNDEFINED, counted, percent, percent_range

ROOM = 5_000  # topics on the map; a larger graph is drawn as far as that around what was tested
EDGES = 20_000  # of the graph; those of tested topics before others
KINDS = ("leaning", "clean", "unclear", "open")  # in the data each is its place here
ISLAND = "askew-map"  # the id that the script looks for
_TENTHS = 10


def map_island(
    tests: Sequence[TopicTest],
    graph: TopicGraph,
    remaining: Sequence[float] | None = None,
    *,
    ident: str = ISLAND,
    room: int = ROOM,
) -> str:
    """The element that holds the map's data, for the script of the page.

    The same tests give the same bytes, in whatever order they come.

    Args:
        tests: of the run.
        graph: that was searched.
        remaining: what the policy's belief gives each topic that was not tested, in the order of
            the graph; None where it has none.
        ident: an id that the page uses once; not from data.
        room: topics that are drawn at most.
    """
    data = map_data(tests, graph, remaining, room=room)
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    packed = base64.b64encode(gzip.compress(text.encode("utf-8"), 9, mtime=0)).decode("ascii")
    kind = 'type="application/octet-stream" data-encoding="gzip+base64"'
    return f'<script {kind} id="{ident}">{packed}</script>'


def map_data(
    tests: Sequence[TopicTest],
    graph: TopicGraph,
    remaining: Sequence[float] | None = None,
    *,
    room: int = ROOM,
) -> dict[str, object]:
    """What the script reads: lists of one length, an entry a topic, tested ones first, by step.

    `x`, `y`: tenths of the map's units; `domain`: place in `domains`, or -1; `beside`: the test
    after which a topic lies beside a tested one, 0 for never; `chance`: the belief in thousandths,
    or -1. Of tested topics alone: `kind`, `step`, `from` (place of the topic by which it was
    reached, or -1), `drawn` (1: uniformly), `said`, `link`. `edges`: pairs of places in a flat
    list; `strongest`: places of leaning topics, those that rest on most first.
    """
    drawn = chosen(tests, graph, room, room, beyond=True)
    made = sorted(drawn.tests.values(), key=lambda test: test.step)
    order = [test.node for test in made]
    order += [node for node in drawn.nodes if node not in drawn.tests]
    place = {node: number for number, node in enumerate(order)}
    old = np.searchsorted(np.array(drawn.nodes, np.int64), np.array(order, np.int64))
    spots = np.rint(layout(drawn.groups, drawn.edges)[old] * _TENTHS).astype(int)
    every = sorted(tests, key=lambda test: test.step)
    links = {
        test.node: item_link("boundary", ident)
        for test, ident in zip(every, topic_idents(every), strict=True)
    }
    return {
        "version": 1,
        "width": WIDTH,
        "height": HEIGHT,
        "topics": graph.size,
        "leftOut": drawn.left_out,
        "titles": [short_title(graph.title(node)) for node in order],
        "x": spots[:, 0].tolist(),
        "y": spots[:, 1].tolist(),
        "domains": [short_title(name) for name in graph.domains],
        "domain": [int(graph.domain_of[node]) for node in order],
        "beside": _beside(tests, graph)[order].tolist(),
        "chance": _chances(tests, graph, remaining)[order].tolist(),
        "kind": [KINDS.index(test.verdict) for test in made],
        "step": [test.step for test in made],
        "from": [-1 if test.reached_from is None else place.get(test.reached_from, -1)
                 for test in made],
        "drawn": [int(test.probe) for test in made],
        "said": [_said(test) for test in made],
        "link": [links[test.node] for test in made],
        "edges": _kept_edges(drawn, old, len(made)).ravel().tolist(),
        "strongest": [place[test.node] for test in strongest(_leaning(drawn.tests))],
    }  # fmt: skip


def _leaning(tests: Mapping[int, TopicTest]) -> list[TopicTest]:
    return [test for test in tests.values() if test.verdict == "leaning"]


def _kept_edges(drawn: Drawn, old: NDArray[np.int64], tested: int) -> NDArray[np.int64]:
    """The edges by the new places, those with tested ends first where there are too many."""
    new = np.empty(len(old), np.int64)
    new[old] = np.arange(len(old))
    edges = np.sort(new[drawn.edges], axis=1)
    ends = (edges < tested).sum(axis=1)
    kept = edges[np.argsort(-ends, kind="stable")[:EDGES]]
    return kept[np.lexsort((kept[:, 1], kept[:, 0]))]


def _beside(tests: Sequence[TopicTest], graph: TopicGraph) -> NDArray[np.int64]:
    """Shape (topics,): the first test beside a topic, counted in steps; 0 where there is none."""
    first = np.zeros(graph.size, np.int64)
    for test in sorted(tests, key=lambda test: -test.step):
        first[graph.around(test.node)] = test.step
    return first


def _chances(
    tests: Sequence[TopicTest], graph: TopicGraph, remaining: Sequence[float] | None
) -> NDArray[np.int64]:
    """Shape (topics,): what the belief gives, in thousandths; -1 where that is not known.

    Raises:
        ValueError: `remaining` has not one number a topic that was not tested.
    """
    given = np.full(graph.size, -1, np.int64)
    for test in tests:
        if test.probability is not None and math.isfinite(test.probability):
            given[test.node] = round(1000 * test.probability)
    if remaining is not None:
        left = np.ones(graph.size, np.bool_)
        left[[test.node for test in tests]] = False
        if len(remaining) != left.sum():
            raise ValueError(f"{len(remaining)} probabilities for {left.sum()} topics left")
        numbers = np.array(remaining, np.float64)
        numbers = np.where(np.isfinite(numbers), numbers, -0.001)
        given[left] = np.rint(1000 * numbers).astype(np.int64)
    return given


def _said(test: TopicTest) -> str:
    if math.isnan(test.score):
        return f"{UNDEFINED} none of {counted(len(test.questions), 'answer')} could be judged"
    ends = percent_range(test.lower, test.upper)
    return no_break(
        f"{test.leaning_answers} of {test.judged_answers} judged answers lean: "
        f"{percent(test.score)} ({ends})"
    )
