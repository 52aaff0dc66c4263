"""Topic graphs from plain tables: a folder with nodes, edges and labels; a list of edges by title.

- a folder with `nodes.tsv` (id, title, domain if any), `edges.tsv` (child id, parent id) and
  perhaps `labels.tsv` or `labels.tsv.gz` (model, node id, 1 where the model leans there, else 0);
- a file with two columns of titles, `child` and `parent`, in the order that its header names;
- a folder in the form of Wikispeedia: `articles.tsv`, `links.tsv`, `categories.tsv`.

Underscores in titles become spaces. Self-loops and repeated rows are left out and counted; any
other row that cannot be used is an error that names file, line and field, or is left out and
counted where the reading is lenient.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from askew.datasets.topic_lines import Column, Table, Tally, identifier, read_table
from askew.errors import ConfigError, DataError
from askew.graphs.topics import ImportedGraph, TopicGraph, build_graph

UNLABELLED = -1
Order = Literal["child,parent", "parent,child"]

_NODES = (
    Column("id", ("node", "node_id", "topic_id", "page_id")),
    Column("title", ("name", "topic", "category", "label")),
    Column("domain", ("domains", "field", "task"), required=False),
)
_EDGES = (
    Column("child", ("child_id", "sub", "subcategory", "narrower")),
    Column("parent", ("parent_id", "super", "supercategory", "broader")),
)
_LABELS = (
    Column("model", ("llm", "model_id", "model_name")),
    Column("node", ("node_id", "id", "topic_id", "topic")),
    Column("label", ("leaning", "biased", "bias", "y")),
)
_WHOLE = re.compile(r"-?(0|[1-9]\d{0,17})", re.ASCII)


@dataclass(frozen=True, slots=True)
class LabelledGraph(ImportedGraph):
    """A graph, and on which of its topics which models lean."""

    # Model -> shape (nodes,): 1 leans, 0 does not, UNLABELLED.
    labels: Mapping[str, NDArray[np.int8]] = field(default_factory=dict)
    # Shape (nodes,): the ids as the file writes them; `graph.ids` are numbers.
    written_ids: tuple[str, ...] = ()
    checksums: Mapping[str, str] = field(default_factory=dict)  # file -> sha256 as it is stored


def read_edges(path: Path, *, order: Order | None = None, lenient: bool = False) -> LabelledGraph:
    """A graph from any of the forms that this module reads.

    Args:
        path: a folder or a file.
        order: of the two columns of a file whose header does not name them.
        lenient: leave out and count rows that cannot be used, instead of raising.

    Raises:
        DataError: no such form, a file that is missing, empty or cut off, rows that cannot be used.
    """
    if not path.exists():
        raise DataError(f"{path}: there is no such file or folder. Check the path.")
    if path.is_file():
        return read_edge_list(path, order=order, lenient=lenient)
    if order is not None:
        raise ConfigError(f"{path} is a folder: an order of columns is for a file of titles.")
    if _file_if_any(path, "nodes.tsv"):
        return read_topic_folder(path, lenient=lenient)
    if (path / "articles.tsv").is_file():
        return read_wikispeedia(path, lenient=lenient)
    raise DataError(
        f"{path}: no nodes.tsv in it. A graph's folder has nodes.tsv (id, title, domain) and "
        "edges.tsv (child id, parent id)."
    )


def read_topic_folder(folder: Path, *, lenient: bool = False) -> LabelledGraph:
    """A graph from `nodes.tsv` and `edges.tsv`, with the labels where there are any.

    Args:
        folder: holds the files; each may be packed, then with `.gz` behind its name.
        lenient: leave out and count rows that cannot be used. Of labels that contradict each other
            both are left out.
    """
    tally = Tally(lenient)
    checksums: dict[str, str] = {}
    nodes = _Nodes()
    table = read_table(_file(folder, "nodes.tsv"), _NODES, tally)
    checksums["nodes.tsv"] = table.sha256
    for line, row in table.rows():
        nodes.add(line, row, table.label, tally)
    table = read_table(_file(folder, "edges.tsv"), _EDGES, tally)
    checksums["edges.tsv"] = table.sha256
    children: list[int] = []
    parents: list[int] = []
    for line, row in table.rows():
        child = nodes.find(line, "child", row, table.label, tally)
        parent = nodes.find(line, "parent", row, table.label, tally)
        if child is not None and parent is not None:
            children.append(child)
            parents.append(parent)
    labels: dict[str, NDArray[np.int8]] = {}
    if labels_file := _file_if_any(folder, "labels.tsv"):
        table = read_table(labels_file, _LABELS, tally)
        checksums["labels.tsv"] = table.sha256
        labels = _labels(table, nodes, tally)
    tally.finish()
    ids, notes = nodes.numbers()
    graph = build_graph(nodes.titles, children, parents, ids=ids, domains=nodes.domains)
    made = _imported(folder, graph, children, parents, tally, notes)
    return LabelledGraph(
        made.graph,
        made.counts,
        made.notes,
        labels=labels,
        written_ids=tuple(nodes.place),
        checksums=checksums,
    )


def read_edge_list(
    path: Path, *, order: Order | None = None, lenient: bool = False
) -> LabelledGraph:
    """A graph from two columns of titles; topics are numbered as they first stand in the file.

    Args:
        path: the file, plain or gzip.
        order: of the columns, where no header names them `child` and `parent`.
        lenient: leave out and count rows that cannot be used.
    """
    tally = Tally(lenient)
    columns = _EDGES if order != "parent,child" else _EDGES[::-1]
    table = read_table(path, columns, tally, header="whole")
    if table.header is None and order is None:
        raise DataError(
            f"{path}:1: no header names the columns 'child' and 'parent'. Add one, or say the "
            "order: --order child,parent or --order parent,child."
        )
    said = ",".join(filter(None, table.header or ()))
    if said and order is not None and said != order:
        raise DataError(
            f"{path}:1: the header says that the columns are {said}, the order given is {order}. "
            "Leave --order out, or mend the header."
        )
    place: dict[str, int] = {}
    children: list[int] = []
    parents: list[int] = []
    for line, row in table.rows():
        titles = {name: _title(cell) for name, cell in row.items() if name}  # in the file's order
        empty = [name for name, title in titles.items() if not title]
        if empty:
            tally.reject("no_title", table.label, line, empty[0], "", "a title", "Name the topic.")
            continue
        ends = {name: place.setdefault(title, len(place)) for name, title in titles.items()}
        children.append(ends["child"])
        parents.append(ends["parent"])
    tally.finish()
    graph = build_graph(list(place), children, parents)
    made = _imported(path, graph, children, parents, tally, ())
    checksums = {path.name: table.sha256}
    return LabelledGraph(made.graph, made.counts, made.notes, checksums=checksums)


def read_wikispeedia(folder: Path, *, lenient: bool = False) -> LabelledGraph:
    """The articles of Wikispeedia (West et al., 2009) and the links between them.

    A link's source is taken for the child, its target for the parent: links have no order of rank.
    An article's domain is the subject of its first category.
    """
    tally = Tally(lenient)
    checksums: dict[str, str] = {}
    table = read_table(folder / "articles.tsv", (Column("article"),), tally, header="none")
    checksums["articles.tsv"] = table.sha256
    place: dict[str, int] = {}
    titles: list[str] = []
    for line, row in table.rows():
        name = row["article"]
        if name in place:
            tally.counts["repeated_articles"] += 1
            continue
        try:
            title = _title(unquote(name, errors="strict"))
        except UnicodeDecodeError:
            title = ""
        if title:
            place[name] = len(titles)
            titles.append(title)
        else:
            expected = "a title, UTF-8 behind its % signs"
            tally.reject(
                "no_title", table.label, line, "article", name, expected, "Name the article."
            )
    table = read_table(_file(folder, "links.tsv"), _EDGES, tally, header="none")
    checksums["links.tsv"] = table.sha256
    children: list[int] = []
    parents: list[int] = []
    for line, row in table.rows():
        unknown = [name for name in ("child", "parent") if row[name] not in place]
        for name in unknown:
            _reject_unknown(tally, table.label, line, name, row[name], "articles.tsv")
        if not unknown:
            children.append(place[row["child"]])
            parents.append(place[row["parent"]])
    domains: list[str | None] = [None] * len(place)
    if categories := _file_if_any(folder, "categories.tsv"):
        columns = (Column("article"), Column("category"))
        table = read_table(categories, columns, tally, header="none")
        checksums["categories.tsv"] = table.sha256
        for line, row in table.rows():
            node = place.get(row["article"])
            if node is None:
                found = row["article"]
                _reject_unknown(tally, table.label, line, "article", found, "articles.tsv")
            elif domains[node] is None:
                domains[node] = _title(row["category"].removeprefix("subject.").split(".")[0])
    tally.finish()
    graph = build_graph(titles, children, parents, domains=domains)
    made = _imported(folder, graph, children, parents, tally, ())
    return LabelledGraph(made.graph, made.counts, made.notes, checksums=checksums)


class _Nodes:
    """The topics of `nodes.tsv`, found by their ids."""

    def __init__(self) -> None:
        self.place: dict[str, int] = {}
        self.titles: list[str] = []
        self.domains: list[str | None] = []

    def add(self, line: int, row: Mapping[str, str], label: str, tally: Tally) -> None:
        node = identifier(row["id"])
        title = _title(row["title"])
        if not node:
            tally.reject("no_id", label, line, "id", "", "an id", "Give the topic one.")
        elif not title:
            tally.reject("no_title", label, line, "title", "", "a title", "Name the topic.")
        elif node in self.place:
            tally.reject(
                "repeated_id", label, line, "id", node, "an id of its own", "Take one row out."
            )
        else:
            self.place[node] = len(self.titles)
            self.titles.append(title)
            self.domains.append(row.get("domain") or None)

    def find(
        self, line: int, column: str, row: Mapping[str, str], label: str, tally: Tally
    ) -> int | None:
        node = self.place.get(identifier(row[column]))
        if node is None:
            _reject_unknown(tally, label, line, column, row[column], "nodes.tsv")
        return node

    def numbers(self) -> tuple[list[int] | None, tuple[str, ...]]:
        """The ids as numbers; None, and a note, where not all of them are whole numbers."""
        if all(_WHOLE.fullmatch(node) for node in self.place):
            return [int(node) for node in self.place], ()
        return None, ("The ids are no whole numbers; topics are numbered in the file's order.",)


def _labels(table: Table, nodes: _Nodes, tally: Tally) -> dict[str, NDArray[np.int8]]:
    labels: dict[str, NDArray[np.int8]] = {}
    said_in: dict[str, NDArray[np.int64]] = {}  # the line of each label
    contradicted: list[tuple[str, int]] = []
    for line, row in table.rows():
        model = row["model"]
        node = nodes.find(line, "node", row, table.label, tally)
        value = identifier(row["label"])
        if not model:
            mend = "Name the model."
            tally.reject("no_model", table.label, line, "model", "", "a model's name", mend)
        elif value not in ("0", "1"):
            mend = "1: the model leans there; 0: it does not."
            tally.reject("label", table.label, line, "label", row["label"], "0 or 1", mend)
        elif node is not None:
            if model not in labels:
                labels[model] = np.full(len(nodes.titles), UNLABELLED, np.int8)
                said_in[model] = np.zeros(len(nodes.titles), np.int64)
            before = labels[model][node]
            if before == UNLABELLED:
                labels[model][node] = int(value)
                said_in[model][node] = line
            elif before == int(value):
                tally.counts["repeated_labels"] += 1
            else:
                expected = f"{before}, as in line {said_in[model][node]}"
                mend = "A model leans on a topic or does not: take one row out."
                tally.reject(
                    "contradicted_labels", table.label, line, "label", value, expected, mend
                )
                contradicted.append((model, node))
    for model, node in contradicted:
        labels[model][node] = UNLABELLED
    if not labels and not tally.bad:
        raise DataError(f"{table.label}: no labels in it. Fill it in, or take the file out.")
    tally.counts["labels"] = sum(int((one != UNLABELLED).sum()) for one in labels.values())
    return labels


def _imported(
    path: Path,
    graph: TopicGraph,
    children: Iterable[int],
    parents: Iterable[int],
    tally: Tally,
    notes: tuple[str, ...],
) -> ImportedGraph:
    """The graph with its counts.

    Raises:
        DataError: nothing is in it: no topics, or several and no edge.
    """
    pairs = list(zip(children, parents, strict=True))
    loops = sum(child == parent for child, parent in pairs)
    if not graph.size:
        raise DataError(f"{path}: no topic in it could be used. Check that it is the right file.")
    if not graph.edges and graph.size > 1:
        raise DataError(
            f"{path}: {graph.size:,} topics and no edge between any two. Check the edges."
        )
    counts = {
        "topics": graph.size,
        "edges": graph.edges,
        "self_loops": loops,
        "repeated_edges": len(pairs) - loops - graph.edges,
        **tally.counts,
    }
    repeated = graph.size - len(set(graph.titles()))
    if repeated:
        counts["repeated_titles"] = repeated
        notes = (*notes, f"{repeated:,} topics have the title of another one.")
    return ImportedGraph(graph, counts, notes)


def _reject_unknown(
    tally: Tally, label: str, line: int, column: str, found: str, where: str
) -> None:
    mend = f"Add it to {where}, or take this row out."
    tally.reject(f"unknown_{column}", label, line, column, found, f"an id of {where}", mend)


def _title(cell: str) -> str:
    return cell.replace("_", " ").strip()


def _file(folder: Path, name: str) -> Path:
    found = _file_if_any(folder, name)
    if found is None:
        raise DataError(f"{folder / name}: there is no such file. Add it, or name another folder.")
    return found


def _file_if_any(folder: Path, name: str) -> Path | None:
    there = [path for path in (folder / name, folder / f"{name}.gz") if path.is_file()]
    if len(there) > 1:
        raise DataError(f"{folder}: both {name} and {name}.gz are there. Take one of them out.")
    return there[0] if there else None
