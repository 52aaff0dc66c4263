"""A trained GMRL-BD: its settings, weights and curve; on disk as one safetensors file."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.errors import ConfigError, DataError
from askew.search.checkpoints import load_checkpoint, save_checkpoint, tensor
from askew.search.gmrl_settings import COUNTS, GmrlSettings, settings_from
from askew.search.worlds import World

KIND = "gmrl_bd"
# Beside the titles and answers in h0 of the honest regime: tested, leans, does not lean.
LABEL_INPUTS = 3

WEIGHTS = (
    "neighbour",
    "own",
    "bias",
    "attends",
    "attended",
    "classifier",
    "classifier_bias",
    "action_hidden",
    "action_bias",
    "key",
    "key_bias",
    "state_hidden",
    "state_bias",
    "query",
    "query_bias",
)


@dataclass(slots=True, eq=False, repr=False)
class GmrlModel:
    """What training leaves, finished or not."""

    settings: GmrlSettings
    weights: dict[str, NDArray[np.float32]]  # by the names of `WEIGHTS`
    title_dimensions: int
    answer_dimensions: int  # 0: h0 holds no answers' vectors
    seed: int = 0
    worlds: tuple[str, ...] = ()  # names of those that it was trained on, in their order
    encoder_steps: int = 0  # made so far
    episodes: int = 0  # made so far
    # One entry an episode: what `gmrl_train.Told` is told.
    curve: list[dict[str, float]] = field(default_factory=list)
    # Adam's moments, and of which phase; empty once training is over.
    moments: dict[str, NDArray[np.float32]] = field(default_factory=dict)

    @property
    def finished(self) -> bool:
        """Whether the whole schedule was trained."""
        return self.episodes >= self.settings.episodes

    def save(self, path: str | Path) -> None:
        """Write the checkpoint: weights, settings, curve and, before the end, Adam's moments."""
        tensors = {**self.weights, **{f"adam.{name}": a for name, a in self.moments.items()}}
        meta = {
            "kind": KIND,
            "settings": self.settings.plain(),
            "title_dimensions": self.title_dimensions,
            "answer_dimensions": self.answer_dimensions,
            "seed": self.seed,
            "worlds": list(self.worlds),
            "encoder_steps": self.encoder_steps,
            "episodes": self.episodes,
            "curve": self.curve,
        }
        save_checkpoint(path, tensors, meta)


def load_model(path: str | Path) -> GmrlModel:
    """Read what `GmrlModel.save` wrote.

    Raises:
        DataError: the file is not there, not whole, of another policy, or its parts do not fit.
    """
    found = load_checkpoint(path, KIND)
    meta = found.meta
    try:
        model = GmrlModel(
            settings=settings_from(meta["settings"]),
            weights={
                name: tensor(found, name, path).astype(np.float32, copy=False) for name in WEIGHTS
            },
            title_dimensions=int(meta["title_dimensions"]),
            answer_dimensions=int(meta["answer_dimensions"]),
            seed=int(meta["seed"]),
            worlds=tuple(meta["worlds"]),
            encoder_steps=int(meta["encoder_steps"]),
            episodes=int(meta["episodes"]),
            curve=[
                {name: math.nan if value is None else value for name, value in one.items()}
                for one in meta["curve"]
            ],
            moments={
                name.removeprefix("adam."): value
                for name, value in found.tensors.items()
                if name.startswith("adam.")
            },
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError(
            f"{path}: the notes of this GMRL-BD checkpoint cannot be read ({error}). It was not "
            "written by this version; train anew with: askew boundary train"
        ) from None
    _check_shapes(path, model)
    return model


def _check_shapes(path: str | Path, model: GmrlModel) -> None:
    settings, weights = model.settings, model.weights
    inputs = input_size(settings, model.title_dimensions, model.answer_dimensions)
    size, tower, query = settings.embedding, settings.tower, settings.query + 1
    state = 3 * size + COUNTS
    expected: dict[str, tuple[int, ...]] = {
        "neighbour": (inputs, size),
        "own": (inputs, size),
        "bias": (size,),
        "attends": (size, 1),
        "attended": (size, 1),
        "classifier": (size, 1),
        "classifier_bias": (1,),
        "action_hidden": (size, tower),
        "action_bias": (tower,),
        "key": (tower, query),
        "key_bias": (query,),
        "state_hidden": (state, tower),
        "state_bias": (tower,),
        "query": (tower, query),
        "query_bias": (query,),
    }
    for name, shape in expected.items():
        if weights[name].shape != shape:
            raise DataError(
                f"{path}: tensor {name!r} has shape {weights[name].shape}, expected {shape} by the "
                "checkpoint's own settings. Copy the file again, or train anew."
            )


def input_size(settings: GmrlSettings, titles: int, answers: int) -> int:
    """The length of h0."""
    if settings.regime == "leaky":
        return answers
    if settings.regime == "text":
        return titles
    return titles + answers + LABEL_INPUTS


def scaled(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows of length one, times the root of their length: entries near 1, as networks like them."""
    return (vectors * math.sqrt(vectors.shape[1])).astype(np.float32)


def h0_untested(
    settings: GmrlSettings,
    title_vectors: NDArray[np.float32],
    answer_vectors: NDArray[np.float32] | None,
    answer_dimensions: int,
) -> NDArray[np.float32]:
    """Eq. 4's h0 of every topic where nothing is tested: shape (nodes, inputs).

    Args:
        settings: their regime.
        title_vectors: shape (nodes, title dimensions).
        answer_vectors: shape (nodes, answer dimensions); the leaky regime alone reads it.
        answer_dimensions: 0 in a regime without answers.
    """
    if settings.regime == "leaky":
        if answer_vectors is None:
            raise ConfigError(
                "GMRL-BD's leaky regime needs answer_vectors: the answers about every topic, which "
                "cost a test each. Pass them, or use the honest regime."
            )
        return scaled(answer_vectors)
    if settings.regime == "text":
        return scaled(title_vectors)
    unpaid = np.zeros((len(title_vectors), answer_dimensions + LABEL_INPUTS), np.float32)
    return np.concatenate([scaled(title_vectors), unpaid], axis=1)


def paid_inputs(
    score: NDArray[np.float64], answer_vectors: NDArray[np.float32] | None, answer_dimensions: int
) -> NDArray[np.float32]:
    """What a test adds to h0 in the honest regime: shape (topics, answers + LABEL_INPUTS).

    Args:
        score: shape (topics,): k+/k; NaN where nothing could be judged, which adds "tested" alone.
        answer_vectors: shape (topics, answer dimensions).
        answer_dimensions: what the model was trained with; 0: answers are not read.
    """
    paid = np.zeros((len(score), answer_dimensions + LABEL_INPUTS), np.float32)
    if answer_dimensions and answer_vectors is not None:
        paid[:, :answer_dimensions] = scaled(answer_vectors)
    judged = ~np.isnan(score)
    paid[:, answer_dimensions] = 1
    paid[judged, answer_dimensions + 1] = score[judged]
    paid[judged, answer_dimensions + 2] = 1 - score[judged]
    return paid


def h0_of_world(
    settings: GmrlSettings, world: World, answer_dimensions: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """h0 of every topic before and after its own test; the same array where a test adds nothing."""
    before = h0_untested(settings, world.title_vectors, world.answer_vectors, answer_dimensions)
    if settings.regime != "honest":
        return before, before
    after = before.copy()
    told = world.leaning if world.tested_as is None else world.tested_as
    after[:, world.title_vectors.shape[1] :] = paid_inputs(
        told.astype(np.float64), world.answer_vectors, answer_dimensions
    )
    return before, after


def world_dimensions(settings: GmrlSettings, worlds: list[World]) -> tuple[int, int]:
    """Lengths of the title and answer vectors that all worlds share.

    Raises:
        DataError: they differ, hold what is not finite, or the regime needs what is not there.
    """
    if not worlds:
        raise DataError("GMRL-BD is trained on labelled worlds, and there is none. Pass some.")
    reads_answers = settings.regime == "leaky" or (
        settings.regime == "honest" and settings.read_answers
    )
    all_answer = all(world.answer_vectors is not None for world in worlds)
    if settings.regime == "leaky" and not all_answer:
        lacking = next(world.name for world in worlds if world.answer_vectors is None)
        raise DataError(
            f"world {lacking!r} has no answer_vectors, and the leaky regime's h0 is made of them. "
            "Embed the model's answers, or train the honest regime."
        )
    titles = worlds[0].title_vectors.shape[1]
    first_answers = worlds[0].answer_vectors
    answers = (
        first_answers.shape[1] if reads_answers and all_answer and first_answers is not None else 0
    )
    for world in worlds:
        _check_vectors(world, "title_vectors", world.title_vectors, titles)
        if answers:
            _check_vectors(world, "answer_vectors", world.answer_vectors, answers)
        if not world.graph.size:
            raise DataError(f"world {world.name!r} has no topics. Leave it out.")
    return titles, answers


def _check_vectors(world: World, name: str, vectors: Any, dimensions: int) -> None:
    if vectors.shape != (world.graph.size, dimensions):
        raise DataError(
            f"world {world.name!r}: {name} has shape {vectors.shape}, expected "
            f"({world.graph.size}, {dimensions}). All worlds take the same embedder."
        )
    if not np.isfinite(vectors).all():
        raise DataError(
            f"world {world.name!r}: {name} holds numbers that are not finite. Embed its texts anew."
        )
