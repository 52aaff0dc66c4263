"""Trains the network that comes with askew: `python -m askew.search.shipped_training`.

The worlds are simulated and made unlike one another, so that nothing rests on one simulator: graphs
of one domain with tests that err or do not, models that agree topic by topic or not, titles from a
good embedder, hashed or meaningless, thin and dense graphs, and graphs of many domains. No world's
titles or labels are kept in the checkpoint.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from askew.search.checkpoints import save_checkpoint
from askew.search.simulate import (
    DOMAINS,
    noisy,
    simulate_large,
    simulate_many,
    varied,
)
from askew.search.title_vectors import hashed
from askew.search.training import TrainingProgress, TrainingSettings, train
from askew.search.worlds import World
from askew.seeds import generator

SEED = 2026
COMMAND = "python -m askew.search.shipped_training"
SETTINGS = TrainingSettings(
    begin="nothing",
    rounds=2,
    games=1,
    most_games=1000,
    queries=150,
    epochs=10,
    rate=2e-3,
    forgetting=0.4,
    folds=0,
)


def shipped_worlds(seed: int = SEED, graphs: int = 5) -> list[World]:
    """What it is trained on.

    Args:
        seed: of all draws; no seed that anything is measured with.
        graphs: of each domain, in the plainest kind; the other kinds keep their share.
    """
    worlds: list[World] = []
    for number in range(graphs):
        for place, domain in enumerate(DOMAINS):
            random = generator(seed, "plain", domain, str(number))
            used = varied(random)
            used = noisy(used) if (number + place) % 3 == 0 else used
            worlds += simulate_many(seed, used, domains=[domain], graphs=[number], models=[number])
    for number in range(2 * graphs - 1):
        worlds += _agreeing(seed, number)
    for number in range(3 * graphs):
        worlds.append(_other_titles(seed, number))
    for number in range(graphs):
        worlds.append(_other_shape(seed, number))
    for number in range(max(graphs // 2, 1)):
        random = generator(seed, "large", str(number))
        used = replace(varied(random), nodes=4000)
        worlds.append(_other_space(simulate_large(4000, seed + number, settings=used), 13, seed))
    return worlds


def _agreeing(seed: int, number: int) -> list[World]:
    """Five models on one graph that agree topic by topic, a little or much, beyond the titles.

    Each model has some of the clusters of leanings that all share, and for the rest its own.
    """
    random = generator(seed, "agreeing", str(number))
    used = varied(random)
    domain = DOMAINS[number % len(DOMAINS)]
    drawn = list(
        simulate_many(seed, used, domains=[domain], graphs=[100 + number], models=range(6))
    )
    shared, agreement = drawn[0], float(np.sqrt(random.uniform()))
    vectors = _rotated(shared.title_vectors, 14 + number % 2, seed + number)
    worlds = []
    for model, own in enumerate(drawn[1:]):
        leaning = _some_clusters(shared, agreement, random)
        leaning |= _some_clusters(own, 1 - agreement, random)
        if leaning.any():
            name, of = f"agreeing {number} / {model}", f"agreeing {model}"
            worlds.append(World(name, shared.graph, vectors, leaning, of))
    return worlds


def _some_clusters(world: World, share: float, random: np.random.Generator) -> NDArray[np.bool_]:
    """The world's leaning topics, each cluster of neighbours kept or left out as a whole."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    graph, leaning = world.graph, world.leaning
    rows = np.repeat(np.arange(graph.size), np.diff(graph.starts))
    among = leaning[rows] & leaning[graph.neighbours]
    ends = (rows[among], graph.neighbours[among])
    joined = csr_matrix((np.ones(int(among.sum())), ends), (graph.size, graph.size))
    count, cluster = connected_components(joined, directed=False)
    kept: NDArray[np.bool_] = leaning & (random.random(count) < share)[cluster]
    return kept


def _other_titles(seed: int, number: int) -> World:
    """Titles hashed, drawn at random, or of other dimensions."""
    random = generator(seed, "other titles", str(number))
    used = varied(random)
    domain = DOMAINS[number % len(DOMAINS)]
    base = next(simulate_many(seed, used, domains=[domain], graphs=[200 + number], models=[number]))
    if number % 3 == 0:
        vectors = hashed(base.graph.titles(), dimensions=64)
    elif number % 3 == 1:
        vectors = random.standard_normal((base.graph.size, 24)).astype(np.float32)
    else:
        vectors = _rotated(base.title_vectors, 40, seed + number)
    return replace(base, title_vectors=vectors, answer_vectors=None)


def _other_shape(seed: int, number: int) -> World:
    """Thin, dense, small or wide graphs, with leanings that spread little or far."""
    random = generator(seed, "other shape", str(number))
    used = replace(
        varied(random),
        nodes=int(random.integers(300, 2500)),
        parents=float(random.uniform(1.1, 7.0)),
        diffusion=float(random.uniform(0.15, 0.6)),
        upward=float(random.uniform(0.2, 1.0)),
        leaning=float(random.uniform(0.03, 0.15)),
        fewest_leaning=15,
        hub_damping=float(random.uniform(0.2, 0.9)),
    )
    domain = DOMAINS[number % len(DOMAINS)]
    base = next(simulate_many(seed, used, domains=[domain], graphs=[300 + number], models=[number]))
    return _other_space(base, 10, seed)


def _other_space(world: World, dimensions: int, seed: int) -> World:
    """The same with titles of another embedder, so that no title prior passes between kinds."""
    vectors = _rotated(world.title_vectors, dimensions, seed)
    return replace(world, title_vectors=vectors, answer_vectors=None)


def _rotated(vectors: NDArray[np.float32], dimensions: int, seed: int) -> NDArray[np.float32]:
    random = generator(seed, "rotation", str(dimensions))
    turn = random.standard_normal((vectors.shape[1], dimensions)) / np.sqrt(dimensions)
    turned: NDArray[np.float32] = (vectors @ turn).astype(np.float32)
    return turned


def main(path: str, resume: str | None = None) -> None:
    """Train, and write the checkpoint to `path`."""

    def told(progress: TrainingProgress) -> None:
        if progress.part == "fit" or progress.done % 10 == 0:
            print(progress, file=sys.stderr, flush=True)

    made = train(shipped_worlds(), SETTINGS, SEED, told, resume=resume)
    kept = {
        name: array
        for name, array in made.tensors.items()
        if not name.startswith(("labels.", "title_prior."))
    }
    meta = dict(made.meta)
    meta |= {"labelled_models": {}, "label_trust": {}, "title_domains": [], "command": COMMAND}
    save_checkpoint(path, kept, meta)


if __name__ == "__main__":
    beside = Path(__file__).with_name("weights") / "learned.safetensors"
    main(*(sys.argv[1:] or [str(beside)]))
