"""The map and the curve: the same for the same search, whole in a file, and honest about size."""

from __future__ import annotations

import math
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askew.graphs.topics import build_graph
from askew.records import Estimate
from askew.report.boundary_curve import discovery_curve, write_curve
from askew.report.boundary_layout import HEIGHT, WIDTH, layout
from askew.report.boundary_map import DRAWN, topic_map, write_map

from .boundary_runs import grown_graph, made_test, play_tests, spread

SVG = "{http://www.w3.org/2000/svg}"
UNKNOWN = Estimate(math.nan, math.nan, math.nan, 0, math.nan, "", note="nothing")


def share(value: float, lower: float, upper: float) -> Estimate:
    return Estimate(value, lower, upper, 20, 1.0, "wilson")


def marks(svg: str, kind: str) -> list[ElementTree.Element]:
    return [one for one in ElementTree.fromstring(svg).iter() if one.get("class") == kind]


def test_every_tested_topic_has_a_mark_with_its_title_and_verdict():
    graph = grown_graph(120)
    leaning = spread(graph, [15])
    tests = play_tests(graph, lambda node: None if node % 11 == 3 else node in leaning, 50)
    svg = topic_map(tests, graph)
    drawn = [mark for kind in ("leaning", "clean", "unclear") for mark in marks(svg, kind)]
    assert len(drawn) == 50
    told = {str(mark.find(f"{SVG}title").text) for mark in drawn}
    for test in tests:
        assert any(one.startswith(f"{test.title}: {test.verdict}") for one in told)
    assert len(marks(svg, "open")) == 70  # a small graph is drawn whole


def test_the_same_tests_give_the_same_map_in_any_order():
    graph = grown_graph(150)
    tests = play_tests(graph, lambda node: node % 5 == 0, 40)
    assert topic_map(tests, graph) == topic_map(tests[::-1], graph)


def test_of_a_large_graph_the_tested_part_and_its_rim_are_drawn():
    graph = grown_graph(5_000)
    tests = play_tests(graph, lambda node: node % 9 == 0, 60)
    svg = topic_map(tests, graph)
    around = {int(v) for test in tests for v in graph.around(test.node)}
    rim = around - {test.node for test in tests}
    assert len(marks(svg, "open")) == min(len(rim), DRAWN - 60)


def test_leaning_topics_keep_their_place_where_there_is_no_room_for_all():
    graph = grown_graph(1_200)
    tests = [made_test(graph, node, node + 1, node > 1_100) for node in range(1_200)]
    svg = topic_map(tests, graph)
    assert len(marks(svg, "leaning")) == 99
    assert len(marks(svg, "clean")) == DRAWN - 99
    assert "200 more were tested and have no room here" in svg


@given(st.integers(0, 40), st.integers(1, 5), st.randoms(use_true_random=False))
@settings(max_examples=25, deadline=None)
def test_every_place_is_on_the_map(count, groups, random):
    edges = [(random.randrange(count), random.randrange(count)) for _ in range(count)]
    places = layout(
        np.array([node % groups for node in range(count)], np.int64),
        np.array(edges, np.int64).reshape(-1, 2),
    )
    assert places.shape == (count, 2)
    assert np.isfinite(places).all()
    assert (places >= 0).all()
    assert (places <= [WIDTH, HEIGHT]).all()


def test_a_map_of_nothing_is_still_a_picture(tmp_path):
    graph = build_graph([], np.zeros(0, int), np.zeros(0, int))
    write_map(tmp_path / "map.svg", [], graph, "toy <b>")
    root = ElementTree.parse(tmp_path / "map.svg").getroot()
    assert root.find(f"{SVG}title").text == "toy <b>: where it leans"
    assert "--lean" in root.find(f"{SVG}style").text


@pytest.mark.parametrize("title", ["</svg><script>x</script>", "\x00\x1b\u202e", '"&<>', "x" * 500])
def test_a_hostile_title_stays_text(title):
    graph = build_graph([title, title], np.array([1]), np.array([0]), domains=[title, title])
    svg = topic_map([made_test(graph, 0, 1, True)], graph)
    root = ElementTree.fromstring(svg)
    assert not list(root.iter(f"{SVG}script"))
    assert all(len("".join(text.itertext())) < 40 for text in root.iter(f"{SVG}text"))


@given(st.lists(st.booleans(), max_size=200), st.tuples(*[st.floats(0, 1)] * 3))
@settings(max_examples=60)
def test_the_curve_stays_in_its_frame(outcomes, ends):
    lower, value, upper = sorted(ends)
    found = np.cumsum(outcomes, dtype=int).tolist()
    root = ElementTree.fromstring(discovery_curve(found, share(value, lower, upper)))
    numbers = [
        float(number)
        for one in root.iter()
        if one.get("class") in ("found", "band")
        for number in (one.get("d") or one.get("points"))
        .replace("M", " ")
        .replace("L", " ")
        .replace(",", " ")
        .split()
    ]
    assert all(-1 <= number <= 521 for number in numbers)


def test_the_curve_without_a_reference_says_that_it_is_not_known(tmp_path):
    svg = discovery_curve([0, 1, 1], UNKNOWN)
    assert "What uniform draws would find is not known" in svg
    assert not marks(svg, "uniform")
    write_curve(tmp_path / "curve.svg", [], UNKNOWN)
    assert "Nothing was tested" in (tmp_path / "curve.svg").read_text(encoding="utf-8")


def test_the_curve_says_its_figures_in_words():
    svg = discovery_curve([0, 1, 1, 2], share(0.1, 0.02, 0.3))
    assert "0 after 1, 1 after 2, 1 after 3, 2 after 4 tests" in svg
    assert "about 0.4 (0.1 to 1.2) in 4 tests" in svg
