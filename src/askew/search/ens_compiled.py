"""How many leanings a pick promises for the rest of the game, compiled; imported lazily."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from askew.search.compiled_code import compiled
from askew.search.features_compiled import WIDEST_MIDDLE


@compiled
def best_of_changed(
    gains: NDArray[np.float64],
    sums: NDArray[np.float64],
    removed: NDArray[np.int64],
    added: NDArray[np.float64],
    most: int,
) -> float:
    """The sum of the `most` highest gains, some of them removed and others added.

    Args:
        gains: shape (known,), descending.
        sums: shape (known + 1,): sums[i] is that of the first i gains.
        removed: places in `gains`, ascending.
        added: gains, descending.
        most: how many may be taken.
    """
    known = len(gains)
    total = 0.0
    taken = 0
    for place in range(len(added)):
        if taken >= most:
            break
        # How many of the known gains, the removed left out, come before this one.
        low, high = 0, known
        while low < high:
            middle = (low + high) // 2
            if gains[middle] >= added[place]:
                low = middle + 1
            else:
                high = middle
        before = low - int(np.searchsorted(removed, low))
        if before + place >= most:
            break
        total += added[place]
        taken += 1
    end = most - taken
    for place in removed:
        if place < end:
            end += 1
        else:
            break
    end = min(end, known)
    total += sums[end]
    for place in removed:
        if place < end:
            total -= gains[place]
        else:
            break
    return float(total)


@compiled
def promise(
    starts: NDArray[np.int64],
    neighbours: NDArray[np.int32],
    taken: NDArray[np.bool_],
    found: NDArray[np.float32],
    tested: NDArray[np.float32],
    candidates: NDArray[np.int32],
    chances: NDArray[np.float64],
    base: float,
    strength: float,
    second: float,
    most: int,
    known: NDArray[np.int32],
    place_of: NDArray[np.int64],
    gains: NDArray[np.float64],
    sums: NDArray[np.float64],
    weight: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Expected leanings of the best `most` topics after a test of each candidate.

    Args:
        starts: of the graph.
        neighbours: of the graph.
        taken: shape (nodes,).
        found: shape (nodes,): weighted leanings found around each topic.
        tested: shape (nodes,): weight tested around each.
        candidates: whose promise is asked.
        chances: shape (candidates,): how likely each is to lean.
        base: share of leaning topics where nothing is known.
        strength: how many tests the base is worth.
        second: weight of second neighbours.
        most: tests left after the candidate's.
        known: the topics above the base, by descending probability.
        place_of: shape (nodes,): the place of each in `known`; -1: not there.
        gains: shape (known,): probability less base.
        sums: shape (known + 1,): running sums of `gains`.
        weight: shape (nodes,), zeros; left as zeros.

    Returns:
        Shape (candidates,), without the candidate itself and less the base of the tests left.
    """
    worth = np.empty(len(candidates))
    changed = np.empty(len(weight), np.int32)
    removed = np.empty(len(known) + 1, np.int64)
    new = np.empty(len(weight))
    for index in range(len(candidates)):
        node = candidates[index]
        count = 0
        for entry in range(starts[node], starts[node + 1]):
            one = neighbours[entry]
            if not taken[one]:
                if weight[one] == 0.0:
                    changed[count] = one
                    count += 1
                weight[one] += 1.0
            degree = starts[one + 1] - starts[one]
            if degree > WIDEST_MIDDLE:
                continue
            for further in range(starts[one], starts[one + 1]):
                two = neighbours[further]
                if two == node or taken[two]:
                    continue
                if weight[two] == 0.0:
                    changed[count] = two
                    count += 1
                weight[two] += second / degree
        gone = 0
        if place_of[node] >= 0:
            removed[0] = place_of[node]
            gone = 1
        for at in range(count):
            if place_of[changed[at]] >= 0:
                removed[gone] = place_of[changed[at]]
                gone += 1
        out = np.sort(removed[:gone])
        worth[index] = 0.0
        for leans in range(2):
            more = 0
            for at in range(count):
                one = changed[at]
                after = found[one] + leans * weight[one] + strength * base
                gain = after / (tested[one] + weight[one] + strength) - base
                if gain > 0.0:
                    new[more] = gain
                    more += 1
            entering = -np.sort(-new[:more])
            likely = chances[index] if leans == 1 else 1.0 - chances[index]
            worth[index] += likely * best_of_changed(gains, sums, out, entering, most)
        for at in range(count):
            weight[changed[at]] = 0.0
    return worth
