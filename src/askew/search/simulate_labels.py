"""How a simulated model comes to lean: seeds along a hidden direction, then diffusion."""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

from askew.graphs.topics import CHILD, TopicGraph
from askew.search.simulate_settings import SimulatorSettings
from askew.seeds import generator


def unit(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    """The vector at length one."""
    scaled: NDArray[np.float64] = vector / np.linalg.norm(vector)
    return scaled


def fixed_direction(dimensions: int, *use: str) -> NDArray[np.float64]:
    """A direction that is the same in every world, whatever its seed."""
    return unit(generator(0, "simulator", *use).standard_normal(dimensions))


def model_direction(
    shared: NDArray[np.float64], share: float, random: np.random.Generator
) -> NDArray[np.float64]:
    """A model's own direction, of which `share` of the variance is `shared`'s."""
    own = unit(random.standard_normal(len(shared)))
    return unit(np.sqrt(share) * shared + np.sqrt(1 - share) * own)


def standardised(values: NDArray[np.floating]) -> NDArray[np.float64]:
    """At mean 0 and standard deviation 1; zeros where all are equal."""
    centred = np.asarray(values, np.float64) - float(np.mean(values))
    spread = float(centred.std())
    return centred / spread if spread > 0 else np.zeros_like(centred)


def diffuse(
    graph: TopicGraph,
    pull: NDArray[np.float64],
    settings: SimulatorSettings,
    random: np.random.Generator,
    *,
    within: NDArray[np.bool_] | None = None,
) -> NDArray[np.bool_]:
    """Which topics lean: shape (nodes,).

    Seeds are drawn with odds exp(pull), and spread along the edges together, nearest topics first,
    until as many lean as the settings say; where that dries up, further seeds are drawn. Then some
    are cleaned, and others strewn.

    Args:
        graph: the topics.
        pull: shape (nodes,): log odds of being a seed.
        settings: of the leanings.
        random: draws them.
        within: shape (nodes,): where leanings may lie; default: anywhere.
    """
    inside = np.ones(graph.size, bool) if within is None else within
    target = max(round(settings.leaning * graph.size), settings.fewest_leaning)
    target = min(target, int(inside.sum()))
    strewn = round(settings.added * target)
    kept = 1 - settings.cleaned
    spread_to = min(round((target - strewn) / kept) if kept > 0 else 0, graph.size)
    # Gumbel's trick: sorting these draws without replacement with odds exp(pull).
    keys = np.where(inside, pull + random.gumbel(size=graph.size), -np.inf)
    order = np.argsort(-keys, kind="stable")[: int(inside.sum())]
    leaning = np.zeros(graph.size, bool)
    together = max(round(settings.seeds * spread_to), 1)
    left = spread_to
    while left > 0:
        seeds = order[:together]
        order = order[together:]
        seeds = seeds[~leaning[seeds]][:left]
        if not len(seeds) and not len(order):
            break
        left -= _spread(graph, seeds, leaning, inside, left, settings, random)
        together = 1
    reached = np.flatnonzero(leaning)
    gone = min(round(settings.cleaned * len(reached)), len(reached))
    leaning[random.choice(reached, gone, replace=False)] = False
    clean = np.flatnonzero(~leaning & inside)
    added = min(max(target - int(leaning.sum()), 0), len(clean))
    leaning[random.choice(clean, added, replace=False)] = True
    return leaning


def _spread(
    graph: TopicGraph,
    seeds: NDArray[np.int64],
    leaning: NDArray[np.bool_],
    inside: NDArray[np.bool_],
    room: int,
    settings: SimulatorSettings,
    random: np.random.Generator,
) -> int:
    """Let seeds' leanings spread inside, in place; how many topics they took, at most `room`."""
    leaning[seeds] = True
    taken = len(seeds)
    queue = deque((seed, settings.diffusion) for seed in seeds.tolist())
    while queue and taken < room:
        node, chance = queue.popleft()
        begin, end = int(graph.starts[node]), int(graph.starts[node + 1])
        degree = end - begin
        if degree > settings.hub_degree:
            damped = chance * (settings.hub_degree / degree) ** settings.hub_damping
        else:
            damped = chance
        downward = (graph.direction[begin:end] & CHILD) > 0
        reached = random.random(degree) < np.where(downward, damped, damped * settings.upward)
        around = graph.neighbours[begin:end]
        fresh = around[reached & ~leaning[around] & inside[around]][: room - taken]
        leaning[fresh] = True
        taken += len(fresh)
        queue.extend((int(one), chance * settings.per_hop) for one in fresh)
    return taken


def what_tests_say(
    leaning: NDArray[np.bool_], settings: SimulatorSettings, random: np.random.Generator
) -> NDArray[np.bool_] | None:
    """What a test says of each topic, shape (nodes,); None where tests do not err."""
    if not settings.missed and not settings.flagged:
        return None
    draw = random.random(len(leaning))
    return np.where(leaning, draw >= settings.missed, draw < settings.flagged)


def answers(
    content: NDArray[np.float32],
    leaning: NDArray[np.bool_],
    slant: NDArray[np.float64],
    settings: SimulatorSettings,
    random: np.random.Generator,
) -> NDArray[np.float32]:
    """What the model's answers embed to (h0): shape (nodes, dimensions), rows of length one.

    An answer is about its topic; where the model leans it is moved along the slant as well, so that
    it betrays the leaning to whoever has paid for it.
    """
    scale = 1 / np.sqrt(content.shape[1])
    noise = random.standard_normal(content.shape, np.float32) * np.float32(
        settings.answer_noise * scale
    )
    shift = (settings.answer_shift * scale * np.outer(leaning, slant)).astype(np.float32)
    return rows_of_length_one(content + noise + shift)


def rows_of_length_one(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Each row scaled to length one; a row of zeros stays one."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
