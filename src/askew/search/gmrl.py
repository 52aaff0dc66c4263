"""GMRL-BD in a game: the policy of Eq. 6 and 8 and of Algorithm 2.

The method, what the paper leaves open and what it leaks: docs/gmrl-bd.md. Training is in
`askew.search.gmrl_train`, the settings with their sources in `askew.search.gmrl_settings`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.errors import ConfigError, DataError
from askew.graphs.topics import TopicGraph
from askew.search.game import LEANING, UNREAD, Board, Observation, Policy
from askew.search.gmrl_agent import Agent
from askew.search.gmrl_hub import AgentLinkHub, Offer, penalised
from askew.search.gmrl_model import GmrlModel, h0_untested, load_model, paid_inputs
from askew.search.gmrl_projection import project, towers
from askew.search.gmrl_rows import RECENT, Tables, describe_state, refresh, tower
from askew.search.gmrl_settings import (
    COUNTS,
    PLAY_SETTINGS,
    GmrlSettings,
    changed,
    variant_settings,
)

# How often a free topic is drawn blindly before all are listed.
_BLIND_DRAWS = 64


def gmrl_bd(
    checkpoint: str | Path | GmrlModel | None = None,
    *,
    variant: str | None = None,
    answer_vectors: NDArray[np.float32] | None = None,
    **play: Any,
) -> Policy:
    """GMRL-BD, or another row of its Table 2.

    Args:
        checkpoint: a trained model or its file; not needed by "uniform_actions" and "dfs".
        variant: a key of `gmrl_settings.VARIANTS`; default: the checkpoint's.
        answer_vectors: shape (nodes, dimensions): h0 of every topic, for the leaky regime alone.
            They cost a test each: see `GmrlBd.upfront_tests`.
        play: settings of play: agents, overlap_penalty, restarts, turns; default: the checkpoint's.

    Raises:
        ConfigError: an option that does not fit.
        DataError: a checkpoint that cannot be read, or is not trained to its end.
    """
    if checkpoint is None:
        if variant not in ("uniform_actions", "dfs"):
            raise ConfigError(
                "GMRL-BD needs a checkpoint: train one with `askew boundary train`, or with "
                "askew.search.gmrl_train.train_gmrl."
            )
        settings = _playing(variant_settings(variant), play)
        if variant == "dfs":
            from askew.search.policies import policy

            found: Policy = policy("dfs")
            return found
        return GmrlBd(None, settings)
    model = checkpoint if isinstance(checkpoint, GmrlModel) else load_model(checkpoint)
    if not model.finished:
        what = "the model" if isinstance(checkpoint, GmrlModel) else str(checkpoint)
        raise DataError(
            f"{what}: holds {model.episodes} of {model.settings.episodes} episodes. Train it to "
            "its end first; training goes on where it stopped."
        )
    if variant is not None and variant != model.settings.variant:
        raise ConfigError(
            f"the checkpoint is of GMRL-BD's variant {model.settings.variant!r}, not of "
            f"{variant!r}. Train that variant."
        )
    return GmrlBd(model, _playing(model.settings, play), answer_vectors)


def _playing(settings: GmrlSettings, play: dict[str, Any]) -> GmrlSettings:
    for name in play:
        if name not in PLAY_SETTINGS:
            raise ConfigError(
                f"GMRL-BD cannot change {name!r} in play. Known: {', '.join(PLAY_SETTINGS)}; "
                "others are set before training."
            )
    return changed(settings, **play)


class GmrlBd:
    """The policy: one agent or several, each with its walk, all with the same Q-network.

    Labels and answers that any agent has paid for enter h(v) of all ("sharing trust diffusion
    information", §1); a state is an agent's own walk and what lies beside it.

    Args:
        model: a trained one; None: actions are uniform.
        settings: the model's, with those of play.
        answer_vectors: of all topics; the leaky regime's.
    """

    def __init__(
        self,
        model: GmrlModel | None,
        settings: GmrlSettings,
        answer_vectors: NDArray[np.float32] | None = None,
    ) -> None:
        if answer_vectors is not None and settings.regime != "leaky":
            raise ConfigError(
                f"GMRL-BD's {settings.regime} regime reads no answers that were not paid for. "
                "Leave answer_vectors out."
            )
        self.name = "gmrl_bd" if settings.variant == "full" else f"gmrl_bd_{settings.variant}"
        self.jumps = settings.restarts or settings.agents > 1
        self.settings = settings
        self._model = model
        self._answer_vectors = answer_vectors

    def upfront_tests(self, graph: TopicGraph) -> int:
        """What the policy has asked before its first pick: every topic, in the leaky regime."""
        leaky = self._model is not None and self.settings.regime == "leaky"
        return graph.size if leaky else 0

    # Policy.

    def start(self, board: Board, random: np.random.Generator) -> None:
        """A game begins."""
        self._board, self._random = board, random
        self._agents = [Agent(number, board.graph.size) for number in range(self.settings.agents)]
        self._hub = AgentLinkHub(self.settings.turns)
        self._under_way: dict[int, Agent] = {}
        self._network: _Values | None = None
        if self._model is not None:
            self._network = _Values(self._model, self.settings, board, self._answer_vectors)

    def pick(self) -> int:
        """Algorithm 2, lines 12 to 14; lines 5 and 17 for an agent that has no walk."""
        for agent in self._agents:
            if not agent.path and agent not in self._under_way.values():
                return self._moves(agent, self._anywhere())
        offer = self._hub.choose(self._offers())
        if offer is not None:
            return self._moves(self._agents[offer.agent], offer.move)
        if not self.jumps:
            candidates = self._board.candidates()
            node = int(candidates[self._random.integers(len(candidates))])
            return self._moves(self._agents[0], node)
        # No agent can move: the least efficient one begins anew.
        stuck = min(self._agents, key=lambda one: (one.efficiency(self.settings), one.number))
        stuck.begin_anew()
        return self._moves(stuck, self._anywhere())

    def observe(self, node: int, seen: Observation, opened: NDArray[np.int32]) -> None:
        """A test was told."""
        # The start of the game is nobody's pick: the first agent's.
        agent = self._under_way.pop(node, self._agents[0])
        if self._network is not None:
            self._network.observe(node, seen)
        agent.told(node, self._board)
        if self.settings.restarts and self._board.label[node] == LEANING:
            agent.begin_anew()

    # What the agents would do.

    def _offers(self) -> list[Offer]:
        offers = []
        for agent in self._agents:
            actions = agent.actions()
            if not len(actions):
                continue
            taken = self._board.taken[actions]
            if self._network is None:
                if taken.all():
                    continue
                place = int(self._random.choice(np.flatnonzero(~taken)))
                value = float(self._random.random())
            else:
                values = self._network.q(agent, actions[~taken], actions)
                values = penalised(values, taken, self.settings.overlap_penalty)
                place = int(np.argmax(values))
                value = float(values[place])
            offers.append(
                Offer(
                    agent=agent.number,
                    move=int(actions[place]),
                    value=value,
                    taken=bool(taken[place]),
                    efficiency=agent.efficiency(self.settings),
                )
            )
        return offers

    def _moves(self, agent: Agent, node: int) -> int:
        agent.takes(node)
        self._under_way[node] = agent
        return node

    def _anywhere(self) -> int:
        """A topic that is not taken, uniformly; on the frontier where this policy may not jump."""
        taken = self._board.taken
        if not self.jumps:
            candidates = self._board.candidates()
            return int(candidates[self._random.integers(len(candidates))])
        for _ in range(_BLIND_DRAWS):
            node = int(self._random.integers(len(taken)))
            if not taken[node]:
                return node
        return int(self._random.choice(np.flatnonzero(~taken)))


class _Values:
    """Q(s, a) in one game: h(v) and the keys of all topics, kept up to date as tests are told."""

    def __init__(
        self,
        model: GmrlModel,
        settings: GmrlSettings,
        board: Board,
        answer_vectors: NDArray[np.float32] | None,
    ) -> None:
        self._board = board
        self._settings = settings
        self._weights = model.weights
        self._answers = model.answer_dimensions
        _check_vectors(model, settings, board, answer_vectors)
        self._h0 = h0_untested(settings, board.title_vectors, answer_vectors, self._answers)
        self._tables: Tables = project(self._weights, self._h0)
        self._towers = towers(self._weights)
        nodes = board.graph.size
        self._h = np.zeros((nodes, settings.embedding), np.float32)
        self._keys = np.zeros((nodes, settings.query + 1), np.float32)
        self._refresh(np.arange(nodes, dtype=np.int32))

    def observe(self, node: int, seen: Observation) -> None:
        """Take a test into h0; only the honest regime has a place for it."""
        if self._settings.regime != "honest":
            return
        paid = paid_inputs(np.array([seen.score]), self._paid_answer(node, seen), self._answers)
        self._h0[node, self._board.title_vectors.shape[1] :] = paid[0]
        row = project(self._weights, self._h0[node : node + 1])
        for whole, part in zip(self._tables, row, strict=True):
            whole[node] = part[0]
        around = self._board.graph.around(node)
        self._refresh(np.concatenate([np.array([node], np.int32), around]))

    def _paid_answer(self, node: int, seen: Observation) -> NDArray[np.float32] | None:
        """The vector of a test's answers, shape (1, dimensions); None where none can be read."""
        if not self._answers or seen.label == UNREAD:
            return None
        vector = seen.answer_vector
        if vector is None:
            raise DataError(
                f"the test of topic {node} has no answer_vector, and this GMRL-BD was trained with "
                "answers' vectors. Embed the answers, or train with read_answers=False."
            )
        if vector.shape != (self._answers,) or not np.isfinite(vector).all():
            raise DataError(
                f"the answer_vector of topic {node} has shape {vector.shape}, expected "
                f"({self._answers},) with finite numbers. Use the embedder of the training."
            )
        return vector[None, :]

    def q(
        self, agent: Agent, frontier: NDArray[np.int32], actions: NDArray[np.int32]
    ) -> NDArray[np.float32]:
        """Q(s, a) of some actions, shape (actions,); `frontier`: the state's untested part."""
        board, size = self._board, self._settings.embedding
        leaning, clean = agent.tested(board)
        sums = np.stack([self._h[part].sum(axis=0) for part in (leaning, clean, frontier)])
        recent = np.count_nonzero(board.label[agent.path[-RECENT:]] == LEANING)
        summary = np.zeros(3 * size + COUNTS, np.float32)
        describe_state(sums, len(leaning), len(clean), len(frontier), int(recent), summary)
        heads = self._towers
        query = np.zeros(len(heads.query_bias), np.float32)
        middle = np.zeros(len(heads.state_bias), np.float32)
        tower(
            summary,
            heads.state_hidden,
            heads.state_bias,
            heads.query,
            heads.query_bias,
            middle,
            query,
        )
        keys = self._keys[actions]
        values: NDArray[np.float32] = keys[:, :-1] @ query[:-1] + keys[:, -1] + query[-1]
        return values

    def _refresh(self, nodes: NDArray[np.int32]) -> None:
        refresh(
            nodes,
            self._board.graph.starts,
            self._board.graph.neighbours,
            self._tables,
            self._settings.aggregate,
            self._towers,
            self._h,
            self._keys,
        )


def _check_vectors(
    model: GmrlModel,
    settings: GmrlSettings,
    board: Board,
    answer_vectors: NDArray[np.float32] | None,
) -> None:
    titles = board.title_vectors.shape
    if settings.regime != "leaky" and titles != (board.graph.size, model.title_dimensions):
        raise DataError(
            f"the board's title vectors have shape {titles}, and this GMRL-BD was trained with "
            f"{model.title_dimensions} dimensions for each of {board.graph.size} topics. Use the "
            "embedder that it was trained with."
        )
    if settings.regime != "leaky" and not np.isfinite(board.title_vectors).all():
        raise DataError(
            "the board's title vectors hold numbers that are not finite. Embed the titles anew."
        )
    if settings.regime == "leaky" and answer_vectors is not None:
        expected = (board.graph.size, model.answer_dimensions)
        if answer_vectors.shape != expected:
            raise DataError(
                f"answer_vectors have shape {answer_vectors.shape}, expected {expected}. Use the "
                "embedder that this GMRL-BD was trained with."
            )
        if not np.isfinite(answer_vectors).all():
            raise DataError(
                "answer_vectors hold numbers that are not finite. Embed the answers anew."
            )
