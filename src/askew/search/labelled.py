"""Worlds from a labelled graph: some models' labels to train on, others' to be searched."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from askew.errors import ConfigError, DataError, unknown_name
from askew.graphs.topic_edges import LabelledGraph
from askew.search.worlds import World


def split_models(
    labelled: LabelledGraph, train: Sequence[str], test: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Which models train and which are searched; none does both.

    Args:
        labelled: a graph with labels.
        train: names; (): all that are not searched.
        test: names; (): all that do not train, and where neither is named, the last in the file.

    Raises:
        DataError: the graph has no labels.
        ConfigError: a model is not there, is named for both, or none is left to be searched.
    """
    known = list(labelled.labels)
    if not known:
        raise DataError("the folder has no labels.tsv: there is nothing to search for. Add one.")
    for name in (*train, *test):
        if name not in known:
            raise unknown_name("model", name, known)
    if both := [name for name in train if name in test]:
        raise ConfigError(
            f"{both[0]} is named for training and for the search. What was trained on is known: "
            "name other models for one of them."
        )
    if not test:
        test = [name for name in known if name not in train] if train else known[-1:]
    if not train:
        train = [name for name in known if name not in test]
    if not test:
        raise ConfigError("all models train and none is left to be searched. Leave one out.")
    return list(train), list(test)


def worlds_of(
    name: str,
    labelled: LabelledGraph,
    models: Sequence[str],
    title_vectors: NDArray[np.float32],
) -> list[World]:
    """One world a model; topics without a label count as clean (GMRL-BD, §3.1).

    Args:
        name: of the graph, for messages.
        labelled: the graph and its labels.
        models: whose labels.
        title_vectors: shape (nodes, dimensions).
    """
    return [
        World(
            name=f"{name} / {model}",
            graph=labelled.graph,
            title_vectors=title_vectors,
            leaning=labelled.labels[model] == 1,
            model=model,
        )
        for model in models
    ]
