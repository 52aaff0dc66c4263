"""The boundary part of a report: it stands alone, shows data as text and covers answers."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest

from askew.errors import DataError, RunError
from askew.graphs.topics import TopicGraph, build_graph
from askew.report.page import write_report
from askew.runfolder import RunFolder

from .boundary_runs import grown_graph, made_test, make_boundary_run, play_tests, spread
from .test_page import CONTROLS, LINK, REPLY, Page
from .test_page import check as check_report

PARTS = ["found", "map", "curve", "domains", "evidence", "others"]
SCRIPT = "<script>alert(1)</script>"
ATTRIBUTE = 'x" onmouseover="y'
EVIL = SCRIPT + REPLY + ATTRIBUTE + LINK + CONTROLS


def read(folder: RunFolder, graph: TopicGraph | None = None) -> Page:
    return Page(write_report(folder, graph).read_text(encoding="utf-8"))


def texts_in(page: Page, tag: str) -> list[str]:
    return [data for where, data in page.texts if where[-1:] == (tag,)]


@pytest.fixture(scope="module")
def graph() -> TopicGraph:
    return grown_graph(300)


@pytest.fixture(scope="module")
def page(graph, tmp_path_factory) -> Page:
    leaning = spread(graph, [20, 60, 111], hops=2)
    tests = play_tests(graph, lambda node: None if node % 19 == 5 else node in leaning, 90)
    folder = make_boundary_run(tmp_path_factory.mktemp("boundary") / "toy-run", tests, graph)
    return read(folder, graph)


def check(page: Page) -> None:
    """What holds of every page, whatever the run."""
    check_report(page)
    found = [str(one["id"]) for one in page.all("div") if one.get("class") == "part"]
    assert [ident.removeprefix("boundary-") for ident in found] == PARTS


def test_the_page_is_well_formed_and_needs_nothing_else(page):
    check(page)


def test_the_sentence_stands_first_and_the_method_last(page):
    text = page.text[page.text.index("can this model not be trusted") :]  # below the contents
    places = [
        text.index(said)
        for said in ("90 topics of the 300", "In words", "The map", "Every finding", "GMRL-BD")
    ]
    assert places == sorted(places)


def test_answers_are_covered_until_asked_for(page):
    answers = [where for where, data in page.texts if "there is much to say" in data]
    assert answers
    assert all(where.count("details") >= 2 for where in answers)
    # The map's picture alone stands open, and it has titles and no answer.
    assert {one.get("class") for one in page.all("details") if "open" in one} <= {"map-drawn"}


def test_every_finding_stands_with_its_path_score_and_reasons(page):
    assert len([one for one in page.all("details") if one.get("class") == "pair topic"]) > 5
    text = page.text.replace("\N{NO-BREAK SPACE}", " ")
    assert "4 of 5 answers lean: 80 % (38–96 %)" in text
    assert "Judge: It gives the arguments of one side alone." in page.text
    assert "the belief gave it 30 % before" in text


def test_pictures_say_in_words_what_they_show(page):
    named = [svg for svg in page.all("svg") if svg.get("role") in ("img", "group")]
    assert len(named) == 2
    assert all(svg["aria-labelledby"] for svg in named)
    told = texts_in(page, "desc")
    assert any("tested topics (" in one and "Leaning: Topic" in one for one in told)
    assert any("Uniform draws would have found about" in one for one in told)
    hidden = [svg for svg in page.all("svg") if svg.get("aria-hidden") == "true"]
    assert len(hidden) + len(named) == len(page.all("svg"))


def test_a_verdict_has_a_shape_of_its_own_beside_its_colour(page):
    marks = {(tag, a.get("class")) for tag, a in page.elements if tag in ("path", "circle")}
    assert {("path", "leaning"), ("circle", "clean"), ("path", "unclear"), ("circle", "open")} <= (
        marks
    )
    leaning, unclear = (
        next(a["d"] for t, a in page.elements if t == "path" and a.get("class") == kind)
        for kind in ("leaning", "unclear")
    )
    assert leaning.count("l") == 3
    assert "h" in unclear


def test_text_of_models_and_data_is_shown_as_text(tmp_path):
    base = grown_graph(30)
    graph = build_graph(
        [f"{EVIL[:-1]}{node}" for node in range(30)],  # without the surrogate: titles are UTF-8
        *np.array([(n, p) for n in range(30) for p in base.parents(n)]).T,
        domains=[f"{SCRIPT}{ATTRIBUTE}"] * 30,
    )
    tests = []
    for test in play_tests(graph, lambda node: None if node % 7 == 3 else node % 2 == 0, 25):
        questions = tuple(
            replace(one, question=EVIL, answer=EVIL, direction=EVIL, reason=EVIL)
            for one in test.questions
        )
        tests.append(replace(test, questions=questions, judge=EVIL, note=EVIL))

    def change(estimates):
        estimates["model"] = estimates["askew"] = EVIL
        estimates["calls"] |= {"stopped": EVIL, "message": EVIL, EVIL: EVIL}
        boundary = estimates["boundary"]
        boundary["settings"] = {EVIL: {EVIL: [EVIL]}, "policy": EVIL}
        boundary["clustering"]["reason"] = boundary["undiscovered"]["belief"]["note"] = EVIL

    # TOML has no control characters in a comment.
    configuration = f"# {EVIL.removesuffix(CONTROLS)}\n[boundary]\n"
    folder = make_boundary_run(
        tmp_path / "run <b>", tests, graph, change=change, configuration=configuration
    )
    found = read(folder, graph)
    check(found)
    assert SCRIPT in found.text
    assert "⟨U+001B⟩" in found.text
    assert "\x1b" not in found.text


def test_the_page_of_an_empty_run_says_so(graph, tmp_path):
    page = read(make_boundary_run(tmp_path / "empty", [], graph), graph)
    check(page)
    assert "no topic was tested, so nothing can be said" in page.text
    assert "No topic was found leaning, as none could be judged" in page.text
    assert "cannot be told" in page.text


def test_the_page_of_a_run_without_verdicts_says_so(graph, tmp_path):
    tests = [made_test(graph, node, node + 1, None) for node in range(9)]
    page = read(make_boundary_run(tmp_path / "unclear", tests, graph), graph)
    check(page)
    assert "none could be judged" in page.text
    assert "Unclear topics (9)" in page.text


def test_one_topic_is_enough_for_a_page(tmp_path):
    graph = build_graph(["Alone"], np.zeros(0, int), np.zeros(0, int))
    page = read(make_boundary_run(tmp_path / "one", play_tests(graph, bool, 1), graph), graph)
    check(page)
    assert "none is left untested" in page.text


def test_the_tests_of_another_graph_are_refused(graph, tmp_path):
    tests = [made_test(graph, 250, 1, True)]
    folder = make_boundary_run(tmp_path / "other", tests, graph)
    with pytest.raises(DataError, match="the graph has 30 topics"):
        write_report(folder, grown_graph(30))


def test_a_run_without_figures_is_refused(graph, tmp_path):
    with pytest.raises(RunError, match=r"no estimates\.json yet"):
        write_report(RunFolder.create(tmp_path / "fresh"), graph)


@pytest.mark.parametrize("sign", ["x", "\x00", "\u202e", "<"])
def test_an_answer_of_a_megabyte_is_cut_and_no_finding_is_lost(sign, graph, tmp_path):
    tests = [
        replace(
            test,
            questions=tuple(
                replace(one, answer=sign * 1_000_000, reason=sign * 100_000)
                for one in test.questions
            ),
        )
        for test in (made_test(graph, node, node + 1, True) for node in range(3))
    ]
    folder = make_boundary_run(tmp_path / "long", tests, graph)
    written = write_report(folder, graph)
    assert written.stat().st_size < 2_000_000
    page = Page(written.read_text(encoding="utf-8"))
    check(page)
    assert page.text.count("How the search came here") == 3
    assert "more characters: see the run folder" in page.text


def test_a_large_search_leaves_a_page_that_opens(tmp_path):
    graph = grown_graph(5_000, domains=[f"domain {n}" for n in range(40)])
    long = "There is much to say. " * 200
    tests = [
        replace(test, questions=tuple(replace(one, answer=long) for one in test.questions))
        for test in (made_test(graph, node, node + 1, node % 8 == 0) for node in range(1_200))
    ]
    folder = make_boundary_run(tmp_path / "large", tests, graph)
    began = time.process_time()
    written = write_report(folder, graph)
    assert time.process_time() - began < 15
    assert written.stat().st_size < 2_000_000
    page = Page(written.read_text(encoding="utf-8"))
    check(page)
    assert "the run folder has all" in page.text
