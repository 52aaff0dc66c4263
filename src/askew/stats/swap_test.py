"""Which of two runs is which: a permutation test that swaps their labels item by item."""

from __future__ import annotations

import math

import numpy as np

from askew.stats.intervals import Numbers

DRAWS = 99_999  # of a Monte Carlo test; its p values then end at 1/100,000
EXACT_SUMS = 200_000  # that are all counted, where the differences are no whole numbers
_ROUNDING = 1e-9


def swap_test(differences: Numbers, rng: np.random.Generator, *, draws: int = DRAWS) -> float:
    """The two-sided p value of the sum of `differences`, each of which could have had either sign.

    If two runs do not differ, an item's results could as well be swapped between them: each item
    (with all its scenarios, orders and replicates) has its sign flipped as a whole. Items of one
    size are counted together, so a million of them cost no more than a few sizes do. Whole numbers
    are tested exactly; with no size but 1 this is McNemar's exact test. Other numbers are tested
    exactly where their sums are few, else by random swaps, the data counted among them (Phipson
    and Smyth, 2010). SciPy's `permutation_test`, to which the tests hold this equal, would hold
    every item of every draw in memory.

    Args:
        differences: shape (items,), finite.
        rng: draws the swaps where they cannot all be counted.
        draws: how many.

    Returns:
        In (0, 1]; 1 where no item differs, and without items NaN: there is nothing to test.

    >>> swap_test(np.array([1.0] * 7 + [-1.0] + [0.0] * 9), np.random.default_rng(0))
    0.0703125
    """
    if not len(differences):
        return math.nan
    sizes, counts = _by_size(np.abs(differences))
    if not len(sizes):
        return 1.0
    observed = abs(float(differences.sum()))
    slack = _ROUNDING * float(sizes @ counts)
    if bool((sizes == np.round(sizes)).all()):
        return _of_whole_numbers(sizes, counts, observed - slack)
    if float(np.log(counts + 1).sum()) <= math.log(EXACT_SUMS):
        sums, chances = _all_sums(sizes, counts)
        return min(1.0, float(chances[np.abs(sums) >= observed - slack].sum()))
    drawn = np.zeros(draws)
    for size, count in zip(sizes, counts, strict=True):
        drawn += size * (2.0 * rng.binomial(int(count), 0.5, draws) - count)
    beyond = int((np.abs(drawn) >= observed - slack).sum())
    return (beyond + 1) / (draws + 1)


def _by_size(sizes: Numbers) -> tuple[Numbers, Numbers]:
    """The sizes above 0, in order, and how many items have each."""
    largest = float(sizes.max())
    if largest == 0:
        return np.empty(0), np.empty(0)
    # Equal sums of fractions differ in their last digits.
    digits = 11 - math.ceil(math.log10(largest))
    known, counts = np.unique(np.round(sizes, digits), return_counts=True)
    above = known > 0
    return known[above], counts[above].astype(np.float64)


def _of_whole_numbers(sizes: Numbers, counts: Numbers, least: float) -> float:
    """P(|sum| ≥ least), from the distribution of the sum: binomials of all sizes, convolved."""
    from scipy.signal import fftconvolve
    from scipy.stats import binom, binomtest

    if len(sizes) == 1:
        count = int(counts[0])
        one_way = round((count + math.ceil(least / sizes[0])) / 2)
        return float(binomtest(one_way, count, 0.5).pvalue)
    chances = np.ones(1)
    for size, count in zip(sizes.astype(int), counts.astype(int), strict=True):
        own = np.zeros(int(size) * int(count) + 1)
        own[:: int(size)] = binom.pmf(np.arange(count + 1), count, 0.5)
        # A Fourier transform rounds to 1e-16 of the largest chance; short ones need none.
        exact = min(len(own), len(chances)) < 1_000
        chances = np.convolve(chances, own) if exact else fftconvolve(chances, own)
    total = float(sizes @ counts)
    sums = 2.0 * np.arange(len(chances)) - total
    return float(np.clip(chances[np.abs(sums) >= least].sum(), 0.0, 1.0))


def _all_sums(sizes: Numbers, counts: Numbers) -> tuple[Numbers, Numbers]:
    from scipy.stats import binom

    sums, chances = np.zeros(1), np.ones(1)
    for size, count in zip(sizes, counts, strict=True):
        steps = np.arange(count + 1)
        sums = (sums[:, None] + size * (2 * steps - count)).ravel()
        chances = (chances[:, None] * binom.pmf(steps, count, 0.5)).ravel()
    return sums, chances
