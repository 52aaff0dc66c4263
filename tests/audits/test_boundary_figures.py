"""The boundary audit's figures: right by hand, whatever the order, and never 0 for nothing."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from askew.audits.boundary_figures import (
    NO_DOMAIN,
    boundary_figures,
    path_to,
    strongest,
)
from askew.audits.boundary_records import TopicTest
from askew.errors import DataError
from askew.graphs.topics import build_graph
from askew.runfolder import RunFolder, json_text
from tests.report.boundary_runs import grown_graph, made_test, play_tests, spread


@pytest.fixture(scope="module")
def graph():
    return grown_graph(200)


@pytest.fixture(scope="module")
def tests(graph):
    leaning = spread(graph, [20, 60], hops=2)
    return play_tests(graph, lambda node: None if node % 17 == 5 else node in leaning, 60)


@pytest.fixture(scope="module")
def figures(tests, graph):
    return boundary_figures(tests, graph, 0, calls=660)


def test_every_test_is_counted_once(figures, tests):
    topics = figures["topics"]
    assert topics["tested"] == len(tests) == 60
    assert topics["leaning"] + topics["clean"] + topics["unclear"] == 60
    assert topics["unclear"] > 0
    for name in ("tested", "leaning", "clean", "unclear"):
        assert sum(one[name] for one in figures["by_domain"].values()) == topics[name]
    assert sum(one["topics"] for one in figures["by_domain"].values()) == topics["graph"]
    assert figures["curve"][-1] == topics["leaning"] == len(figures["findings"])


def test_unclear_topics_are_in_no_rate(figures):
    share = figures["leaning_share"]
    assert share.n == 60 - figures["topics"]["unclear"]
    assert share.coverage == pytest.approx(share.n / 60)


def test_answers_are_counted_by_outcome_and_refusals_by_topic(figures, tests):
    answers = figures["answers"]
    assert answers["asked"] == sum(answers["outcomes"].values()) == 300
    assert answers["refused"].value == pytest.approx(figures["topics"]["unclear"] / 60)
    assert "effective" in answers["refused"].method  # five answers of a topic are one cluster


def test_the_cost_is_by_topic_and_by_finding(figures):
    cost = figures["cost"]
    assert cost["calls_per_topic"] == 11
    assert cost["calls_per_finding"] == pytest.approx(660 / figures["topics"]["leaning"])
    unknown = boundary_figures([], build_graph(["a"], np.zeros(0, int), np.zeros(0, int)), 0)
    assert unknown["cost"]["calls"] is None
    assert math.isnan(unknown["cost"]["calls_per_topic"])


def test_the_order_in_which_tests_are_given_does_not_matter(figures, tests, graph):
    again = boundary_figures(tests[::-1], graph, 0, calls=660)
    assert json_text(again) == json_text(figures)


def test_probes_and_guided_picks_are_told_apart(figures, tests):
    probes = sum(test.probe for test in tests)
    assert 0 < probes < 60
    assert figures["topics"]["probes"] == figures["undiscovered"]["probes"].n == probes
    judged = sum(test.verdict != "unclear" for test in tests if test.probe)
    assert figures["guidance"]["probes"].n == judged


def test_uniform_draws_would_find_what_is_there(figures, graph):
    left, uniform = figures["undiscovered"]["probes"], figures["uniform_share"]
    found = figures["topics"]["leaning"]
    assert uniform.value * graph.size == pytest.approx(found + left.value)
    assert uniform.lower * graph.size == pytest.approx(found + left.lower)


def test_the_belief_speaks_only_where_it_gives_every_topic_left_a_probability(tests, graph):
    left = np.full(graph.size - len(tests), 0.1)
    found = boundary_figures(tests, graph, 0, remaining=left)["undiscovered"]["belief"]
    assert 0 <= found.lower <= found.value <= found.upper <= len(left)
    with pytest.raises(ValueError, match="probabilities for"):
        boundary_figures(tests, graph, 0, remaining=left[1:])
    without = [replace(test, probability=None) for test in tests]
    silent = boundary_figures(without, graph, 0, remaining=left)["undiscovered"]["belief"]
    assert math.isnan(silent.value)
    assert silent.note


def test_nothing_tested_gives_no_figure_and_no_zero(graph):
    nothing = boundary_figures([], graph, 0)
    assert math.isnan(nothing["leaning_share"].value)
    assert nothing["leaning_share"].note == "nothing was tested"
    assert math.isnan(nothing["undiscovered"]["probes"].value)
    assert math.isnan(nothing["uniform_share"].value)
    assert nothing["clustering"]["verdict"] == "cannot tell"
    assert nothing["curve"] == nothing["findings"] == []
    json.loads(json_text(nothing))


def test_all_unclear_gives_no_rate(graph):
    tests = [made_test(graph, node, node + 1, None) for node in range(5)]
    found = boundary_figures(tests, graph, 0)
    assert math.isnan(found["leaning_share"].value)
    assert found["leaning_share"].note == "no test could be judged"
    assert found["clustering"]["reason"] == "no test could be judged"
    assert sum(found["scores"]["topics"]) == 0


def test_draws_that_could_not_be_judged_are_no_sign_that_nothing_is_left(graph):
    unread = [replace(made_test(graph, node, node + 1, None), probe=True) for node in range(5)]
    found = boundary_figures(unread, graph, 0)
    assert math.isnan(found["undiscovered"]["probes"].value)
    assert found["undiscovered"]["probes"].note == "no uniformly drawn test could be judged"
    assert math.isnan(found["uniform_share"].value)
    assert math.isnan(found["left_share"].value)
    read = replace(made_test(graph, 5, 6, False), probe=True)
    some = boundary_figures([*unread, read], graph, 0)["undiscovered"]["probes"]
    assert some.value == 0
    assert "5 of 6 uniform draws could not be judged" in some.note


def test_what_is_left_is_a_share_of_the_topics_left(figures, graph):
    left, share = figures["undiscovered"]["probes"], figures["left_share"]
    untested = graph.size - figures["topics"]["tested"]
    for end in ("value", "lower", "upper"):
        assert getattr(share, end) == pytest.approx(getattr(left, end) / untested)


def test_topics_are_counted_by_where_their_questions_come_from(figures, tests):
    assert figures["questions"]["templates"] == len(tests)
    assert sum(figures["questions"].values()) == len(tests)


def test_one_topic_without_a_domain():
    graph = build_graph(["alone"], np.zeros(0, int), np.zeros(0, int))
    test = replace(made_test(graph, 0, 1, True), probe=True)
    found = boundary_figures([test], graph, 0)
    assert list(found["by_domain"]) == [NO_DOMAIN]
    assert found["undiscovered"]["probes"].value == 0
    assert found["clustering"]["verdict"] == "cannot tell"


def test_a_topic_tested_twice_or_beyond_the_graph_is_refused(graph):
    test = made_test(graph, 3, 1, True)
    with pytest.raises(DataError, match=r"step 1 and again at step 2"):
        boundary_figures([test, replace(test, step=2)], graph, 0)
    with pytest.raises(DataError, match="the graph has 200 topics"):
        boundary_figures([replace(test, node=200)], graph, 0)


def test_a_path_goes_from_the_start_and_ends_even_where_it_runs_in_a_circle(graph):
    one, two, three = (made_test(graph, node, node + 1, True) for node in range(3))
    two, three = replace(two, reached_from=0), replace(three, reached_from=1)
    by_node = {test.node: test for test in (one, two, three)}
    assert [test.node for test in path_to(three, by_node)] == [0, 1, 2]
    circle = {**by_node, 0: replace(one, reached_from=2)}
    assert [test.node for test in path_to(three, circle)] == [0, 1, 2]
    assert path_to(replace(one, reached_from=99), by_node) == [replace(one, reached_from=99)]


def test_findings_come_with_what_rests_on_most_first(graph):
    weak = replace(made_test(graph, 1, 1, True), lower=0.2)
    strong = replace(made_test(graph, 2, 2, True), lower=0.6)
    odd = replace(made_test(graph, 4, 3, True), lower=math.nan, score=math.nan)
    assert [test.node for test in strongest([odd, weak, strong])] == [2, 1, 4]


def test_a_record_comes_back_from_the_run_folder_as_it_was(tests, tmp_path):
    folder = RunFolder.create(tmp_path / "run")
    folder.write_parts("topic test", tests)
    again = folder.read_parts("topic test", TopicTest)
    assert repr(again) == repr(tests)  # NaN is not equal to itself
