"""The excess of distances between two arms over those within, and its test by permuted labels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from askew.stats.intervals import Numbers
from askew.stats.signflip import DRAWS

_ENUMERATED = 1_000  # ways to deal the labels of one vignette, up to which all are tried

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Distances:
    """The distances among all answers to one vignette: those of the base arm, then the changed.

    Attributes:
        matrix: shape (answers, answers), symmetric; the diagonal is not read.
        base: how many of the answers are of the base arm.
    """

    matrix: Matrix
    base: int

    @staticmethod
    def of(matrix: Matrix, sizes: tuple[int, int], name: str) -> Distances:
        """Check one vignette's matrix and leave out the answers that have no distance.

        An answer with NaN distances goes, that with most of them first, until none is left.

        Raises:
            ValueError: the matrix does not fit `sizes`, is not symmetric or has a negative entry.
        """
        found = np.array(matrix, dtype=np.float64)
        answers = sum(sizes)
        if found.shape != (answers, answers) or min(sizes) < 0:
            raise ValueError(
                f"vignette {name!r}: the distances have shape {found.shape}, but sizes {sizes} "
                f"need ({answers}, {answers})"
            )
        np.fill_diagonal(found, 0.0)
        if not np.allclose(found, found.T, rtol=1e-9, atol=1e-12, equal_nan=True):
            raise ValueError(f"vignette {name!r}: the distances are not symmetric")
        if (found < 0).any() or np.isinf(found).any():
            raise ValueError(f"vignette {name!r}: a distance is negative or infinite")
        in_base = np.arange(answers) < sizes[0]
        while (missing := np.isnan(found).sum(axis=0)).any():
            kept = np.arange(len(found)) != int(missing.argmax())
            found, in_base = found[np.ix_(kept, kept)], in_base[kept]
        return Distances(found, int(in_base.sum()))

    @property
    def changed(self) -> int:
        """How many of the answers are of the changed arm."""
        return len(self.matrix) - self.base

    @property
    def usable(self) -> bool:
        """Whether there is a pair of answers between the arms, and one within either."""
        return min(self.base, self.changed) >= 1 and max(self.base, self.changed) >= 2

    @property
    def within(self) -> float:
        """The mean same-prompt distance, over the arms that have two answers; NaN if none has."""
        base, changed = self.matrix[: self.base, : self.base], self.matrix[self.base :, self.base :]
        means = [
            float(part.sum()) / (len(part) * (len(part) - 1))
            for part in (base, changed)
            if len(part) > 1
        ]
        return sum(means) / len(means) if means else math.nan

    def excess(self, in_base: NDArray[np.float64]) -> Numbers:
        """The mean distance between the arms − the mean within, for ways to deal the labels.

        Half of Székely and Rizzo's (2004) energy distance, unbiased: both arms' means weigh the
        same, whatever their sizes. An arm of one answer has no pairs within and does not count.

        Args:
            in_base: shape (deals, answers), 1 where an answer is dealt to the base arm.

        Returns:
            shape (deals,). 0 on average where both arms answer alike; it may be negative.
        """
        toward_base = in_base @ self.matrix
        base = np.einsum("da,da->d", toward_base, in_base)  # twice the sum of pairs within
        rows = self.matrix.sum(axis=1)
        changed = rows.sum() - 2 * (in_base @ rows) + base
        across = (rows.sum() - base - changed) / 2
        pairs = [self.base * (self.base - 1), self.changed * (self.changed - 1)]
        means = [part / count for part, count in zip((base, changed), pairs, strict=True) if count]
        within = sum(means) / len(means)
        return np.asarray(across / (self.base * self.changed) - within, dtype=np.float64)

    def observed(self) -> float:
        """The excess under the labels that the answers have."""
        labels = (np.arange(len(self.matrix)) < self.base).astype(np.float64)
        return float(self.excess(labels[None, :])[0])


@dataclass(frozen=True, slots=True)
class LabelTest:
    """The mean excess against what permuted labels give.

    Attributes:
        p_value: one-sided: as large an excess, where no vignette reacts.
        critical: the mean excess that is just significant at 5 %.
        smallest_p: the smallest p value that there can be.
        exact: whether all ways to deal the labels were counted.
    """

    p_value: float
    critical: float
    smallest_p: float
    exact: bool


def permute_labels(
    vignettes: Sequence[Distances],
    rng: np.random.Generator,
    *,
    draws: int = DRAWS,
    size: float = 0.05,
) -> LabelTest:
    """Deal the labels of each vignette's answers anew, independently, and compare the mean excess.

    The hypothesis is that no vignette reacts: its answers come from one distribution whatever the
    arm. All deals are counted where they are at most `draws`; else that many are drawn, and the
    data count among them.
    """
    observed = sum(distances.observed() for distances in vignettes)
    deals = math.prod(math.comb(len(d.matrix), d.base) for d in vignettes)
    exact = deals <= draws
    if exact:
        totals = np.zeros(1)
        for distances in vignettes:
            dealt = distances.excess(all_deals(len(distances.matrix), distances.base))
            totals = np.add.outer(totals, dealt).ravel()
    else:
        totals = np.zeros(draws + 1)
        totals[0] = observed
        for distances in vignettes:
            totals[1:] += _drawn_excess(distances, draws, rng)
    scale = max((float(distances.matrix.max(initial=0)) for distances in vignettes), default=0.0)
    slack = 1e-10 * scale * len(vignettes)
    p_value = float((totals >= observed - slack).mean())
    critical = float(np.quantile(totals, 1 - size, method="higher")) / len(vignettes)
    largest = float((totals >= totals.max() - slack).mean()) if exact else 1 / len(totals)
    return LabelTest(p_value, critical, largest, exact)


def _drawn_excess(distances: Distances, draws: int, rng: np.random.Generator) -> Numbers:
    """The vignette's excess under random deals, shape (draws,)."""
    answers = len(distances.matrix)
    ways = math.comb(answers, distances.base)
    if ways <= _ENUMERATED:
        table = distances.excess(all_deals(answers, distances.base))
        return np.asarray(table[rng.integers(0, ways, size=draws)], dtype=np.float64)
    order = rng.random((draws, answers)).argsort(axis=1)
    return distances.excess((order < distances.base).astype(np.float64))


@lru_cache(maxsize=64)
def all_deals(answers: int, base: int) -> Matrix:
    """Every way to deal `base` labels to so many answers, shape (ways, answers), of 0 and 1."""
    chosen = np.array(list(combinations(range(answers), base)), dtype=np.int64)
    deals = np.zeros((len(chosen), answers))
    np.put_along_axis(deals, chosen.reshape(len(chosen), base), 1.0, axis=1)
    deals.setflags(write=False)
    return deals
