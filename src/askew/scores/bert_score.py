"""BERTScore: how well the tokens of two texts match in meaning, each at its best."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from askew.models.token_vectors import TokenVectors


class BertScore(NamedTuple):
    """Each in [-1, 1], in practice well above 0; NaN where a text has no content token."""

    precision: float  # how well the candidate's tokens are found in the reference
    recall: float  # how well the reference's tokens are found in the candidate
    f1: float


def bert_score(candidate: TokenVectors, reference: TokenVectors) -> BertScore:
    """BERTScore by greedy cosine matching (Zhang et al., 2020, §3), without idf or rescaling.

    R = 1/|x| Σ_{x_i} max_{x̂_j} x_i·x̂_j for the reference x, P the same for the candidate x̂, and
    F1 = 2PR / (P + R). As in the authors' package, a token may match [CLS] or [SEP], which do not
    count themselves.

    Args:
        candidate: the tokens of the text to judge.
        reference: the tokens of the text to hold it to, from the same encoder.

    Raises:
        ValueError: the two have vectors of different length, so they are of two encoders.
    """
    if candidate.vectors.shape[1:] != reference.vectors.shape[1:]:
        raise ValueError(
            f"the candidate has vectors of shape {candidate.vectors.shape}, the reference "
            f"{reference.vectors.shape}; take both from the same encoder"
        )
    if not candidate.content.any() or not reference.content.any():
        return BertScore(math.nan, math.nan, math.nan)
    cosines = candidate.vectors @ reference.vectors.T
    precision = float(np.mean(cosines.max(axis=1)[candidate.content], dtype=np.float64))
    recall = float(np.mean(cosines.max(axis=0)[reference.content], dtype=np.float64))
    both = precision + recall
    # The harmonic mean of a negative number says nothing.
    f1 = 2 * precision * recall / both if min(precision, recall) > 0 else math.nan
    return BertScore(precision, recall, f1)
