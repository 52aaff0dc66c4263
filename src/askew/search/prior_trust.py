"""How far what other models say may be believed, judged by models that it was not learned from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

# The slope at which a prior is taken as it stands: about what it comes to on the graphs that the
# network that comes with askew was trained on, which has learned to discount it from there.
REFERENCE = 0.5
# Where no other model can be asked.
UNTRIED = 0.5


def prior_trust(odds: Sequence[NDArray[Any]], leaning: Sequence[NDArray[np.bool_]]) -> float:
    """By what a prior's log odds are to be multiplied: in [0, 1].

    A logistic regression of each model's labels on log odds that other models' labels gave, with an
    intercept of its own for each: a slope of 1 says that the odds mean what they say, 0 that they
    say nothing of another model. It has a standard normal prior, as models that agree to the last
    topic would make it endless, and is taken at one standard error less. Titles with hundreds of
    dimensions, and labels of models that do not agree topic by topic, come near 0; believing them
    misleads every pick.

    Args:
        odds: one array a world: log odds by other models' labels, never by its own.
        leaning: the worlds' labels, in the same order.

    Returns:
        Slope / `REFERENCE`, cut to [0, 1]; `UNTRIED` where no world has topics that lean, topics
        that do not, and odds that differ.
    """
    from scipy.optimize import minimize

    pairs = [
        # Centred: each world has an intercept of its own, and the fit is then well conditioned.
        (np.asarray(one, np.float64) - np.mean(one), labels.astype(np.float64))
        for one, labels in zip(odds, leaning, strict=True)
        if len(labels) and 0 < labels.sum() < len(labels) and np.ptp(one) > 0
    ]
    if not pairs:
        return UNTRIED
    x, y = (np.concatenate([pair[part] for pair in pairs]) for part in (0, 1))
    world = np.repeat(np.arange(len(pairs)), [len(pair[0]) for pair in pairs])
    rates = np.array([labels.mean() for _, labels in pairs])

    def chances(weights: NDArray[np.float64]) -> NDArray[np.float64]:
        given: NDArray[np.float64] = 1 / (1 + np.exp(-weights[0] * x - weights[1:][world]))
        return given

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        log_odds, off = weights[0] * x + weights[1:][world], chances(weights) - y
        value = float(np.logaddexp(0, log_odds).sum() - log_odds @ y + weights[0] ** 2 / 2)
        return value, np.append(off @ x + weights[0], np.bincount(world, off, len(pairs)))

    begin = np.append(0.0, np.log(rates / (1 - rates)))
    fitted = minimize(loss, begin, jac=True, method="L-BFGS-B").x
    certain = chances(fitted) * (1 - chances(fitted))
    middle = np.bincount(world, certain * x) / np.bincount(world, certain)
    # Fisher information of the slope, with that of its prior.
    known = float(certain @ (x - middle[world]) ** 2) + 1
    slope = float(fitted[0]) - 1 / math.sqrt(known)
    return float(np.clip(slope / REFERENCE, 0.0, 1.0))
