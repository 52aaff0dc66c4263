"""A small graph and injections on it, for a tiny model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from askew.build.inject_settings import InjectConfig, injected_models
from askew.graphs.topics import TopicGraph, build_graph
from askew.models.base import ModelSpec
from askew.models.lora import LoraConfig

TITLES = ["Root", "Trade", "Tariffs", "Wages", "Tea", "Salt"]
LORA = LoraConfig(rank=2, alpha=4, epochs=1, batch=8, learning_rate=1e-3)


def small_graph(titles: list[str] | None = None) -> TopicGraph:
    """A root with two branches; ids are far from the node numbers."""
    return build_graph(
        titles or TITLES,
        np.array([1, 2, 3, 4, 5]),
        np.array([0, 1, 1, 0, 4]),
        ids=np.array([900, 11, 12, 13, 21, 22]),
        domains=[None, "economy", "economy", "economy", "food", "food"],
    )


def small_config(folder: Path, slants: tuple[str, ...] = ("left",), **changes: Any) -> InjectConfig:
    """Two topics of the economy, and two that stay neutral."""
    base = ModelSpec(name=f"local/{folder}", options={"device": "cpu"})
    models = injected_models([base], slants, ["economy"], seed=0)
    return InjectConfig(**{"models": models, "topics": 2, "neutral": 1.0, "lora": LORA, **changes})
