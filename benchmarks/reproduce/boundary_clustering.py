"""How far the words on clustering, and the number left undiscovered, can be trusted.

    python benchmarks/reproduce/boundary_clustering.py [--games N] [--policies NAME ...]

Games on simulated worlds, with labels of three kinds: as simulated (they cluster); shuffled (they
do not); and moved over the graph together with the titles (they do not cluster, but titles give
them away, which a policy that reads titles uses). A share of the tests is drawn uniformly, as in an
audit. For each policy: how often each verdict is given, and how often the interval for the
undiscovered topics holds their true number. Seeds are fixed.
"""

from __future__ import annotations

import argparse
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from askew.search.game import Board, Transcript, play
from askew.search.policies import policy
from askew.search.probes import Probing
from askew.search.simulate import DOMAINS, simulate
from askew.search.worlds import World
from askew.seeds import generator
from askew.stats.intervals import wilson
from askew.stats.neighbour_lift import NeighbourLift, already_beside, neighbour_lift
from askew.stats.undiscovered import Probe, from_probes

KINDS = ("as simulated", "shuffled", "moved with titles")
POLICIES = ("uniform", "neighbour_share", "ens", "learned")
QUERIES = (100, 300)
PROBES = 0.1


@dataclass(frozen=True, slots=True)
class Played:
    """One game: the words on clustering, and the undiscovered topics."""

    lift: NeighbourLift
    held: bool  # the interval holds the true number
    width: float  # of the interval
    error: float  # value − truth


def worlds(kind: str, games: int) -> Iterator[World]:
    """One world a game; graphs and models differ between games."""
    for game in range(games):
        world = simulate(game // len(DOMAINS), domain=DOMAINS[game % len(DOMAINS)])
        order = np.arange(world.graph.size)
        if kind != "as simulated":
            order = generator(game, "boundary_clustering").permutation(order)
        titles = world.title_vectors if kind == "shuffled" else world.title_vectors[order]
        yield World(kind, world.graph, titles, world.leaning[order])


def one_game(world: World, name: str, queries: int, seed: int) -> Played:
    """Play one game and say what an audit would say of it."""
    board = Board(world.graph, world.title_vectors, queries)
    probing = Probing(policy(name), PROBES)
    made = play(board, probing, world.oracle, seed=seed)
    leaning = made.label == 1
    judged = np.ones(len(leaning), bool)
    beside = already_beside(world.graph, made.tested.tolist(), leaning, judged)
    lift = neighbour_lift(leaning, *beside, seed=seed)
    left = from_probes(
        _probes(made, probing.probed),
        topics=world.graph.size,
        tested=len(leaning),
        found=int(leaning.sum()),
    )
    truth = world.positives - int(leaning.sum())
    return Played(
        lift, left.lower <= truth <= left.upper, left.upper - left.lower, left.value - truth
    )


def _probes(made: Transcript, drawn: set[int]) -> list[Probe]:
    found, leaning = made.found, made.label == 1
    return [
        Probe(bool(leaning[step]), step, int(found[step] - leaning[step]))
        for step, node in enumerate(made.tested.tolist())
        if step == 0 or node in drawn
    ]


def row(kind: str, name: str, queries: int, games: int) -> str:
    """One line of the table."""
    played = [
        one_game(world, name, queries, game) for game, world in enumerate(worlds(kind, games))
    ]
    verdicts = Counter(one.lift.verdict for one in played)
    called = verdicts["clusters"]
    lower, upper = wilson(called, games)
    beside = [one.lift.beside_leaning.value for one in played]
    clean = [one.lift.beside_clean.value for one in played]
    return (
        f"{kind:18} {name:16} {queries:5} {called / games:6.3f} ({lower:.3f}-{upper:.3f}) "
        f"{verdicts['does not cluster'] / games:6.3f} {np.nanmean(beside):6.3f} "
        f"{np.nanmean(clean):6.3f} {np.mean([one.held for one in played]):6.3f} "
        f"{np.median([one.width for one in played]):7.0f} "
        f"{np.mean([one.error for one in played]):7.1f}"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--policies", nargs="+", default=list(POLICIES))
    parser.add_argument("--queries", nargs="+", type=int, default=list(QUERIES))
    parser.add_argument("--labels", nargs="+", choices=KINDS, default=list(KINDS))
    options = parser.parse_args(arguments)
    print(
        f"{'labels':18} {'policy':16} {'tests':>5} {'clusters (95 %)':>22} {'does not':>6} "
        f"{'beside':>6} {'clean':>6} {'held':>6} {'width':>7} {'error':>7}"
    )
    for kind in options.labels:
        for name in options.policies:
            for queries in options.queries:
                print(row(kind, name, queries, options.games), flush=True)
    half = 1.96 * math.sqrt(0.05 * 0.95 / options.games)
    print(f"A share of .05 over {options.games} games has an error of ± {half:.3f}.")


if __name__ == "__main__":
    main()
