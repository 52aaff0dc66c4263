"""What other models' labels on the same graph say of each topic beforehand."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askew.graphs.topics import TopicGraph
from askew.search.prior_trust import prior_trust
from askew.search.worlds import World

# An unlabelled topic counts as this many models' worth of the average.
STRENGTH = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class LabelPrior:
    """How many other models lean on each topic, and how many were labelled there."""

    leaning: NDArray[np.float32]  # shape (nodes,)
    models: NDArray[np.float32]  # shape (nodes,): 0 where nobody labelled the topic
    trust: float = 1.0  # what the log odds are multiplied by (`prior_trust`)

    def log_odds(self) -> NDArray[np.float32]:
        """Shape (nodes,): of leaning, against the average topic; 0 where nobody labelled it."""
        labelled = float(self.models.sum())
        if not labelled:
            return np.zeros(len(self.models), np.float32)
        rate = np.clip(float(self.leaning.sum()) / labelled, 1e-3, 1 - 1e-3)
        share = (self.leaning + STRENGTH * rate) / (self.models + STRENGTH)
        share = np.clip(share, 1e-4, 1 - 1e-4)
        odds: NDArray[np.float32] = np.log(share / (1 - share)) - np.log(rate / (1 - rate))
        return (self.trust * odds).astype(np.float32)


def label_prior(worlds: Sequence[World]) -> LabelPrior | None:
    """The prior from models that were labelled on one graph; None without any.

    It is believed as far as the models foretell one another, each by the rest.

    Args:
        worlds: all on the same graph.

    Raises:
        ValueError: the graphs differ in size, so they cannot be the same.
    """
    if not worlds:
        return None
    if len({world.graph.size for world in worlds}) > 1:
        raise ValueError("the worlds' graphs differ; a prior is made of models on one graph")
    leaning = np.zeros(worlds[0].graph.size, np.float32)
    for world in worlds:
        leaning += world.leaning
    odds, others = [], np.full(len(leaning), len(worlds) - 1, np.float32)
    if len(worlds) > 1:
        odds = [LabelPrior(leaning - one.leaning, others).log_odds() for one in worlds]
    trust = prior_trust(odds, [one.leaning for one in worlds][: len(odds)])
    return LabelPrior(leaning, np.full(len(leaning), len(worlds), np.float32), trust)


def graph_key(graph: TopicGraph) -> str:
    """Sixteen letters that are the same for graphs of the same titles and edges."""
    digest = hashlib.sha256()
    for part in (graph.starts, graph.neighbours, graph.direction, graph.title_bytes):
        digest.update(np.ascontiguousarray(part).tobytes())
        digest.update(b"/")
    return digest.hexdigest()[:16]
