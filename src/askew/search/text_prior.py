"""What a title says of a topic, learned from topics of other models whose labels are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askew.errors import DataError
from askew.search.title_prior import finite
from askew.search.worlds import World


@dataclass(frozen=True, slots=True, eq=False)
class TextPrior:
    """A logistic regression on title vectors."""

    weights: NDArray[np.float64]  # shape (dimensions,)
    intercept: float
    base_log_odds: float  # of the share of leaning topics that it was fitted on

    def log_odds(self, vectors: NDArray[np.float32]) -> NDArray[np.float64]:
        """Shape (topics,): log odds that each leans, of its title alone."""
        odds: NDArray[np.float64] = finite(vectors) @ self.weights + self.intercept
        return odds

    def log_odds_beside_base(self, vectors: NDArray[np.float32]) -> NDArray[np.float64]:
        """The same with the log odds of any topic taken off: what the title adds."""
        return self.log_odds(vectors) - self.base_log_odds


def fit_text_prior(worlds: Sequence[World], ridge: float = 1e-3) -> TextPrior:
    """Fit a text prior on worlds whose labels are known.

    Args:
        worlds: of other models than the one that is searched; title vectors of one kind.
        ridge: the penalty, on weights of standardised columns, for each topic.

    Raises:
        DataError: there is nothing to fit, or all topics have the same label.
    """
    from scipy.optimize import minimize

    if not worlds:
        raise DataError("no labelled topics to fit a text prior on. Pass at least one world.")
    vectors = finite(np.concatenate([world.title_vectors for world in worlds])).astype(np.float64)
    labels = np.concatenate([world.leaning for world in worlds]).astype(np.float64)
    if labels.min() == labels.max():
        raise DataError("all topics have the same label, so titles say nothing. Add other worlds.")
    middle, spread = vectors.mean(axis=0), vectors.std(axis=0)
    spread = np.where(spread > 0, spread, 1)
    design = np.column_stack([(vectors - middle) / spread, np.ones(len(vectors))])
    penalty = np.full(design.shape[1], ridge * len(labels))
    penalty[-1] = 0

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        odds = design @ weights
        value = np.logaddexp(0, odds).sum() - odds @ labels + 0.5 * penalty @ weights**2
        return float(value), design.T @ (1 / (1 + np.exp(-odds)) - labels) + penalty * weights

    fitted = minimize(loss, np.zeros(design.shape[1]), jac=True, method="L-BFGS-B").x
    weights = fitted[:-1] / spread
    share = labels.mean()
    return TextPrior(
        weights=weights,
        intercept=float(fitted[-1] - middle @ weights),
        base_log_odds=float(np.log(share / (1 - share))),
    )
