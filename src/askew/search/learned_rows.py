"""Games that gather what the learned belief is trained on: candidates' features, and labels.

DAgger (Ross, Gordon and Bagnell, 2011): the network plays, and at each state candidates are
labelled whether it would have tested them or not. Which candidates are labelled never depends on
their labels, so that what is fitted to them is a probability as it stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askew.search.features import NAMES, Features
from askew.search.game import Board, Observation, play
from askew.search.label_prior import LabelPrior, graph_key, label_prior
from askew.search.learned_network import Network
from askew.search.prior_trust import prior_trust
from askew.search.title_prior import TitlePrior, TitlePriorSums
from askew.search.worlds import World
from askew.seeds import generator

# Of a state's candidates: those that look best, and others at random.
BEST = 3
OTHERS = 4
# How often a game tests a candidate at random.
STRAY = 0.05
# So many worlds, evenly drawn, say how far a title prior is believed.
JUDGES = 8
# A state with more candidates than this is judged by a random part of them.
MOST_CANDIDATES = 1500


@dataclass(slots=True, eq=False)
class Known:
    """What may be known before a game on one world, from the others."""

    titles: NDArray[np.float32] | None
    others: list[int]  # worlds of other models on the same graph


def known_before(worlds: Sequence[World]) -> list[Known]:
    """For each world, what the worlds of other models say; never its own labels.

    Title priors leave out every world of the same model where there are others, so that at play,
    with a model that nobody has seen, they are as good as they were in training. They are believed
    as far as they foretell worlds that they leave out.
    """
    keys = [graph_key(world.graph) for world in worlds]
    models = _models(worlds)
    found: dict[int, Known] = {}
    for group in _by_dimensions(worlds):
        sums = TitlePriorSums([worlds[index] for index in group])
        names = [models[index] for index in group]
        for at, index in enumerate(group):
            world = worlds[index]
            rest = [one for one, name in enumerate(names) if name != names[at]]
            rest = rest or [one for one in range(len(group)) if one != at]
            trust = _trust(sums, [worlds[one] for one in group], names, rest)
            prior = sums.fit(rest) if rest and trust else None
            odds = None
            if prior is not None:
                odds = prior.times(trust).log_odds(world.graph, world.title_vectors)
            others = [
                one
                for one, key in enumerate(keys)
                if key == keys[index] and models[one] != models[index]
            ]
            found[index] = Known(odds, others)
    return [found[index] for index in range(len(worlds))]


def trusted_titles(worlds: Sequence[World]) -> tuple[TitlePrior | None, float]:
    """What all worlds' titles say, for a model that is none of theirs; and how far it is believed.

    Returns:
        The prior with its log odds multiplied by the trust; None where the title vectors differ in
        their dimensions, or no world shows that titles say anything of another.
    """
    groups = _by_dimensions(worlds)
    if len(groups) != 1 or not worlds[0].title_vectors.shape[1]:
        return None, 0.0
    sums, every = TitlePriorSums(worlds), list(range(len(worlds)))
    trust = _trust(sums, worlds, _models(worlds), every)
    prior = sums.fit(every) if trust else None
    return (None, 0.0) if prior is None else (prior.times(trust), trust)


def _trust(
    sums: TitlePriorSums, worlds: Sequence[World], models: Sequence[str], among: Sequence[int]
) -> float:
    """How far the title prior of some worlds is believed: each is foretold by others of them.

    By those of other models where there are any. 0 where there is but one world.
    """
    odds, leaning = [], []
    for judge in among[:: max(1, len(among) // JUDGES)][:JUDGES]:
        rest = [one for one in among if models[one] != models[judge]]
        prior = sums.fit(rest or [one for one in among if one != judge])
        if prior is not None:
            world = worlds[judge]
            odds.append(prior.log_odds(world.graph, world.title_vectors))
            leaning.append(world.leaning)
    return prior_trust(odds, leaning) if odds else 0.0


def _models(worlds: Sequence[World]) -> list[str]:
    return [world.model or f"world {index}" for index, world in enumerate(worlds)]


def _by_dimensions(worlds: Sequence[World]) -> list[list[int]]:
    groups: dict[int, list[int]] = {}
    for index, world in enumerate(worlds):
        groups.setdefault(world.title_vectors.shape[1], []).append(index)
    return list(groups.values())


class _Gathering:
    """Plays by a network, or by the graph's Gaussian process, and keeps labelled candidates."""

    name = "gathering"
    jumps = False

    def __init__(
        self,
        world: World,
        network: Network | None,
        titles: NDArray[np.float32] | None,
        labels: LabelPrior | None,
    ) -> None:
        self._world = world
        self._network = network
        self._known = titles, labels
        self.rows: list[NDArray[np.float32]] = []
        self.nodes: list[NDArray[np.int32]] = []

    def start(self, board: Board, random: np.random.Generator) -> None:
        """See `Policy.start`."""
        self._board = board
        self._random = random
        self._features = Features(board, *self._known)

    def observe(self, node: int, seen: Observation, opened: NDArray[np.int32]) -> None:
        """See `Policy.observe`."""
        self._features.observe(node, seen, opened)

    def pick(self) -> int:
        """See `Policy.pick`."""
        candidates = self._board.candidates()
        if len(candidates) > MOST_CANDIDATES:
            candidates = self._random.choice(candidates, MOST_CANDIDATES, replace=False)
        rows = self._features.matrix(candidates)
        if self._network is None:
            worth = rows[:, NAMES.index("process_graph")].astype(np.float64)
        else:
            worth = self._network.log_odds(rows)
        worth = worth + 1e-6 * self._random.random(len(worth))
        best = np.argsort(-worth)[:BEST]
        others = self._random.choice(len(candidates), min(OTHERS, len(candidates)), replace=False)
        kept = np.union1d(best, others)
        self.rows.append(rows[kept])
        self.nodes.append(candidates[kept])
        if self._random.random() < STRAY:
            return int(candidates[others[0]])
        return int(candidates[best[0]])


def gather(
    worlds: Sequence[World],
    known: Sequence[Known],
    index: int,
    network: Network | None,
    seed: int,
    game: str,
    queries: int,
    forgetting: float,
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """One game on one world.

    Args:
        worlds: all of the training.
        known: of `known_before`.
        index: the world that is played.
        network: who plays; None: the graph's Gaussian process.
        seed: of the training.
        game: names the game, for its draws.
        queries: tests in the game.
        forgetting: chance that the game is played without the title prior; and, apart, with only
            some of the other models' labels.

    Returns:
        Rows of features, and whether the topic of each leans.
    """
    world = worlds[index]
    random = generator(seed, "forgetting", game)
    titles, others = known[index].titles, known[index].others
    if random.random() < forgetting:
        titles = None
    if random.random() < forgetting:
        kept = int(random.integers(len(others) + 1))
        others = sorted(random.permutation(others)[:kept].tolist()) if others else []
    labels = label_prior([worlds[one] for one in others])
    gathering = _Gathering(world, network, titles, labels)
    queries = max(1, min(queries, world.graph.size - 1))
    board = Board(world.graph, world.title_vectors, queries)
    start = int(generator(seed, "start", game).integers(world.graph.size))
    play(board, gathering, world.oracle, seed=seed, start=start)
    if not gathering.rows:
        return np.zeros((0, len(NAMES)), np.float32), np.zeros(0, np.float32)
    nodes = np.concatenate(gathering.nodes)
    return np.concatenate(gathering.rows), world.leaning[nodes].astype(np.float32)
