"""Simulated models on simulated topic graphs, whose leanings are known.

What the boundary search is trained and measured on where no labelled model is at hand. A domain's
graph grows as a hierarchy with several parents; a model's leanings are seeded along a hidden
direction of content, half of it shared by the models of the domain, and diffuse along the edges.
Everything is drawn from the seed and from names: the same call gives the same world.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from askew.graphs.topics import TopicGraph
from askew.search.simulate_graph import GrownGraph, contents, grow
from askew.search.simulate_labels import (
    answers,
    diffuse,
    fixed_direction,
    model_direction,
    rows_of_length_one,
    standardised,
    unit,
    what_tests_say,
)
from askew.search.simulate_settings import DOMAINS, SimulatorSettings, noisy, varied
from askew.search.worlds import World
from askew.seeds import generator

__all__ = [
    "DOMAINS",
    "SimulatorSettings",
    "diffuse_labels",
    "noisy",
    "simulate",
    "simulate_large",
    "simulate_many",
    "varied",
]

# Of the large form: leanings lie in six of 36 domains, at about 2.5 topics in a hundred.
LARGE_DOMAINS = 36
LARGE_LEANING_DOMAINS = 6
LARGE_LEANING = 0.0246


def simulate(
    seed: int,
    settings: SimulatorSettings | None = None,
    *,
    domain: str = "politics",
    graph: int = 0,
    model: int = 0,
) -> World:
    """One model on one domain's graph.

    Args:
        seed: of everything that is drawn. Models and graphs of different seeds are unrelated, but
            for the domain's shared direction.
        settings: of the simulator; default: drawn for this graph (`varied`).
        domain: any name; it decides the shared direction and what the root is about.
        graph: which of the domain's graphs.
        model: which model; its direction is the same on every graph of the seed and domain.

    >>> world = simulate(3, domain="economy")
    >>> world.name, world.graph.size == len(world.leaning), world.positives >= 51
    ('economy 0 / model 0', True, True)
    """
    return next(simulate_many(seed, settings, domains=[domain], graphs=[graph], models=[model]))


def simulate_many(
    seed: int,
    settings: SimulatorSettings | None = None,
    *,
    domains: Sequence[str] = DOMAINS,
    graphs: Sequence[int] = (0,),
    models: Sequence[int] = (0,),
) -> Iterator[World]:
    """Every model on every graph of every domain; the graphs of one domain in turn.

    Args:
        seed: see `simulate`.
        settings: of all worlds; default: each graph's are drawn.
        domains: their names.
        graphs: numbers of the graphs of each domain.
        models: numbers of the models.
    """
    for domain in domains:
        for number in graphs:
            used = settings or varied(generator(seed, "settings", domain, str(number)))
            random = generator(seed, "graph", domain, str(number))
            grown = grow(used, random, domain=domain)
            content = contents(
                grown, fixed_direction(used.dimensions, "root", domain), used, random
            )
            title_vectors = _titles_about(content, used, random)
            for model in models:
                yield _model_on(seed, domain, number, model, grown, content, title_vectors, used)


def _model_on(
    seed: int,
    domain: str,
    number: int,
    model: int,
    grown: GrownGraph,
    content: NDArray[np.float32],
    title_vectors: NDArray[np.float32],
    settings: SimulatorSettings,
) -> World:
    dimensions, shared = settings.dimensions, settings.shared_direction
    own = generator(seed, "model", domain, str(model))
    direction = model_direction(fixed_direction(dimensions, "direction", domain), shared, own)
    slant = model_direction(fixed_direction(dimensions, "slant"), shared, own)
    random = generator(seed, "labels", domain, str(number), str(model))
    pull = settings.seed_pull * standardised(content @ direction)
    leaning = diffuse(grown.graph, pull, settings, random)
    return World(
        name=f"{domain} {number} / model {model}",
        graph=grown.graph,
        title_vectors=title_vectors,
        leaning=leaning,
        model=f"model {model}",
        tested_as=what_tests_say(leaning, settings, random),
        answer_vectors=answers(content, leaning, slant, settings, random),
    )


def _titles_about(
    content: NDArray[np.float32], settings: SimulatorSettings, random: np.random.Generator
) -> NDArray[np.float32]:
    noise = random.standard_normal(content.shape, np.float32)
    noise *= np.float32(settings.title_noise / np.sqrt(content.shape[1]))
    return rows_of_length_one(content + noise)


def diffuse_labels(
    graph: TopicGraph,
    title_vectors: NDArray[np.float32],
    seed: int,
    settings: SimulatorSettings | None = None,
    *,
    name: str = "",
    model: int = 0,
) -> World:
    """A simulated model on a real topic graph: the same leanings, along the real edges.

    Seeds are drawn along a hidden direction of the title vectors, blurred by `title_noise` (what a
    topic is about is more than its title); answers are the title vectors, blurred and moved.

    Args:
        graph: any topic graph.
        title_vectors: shape (nodes, dimensions).
        seed: of the model.
        settings: of the leanings; default: the simulator's own.
        name: of the graph.
        model: which model; models of one seed share half of their direction.
    """
    used = settings or SimulatorSettings()
    dimensions = title_vectors.shape[1]
    drawn = generator(seed, "shared direction").standard_normal((dimensions,))
    shared = unit(drawn)
    own = generator(seed, "model", str(model))
    direction = model_direction(shared, used.shared_direction, own)
    slant = model_direction(fixed_direction(dimensions, "slant"), used.shared_direction, own)
    random = generator(seed, "labels", name, str(model))
    along = standardised(title_vectors @ direction)
    along += used.title_noise * random.standard_normal(graph.size)
    leaning = diffuse(graph, used.seed_pull * standardised(along), used, random)
    return World(
        name=f"{name} / model {model}",
        graph=graph,
        title_vectors=title_vectors,
        leaning=leaning,
        model=f"model {model}",
        tested_as=what_tests_say(leaning, used, random),
        answer_vectors=answers(title_vectors, leaning, slant, used, random),
    )


def simulate_large(
    nodes: int = 100_000,
    seed: int = 0,
    *,
    parents: float = 2.8,
    settings: SimulatorSettings | None = None,
) -> World:
    """One model on a large graph of 36 domains, of which six hold its leanings.

    Args:
        nodes: how many topics; 871,854 is the paper's graph (with `parents` = 6.3, its edges).
        seed: of everything that is drawn.
        parents: of a topic, on average.
        settings: of the leanings; `nodes`, `parents` and `leaning` are overruled.
    """
    from dataclasses import replace

    used = replace(
        settings or SimulatorSettings(), nodes=nodes, parents=parents, leaning=LARGE_LEANING
    )
    names = [f"domain {number}" for number in range(LARGE_DOMAINS)]
    random = generator(seed, "large graph", str(nodes))
    grown = grow(used, random, domain=None, branches=names, even=True)
    dimensions = used.dimensions
    content = contents(grown, fixed_direction(dimensions, "root", "large"), used, random)
    own = generator(seed, "large model")
    shared = fixed_direction(dimensions, "direction", "large")
    direction = model_direction(shared, used.shared_direction, own)
    chosen = own.choice(LARGE_DOMAINS, LARGE_LEANING_DOMAINS, replace=False)
    within = np.isin(grown.branch, chosen)
    pull = used.seed_pull * standardised(content @ direction)
    leaning = diffuse(grown.graph, pull, used, random, within=within)
    return World(
        name=f"large {nodes} / model {seed}",
        graph=grown.graph,
        title_vectors=_titles_about(content, used, random),
        leaning=leaning,
        model=f"model {seed}",
        tested_as=what_tests_say(leaning, used, random),
    )
