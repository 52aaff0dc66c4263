"""GMRL-BD's networks in torch: the encoder of Eq. 4, the classifier of Eq. 5, the towers of Q.

Imported when a policy is trained, as torch is optional.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askew.errors import missing_extra
from askew.graphs.topics import TopicGraph
from askew.search.gmrl_rows import LEAKY_SLOPE
from askew.search.gmrl_settings import ATTENTION, COUNTS, NO_NEIGHBOURS, GmrlSettings

try:
    import torch
    from torch import Tensor, nn
except ImportError:
    raise missing_extra("torch", "boundary") from None


SMALL = 0.3  # of the last layers of Q, so that its first values lie near 0


@dataclass(frozen=True, slots=True, eq=False)
class Topics:
    """A batch of topics to embed: whose test is known, and which neighbours are summed."""

    nodes: NDArray[np.int64]  # shape (topics,)
    tested: NDArray[np.bool_]  # shape (topics,): whether the topic itself is tested
    row: NDArray[np.int64]  # shape (entries,): which of `nodes` an entry belongs to, ascending
    neighbour: NDArray[np.int64]  # shape (entries,)
    neighbour_tested: NDArray[np.bool_]  # shape (entries,)


def gather_topics(
    graph: TopicGraph,
    nodes: NDArray[np.int64],
    walk: NDArray[np.int64],
    step: NDArray[np.int64],
    order: NDArray[np.int32],
    *,
    fan_out: int | None = None,
    random: np.random.Generator | None = None,
) -> Topics:
    """The neighbourhoods of some topics, each in a state of its own.

    Args:
        graph: theirs.
        nodes: shape (topics,).
        walk: shape (topics,): row of `order` that the state is of.
        step: shape (topics,): topics with order < step are tested in it.
        order: shape (walks, graph nodes): see `gmrl_walks.Tries`.
        fan_out: how many neighbours to sample without replacement; None: all.
        random: samples them.
    """
    degrees = graph.starts[nodes + 1] - graph.starts[nodes]
    row = np.repeat(np.arange(len(nodes)), degrees)
    begin = np.cumsum(degrees) - degrees
    rank = np.arange(len(row)) - begin[row]
    entry = graph.starts[nodes][row] + rank
    if fan_out is not None and random is not None and len(row):
        # Shuffled within its row, an entry is kept where it comes among the first `fan_out`.
        shuffled = np.lexsort((random.random(len(row)), row))
        kept = shuffled[rank < fan_out]
        kept.sort()
        row, entry = row[kept], entry[kept]
    neighbour = graph.neighbours[entry].astype(np.int64)
    return Topics(
        nodes=nodes,
        tested=order[walk, nodes] < step,
        row=row,
        neighbour=neighbour,
        neighbour_tested=order[walk[row], neighbour] < step[row],
    )


class GmrlNetwork(nn.Module):
    """All that GMRL-BD learns.

    Args:
        settings: sizes, and how neighbours are summed.
        inputs: length of h0.
        random: draws the first weights (§4.2: random).
    """

    def __init__(self, settings: GmrlSettings, inputs: int, random: np.random.Generator) -> None:
        super().__init__()
        self.aggregate = settings.aggregate
        size, tower, query = settings.embedding, settings.tower, settings.query
        state = 3 * size + COUNTS

        def drawn(*shape: int) -> nn.Parameter:
            # Glorot's uniform, from numpy so that one seed gives one network on every machine.
            bound = math.sqrt(6 / (shape[0] + shape[-1]))
            return nn.Parameter(torch.from_numpy(random.uniform(-bound, bound, shape)).float())

        def zeros(*shape: int) -> nn.Parameter:
            return nn.Parameter(torch.zeros(shape))

        self.neighbour = drawn(inputs, size)  # W_h, transposed
        self.own = drawn(inputs, size)  # W_r, transposed
        self.bias = zeros(size)
        self.attends = drawn(size, 1)
        self.attended = drawn(size, 1)
        self.classifier = drawn(size, 1)  # c of Eq. 5
        self.classifier_bias = zeros(1)
        self.action_hidden = drawn(size, tower)
        self.action_bias = zeros(tower)
        self.key = nn.Parameter(drawn(tower, query + 1).detach() * SMALL)
        self.key_bias = zeros(query + 1)
        self.state_hidden = drawn(state, tower)
        self.state_bias = zeros(tower)
        self.query = nn.Parameter(drawn(tower, query + 1).detach() * SMALL)
        self.query_bias = zeros(query + 1)

    def project(self, h0: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Shape (nodes, inputs) -> what `gmrl_rows.Tables` holds."""
        other = h0 @ self.neighbour
        own = h0 @ self.own + self.bias
        return other, own, (other @ self.attends)[:, 0], (other @ self.attended)[:, 0]

    def embed(self, untested: Tensor, tested: Tensor, topics: Topics) -> Tensor:
        """Eq. 4: h(v) for a batch of topics, shape (topics, embedding).

        Args:
            untested: shape (nodes, inputs): h0 of topics whose test is not known.
            tested: shape (nodes, inputs): h0 of those whose test is.
            topics: shape (topics,).
        """
        size = len(untested)
        other, own, attends, attended = self.project(
            untested if tested is untested else torch.cat([untested, tested])
        )
        # Tested topics stand in the second half of the tables.
        shift = 0 if tested is untested else size
        mine = torch.from_numpy(topics.nodes + shift * topics.tested)
        summed = own[mine]
        if self.aggregate != NO_NEIGHBOURS and len(topics.row):
            theirs = torch.from_numpy(topics.neighbour + shift * topics.neighbour_tested)
            row = torch.from_numpy(topics.row)
            if self.aggregate == ATTENTION:
                logit = nn.functional.leaky_relu(attends[mine][row] + attended[theirs], LEAKY_SLOPE)
                # Shifted by each topic's largest, which changes nothing but keeps exp in range.
                top = torch.full((len(mine),), -torch.inf).scatter_reduce(
                    0, row, logit.detach(), "amax"
                )
                weight = torch.exp(logit - top[row])
            else:
                weight = torch.ones(len(row))
            total = torch.zeros(len(mine)).index_add(0, row, weight)
            weight = weight / total[row]
            summed = summed.index_add(0, row, weight[:, None] * other[theirs])
        return torch.relu(summed)

    def logits(self, h: Tensor) -> Tensor:
        """c(h(v)) of Eq. 5: shape (topics,), log odds of leaning."""
        return (h @ self.classifier)[:, 0] + self.classifier_bias

    def q(self, summary: Tensor, h: Tensor) -> Tensor:
        """Q(s, a): shape (transitions,)."""
        key = torch.relu(h @ self.action_hidden + self.action_bias) @ self.key + self.key_bias
        query = torch.relu(summary @ self.state_hidden + self.state_bias) @ self.query
        query = query + self.query_bias
        return (query[:, :-1] * key[:, :-1]).sum(1) + key[:, -1] + query[:, -1]

    def encoder_parameters(self) -> list[nn.Parameter]:
        """What Eq. 5 trains."""
        return [
            self.neighbour,
            self.own,
            self.bias,
            self.attends,
            self.attended,
            self.classifier,
            self.classifier_bias,
        ]

    def q_parameters(self) -> list[nn.Parameter]:
        """What Eq. 7 trains, with h held fixed."""
        return [
            self.action_hidden,
            self.action_bias,
            self.key,
            self.key_bias,
            self.state_hidden,
            self.state_bias,
            self.query,
            self.query_bias,
        ]

    def arrays(self) -> dict[str, NDArray[np.float32]]:
        """The weights by name, as copies."""
        return {
            name: value.detach().numpy().astype(np.float32, copy=True)
            for name, value in self.state_dict().items()
        }
