"""The interval of a mean change of which few items, or none, were seen to move."""

from __future__ import annotations

import math

from askew.stats.intervals import LEVEL, wilson


def few_moved_ends(
    gained: float, lost: float, items: int, span: float = 1.0, level: float = LEVEL
) -> tuple[float, float]:
    """The interval of gained − lost: each with Wilson's interval, put together as independent.

    Where almost every item has the same result twice, the spread of the changes says little, and
    the correlation of the two results is close to 1 by chance as well: an interval made of either
    has hardly any length, and leaves out what so many items cannot exclude. What moved and what
    did not is then the only evidence. With nothing moved the ends are ± span × z² / (n + z²), about
    the rule of three (Hanley and Lippman-Hand, 1983).

    Args:
        gained: the sum of the changes above 0 ÷ items.
        lost: the sum of those below 0 ÷ items, as a number of at least 0.
        items: each one draw.
        span: the largest change of one item; an unseen one is taken to move as far.
        level: of the interval.

    Returns:
        (lower, upper) within ± span; NaNs without items.

    >>> [round(end, 3) for end in few_moved_ends(0.0, 0.0, 11)]
    [-0.259, 0.259]
    >>> [round(end, 3) for end in few_moved_ends(0.05, 0.0, 20)]
    [-0.116, 0.236]
    """
    if items < 1:
        return math.nan, math.nan
    up, down = gained / span, lost / span
    up_lower, up_upper = wilson(up * items, items, level)
    down_lower, down_upper = wilson(down * items, items, level)
    below = math.hypot(up - up_lower, down_upper - down)
    above = math.hypot(up_upper - up, down - down_lower)
    change = up - down
    return span * max(-1.0, change - below), span * min(1.0, change + above)
