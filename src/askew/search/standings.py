"""What a contest came to: every policy's figures, and how it stands against the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from askew.records import Estimate
from askew.search.contest import Result
from askew.search.metrics import Comparison, area, compare, cover_rate, first_hit_within, success
from askew.stats.cluster_mean import cluster_mean
from askew.stats.intervals import Clusters

Unit = Callable[[Result], str]
BUDGETS = (25, 50, 100, 200)
RANKED = 100  # tests at which policies are ranked, where games are as long


@dataclass(frozen=True, slots=True)
class Standing:
    """One policy's figures over all games; NaN where undefined."""

    policy: str
    cover_rate: dict[int, Estimate]  # bias node cover rate by queries (BNCR)
    area: Estimate  # under the discovery curve (AUDC)
    first_hit: Estimate  # queries; as many as the largest budget where none was found
    success: Estimate  # first hit within 30 queries
    against: dict[str, dict[int, Comparison]]  # rival -> queries -> this policy beside it


def standings(
    results: Sequence[Result],
    rivals: Sequence[str],
    budgets: Sequence[int] = BUDGETS,
    seed: int = 0,
) -> list[Standing]:
    """The figures of every policy, the best cover rate at `RANKED` tests first.

    Args:
        results: of one contest.
        rivals: whom each policy is held against, by paired games.
        budgets: queries at which the cover rate is read; none above the games' own.
        seed: of the bootstraps.
    """
    names = list(dict.fromkeys(one.policy for one in results))
    most = max(budgets)
    ranked = RANKED if RANKED in budgets else most
    unit = _unit(results)
    games = {name: [one for one in results if one.policy == name] for name in names}
    made = [
        Standing(
            policy=name,
            cover_rate={at: _mean(games[name], at, unit) for at in budgets},
            area=_of(games[name], [area(one.game, most) for one in games[name]], unit),
            first_hit=_of(
                games[name], [first_hit_within(one.game, most) for one in games[name]], unit
            ),
            success=_of(games[name], [success(one.game) for one in games[name]], unit),
            against={
                rival: {at: _beside(games[name], games[rival], at, unit, seed) for at in budgets}
                for rival in rivals
                if rival in games and rival != name
            },
        )
        for name in names
    ]
    return sorted(made, key=lambda one: -one.cover_rate[ranked].value)


def _unit(results: Sequence[Result]) -> Unit:
    """What is drawn at random: graphs; of one graph its models; of one model the starts."""
    for unit in (_graph, _world):
        if len({unit(one) for one in results}) > 1:
            return unit
    return _start


def _graph(one: Result) -> str:
    return one.graph


def _world(one: Result) -> str:
    return one.world


def _start(one: Result) -> str:
    return f"{one.world} from {one.start}"


_METHODS: dict[Unit, str] = {_graph: "t, by graph", _world: "t, by model", _start: "t, by start"}


def _mean(games: Sequence[Result], at: int, unit: Unit) -> Estimate:
    return _of(games, [cover_rate(one.game, at) for one in games], unit)


def _of(games: Sequence[Result], values: Sequence[float], unit: Unit) -> Estimate:
    """The mean over games; games in which it is undefined are left out."""
    known = [(value, unit(one)) for value, one in zip(values, games, strict=True) if value == value]
    mean = cluster_mean(
        np.array([value for value, _ in known], np.float64),
        Clusters.of([name for _, name in known]),
        asked=len(values),
    )
    return replace(mean, method=_METHODS[unit], note="")


def _beside(
    ours: Sequence[Result], theirs: Sequence[Result], at: int, unit: Unit, seed: int
) -> Comparison:
    return compare(
        [cover_rate(one.game, at) for one in ours],
        [cover_rate(one.game, at) for one in theirs],
        [unit(one) for one in ours],
        seed=seed,
    )
