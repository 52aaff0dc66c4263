"""The bootstrap over clusters, by kinds of clusters: a million items cost what their kinds do."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from askew.stats.intervals import DRAWS, Numbers

_MOST_CODES = 2**52  # that a float can hold to the last digit


@dataclass(frozen=True, slots=True)
class Kinds:
    """Clusters that have the same totals, counted together.

    Attributes:
        rows: shape (kinds, columns), the totals of one cluster of each kind.
        counts: shape (kinds,), how many clusters are of it.
    """

    rows: Numbers
    counts: Numbers

    @staticmethod
    def of(table: Numbers) -> Kinds:
        """The kinds of the clusters in `table`, shape (clusters, columns)."""
        if not len(table):
            return Kinds(table, np.empty(0))
        # One whole number stands for a row: sorting numbers is far quicker than sorting rows.
        least = table.min(axis=0)
        sizes = (table.max(axis=0) - least + 1).astype(np.int64)
        room = math.prod(int(size) for size in sizes)
        if room > _MOST_CODES or not bool((table == np.round(table)).all()):
            rows, counts = np.unique(table, axis=0, return_counts=True)
            return Kinds(rows, counts.astype(np.float64))
        steps = np.cumprod([1, *sizes[:0:-1]])[::-1]
        codes = ((table - least) @ steps.astype(np.float64)).astype(np.int64)
        if room <= 4 * len(table) + 1_000:
            every = np.bincount(codes, minlength=room)
            found = np.flatnonzero(every)
            counts = every[found]
        else:
            found, counts = np.unique(codes, return_counts=True)
        rows = found[:, None] // steps % sizes + least
        return Kinds(rows.astype(np.float64), counts.astype(np.float64))

    def totals(self, rng: np.random.Generator, draws: int = DRAWS) -> Numbers:
        """The totals over each bootstrap sample of the clusters, shape (draws, columns).

        How often each kind is drawn is multinomial, which is what drawing clusters one by one and
        counting them comes to.
        """
        clusters = int(self.counts.sum())
        if not clusters:
            return np.zeros((draws, self.rows.shape[1]))
        drawn = rng.multinomial(clusters, self.counts / clusters, size=draws)
        return np.asarray(drawn @ self.rows, dtype=np.float64)
