"""More than two levels of one attribute: whether any level differs, and which."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askew.stats.intervals import Numbers
from askew.stats.signflip import DRAWS
from askew.stats.verdict import SIZE

_BLOCK = 2_000_000  # level means held at a time
_MOST = 40_000_000  # level means permuted in one test; larger studies get fewer draws
_FEWEST_DRAWS = 999


@dataclass(frozen=True, slots=True)
class Omnibus:
    """One test over all levels, and one a level that holds the error rate over all of them.

    Attributes:
        p_value: that no level differs; NaN where nothing could be tested.
        per_level: each level's own p, corrected over the levels.
        deviation: each level's mean − the mean over its vignettes' levels.
        which: the levels with a corrected p below 0.05.
        vignettes: with a value at two levels or more.
        draws: permutations, the data not counted.
        note: why there is no p value.
    """

    p_value: float
    per_level: Mapping[str, float]
    deviation: Mapping[str, float]
    which: tuple[str, ...]
    vignettes: int
    draws: int
    note: str = ""


def omnibus(
    levels: Mapping[str, Sequence[NDArray[np.generic]]],
    rng: np.random.Generator,
    *,
    draws: int = DRAWS,
) -> Omnibus:
    """Whether any of several levels of one attribute moves the answers, by the largest |t|.

    Each vignette gives one mean a level, less the mean over its own levels. A level's t is the mean
    of these over vignettes ÷ its standard error. Levels are permuted within the vignettes, and the
    largest |t| of each permutation is what all levels are held against (Westfall and Young's
    max-T): so the levels that differ are named without a further correction, which Friedman's test
    does not do.

    Args:
        levels: level -> one array of repeats a vignette, NaN = no value, the same vignettes in the
            same order; an empty array where a vignette lacks the level.
        rng: draws the permutations.
        draws: how many; studies of more than 4,000 level means get fewer, down to 999.

    Raises:
        ValueError: there are fewer than two levels, or they differ in their number of vignettes.
    """
    names = list(levels)
    if len(names) < 2 or len({len(levels[name]) for name in names}) != 1:
        counts = {name: len(levels[name]) for name in names}
        raise ValueError(
            f"two levels or more are needed, each over the same vignettes; these are {counts}"
        )
    means = np.array([[_mean(part) for part in levels[name]] for name in names]).T
    means = means[(~np.isnan(means)).sum(axis=1) >= 2]
    count = len(means)
    unknown = dict.fromkeys(names, math.nan)
    if count < 2:
        note = "fewer than two vignettes have a value at two levels"
        return Omnibus(math.nan, unknown, unknown, (), count, 0, note)
    centred = means - np.nanmean(means, axis=1, keepdims=True)
    draws = max(min(draws, _MOST // centred.size), _FEWEST_DRAWS)
    observed = _t(centred[None])[0]
    largest = _permuted_largest(centred, draws, rng)
    slack = 1e-9 * max(float(np.nanmax(np.abs(observed), initial=0.0)), 1.0)
    per_level = {
        name: (1 + int((largest >= abs(t) - slack).sum())) / (draws + 1)
        if not math.isnan(t)
        else math.nan
        for name, t in zip(names, observed, strict=True)
    }
    known = [p for p in per_level.values() if not math.isnan(p)]
    return Omnibus(
        p_value=min(known) if known else math.nan,
        per_level=per_level,
        deviation=dict(zip(names, (float(v) for v in _column_means(centred)), strict=True)),
        which=tuple(name for name, p in per_level.items() if p < SIZE),
        vignettes=count,
        draws=draws,
        note="" if known else "no level has a value in two vignettes",
    )


def _mean(repeats: NDArray[np.generic]) -> float:
    values = np.asarray(repeats, dtype=np.float64).ravel()
    values = values[~np.isnan(values)]
    return float(values.mean()) if len(values) else math.nan


def _column_means(centred: Numbers) -> Numbers:
    known = ~np.isnan(centred)
    counts = known.sum(axis=0)
    totals = np.where(known, centred, 0.0).sum(axis=0)
    return np.asarray(np.where(counts > 0, totals / np.maximum(counts, 1), math.nan))


def _t(centred: Numbers) -> Numbers:
    """Each level's mean ÷ standard error, shape (draws, levels); NaN with fewer than two values.

    Where a level is the same in all vignettes its t is 0 at mean 0 and else as large as can be.
    """
    known = ~np.isnan(centred)
    counts = known.sum(axis=1)
    filled = np.where(known, centred, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = filled.sum(axis=1) / counts
        squares = np.where(known, (filled - mean[:, None, :]) ** 2, 0.0).sum(axis=1)
        error = np.sqrt(squares / (counts - 1) / counts)
        # Rounding would make a large t of a level that stands still.
        tiny = 1e-12 * max(float(np.abs(filled).max(initial=0.0)), 1e-300)
        t = np.where(np.abs(mean) <= tiny, 0.0, mean / np.maximum(error, tiny))
    return np.asarray(np.where(counts >= 2, t, math.nan))


def _permuted_largest(centred: Numbers, draws: int, rng: np.random.Generator) -> Numbers:
    """The largest |t| under each permutation of the levels within vignettes, shape (draws,)."""
    vignettes, levels = centred.shape
    # A missing level stays missing: the known values of a row are permuted among their places.
    missing = np.isnan(centred)
    block = max(1, _BLOCK // centred.size)
    largest = np.empty(draws)
    for start in range(0, draws, block):
        size = min(block, draws - start)
        keys = rng.random((size, vignettes, levels))
        keys[:, missing] += 1.0  # known values first, in random order
        order = keys.argsort(axis=2)
        place = np.where(missing, 1, 0).argsort(axis=1, kind="stable")  # the known places, in order
        dealt = np.empty_like(keys)
        np.put_along_axis(
            dealt,
            np.broadcast_to(place, order.shape),
            np.take_along_axis(np.broadcast_to(centred, order.shape), order, axis=2),
            axis=2,
        )
        largest[start : start + size] = np.nanmax(np.abs(_t(dealt)), axis=1)
    return largest
