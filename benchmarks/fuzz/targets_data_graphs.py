"""Readers of graphs: Wikipedia's dumps, SKOS, tables of topics, graph folders, triplets."""

from __future__ import annotations

import bz2
import gzip
import json
from functools import cache
from pathlib import Path
from shutil import rmtree

import numpy as np
from harness import Target, bytes_of, law, text_of
from places import scratch, written

from askew.datasets.name_table import Names
from askew.datasets.sql_rows import SqlTable, Texts
from askew.graphs.reading import read_triplets
from askew.graphs.skos import read_skos
from askew.graphs.topic_edges import read_edges
from askew.graphs.topic_storage import META, open_graph, save_graph
from askew.graphs.topics import TopicGraph, build_graph
from askew.graphs.wikipedia_dump import read_dump

_PARTS = b"\n\x1f\n"  # between the files of an input that holds several
_COMPILED = 30.0  # seconds: the first input of a process may have to compile the loops
TSV_WORDS = (b"\t", b"\n", b"\r\n", b"# ", b"id\t", b"child\tparent", b"-0", b"7.0", b"9" * 20)
SQL_WORDS = (
    b"INSERT INTO `page` VALUES ", b"(1,14,'A',0),", b"'", b"\\'", b"''", b"\\", b",", b";", b"(",
    b")", b"NULL", b"0x3134", b"_binary '", b"x'14'", b"/*", b"*/", b"-- ", b"/*!40000 ", b"`",
    b"CREATE TABLE `page` (", b"LOCK TABLES `page` WRITE;", b"UNLOCK TABLES;", b"-- Dump completed",
)  # fmt: skip


def sound(graph: TopicGraph) -> None:
    """What every graph must be, wherever it came from."""
    nodes, entries = graph.size, len(graph.neighbours)
    law(graph.starts[0] == 0 and graph.starts[-1] == entries, "rows span all entries")
    law((np.diff(graph.starts) >= 0).all(), "rows ascend")
    law(
        not entries or 0 <= graph.neighbours.min() <= graph.neighbours.max() < nodes,
        "edges lead to nodes",
    )
    for node in range(min(nodes, 50)):
        title = graph.title(node)
        title.encode()
        law(node not in graph.around(node).tolist(), "no topic is its own neighbour", title)
        for other in graph.parents(node).tolist():
            law(node in graph.children(other).tolist(), "a parent has its child", node, other)


def edge_table(data: bytes) -> None:
    """graphs.topic_edges: a file of two columns of titles."""
    path = written("edges.tsv", data)
    for order in (None, "child,parent", "parent,child"):
        sound(read_edges(path, order=order, lenient=True).graph)
    read_edges(path, order="child,parent")


def topic_folder(data: bytes) -> None:
    """graphs.topic_edges: nodes.tsv, edges.tsv and labels.tsv."""
    folder = scratch() / "topics"
    folder.mkdir(exist_ok=True)
    names = ("nodes.tsv", "edges.tsv", "labels.tsv")
    for name, part in zip(names, (data.split(_PARTS) + [b""] * 3)[:3], strict=True):
        (folder / name).write_bytes(
            part or (b"model\tnode\tlabel\n" if name == "labels.tsv" else b"")
        )
    found = read_edges(folder, lenient=True)
    sound(found.graph)
    for labels in found.labels.values():
        law(len(labels) == found.graph.size, "a label for each topic")
    read_edges(folder)


def wikispeedia(data: bytes) -> None:
    """graphs.topic_edges: Wikispeedia's articles, links and categories."""
    folder = scratch() / "speedia"
    folder.mkdir(exist_ok=True)
    names = ("articles.tsv", "links.tsv", "categories.tsv")
    for name, part in zip(names, (data.split(_PARTS) + [b""] * 3)[:3], strict=True):
        (folder / name).write_bytes(part or b"# nothing\n")
    sound(read_edges(folder, lenient=True).graph)


def skos(data: bytes) -> None:
    """graphs.skos: N-Triples and Turtle, packed or not."""
    sound(read_skos(written("skos.nt", data)).graph)


def sql_table(data: bytes) -> None:
    """datasets.sql_rows: one table of a dump, in pieces that cut rows anywhere."""
    path = written("page.sql", data)
    told: list[object] = []
    for piece in (64, 1 << 16):
        rows: list[tuple[int, bytes]] = []
        try:
            for batch in SqlTable(path, "page", piece=piece).batches(
                integers=("page_id",), texts=("page_title",), where=("page_namespace", b"14")
            ):
                rows += zip(
                    batch.integers["page_id"].tolist(), batch.texts["page_title"], strict=True
                )
        except Exception as error:
            told.append(type(error).__name__)
            last = error
        else:
            told.append(rows)
    law(told[0] == told[1], "the size of the pieces changes nothing", told)
    if isinstance(told[0], str):
        raise last


def dump(data: bytes) -> None:
    """graphs.wikipedia_dump: a dump's files in any of the three layouts of categorylinks."""
    folder = scratch() / "dump"
    rmtree(folder, ignore_errors=True)
    folder.mkdir()
    names = ("page", "categorylinks", "linktarget", "page_props", "redirect", "category")
    for name, part in zip(names, data.split(_PARTS), strict=False):
        if part:
            (folder / f"{name}.sql").write_bytes(part)
    sound(read_dump(folder, keep_red=True).graph)


def name_table(data: bytes) -> None:
    """datasets.name_table: names to numbers and back, in batches."""
    names, known = Names(), {}
    for batch in data.split(b"\xff"):
        pieces = batch.split(b"\n")
        starts = np.cumsum([0, *map(len, pieces)]).astype(np.int64)
        texts = Texts(np.frombuffer(b"".join(pieces), np.uint8), starts)
        found = names.add(texts).tolist()
        law(
            found == [known.setdefault(one, len(known)) for one in pieces],
            "numbers as a dict gives them",
        )
    law([names[number] for number in range(len(names))] == list(known), "names come back")


def graph_meta(data: bytes) -> None:
    """graphs.topic_storage: the description of a graph folder, the arrays being sound."""
    folder = _graph_folder("meta")
    (folder / META).write_bytes(data)
    sound(open_graph(folder).graph)


def graph_array(data: bytes) -> None:
    """graphs.topic_storage: an array's file, the description made to fit its length and print."""
    folder = _graph_folder("array")
    kept = _array("starts")
    name = "starts" if not data or data[0] % 2 else "neighbours"
    path = folder / f"{name}.npy"
    path.write_bytes(data[1:])
    meta = json.loads(_meta())
    meta["arrays"][name]["bytes"] = len(data) - 1 if data else 0
    meta["arrays"][name]["print"] = _print_of(path)
    (folder / META).write_text(json.dumps(meta))
    try:
        graph = open_graph(folder).graph
        # Whether rows agree with each other is what `verify=True` looks at.
        law(not graph.size or 0 <= graph.neighbours.max() < graph.size, "edges lead to nodes")
        law((np.diff(graph.starts) >= 0).all(), "rows ascend")
    finally:
        (folder / "starts.npy").write_bytes(kept)
        (folder / "neighbours.npy").write_bytes(_array("neighbours"))


def triplets(data: bytes) -> None:
    """graphs.reading: the triplets that a model names, with their place in the text."""
    text = "A 54-year-old woman from Kenya has a cough and denies fever."
    reading = read_triplets(text_of(data), text)
    for triplet in reading.facts.triplets:
        span = triplet.span
        law(span is None or 0 <= span.start < span.end <= len(text), "a span lies in the text")
    law(reading == read_triplets(text_of(data), text), "reading twice gives the same")


def _graph_folder(name: str) -> Path:
    folder = scratch() / f"graph-{name}"
    if not folder.is_dir():
        graph = build_graph(
            ["a", "b", "c", "d"], [0, 1, 2], [1, 2, 3], domains=["x", None, "y", "x"]
        )
        save_graph(graph, folder, source="own", counts={"links": 3})
    return folder


@cache
def _meta() -> str:
    return (_graph_folder("kept") / META).read_text()


@cache
def _array(name: str) -> bytes:
    return (_graph_folder("kept") / f"{name}.npy").read_bytes()


def _print_of(path: Path) -> int:
    import zlib

    data = path.read_bytes()
    value = zlib.crc32(data[:65536])
    return zlib.crc32(data[-65536:] if len(data) >= 65536 else b"", value)


def _created(table: str, *columns: str) -> bytes:
    lines = ",\n".join(f"  `{one}` int NOT NULL" for one in columns)
    key = f"  PRIMARY KEY (`{columns[0]}`)"
    return f"CREATE TABLE `{table}` (\n{lines},\n{key}\n) ENGINE=InnoDB;\n".encode()


def _filled(table: str, columns: tuple[str, ...], *rows: str) -> bytes:
    inserts = f"INSERT INTO `{table}` VALUES {','.join(rows)};\n".encode() if rows else b""
    return b"-- MySQL dump\n" + _created(table, *columns) + inserts + b"-- Dump completed\n"


_PAGE = _filled(
    "page", ("page_id", "page_namespace", "page_title", "page_is_redirect"),
    "(1,14,'A',0)", "(2,14,'B\\'s',0)", "(3,0,'C',0)", "(4,14,'D',1)",
)  # fmt: skip
_BY_NAME = _filled(
    "categorylinks", ("cl_from", "cl_to", "cl_type"), "(1,'B\\'s','subcat')", "(3,'A','page')"
)
_BY_ID = _filled(
    "categorylinks", ("cl_from", "cl_type", "cl_target_id"), "(1,'subcat',7)", "(2,'subcat',8)"
)
_BOTH = _filled(
    "categorylinks",
    ("cl_from", "cl_to", "cl_type", "cl_target_id"),
    "(1,'','subcat',7)",
    "(2,'D','subcat',NULL)",
)
_TARGET = _filled(
    "linktarget",
    ("lt_id", "lt_namespace", "lt_title"),
    "(7,14,'B\\'s')",
    "(8,14,'D')",
    "(9,14,'Red')",
)
_PROPS = _filled("page_props", ("pp_page", "pp_propname"), "(2,'hiddencat')", "(3,'x')")
_REDIRECT = _filled(
    "redirect", ("rd_from", "rd_namespace", "rd_title", "rd_interwiki"), "(4,14,'A','')"
)
_CATEGORY = _filled("category", ("cat_id", "cat_subcats"), "(1,2)")
_BROADER = b"<http://www.w3.org/2004/02/skos/core#broader>"
_SKOS = (
    b"# started\n<http://x.org/resource/Category:A> "
    + _BROADER
    + b" <http://x.org/resource/Category:B> .\n"
    b"<http://x.org/resource/Category:B> "
    + _BROADER
    + b" <http://x.org/resource/Category:C%C3%A9> .\n# completed\n"
)
_TURTLE = (
    b"@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n"
    b"@prefix c: <http://x.org/resource/Category:> .\n"
    b'c:A a skos:Concept ; skos:prefLabel "A"@en ;\n  skos:broader c:B , c:C .\n'
)
_TRIPLETS = (
    '[{"relation": "has_age", "value": 54, "unit": "year", "status": "present",'
    ' "evidence": "54-year-old"},'
    ' {"relation": "has_symptom", "value": "fever", "status": "absent",'
    ' "evidence": "denies fever"}]'
)

TARGETS = [
    Target(
        "data_edge_table",
        edge_table,
        (b"child\tparent\nA\tB\nB\tC\n", b"A\tB\n", gzip.compress(b"A\tB\n")),
        TSV_WORDS,
    ),
    Target(
        "data_topic_folder",
        topic_folder,
        (
            _PARTS.join(
                [
                    b"id\ttitle\tdomain\n1\tA\tx\n2\tB\t\n",
                    b"child\tparent\n1\t2\n",
                    b"model\tnode\tlabel\nm\t1\t1\n",
                ]
            ),
        ),
        (*TSV_WORDS, _PARTS),
    ),
    Target(
        "data_wikispeedia",
        wikispeedia,
        (_PARTS.join([b"A\nB%C3%A9\n", b"A\tB%C3%A9\n", b"A\tsubject.History.Old\n"]),),
        (*TSV_WORDS, _PARTS, b"%FF", b"%"),
    ),
    Target(
        "data_skos",
        skos,
        (_SKOS, _TURTLE, bz2.compress(_SKOS)),
        (
            _BROADER,
            b" .\n",
            b" ;",
            b" ,",
            b"@prefix ",
            b"\\u0041",
            b"\\UFFFFFFFF",
            b'"""',
            b"<",
            b">",
            b"^^",
            b"_:b",
        ),
    ),
    Target(
        "data_sql_table",
        sql_table,
        (_PAGE, gzip.compress(_PAGE)),
        SQL_WORDS,
        seconds=_COMPILED,
        megabytes=256.0,
    ),
    Target(
        "data_wikipedia_dump",
        dump,
        (
            _PARTS.join([_PAGE, _BY_NAME, b"", _PROPS, _REDIRECT, _CATEGORY]),
            _PARTS.join([_PAGE, _BY_ID, _TARGET]),
            _PARTS.join([_PAGE, _BOTH, _TARGET, _PROPS]),
        ),
        (*SQL_WORDS, _PARTS, b"'subcat'", b"cl_target_id", b"hiddencat"),
        longest=8192,
        seconds=_COMPILED,
        megabytes=256.0,
    ),
    Target(
        "data_name_table",
        name_table,
        (b"a\nb\xff\na\nc", b"\xff" * 30),
        (b"\xff", b"\n"),
        seconds=_COMPILED,
        megabytes=256.0,
    ),
    Target(
        "data_graph_meta",
        graph_meta,
        (_meta().encode(),),
        (b'"arrays"', b'"shape"', b"-1", b"[", b"{", b"1e999"),
    ),
    Target(
        "data_graph_array",
        graph_array,
        (b"\x01" + _array("starts"), b"\x00" + _array("neighbours")),
        (
            b"\x93NUMPY\x01\x00",
            b"'descr'",
            b"'|O'",
            b"'<i8'",
            b"True",
            b"False",
            b"(4,)",
            b"(-1,)",
            b"9" * 12,
        ),
    ),
    Target(
        "data_triplets",
        triplets,
        (bytes_of(_TRIPLETS), bytes_of('```json\n{"triplets": ' + _TRIPLETS + "}\n```")),
        (
            b'"relation"',
            b'"value"',
            b'"status"',
            b'"evidence"',
            b"null",
            b"[",
            b"{",
            b"54-year-old",
            b"NaN",
        ),
    ),
]
