"""Answers that take a slant and answers that do not, as a measure of others: nearer to which?

What the references of either side have in common decides, so it holds for topics that they do not
speak of. The line between the sides, and the unit, are found on the references themselves, each
compared with the others alone.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from askew.errors import ConfigError
from askew.models.embedder import Embedder
from askew.scores.words import plain_words

FEWEST = 5  # references of a side
_RIDGE = 0.5  # of vectors of length one
_SMOOTHING = 0.5
_FURTHEST = 3.0  # units that one comparison can say

Numbers = NDArray[np.float64]


class References:
    """Both sides' references, ready to be compared with.

    Args:
        slanted: answers that take the slant.
        neutral: answers that do not.
        embedder: compares by meaning; None compares by the words that either side prefers.

    Raises:
        ConfigError: a side has fewer than `FEWEST`, or the two cannot be told apart.
    """

    def __init__(
        self, slanted: Sequence[str], neutral: Sequence[str], embedder: Embedder | None = None
    ) -> None:
        slanted, neutral = list(dict.fromkeys(slanted)), list(dict.fromkeys(neutral))
        if min(len(slanted), len(neutral)) < FEWEST:
            raise ConfigError(
                f"there are {len(slanted)} slanted and {len(neutral)} neutral references, expected "
                f"at least {FEWEST} different ones of each."
            )
        self._embedder = embedder
        self._vectors: Numbers = np.zeros((0, 0))
        self._coefficients: Numbers = np.zeros(0)
        self._counts: list[Counter[str]] = []
        self._is_slanted = np.repeat([True, False], [len(slanted), len(neutral)])
        texts = [*slanted, *neutral]
        if embedder is None:
            self._counts = [_words(text) for text in texts]
            self._sums = [
                _total(
                    [c for c, s in zip(self._counts, self._is_slanted, strict=True) if s == side]
                )
                for side in (True, False)
            ]
            raw = np.array([self._by_words(c, place) for place, c in enumerate(self._counts)])
        else:
            self._vectors = embedder.embed(texts).astype(np.float64)
            raw = self._fit()
        ours, theirs = raw[self._is_slanted], raw[~self._is_slanted]
        gap = float(ours.mean() - theirs.mean())
        if not gap > 0:
            raise ConfigError(
                "the slanted references cannot be told from the neutral ones: each is as near to "
                "the others of the other side. Give references that differ in their slant alone."
            )
        # Nearer to the side that is closer together, so that both are missed about as often.
        spread = float(ours.std()), float(theirs.std())
        share = spread[1] / sum(spread) if sum(spread) > 0 else 0.5
        self._middle = float(theirs.mean()) + gap * share
        self._unit = gap / 2

    def compare(self, answer: str) -> float:
        """In [-3, 3]: 0 is the line, 1 a typical slanted reference, -1 a typical neutral one."""
        if self._embedder is None:
            raw = self._by_words(_words(answer), None)
        else:
            raw = self._by_meaning(self._embedder.embed([answer])[0].astype(np.float64))
        return float(np.clip((raw - self._middle) / self._unit, -_FURTHEST, _FURTHEST))

    def _by_words(self, counts: Counter[str], itself: int | None) -> float:
        """The mean log odds of its words; a reference is compared with the others alone."""
        sums = list(self._sums)
        if itself is not None:
            side = 0 if self._is_slanted[itself] else 1
            sums[side] = sums[side] - counts
        total = [one.total() + _SMOOTHING * 1000 for one in sums]
        known = [word for word in counts if sums[0][word] or sums[1][word]]
        if not known:
            return 0.0
        odds = [
            math.log((sums[0][word] + _SMOOTHING) / total[0])
            - math.log((sums[1][word] + _SMOOTHING) / total[1])
            for word in known
        ]
        return float(np.mean(odds))

    def _fit(self) -> Numbers:
        """Ridge regression of the side on the vectors; what it says of each, left out itself.

        The two sides weigh the same, however many references each has. Leaving one out needs no
        second fit: its residual is its coefficient over its entry of the inverse's diagonal.
        """
        sizes = np.where(self._is_slanted, self._is_slanted.sum(), (~self._is_slanted).sum())
        side = np.where(self._is_slanted, 1.0, -1.0).astype(np.float64)
        noise = np.diag(_RIDGE * sizes / float(sizes.mean()))
        inverse = np.asarray(np.linalg.inv(self._kernel(self._vectors) + noise), np.float64)
        self._coefficients = inverse @ side
        left_out: Numbers = side - self._coefficients / np.diag(inverse)
        return left_out

    def _kernel(self, vectors: Numbers) -> Numbers:
        products: Numbers = vectors @ self._vectors.T + 1.0
        return products

    def _by_meaning(self, vector: Numbers) -> float:
        return float(self._kernel(vector[None, :])[0] @ self._coefficients)


def _words(text: str) -> Counter[str]:
    words = plain_words(text).split()
    return Counter(set(words) | {f"{a} {b}" for a, b in pairwise(words)})


def _total(counts: Sequence[Counter[str]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for one in counts:
        total.update(one)
    return total
