"""The same items in two conditions: exact McNemar, Holm, and the effect a study could have seen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from askew.stats.intervals import Clusters, Numbers
from askew.stats.rates import Flags, same_shape

POWER = 0.8
# Share of pairs whose answer changes its rightness, assumed where nothing has been measured yet:
# S·ASR + F − S(1−ASR), the median over the 63 cells by source and category of FLEX's Table 6.
ASSUMED_DISCORDANT_SHARE = 0.22


@dataclass(frozen=True, slots=True)
class McNemar:
    """McNemar's exact test, one value an item: do as many items turn right as turn wrong?

    Attributes:
        turned_wrong: pairs right in the source and wrong under the attack.
        turned_right: pairs the other way round.
        pairs: all pairs, changed or not.
        items: the source items of those pairs; the test counts each once.
        items_turned_wrong: items with more pairs turned wrong than right.
        items_turned_right: items the other way round; the others did not move.
        p_value: two-sided, of the two counts of items; NaN without pairs, 1 where no item moved.
        p_holm: `p_value` corrected for the family of tests that it is reported in.
        smallest_change: the change in accuracy that so many items would have shown, at power 0.8.
    """

    turned_wrong: int
    turned_right: int
    pairs: int
    items: int
    items_turned_wrong: int
    items_turned_right: int
    p_value: float
    p_holm: float = math.nan
    smallest_change: float = math.nan


def mcnemar(source_right: Flags, attacked_right: Flags, clusters: Clusters) -> McNemar:
    """McNemar's exact test with one value an item: the sign of its net change.

    Pairs of one item (several scenarios, several replicates) are not independent, so an item counts
    once: towards wrong, towards right, or not at all where its pairs even out. The items that moved
    are given an exact binomial test. With one pair an item, this is McNemar's exact test; asking
    the same again moves no p value.

    Args:
        source_right: shape (pairs,), bool.
        attacked_right: shape (pairs,), bool, the same items in the same order.
        clusters: which item each pair belongs to.

    Raises:
        ValueError: the shapes differ.

    >>> each_once = Clusters.of(["a", "b", "c", "d"])
    >>> mcnemar(np.array([1, 1, 1, 0], bool), np.array([0, 0, 0, 0], bool), each_once).p_value
    0.25
    """
    same_shape(source_right, attacked_right)
    net = clusters.totals(attacked_right) - clusters.totals(source_right)
    towards_wrong, towards_right = int((net < 0).sum()), int((net > 0).sum())
    pairs, items = len(source_right), clusters.occupied
    return McNemar(
        turned_wrong=int((source_right & ~attacked_right).sum()),
        turned_right=int((~source_right & attacked_right).sum()),
        pairs=pairs,
        items=items,
        items_turned_wrong=towards_wrong,
        items_turned_right=towards_right,
        p_value=_sign_test(towards_wrong, towards_right) if pairs else math.nan,
        smallest_change=_smallest_seen(net, pairs, items) if pairs else math.nan,
    )


def _sign_test(one_way: int, other_way: int) -> float:
    from scipy.stats import binomtest

    moved = one_way + other_way
    return float(binomtest(one_way, moved, 0.5).pvalue) if moved else 1.0


def _smallest_seen(net: Numbers, pairs: int, items: int) -> float:
    """The smallest change in accuracy that these items would have shown.

    Found as a change in the share of items, then brought to accuracy: an item that turns one of its
    three pairs moves accuracy by a third of what one that turns all of them does.
    """
    moved = int((net != 0).sum())
    # With few items moved, their share is uncertain; (moved + 1) / (items + 2) keeps the smallest
    # visible change from being called zero.
    change = smallest_change(items, (moved + 1) / (items + 2))
    step = float(np.abs(net).sum()) / moved / (pairs / items) if moved else 1.0
    return change if math.isnan(change) else min(1.0, change * step)


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
