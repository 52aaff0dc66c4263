"""A figure whose ideal is 0, on either side of it: has it come nearer?"""

from __future__ import annotations

import math
from itertools import product

from askew.stats.intervals import LEVEL

# Either of two intervals at this level; both hold together with the usual one (Bonferroni).
OF_TWO = 1 - (1 - LEVEL) / 2


def lean_change(difference: float, total: float) -> float:
    """|b| − |a|, of the difference b − a and the total a + b.

    >>> round(lean_change(-0.15, 0.05), 3), round(lean_change(0.2, 0.4), 3)
    (-0.05, 0.2)
    """
    return (abs(total + difference) - abs(total - difference)) / 2


def lean_ends(difference: tuple[float, float], total: tuple[float, float]) -> tuple[float, float]:
    """The interval of |b| − |a|, from those of b − a and of a + b, each at level `OF_TWO`.

    |b| − |a| rises or falls with either of the two all along, so its ends are at corners.

    Returns:
        (lower, upper); NaNs where one of the two has no interval.

    >>> [round(end, 3) for end in lean_ends((0.1, 0.3), (-0.05, 0.6))]
    [-0.05, 0.3]
    """
    corners = [lean_change(d, t) for d, t in product(difference, total)]
    if any(map(math.isnan, corners)):
        return math.nan, math.nan
    return min(corners), max(corners)


def lean_p(difference_p: float, total_p: float) -> float:
    """The p value of |a| = |b|, which is either b = a or b = −a: both have to be ruled out.

    The larger of the two (Berger's intersection-union test); NaN where one is undefined.
    """
    if math.isnan(difference_p) or math.isnan(total_p):
        return math.nan
    return max(difference_p, total_p)
