"""Worlds from labelled graphs: some models' labels to train on, others' to be searched."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from askew.errors import ConfigError, DataError, unknown_name
from askew.graphs.topic_edges import LabelledGraph
from askew.search.worlds import World


def split_models(
    graphs: Mapping[str, LabelledGraph], train: Sequence[str], test: Sequence[str]
) -> tuple[set[str], set[str]]:
    """Which models train and which are searched; none does both, on whatever graph.

    A model need not be labelled on every graph; one that is named must be on one of them.

    Args:
        graphs: name, for messages -> a graph with labels.
        train: names; (): all that are not searched.
        test: names; (): all that do not train, and where neither is named, each graph's last.

    Raises:
        DataError: a graph has no labels.
        ConfigError: a model is not there, is named for both, or none is left to be searched.
    """
    known = known_models(graphs, (*train, *test))
    if both := [name for name in train if name in test]:
        raise ConfigError(
            f"{both[0]} is named for training and for the search. What was trained on is known: "
            "name other models for one of them."
        )
    if test:
        searched = set(test)
    elif train:
        searched = set(known) - set(train)
    else:
        searched = {list(one.labels)[-1] for one in graphs.values()}
    if not searched:
        raise ConfigError("all models train and none is left to be searched. Leave one out.")
    return set(train) or set(known) - searched, searched


def known_models(graphs: Mapping[str, LabelledGraph], named: Iterable[str] = ()) -> list[str]:
    """The models that are labelled on any of the graphs, each once.

    Args:
        graphs: name, for messages -> a graph with labels.
        named: models that must be among them.

    Raises:
        DataError: a graph has no labels.
        ConfigError: a named model is not there.
    """
    for graph, labelled in graphs.items():
        if not labelled.labels:
            raise DataError(
                f"{graph}: has no labels.tsv, so nothing is known of any model there. Add one."
            )
    known = list(dict.fromkeys(model for one in graphs.values() for model in one.labels))
    for name in named:
        if name not in known:
            raise unknown_name("model", name, known)
    return known


def worlds_of(
    name: str,
    labelled: LabelledGraph,
    models: Iterable[str],
    title_vectors: NDArray[np.float32],
) -> list[World]:
    """One world for each of the models that is labelled on the graph, in its order.

    Topics without a label count as clean (GMRL-BD, §3.1).

    Args:
        name: of the graph, for messages.
        labelled: the graph and its labels.
        models: whose labels.
        title_vectors: shape (nodes, dimensions).
    """
    wanted = set(models)
    return [
        World(
            name=f"{name} / {model}",
            graph=labelled.graph,
            title_vectors=title_vectors,
            leaning=labels == 1,
            model=model,
        )
        for model, labels in labelled.labels.items()
        if model in wanted
    ]
