"""Tested sets to train Eq. 5 on in the honest regime, compiled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from askew.search.gmrl_rows import compiled
from askew.search.gmrl_walks import UNTOUCHED


@compiled
def grow_sets(
    starts: NDArray[np.int64],
    neighbours: NDArray[np.int32],
    told: NDArray[np.bool_],
    begin: NDArray[np.int32],
    lengths: NDArray[np.int64],
    seeds: NDArray[np.int64],
    order: NDArray[np.int32],
    drawn: NDArray[np.int64],
) -> None:
    """Tested sets as a search leaves them, to train Eq. 5 on in the honest regime.

    A set grows from its start by topics of its frontier, three times in four beside a leaning one
    where there is one. Fills `order`, shape (sets, nodes), as in `Tries`, and `drawn`, shape
    (sets, draws): untested topics, three in four from the frontier. `lengths` are below `nodes`.
    """
    nodes = len(told)
    frontier = np.empty(nodes, np.int32)
    seen = np.empty(nodes, np.bool_)
    for walk in range(len(begin)):
        np.random.seed(seeds[walk])
        seen[:] = False
        order[walk, :] = UNTOUCHED
        in_frontier = 0
        node = begin[walk]
        seen[node] = True
        for count in range(lengths[walk]):
            order[walk, node] = count
            for entry in range(starts[node], starts[node + 1]):
                other = neighbours[entry]
                if not seen[other]:
                    seen[other] = True
                    frontier[in_frontier] = other
                    in_frontier += 1
            if in_frontier == 0:
                break
            place = np.random.randint(in_frontier)
            if np.random.random() < 0.75:
                # A bounded number of draws: beside a leaning topic if one of them is.
                for _ in range(40):
                    tried = np.random.randint(in_frontier)
                    beside = False
                    other = frontier[tried]
                    for entry in range(starts[other], starts[other + 1]):
                        around = neighbours[entry]
                        if order[walk, around] != UNTOUCHED and told[around]:
                            beside = True
                            break
                    if beside:
                        place = tried
                        break
            node = frontier[place]
            frontier[place] = frontier[in_frontier - 1]
            in_frontier -= 1
        for k in range(drawn.shape[1]):
            if in_frontier and 4 * k < 3 * drawn.shape[1]:
                drawn[walk, k] = frontier[np.random.randint(in_frontier)]
            else:
                node = np.random.randint(nodes)
                while order[walk, node] != UNTOUCHED:
                    node = np.random.randint(nodes)
                drawn[walk, k] = node
