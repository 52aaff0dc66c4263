"""The same items in two conditions: exact McNemar, Holm, and the effect a study could have seen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askew.stats.rates import Flags, same_shape

POWER = 0.8
# Share of pairs whose answer changes its rightness, assumed where nothing has been measured yet:
# S·ASR + F − S(1−ASR), the median over the 63 cells by source and category of FLEX's Table 6.
ASSUMED_DISCORDANT_SHARE = 0.22


@dataclass(frozen=True, slots=True)
class McNemar:
    """McNemar's exact test on pairs: do as many items turn right as turn wrong?"""

    turned_wrong: int
    turned_right: int
    pairs: int
    p_value: float  # two-sided; NaN without pairs, 1 where no pair changed
    p_holm: float = math.nan  # corrected for the family of tests it is reported in
    smallest_change: float = math.nan  # the change in accuracy that would have been seen, see below


def mcnemar(source_right: Flags, attacked_right: Flags) -> McNemar:
    """McNemar's exact test, as a binomial test on the pairs that changed.

    Args:
        source_right: shape (pairs,), bool.
        attacked_right: shape (pairs,), bool, the same items in the same order.

    Raises:
        ValueError: the shapes differ.

    >>> mcnemar(np.array([1, 1, 1, 0], bool), np.array([0, 0, 0, 0], bool)).p_value
    0.25
    """
    from scipy.stats import binomtest

    same_shape(source_right, attacked_right)
    wrong = int((source_right & ~attacked_right).sum())
    right = int((~source_right & attacked_right).sum())
    pairs = len(source_right)
    changed = wrong + right
    if not pairs:
        p_value = math.nan
    elif not changed:
        p_value = 1.0
    else:
        p_value = float(binomtest(wrong, changed, 0.5).pvalue)
    # With few changes seen, their share is uncertain; (changed + 1) / (pairs + 2) keeps the
    # smallest visible effect from being called zero.
    share = (changed + 1) / (pairs + 2)
    smallest = smallest_change(pairs, share) if pairs else math.nan
    return McNemar(wrong, right, pairs, p_value, smallest_change=smallest)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction (Holm, 1979); undefined tests stay NaN and do not count.

    Written out because statsmodels, which has it, is too large for the core; the tests hold the
    two equal.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    corrected = np.full(len(p_values), math.nan)
    values = np.array(p_values, dtype=np.float64)
    order = [int(i) for i in np.argsort(values) if not math.isnan(values[i])]
    running = 0.0
    for rank, index in enumerate(order):
        running = max(running, min(1.0, (len(order) - rank) * float(values[index])))
        corrected[index] = running
    return [float(value) for value in corrected]


def pairs_needed(
    change: float,
    discordant_share: float = ASSUMED_DISCORDANT_SHARE,
    *,
    power: float = POWER,
    level: float = 0.95,
) -> int:
    """How many pairs it takes for McNemar's test to see a change in accuracy.

    Connor (1987), Eq. (3), with the share of discordant pairs taken as given; a share below the
    change itself is impossible and is raised to it.

    Args:
        change: absolute change in accuracy, in (0, 1].
        discordant_share: share of pairs that turn right or wrong, in (0, 1].
        power: chance of seeing the change.
        level: 1 − the two-sided size of the test.

    >>> pairs_needed(0.05, 0.25)
    783
    """
    share = max(discordant_share, change)
    pairs = _connor(change, share, power, level)
    return math.ceil(pairs)


def smallest_change(
    pairs: int, discordant_share: float, *, power: float = POWER, level: float = 0.95
) -> float:
    """The smallest change in accuracy that `pairs` pairs would show; NaN if even 1 would not.

    The inverse of `pairs_needed`, to four digits.

    >>> round(smallest_change(783, 0.25), 3)
    0.05
    """
    low, high = 0.0, 1.0
    if _connor(high, 1.0, power, level) > pairs:
        return math.nan
    while high - low > 1e-5:
        middle = (low + high) / 2
        if _connor(middle, max(discordant_share, middle), power, level) > pairs:
            low = middle
        else:
            high = middle
    return high


def _connor(change: float, share: float, power: float, level: float) -> float:
    from scipy.special import ndtri

    z_size, z_power = float(ndtri(0.5 + level / 2)), float(ndtri(power))
    root = z_size * math.sqrt(share) + z_power * math.sqrt(max(share - change * change, 0.0))
    return (root / change) ** 2


def discordant_share(source_right: NDArray[np.bool_], attacked_right: NDArray[np.bool_]) -> float:
    """The share of pairs that turn right or wrong; NaN without pairs."""
    same_shape(source_right, attacked_right)
    return float((source_right != attacked_right).mean()) if len(source_right) else math.nan
