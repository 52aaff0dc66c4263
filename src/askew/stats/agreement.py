"""Agreement among raters, judges and people: Krippendorff's alpha and weighted kappa."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from askew.errors import missing_extra
from askew.records import Estimate
from askew.seeds import generator
from askew.stats.intervals import LEVEL, Clusters, Numbers, percentile_interval, resample

Scale = Literal["nominal", "ordinal", "interval"]

_NO_ENDS = "no interval: too many draws of vignettes hold one value alone"
DRAWS = 1000  # an alpha is a ratio of sums over units; its ends move by a hundredth between seeds


def krippendorff_alpha(ratings: Numbers, scale: Scale) -> float:
    """Krippendorff's alpha: 1 − observed ÷ expected disagreement; 1 is perfect, 0 is chance.

    Krippendorff (2019), "Content Analysis", ch. 12, by the package `krippendorff`.

    Args:
        ratings: shape (raters, units); NaN where a rater did not rate a unit.
        scale: how far two values are apart. "ordinal": by how many ratings lie between them.

    Returns:
        NaN where no unit has two ratings, or where all ratings are one value: nobody can be seen
        to agree on what never varies.

    Raises:
        MissingDependency: the package is not installed.

    >>> krippendorff_alpha(np.array([[0.0, 1.0, 1.0], [0.0, 1.0, 1.0]]), "nominal")
    1.0
    """
    try:
        import krippendorff
    except ImportError as error:
        raise missing_extra("krippendorff", "clinical") from error
    pairable = (~np.isnan(ratings)).sum(axis=0) > 1
    kept = ratings[:, pairable]
    if len(np.unique(kept[~np.isnan(kept)])) < 2:
        return math.nan
    return float(krippendorff.alpha(reliability_data=kept, level_of_measurement=scale))


def alpha_estimate(ratings: Numbers, scale: Scale, clusters: Clusters, seed: int) -> Estimate:
    """Krippendorff's alpha with an interval by resampling clusters of units.

    Args:
        ratings: shape (raters, units).
        scale: as in `krippendorff_alpha`.
        clusters: which vignette each unit belongs to; units of one are drawn together.
        seed: of the resampling.

    Returns:
        `n` is the number of units with two ratings or more, `coverage` their share of all units.
    """
    value = krippendorff_alpha(ratings, scale)
    rated = (~np.isnan(ratings)).sum(axis=0)
    pairable, units = int((rated > 1).sum()), ratings.shape[1]
    coverage = pairable / units if units else math.nan
    method = f"cluster bootstrap, {DRAWS} draws"
    if math.isnan(value):
        note = "no unit has two ratings" if not pairable else "all ratings are one value"
        return Estimate(value, math.nan, math.nan, pairable, coverage, method, seed, note=note)
    coincidences, marks = _coincidences(ratings)
    by_cluster = np.stack(
        [clusters.totals(coincidences[:, i, j]) for i, j in np.ndindex(len(marks), len(marks))],
        axis=1,
    )
    drawn = resample(clusters, generator(seed, "krippendorff_alpha"), DRAWS) @ by_cluster
    alphas = np.array(
        [_alpha(table.reshape(len(marks), len(marks)), marks, scale) for table in drawn]
    )
    lower, upper = percentile_interval(alphas, LEVEL)
    note = _NO_ENDS if math.isnan(lower) else ""
    return Estimate(value, lower, upper, pairable, coverage, method, seed, note=note)


def _coincidences(ratings: Numbers) -> tuple[Numbers, Numbers]:
    """Each unit's coincidences of values, shape (units, values, values), and the values."""
    marks = np.unique(ratings[~np.isnan(ratings)])
    counts = (ratings[:, :, None] == marks).sum(axis=0).astype(np.float64)
    raters = counts.sum(axis=1)
    pairs = counts[:, :, None] * counts[:, None, :]
    diagonal = np.arange(len(marks))
    pairs[:, diagonal, diagonal] -= counts
    weight = np.divide(1.0, raters - 1, out=np.zeros_like(raters), where=raters > 1)
    return pairs * weight[:, None, None], marks


def _alpha(coincidences: Numbers, marks: Numbers, scale: Scale) -> float:
    """Alpha of one table of coincidences; NaN where nothing varies."""
    marginal = coincidences.sum(axis=1)
    total = marginal.sum()
    distance = _distance(marginal, marks, scale)
    expected = float(marginal @ distance @ marginal)
    if total <= 1 or expected <= 0:
        return math.nan
    return float(1 - (total - 1) * (coincidences * distance).sum() / expected)


def _distance(marginal: Numbers, marks: Numbers, scale: Scale) -> Numbers:
    """The squared distance of each two values, shape (values, values)."""
    if scale == "nominal":
        nominal: Numbers = 1.0 - np.eye(len(marks))
        return nominal
    if scale == "interval":
        apart: Numbers = (marks[:, None] - marks[None, :]) ** 2
        return apart
    # Ordinal: the ratings from one value to the other, each end counted half.
    middle = np.cumsum(marginal) - marginal / 2
    ordinal: Numbers = (middle[:, None] - middle[None, :]) ** 2
    return ordinal


def weighted_kappa(
    one: NDArray[np.int64],
    other: NDArray[np.int64],
    levels: int,
    weights: Literal["none", "quadratic"] = "quadratic",
) -> float:
    """Cohen's kappa of two raters, weighted by the squared distance of their levels.

    Cohen (1968), "Weighted kappa". Units that one of them did not rate are left out beforehand.

    Args:
        one: shape (units,), the level of each unit, 0 … levels-1.
        other: shape (units,), by the other rater.
        levels: how many levels there are, used or not.
        weights: "none" counts every disagreement alike, as for nominal values.

    Returns:
        In [-1, 1]; NaN without units, or where both use one level alone.

    Raises:
        ValueError: the two arrays differ in shape.

    >>> weighted_kappa(np.array([0, 1, 2]), np.array([0, 1, 1]), 3)
    0.6666666666666667
    """
    if one.shape != other.shape:
        raise ValueError(
            f"the raters have {one.shape} and {other.shape} ratings; pass the same units in the "
            "same order"
        )
    table = np.zeros((levels, levels))
    np.add.at(table, (one, other), 1)
    return _kappa(table, weights)


def kappa_estimate(
    one: NDArray[np.int64],
    other: NDArray[np.int64],
    levels: int,
    clusters: Clusters,
    seed: int,
    weights: Literal["none", "quadratic"] = "quadratic",
) -> Estimate:
    """`weighted_kappa` with an interval by resampling clusters of units."""
    value = weighted_kappa(one, other, levels, weights)
    method = f"cluster bootstrap, {DRAWS} draws"
    if math.isnan(value):
        note = "all ratings are one level" if len(one) else "no unit has both ratings"
        return Estimate(value, math.nan, math.nan, len(one), math.nan, method, seed, note=note)
    cells = one * levels + other
    by_cluster = np.stack(
        [clusters.totals(cells == cell) for cell in range(levels * levels)], axis=1
    )
    drawn = resample(clusters, generator(seed, "weighted_kappa"), DRAWS) @ by_cluster
    kappas = np.array([_kappa(table.reshape(levels, levels), weights) for table in drawn])
    lower, upper = percentile_interval(kappas, LEVEL)
    note = _NO_ENDS if math.isnan(lower) else ""
    return Estimate(value, lower, upper, len(one), 1.0, method, seed, note=note)


def _kappa(table: Numbers, weights: Literal["none", "quadratic"]) -> float:
    levels = np.arange(len(table))
    apart = (levels[:, None] - levels[None, :]) ** 2
    distance = apart if weights == "quadratic" else np.minimum(apart, 1)
    total = table.sum()
    if not total:
        return math.nan
    expected = float((np.outer(table.sum(axis=1), table.sum(axis=0)) / total * distance).sum())
    return 1 - float((table * distance).sum()) / expected if expected else math.nan
