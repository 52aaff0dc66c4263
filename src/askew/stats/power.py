"""The smallest effect that a study over so many vignettes would have seen."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from askew.stats.verdict import SIZE

POWER = 0.8
FEWEST = 6  # vignettes; with fewer no two-sided sign-flip test reaches p < 0.05: 2 · 2⁻⁵ = 0.0625
FEWEST_MOVED = 5  # of more vignettes, all one way and the others still: p = ½ · 2 · 2⁻⁵ = 0.031
# d_z at which the exact sign-flip test has power 0.8 on normal differences, where vignettes are so
# few that it can do less than a t-test. By simulation (`tests/stats/test_power.py`), to ± 0.01.
FEW_VIGNETTES = {6: 1.80, 7: 1.33, 8: 1.19, 9: 1.09, 10: 1.01}


@lru_cache
def smallest_effect_size(vignettes: int, *, power: float = POWER, size: float = SIZE) -> float:
    """The d_z (mean ÷ standard deviation) that a two-sided test sees with this power.

    From the noncentral t distribution, as for a paired t-test, which the sign-flip test matches
    from about ten vignettes on (below, it needs more: `FEW_VIGNETTES`). NaN below `FEWEST`.

    >>> [round(smallest_effect_size(n), 2) for n in (20, 50, 100, 200)]
    [0.66, 0.4, 0.28, 0.2]
    """
    from scipy.optimize import brentq

    if vignettes < FEWEST:
        return math.nan
    if (power, size) == (POWER, SIZE) and vignettes in FEW_VIGNETTES:
        return FEW_VIGNETTES[vignettes]

    def lacking(shift: float) -> float:
        return t_test_power(shift / math.sqrt(vignettes), vignettes, size=size) - power

    return float(brentq(lacking, 0.1, 15.0, xtol=1e-6)) / math.sqrt(vignettes)


def t_test_power(effect_size: float, vignettes: int, *, size: float = SIZE) -> float:
    """The power of the two-sided one-sample t-test; the tests hold it equal to statsmodels'."""
    from scipy.special import stdtrit
    from scipy.stats import nct

    freedom = vignettes - 1
    critical = float(stdtrit(freedom, 1 - size / 2))
    shift = effect_size * math.sqrt(vignettes)
    # SciPy has NaN where the far tail is too small for it.
    return float(
        nct.sf(critical, freedom, shift) + np.nan_to_num(nct.cdf(-critical, freedom, shift))
    )


def smallest_share(vignettes: int, needed: int = FEWEST_MOVED, *, power: float = POWER) -> float:
    """The smallest share of vignettes that react alike, all others still, that would be seen.

    For endpoints on which no vignette reacted, so that no spread is known. NaN where so few
    vignettes cannot be enough.

    Args:
        vignettes: in the study.
        needed: how many have to react for the test to be significant; five by signs.
        power: chance that so many do.

    >>> round(smallest_share(50), 3)
    0.131
    """
    from scipy.stats import beta

    if vignettes < max(needed, FEWEST if needed == FEWEST_MOVED else 1):
        return math.nan
    # P(at least k of n) is the beta distribution's function at the share.
    return float(beta.ppf(power, needed, vignettes - needed + 1))


def mcnemar_p(turned_yes: int, turned_no: int) -> float:
    """McNemar's exact test, two-sided; 1 where no pair moved."""
    from scipy.stats import binomtest

    moved = turned_yes + turned_no
    return float(binomtest(turned_yes, moved, 0.5).pvalue) if moved else 1.0


def mcnemar_power(pairs: int, discordant: float, net: float, *, size: float = SIZE) -> float:
    """The power of McNemar's exact test, by going through all tables.

    For one answer an arm and a binary endpoint.

    Args:
        pairs: vignettes, each with one answer in either arm.
        discordant: share of pairs whose two answers differ, in [0, 1].
        net: share that turns one way less the share that turns the other, at most `discordant`.
        size: two-sided, of the test.

    Raises:
        ValueError: the net difference is larger than the discordant share.
    """
    from scipy.stats import binom

    if not abs(net) <= discordant <= 1:
        raise ValueError(
            f"a net difference of {net} needs at least as large a share of discordant pairs, "
            f"which is {discordant}"
        )
    one_way = (discordant + net) / (2 * discordant) if discordant else 0.5
    moved = np.arange(pairs + 1)
    # The largest count of the rarer direction that still is significant, for each number moved.
    critical = binom.ppf(size / 2, moved, 0.5)
    critical -= binom.cdf(critical, moved, 0.5) > size / 2
    seen = binom.cdf(critical, moved, one_way) + binom.cdf(critical, moved, 1 - one_way)
    return float(binom.pmf(moved, pairs, discordant) @ seen)


def smallest_net_difference(
    pairs: int, discordant: float, *, power: float = POWER, step: float = 0.001
) -> float:
    """The smallest net difference that McNemar's exact test sees; NaN if it sees none.

    In whole points, rounded up:

    >>> [math.ceil(100 * smallest_net_difference(n, 0.2)) for n in (50, 100, 200, 400)]
    [18, 13, 10, 7]
    """
    candidates = np.append(np.arange(step, discordant, step), discordant)
    if mcnemar_power(pairs, discordant, float(candidates[-1])) < power:
        return math.nan
    low, high = 0, len(candidates) - 1
    while low < high:
        middle = (low + high) // 2
        if mcnemar_power(pairs, discordant, float(candidates[middle])) < power:
            low = middle + 1
        else:
            high = middle
    return float(candidates[low])
