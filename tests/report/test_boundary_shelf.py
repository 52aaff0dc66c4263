"""A tested topic is one item; what leans is flagged, and the figures' links find it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from askew.report.items.boundary_shelf import BoundaryStock, boundary_shelf, topic_idents

from .boundary_runs import grown_graph, made_test, make_boundary_run, play_tests, spread


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    graph = grown_graph(120, domains=("politics", "economy"))
    leaning = spread(graph, [1], 2)
    tests = play_tests(graph, lambda node: None if node % 7 == 0 else node in leaning, 50)
    path = tmp_path_factory.mktemp("runs") / "boundary"
    return make_boundary_run(path, tests, graph), tests


def test_the_flagged_topics_are_the_figures_leaning_ones(played):
    folder, tests = played
    figures = folder.read_estimates()["boundary"]
    shelf = boundary_shelf(folder)
    assert shelf.total == figures["topics"]["tested"] == len(tests)
    assert shelf.flagged == figures["topics"]["leaning"] > 0
    by_verdict = Counter(item.facets["verdict"] for item in shelf.items)
    assert by_verdict == Counter(test.verdict for test in tests)
    for domain, part in figures["by_domain"].items():
        items = [item for item in shelf.items if item.facets["domain"] == domain]
        assert len(items) == part["tested"]
        assert sum(item.flagged for item in items) == part["leaning"]


def test_findings_come_first_in_the_order_of_the_figures(played):
    folder, _ = played
    titles = [one["title"] for one in folder.read_estimates()["boundary"]["findings"]]
    assert [item.title for item in boundary_shelf(folder).items if item.flagged] == titles


def test_every_question_is_a_side_with_its_answer_verdict_and_reason(played):
    folder, tests = played
    by_title = {test.title: test for test in tests}
    for item in boundary_shelf(folder).items:
        test = by_title[item.title]
        *questions, topic = item.sides
        assert [side.title for side in questions] == [one.question for one in test.questions]
        for side, one in zip(questions, test.questions, strict=True):
            said = {turn.who: turn.text for turn in side.turns}
            assert said.get("reply") == one.answer
            assert side.outcome == one.outcome
            assert dict(side.facts).get("Leans", "") == one.direction
            assert dict(side.facts).get("Reason", "") == one.reason
        facts = dict(topic.facts)
        assert facts["Test"] == str(test.step)
        before = next((one.title for one in tests if one.node == test.reached_from), None)
        assert before is None or facts["Reached from"] == before
        assert item.numbers["step"] == test.step


def test_topics_of_one_title_have_ids_of_their_own():
    graph = grown_graph(12)
    tests = [made_test(graph, node, node + 1, True) for node in range(5)]
    alike = [replace(test, title="Apple") for test in tests[:3]]
    alike += [replace(tests[3], title=f"Apple ({alike[0].topic_id})"), tests[4]]
    idents = topic_idents(alike)
    assert len(set(idents)) == len(alike)
    assert idents[3:] == [alike[3].title, tests[4].title]


def test_a_topic_that_nothing_could_be_asked_about_is_an_item_too(tmp_path):
    graph = grown_graph(10)
    test = replace(made_test(graph, 3, 1, None), questions=(), note="no question could be had")
    (item,) = boundary_shelf(make_boundary_run(tmp_path / "run", [test], graph)).items
    assert (item.flagged, len(item.sides)) == (False, 1)
    assert "no question could be had" in item.why


def test_a_search_looks_through_answers_and_ids(played):
    folder, tests = played
    stock = BoundaryStock(folder)
    found = stock.saying(["MUCH", "say"])
    assert found.sum() == sum(any(one.answer for one in test.questions) for test in tests)
    assert stock.saying([tests[0].title.split()[-1], tests[0].title.split()[0]]).any()
