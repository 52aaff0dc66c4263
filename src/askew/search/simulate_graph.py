"""Grows a topic graph and its topics' contents: a hierarchy, further parents, a few cycles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from askew.graphs.topics import TopicGraph, build_graph
from askew.search.simulate_settings import SimulatorSettings

BRANCHES = 8  # of a domain's graph: topics right under its root
_ONSETS = ("b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z")
_VOWELS = ("a", "e", "i", "o", "u")
_SYLLABLES = tuple(onset + vowel for onset in _ONSETS for vowel in _VOWELS)


@dataclass(frozen=True, slots=True, eq=False)
class GrownGraph:
    """A graph with what the simulator alone knows of it."""

    graph: TopicGraph
    first_parent: NDArray[np.int64]  # shape (nodes,); -1: the root, which is node 0
    branch: NDArray[np.int64]  # shape (nodes,): which topic right under the root; -1: the root
    depth: NDArray[np.int64]  # shape (nodes,): edges to the root along first parents


def grow(
    settings: SimulatorSettings,
    random: np.random.Generator,
    *,
    domain: str | None,
    branches: Sequence[str] | int = BRANCHES,
    even: bool = False,
) -> GrownGraph:
    """A hierarchy grown by preferential attachment, with further parents and some cycles.

    Args:
        settings: nodes, parents, uncles, same_branch, cycles and deepest are used.
        random: draws it.
        domain: the domain of every topic; None: each topic's domain is its branch, by its name.
        branches: how many topics stand right under the root, or their names.
        even: branches grow alike; otherwise a large branch grows faster.
    """
    count = branches if isinstance(branches, int) else len(branches)
    count = min(count, settings.nodes - 1)
    first, branch, depth = _tree(settings.nodes, count, even, settings, random)
    child, parent = _further_parents(first, branch, settings, random)
    nodes = np.arange(1, settings.nodes)
    child, parent = np.concatenate([nodes, child]), np.concatenate([first[1:], parent])
    looped = _cycles(first, round(settings.cycles * len(child)), random)
    names = [str(index) for index in range(count)] if isinstance(branches, int) else list(branches)
    domains: list[str | None]
    if domain is None:
        domains = [None if at < 0 else names[at] for at in branch.tolist()]
    else:
        domains = [domain] * settings.nodes
    graph = build_graph(
        _titles(first),
        np.concatenate([child, looped[:, 0]]),
        np.concatenate([parent, looped[:, 1]]),
        domains=domains,
    )
    return GrownGraph(graph, first, branch, depth)


def _tree(
    nodes: int,
    branches: int,
    even: bool,
    settings: SimulatorSettings,
    random: np.random.Generator,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """First parents, branches and depths. A topic attracts children by 1 + how many it has."""
    # Half the time an older topic, half the time an older topic's parent: the attraction above,
    # without keeping weights.
    older = random.random(nodes)
    by_parent = random.random(nodes) < 0.5
    first = [-1] * nodes
    branch = [-1] * nodes
    depth = [0] * nodes
    grown = min(branches, nodes - 1)
    first[1 : grown + 1], branch[1 : grown + 1] = [0] * grown, range(grown)
    depth[1 : grown + 1] = [1] * grown
    for node in range(grown + 1, nodes):
        # Node k * branches + b is of branch b - 1 where branches grow evenly.
        if even:
            at = 1 + (node - 1) % branches
            at += branches * int(older[node] * ((node - at) // branches))
        else:
            at = 1 + int(older[node] * (node - 1))
        if by_parent[node] and first[at] > 0:
            at = first[at]
        while depth[at] >= settings.deepest:
            at = first[at]
        first[node], branch[node], depth[node] = at, branch[at], depth[at] + 1
    return np.array(first, np.int64), np.array(branch, np.int64), np.array(depth, np.int64)


def _further_parents(
    first: NDArray[np.int64],
    branch: NDArray[np.int64],
    settings: SimulatorSettings,
    random: np.random.Generator,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    nodes = len(first)
    further = settings.parents - 1
    counts = np.full(nodes, int(further)) + (random.random(nodes) < further - int(further))
    counts[0] = 0
    child = np.repeat(np.arange(nodes), counts)
    kind, place = random.random(len(child)), random.random(len(child))
    parent = (place * child).astype(np.int64)  # any older topic

    # An older topic of the same branch: branches are laid out one after another, oldest first.
    order = np.argsort(branch, kind="stable")
    begins = np.searchsorted(branch[order], np.arange(branch.max() + 1))
    rank = np.empty(nodes, np.int64)
    rank[order] = np.arange(nodes)
    begin = begins[branch[child]]
    older = rank[child] - begin
    same = (kind < settings.uncles + settings.same_branch) & (older > 0)
    parent[same] = order[begin[same] + (place[same] * older[same]).astype(np.int64)]

    # A sibling of the first parent: the children of each topic lie one after another too.
    by_parent = np.argsort(first, kind="stable")
    child_begins = np.searchsorted(first[by_parent], np.arange(nodes + 1))
    grandparent = first[first[child]]
    siblings = child_begins[grandparent + 1] - child_begins[grandparent]
    uncle = (kind < settings.uncles) & (grandparent >= 0) & (siblings > 1)
    at = child_begins[grandparent[uncle]] + (place[uncle] * (siblings[uncle] - 1)).astype(np.int64)
    lies_at = np.empty(nodes, np.int64)
    lies_at[by_parent] = np.arange(nodes)
    at += at >= lies_at[first[child[uncle]]]  # not the first parent itself
    parent[uncle] = by_parent[at]
    return child, parent


def _cycles(first: NDArray[np.int64], count: int, random: np.random.Generator) -> NDArray[np.int64]:
    """Shape (count, 2): a topic's forebear as the child, the topic as its parent."""
    looped = np.zeros((count, 2), np.int64)
    if len(first) < 3:
        return looped[:0]
    for row in range(count):
        node = int(random.integers(1, len(first)))
        forebear = int(first[node])
        while random.random() < 0.5 and first[forebear] > 0:
            forebear = int(first[forebear])
        looped[row] = forebear, node
    return looped


def contents(
    grown: GrownGraph,
    root: NDArray[np.float64],
    settings: SimulatorSettings,
    random: np.random.Generator,
) -> NDArray[np.float32]:
    """What each topic is about: shape (nodes, dimensions), rows of length about one.

    Args:
        grown: the graph.
        root: shape (dimensions,): the content of the root.
        settings: content_correlation is used.
        random: draws them.
    """
    nodes, dimensions = len(grown.first_parent), len(root)
    kept = settings.content_correlation
    own = random.standard_normal((nodes, dimensions), np.float32)
    own *= np.sqrt((1 - kept**2) / dimensions)
    own[0] = root
    order = np.argsort(grown.depth, kind="stable")
    begins = np.searchsorted(grown.depth[order], np.arange(1, grown.depth.max() + 2))
    for begin, end in pairwise(begins.tolist()):
        level = order[begin:end]
        own[level] += kept * own[grown.first_parent[level]]
    return own


def _titles(first: NDArray[np.int64]) -> list[str]:
    """A made-up name for each topic, its first parent's behind it, as in "Bade in Zuma"."""
    names = [_name(node) for node in range(len(first))]
    return [names[0]] + [
        f"{names[node]} in {names[parent]}"
        for node, parent in zip(range(1, len(first)), first[1:].tolist(), strict=True)
    ]


def _name(node: int) -> str:
    spelt = _SYLLABLES[node % len(_SYLLABLES)]
    node //= len(_SYLLABLES)
    while node or len(spelt) < 4:
        spelt += _SYLLABLES[node % len(_SYLLABLES)]
        node //= len(_SYLLABLES)
    return spelt.capitalize()
