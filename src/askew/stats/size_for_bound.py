"""How many items would bring the end of an interval to a bound, if the share stays as it is."""

from __future__ import annotations

import math


def size_for_bound(value: float, end: float, bound: float, n: int, *, score: bool) -> int | None:
    """The number of items at which the end of the interval that lies at `end` would lie at `bound`.

    A score interval's end e solves (e − p)² = z² e (1 − e) / n (Wilson, 1927), so that n goes as
    e (1 − e) / (e − p)², and neither z nor an effective sample size has to be known. Any other
    interval is taken to shrink as 1 / √n.

    Args:
        value: the share, p.
        end: of its interval.
        bound: where the end ought to be, on the same side of the value.
        n: the items that the interval rests on.
        score: whether it is a score interval.

    Returns:
        At least `n`; None where no number of items would do, or none can be told.

    >>> size_for_bound(0.034, 0.0965, 0.08, 87, score=True)
    136
    >>> size_for_bound(0.25, 0.3, 0.2, 87, score=True)  # more items would show the more clearly
    """
    numbers = (value, end, bound)
    if not all(math.isfinite(number) for number in numbers) or n < 1:
        return None
    if (end - value) * (bound - value) <= 0:
        return None
    if abs(bound - value) >= abs(end - value):
        return n
    now, then = (end - value) ** 2, (bound - value) ** 2
    if score and 0 < end < 1 and 0 < bound < 1:
        now, then = now / (end * (1 - end)), then / (bound * (1 - bound))
    needed = n * now / then if then else math.inf
    return math.ceil(needed) if math.isfinite(needed) and needed < 1e12 else None
