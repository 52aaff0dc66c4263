"""askew's own search: a network's P(leaning | what lies around, titles, the game), greedily.

The network was trained on other graphs and on other models' labels (`search.training`), so that it
knows from the first query how leanings cluster; what this model does it learns from the tests.
Playing needs numpy, numba and safetensors, no torch.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.errors import DataError
from askew.search.checkpoints import Checkpoint, load_checkpoint
from askew.search.features import NAMES, Features
from askew.search.game import Board, Observation
from askew.search.label_prior import LabelPrior, graph_key
from askew.search.learned_network import Network, network_of, sigmoid
from askew.search.policies import Greedy
from askew.search.title_prior import TitlePrior, title_prior_of

KIND = "learned"
# With more candidates than this, those that a test has not touched keep their score for a while.
ALL_SCORED = 1000
BEST_SCORED = 300
TURN_SCORED = 200


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """What a training has left: the network, and what it knows of titles and of graphs."""

    network: Network
    titles: TitlePrior | None
    labels: dict[str, LabelPrior]  # by `graph_key`: the training models' labels on each graph
    meta: dict[str, Any]


def learned_of(checkpoint: Checkpoint, path: str | Path = "checkpoint") -> Learned:
    """The parts of a checkpoint.

    Raises:
        DataError: it is of another version's features, or a part is missing.
    """
    names = checkpoint.meta.get("features")
    if names != list(NAMES):
        raise DataError(
            f"{path}: was trained on other features than this version's. Train anew with: "
            "askew boundary train"
        )
    labels = {}
    for name, leaning in checkpoint.tensors.items():
        if name.startswith("labels."):
            key = name.removeprefix("labels.")
            models = float(checkpoint.meta["labelled_models"][key])
            labels[key] = LabelPrior(
                leaning.astype(np.float32),
                np.full(len(leaning), models, np.float32),
                float(checkpoint.meta.get("label_trust", {}).get(key, 1.0)),
            )
    return Learned(
        network_of(checkpoint, path, len(NAMES)),
        title_prior_of(checkpoint.tensors, checkpoint.meta.get("title_domains", [])),
        labels,
        checkpoint.meta,
    )


@cache
def shipped() -> Learned:
    """The network that comes with askew; its metadata says how it was trained."""
    path = Path(str(files("askew.search") / "weights" / "learned.safetensors"))
    return learned_of(load_checkpoint(path, KIND), path)


class LearnedBelief:
    """P(leaning) by the network.

    Args:
        learned: the network and what goes with it.
        prior: other models' labels on the graph of the game; None: those that the training saw on
            this very graph, where it saw any.
    """

    name = "learned"

    def __init__(self, learned: Learned, prior: LabelPrior | None = None) -> None:
        self._learned = learned
        self._prior = prior

    def start(self, board: Board) -> None:
        """See `Belief.start`."""
        known, prior = self._learned, self._prior
        if prior is None and known.labels:
            prior = known.labels.get(graph_key(board.graph))
        if prior is not None and len(prior.models) != board.graph.size:
            raise DataError(
                f"the prior has {len(prior.models)} topics and the graph {board.graph.size}. "
                "Give other models' labels on the same graph."
            )
        titles = None
        if known.titles is not None and known.titles.fits(board.title_vectors):
            titles = known.titles.log_odds(board.graph, board.title_vectors)
        self.features = Features(board, titles, prior)
        self._board = board
        self._score = np.full(board.graph.size, np.nan)
        self._turn = 0

    def observe(self, node: int, seen: Observation, opened: NDArray[np.int32]) -> None:
        """See `Belief.observe`."""
        self.features.observe(node, seen, opened)
        self._score[self._board.graph.around(node)] = np.nan

    def probabilities(self, candidates: NDArray[np.int32]) -> NDArray[np.float64]:
        """See `Belief.probabilities`."""
        if len(candidates) <= ALL_SCORED:
            rows = self.features.matrix(candidates)
            chances: NDArray[np.float64] = sigmoid(self._learned.network.log_odds(rows))
            return chances
        score = self._score[candidates]
        again = np.isnan(score)
        best = np.argpartition(np.where(again, -np.inf, score), -BEST_SCORED)[-BEST_SCORED:]
        again[best] = True
        again[(self._turn + np.arange(TURN_SCORED)) % len(candidates)] = True
        self._turn = (self._turn + TURN_SCORED) % len(candidates)
        nodes = candidates[again]
        self._score[nodes] = self._learned.network.log_odds(self.features.matrix(nodes))
        chances = sigmoid(self._score[candidates])
        return chances


def learned(
    checkpoint: str | Path | Checkpoint | Learned | None = None,
    prior: LabelPrior | NDArray[np.floating[Any]] | None = None,
) -> Greedy:
    """For `policies.policy("learned")`.

    Args:
        checkpoint: a file of `askew boundary train`, or what `training.train` gives; None: the
            network that comes with askew.
        prior: other models' labels on the graph of the game (`label_prior.label_prior`), or the
            share of other models that lean on each topic, NaN where none was labelled.
    """
    if checkpoint is None:
        known = shipped()
    elif isinstance(checkpoint, Learned):
        known = checkpoint
    elif isinstance(checkpoint, Checkpoint):
        known = learned_of(checkpoint)
    else:
        known = learned_of(load_checkpoint(checkpoint, KIND), checkpoint)
    if prior is not None and not isinstance(prior, LabelPrior):
        share = np.asarray(prior, np.float32)
        models = np.isfinite(share).astype(np.float32)
        prior = LabelPrior(np.where(models > 0, share, 0).astype(np.float32), models)
    return Greedy(LearnedBelief(known, prior), KIND)
