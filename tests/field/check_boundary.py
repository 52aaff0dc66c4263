"""Cases about the graph of topics: `boundary.dump`, `boundary.graph`."""

from __future__ import annotations

import math
import shutil
from collections import deque
from pathlib import Path

import numpy as np
import pytest

from askew.errors import DataError
from askew.graphs.topic_subgraph import below, depth_from
from askew.graphs.topics import TopicGraph
from askew.search.game import Board, Observation, play
from askew.search.policies import policy
from askew.search.title_vectors import hashed
from tests.datasets.sql_dumps import dump, write
from tests.field.folder import Case, CaseFolder
from tests.field.gold_dumps import check_dump, edges_of, imported
from tests.field.registry import check

CHAIN = 5_000


@check("case-33")
def each_generation_of_the_dump_gives_the_same_graph(
    case: Case, folder: CaseFolder, work: Path
) -> None:
    paths = [folder.path / name for name in case["files"]]
    for path in paths:
        check_dump(path)
    edges = [edges_of(imported(path).graph) for path in paths]
    assert all(one == edges[0] for one in edges)
    for path in paths:
        if (path / "linktarget.sql").is_file():
            poor = _copy(path, work / f"{path.name}-without")
            (poor / "linktarget.sql").unlink()
            with pytest.raises(DataError, match=r"Add .*linktarget\.sql"):
                imported(poor)
        links = _copy(path, work / f"{path.name}-pages") / "categorylinks.sql"
        links.write_bytes(links.read_bytes().replace(b"'subcat'", b"'page'"))
        with pytest.raises(DataError, match=r"categorylinks\.sql: 0 subcategory links"):
            imported(links.parent)
        links = _copy(path, work / f"{path.name}-unknown") / "categorylinks.sql"
        links.write_bytes(links.read_bytes().replace(b"`cl_from`", b"`cl_origin`"))
        with pytest.raises(DataError, match=r"has no column 'cl_from'\. It has: 'cl_origin'"):
            imported(links.parent)


@check("case-35")
def cycles_and_long_chains_end_nothing_but_the_descent(
    case: Case, folder: CaseFolder, work: Path
) -> None:
    for name in case["files"]:
        check_dump(folder.path / name)
        graph = imported(folder.path / name).graph
        for root in range(graph.size):
            depth = depth_from(graph, [root])
            assert depth.tolist() == _plain_depth(graph, root)
            assert below(graph, [root]).size == (depth >= 0).sum()  # each node once
        _check_games(graph)
    chain = imported(_chain(work / "chain")).graph
    assert depth_from(chain, [0]).tolist() == list(range(CHAIN))
    assert below(chain, [0]).edges == chain.edges == CHAIN
    _check_games(below(chain, [0], 20))


def _check_games(graph: TopicGraph) -> None:
    """A game ends at its last query, or when every topic was tested once."""
    for name in ("random_walk", "dfs", "bfs", "uniform"):
        for queries in (1, graph.size, 3 * graph.size):
            board = Board(graph, hashed(graph.titles()), queries)
            played = play(board, policy(name), lambda node: Observation(float(node % 2)))
            assert len(played.tested) == min(queries, graph.size)
            assert len(set(played.tested.tolist())) == len(played.tested)
            assert not any(math.isnan(score) for score in played.score)


def _copy(path: Path, to: Path) -> Path:
    shutil.copytree(path, to)
    for copied in to.iterdir():
        copied.chmod(0o644)
    return to


def _plain_depth(graph: TopicGraph, root: int) -> list[int]:
    found = {root: 0}
    queue = deque([root])
    while queue:
        node = queue.popleft()
        for child in graph.children(node).tolist():
            if child not in found:
                found[child] = found[node] + 1
                queue.append(child)
    return [found.get(node, -1) for node in range(graph.size)]


def _chain(folder: Path) -> Path:
    """Each category under the one before, and the first under the last."""
    pages = [(number + 1, 14, b"Topic_%d" % number, 0) for number in range(CHAIN)]
    parents = np.roll(np.arange(CHAIN), 1).tolist()
    links = [(number + 1, b"Topic_%d" % parent, b"subcat") for number, parent in enumerate(parents)]
    columns = ("page_id", "page_namespace", "page_title", "page_is_redirect")
    write(folder / "page.sql", dump("page", columns, pages, rows_a_statement=500))
    columns = ("cl_from", "cl_to", "cl_type")
    write(folder / "categorylinks.sql", dump("categorylinks", columns, links, rows_a_statement=500))
    return folder
