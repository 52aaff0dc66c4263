"""Title vectors in few dimensions and at one scale, whatever made them, where looked at."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Dimensions kept, and topics that they are chosen by.
MOST_DIMENSIONS = 48
SAMPLE = 4096


class TextSpace:
    """Title vectors, centred and cut to their main directions; mean squared length 1.

    What is learned on top depends neither on the embedder's number of dimensions nor on its scale.
    The directions come from a sample of topics, and a topic's row is made when it is first asked
    for, so that a game on a million topics costs what it looks at.

    Args:
        vectors: shape (nodes, dimensions); what is not finite counts as 0.
    """

    def __init__(self, vectors: NDArray[np.float32]) -> None:
        self._vectors = vectors
        nodes, dimensions = vectors.shape
        step = max(1, -(-nodes // SAMPLE))
        sample = np.nan_to_num(np.asarray(vectors[::step], np.float64), posinf=0.0, neginf=0.0)
        self._centre = sample.mean(axis=0) if len(sample) else np.zeros(dimensions)
        sample -= self._centre
        if dimensions and len(sample):
            strength, axes = np.linalg.eigh(sample.T @ sample / len(sample))
            strength, axes = strength[::-1], axes[:, ::-1]
            kept = int((strength > 1e-9 * max(float(strength[0]), 1e-12)).sum())
            kept = min(kept, MOST_DIMENSIONS)
            length = float(strength[:kept].sum())
        else:
            axes, kept, length = np.zeros((dimensions, 0)), 0, 0.0
        self._axes = axes[:, :kept] / np.sqrt(length) if length > 0 else axes[:, :0]
        self.dimensions = self._axes.shape[1]
        self._slot = np.full(nodes, -1, np.int32)
        self._rows = np.zeros((64, self.dimensions), np.float32)
        self._filled = 0

    def rows(self, nodes: NDArray[np.int32]) -> NDArray[np.float32]:
        """Shape (as `nodes`, dimensions)."""
        new = nodes[self._slot[nodes] < 0]
        if len(new):
            new = np.unique(new)
            filled = self._filled + len(new)
            if filled > len(self._rows):
                grown = np.zeros((max(filled, 2 * len(self._rows)), self.dimensions), np.float32)
                grown[: self._filled] = self._rows[: self._filled]
                self._rows = grown
            raw = np.nan_to_num(np.asarray(self._vectors[new], np.float64), posinf=0.0, neginf=0.0)
            self._rows[self._filled : filled] = (raw - self._centre) @ self._axes
            self._slot[new] = np.arange(self._filled, filled)
            self._filled = filled
        return self._rows[self._slot[nodes]]
