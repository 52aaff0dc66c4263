"""Plain tables of topics: what is read, and that each fault is named with its file and line."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askew.errors import ConfigError, DataError
from askew.graphs.topic_edges import (
    UNLABELLED,
    read_edge_list,
    read_edges,
    read_topic_folder,
    read_wikispeedia,
)
from askew.graphs.topic_subgraph import cycles
from tests.graphs.topic_graphs import edge_set, graphs
from tests.prompts.items import data_folder

NODES = "id\ttitle\tdomain\n1\tEconomy\teconomy\n2\tTrade\teconomy\n3\tTariffs\t\n"
EDGES = "child\tparent\n2\t1\n3\t2\n"
LABELS = "model\tnode\tlabel\na\t1\t0\na\t3\t1\nb\t3\t0\n"


@pytest.fixture
def folder(tmp_path):
    """Writes a folder; what is not given is as it should be."""

    def write(nodes=NODES, edges=EDGES, labels=LABELS, packed=()):
        for name, text in (("nodes.tsv", nodes), ("edges.tsv", edges), ("labels.tsv", labels)):
            if text is None:
                continue
            data = text if isinstance(text, bytes) else text.encode()
            if name in packed:
                (tmp_path / f"{name}.gz").write_bytes(gzip.compress(data))
            else:
                (tmp_path / name).write_bytes(data)
        return tmp_path

    return write


def test_a_folder_is_read_with_its_domains_and_labels(folder):
    read = read_topic_folder(folder())
    assert read.graph.titles() == ["Economy", "Trade", "Tariffs"]
    assert read.graph.ids.tolist() == [1, 2, 3]
    assert edge_set(read.graph) == {("Trade", "Economy"), ("Tariffs", "Trade")}
    assert [read.graph.domain(node) for node in range(3)] == ["economy", "economy", None]
    assert {model: labels.tolist() for model, labels in read.labels.items()} == {
        "a": [0, UNLABELLED, 1],
        "b": [UNLABELLED, UNLABELLED, 0],
    }
    assert (read.counts["topics"], read.counts["edges"], read.counts["labels"]) == (3, 2, 3)
    assert set(read.checksums) == {"nodes.tsv", "edges.tsv", "labels.tsv"}


SAME = {
    "without headers": [text.split("\n", 1)[1] for text in (NODES, EDGES, LABELS)],
    "with CRLF": [text.replace("\n", "\r\n") for text in (NODES, EDGES, LABELS)],
    "with a byte-order mark": ["\ufeff" + text for text in (NODES, EDGES, LABELS)],
    "without an LF at the end": [text.removesuffix("\n") for text in (NODES, EDGES, LABELS)],
    "with blank lines": [text.replace("\n", "\n \n\n") for text in (NODES, EDGES, LABELS)],
    "with comments": ["# made by hand\n#x\n" + text for text in (NODES, EDGES, LABELS)],
    "with a header behind a sharp": ["#" + text for text in (NODES, EDGES, LABELS)],
    "with other column names": [
        NODES.replace("id\ttitle", "Node ID\tName"),
        EDGES.replace("child\tparent", "child_id\tParent-ID"),
        LABELS.replace("model\tnode\tlabel", "LLM\ttopic_id\tbiased"),
    ],
    "with blanks around fields": [text.replace("\t", " \t ") for text in (NODES, EDGES, LABELS)],
    "without the empty last field": [NODES.replace("Tariffs\t", "Tariffs"), EDGES, LABELS],
    "with ids as pandas writes them": [NODES, EDGES.replace("3\t2", "3.0\t2.0"), LABELS],
    "with labels as pandas writes them": [NODES, EDGES, LABELS.replace("\t1\n", "\t1.0\n")],
    "with columns in another order": [
        NODES,
        "parent\tchild\n1\t2\n2\t3\n",
        "label\tmodel\tnode\n0\ta\t1\n1\ta\t3\n0\tb\t3\n",
    ],
    "with a column that is not used": [NODES, "child\tparent\tweight\n2\t1\t9\n3\t2\t9\n", LABELS],
    "with an unused column before the others": [
        "size\t" + NODES.replace("\n", "\n9\t").removesuffix("9\t"),
        "weight\t" + EDGES.replace("\n", "\n.5\t").removesuffix(".5\t"),
        "note\t" + LABELS.replace("\n", "\n-\t").removesuffix("-\t"),
    ],
    "with underscores": [NODES.replace("Trade", "_Trade_"), EDGES, LABELS],
}


@pytest.mark.parametrize("how", SAME)
def test_the_same_tables_written_otherwise_are_the_same_graph(folder, tmp_path_factory, how):
    read = read_topic_folder(folder(*SAME[how]))
    usual = tmp_path_factory.mktemp("usual")
    for name, text in (("nodes.tsv", NODES), ("edges.tsv", EDGES), ("labels.tsv", LABELS)):
        (usual / name).write_text(text)
    expected = read_topic_folder(usual)
    assert read.graph.equals(expected.graph)
    assert read.labels.keys() == expected.labels.keys()
    for model, labels in expected.labels.items():
        np.testing.assert_array_equal(read.labels[model], labels)


def test_each_file_may_be_packed(folder):
    packed = ("nodes.tsv", "edges.tsv", "labels.tsv")
    assert read_edges(folder(packed=packed)).graph.size == 3


def test_labels_may_be_absent(folder):
    assert read_topic_folder(folder(labels=None)).labels == {}


FAULTS = {
    "unknown child": ({"edges": "2\t1\n9\t1\n"}, "edges.tsv:2: field 'child' is '9'"),
    "unknown parent": ({"edges": EDGES + "3\t\n"}, "edges.tsv:4: field 'parent' is ''"),
    "unknown labelled node": ({"labels": "a\t9\t1\n"}, "labels.tsv:1: field 'node' is '9'"),
    "repeated id": ({"nodes": NODES + "2\tShops\t\n"}, "nodes.tsv:5: field 'id' is '2'"),
    "no id": ({"nodes": NODES + "\tShops\t\n"}, "nodes.tsv:5: field 'id' is ''"),
    "no title": ({"nodes": NODES + "4\t _ \t\n"}, "nodes.tsv:5: field 'title' is ''"),
    "one field": ({"nodes": NODES + "4 Shops\n"}, "nodes.tsv:5: .*3 fields .id, title, domain"),
    "four fields": ({"nodes": NODES + "4\ta\tb\tc\n"}, "nodes.tsv:5: .*Put one tab"),
    "three ends": ({"edges": EDGES + "3\t2\t1\n"}, "edges.tsv:4: "),
    "label 2": ({"labels": "a\t1\t2\n"}, "labels.tsv:1: field 'label' is '2', expected 0 or 1"),
    "label NaN": ({"labels": "a\t1\tnan\n"}, "labels.tsv:1: field 'label' is 'nan'"),
    "label .5": ({"labels": "a\t1\t0.5\n"}, "labels.tsv:1: field 'label' is '0.5'"),
    "no model": ({"labels": "\t1\t1\n"}, "labels.tsv:1: field 'model' is ''"),
    "labels that disagree": (
        {"labels": LABELS + "a\t3\t0\n"},
        "labels.tsv:5: field 'label' is '0', expected 1, as in line 3",
    ),
    "bad bytes": ({"nodes": NODES.encode() + b"4\tCaf\xe9\t\n"}, "nodes.tsv:5: .*0xe9"),
    "UTF-16": ({"nodes": NODES.encode("utf-16")}, "UTF-16"),
    "CR alone": ({"edges": EDGES.replace("\n", "\r")}, "lines end in CR alone"),
    "empty nodes": ({"nodes": ""}, "nodes.tsv: the file is empty"),
    "empty edges": ({"edges": "\n\n"}, "edges.tsv: the file is empty"),
    "comments alone": ({"edges": "# nothing\n"}, "edges.tsv: the file is empty"),
    "empty labels": ({"labels": ""}, "labels.tsv: the file is empty"),
    "a header alone for nodes": ({"nodes": "id\ttitle\n", "edges": EDGES}, "unknown|'2'"),
    "a header alone for edges": ({"edges": "child\tparent\n"}, "3 topics and no edge"),
    "a header alone for labels": ({"labels": "model\tnode\tlabel\n"}, "no labels in it"),
    "loops alone": ({"edges": "1\t1\n2\t2\n"}, "3 topics and no edge"),
    "no nodes": ({"nodes": None}, "no nodes.tsv in it"),
    "no edges": ({"edges": None}, "edges.tsv: there is no such file"),
    "a header without titles": ({"nodes": "id\tsize\n1\t2\n"}, "no column 'title'"),
    "a header with a column twice": ({"edges": "child\tchild_id\n"}, "'child' twice"),
    "commas": ({"edges": "child,parent\n2,1\n"}, "edges.tsv:1: .*2 fields"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_is_named(folder, name):
    given_files, message = FAULTS[name]
    with pytest.raises(DataError, match=message):
        read_edges(folder(**given_files))


@pytest.mark.parametrize("name", ["nodes.tsv", "edges.tsv", "labels.tsv"])
def test_a_packed_file_that_was_cut_off_is_never_read_to_its_end(folder, name):
    path = folder(packed=(name,)) / f"{name}.gz"
    path.write_bytes(path.read_bytes()[:-6])
    with pytest.raises(DataError, match=rf"{name}\.gz: the gzip stream is damaged or cut off"):
        read_edges(path.parent)


def test_two_files_for_one_table_are_refused(folder):
    path = folder()
    (path / "labels.tsv.gz").write_bytes(gzip.compress(LABELS.encode()))
    with pytest.raises(DataError, match=r"both labels\.tsv and labels\.tsv\.gz"):
        read_edges(path)


def test_all_faults_are_listed_at_once_but_no_more_than_twenty(folder):
    bad = "".join(f"{number}\t1\n" for number in range(100, 130))
    with pytest.raises(DataError, match=r"(?s)^30 lines.*edges.tsv:4:.*and 10 more") as raised:
        read_edges(folder(edges=EDGES + bad))
    assert str(raised.value).count("edges.tsv:") == 20


def test_lenient_reading_leaves_out_and_counts(folder):
    path = folder(
        nodes=NODES.encode() + b"2\tAgain\t\n4\t\xff\t\n",
        edges=EDGES + "9\t1\n1\n2\t1\n1\t1\n",
        labels=LABELS + "a\t1\t0\na\t3\t0\na\t3\t1\nb\t1\tyes\n",
    )
    read = read_edges(path, lenient=True)
    assert read.graph.titles() == ["Economy", "Trade", "Tariffs"]
    assert read.graph.edges == 2
    assert read.labels["a"].tolist() == [0, UNLABELLED, UNLABELLED]  # 3 is contradicted
    counted = {name: count for name, count in read.counts.items() if count}
    assert counted == {
        "topics": 3,
        "edges": 2,
        "self_loops": 1,
        "repeated_edges": 1,
        "repeated_id": 1,
        "not_utf8": 1,
        "unknown_child": 1,
        "wrong_number_of_fields": 1,
        "label": 1,
        "contradicted_labels": 1,
        "repeated_labels": 2,
        "labels": 2,
    }


def test_ids_may_be_words(folder):
    path = folder("x\tEconomy\ny\tTrade\n", "y\tx\n", "m\ty\t1\n")
    read = read_edges(path)
    assert read.graph.ids.tolist() == [0, 1]
    assert read.written_ids == ("x", "y")
    assert read.labels["m"].tolist() == [UNLABELLED, 1]
    assert "no whole numbers" in read.notes[0]


def test_ids_beyond_64_bits_are_words(folder):
    path = folder(f"{10**30}\tEconomy\n7\tTrade\n", f"7\t{10**30}\n", None)
    assert read_edges(path).graph.ids.tolist() == [0, 1]


def test_one_topic_alone_is_a_graph(folder):
    assert read_edges(folder("1\tEconomy\n", "1\t1\n", "m\t1\t1\n")).graph.size == 1


def test_titles_that_repeat_are_kept_and_said(folder):
    read = read_edges(folder(nodes=NODES + "4\tTrade\t\n"))
    assert read.graph.size == 4
    assert read.counts["repeated_titles"] == 1
    assert "1 topics have the title" in read.notes[0]


def test_hostile_titles_are_kept_as_they_are(folder):
    title = "<script>alert(1)</script> \x1b[31m\u2028"
    read = read_edges(folder(nodes=NODES + f"4\t{title}x\t\n"))
    assert read.graph.titles()[3] == f"{title}x"


@settings(deadline=None, max_examples=40)
@given(graphs(), st.booleans())
def test_any_graph_comes_back_from_its_tables(tmp_path_factory, graph, packed):
    folder = tmp_path_factory.mktemp("any")
    titles = [f"t{node}" for node in range(graph.size)]
    nodes = "".join(f"{graph.ids[node]}\t{titles[node]}\n" for node in range(graph.size))
    pairs = [(node, int(p)) for node in range(graph.size) for p in graph.parents(node)]
    edges = "".join(f"{graph.ids[child]}\t{graph.ids[parent]}\n" for child, parent in pairs)
    for name, text in (("nodes.tsv", nodes), ("edges.tsv", edges)):
        data = text.encode()
        (folder / f"{name}.gz" if packed else folder / name).write_bytes(
            gzip.compress(data) if packed else data
        )
    if not pairs:
        with pytest.raises(DataError):
            read_topic_folder(folder)
        return
    read = read_topic_folder(folder)
    assert edge_set(read.graph) == {(titles[child], titles[parent]) for child, parent in pairs}


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("parent\tchild\nA\tB\nB\tC_d\nA\tB\n", None),
        ("child\tparent\nB\tA\nC d\tB\n", None),
        ("B\tA\nC d\tB\n", "child,parent"),
        ("A\tB\nB\tC d\n", "parent,child"),
    ],
)
def test_a_list_of_titles_is_read_in_either_order(tmp_path, text, order):
    (tmp_path / "edges.tsv").write_text(text)
    read = read_edge_list(tmp_path / "edges.tsv", order=order)
    assert edge_set(read.graph) == {("B", "A"), ("C d", "B")}


def test_a_list_whose_order_nobody_says_is_refused(tmp_path):
    (tmp_path / "edges.tsv").write_text("Child\tPeople\nTeacher\tPeople\n")
    with pytest.raises(DataError, match="--order child,parent"):
        read_edges(tmp_path / "edges.tsv")
    read = read_edges(tmp_path / "edges.tsv", order="child,parent")
    assert edge_set(read.graph) == {("Child", "People"), ("Teacher", "People")}


def test_an_order_that_the_header_contradicts_is_refused(tmp_path):
    (tmp_path / "edges.tsv").write_text("child\tparent\nB\tA\n")
    with pytest.raises(DataError, match=r"header says .* child,parent, the order given is parent"):
        read_edges(tmp_path / "edges.tsv", order="parent,child")
    assert edge_set(read_edges(tmp_path / "edges.tsv", order="child,parent").graph) == {("B", "A")}


def test_a_topic_may_begin_with_a_sharp(tmp_path):
    (tmp_path / "edges.tsv").write_text("# made by hand\nchild\tparent\n#MeToo\tFeminism\n")
    read = read_edge_list(tmp_path / "edges.tsv")
    assert edge_set(read.graph) == {("#MeToo", "Feminism")}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "the file is empty"),
        (b"child\tparent\n", "no topic in it"),
        (b"child\tparent\nA\t\n", "edges.tsv:2: field 'parent' is ''"),
        (b"child\tparent\nA\tA\n", None),
        (b"child\tparent\nA\xff\tB\n", "edges.tsv:2: .*0xff"),
        (b"child\tparent\nA\n", "edges.tsv:2: "),
    ],
)
def test_faults_of_a_list_are_named(tmp_path, text, message):
    (tmp_path / "edges.tsv").write_bytes(text)
    if message is None:
        assert read_edges(tmp_path / "edges.tsv").counts["self_loops"] == 1
        return
    with pytest.raises(DataError, match=message):
        read_edges(tmp_path / "edges.tsv")


def test_what_is_nowhere_or_of_no_form_is_refused(tmp_path, folder):
    with pytest.raises(DataError, match="no such file or folder"):
        read_edges(tmp_path / "nowhere")
    with pytest.raises(DataError, match=r"nodes\.tsv"):
        read_edges(tmp_path)
    with pytest.raises(ConfigError, match="order"):
        read_edges(folder(), order="child,parent")


def test_wikispeedia_links_are_edges_and_subjects_are_domains(tmp_path):
    (tmp_path / "articles.tsv").write_text("# all\n\n%C3%89ire\nNew_York\nArticle\n")
    (tmp_path / "links.tsv").write_text("%C3%89ire\tNew_York\nNew_York\t%C3%89ire\n")
    (tmp_path / "categories.tsv").write_text(
        "%C3%89ire\tsubject.Countries\nNew_York\tsubject.Geography.Cities\n"
        "New_York\tsubject.History\n"
    )
    read = read_edges(tmp_path)
    assert edge_set(read.graph) == {("Éire", "New York"), ("New York", "Éire")}
    assert [read.graph.domain(n) for n in range(3)] == ["Countries", "Geography", None]
    (tmp_path / "articles.tsv").write_text("%C3%89ire\nNew_York\nArticle\nNew_York\n")
    assert read_edges(tmp_path).counts["repeated_articles"] == 1
    for bad in ("%FF", "%20", "_"):
        (tmp_path / "articles.tsv").write_text(f"%C3%89ire\nNew_York\n{bad}\n")
        with pytest.raises(DataError, match=r"articles\.tsv:3: field 'article' is"):
            read_edges(tmp_path)
    (tmp_path / "articles.tsv").write_text("%C3%89ire\nNew_York\nArticle\n")
    (tmp_path / "links.tsv").write_text("%C3%89ire\tParis\n")
    with pytest.raises(DataError, match=r"links\.tsv:1: field 'parent' is 'Paris'"):
        read_edges(tmp_path)


def test_the_categories_of_computer_science_are_read_whole():
    path = data_folder() / "wiki_category" / "cs_category_edges.tsv"
    if not path.is_file():
        pytest.skip("no wiki_category in $ASKEW_DATA")
    read = read_edges(path)
    assert (read.graph.size, read.graph.edges) == (6_574, 9_475)
    root = read.graph.node_of("Areas of computer science")
    assert len(read.graph.children(root)) == 17
    assert "Heaps (data structures)" in read.graph.titles()
    assert len(cycles(read.graph)) == 15


def test_wikispeedia_is_read_whole():
    folder = data_folder() / "wikispeedia"
    if not folder.is_dir():
        pytest.skip("no wikispeedia in $ASKEW_DATA")
    read = read_wikispeedia(folder)
    assert read.graph.size == 4_598
    assert read.graph.edges + read.counts["self_loops"] == 119_879
    assert len(read.graph.domains) == 15
