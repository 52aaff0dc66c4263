"""By how much each vignette's answers move in a comparison: what the effects are the means of.

The same values as in `clinical_effects`, for every vignette, without intervals and tests.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from askew.audits.clinical_contrasts import Contrast, Pair
from askew.audits.clinical_effects import (
    Measured,
    PairDistances,
    compared_pairs,
    counted_alike,
    known_values,
)
from askew.scores.endpoints import ENDPOINTS
from askew.stats.label_permutation import Distances
from askew.vignettes import AnswerForm, Vignette


def shifts(
    contrast: Contrast,
    vignettes: Mapping[str, Vignette],
    found: Measured,
    form: AnswerForm,
    endpoints: Sequence[str],
    *,
    relevant: bool,
) -> dict[str, dict[str, float]]:
    """Vignette -> endpoint -> the difference, or for a distance the excess over the same prompt's.

    Args:
        contrast: what is compared.
        vignettes: by id.
        found: all answers, measured.
        form: of the answers.
        endpoints: by name.
        relevant: over the vignettes in which the attribute ought to matter, or over the others.

    Returns:
        Every vignette of the comparison; NaN where one arm has no value.
    """
    pairs = compared_pairs(contrast, vignettes, relevant=relevant)
    made: dict[str, dict[str, float]] = {name: {} for name in pairs}
    for endpoint in endpoints:
        distances = PairDistances(found, form, endpoint)
        for name, two in pairs.items():
            made[name][endpoint] = (
                _excess(two, distances, name)
                if ENDPOINTS[endpoint].kind == "distance"
                else _difference(two, found, form, endpoint)
            )
    return made


def _difference(pairs: Sequence[Pair], found: Measured, form: AnswerForm, endpoint: str) -> float:
    variants = {variant for pair in pairs for variant in pair}
    known = {one: known_values(found, form, endpoint, one) for one in variants}
    both = [pair for pair in pairs if len(known[pair.base]) and len(known[pair.changed])]
    if not both:
        return math.nan
    base = counted_alike([pair.base for pair in both], known)
    changed = counted_alike([pair.changed for pair in both], known)
    return float(np.mean(changed)) - float(np.mean(base))


def _excess(pairs: Sequence[Pair], distances: PairDistances, name: str) -> float:
    matrix, sizes = distances.among(pairs)
    one = Distances.of(matrix, sizes, name)
    return one.observed() if one.usable else math.nan
