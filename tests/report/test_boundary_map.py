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
from askew.report.boundary_curve import (
    POINTS,
    bound_of,
    curve_note,
    discovery_curve,
    write_curve,
)
from askew.report.boundary_layout import HEIGHT, WIDTH, layout
from askew.report.boundary_map import DRAWN, topic_map, write_map
from askew.report.items import item_link

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


def test_every_find_on_the_curve_leads_to_its_topic():
    graph = grown_graph(80)
    tests = play_tests(graph, lambda node: node % 3 == 0, 40)
    found = np.cumsum([test.verdict == "leaning" for test in tests]).tolist()
    svg = discovery_curve(found, share(0.3, 0.1, 0.6), tests, graph.size)
    root = ElementTree.fromstring(svg)
    assert root.get("role") == "group"
    links = [one.get("href") for one in root.iter(f"{SVG}a")]
    assert links == [
        item_link("boundary", test.title) for test in tests if test.verdict == "leaning"
    ]


def test_of_very_many_finds_some_are_marked_from_the_first_to_the_last():
    graph = grown_graph(300)
    tests = [made_test(graph, node, node + 1, True) for node in range(300)]
    root = ElementTree.fromstring(discovery_curve(list(range(1, 301)), UNKNOWN, tests, 300))
    links = [str(one.get("href")) for one in root.iter(f"{SVG}a")]
    assert len(links) == POINTS
    assert (links[0], links[-1]) == tuple(item_link("boundary", f"Topic {n}") for n in (0, 299))


def test_the_bound_is_one_a_test_and_level_where_no_more_can_be_left():
    level = marks(discovery_curve([0, 1, 2] * 4, share(0.1, 0.05, 0.2), (), 10), "bound")
    assert level[0].get("points").count(" ") == 2
    assert bound_of(share(0.0, 0.0, 0.7), 80) == pytest.approx(56)
    assert math.isnan(bound_of(UNKNOWN, 80))
    open_ended = marks(discovery_curve([0, 1, 2], UNKNOWN, (), 10), "bound")
    assert open_ended[0].get("points").count(" ") == 1


def test_the_curve_says_what_its_lines_rest_on():
    graph = grown_graph(80)
    tests = play_tests(graph, lambda node: node % 3 == 0, 40)
    told = curve_note(share(0.3, 0.1, 0.6), tests, 80)
    probes = [test for test in tests if test.probe]
    hits = sum(test.verdict == "leaning" for test in probes)
    assert f"({hits} find" in told
    assert f"in {len(probes)} test" in told
    assert "at most 48 by that interval" in told
    assert "is not known (nothing)" in curve_note(UNKNOWN, tests, 80)
    assert "every topic of the graph was tested" in curve_note(share(0.3, 0.3, 0.3), tests, 40)
