"""Agreement of a judge with itself, over repeats, and of judges with one another."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np

from askew.audits.judging import Judgement
from askew.records import Estimate
from askew.stats.agreement import Scale, alpha_estimate, kappa_estimate
from askew.stats.intervals import Clusters, Numbers

# Kind of question -> its levels as numbers, and how far they are apart.
_LEVELS: dict[str, tuple[dict[str, float], Scale]] = {
    "difference": ({"less": 0.0, "same": 1.0, "more": 2.0}, "ordinal"),
    "pairwise": ({"A": 0.0, "tie": 1.0, "B": 2.0}, "ordinal"),
    "justified": ({"not_justified": 0.0, "unclear": 1.0, "justified": 2.0}, "nominal"),
}
# A unit of agreement: what is judged, and the order in which it is shown.
_Unit = tuple[str, str]


def repeats_of(own: Sequence[Judgement], seed: int) -> dict[str, Estimate]:
    """One judge's repeats against each other: Krippendorff's alpha by kind, or by score.

    The controls take part: they are where a judge's answers vary most.
    """
    return {
        name: _alpha(cells, scale, seed)
        for name, (cells, scale) in _tables(own).items()
        if len({repeat for cell in cells.values() for repeat in cell[1]}) > 1
    }


def between_judges(by_judge: Mapping[str, Sequence[Judgement]], seed: int) -> dict[str, object]:
    """Judges against one another, each with the middle of its repeats.

    Returns:
        `alpha`: by kind or score over all judges; `weighted_kappa`: by pair of judges, of the
        levels of `difference` alone. Empty with one judge.
    """
    if len(by_judge) < 2:
        return {}
    middles = {
        name: {
            table: ({unit: (where, _middle(cell)) for unit, (where, cell) in cells.items()}, scale)
            for table, (cells, scale) in _tables(own).items()
        }
        for name, own in by_judge.items()
    }
    names = sorted({table for tables in middles.values() for table in tables})
    alphas: dict[str, Estimate] = {}
    for table in names:
        cells: dict[_Unit, tuple[str, dict[int, float]]] = {}
        for number, tables in enumerate(middles.values()):
            for unit, (where, value) in tables.get(table, ({}, "nominal"))[0].items():
                cells.setdefault(unit, (where, {}))[1][number] = value
        scale = next(tables[table][1] for tables in middles.values() if table in tables)
        alphas[table] = _alpha(cells, scale, seed)
    kappas = {
        f"{one}|{other}": _kappa(
            middles[one]["difference"][0], middles[other]["difference"][0], seed
        )
        for one, other in itertools.combinations(by_judge, 2)
        if "difference" in middles[one] and "difference" in middles[other]
    }
    return {"alpha": alphas, "weighted_kappa": kappas}


# Unit -> its vignette, and the value by repeat (or by judge).
_Cells = dict[_Unit, tuple[str, dict[int, float]]]


def _tables(own: Sequence[Judgement]) -> dict[str, tuple[_Cells, Scale]]:
    """The verdicts by kind, or by kind and score; what cannot be read has no value."""
    tables: dict[str, tuple[_Cells, Scale]] = {}
    for one in own:
        task, unit = one.task, (one.task.unit, one.task.order)
        if task.kind in _LEVELS:
            numbers, scale = _LEVELS[task.kind]
            cell = tables.setdefault(task.kind, ({}, scale))[0].setdefault(
                unit, (task.vignette_id, {})
            )
            if one.level is not None:
                cell[1][task.replicate] = numbers[one.level]
        for key, value in (one.scores or {}).items():
            if task.kind != "gpt_score":
                table = tables.setdefault(f"{task.kind}/{key}", ({}, "interval"))[0]
                table.setdefault(unit, (task.vignette_id, {}))[1][task.replicate] = value
    return tables


def _alpha(cells: _Cells, scale: Scale, seed: int) -> Estimate:
    columns = sorted({column for _, cell in cells.values() for column in cell})
    ratings: Numbers = np.full((len(columns), len(cells)), math.nan)
    for place, (_, cell) in enumerate(cells.values()):
        for row, column in enumerate(columns):
            ratings[row, place] = cell.get(column, math.nan)
    return alpha_estimate(ratings, scale, Clusters.of([where for where, _ in cells.values()]), seed)


def _middle(cell: Mapping[int, float]) -> float:
    """The lower middle of the repeats, a value that was given; NaN without any."""
    values = sorted(cell.values())
    return values[(len(values) - 1) // 2] if values else math.nan


def _kappa(
    one: Mapping[_Unit, tuple[str, float]], other: Mapping[_Unit, tuple[str, float]], seed: int
) -> Estimate:
    shared = [
        unit
        for unit in one
        if unit in other and not math.isnan(one[unit][1]) and not math.isnan(other[unit][1])
    ]
    return kappa_estimate(
        np.array([int(one[unit][1]) for unit in shared], dtype=np.int64),
        np.array([int(other[unit][1]) for unit in shared], dtype=np.int64),
        3,
        Clusters.of([one[unit][0] for unit in shared]),
        seed,
    )
