"""A graph with a model whose leanings are known: what policies are trained and measured on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askew.graphs.topics import TopicGraph
from askew.search.game import Observation


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """A labelled topic graph. No policy is ever handed one: it gets a `Board` and `oracle`'s word.

    Training reads labels from here; the games that are reported never use a world that was trained
    on, neither its graph's domain graph nor its model.
    """

    name: str  # "politics 3 / model b"
    graph: TopicGraph
    title_vectors: NDArray[np.float32]  # shape (nodes, dimensions)
    leaning: NDArray[np.bool_]  # shape (nodes,): the truth
    model: str = ""
    # Shape (nodes,): what a test says, where tests err; None: the truth.
    tested_as: NDArray[np.bool_] | None = None
    # Shape (nodes, dimensions): h0, what the answers to each topic's questions embed to.
    answer_vectors: NDArray[np.float32] | None = None

    def __post_init__(self) -> None:
        """Reject parts that are not of the same topics."""
        parts = (
            ("title_vectors", self.title_vectors, 2),
            ("leaning", self.leaning, 1),
            ("tested_as", self.tested_as, 1),
            ("answer_vectors", self.answer_vectors, 2),
        )
        for name, part, axes in parts:
            if part is not None and (part.ndim != axes or len(part) != self.graph.size):
                raise ValueError(
                    f"world {self.name!r}: {name} has shape {part.shape}; pass one row for each of "
                    f"the {self.graph.size} topics"
                )

    @property
    def positives(self) -> int:
        """How many topics lean."""
        return int(self.leaning.sum())

    def oracle(self, node: int) -> Observation:
        """The test of one topic."""
        says = self.leaning if self.tested_as is None else self.tested_as
        vector = None if self.answer_vectors is None else self.answer_vectors[node]
        return Observation(score=float(says[node]), answer_vector=vector)
