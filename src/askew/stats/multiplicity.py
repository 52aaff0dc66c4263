"""Many endpoints: Holm for those declared beforehand, Benjamini and Hochberg for the others."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from askew.stats.paired import holm
from askew.stats.verdict import Effect, Family, decided

Key = TypeVar("Key", bound=Hashable)


def adjust(effects: Mapping[Key, Effect], primary: Collection[Key]) -> dict[Key, Effect]:
    """Correct the p values for how many tests there are, and decide again.

    Holm's method over the declared endpoints holds the chance of one false alarm among them at 5 %;
    that of Benjamini and Hochberg over the others holds the expected share of false alarms among
    the differences found there at 5 %. Each family stands alone. Endpoints without a p value stay
    as they are and do not count as tests.

    Args:
        effects: all that were measured, by any key.
        primary: the keys that were declared before the answers were seen.

    Returns:
        The same keys in the same order; each effect with `p_adjusted`, `family`, the number of
        `tests` in it, and a new verdict.

    Raises:
        ValueError: a declared endpoint was not measured.
    """
    unknown = [key for key in primary if key not in effects]
    if unknown:
        known = ", ".join(map(str, effects))
        raise ValueError(
            f"declared but not measured: {', '.join(map(str, unknown))}. Measured are {known}"
        )
    declared = [key for key in effects if key in primary]
    exploratory = [key for key in effects if key not in primary]
    adjusted = {
        **_family(effects, declared, "declared"),
        **_family(effects, exploratory, "exploratory"),
    }
    return {key: adjusted[key] for key in effects}


def _family(effects: Mapping[Key, Effect], keys: list[Key], family: Family) -> dict[Key, Effect]:
    p_values = [effects[key].p_value for key in keys]
    corrected = holm(p_values) if family == "declared" else benjamini_hochberg(p_values)
    tests = sum(not math.isnan(p_value) for p_value in p_values)
    return {
        key: decided(replace(effects[key], p_adjusted=p_value, family=family, tests=tests))
        for key, p_value in zip(keys, corrected, strict=True)
    }


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Benjamini and Hochberg's (1995) correction; undefined tests stay NaN and do not count.

    >>> [round(p, 4) for p in benjamini_hochberg([0.01, float("nan"), 0.04, 0.03])]
    [0.03, nan, 0.04, 0.04]
    """
    from scipy.stats import false_discovery_control

    corrected = np.array(p_values, dtype=np.float64)
    tested = ~np.isnan(corrected)
    if tested.any():
        corrected[tested] = false_discovery_control(corrected[tested], method="bh")
    return [float(value) for value in corrected]
