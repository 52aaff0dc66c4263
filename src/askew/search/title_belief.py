"""What the titles of the topics tested so far say of another title, learned during the game."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from askew.search.features_text import TextSpace


class TitleBelief:
    """Log odds of leaning by title: a Bayesian logistic regression, one pass over the tests.

    Each test moves the weights by one step of an extended Kalman filter, with the neighbourhood's
    log odds as a fixed offset, so that the titles explain only what the graph does not.

    Args:
        dimensions: of the text space (`TextSpace`).
        deviation: of each weight before the first test; rows of the text space have length about 1.
        trust_deviation: of the factor on the log odds known beforehand, about 1.
    """

    def __init__(
        self, dimensions: int, deviation: float = 1.0, trust_deviation: float = 0.5
    ) -> None:
        self._weight = np.zeros(dimensions + 1)
        self._weight[0] = 1.0
        self._covariance = np.eye(dimensions + 1) * deviation**2
        self._covariance[0, 0] = trust_deviation**2

    def observe(
        self, text: NDArray[np.float32], beforehand: float, offset: float, share: float
    ) -> None:
        """Enter a test.

        Args:
            text: shape (dimensions,): the topic's row in the text space.
            beforehand: its log odds by what is known from other models.
            offset: its log odds by the graph.
            share: of its answers that lean.
        """
        row = np.append(beforehand, text.astype(np.float64))
        turned = self._covariance @ row
        spread = float(row @ turned)
        expected = float(row @ self._weight) + offset
        # The mean of a logistic over a normal, by MacKay's approximation.
        chance = 1 / (1 + math.exp(-expected / math.sqrt(1 + math.pi * spread / 8)))
        curve = chance * (1 - chance)
        self._covariance -= np.outer(turned, turned) * (curve / (1 + curve * spread))
        self._weight += turned * ((share - chance) / (1 + curve * spread))

    def log_odds(
        self, rows: NDArray[np.float32], beforehand: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Shape (topics,): by titles and what was known beforehand, without the graph."""
        told: NDArray[np.float64] = rows @ self._weight[1:] + self._weight[0] * beforehand
        return told


class Nearness:
    """How near topics lie in title to those found and those clean; kept for those asked about.

    Args:
        size: topics of the graph.
        space: their titles.
        sharpness: of the kernel exp(sharpness * cosine).
    """

    def __init__(self, size: int, space: TextSpace, sharpness: float = 4.0) -> None:
        self._space = space
        self._sharpness = sharpness
        self._slot = np.full(size, -1, np.int32)
        self._rows = np.zeros((64, space.dimensions), np.float32)
        # Columns: nearest found, nearest clean, kernel of found, kernel of all.
        self._values = np.zeros((64, 4))
        self._filled = 0
        self._tested: list[NDArray[np.float32]] = []
        self._shares: list[float] = []

    def observe(self, text: NDArray[np.float32], share: float) -> None:
        """Enter a test of the topic with this row."""
        one = _unit(text[None])[0]
        self._tested.append(one)
        self._shares.append(share)
        filled = self._filled
        if filled:
            alike = (self._rows[:filled] @ one).astype(np.float64)
            self._enter(self._values[:filled], alike[:, None], np.array([share]))

    def of(self, nodes: NDArray[np.int32]) -> NDArray[np.float64]:
        """Shape (nodes, 4): nearest found, nearest clean, kernel of found, kernel of all tested."""
        new = nodes[self._slot[nodes] < 0]
        if len(new):
            self._admit(np.unique(new))
        return self._values[self._slot[nodes]]

    def _admit(self, nodes: NDArray[np.int32]) -> None:
        filled = self._filled + len(nodes)
        if filled > len(self._rows):
            room = max(filled, 2 * len(self._rows))
            self._rows = np.resize(self._rows, (room, self._rows.shape[1]))
            self._values = np.resize(self._values, (room, 4))
        rows = _unit(self._space.rows(nodes))
        values = np.zeros((len(nodes), 4))
        values[:, :2] = -1.0
        if self._tested:
            alike = (rows @ np.array(self._tested).T).astype(np.float64)
            self._enter(values, alike, np.array(self._shares))
        self._rows[self._filled : filled] = rows
        self._values[self._filled : filled] = values
        self._slot[nodes] = np.arange(self._filled, filled)
        self._filled = filled

    def _enter(
        self, values: NDArray[np.float64], alike: NDArray[np.float64], shares: NDArray[np.float64]
    ) -> None:
        """Enter tests into values; alike: shape (topics, tests)."""
        for column, counted in ((0, shares >= 0.5), (1, shares < 0.5)):
            if counted.any():
                nearest = alike[:, counted].max(axis=1)
                values[:, column] = np.maximum(values[:, column], nearest)
        kernel = np.exp(self._sharpness * alike)
        values[:, 2] += kernel @ shares
        values[:, 3] += kernel.sum(axis=1)


def _unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    scaled: NDArray[np.float32] = (rows / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    return scaled
