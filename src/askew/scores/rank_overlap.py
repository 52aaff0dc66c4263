"""Rank-biased overlap: how much two ranked lists agree, the top counting most."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

PERSISTENCE = 0.9  # p: the first ten ranks carry 86 % of the weight (Webber et al., 2010, Eq. 21)


def rank_biased_overlap(one: Sequence[str], other: Sequence[str], p: float = PERSISTENCE) -> float:
    """Extrapolated rank-biased overlap of two lists, in [0, 1]; 1 = the same list.

    Webber, Moffat and Zobel (2010), RBO_ext for lists that may differ in length (Eq. 32). With s
    and l the shorter and the longer length and X_d the items shared by the two prefixes of length d
    (the whole list, where one ends before d):

        (1 - p) / p · (Σ_{d=1..l} X_d / d · p^d + Σ_{d=s+1..l} X_s (d - s) / (s d) · p^d)
        + ((X_l - X_s) / l + X_s / s) · p^l

    Two empty lists agree (1.0); an empty list and another share nothing (0.0), also by
    extrapolation.

    Args:
        one: items, first rank first. A repeated item counts where it stands first.
        other: the same of the other list.
        p: how likely a reader goes on to the next rank, in (0, 1).

    Raises:
        ValueError: `p` is not between 0 and 1.

    >>> round(rank_biased_overlap(["a", "b", "c"], ["a", "c", "b"]), 3)
    0.955
    """
    _check(p)
    short, long = sorted((list(dict.fromkeys(one)), list(dict.fromkeys(other))), key=len)
    if not short:
        return 0.0 if long else 1.0
    s, length = len(short), len(long)
    shared = [len(set(short[:d]) & set(long[:d])) for d in range(length + 1)]
    seen = sum(shared[d] / d * p**d for d in range(1, length + 1))
    extended = sum(shared[s] * (d - s) / (s * d) * p**d for d in range(s + 1, length + 1))
    rest = (shared[length] - shared[s]) / length + shared[s] / s
    return min(1.0, (1 - p) / p * (seen + extended) + rest * p**length)


def rank_biased_overlaps(
    lists: Sequence[Sequence[str]], p: float = PERSISTENCE
) -> NDArray[np.float64]:
    """`rank_biased_overlap` of every pair of lists: shape (lists, lists), symmetric, in [0, 1].

    One matrix product a rank instead of a loop over pairs.

    Raises:
        ValueError: `p` is not between 0 and 1.
    """
    _check(p)
    ranked = [list(dict.fromkeys(items)) for items in lists]
    lengths = np.array([len(items) for items in ranked], dtype=np.int64)
    longer, shorter = np.maximum.outer(lengths, lengths), np.minimum.outer(lengths, lengths)
    column: dict[str, int] = {}
    for item in (item for items in ranked for item in items):
        column.setdefault(item, len(column))
    listed = np.zeros((len(ranked), len(column)))  # which items the prefixes of length d hold
    total, at_short, at_long = (np.zeros(longer.shape) for _ in range(3))
    for d in range(1, int(lengths.max(initial=0)) + 1):
        for row, items in enumerate(ranked):
            if d <= len(items):
                listed[row, column[items[d - 1]]] = 1.0
        shared = listed @ listed.T
        at_short = np.where(shorter == d, shared, at_short)
        at_long = np.where(longer == d, shared, at_long)
        beyond = at_short * (d - shorter) / np.maximum(shorter, 1)  # 0 until the shorter has ended
        total += np.where(d <= longer, (shared + beyond * (d > shorter)) / d * p**d, 0.0)
    rest = (at_long - at_short) / np.maximum(longer, 1) + at_short / np.maximum(shorter, 1)
    overlap: NDArray[np.float64] = np.minimum(1.0, (1 - p) / p * total + rest * p**longer)
    overlap[longer == 0] = 1.0
    return overlap


def _check(p: float) -> None:
    if not 0 < p < 1:
        raise ValueError(f"p is {p}, expected a number between 0 and 1 (both left out)")
