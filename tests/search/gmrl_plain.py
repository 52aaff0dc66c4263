"""GMRL-BD's formulas written down plainly, loop by loop: what the fast code is held to."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from askew.graphs.topics import TopicGraph, build_graph
from askew.search.gmrl_settings import ATTENTION, NO_NEIGHBOURS
from askew.search.worlds import World

Weights = dict[str, NDArray[np.float32]]


def plain_embedding(
    weights: Weights,
    h0: NDArray[np.float32],
    neighbours: Iterable[int],
    node: int,
    aggregate: int,
) -> NDArray[np.float64]:
    """Eq. 4 for one topic, with GAT's coefficients, GraphSAGE's mean, or no neighbours."""
    others = [int(other) for other in neighbours]
    own = h0[node].astype(float) @ weights["own"] + weights["bias"]
    if aggregate == NO_NEIGHBOURS or not others:
        return np.maximum(own, 0)
    projected = h0.astype(float) @ weights["neighbour"]
    if aggregate == ATTENTION:
        raw = [
            float(projected[node] @ weights["attends"][:, 0])
            + float(projected[other] @ weights["attended"][:, 0])
            for other in others
        ]
        logits = [one if one > 0 else 0.2 * one for one in raw]
        total = sum(math.exp(one) for one in logits)
        coefficients = [math.exp(one) / total for one in logits]
    else:
        coefficients = [1 / len(others)] * len(others)
    summed = sum(
        alpha * projected[other] for alpha, other in zip(coefficients, others, strict=True)
    )
    return np.maximum(summed + own, 0)


def plain_distance(graph: TopicGraph, leaning: NDArray[np.bool_], tested: list[int]) -> float:
    """Edges from the tested topics to the nearest untested leaning one; infinity: none in reach."""
    seen = set(tested)
    ring, steps = list(tested), 0
    while ring:
        steps += 1
        ring = sorted({int(o) for node in ring for o in graph.around(node)} - seen)
        if any(leaning[node] for node in ring):
            return steps
        seen.update(ring)
    return math.inf


def plain_reward(
    graph: TopicGraph,
    leaning: NDArray[np.bool_],
    tested: list[int],
    weights: tuple[float, float, float],
) -> float:
    """Eq. 3 after the last of `tested` was tested; weights: β, α and w."""
    hit, test, near = weights
    return hit * leaning[tested[-1]] - test + near / (plain_distance(graph, leaning, tested) + 1)


def plain_summary(
    h: NDArray[np.float64], label: NDArray[np.int8], path: list[int], frontier: list[int]
) -> NDArray[np.float64]:
    """What Q reads of a state: three mean embeddings and five counts."""
    leaning = [node for node in path if label[node] == 1]
    clean = [node for node in path if label[node] == 0]
    zero = np.zeros(h.shape[1])
    means = [h[part].mean(axis=0) if part else zero for part in (leaning, clean, frontier)]
    tested = len(leaning) + len(clean)
    recent = sum(label[node] == 1 for node in path[-10:])
    counts = [
        math.log1p(tested) / 5,
        len(leaning) / max(tested, 1),
        recent / max(min(tested, 10), 1),
        math.log1p(len(frontier)) / 7,
        math.log1p(len(leaning)) / 3,
    ]
    return np.concatenate([*means, counts])


def plain_q(
    weights: Weights, summary: NDArray[np.float64], h: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Q(s, a) = query(s) · key(a) + own(a) + value(s), shape (actions,)."""
    middle = np.maximum(summary @ weights["state_hidden"] + weights["state_bias"], 0)
    query = middle @ weights["query"] + weights["query_bias"]
    middle = np.maximum(h @ weights["action_hidden"] + weights["action_bias"], 0)
    keys = middle @ weights["key"] + weights["key_bias"]
    return keys[:, :-1] @ query[:-1] + keys[:, -1] + query[-1]


def random_graph(random: np.random.Generator, nodes: int, edges: int) -> TopicGraph:
    """A graph that may fall apart, with cycles."""
    return build_graph(
        [f"topic {number}" for number in range(nodes)],
        random.integers(nodes, size=edges),
        random.integers(nodes, size=edges),
    )


def random_world(seed: int, nodes: int = 40, edges: int = 70, share: float = 0.3) -> World:
    """A small labelled world; its answers' vectors betray the leaning."""
    random = np.random.default_rng(seed)
    leaning = random.random(nodes) < share
    answers = random.standard_normal((nodes, 3)) + 2 * leaning[:, None]
    return World(
        name=f"random {seed}",
        graph=random_graph(random, nodes, edges),
        title_vectors=random.standard_normal((nodes, 4)).astype(np.float32),
        leaning=leaning,
        answer_vectors=answers.astype(np.float32),
    )
