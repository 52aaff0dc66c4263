"""A folder with a Wikipedia dump and its gold: categories, edges, and what is no edge and why."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from askew.graphs.topics import ImportedGraph, TopicGraph
from askew.graphs.wikipedia_dump import read_dump
from tests.field.folder import CaseFolder

Edge = tuple[str, str]  # parent, child

# gold -> what the import counts under that
NOT_EDGES = {
    "child_page_missing": "links_from_missing_pages",
    "parent_without_page": "links_to_red_categories",
    "target_id_without_linktarget": "links_without_linktarget",
}


def dump_folders(folder: CaseFolder) -> list[Path]:
    """The dumps among the inputs."""
    return sorted(gold.parent for gold in (folder.inputs / "dump").glob("*/gold.json"))


def gold_of(path: Path) -> dict[str, Any]:
    """The gold beside a dump."""
    gold: dict[str, Any] = json.loads((path / "gold.json").read_bytes())
    return gold


def imported(path: Path) -> ImportedGraph:
    """The dump with all its categories: the gold knows no maintenance."""
    return read_dump(path, hidden="keep", maintenance="keep")


def edges_of(graph: TopicGraph) -> list[Edge]:
    """The graph's edges, sorted."""
    return sorted(_edges(graph))


def _edges(graph: TopicGraph) -> Iterator[Edge]:
    for child in range(graph.size):
        for parent in graph.parents(child):
            yield graph.title(int(parent)), graph.title(child)


def spaced(edges: list[list[str]]) -> list[Edge]:
    """The gold's edges; titles are compared with spaces."""
    return sorted((one.replace("_", " "), other.replace("_", " ")) for one, other in edges)


def check_dump(path: Path) -> None:
    """The import of a dump says what its gold says."""
    gold, read = gold_of(path), imported(path)
    graph, counts = read.graph, read.counts
    loops = spaced(gold.get("self_loops", []))
    assert sorted(graph.titles()) == sorted(title.replace("_", " ") for title in gold["categories"])
    # Self-loops are no edges here: they are left out and counted.
    assert edges_of(graph) == sorted(set(spaced(gold["edges_parent_child"])) - set(loops))
    assert counts["self_loops"] == len(loops)
    assert graph.edges + counts["self_loops"] == gold["n_edges"]
    not_edges = gold.get("not_edges", {})
    for name, count in not_edges.items():
        if name == "article_members":
            assert counts["categorylinks_rows"] - counts["subcategory_links"] == count
        elif name in NOT_EDGES:
            assert counts[NOT_EDGES[name]] == count, name
    if gold.get("two_parents"):
        assert len(graph.parents(graph.node_of(gold["two_parents"]))) >= 2
    if gold.get("cycle"):
        assert counts["topics_on_cycles"] >= len(gold["cycle"])
