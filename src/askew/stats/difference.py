"""The interval of a difference of two figures of which only the intervals are known."""

from __future__ import annotations

import math
from dataclasses import replace

from askew.records import Estimate


def difference_of(new: Estimate, old: Estimate) -> Estimate:
    """What the new figure has more than the old one, taken as two independent figures.

    The ends are put together from the distances of each interval's ends from its value, as Newcombe
    (1998, method 10) does for two proportions and Zou and Donner (2008) for any two figures. Where
    both are of the same items, which mostly agree, the interval is longer than a paired one.

    >>> found = difference_of(Estimate(0.5, 0.4, 0.6, 90, 1.0, "wilson"),
    ...                       Estimate(0.3, 0.2, 0.4, 80, 1.0, "wilson"))
    >>> [round(number, 3) for number in (found.value, found.lower, found.upper)], found.n
    ([0.2, 0.059, 0.341], 80)
    """
    value = new.value - old.value
    below = math.hypot(new.value - new.lower, old.upper - old.value)
    above = math.hypot(new.upper - new.value, old.value - old.lower)
    note = new.note or old.note if math.isnan(value) else ""
    return replace(
        new,
        value=value,
        lower=value - below,
        upper=value + above,
        n=min(new.n, old.n),
        coverage=min(new.coverage, old.coverage),
        method="two intervals combined as of independent figures",
        seed=None,
        note=note,
    )
