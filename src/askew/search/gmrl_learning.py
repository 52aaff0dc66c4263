"""GMRL-BD's Eq. 7 as gradient steps on what an episode has recorded."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from askew.errors import missing_extra
from askew.search.gmrl_network import GmrlNetwork, gather_topics
from askew.search.gmrl_prepared import Prepared
from askew.search.gmrl_settings import GmrlSettings
from askew.search.gmrl_walks import Tries

try:
    import torch
except ImportError:
    raise missing_extra("torch", "boundary") from None


def learn(
    network: GmrlNetwork,
    slow: dict[str, torch.Tensor],
    played: list[tuple[Prepared, Tries]],
    settings: GmrlSettings,
    random: np.random.Generator,
    adam: torch.optim.Adam,
) -> float:
    """Algorithm 1, line 31: one pass over the episode's transitions, towards Eq. 7's target.

    Args:
        network: taught, in place.
        slow: the running mean of its weights, by name; moved along after every batch.
        played: the worlds of the episode with their tries.
        settings: the training's.
        random: draws the order.
        adam: over the weights that are taught.

    Returns:
        The mean loss of the batches; NaN where nothing was recorded.
    """
    sizes = [len(tries.target) for _, tries in played]
    if not sum(sizes):
        return math.nan
    if settings.q_attends:
        # Each batch is of one world, so that its tables are projected once.
        batches = [
            (index, part)
            for index, size in enumerate(sizes)
            for part in _batches(random.permutation(size), settings.batch)
        ]
        batches = [batches[k] for k in random.permutation(len(batches))]
    else:
        batches = [(-1, part) for part in _batches(random.permutation(sum(sizes)), settings.batch)]
    summary = torch.from_numpy(np.concatenate([tries.summary for _, tries in played]))
    action = torch.from_numpy(np.concatenate([tries.action for _, tries in played]))
    target = torch.from_numpy(np.concatenate([tries.target for _, tries in played]))
    target = target.clamp(*bounds(settings))
    begin = np.cumsum([0, *sizes])
    losses = []
    for index, part in batches:
        if index < 0:
            rows = torch.from_numpy(part)
            h = action[rows]
        else:
            rows = torch.from_numpy(part + begin[index])
            h = _embedded(network, *played[index], part)
        loss = torch.nn.functional.smooth_l1_loss(network.q(summary[rows], h), target[rows])
        adam.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        adam.step()
        losses.append(float(loss.detach()))
        with torch.no_grad():
            for name, value in network.state_dict().items():
                slow[name] += settings.averaging * (value - slow[name])
    return float(np.mean(losses))


def _embedded(
    network: GmrlNetwork, one: Prepared, tries: Tries, part: NDArray[np.int64]
) -> torch.Tensor:
    """h(a) of some transitions by Eq. 4 anew, so that the Q-loss reaches its weights."""
    topics = gather_topics(
        one.world.graph,
        tries.node[part].astype(np.int64),
        tries.walk[part].astype(np.int64),
        tries.step[part].astype(np.int64),
        tries.order,
    )
    return network.embed(one.untested, one.tested, topics)


def bounds(settings: GmrlSettings) -> tuple[float, float]:
    """The least and the most that Eq. 1 can sum up to; targets are held within them.

    So an overestimated maximum cannot run away.
    """
    if settings.discount == 1:
        return -math.inf, math.inf
    least = -settings.reward_test
    most = settings.reward_hit - settings.reward_test + settings.reward_near
    return least / (1 - settings.discount), most / (1 - settings.discount)


def _batches(rows: NDArray[np.int64], size: int) -> list[NDArray[np.int64]]:
    return [rows[begin : begin + size] for begin in range(0, len(rows), size)]
