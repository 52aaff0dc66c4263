"""GMRL-BD's training: Eq. 5, then Algorithm 1; stopped anywhere, it goes on to the same weights.

What differs from the paper, and why, is on the page docs/gmrl-bd.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from askew.errors import ConfigError, missing_extra
from askew.search.gmrl_encoder import encoder_step
from askew.search.gmrl_learning import learn
from askew.search.gmrl_model import GmrlModel, input_size, load_model, world_dimensions
from askew.search.gmrl_network import GmrlNetwork
from askew.search.gmrl_prepared import Prepared, play_world, prepare
from askew.search.gmrl_settings import GmrlSettings
from askew.search.gmrl_walks import Tries
from askew.search.worlds import World
from askew.seeds import generator

try:
    import torch
except ImportError:
    raise missing_extra("torch", "boundary") from None

# Told after every episode, and now and then while the encoder is trained: steps done, steps in all
# (both of the phase), figures. What it raises stops the training; the checkpoint is kept.
Told = Callable[[int, int, dict[str, float]], None]

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
            _check_resumes(path, self.model, settings, seed, names, (titles, answers))
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
        self.prepared = [prepare(world, settings, answers) for world in worlds]

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
        random = generator(self.seed, "gmrl", "encoder", str(step))
        one = self.prepared[int(random.integers(len(self.prepared)))]
        return encoder_step(self.network, one, self.settings, adam, random)

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
        loss = learn(self.network, self._slow, played, settings, random, adam)
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
        """Some tries on a world by the weights that play; see `play_world`."""
        weights = {name: value.numpy() for name, value in self._slow.items()}
        # Before Algorithm 1 there is no mean yet.
        return play_world(
            one, self.settings, weights or self.network.arrays(), tries, epsilon, random
        )

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
    dimensions: tuple[int, int],
) -> None:
    had = model.title_dimensions, model.answer_dimensions
    for what, found, wanted in (
        ("settings", model.settings, settings),
        ("seed", model.seed, seed),
        ("worlds", model.worlds, worlds),
        ("lengths of title and answer vectors", had, dimensions),
    ):
        if found != wanted:
            raise ConfigError(
                f"{path}: is of a training with other {what} ({found}), not {wanted}. Name another "
                "checkpoint, or train with the same."
            )
