"""How many more items would decide whether two runs differ."""

from __future__ import annotations

import math

from askew.stats.paired import POWER


def items_to_decide(
    value: float,
    spread: float,
    margin: float,
    *,
    tests: int = 1,
    power: float = POWER,
    level: float = 0.95,
) -> float:
    """How many items it takes, in all, if the difference and its spread are as they were seen.

    The smaller of two sample sizes by the normal approximation: of a two-sided test that the
    difference is not 0, at the size that Holm's correction may ask for at most (0.05 ÷ tests), and
    of an interval that lies within ± margin as a whole. A difference that was seen is uncertain,
    so this says how large a study is wanted, and not how it would come out.

    Args:
        value: the difference.
        spread: the standard deviation of one item's part in it.
        margin: above 0; NaN for none.
        tests: in the family that the test is corrected for.
        power: the chance of deciding.
        level: of the interval.

    Returns:
        Infinite where the difference is just 0 and there is no margin; NaN without a spread.

    >>> items_to_decide(0.05, 0.5, 0.03), items_to_decide(0.0, 0.5, 0.03)
    (785.0, 2919.0)
    """
    if math.isnan(value) or math.isnan(spread):
        return math.nan
    from scipy.special import ndtri

    size = 1 - level
    wanted = [math.inf]
    if value:
        factor = float(ndtri(1 - size / 2 / max(1, tests)) + ndtri(power))
        wanted.append((factor * spread / abs(value)) ** 2)
    if abs(value) < margin:
        # At a difference of 0 either end can miss, and each may take half of what may fail.
        miss = (1 - power) / 2 if value == 0 else 1 - power
        factor = float(ndtri(1 - size / 2) + ndtri(1 - miss))
        wanted.append((factor * spread / (margin - abs(value))) ** 2)
    least = min(wanted)
    return least if math.isinf(least) else float(math.ceil(least))
