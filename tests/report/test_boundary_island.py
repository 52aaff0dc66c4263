"""The interactive map's data: whole, the same for the same search, and inert in a page."""

from __future__ import annotations

import base64
import gzip
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askew.graphs.topics import build_graph
from askew.report.boundary_chosen import chosen
from askew.report.boundary_island import KINDS, ROOM, map_data, map_island
from askew.report.items import item_link
from askew.report.items.boundary_shelf import topic_idents

from .boundary_runs import grown_graph, made_test, play_tests, spread

ELEMENT = re.compile(
    r'<script type="application/octet-stream" data-encoding="gzip\+base64" id="askew-map">'
    r"([A-Za-z0-9+/=]*)</script>"
)


def opened(island: str) -> dict:
    found = ELEMENT.fullmatch(island)
    assert found is not None
    return json.loads(gzip.decompress(base64.b64decode(found[1])))


def a_search(size: int = 200, queries: int = 50):
    graph = grown_graph(size)
    leaning = spread(graph, [15])
    tests = play_tests(graph, lambda node: None if node % 11 == 3 else node in leaning, queries)
    return graph, tests


def test_every_tested_topic_has_its_verdict_its_step_and_a_link_to_its_item():
    graph, tests = a_search()
    data = opened(map_island(tests, graph))
    assert data["step"] == [test.step for test in tests]
    assert [KINDS[kind] for kind in data["kind"]] == [test.verdict for test in tests]
    assert data["titles"][: len(tests)] == [test.title for test in tests]
    idents = topic_idents(tests)
    assert data["link"] == [item_link("boundary", one) for one in idents]
    for test, said in zip(tests, data["said"], strict=True):
        words = (
            "could be judged" if test.verdict == "unclear" else f"of {test.judged_answers} judged"
        )
        assert words in said
    strongest = [tests[place].verdict for place in data["strongest"]]
    assert set(strongest) == {"leaning"}
    assert len(strongest) == sum(test.verdict == "leaning" for test in tests)


@given(st.integers(2, 120), st.integers(1, 60), st.integers(1, 150), st.integers(0, 3))
@settings(max_examples=25, deadline=None)
def test_lists_fit_one_another_and_what_is_drawn_fits_the_map(size, queries, room, seed):
    graph = grown_graph(size, seed)
    tests = play_tests(graph, lambda node: node % 5 == 0, queries, seed=seed)
    data = map_data(tests, graph, room=room)
    count, tested = len(data["titles"]), len(data["kind"])
    assert count == min(size, room)
    assert tested == min(len(tests), room)
    assert data["leftOut"] == len(tests) - tested
    for name in ("x", "y", "domain", "beside", "chance"):
        assert len(data[name]) == count, name
    for name in ("step", "from", "drawn", "said", "link"):
        assert len(data[name]) == tested, name
    assert all(0 <= x <= 10 * data["width"] for x in data["x"])
    assert all(0 <= y <= 10 * data["height"] for y in data["y"])
    assert all(0 <= end < count for end in data["edges"])
    assert all(-1 <= place < tested for place in data["from"])


def test_the_edges_are_those_of_the_graph_between_drawn_topics():
    graph, tests = a_search()
    data = map_data(tests, graph)
    nodes = {graph.title(node): node for node in range(graph.size)}
    at = [nodes[title] for title in data["titles"]]
    pairs = np.array(data["edges"]).reshape(-1, 2).tolist()
    assert {frozenset((at[one], at[other])) for one, other in pairs} == {
        frozenset((node, int(other))) for node in range(graph.size) for other in graph.around(node)
    }
    assert len(pairs) == graph.edges


def test_a_topic_joins_the_frontier_with_the_first_test_beside_it():
    graph, tests = a_search()
    data = map_data(tests, graph)
    steps = {test.node: test.step for test in tests}
    nodes = {graph.title(node): node for node in range(graph.size)}
    for title, beside in zip(data["titles"], data["beside"], strict=True):
        around = [steps[int(v)] for v in graph.around(nodes[title]) if int(v) in steps]
        assert beside == min(around, default=0)


def test_the_same_tests_give_the_same_bytes_in_any_order():
    graph, tests = a_search()
    assert map_island(tests, graph) == map_island(tests[::-1], graph)


def test_leaning_topics_have_room_before_others_and_the_frontier_before_what_lies_beyond():
    graph = grown_graph(600)
    tests = [made_test(graph, node, node + 1, node >= 30) for node in range(40)]
    small = map_data(tests, graph, room=25)
    assert small["kind"].count(0) == 10
    assert small["leftOut"] == 15
    wide = chosen(tests, graph, 300, 0, beyond=True)
    rim = {int(v) for test in tests for v in graph.around(test.node)} - {t.node for t in tests}
    assert len(wide.nodes) == 300
    assert rim <= set(wide.nodes)
    assert set(chosen(tests, graph, 300, 0).nodes) <= rim | {test.node for test in tests}


def test_what_the_belief_gives_stands_beside_each_topic_and_nothing_where_it_is_unknown():
    graph, tests = a_search(60, 20)
    tests[3] = replace(tests[3], probability=None)
    left = np.linspace(0, 1, 40)
    left[5] = np.nan
    data = map_data(tests, graph, left.tolist())
    assert data["chance"][3] == -1
    assert data["chance"][4] == 300
    assert sorted(data["chance"][20:]) == sorted(
        [-1, *(round(1000 * one) for one in left if not np.isnan(one))]
    )
    with pytest.raises(ValueError, match="39 probabilities for 40 topics"):
        map_data(tests, graph, left[1:].tolist())


@pytest.mark.parametrize(
    "title",
    ["</script><script>alert(1)</script>", "<!--", "\x00\x1b[31m\u202e", "x" * 5_000, "=1+1"],
)
def test_a_hostile_title_cannot_leave_the_island(title):
    graph = build_graph([title, "Other"], np.array([1]), np.array([0]), domains=[title, None])
    island = map_island([made_test(graph, 0, 1, True)], graph)
    data = opened(island)
    shown = data["titles"][0]
    assert len(shown) <= 60
    assert not {"\x00", "\x1b", "\u202e"} & set(shown)
    assert data["link"][0].startswith("#item/boundary/")


def test_a_map_of_nothing_holds_nothing():
    graph = build_graph([], np.zeros(0, int), np.zeros(0, int))
    data = opened(map_island([], graph))
    assert data["titles"] == data["edges"] == data["strongest"] == []


def test_a_full_map_stays_small():
    graph = grown_graph(2 * ROOM)
    tests = [made_test(graph, node, node + 1, node % 7 == 0) for node in range(300)]
    island = map_island(tests, graph)
    assert len(opened(island)["titles"]) == ROOM
    assert len(island) < 400_000
