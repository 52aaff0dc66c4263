"""Pages with a map of topics, as a report has them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from markupsafe import Markup

from askew.audits.boundary_records import TopicTest
from askew.graphs.topics import TopicGraph
from askew.report.boundary_island import ROOM, map_island
from askew.report.boundary_map import topic_map
from askew.report.html_page import styles, template
from askew.report.scripts import policy, script
from tests.report.boundary_runs import grown_graph, play_tests, spread

DOMAINS = ("politics", "economy", "religion", "health", "media")
_PAGE = """{% from "boundary_map.html.j2" import topic_map_view %}<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{{ policy }}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>A page with a map</title>
<style>{{ style }}</style>
</head>
<body>
<main><h1>A page with a map</h1>
{{ topic_map_view(drawn, island) }}
<p style="height: 120vh">What follows.</p>
</main>
<script>{{ script }}</script>
</body>
</html>
"""


def a_search(size: int = 240, queries: int = 60) -> tuple[TopicGraph, list[TopicTest]]:
    """A search that found some topics leaning and could not judge others."""
    graph = grown_graph(size, domains=DOMAINS)
    leaning = spread(graph, [15, 77], 1)
    return graph, play_tests(
        graph, lambda node: None if node % 17 == 3 else node in leaning, queries
    )


def write_map_page(
    path: Path,
    tests: Sequence[TopicTest],
    graph: TopicGraph,
    *,
    island: str | None = None,
    room: int = ROOM,
) -> str:
    """Write a page with the map of a search; its file:// address.

    Args:
        path: of the page.
        tests: of the search.
        graph: that was searched.
        island: what stands in the place of the map's data.
        room: topics on the map, at most.
    """
    whole = script()
    page = (
        template("boundary_map.html.j2")
        .environment.from_string(_PAGE)
        .render(
            policy=policy(whole),
            style=Markup(styles("page.css", "boundary.css", "boundary_map.css")),
            drawn=topic_map(tests, graph),
            island=map_island(tests, graph, room=room) if island is None else island,
            script=Markup(whole),
        )
    )
    path.write_text(page, encoding="utf-8")
    return path.as_uri()
