"""Policies against each other: the same graphs, models and starts for all, played to the end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from askew.search.game import Board, Policy, Variant, play
from askew.search.metrics import Played, played, start_distance
from askew.search.worlds import World
from askew.seeds import generator

# Name -> what makes a new policy for a game. It is handed the world for what a policy may buy (the
# answers of GMRL-BD's leaky regime), never for the game's labels.
Entrants = Mapping[str, Callable[[World], Policy]]
Told = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True)
class Result:
    """One game of one policy."""

    policy: str  # the entrant's name
    world: str
    graph: str  # the world's graph, which several models may share
    model: str
    start: int  # the first topic
    game: Played


def contest(
    worlds: Sequence[World],
    entrants: Entrants,
    *,
    queries: int,
    starts: int = 1,
    seed: int = 0,
    variant: Variant = "frontier",
    told: Told | None = None,
) -> list[Result]:
    """Play every policy on every world from the same starts.

    Args:
        worlds: that no policy was trained on.
        entrants: the policies.
        queries: tests a game.
        starts: games a world, from starts that are drawn once for all policies.
        seed: of starts and of the policies' own draws.
        variant: where policies may test.
        told: games played, games in all, the policy's name.

    Returns:
        World by world, start by start, policy by policy.
    """
    results = []
    total = len(worlds) * starts * len(entrants)
    for world in worlds:
        random = generator(seed, "starts", world.name)
        first = random.choice(world.graph.size, size=starts, replace=starts > world.graph.size)
        for start in first.tolist():
            distance = start_distance(world, start)
            for name, make in entrants.items():
                board = Board(world.graph, world.title_vectors, queries, variant)
                transcript = play(board, make(world), world.oracle, seed=seed, start=start)
                game = played(transcript, world, distance=distance)
                graph = world.name.removesuffix(f" / {world.model}")
                results.append(Result(name, world.name, graph, world.model, start, game))
                if told is not None:
                    told(len(results), total, name)
    return results
