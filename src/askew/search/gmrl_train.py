"""GMRL-BD's training: Eq. 5, then Algorithm 1; stopped anywhere, it goes on to the same weights.

What differs from the paper, and why, is on the page docs/gmrl-bd.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from askew.errors import ConfigError, missing_extra
from askew.search.distance import scratch
from askew.search.gmrl_model import (
    GmrlModel,
    h0_of_world,
    input_size,
    load_model,
    world_dimensions,
)
from askew.search.gmrl_network import GmrlNetwork, gather_topics
from askew.search.gmrl_projection import project, towers
from askew.search.gmrl_settings import GmrlSettings
from askew.search.gmrl_walks import (
    COUNTS,
    UNTOUCHED,
    Tables,
    Tries,
    Weights,
    grow_sets,
    play_tries,
    refresh,
)
from askew.search.worlds import World
from askew.seeds import generator

try:
    import torch
except ImportError:
    raise missing_extra("torch", "boundary") from None

# Told after every episode, and now and then while the encoder is trained: steps done, steps in all
# (both of the phase), figures. What it raises stops the training; the checkpoint is kept.
Told = Callable[[int, int, dict[str, float]], None]

SETS_A_STEP = 32  # tested sets that a batch of Eq. 5 is drawn from
LONGEST_SET = 150  # topics in the largest of them
SAVE_EVERY = 20  # episodes between two checkpoints
ENCODER_SAVE_EVERY = 500  # steps of Eq. 5 between two
ADAM = (0.9, 0.999, 1e-8)


def train_gmrl(
    worlds: Sequence[World],
    settings: GmrlSettings | None = None,
    *,
    seed: int = 0,
    checkpoint: str | Path | None = None,
    told: Told | None = None,
) -> GmrlModel:
    """Train GMRL-BD on labelled worlds; never on those that it is then measured on.

    Args:
        worlds: graphs with models whose leanings are known.
        settings: what to train; default: the full method in the honest regime.
        seed: of the first weights and of every draw.
        checkpoint: written as training goes on. Where it is there already, training resumes from
            it, to the very weights that an unbroken one reaches.
        told: progress; see `Told`.

    Returns:
        The trained model; it is in `checkpoint` as well.

    Raises:
        ConfigError: the variant is not trained, or the checkpoint is of another training.
        DataError: worlds that cannot be used, or a checkpoint that cannot be read.
    """
    used = settings or GmrlSettings()
    if not used.trained:
        raise ConfigError(
            f"GMRL-BD's variant {used.variant!r} has nothing to train. Play it without a "
            "checkpoint."
        )
    trainer = Trainer(list(worlds), used, seed, checkpoint)
    trainer.train_encoder(told)
    trainer.train_q(told)
    return trainer.model


@dataclass(slots=True, eq=False)
class Prepared:
    """A world with its h0, and with h and the tables that follow from the encoder."""

    world: World
    untested: torch.Tensor  # shape (nodes, inputs): h0
    tested: torch.Tensor
    told: NDArray[np.bool_]
    tables: tuple[Tables, Tables] | None = None  # h0 projected, before and after a test
    h: NDArray[np.float32] | None = None


class Trainer:
    """One training, a phase at a time; `train_gmrl` is its use.

    Args:
        worlds: to train on.
        settings: what to train.
        seed: of everything that is drawn.
        path: the checkpoint; None: none is kept.
    """

    def __init__(
        self,
        worlds: list[World],
        settings: GmrlSettings,
        seed: int = 0,
        path: str | Path | None = None,
    ) -> None:
        titles, answers = world_dimensions(settings, worlds)
        self.settings, self.seed, self.path = settings, seed, path
        # The running mean of the weights: it plays, and its values are Eq. 7's targets.
        self._slow: dict[str, torch.Tensor] = {}
        self.network = GmrlNetwork(
            settings,
            input_size(settings, titles, answers),
            generator(seed, "gmrl", "weights"),
        )
        names = tuple(world.name for world in worlds)
        if path is not None and Path(path).exists():
            self.model = load_model(path)
            _check_resumes(path, self.model, settings, seed, names)
            state = {name: torch.from_numpy(a.copy()) for name, a in self.model.weights.items()}
            self.network.load_state_dict(state)
        else:
            self.model = GmrlModel(
                settings=settings,
                weights=self.network.arrays(),
                title_dimensions=titles,
                answer_dimensions=answers,
                seed=seed,
                worlds=names,
            )
        self.prepared = []
        for world in worlds:
            before, after = h0_of_world(settings, world, answers)
            first = torch.from_numpy(before)
            self.prepared.append(
                Prepared(
                    world=world,
                    untested=first,
                    tested=first if after is before else torch.from_numpy(after),
                    told=np.ascontiguousarray(
                        world.leaning if world.tested_as is None else world.tested_as, np.bool_
                    ),
                )
            )

    # Eq. 5.

    def train_encoder(self, told: Told | None) -> None:
        model, settings = self.model, self.settings
        if settings.q_attends:  # no Eq. 5: the Q-loss trains Eq. 4 as well
            model.encoder_steps = settings.encoder_steps
        if model.encoder_steps >= settings.encoder_steps:
            return
        adam = self._adam(
            self.network.encoder_parameters(), settings.encoder_rate, settings.weight_decay
        )
        total = settings.encoder_steps
        losses: list[float] = []
        for step in range(model.encoder_steps, total):
            for group in adam.param_groups:  # down to a tenth, evenly
                group["lr"] = settings.encoder_rate * (1 - 0.9 * step / total)
            losses.append(self._encoder_step(step, adam))
            model.encoder_steps = step + 1
            if model.encoder_steps % ENCODER_SAVE_EVERY == 0 or model.encoder_steps == total:
                if model.encoder_steps < total:
                    self._keep(adam)
                else:
                    self._keep(None)
                if told is not None:
                    told(model.encoder_steps, total, {"cross_entropy": float(np.mean(losses))})
                losses = []

    def _encoder_step(self, step: int, adam: torch.optim.Adam) -> float:
        settings = self.settings
        random = generator(self.seed, "gmrl", "encoder", str(step))
        one = self.prepared[int(random.integers(len(self.prepared)))]
        graph = one.world.graph
        if settings.regime == "honest":
            nodes, walk, at, order = _drawn_states(one, settings.encoder_batch, random)
        else:
            nodes = random.integers(graph.size, size=settings.encoder_batch)
            walk, at = np.zeros(len(nodes), np.int64), np.zeros(len(nodes), np.int64)
            order = np.full((1, graph.size), UNTOUCHED, np.int32)
        topics = gather_topics(
            graph,
            nodes,
            walk,
            at,
            order,
            fan_out=settings.fan_out if settings.sage else None,
            random=random,
        )
        logits = self.network.logits(self.network.embed(one.untested, one.tested, topics))
        wanted = torch.from_numpy(one.world.leaning[nodes].astype(np.float32))
        loss = torch.nn.functional.binary_cross_entropy_with_logits(logits, wanted)
        adam.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        adam.step()
        return float(loss.detach())

    # Algorithm 1.

    def train_q(self, told: Told | None) -> None:
        model, settings = self.model, self.settings
        if model.finished:
            return
        parameters = self.network.q_parameters()
        if settings.q_attends:
            parameters = parameters + self.network.encoder_parameters()[:5]
        adam = self._adam(parameters, settings.learning_rate, 0.0)
        self._slow = {
            name: torch.from_numpy(array.copy()) for name, array in self.model.weights.items()
        }
        if model.moments:  # resumed: the network itself runs ahead of its mean
            state = {
                name: torch.from_numpy(model.moments[f"fast.{name}"].copy()) for name in self._slow
            }
            self.network.load_state_dict(state)
        for episode in range(model.episodes, settings.episodes):
            figures = self._episode(episode, adam)
            model.curve.append(figures)
            model.episodes = episode + 1
            last = adam if model.episodes < settings.episodes else None
            if last is None or model.episodes % SAVE_EVERY == 0:
                self._keep(last)
            if told is not None:
                try:
                    told(model.episodes, settings.episodes, figures)
                except BaseException:
                    self._keep(last)
                    raise

    def _episode(self, episode: int, adam: torch.optim.Adam) -> dict[str, float]:
        settings = self.settings
        random = generator(self.seed, "gmrl", "episode", str(episode))
        many = min(settings.worlds_per_episode, len(self.prepared), settings.tries)
        chosen = random.choice(len(self.prepared), many, replace=False)
        shares = [len(part) for part in np.array_split(np.arange(settings.tries), many)]
        epsilon = settings.epsilon(episode)
        played = [
            (self.prepared[index], self.play(self.prepared[index], tries, epsilon, random))
            for index, tries in zip(chosen.tolist(), shares, strict=True)
        ]
        loss = self._learn(played, random, adam)
        first = np.concatenate([tries.first_hit for _, tries in played])
        queries = np.concatenate([tries.queries for _, tries in played])
        return {
            "epsilon": epsilon,
            "first_hit": float(first[first > 0].mean()) if (first > 0).any() else math.nan,
            "without_hit": float((first == 0).mean()),
            "hits": float(np.concatenate([tries.hits for _, tries in played]).mean()),
            "queries": float(queries.mean()),
            "reward": float(np.concatenate([tries.reward for _, tries in played]).mean()),
            "loss": loss,
        }

    def play(self, one: Prepared, tries: int, epsilon: float, random: np.random.Generator) -> Tries:
        settings = self.settings
        graph = one.world.graph
        weights = {name: value.numpy() for name, value in self._slow.items()}
        weights = weights or self.network.arrays()  # before Algorithm 1 there is no mean yet
        if one.tables is None or one.h is None or settings.q_attends:
            before = project(weights, one.untested.numpy())
            same = one.tested is one.untested
            one.tables = (before, before if same else project(weights, one.tested.numpy()))
            one.h = np.zeros((graph.size, settings.embedding), np.float32)
        heads = towers(weights)
        keys = np.zeros((graph.size, settings.query + 1), np.float32)
        # Eq. 4 and the keys of all topics at once; walks then redo what a test changes.
        everything = np.arange(graph.size, dtype=np.int32)
        refresh(
            everything,
            graph.starts,
            graph.neighbours,
            one.tables[0],
            settings.aggregate,
            heads,
            one.h,
            keys,
        )
        limit = min(settings.max_steps, graph.size)
        if settings.try_queries is not None:
            limit = min(limit, settings.try_queries)
        capacity = min(max(settings.transitions * tries // settings.tries, 1), tries * limit)
        out = Tries(
            summary=np.zeros((capacity, 3 * settings.embedding + COUNTS), np.float32),
            action=np.zeros((capacity, settings.embedding), np.float32),
            target=np.zeros(capacity, np.float32),
            node=np.zeros(capacity, np.int32),
            walk=np.zeros(capacity, np.int32),
            step=np.zeros(capacity, np.int32),
            order=np.zeros((tries, graph.size), np.int32),
            first_hit=np.zeros(tries, np.int32),
            hits=np.zeros(tries, np.int32),
            queries=np.zeros(tries, np.int32),
            reward=np.zeros(tries, np.float64),
        )
        written = play_tries(
            graph.starts,
            graph.neighbours,
            np.ascontiguousarray(one.world.leaning, np.bool_),
            one.told,
            one.tables[0],
            one.tables[1],
            one.tables[1] is not one.tables[0],
            settings.aggregate,
            heads,
            one.h,
            keys,
            random.integers(graph.size, size=tries).astype(np.int32),
            random.integers(2**31, size=tries),
            epsilon,
            limit,
            settings.try_queries is None,
            Weights(
                settings.reward_hit, settings.reward_test, settings.reward_near, settings.discount
            ),
            scratch(graph.size),
            out,
        )
        kept = slice(0, int(written))
        return out._replace(
            **{
                name: getattr(out, name)[kept]
                for name in ("summary", "action", "target", "node", "walk", "step")
            }
        )

    def _learn(
        self,
        played: list[tuple[Prepared, Tries]],
        random: np.random.Generator,
        adam: torch.optim.Adam,
    ) -> float:
        """Algorithm 1, line 31: one pass over the episode's transitions, towards Eq. 7's target."""
        settings = self.settings
        sizes = [len(tries.target) for _, tries in played]
        if not sum(sizes):
            return math.nan
        if settings.q_attends:
            # Each batch is of one world, so that its tables are projected once.
            batches = [
                (index, part)
                for index, size in enumerate(sizes)
                for part in _batches(random.permutation(size), settings.batch)
            ]
            batches = [batches[k] for k in random.permutation(len(batches))]
        else:
            batches = [
                (-1, part) for part in _batches(random.permutation(sum(sizes)), settings.batch)
            ]
        summary = torch.from_numpy(np.concatenate([tries.summary for _, tries in played]))
        action = torch.from_numpy(np.concatenate([tries.action for _, tries in played]))
        target = torch.from_numpy(np.concatenate([tries.target for _, tries in played]))
        target = target.clamp(*_bounds(settings))
        begin = np.cumsum([0, *sizes])
        losses = []
        for index, part in batches:
            if index < 0:
                rows = torch.from_numpy(part)
                h = action[rows]
            else:
                rows = torch.from_numpy(part + begin[index])
                h = self._embedded(*played[index], part)
            loss = torch.nn.functional.smooth_l1_loss(
                self.network.q(summary[rows], h), target[rows]
            )
            adam.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            adam.step()
            losses.append(float(loss.detach()))
            with torch.no_grad():
                for name, value in self.network.state_dict().items():
                    self._slow[name] += settings.averaging * (value - self._slow[name])
        return float(np.mean(losses))

    def _embedded(self, one: Prepared, tries: Tries, part: NDArray[np.int64]) -> torch.Tensor:
        """h(a) of some transitions by Eq. 4 anew, so that the Q-loss reaches its weights."""
        topics = gather_topics(
            one.world.graph,
            tries.node[part].astype(np.int64),
            tries.walk[part].astype(np.int64),
            tries.step[part].astype(np.int64),
            tries.order,
        )
        return self.network.embed(one.untested, one.tested, topics)

    # Checkpoints.

    def _adam(
        self, parameters: list[torch.nn.Parameter], rate: float, decay: float
    ) -> torch.optim.Adam:
        """Adam over some parameters, with the moments of the checkpoint where it holds some."""
        adam = torch.optim.Adam(
            parameters, lr=rate, betas=ADAM[:2], eps=ADAM[2], weight_decay=decay
        )
        moments = self.model.moments
        if moments:
            for number, parameter in enumerate(parameters):
                if f"{number}.mean" not in moments:
                    continue
                adam.state[parameter] = {
                    "step": torch.tensor(float(moments["steps"][0])),
                    "exp_avg": torch.from_numpy(moments[f"{number}.mean"].copy()),
                    "exp_avg_sq": torch.from_numpy(moments[f"{number}.square"].copy()),
                }
        return adam

    def _keep(self, adam: torch.optim.Adam | None) -> None:
        """Bring the model up to date, and write it; None: the phase is over."""
        model = self.model
        ahead = self.network.arrays()
        model.moments = {}
        if self._slow:
            model.weights = {name: value.numpy().copy() for name, value in self._slow.items()}
        else:
            model.weights = ahead
        if adam is not None:
            parameters = adam.param_groups[0]["params"]
            for number, parameter in enumerate(parameters):
                state = adam.state.get(parameter)
                if not state:  # a weight that this variant has no use for: it has no gradient
                    continue
                model.moments["steps"] = np.array([float(state["step"])], np.float32)
                model.moments[f"{number}.mean"] = state["exp_avg"].numpy().copy()
                model.moments[f"{number}.square"] = state["exp_avg_sq"].numpy().copy()
            if self._slow:
                model.moments.update({f"fast.{name}": array for name, array in ahead.items()})
        if self.path is not None:
            model.save(self.path)


def _check_resumes(
    path: str | Path,
    model: GmrlModel,
    settings: GmrlSettings,
    seed: int,
    worlds: tuple[str, ...],
) -> None:
    for what, found, wanted in (
        ("settings", model.settings, settings),
        ("seed", model.seed, seed),
        ("worlds", model.worlds, worlds),
    ):
        if found != wanted:
            raise ConfigError(
                f"{path}: is of a training with other {what} ({found}), not {wanted}. Name another "
                "checkpoint, or train with the same."
            )


def _bounds(settings: GmrlSettings) -> tuple[float, float]:
    """What Eq. 1 can sum up to, so that an overestimated maximum cannot run away."""
    if settings.discount == 1:
        return -math.inf, math.inf
    least = -settings.reward_test
    most = settings.reward_hit - settings.reward_test + settings.reward_near
    return least / (1 - settings.discount), most / (1 - settings.discount)


def _batches(rows: NDArray[np.int64], size: int) -> list[NDArray[np.int64]]:
    return [rows[begin : begin + size] for begin in range(0, len(rows), size)]


def _drawn_states(
    one: Prepared, topics: int, random: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
    """Untested topics in states as a search meets them: three in four from the frontier.

    Returns:
        nodes, walk and step as `gather_topics` takes them, and order.
    """
    graph = one.world.graph
    order = np.empty((SETS_A_STEP, graph.size), np.int32)
    drawn = np.empty((SETS_A_STEP, max(topics // SETS_A_STEP, 1)), np.int64)
    longest = min(LONGEST_SET, graph.size - 1)
    grow_sets(
        graph.starts,
        graph.neighbours,
        one.told,
        random.integers(graph.size, size=SETS_A_STEP).astype(np.int32),
        random.integers(min(1, longest), longest + 1, size=SETS_A_STEP),
        random.integers(2**31, size=SETS_A_STEP),
        order,
        drawn,
    )
    walk = np.repeat(np.arange(SETS_A_STEP), drawn.shape[1])
    return drawn.ravel(), walk, np.full(drawn.size, UNTOUCHED, np.int64), order
