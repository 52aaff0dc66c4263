"""GMRL-BD's training worlds: made ready once, then played on by the compiled walks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askew.errors import missing_extra
from askew.search.distance import scratch
from askew.search.gmrl_model import h0_of_world
from askew.search.gmrl_projection import project, towers
from askew.search.gmrl_rows import Tables, refresh
from askew.search.gmrl_settings import COUNTS, GmrlSettings
from askew.search.gmrl_walks import Tries, Weights, play_tries
from askew.search.worlds import World

try:
    import torch
except ImportError:
    raise missing_extra("torch", "boundary") from None


@dataclass(slots=True, eq=False)
class Prepared:
    """A world with its h0, and with h and the tables that follow from the encoder."""

    world: World
    untested: torch.Tensor  # shape (nodes, inputs): h0
    tested: torch.Tensor
    told: NDArray[np.bool_]
    tables: tuple[Tables, Tables] | None = None  # h0 projected, before and after a test
    h: NDArray[np.float32] | None = None


def prepare(world: World, settings: GmrlSettings, answer_dimensions: int) -> Prepared:
    """Make a world ready: h0 before and after each topic's test, and what the tests say."""
    before, after = h0_of_world(settings, world, answer_dimensions)
    first = torch.from_numpy(before)
    return Prepared(
        world=world,
        untested=first,
        tested=first if after is before else torch.from_numpy(after),
        told=np.ascontiguousarray(
            world.leaning if world.tested_as is None else world.tested_as, np.bool_
        ),
    )


def play_world(
    one: Prepared,
    settings: GmrlSettings,
    weights: dict[str, NDArray[np.float32]],
    tries: int,
    epsilon: float,
    random: np.random.Generator,
) -> Tries:
    """Algorithm 1, lines 12 to 30: some tries on a world, from random starts.

    Args:
        one: the world; its h is kept there for the next episode.
        settings: the training's.
        weights: that play, by the names of `GmrlNetwork.arrays`.
        tries: how many.
        epsilon: share of random moves.
        random: draws starts and the seeds of the tries.
    """
    graph = one.world.graph
    if one.tables is None or one.h is None or settings.q_attends:
        before = project(weights, one.untested.numpy())
        same = one.tested is one.untested
        one.tables = (before, before if same else project(weights, one.tested.numpy()))
        one.h = np.zeros((graph.size, settings.embedding), np.float32)
    heads = towers(weights)
    keys = np.zeros((graph.size, settings.query + 1), np.float32)
    # Eq. 4 and the keys of all topics at once; walks then redo what a test changes.
    everything = np.arange(graph.size, dtype=np.int32)
    refresh(
        everything,
        graph.starts,
        graph.neighbours,
        one.tables[0],
        settings.aggregate,
        heads,
        one.h,
        keys,
    )
    limit = min(settings.max_steps, graph.size)
    if settings.try_queries is not None:
        limit = min(limit, settings.try_queries)
    capacity = min(max(settings.transitions * tries // settings.tries, 1), tries * limit)
    out = Tries(
        summary=np.zeros((capacity, 3 * settings.embedding + COUNTS), np.float32),
        action=np.zeros((capacity, settings.embedding), np.float32),
        target=np.zeros(capacity, np.float32),
        node=np.zeros(capacity, np.int32),
        walk=np.zeros(capacity, np.int32),
        step=np.zeros(capacity, np.int32),
        order=np.zeros((tries, graph.size), np.int32),
        first_hit=np.zeros(tries, np.int32),
        hits=np.zeros(tries, np.int32),
        queries=np.zeros(tries, np.int32),
        reward=np.zeros(tries, np.float64),
    )
    written = play_tries(
        graph.starts,
        graph.neighbours,
        np.ascontiguousarray(one.world.leaning, np.bool_),
        one.told,
        one.tables[0],
        one.tables[1],
        one.tables[1] is not one.tables[0],
        settings.aggregate,
        heads,
        one.h,
        keys,
        random.integers(graph.size, size=tries).astype(np.int32),
        random.integers(2**31, size=tries),
        epsilon,
        limit,
        settings.try_queries is None,
        Weights(settings.reward_hit, settings.reward_test, settings.reward_near, settings.discount),
        scratch(graph.size),
        out,
    )
    kept = slice(0, int(written))
    return out._replace(
        **{
            name: getattr(out, name)[kept]
            for name in ("summary", "action", "target", "node", "walk", "step")
        }
    )
