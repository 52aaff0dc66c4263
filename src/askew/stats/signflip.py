"""The sign-flip test: are the vignettes' differences centred at 0?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from askew.stats.intervals import Numbers

DRAWS = 9_999  # of a Monte Carlo test; its p values then end at 1/10,000
EXACT_PATTERNS = 8_192  # that are all counted: up to 14 vignettes
_BLOCK = 4_000_000  # signs held at a time
_TIE_BREAK = 1e-6  # of a difference: far below any that counts, far above rounding
_ROUNDING = 1e-10


@dataclass(frozen=True, slots=True)
class SignFlip:
    """The result of a sign-flip test.

    Attributes:
        p_value: two-sided.
        smallest_p: the smallest that so many vignettes, or draws, can give.
        exact: whether all patterns of signs were counted.
    """

    p_value: float
    smallest_p: float
    exact: bool


def sign_flip_test(
    differences: Numbers,
    rng: np.random.Generator,
    *,
    noise: Numbers | None = None,
    draws: int = DRAWS,
) -> SignFlip:
    """Whether the mean difference is larger than what flipped signs give; the vignette is the unit.

    If the change does nothing on average, each vignette's difference could as well have had the
    other sign. All patterns of signs are counted where they are few; otherwise the data count among
    `draws` random ones (Phipson and Smyth, 2010). A pattern and its mirror image count once.

    Scores on a scale tie often, and counting ties as extreme costs up to a third of the power. So
    ties between patterns are broken by giving differences that are known more precisely a millionth
    more weight (fixed before any sign is flipped, so the test stays exact), and what still ties
    counts half, as in Lancaster's (1961) mid-p; the data themselves count whole. Without ties this
    is SciPy's `permutation_test`.

    Args:
        differences: shape (vignettes,), finite; at least one.
        rng: draws the patterns.
        noise: shape (vignettes,), the variance of the answers to one prompt; NaN = unknown.
        draws: how many, where not all are counted.

    Raises:
        ValueError: there is no vignette, or a difference is not finite.

    >>> sign_flip_test(np.arange(1.0, 7.0), np.random.default_rng(0)).p_value
    0.03125
    """
    count = len(differences)
    if not count or not np.isfinite(differences).all():
        raise ValueError("sign flips need at least one vignette, and a number from each")
    if not differences.any():
        return SignFlip(1.0, _smallest(count, draws), exact=True)
    exact = count <= EXACT_PATTERNS.bit_length()
    patterns = round(1 / _smallest(count, draws))
    weighed = differences * (1 + _TIE_BREAK * _precision(noise, count))
    sums = np.abs(_flipped_sums(weighed, patterns, exact, rng))
    slack = _ROUNDING * float(np.abs(differences).sum())
    beyond = int((sums > sums[0] + slack).sum())
    tied = int((sums >= sums[0] - slack).sum()) - beyond - 1
    return SignFlip((beyond + tied / 2 + 1) / patterns, 1 / patterns, exact)


def _smallest(count: int, draws: int) -> float:
    exact = count <= EXACT_PATTERNS.bit_length()
    return 2.0 ** (1 - count) if exact else 1 / (draws + 1)


def _precision(noise: Numbers | None, count: int) -> Numbers:
    """Each vignette's precision relative to the best one, in (0, 1]; all 1 where none is known."""
    if noise is None or np.isnan(noise).all():
        return np.ones(count)
    average = float(np.nanmean(noise))
    if not average:
        return np.ones(count)
    known = np.where(np.isnan(noise), average, noise)
    # The average stands for what vignettes differ by beside their noise.
    precision = 1 / (known + average)
    return np.asarray(precision / precision.max(), dtype=np.float64)


def _flipped_sums(
    differences: Numbers, patterns: int, exact: bool, rng: np.random.Generator
) -> Numbers:
    """The sum of the differences under each pattern of signs, shape (patterns,).

    The first pattern flips nothing; the last difference is never flipped where all are counted, as
    every mirror image is there already.
    """
    count = len(differences)
    flipped = np.zeros(patterns)
    block = max(1, _BLOCK // count)
    for start in range(0, patterns, block):
        end = min(start + block, patterns)
        if exact:
            numbers = np.arange(start, end, dtype=np.int64)[:, None]
            flips = ((numbers >> np.arange(count)) & 1).astype(np.float64)
        else:
            packed = rng.integers(0, 256, size=(end - start, -(-count // 8)), dtype=np.uint8)
            flips = np.unpackbits(packed, axis=1, count=count).astype(np.float64)
        flipped[start:end] = flips @ differences
    flipped[0] = 0.0
    return np.asarray(differences.sum() - 2 * flipped, dtype=np.float64)
