"""What is said of a boundary run follows from its figures, and never goes beyond them."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from rich.console import Console

from askew.report.boundary_run import BoundaryRun
from askew.report.boundary_summary import findings, sentence, warnings
from askew.report.boundary_table import LISTED, brief_table, run_table
from askew.report.grid import to_csv, to_json, to_markdown
from askew.report.terminal import to_rich

from .boundary_runs import grown_graph, make_boundary_run, play_tests, spread
from .conftest import estimate


@pytest.fixture(scope="module")
def estimates(tmp_path_factory) -> dict[str, Any]:
    graph = grown_graph(300)
    leaning = spread(graph, [20, 60, 111], hops=2)
    tests = play_tests(graph, lambda node: None if node % 19 == 5 else node in leaning, 90)
    folder = make_boundary_run(tmp_path_factory.mktemp("summary") / "run", tests, graph)
    return folder.read_estimates()


def told(**parts: Any) -> dict[str, Any]:
    """Figures of a small run; parts replace its own."""
    boundary = {
        "topics": {"graph": 500, "tested": 50, "leaning": 10, "clean": 40, "unclear": 0},
        "leaning_share": estimate(0.2, 0.11, 0.33, 50),
        "settings": {"queries": 50},
    }
    boundary["topics"]["probes"] = 5
    return {"model": "toy/one", "boundary": {**boundary, **parts}}


def clustering(verdict: str, reason: str = "") -> dict[str, Any]:
    return {
        "verdict": verdict,
        "reason": reason,
        "beside_leaning": estimate(0.4, 0.2, 0.6, 20),
        "beside_clean": estimate(0.1, 0.05, 0.2, 30),
        "p_value": 0.004,
        "smallest_visible": 0.21,
    }


def test_the_sentence_says_what_was_tested_and_found(estimates):
    said = sentence(estimates)
    assert said.startswith("toy/oracle: 90 topics of the 300 in the graph tested; on ")
    assert "could not be judged" in said
    assert "may be left undiscovered" in said
    assert said.endswith(".")


@pytest.mark.parametrize("figures", [{}, {"boundary": {}}, {"boundary": 3}, told(topics={})])
def test_a_file_without_figures_says_nothing_was_tested(figures):
    assert "no topic was tested" in sentence(figures)
    assert findings(figures) == ["Nothing was tested."]
    assert [table.rows is not None for table in run_table(figures)]


def test_nothing_found_is_not_called_clean():
    none = {"graph": 500, "tested": 50, "leaning": 0, "clean": 50, "unclear": 0}
    said = sentence(told(topics=none, leaning_share=estimate(0.0, 0.0, 0.07, 50)))
    assert "none of the 50 that could be judged was found leaning" in said
    assert "at most 7 %" in said
    assert "how many are left undiscovered cannot be told" in said


def test_clustering_is_told_with_both_shares():
    said = " ".join(findings(told(clustering=clustering("clusters"))))
    assert "Leaning clusters on this graph: beside a topic already found leaning 40 %" in said
    assert "p = 0.004" in said


def test_where_nothing_clusters_a_guided_search_is_called_no_better():
    said = " ".join(findings(told(clustering=clustering("does not cluster"))))
    assert "A search that goes by the graph is then no better than uniform draws" in said


def test_what_cannot_be_told_says_why_and_what_could_have_been_seen():
    said = " ".join(findings(told(clustering=clustering("cannot tell", "too few"))))
    assert "cannot be told: too few" in said
    assert "four of five such searches would show: 21 points" in said


@pytest.mark.parametrize(
    ("recent", "left", "said"),
    [
        (estimate(0.5, 0.3, 0.7, 30), estimate(0.05, 0.02, 0.1), "still pays"),
        (estimate(0.0, 0.0, 0.1, 30), estimate(0.3, 0.2, 0.4), "less than uniform draws would"),
        (estimate(0.0, 0.0, 0.1, 30), estimate(0.01, 0.0, 0.02), "Little is left"),
        (estimate(0.1, 0.0, 0.3, 30), estimate(0.1, 0.0, 0.3), "cannot be told from so few"),
    ],
)
def test_the_advice_on_stopping_follows_from_both_intervals(recent, left, said):
    part = {"tests": 30, "leaning": 3, "leaning_share": recent}
    assert said in " ".join(findings(told(recent=part, left_share=left)))


def test_where_much_was_found_and_little_is_left_it_is_called_little():
    """What was found already does not speak for going on."""
    part = {"tests": 30, "leaning": 1, "leaning_share": estimate(0.03, 0.0, 0.17, 30)}
    figures = told(
        topics={"graph": 100, "tested": 80, "leaning": 40, "clean": 40, "unclear": 0, "probes": 20},
        recent=part,
        uniform_share=estimate(0.4, 0.4, 0.41, 20),
        left_share=estimate(0.0, 0.0, 0.02, 20),
    )
    assert "Little is left" in " ".join(findings(figures))


def test_shares_of_domains_are_called_no_rates_of_them():
    share = {"leaning_share": estimate(0.5, 0.2, 0.8, 10)}
    assert "no rates of the domains" in " ".join(findings(told(by_domain={"a": share, "b": share})))


def test_a_search_that_is_worth_its_guidance_is_called_so():
    guidance = {
        "guided": estimate(0.4, 0.3, 0.5, 45),
        "probes": estimate(0.05, 0.0, 0.2, 20),
        "difference": estimate(0.35, 0.1, 0.5, 65),
    }
    assert "found more than chance would" in " ".join(findings(told(guidance=guidance)))
    guidance["difference"] = estimate(0.1, -0.1, 0.3, 65)
    assert "cannot be told (−10 to +30 points)" in " ".join(findings(told(guidance=guidance)))


def test_both_ways_to_the_undiscovered_are_told_and_the_assumption_with_them():
    left = {"probes": estimate(30, 4.2, 90.7, 12), "belief": estimate(21, 15, 30, 50)}
    said = " ".join(findings(told(undiscovered=left)))
    assert "By 12 uniformly drawn tests 4 to 91 leaning topics are left undiscovered" in said
    assert "by the search's own belief 21 (15–30), if it is as right about" in said


def test_warnings_name_what_stands_between_the_figures_and_their_use():
    topics = {"graph": 500, "tested": 40, "leaning": 5, "clean": 20, "unclear": 15, "probes": 0}
    figures = told(topics=topics, answers={"refused": estimate(0.4, 0.3, 0.5, 200)})
    figures["calls"] = {"stopped": "budget", "message": "the budget is spent"}
    said = " ".join(warnings(figures))
    for part in ("15 of 40 tests", "declined 40 %", "No test was drawn", "after 40 of 50", "spent"):
        assert part in said
    assert warnings(told()) == []


def test_warnings_say_whose_replies_could_not_be_used():
    figures = told(
        answers={"asked": 100, "outcomes": {"unjudged": 30, "clean": 70}},
        questions={"templates": 12, "generated": 38},
    )
    figures["calls"] = {
        "judge_faults": {"no_verdict": 60},
        "question_faults": {"<b>no list": 24, "few": 0},
    }
    assert "30 of 100 answers have no verdict" in " ".join(warnings(figures))
    assert "(no verdict 60)" in " ".join(warnings(figures))
    assert "generator" not in " ".join(warnings(figures))  # nobody was to write questions
    figures["models"] = {"target": "toy/one", "generator": "toy/two"}
    assert "for 12 topics of 50 (<b>no list 24)" in " ".join(warnings(figures))


def places(tree: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every place of a parsed file."""
    if isinstance(tree, dict):
        for name, part in tree.items():
            yield (*path, name)
            yield from places(part, (*path, name))


@pytest.mark.parametrize("other", [None, "x", [[]], {}, -1])
def test_a_file_with_another_thing_at_any_place_is_still_told(estimates, other):
    for path in list(places(estimates))[::2]:
        changed = copy.deepcopy(estimates)
        part = changed
        for name in path[:-1]:
            part = part[name]
        part[path[-1]] = other
        assert sentence(changed)
        assert findings(changed)
        assert all(map(to_markdown, run_table(changed)))
        assert isinstance(warnings(changed), list)


def test_a_long_title_is_cut_and_stays_on_one_line():
    one = {"title": "a\nb" * 60, "leaning_answers": 4, "judged_answers": 5}
    said = " ".join(findings(told(findings=[one])))
    assert "…" in said
    assert "\n" not in said


def test_every_way_to_show_the_tables_works(estimates):
    tables = run_table(estimates, "run")
    assert tables[0].title == "toy/oracle (run): where it leans"
    domains = tables[1]
    assert domains.rows[-1].cells[:3] == ("All", 300, 90)
    console = Console(width=80, record=True)
    for table in tables:
        console.print(to_rich(table))
        assert to_markdown(table)
        assert to_csv(table)
    assert "null" in to_json(tables)
    assert brief_table(BoundaryRun("", estimates)).rows


def test_findings_beyond_the_table_are_counted():
    one = {"title": "t", "leaning_answers": 4, "judged_answers": 5, "lower": 0.4, "upper": 1.0}
    table = run_table(told(findings=[one] * (LISTED + 3)))[0]
    assert len(table.rows) == LISTED
    assert "3 more findings in estimates.json." in table.notes
