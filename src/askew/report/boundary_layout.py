"""Where the topics of a map lie: drawn near their neighbours, each domain in a part of its own.

A force-directed layout (Fruchterman and Reingold, 1991) with a pull to the domain's place. The same
topics and edges give the same places, whatever the order of the tests.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from askew.seeds import generator

WIDTH, HEIGHT = 960, 640  # of the map, in its own units
MARGIN = 34
ROUNDS = 110  # of a small map; a large one has fewer, as each takes longer
_PULL = 0.3  # to the domain's place, of the way a round at the start
_NEAREST = 1e-3
_FAR = 5.0  # beyond so many ideal lengths two topics do not push each other; less on large maps
_SMALL = 1_000  # topics
_BAND = 0.05  # of the map, on each side, for those far out

Places = NDArray[np.float64]


def layout(groups: NDArray[np.int64], edges: NDArray[np.int64]) -> Places:
    """Places of the topics on the map.

    Args:
        groups: shape (topics,): the number of each topic's domain, from 0.
        edges: shape (edges, 2): places in `groups`.

    Returns:
        Shape (topics, 2): x and y inside the margins of the map, in tenths.
    """
    count = len(groups)
    if not count:
        return np.zeros((0, 2))
    anchors = _anchors(int(groups.max()) + 1)[groups]
    jitter = generator(0, "boundary_map").normal(0.0, 0.06, (count, 2))
    where = anchors + jitter
    ideal = 0.75 * math.sqrt(1.0 / count)
    degree = np.bincount(edges.ravel(), minlength=count) if len(edges) else np.zeros(count)
    # A hub that is pulled by all its neighbours at once would gather them on one spot.
    weight = 1 / np.sqrt(np.maximum(degree, 1))
    crowd = max(1.0, count / _SMALL)
    rounds, far = round(ROUNDS / math.sqrt(crowd)), _FAR / crowd ** (1 / 3)
    for turn in range(rounds):
        heat = 0.09 * (1 - turn / rounds) + 0.002
        move = _apart(where, ideal, far) + _PULL * (anchors - where)
        if len(edges):
            first, second = edges.T
            line = where[second] - where[first]
            length = np.linalg.norm(line, axis=1, keepdims=True)
            drawn = line * length / ideal * np.minimum(weight[first], weight[second])[:, None]
            for axis in (0, 1):
                move[:, axis] += np.bincount(first, drawn[:, axis], count)
                move[:, axis] -= np.bincount(second, drawn[:, axis], count)
        step = np.linalg.norm(move, axis=1, keepdims=True)
        where = where + move / np.maximum(step, _NEAREST) * np.minimum(step, heat)
    return _fitted(where)


def _apart(where: Places, ideal: float, far: float) -> Places:
    """How the topics around push each one away; what is far has no say."""
    from scipy.spatial import KDTree

    move = np.zeros_like(where)
    pairs = KDTree(where).query_pairs(far * ideal, output_type="ndarray")
    if len(pairs):
        first, second = pairs.T
        line = where[first] - where[second]
        square = np.maximum((line * line).sum(axis=1), _NEAREST**2)
        push = line * (ideal * ideal / square)[:, None]
        for axis in (0, 1):
            move[:, axis] += np.bincount(first, push[:, axis], len(where))
            move[:, axis] -= np.bincount(second, push[:, axis], len(where))
    return move


def _anchors(count: int) -> Places:
    """The domains' places: on an ellipse, the first on the left; one alone in the middle."""
    if count == 1:
        return np.full((1, 2), 0.5)
    angle = 2 * math.pi * np.arange(count) / count + math.pi
    return np.stack([0.5 + 0.5 * np.cos(angle), 0.5 + 0.45 * np.sin(angle)], axis=1)


def _fitted(where: Places) -> Places:
    """Stretched to the map; the outermost go in a band at its rim, so that one does not rule."""
    sides = np.array([WIDTH, HEIGHT]) - 2 * MARGIN
    low, high = np.quantile(where, [0.01, 0.99], axis=0)
    span = np.where(high - low < _NEAREST, 1.0, high - low)
    share = (where - low) / span
    out = np.maximum(np.maximum(-share, share - 1), 0)  # how far beyond, the further the closer
    band = _BAND * (1 - np.exp(-out / _BAND))
    share = np.where(share < 0, -band, np.where(share > 1, 1 + band, share))
    share = (share + _BAND) / (1 + 2 * _BAND)
    share[:, high - low < _NEAREST] = 0.5
    return np.asarray((MARGIN + share * sides).round(1), np.float64)
