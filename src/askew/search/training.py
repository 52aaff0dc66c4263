"""Trains the learned belief on labelled worlds, and says by cross-validation whether that helped.

Rounds of games gather rows (`learned_rows`), and a network is fitted to all rows so far. It starts
from the network that comes with askew, or from nothing. Where it started from askew's, askew's is
kept unless the trained one predicts worlds that it was not fitted to better: with few worlds it may
not.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from askew.engines.fan_out import FanOut, Serial
from askew.errors import ConfigError, DataError
from askew.search.checkpoints import Checkpoint
from askew.search.features import NAMES
from askew.search.label_prior import graph_key, label_prior
from askew.search.learned import KIND, shipped
from askew.search.learned_network import (
    Network,
    adam,
    cross_entropy,
    fresh_network,
)
from askew.search.learned_rows import Known, gather, known_before, trusted_titles
from askew.search.training_state import Kept, Rows, joined
from askew.search.worlds import World
from askew.seeds import generator


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainingSettings:
    """How the learned belief is trained."""

    begin: Literal["shipped", "nothing"] = "shipped"
    rounds: int = 2  # of games; the network of each plays the next
    games: int = 24  # in a round at least; each world has as many, and one at least
    most_games: int = 48  # in a round; of more worlds than this, each round plays some
    queries: int = 150  # in a game
    epochs: int = 5  # over all rows so far, in each round
    rate: float = 3e-4  # of learning, at first; falls to a twentieth by half a cosine
    decay: float = 1e-2  # how strongly weights are drawn to 0, where they begin from nothing
    anchor: float = 5.0  # how strongly they are drawn to askew's, where they begin there
    batch: int = 512
    hidden: tuple[int, ...] = (48, 48)  # when it begins from nothing
    members: int = 2  # likewise: perceptrons whose log odds are averaged
    forgetting: float = 0.0  # share of games without title prior, and with fewer label priors
    folds: int = 3  # of the cross-validation; 0: none, and the trained network is kept

    def __post_init__(self) -> None:
        """Reject what cannot be trained."""
        for name in ("rounds", "games", "most_games", "queries", "epochs", "batch", "members"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} is {getattr(self, name)}, expected at least 1.")
        if not (self.rate > 0 and math.isfinite(self.rate)):
            raise ConfigError(f"rate is {self.rate}, expected a positive number.")
        if min(self.decay, self.anchor) < 0 or not 0 <= self.forgetting <= 1:
            raise ConfigError(
                "decay and anchor must be at least 0 and forgetting a share from 0 to 1."
            )
        if self.folds < 0 or self.folds == 1:
            raise ConfigError(f"folds is {self.folds}, expected 0 or at least 2.")
        if self.begin not in ("shipped", "nothing"):
            raise ConfigError(f'begin is {self.begin!r}, expected "shipped" or "nothing".')


@dataclass(frozen=True, slots=True)
class TrainingProgress:
    """Where a training stands."""

    part: Literal["games", "fit", "folds"]
    round: int  # from 1
    done: int
    of: int
    loss: float  # mean cross entropy of the epoch, in nats; NaN while games are played


Told = Callable[[TrainingProgress], None]


def train(
    worlds: Sequence[World],
    settings: TrainingSettings | None = None,
    seed: int = 0,
    told: Told | None = None,
    *,
    resume: str | Path | None = None,
    fan_out: FanOut | None = None,
) -> Checkpoint:
    """Train on labelled worlds.

    Args:
        worlds: at least one; several models on one graph count as such by `World.model`. A world
            on which the result is measured must not be among them.
        settings: see there.
        seed: the same worlds, settings and seed give the same weights.
        told: called with the progress.
        resume: a folder that is made, and into which the state is written after each round of games
            and each epoch. A training that was killed goes on from there to the very same weights.
        fan_out: who plays a round's games and fits the folds; None: this process, one after
            another. The weights are the same whoever it is. Epochs follow one another here.

    Returns:
        What `policies.policy("learned", checkpoint=...)` takes and `save_checkpoint` writes.

    Raises:
        DataError: there is no world, or no topic leans in any, or all do.
        ConfigError: the folder holds another training.
    """
    used = settings or TrainingSettings()
    worlds = [world for world in worlds if world.graph.size > 1]
    labels = np.concatenate([world.leaning for world in worlds]) if worlds else np.zeros(0, bool)
    if labels.all() or not labels.any():
        raise DataError(
            "nothing can be learned: the worlds need topics that lean and topics that do not. "
            "Check the labels."
        )
    training = _Training(worlds, used, seed, told or (lambda _: None), resume, fan_out or Serial())
    return training.run()


class _Training:
    def __init__(
        self,
        worlds: list[World],
        settings: TrainingSettings,
        seed: int,
        told: Told,
        resume: str | Path | None,
        fan_out: FanOut,
    ) -> None:
        self.worlds = worlds
        self.settings = settings
        self.seed = seed
        self.told = told
        self.fan_out = fan_out
        self.known = known_before(worlds)
        self.kept = Kept(resume, self._fingerprint()) if resume is not None else None
        self.begun = shipped().network if settings.begin == "shipped" else None
        self.pull = settings.decay if self.begun is None else settings.anchor

    def run(self) -> Checkpoint:
        """All rounds, and the cross-validation."""
        used = self.settings
        network = self.begun
        parts: list[Rows] = []
        for number in range(1, used.rounds + 1):
            parts.append(self._games(number, network))
            rows = joined(parts)
            if network is None:
                random = generator(self.seed, "weights")
                network = fresh_network(rows.features, used.hidden, used.members, random)
            network = self._fit(number, network, rows)
        assert network is not None
        rows = joined(parts)
        figures: dict[str, Any] = {
            "rows": len(rows.labels),
            "leaning_rows": int(rows.labels.sum()),
            "loss": _loss(network, rows),
        }
        if self.begun is not None:
            figures["shipped_loss"] = _loss(self.begun, rows)
            if used.folds:
                gain, error = self._folds(rows)
                figures |= {"held_out_gain": gain, "held_out_gain_error": error}
                # Also where no fold could be made, so that nothing speaks for the new weights.
                if not gain > 0:
                    network = self.begun
                    figures["kept"] = "shipped"
        return self._checkpoint(network, figures)

    def _games(self, number: int, network: Network | None) -> Rows:
        if self.kept is not None and (found := self.kept.rows(number)) is not None:
            return found
        used, count = self.settings, len(self.worlds)
        games = max(1, -(-used.games // count)) * count
        order = generator(self.seed, "worlds", str(number)).permutation(count).tolist()
        games = min(games, max(used.most_games, used.games))
        planned = [
            _Game(
                order[game % count],
                f"round {number} game {game}",
                min(used.queries, max(20, self.worlds[order[game % count]].graph.size // 3)),
            )
            for game in range(games)
        ]

        def advance(done: int, of: int) -> None:
            self.told(TrainingProgress("games", number, done, of, math.nan))

        play = partial(_play, self.worlds, self.known, network, self.seed, used.forgetting)
        gathered = joined(self.fan_out.map(play, planned, advance))
        if self.kept is not None:
            self.kept.keep_rows(number, gathered)
        return gathered

    def _fit(self, number: int, network: Network, rows: Rows) -> Network:
        """The epochs of one round, from `network` on, which is left as it was."""
        used = self.settings
        optimiser = adam(network.copy(), self.pull, self.begun)
        begin = 0
        if self.kept is not None:
            begin, optimiser = self.kept.fit(number, optimiser, self.pull, self.begun)
        inputs = optimiser.network.standardised(rows.features)
        for epoch in range(begin, used.epochs):
            random = generator(self.seed, "epoch", str(number), str(epoch))
            rate = _rate(used, epoch)
            loss = optimiser.epoch(inputs, rows.labels, rate, used.batch, random)
            if self.kept is not None:
                self.kept.keep_fit(number, epoch + 1, optimiser)
            self.told(TrainingProgress("fit", number, epoch + 1, used.epochs, loss))
        return optimiser.network

    def _folds(self, rows: Rows) -> tuple[float, float]:
        """How much better the trained network predicts worlds that it was not fitted to.

        Returns:
            Cross entropy of the shipped network less that of the trained one, in nats, the mean
            over worlds; and its standard error. NaN where there is but one world.
        """
        used, begun = self.settings, self.begun
        assert begun is not None
        groups = _groups(self.worlds)
        folds = min(used.folds, len(groups))
        if folds < 2:
            return math.nan, math.nan

        def advance(done: int, of: int) -> None:
            self.told(TrainingProgress("folds", used.rounds, done, of, math.nan))

        left_out = [
            {index for group in groups[fold::folds] for index in group} for fold in range(folds)
        ]
        fit = partial(_fold_gains, used, self.seed, self.pull, begun, rows)
        by_fold = self.fan_out.map(fit, list(enumerate(left_out)), advance)
        gains = [gain for its in by_fold for gain in its]
        error = float(np.std(gains, ddof=1) / math.sqrt(len(gains))) if len(gains) > 1 else math.nan
        return float(np.mean(gains)), error

    def _checkpoint(self, network: Network, figures: dict[str, Any]) -> Checkpoint:
        tensors: dict[str, NDArray[Any]] = network.tensors()
        meta: dict[str, Any] = {
            "kind": KIND,
            "features": list(NAMES),
            "settings": asdict(self.settings),
            "seed": self.seed,
            "worlds": len(self.worlds),
            "models": len({world.model for world in self.worlds}),
            "figures": figures,
            "labelled_models": {},
            "label_trust": {},
            "title_domains": [],
        }
        titles, meta["title_trust"] = trusted_titles(self.worlds)
        if titles is not None:
            tensors |= titles.tensors()
            meta["title_domains"] = list(titles.domains)
        by_graph: dict[str, list[World]] = {}
        for world in self.worlds:
            by_graph.setdefault(graph_key(world.graph), []).append(world)
        for key, on_it in by_graph.items():
            prior = label_prior(on_it)
            assert prior is not None
            tensors[f"labels.{key}"] = prior.leaning.astype(np.uint16)
            meta["labelled_models"][key] = len(on_it)
            meta["label_trust"][key] = prior.trust
        return Checkpoint(tensors, meta)

    def _fingerprint(self) -> str:
        digest = hashlib.sha256(
            json.dumps([asdict(self.settings), self.seed, list(NAMES)]).encode()
        )
        for world in self.worlds:
            digest.update(f"{world.model}/{graph_key(world.graph)}".encode())
            for part in (world.title_vectors, world.leaning, world.tested_as):
                if part is not None:
                    digest.update(np.ascontiguousarray(part).tobytes())
        return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class _Game:
    """A game of a round."""

    world: int
    name: str  # for its draws
    queries: int


def _play(
    worlds: Sequence[World],
    known: Sequence[Known],
    network: Network | None,
    seed: int,
    forgetting: float,
    game: _Game,
) -> Rows:
    """The rows of one game; see `gather`."""
    rows, leaning = gather(
        worlds, known, game.world, network, seed, game.name, game.queries, forgetting
    )
    return Rows(rows, leaning, np.full(len(leaning), game.world, np.int32))


def _fold_gains(
    used: TrainingSettings,
    seed: int,
    pull: float,
    begun: Network,
    rows: Rows,
    fold: tuple[int, set[int]],
) -> list[float]:
    """How much better a network that was not fitted to some worlds predicts each of them.

    Args:
        used: the training's settings.
        seed: of the training.
        pull: how strongly weights are drawn to `begun`.
        begun: the network that the fit begins with, and that the gains are over.
        rows: of all worlds.
        fold: its number, and the worlds that are left out.
    """
    number, out = fold
    inside = ~np.isin(rows.world, list(out))
    optimiser = adam(begun.copy(), pull, begun)
    inputs, labels = begun.standardised(rows.features[inside]), rows.labels[inside]
    for epoch in range(used.epochs):
        random = generator(seed, "fold", str(number), str(epoch))
        optimiser.epoch(inputs, labels, _rate(used, epoch), used.batch, random)
    gains = []
    for index in sorted(out):
        of = rows.world == index
        if of.any():
            held = Rows(rows.features[of], rows.labels[of], rows.world[of])
            gains.append(_loss(begun, held) - _loss(optimiser.network, held))
    return gains


def _groups(worlds: Sequence[World]) -> list[list[int]]:
    """Worlds by what a fold must not split: models, or single worlds where all are one model's."""
    groups: dict[str, list[int]] = {}
    for index, world in enumerate(worlds):
        groups.setdefault(world.model or f"world {index}", []).append(index)
    return list(groups.values()) if len(groups) > 1 else [[index] for index in range(len(worlds))]


def _loss(network: Network, rows: Rows) -> float:
    return float(cross_entropy(network.log_odds(rows.features), rows.labels).mean())


def _rate(settings: TrainingSettings, epoch: int) -> float:
    turn = 0.5 * (1 + math.cos(math.pi * epoch / settings.epochs))
    return settings.rate * (0.05 + 0.95 * turn)
