"""Equivalence within a margin: two one-sided tests, read from the interval."""

from __future__ import annotations

import math
from collections.abc import Callable

_HALVINGS = 50


def equivalence_p(ends: Callable[[float], tuple[float, float]], margin: float) -> float:
    """The larger p of two one-sided tests: mean ≤ −margin, and mean ≥ margin.

    Schuirmann (1987). The 1 − 2p interval just fits between the margins, so p < 0.05 says that the
    90 % interval lies within them; this holds for whatever kind of interval `ends` gives. 1 where
    the value itself lies outside; NaN without a margin or without an interval.

    Args:
        ends: level -> (lower, upper); intervals of higher levels hold those of lower ones.
        margin: above 0, or NaN for none.

    >>> equivalence_p(lambda level: (-level, level), 0.8)
    0.1
    """
    if math.isnan(margin) or math.isnan(ends(0.9)[0]):
        return math.nan

    def fits(p_value: float) -> bool:
        lower, upper = ends(1 - 2 * p_value)
        return -margin < lower and upper < margin

    low, high = 0.0, 0.5
    if not fits(high):
        return 1.0
    # On a logarithmic scale the smallest p value would need no more steps; 2⁻⁵⁰ is small enough.
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return round(high, 12)
