"""Policies against each other: the same graphs, models and starts for all, played to the end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from askew.engines.fan_out import FanOut, Serial
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
    fan_out: FanOut | None = None,
) -> list[Result]:
    """Play every policy on every world from the same starts.

    Args:
        worlds: that no policy was trained on.
        entrants: the policies.
        queries: tests a game.
        starts: games a world, from starts that are drawn once for all policies.
        seed: of starts and of the policies' own draws.
        variant: where policies may test.
        told: games played, games in all, the policy's name; where games are played at the same
            time, of the last in order of those that have ended.
        fan_out: who plays the games; None: this process, one after another. The same games are
            played whoever it is.

    Returns:
        World by world, start by start, policy by policy.
    """
    games = []
    for place, world in enumerate(worlds):
        random = generator(seed, "starts", world.name)
        first = random.choice(world.graph.size, size=starts, replace=starts > world.graph.size)
        for start in first.tolist():
            distance = start_distance(world, start)
            games += [_Game(place, start, distance, name) for name in entrants]

    def advance(done: int, of: int) -> None:
        if told is not None:
            told(done, of, games[done - 1].policy)

    play_one = partial(_play, tuple(worlds), dict(entrants), queries, seed, variant)
    return (fan_out or Serial()).map(play_one, games, advance)


@dataclass(frozen=True, slots=True)
class _Game:
    """A game that is to be played."""

    world: int
    start: int
    distance: float  # edges from the start to the nearest leaning topic; NaN where none is in reach
    policy: str


def _play(
    worlds: Sequence[World],
    entrants: Entrants,
    queries: int,
    seed: int,
    variant: Variant,
    game: _Game,
) -> Result:
    world = worlds[game.world]
    board = Board(world.graph, world.title_vectors, queries, variant)
    policy = entrants[game.policy](world)
    transcript = play(board, policy, world.oracle, seed=seed, start=game.start)
    graph = world.name.removesuffix(f" / {world.model}")
    figures = played(transcript, world, distance=game.distance)
    return Result(game.policy, world.name, graph, world.model, game.start, figures)
