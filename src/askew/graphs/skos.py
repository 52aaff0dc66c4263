"""DBpedia's categories, or another SKOS vocabulary, to a graph of topics."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from askew.datasets.packed import Packed, Progress
from askew.datasets.skos_lines import SkosReading, broader_pairs, title_of
from askew.errors import DataError
from askew.graphs.topic_import import DropOrKeep, Pruning, check_choice, distinct, finish, told
from askew.graphs.topics import ImportedGraph, build_graph


def read_skos(
    path: Path | str,
    *,
    maintenance: DropOrKeep = "drop",
    drop_containers: bool = False,
    drop_below: Sequence[str] = (),
    progress: Progress | None = None,
) -> ImportedGraph:
    """Read the `skos:broader` statements of a file: A broader B means A stands under B.

    Self-loops and repeated statements are left out. Names written with % signs and as they are
    count as one. SKOS tells no hidden categories, and only categories that have links.

    Args:
        path: N-Triples or plain Turtle; plain, gzip or bzip2.
        maintenance: what to do with maintenance categories, told by name and by what they stand
            under (`topic_maintenance`).
        drop_containers: see `maintenance_nodes`.
        drop_below: titles; these categories and all below them are left out.
        progress: told how far the file was read.

    Returns:
        The graph, its nodes in the order in which they are first named; counts; sentences for the
        reader, which name bad lines.

    Raises:
        DataError: the file cannot be read, is damaged or cut off; more lines are bad than good; no
            link between two topics is left.
    """
    check_choice("maintenance", maintenance)
    path = Path(path)
    reading = SkosReading()
    counts = reading.counts
    nodes: dict[str, int] = {}
    children: list[int] = []
    parents: list[int] = []
    with Packed(path, progress) as file:
        for child, parent in broader_pairs(file, reading):
            children.append(nodes.setdefault(child, len(nodes)))
            parents.append(nodes.setdefault(parent, len(nodes)))
    bad = f" Bad lines: {'; '.join(reading.bad)}." if reading.bad else ""
    if counts["bad_lines"] > counts["broader_statements"] or not nodes:
        raise DataError(
            f"{path}: {'no' if not nodes else 'too little'} skos:broader in the file: "
            f"{told(counts) or 'it is empty'}.{bad} Expected lines like <.../Category:A> "
            "<http://www.w3.org/2004/02/skos/core#broader> <.../Category:B> ."
        )
    notes = []
    if reading.bad:
        more = ", ..." if counts["bad_lines"] > len(reading.bad) else ""
        notes.append(
            f"{path}: {counts['bad_lines']:,} lines could not be read and were left out: "
            f"{'; '.join(reading.bad)}{more}."
        )
    if reading.started and not reading.completed:
        notes.append(
            f"{path}: the file begins with '# started' and does not end with '# completed': it may "
            "be cut off between two lines. Compare its checksum."
        )
    # Not urlsplit, which refuses some names.
    hosts = sorted({name.partition("://")[2].partition("/")[0] for name in nodes})
    if len(hosts) > 1:
        notes.append(f"{path}: names of several hosts: {', '.join(hosts[:5])}.")
    child_nodes, parent_nodes = np.array(children, np.int64), np.array(parents, np.int64)
    apart = child_nodes != parent_nodes
    counts["self_loops"] = int((~apart).sum())
    pairs = distinct(child_nodes[apart] * len(nodes) + parent_nodes[apart])
    counts["duplicate_links"] = int(apart.sum()) - len(pairs)
    graph = build_graph([title_of(name) for name in nodes], pairs // len(nodes), pairs % len(nodes))
    pruning = Pruning(maintenance, drop_containers, drop_below)
    return finish(str(path), graph, pruning, counts, notes)
