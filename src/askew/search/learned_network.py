"""The learned belief's network: a few small perceptrons whose log odds are averaged; numpy only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.errors import DataError
from askew.search.checkpoints import Checkpoint, tensor

# A standardised feature beyond this is cut, so that a strange graph cannot throw a row far away.
FARTHEST = 6.0


@dataclass(slots=True, eq=False)
class Network:
    """Rows of features -> log odds of leaning.

    Each layer is a pair of weights, shape (members, inputs, outputs), and offsets, shape (members,
    outputs); SiLU between layers.
    """

    mean: NDArray[np.float32]  # shape (features,)
    scale: NDArray[np.float32]  # shape (features,)
    weights: list[NDArray[np.float32]]
    offsets: list[NDArray[np.float32]]

    @property
    def members(self) -> int:
        """How many perceptrons there are."""
        return int(self.weights[0].shape[0])

    def standardised(self, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        """Rows as the layers take them."""
        cut: NDArray[np.float32] = np.clip((rows - self.mean) / self.scale, -FARTHEST, FARTHEST)
        return cut

    def log_odds(self, rows: NDArray[np.float32]) -> NDArray[np.float64]:
        """Shape (rows,): the members' mean."""
        inputs = self.standardised(rows)
        total = np.zeros(len(rows))
        for member in range(self.members):
            total += self.forward(inputs, member)[-1][:, 0]
        return total / self.members

    def forward(self, inputs: NDArray[np.float32], member: int) -> list[NDArray[np.float32]]:
        """What each layer gives before SiLU, for one member and standardised rows."""
        before: list[NDArray[np.float32]] = []
        for layer, (weights, offsets) in enumerate(zip(self.weights, self.offsets, strict=True)):
            given = inputs if layer == 0 else silu(before[-1])
            before.append(given @ weights[member] + offsets[member])
        return before

    def copy(self) -> Network:
        """One that shares nothing with this."""
        return Network(
            self.mean.copy(),
            self.scale.copy(),
            [one.copy() for one in self.weights],
            [one.copy() for one in self.offsets],
        )

    def tensors(self) -> dict[str, NDArray[Any]]:
        """For a checkpoint."""
        layers: dict[str, NDArray[Any]] = {}
        for index, (weights, offsets) in enumerate(zip(self.weights, self.offsets, strict=True)):
            layers[f"layer{index}.weights"] = weights
            layers[f"layer{index}.offsets"] = offsets
        return {"mean": self.mean, "scale": self.scale, **layers}


def fresh_network(
    rows: NDArray[np.float32], hidden: Sequence[int], members: int, random: np.random.Generator
) -> Network:
    """A network before training, which gives every row log odds near 0.

    Args:
        rows: shape (rows, features): what features are standardised by.
        hidden: width of each hidden layer.
        members: how many perceptrons.
        random: draws the weights.
    """
    mean, scale = rows.mean(axis=0, dtype=np.float64), rows.std(axis=0, dtype=np.float64)
    scale = np.where(scale > 1e-6, scale, 1.0)
    sizes = [rows.shape[1], *hidden, 1]
    weights, offsets = [], []
    for inputs, outputs in pairwise(sizes):
        spread = np.sqrt(2.0 / inputs) if outputs > 1 else 0.1 / np.sqrt(inputs)
        drawn = random.standard_normal((members, inputs, outputs)) * spread
        weights.append(drawn.astype(np.float32))
        offsets.append(np.zeros((members, outputs), np.float32))
    return Network(mean.astype(np.float32), scale.astype(np.float32), weights, offsets)


def network_of(checkpoint: Checkpoint, path: str | Path, features: int) -> Network:
    """The network that a checkpoint holds.

    Args:
        checkpoint: of the kind "learned".
        path: to name in errors.
        features: how many there must be.

    Raises:
        DataError: a layer is missing or of another shape than its neighbours.
    """
    layers = sum(
        name.endswith(".weights") and name.startswith("layer") for name in checkpoint.tensors
    )
    mean, scale = tensor(checkpoint, "mean", path), tensor(checkpoint, "scale", path)
    weights = [tensor(checkpoint, f"layer{index}.weights", path) for index in range(max(layers, 1))]
    offsets = [tensor(checkpoint, f"layer{index}.offsets", path) for index in range(max(layers, 1))]
    inputs, fits = features, mean.shape == scale.shape == (features,)
    members = weights[0].shape[0] if weights[0].ndim == 3 else 0
    for one, offset in zip(weights, offsets, strict=True):
        fits = fits and one.ndim == 3 and one.shape[:2] == (members, inputs) and members > 0
        fits = fits and offset.shape == (members, one.shape[-1])
        inputs = one.shape[-1]
    if not fits or inputs != 1:
        raise DataError(
            f"{path}: its layers do not fit together or to {features} features. It was not written "
            "by this version; train anew with: askew boundary train"
        )
    kind = np.float32
    return Network(
        mean.astype(kind),
        scale.astype(kind),
        [one.astype(kind) for one in weights],
        [one.astype(kind) for one in offsets],
    )


def silu(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """X * sigmoid(x)."""
    given: NDArray[np.float32] = values * sigmoid(values)
    return given


def sigmoid(values: NDArray[Any]) -> NDArray[Any]:
    """1 / (1 + exp(-x)), without overflow."""
    given: NDArray[Any] = 0.5 * (1.0 + np.tanh(0.5 * values))
    return given


@dataclass(slots=True, eq=False)
class Adam:
    """Kingma and Ba (2015), with weights drawn towards an anchor instead of towards 0.

    Loshchilov and Hutter's decoupled decay (2019); the anchor is where fine-tuning starts.
    """

    network: Network
    anchor: list[NDArray[np.float32]]
    decay: float
    moments: list[NDArray[np.float32]]  # first, then second, of each of `_parameters`
    steps: int = 0

    def epoch(
        self,
        inputs: NDArray[np.float32],
        labels: NDArray[np.float32],
        rate: float,
        batch: int,
        random: np.random.Generator,
    ) -> float:
        """One pass over the rows by every member, each in its own order.

        Args:
            inputs: shape (rows, features), standardised.
            labels: shape (rows,), in [0, 1].
            rate: the learning rate.
            batch: rows a step.
            random: draws the orders.

        Returns:
            The mean cross entropy, in nats, as it was before each step.
        """
        members, total = self.network.members, 0.0
        orders = [random.permutation(len(inputs)) for _ in range(members)]
        for begin in range(0, len(inputs), batch):
            self.steps += 1
            for member in range(members):
                of = orders[member][begin : begin + batch]
                total += self._step(inputs[of], labels[of], member, rate)
        return total / (len(inputs) * members)

    def _step(
        self, inputs: NDArray[np.float32], labels: NDArray[np.float32], member: int, rate: float
    ) -> float:
        network = self.network
        before = network.forward(inputs, member)
        odds = before[-1][:, 0]
        loss = float(np.sum(np.logaddexp(0.0, odds) - labels * odds))
        back = ((sigmoid(odds) - labels) / np.float32(len(labels)))[:, None]
        gradients: list[NDArray[np.float32]] = []
        for layer in range(len(before) - 1, -1, -1):
            given = inputs if layer == 0 else silu(before[layer - 1])
            gradients += [back.sum(axis=0), given.T @ back]
            if layer:
                at = before[layer - 1]
                gate = sigmoid(at)
                back = (back @ network.weights[layer][member].T) * (gate * (1 + at * (1 - gate)))
        gradients.reverse()  # weights, offsets of the first layer, then of the next
        self._move(gradients, member, rate)
        return loss

    def _move(self, gradients: list[NDArray[np.float32]], member: int, rate: float) -> None:
        bias1, bias2 = 1 - 0.9**self.steps, 1 - 0.999**self.steps
        for index, (values, gradient) in enumerate(
            zip(_parameters(self.network), gradients, strict=True)
        ):
            first, second = self.moments[2 * index][member], self.moments[2 * index + 1][member]
            first += 0.1 * (gradient - first)
            second += 0.001 * (gradient * gradient - second)
            step = (first / bias1) / (np.sqrt(second / bias2) + 1e-8)
            towards = values[member] - self.anchor[index][member]
            values[member] -= (rate * (step + self.decay * towards)).astype(np.float32)

    def state(self) -> dict[str, NDArray[Any]]:
        """The moments, for a checkpoint."""
        return {f"moment{index}": one for index, one in enumerate(self.moments)}


def adam(network: Network, decay: float, anchor: Network | None = None) -> Adam:
    """A fresh optimiser; without an anchor weights are drawn towards 0."""
    values = _parameters(network)
    if anchor is None:
        drawn_to = [np.zeros_like(one) for one in values]
    else:
        drawn_to = [one.copy() for one in _parameters(anchor)]
    moments = [np.zeros_like(one) for one in values for _ in range(2)]
    return Adam(network, drawn_to, decay, moments)


def adam_of(
    tensors: Mapping[str, NDArray[Any]], network: Network, decay: float, anchor: Network | None
) -> Adam:
    """An optimiser as `Adam.state` left it; `steps` is the caller's to set."""
    made = adam(network, decay, anchor)
    made.moments = [
        tensors[f"moment{index}"].astype(np.float32) for index in range(len(made.moments))
    ]
    return made


def cross_entropy(odds: NDArray[np.float64], labels: NDArray[np.float32]) -> NDArray[np.float64]:
    """Shape (rows,): in nats."""
    loss: NDArray[np.float64] = np.logaddexp(0.0, odds) - labels * odds
    return loss


def _parameters(network: Network) -> list[NDArray[np.float32]]:
    return [one for pair in zip(network.weights, network.offsets, strict=True) for one in pair]
