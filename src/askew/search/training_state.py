"""What a training of the learned belief gathers, and writes down to go on from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.errors import ConfigError
from askew.search.checkpoints import Checkpoint, load_checkpoint, save_checkpoint
from askew.search.features import NAMES
from askew.search.learned_network import Network, adam_of, network_of

_STATE = "learned training"
_ROWS = "learned rows"


@dataclass(slots=True, eq=False)
class Rows:
    """Candidates of games: their features, whether each leans, and the world of each."""

    features: NDArray[np.float32]
    labels: NDArray[np.float32]
    world: NDArray[np.int32]


def joined(parts: Sequence[Rows]) -> Rows:
    """The rows of several games or rounds, one after another."""
    return Rows(
        np.concatenate([one.features for one in parts]),
        np.concatenate([one.labels for one in parts]),
        np.concatenate([one.world for one in parts]),
    )


class Kept:
    """What a training has written down to go on from.

    Args:
        folder: made where it is not there.
        fingerprint: of the training's worlds, settings and seed.
    """

    def __init__(self, folder: str | Path, fingerprint: str) -> None:
        self._folder = Path(folder)
        self._folder.mkdir(parents=True, exist_ok=True)
        self._fingerprint = fingerprint

    def rows(self, number: int) -> Rows | None:
        """The rows of a round, where its games were played to the end."""
        found = self._load(f"rows-{number}", _ROWS)
        if found is None:
            return None
        return Rows(found.tensors["features"], found.tensors["labels"], found.tensors["world"])

    def keep_rows(self, number: int, rows: Rows) -> None:
        """Write the rows of a round, of which all games were played."""
        tensors = {"features": rows.features, "labels": rows.labels, "world": rows.world}
        meta = {"kind": _ROWS, "training": self._fingerprint}
        save_checkpoint(self._folder / f"rows-{number}.safetensors", tensors, meta)

    def fit(self, number: int, fresh: Any, decay: float, anchor: Network | None) -> tuple[int, Any]:
        """The epochs of the round that are done, and the optimiser after them."""
        name = f"fit-{number}"
        found = self._load(name, _STATE)
        if found is None:
            return 0, fresh
        network = network_of(found, self._folder / f"{name}.safetensors", len(NAMES))
        optimiser = adam_of(found.tensors, network, decay, anchor)
        optimiser.steps = int(found.meta["steps"])
        return int(found.meta["epochs"]), optimiser

    def keep_fit(self, number: int, epochs: int, optimiser: Any) -> None:
        """Write the state after so many epochs of a round."""
        tensors = optimiser.network.tensors() | optimiser.state()
        meta = {
            "kind": _STATE,
            "training": self._fingerprint,
            "epochs": epochs,
            "steps": optimiser.steps,
        }
        save_checkpoint(self._folder / f"fit-{number}.safetensors", tensors, meta)

    def _load(self, name: str, kind: str) -> Checkpoint | None:
        path = self._folder / f"{name}.safetensors"
        if not path.exists():
            return None
        found = load_checkpoint(path, kind)
        if found.meta.get("training") != self._fingerprint:
            raise ConfigError(
                f"{path}: is of a training with other worlds, settings or seed. "
                "Give another folder, or remove this one."
            )
        return found
