"""How far raters agree, on the pair and on the attributes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from askew.errors import MissingDependency
from askew.stats.agreement import krippendorff_alpha
from askew.stats.intervals import Numbers
from askew.survey.collected import Rating
from askew.survey.records import OTHER, Survey


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far raters agree. Each is NaN where nothing can be compared or nothing varies.

    Attributes:
        choice_percent: share of pairs of raters who chose alike, mean over scenarios, in [0, 1].
        choice_alpha: Krippendorff's alpha (nominal) of the arm chosen. Where nearly everybody
            chooses one arm it is near 0 whatever the percentage: read the two together.
        noticed_percent: the same for each attribute of each scenario, noticed or not.
        noticed_alpha: its alpha.
        note: why alpha is not there, or "".
    """

    choice_percent: float
    choice_alpha: float
    noticed_percent: float
    noticed_alpha: float
    note: str = ""


def agreement(survey: Survey, ratings: Sequence[Rating], net: Numbers) -> Agreement:
    """The raters' agreement.

    Args:
        survey: its attributes are what may be noticed.
        ratings: of the raters who count.
        net: their net choices, shape (raters, scenarios).
    """
    noticed = _noticed(survey, ratings)
    note = ""
    try:
        alphas = [krippendorff_alpha(one, "nominal") for one in (net, noticed)]
    except MissingDependency as trouble:
        alphas, note = [math.nan, math.nan], str(trouble)
    return Agreement(percent_agreement(net), alphas[0], percent_agreement(noticed), alphas[1], note)


def percent_agreement(ratings: Numbers) -> float:
    """The share of pairs of raters who say the same, mean over the units that two have rated.

    Args:
        ratings: shape (raters, units); NaN = not rated.

    >>> percent_agreement(np.array([[1.0, 1.0], [1.0, 0.0], [1.0, np.nan]]))
    0.5
    """
    shares = []
    for unit in ratings.T:
        rated = unit[~np.isnan(unit)]
        if len(rated) > 1:
            counts = np.unique(rated, return_counts=True)[1]
            shares.append((counts * (counts - 1)).sum() / (len(rated) * (len(rated) - 1)))
    return float(np.mean(shares)) if shares else math.nan


def _noticed(survey: Survey, ratings: Sequence[Rating]) -> Numbers:
    """1 where noticed and 0 where not, shape (raters, scenarios × attributes)."""
    raters = {name: row for row, name in enumerate(sorted({one.rater for one in ratings}))}
    names = [name for name in survey.attributes if name != OTHER]
    columns = {one.id: place * len(names) for place, one in enumerate(survey.scenarios)}
    noticed = np.full((len(raters), len(columns) * len(names)), math.nan)
    for one in ratings:
        if one.noticed is not None:
            start = columns[one.scenario]
            row = noticed[raters[one.rater]]
            row[start : start + len(names)] = [float(name in one.noticed) for name in names]
    return noticed
