"""GMRL-BD's Eq. 5: steps that train the encoder and its classifier."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from askew.errors import missing_extra
from askew.search.gmrl_network import GmrlNetwork, gather_topics
from askew.search.gmrl_prepared import Prepared
from askew.search.gmrl_sets import grow_sets
from askew.search.gmrl_settings import GmrlSettings
from askew.search.gmrl_walks import UNTOUCHED

try:
    import torch
except ImportError:
    raise missing_extra("torch", "boundary") from None

SETS_A_STEP = 32  # tested sets that a batch of Eq. 5 is drawn from
LONGEST_SET = 150  # topics in the largest of them


def encoder_step(
    network: GmrlNetwork,
    one: Prepared,
    settings: GmrlSettings,
    adam: torch.optim.Adam,
    random: np.random.Generator,
) -> float:
    """One gradient step of Eq. 5 on a batch of one world's topics; its mean cross-entropy."""
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
    logits = network.logits(network.embed(one.untested, one.tested, topics))
    wanted = torch.from_numpy(one.world.leaning[nodes].astype(np.float32))
    loss = torch.nn.functional.binary_cross_entropy_with_logits(logits, wanted)
    adam.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    adam.step()
    return float(loss.detach())


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
