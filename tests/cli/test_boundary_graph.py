"""`askew boundary graph`, as a user types it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from askew.cli.boundary_graph import app
from askew.errors import ConfigError, DataError
from askew.graphs.topic_storage import open_graph
from tests.graphs.topic_graphs import edge_set

EDGES = "parent\tchild\nTopics\tEconomy\nEconomy\tTrade\nTrade\tTariffs\nTopics\tCulture\n"


def invoke(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def edges(tmp_path):
    path = tmp_path / "edges.tsv"
    path.write_text(EDGES)
    return path


@pytest.fixture
def built(tmp_path, edges):
    assert invoke("build", "--edges", edges, "--out", tmp_path / "graph").exit_code == 0
    return tmp_path / "graph"


def test_a_list_of_edges_is_built_shown_searched_and_cut(tmp_path, built):
    shown = invoke("show", built)
    assert shown.exit_code == 0
    assert "edges edges.tsv" in shown.stdout
    assert "3 below Topics" in shown.stdout
    found = invoke("find", built, "tra")
    assert found.stdout == "Trade  (id 2, under Economy, children: 1)\n"
    cut = invoke("sub", built, "--root", "economy", "--depth", 1, "--out", tmp_path / "part")
    assert "2 of 5 topics" in cut.stdout
    part = open_graph(tmp_path / "part")
    assert edge_set(part.graph) == {("Trade", "Economy")}
    assert part.source == "edges edges.tsv; below economy; to depth 1"


def test_what_was_left_out_is_printed_and_kept(tmp_path, edges):
    edges.write_text(EDGES + "Trade\tTrade\nTopics\tCulture\nTopics\t\n")
    out = tmp_path / "graph"
    assert isinstance(invoke("build", "--edges", edges, "--out", out).exception, DataError)
    assert not out.exists()
    made = invoke("build", "--edges", edges, "--out", out, "--lenient")
    for line in ("self loops: 1", "repeated edges: 1", "no title: 1"):
        assert line in made.stdout
        assert line in invoke("show", out).stdout
    counts = json.loads(invoke("show", out, "--json").stdout)["counts"]
    assert (counts["self_loops"], counts["no_title"]) == (1, 1)


def test_the_starter_graph_is_there_by_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    figures = json.loads(invoke("show", "starter", "--json").stdout)["statistics"]
    assert len(figures["domains"]) == 6
    assert figures["parts"] == 1
    assert "Tariffs" in invoke("find", "starter", "tariff").stdout
    assert invoke("sub", "starter", "--domain", "economy", "--out", "economy").exit_code == 0
    assert open_graph(tmp_path / "economy").graph.domains == ("economy",)
    assert invoke("build", "--starter", "--out", "whole").exit_code == 0
    assert open_graph(tmp_path / "whole").graph.size == figures["nodes"]


def test_domains_are_given_by_their_roots(tmp_path, edges):
    options = ("--domain", "money=Economy", "--domain", "arts = Culture")
    invoke("build", "--edges", edges, "--out", tmp_path / "graph", *options)
    graph = open_graph(tmp_path / "graph").graph
    assert [graph.domain(node) for node in range(graph.size)] == [
        None,
        "money",
        "money",
        "money",
        "arts",
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "expected one of --dump"),
        (("--starter", "--edges", "{edges}"), "--edges and --starter"),
        (("--starter", "--order", "child,parent"), "are for --edges"),
        (("--starter", "--lenient"), "are for --edges"),
        (("--starter", "--keep-maintenance"), "are for --dump and --skos"),
        (("--edges", "{edges}", "--drop-below", "Economy"), "are for --dump and --skos"),
        (("--edges", "{edges}", "--keep-red"), "is for --dump"),
        (("--edges", "nowhere.tsv"), "no such file"),
        (("--starter", "--domain", "economy"), "NAME=TITLE"),
        (("--starter", "--domain", "a=Economy", "--domain", "a=Culture"), "'a' twice"),
        (("--starter", "--domain", "a=Ecnomy"), "Near it: 'Economy'"),
        (("--starter", "--domain", "a=Economy", "--domain", "b=economy"), "the same root"),
    ],
)
def test_a_build_that_cannot_be_is_refused_and_leaves_nothing(tmp_path, edges, options, message):
    given = [one.format(edges=edges) for one in options]
    trouble = invoke("build", *given, "--out", tmp_path / "graph").exception
    assert isinstance(trouble, (ConfigError, DataError))
    assert message in str(trouble)
    assert not (tmp_path / "graph").exists()


def test_a_graph_is_replaced_by_force_alone(tmp_path, built):
    again = invoke("build", "--starter", "--out", built)
    assert "--force" in str(again.exception)
    assert open_graph(built).graph.size == 5
    assert invoke("build", "--starter", "--out", built, "--force").exit_code == 0
    assert open_graph(built).graph.size > 5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "nothing says which part"),
        (("--depth", 2), "name --root"),
        (("--root", "Econom"), "Near it: 'Economy'"),
        (("--domain", "x"), "It has: none"),
    ],
)
def test_a_part_that_cannot_be_cut_is_refused(tmp_path, built, options, message):
    trouble = invoke("sub", built, "--out", tmp_path / "part", *options).exception
    assert message in str(trouble)
    assert not (tmp_path / "part").exists()


def test_the_largest_part_is_cut_out(tmp_path, edges):
    edges.write_text(EDGES + "Alone\tQuite alone\n")
    invoke("build", "--edges", edges, "--out", tmp_path / "graph")
    invoke("sub", tmp_path / "graph", "--largest-part", "--out", tmp_path / "part")
    assert open_graph(tmp_path / "part").graph.size == 5


def test_a_title_that_is_not_there_is_a_no(built):
    nothing = invoke("find", built, "quartz")
    assert nothing.exit_code == 1
    assert "no title of 5 is like 'quartz'" in nothing.stderr
    assert json.loads(invoke("find", built, "quartz", "--json").stdout) == []


def test_what_is_no_graph_says_how_to_make_one(tmp_path):
    assert "askew boundary graph build" in str(invoke("show", tmp_path).exception)


def test_show_reads_every_byte_of_a_graph(tmp_path, built):
    path = built / "title_bytes.npy"
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    assert "title_bytes.npy" in str(invoke("show", built).exception)


def test_titles_do_not_steer_the_terminal(tmp_path, edges):
    edges.write_text("child\tparent\n\x1b[31mRed\tTop\n")
    invoke("build", "--edges", edges, "--out", tmp_path / "graph")
    for command in (("find", tmp_path / "graph", "red"), ("show", tmp_path / "graph")):
        assert "\x1b" not in invoke(*command).stdout
    assert "⟨U+001B⟩[31mRed" in invoke("find", tmp_path / "graph", "red").stdout


def skos(path, *pairs):
    """A file of DBpedia's form from "narrower > broader" pairs."""
    category, broader = "<http://dbpedia.org/resource/Category:{}>", "skos/core#broader"
    lines = []
    for pair in pairs:
        ends = [category.format(end.strip().replace(" ", "_")) for end in pair.split(">")]
        lines.append(f"{ends[0]} <http://www.w3.org/2004/02/{broader}> {ends[1]} .\n")
    path.write_text("".join(lines))
    return path


def test_maintenance_categories_are_dropped_by_rule_and_counted(tmp_path):
    file = skos(
        tmp_path / "skos.nt",
        "Trade > Economy",
        "Trade > Wikipedia x",
        "Dead links > Wikipedia x",
        "Trade > Trade",
    )
    made = invoke("build", "--skos", file, "--out", tmp_path / "a")
    assert made.exit_code == 0, made.exception
    for text in ("Wrote 2 topics", "maintenance wikipedia: 1", "maintenance under maintenance: 1"):
        assert text in made.stdout
    assert "self loops: 1" in made.stdout
    assert set(open_graph(tmp_path / "a").graph.titles()) == {"Trade", "Economy"}
    kept = invoke("build", "--skos", file, "--out", tmp_path / "b", "--keep-maintenance")
    assert "Wrote 4 topics" in kept.stdout


def test_what_stands_below_a_named_category_is_dropped(tmp_path):
    pairs = ("Trade > Economy", "Tariffs > Trade", "Poetry > Culture")
    file = skos(tmp_path / "skos.nt", *pairs)
    made = invoke("build", "--skos", file, "--out", tmp_path / "a", "--drop-below", "Economy")
    assert "below named: 3" in made.stdout
    assert set(open_graph(tmp_path / "a").graph.titles()) == {"Poetry", "Culture"}


def test_a_source_of_which_nothing_is_left_is_an_error(tmp_path):
    file = skos(tmp_path / "skos.nt", "Wikipedia a > Wikipedia b", "CS1 x > Wikipedia b")
    trouble = invoke("build", "--skos", file, "--out", tmp_path / "graph").exception
    assert isinstance(trouble, DataError)
    assert not (tmp_path / "graph").exists()


def test_a_dump_is_built_from_its_folder(cases_folder, tmp_path):
    dump = cases_folder / "inputs" / "dump" / "legacy"
    pytest.importorskip("numba")
    made = invoke("build", "--dump", dump, "--out", tmp_path / "graph")
    assert made.exit_code == 0, made.exception
    graph = open_graph(tmp_path / "graph").graph
    assert ("1984", "Semi;colon -- dash") in {
        (graph.title(node), graph.title(int(child)))
        for node in range(graph.size)
        for child in graph.children(node)
    }


@pytest.fixture
def cases_folder():
    folder = os.environ.get("ASKEW_CASES")
    if not folder:
        pytest.skip("ASKEW_CASES is not set: a folder with inputs/dump/")
    return Path(folder)


def test_a_folder_without_a_dump_is_an_error(tmp_path):
    pytest.importorskip("numba")
    trouble = invoke("build", "--dump", tmp_path, "--out", tmp_path / "graph").exception
    assert isinstance(trouble, DataError)
    assert not (tmp_path / "graph").exists()
