"""Small worlds and boards that the tests of the search share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from askew.graphs.topics import TopicGraph, build_graph
from askew.search.game import Board, Observation, Variant
from askew.search.simulate import SimulatorSettings, simulate
from askew.search.worlds import World


def graph_of(size: int, edges: list[tuple[int, int]]) -> TopicGraph:
    """A graph of so many topics and (child, parent) pairs."""
    child, parent = (np.array([edge[end] for edge in edges], np.int64) for end in (0, 1))
    return build_graph([f"Topic {node}" for node in range(size)], child, parent)


def random_graph(size: int, edges: int, random: np.random.Generator) -> TopicGraph:
    """Any graph: loops, repeats, cycles and unconnected parts are drawn as well."""
    pairs = random.integers(size, size=(edges, 2))
    return build_graph([f"Topic {node}" for node in range(size)], pairs[:, 0], pairs[:, 1])


def small_world(seed: int = 1, nodes: int = 200) -> World:
    """A simulated world that is quick to play."""
    return simulate(seed, SimulatorSettings(nodes=nodes, leaning=0.1, fewest_leaning=5))


def board_of(world: World, queries: int, variant: Variant = "frontier") -> Board:
    """A fresh board."""
    return Board(world.graph, world.title_vectors, queries, variant)


def plain_board(graph: TopicGraph, queries: int, variant: Variant = "frontier") -> Board:
    """A board whose titles say nothing."""
    return Board(graph, np.zeros((graph.size, 2), np.float32), queries, variant)


def said(leaning: NDArray[np.bool_], node: int) -> Observation:
    """The test of a topic with a known label."""
    return Observation(score=float(leaning[node]))
