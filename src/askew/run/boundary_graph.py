"""The graph of a boundary run: where it is read, which part is searched, its titles as vectors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from askew.errors import ConfigError
from askew.graphs.topic_storage import is_graph_folder, open_graph
from askew.graphs.topic_subgraph import below, of_domains
from askew.graphs.topics import TopicGraph
from askew.models.embedder import NAME as PACKAGED_EMBEDDER
from askew.models.embedder import available as embedder_available
from askew.models.embedder import load_embedder
from askew.runfile import BoundaryTable
from askew.runfile.boundary import HASHED, STARTER
from askew.search.title_vectors import hashed

# An embedder reads about a thousand titles a second on a core; larger graphs are hashed.
EMBEDDED_TOPICS = 20_000


def load_graph(name: str) -> TopicGraph:
    """The graph by its name: "starter", a folder that was built, or a table of edges.

    Raises:
        ConfigError, DataError: there is none, or it cannot be read.
    """
    if name == STARTER:
        from askew.graphs.starter_topics import starter_graph

        return starter_graph()
    folder = Path(name)
    if is_graph_folder(folder):
        return open_graph(folder).graph
    from askew.graphs.topic_edges import read_edges

    return read_edges(folder).graph


def load_part(table: BoundaryTable) -> TopicGraph:
    """The part of the graph that is searched.

    Raises:
        ConfigError, DataError: a root or domain is not there, or nothing is left.
    """
    graph = load_graph(table.graph)
    if table.domains:
        graph = of_domains(graph, table.domains)
    if table.roots:
        graph = below(graph, [graph.node_of(title) for title in table.roots], table.depth)
    if not graph.size:
        raise ConfigError(f"{table.graph}: no topic is left. Name other domains or roots.")
    return graph


def vectors_for(table: BoundaryTable, graph: TopicGraph) -> BoundaryTable:
    """The table with "auto" vectors settled where the graph is too large for an embedder."""
    if table.vectors == "auto" and graph.size > EMBEDDED_TOPICS:
        return table.model_copy(update={"vectors": HASHED})
    return table.settled()


def folder_vectors(graph: TopicGraph) -> NDArray[np.float32]:
    """Title vectors by the embedder where it is there and the graph is small enough for it."""
    return alike_vectors([graph])[0]


def alike_vectors(graphs: Sequence[TopicGraph]) -> list[NDArray[np.float32]]:
    """The same for several graphs, all of one kind: what is learned on one is played on another."""
    plain = not embedder_available() or any(one.size > EMBEDDED_TOPICS for one in graphs)
    return [title_vectors(one, HASHED if plain else PACKAGED_EMBEDDER) for one in graphs]


def title_vectors(graph: TopicGraph, vectors: str) -> NDArray[np.float32]:
    """Shape (nodes, dimensions): what the titles say, free of any query.

    Args:
        graph: the topics.
        vectors: "hashed", or the name of an embedder.
    """
    titles = graph.titles()
    return hashed(titles) if vectors == HASHED else load_embedder(vectors).embed(titles)
