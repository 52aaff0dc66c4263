"""GMRL-BD's walks, compiled: the tries of Algorithm 1, with Eq. 3 and Eq. 7's targets.

Algorithm 1 makes 600 x 200 tries. A test changes h(v) of the tested topic and its neighbours alone,
so a step costs their degrees and one product over the frontier, and not a pass over the graph.
`tests/search/test_gmrl_walks.py` holds every recorded step to plain formulas. numba keeps compiled
code by the file that a function stands in: after a change to `gmrl_rows` or `distance`, delete
`__pycache__`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from askew.search.distance import FAR, Scratch, drop_source, search_all
from askew.search.gmrl_rows import (
    RECENT,
    Floats,
    Tables,
    Towers,
    add_row,
    compiled,
    describe_state,
    embed,
    key_rows,
    tower,
)
from askew.search.gmrl_settings import COUNTS

UNTOUCHED = 2**30  # in `Tries.order`: never tested in that try


class Weights(NamedTuple):
    """Of the reward (Eq. 3) and of the future (Eq. 1)."""

    hit: float  # β
    test: float  # α
    near: float  # w
    discount: float  # γ


class Tries(NamedTuple):
    """What the tries of one episode on one world have recorded; filled in place."""

    summary: Floats  # shape (transitions, 3 * embedding + COUNTS): s
    action: Floats  # shape (transitions, embedding): h(a) in s
    target: NDArray[np.float32]  # shape (transitions,): R + γ max Q(s', a'), Eq. 7
    node: NDArray[np.int32]  # shape (transitions,): a
    walk: NDArray[np.int32]  # shape (transitions,): which try
    step: NDArray[np.int32]  # shape (transitions,): how many topics the try had tested in s
    order: NDArray[np.int32]  # shape (tries, nodes): the step in which a topic was tested, from 0
    first_hit: NDArray[np.int32]  # shape (tries,): queries until the first hit; 0: none
    hits: NDArray[np.int32]  # shape (tries,)
    queries: NDArray[np.int32]  # shape (tries,)
    reward: NDArray[np.float64]  # shape (tries,): Σ R


@compiled
def play_tries(
    starts: NDArray[np.int64],
    neighbours: NDArray[np.int32],
    leaning: NDArray[np.bool_],
    told: NDArray[np.bool_],
    untested: Tables,
    tested: Tables,
    changes: bool,
    aggregate: int,
    towers: Towers,
    base_h: Floats,
    base_keys: Floats,
    begin: NDArray[np.int32],
    seeds: NDArray[np.int64],
    epsilon: float,
    limit: int,
    ends_at_hit: bool,
    weights: Weights,
    room: Scratch,
    out: Tries,
) -> int:
    """The tries of Algorithm 1, lines 9 to 30, on one world.

    Args:
        starts: the graph's.
        neighbours: the graph's.
        leaning: shape (nodes,): the truth, which only the reward sees.
        told: shape (nodes,): what a test says.
        untested: h0 before a topic's test, projected.
        tested: h0 after it.
        changes: whether the two differ (the honest regime).
        aggregate: NO_NEIGHBOURS, MEAN or ATTENTION.
        towers: of Q.
        base_h: shape (nodes, embedding): h where nothing is tested.
        base_keys: shape (nodes, query + 1): their keys.
        begin: shape (tries,): the start topics.
        seeds: shape (tries,): of each try's draws.
        epsilon: share of random moves.
        limit: most queries of a try.
        ends_at_hit: whether a hit ends it (line 16).
        weights: of the reward.
        room: work space of the distances.
        out: filled in place; once it is full, tries go on unrecorded.

    Returns:
        How many transitions were recorded.
    """
    nodes, size = base_h.shape
    width = len(towers.query_bias)
    tables = Tables(
        untested.other.copy(),
        untested.own.copy(),
        untested.attends.copy(),
        untested.attended.copy(),
    )
    h, keys = base_h.copy(), base_keys.copy()
    where = np.full(nodes, -1, np.int32)  # place on the frontier; -1: not on it
    frontier = np.empty(nodes, np.int32)
    path = np.empty(nodes, np.int32)
    changed = np.zeros(nodes, np.bool_)
    changed_list = np.empty(nodes, np.int32)
    distance = np.empty(nodes, np.int32)
    owner = np.empty(nodes, np.int32)
    first_distance = np.empty(nodes, np.int32)
    first_owner = np.empty(nodes, np.int32)
    middle = np.empty(len(towers.action_bias), np.float32)
    batch = np.empty(nodes, np.int32)
    gathered = np.empty((nodes, size), np.float32)
    middles = np.empty((nodes, len(towers.action_bias)), np.float32)
    made = np.empty((nodes, width), np.float32)
    query = np.empty(width, np.float32)
    summary = np.empty(3 * size + COUNTS, np.float32)
    if weights.near > 0:
        sources = np.flatnonzero(leaning).astype(np.int32)
        search_all(starts, neighbours, sources, first_distance, first_owner, path)
    written = 0
    capacity = len(out.target)
    for walk in range(len(begin)):
        np.random.seed(seeds[walk])
        order = out.order[walk]
        order[:] = UNTOUCHED
        sums = np.zeros((3, size), np.float32)
        count, in_frontier, many_changed, count_leaning = 0, 0, 0, 0
        if weights.near > 0:
            distance[:] = first_distance
            owner[:] = first_owner
        leaning_beside = 0  # topics of the frontier that lean: where there are some, dist is 1
        held = -1  # the transition that waits for its target
        out.first_hit[walk] = 0
        out.hits[walk] = 0
        out.reward[walk] = 0.0
        node = begin[walk]
        while True:
            # Test `node`.
            if where[node] >= 0:
                last = frontier[in_frontier - 1]
                frontier[where[node]] = last
                where[last] = where[node]
                where[node] = -1
                in_frontier -= 1
                leaning_beside -= leaning[node]
                add_row(sums, 2, h, node, -1.0)
            order[node] = count
            path[count] = node
            count += 1
            count_leaning += told[node]
            hit = leaning[node]
            if changes:
                tables.other[node] = tested.other[node]
                tables.own[node] = tested.own[node]
                tables.attends[node] = tested.attends[node]
                tables.attended[node] = tested.attended[node]
                if not changed[node]:
                    changed[node] = True
                    changed_list[many_changed] = node
                    many_changed += 1
                embed(node, starts, neighbours, tables, aggregate, h[node])
            add_row(sums, 0 if told[node] else 1, h, node, 1.0)
            in_batch = 0
            for entry in range(starts[node], starts[node + 1]):
                other = neighbours[entry]
                fresh = order[other] == UNTOUCHED and where[other] < 0
                if changes:
                    # Where `other` stands in a sum already, its old h goes out and its new one in.
                    part = 2
                    if order[other] != UNTOUCHED:
                        part = 0 if told[other] else 1
                    if not fresh:
                        add_row(sums, part, h, other, -1.0)
                    embed(other, starts, neighbours, tables, aggregate, h[other])
                    if not changed[other]:
                        changed[other] = True
                        changed_list[many_changed] = other
                        many_changed += 1
                    if not fresh:
                        add_row(sums, part, h, other, 1.0)
                    if order[other] == UNTOUCHED:
                        batch[in_batch] = other
                        in_batch += 1
                if fresh:
                    where[other] = in_frontier
                    frontier[in_frontier] = other
                    in_frontier += 1
                    leaning_beside += leaning[other]
                    add_row(sums, 2, h, other, 1.0)
            if in_batch:
                key_rows(batch[:in_batch], towers, h, keys, gathered, middles, made)
            # Eq. 3, with one topic tested a step.
            reward = weights.hit * hit - weights.test
            if weights.near > 0:
                if hit:
                    drop_source(starts, neighbours, node, distance, owner, room)
                near = 1
                if not leaning_beside:
                    near = FAR
                    for k in range(count):
                        near = min(near, distance[path[k]])
                if near != FAR:
                    reward += weights.near / (near + 1)
            if count > 1:  # the start is given, no action of the agent
                out.reward[walk] += reward
            if hit:
                out.hits[walk] += 1
                if out.first_hit[walk] == 0:
                    out.first_hit[walk] = count
            ended = in_frontier == 0 or (hit and ends_at_hit)
            best, best_value = -1, -np.inf
            if not ended:
                recent = 0
                for k in range(max(count - RECENT, 0), count):
                    recent += told[path[k]]
                describe_state(
                    sums, count_leaning, count - count_leaning, in_frontier, recent, summary
                )
                tower(
                    summary,
                    towers.state_hidden,
                    towers.state_bias,
                    towers.query,
                    towers.query_bias,
                    middle,
                    query,
                )
                for k in range(in_frontier):
                    candidate = frontier[k]
                    value = keys[candidate, width - 1]
                    for m in range(width - 1):
                        value += query[m] * keys[candidate, m]
                    if value > best_value:
                        best, best_value = candidate, value
                best_value += query[width - 1]
            if held >= 0:
                out.target[held] = reward
                if not ended:
                    out.target[held] += weights.discount * best_value
            if ended or count >= limit:
                break
            if np.random.random() <= epsilon:
                best = frontier[np.random.randint(in_frontier)]
            held = -1
            if written < capacity:
                held = written
                written += 1
                out.summary[held] = summary
                out.action[held] = h[best]
                out.node[held] = best
                out.walk[held] = walk
                out.step[held] = count
            node = best
        out.queries[walk] = count
        for k in range(in_frontier):
            where[frontier[k]] = -1
        for k in range(many_changed):
            other = changed_list[k]
            changed[other] = False
            tables.other[other] = untested.other[other]
            tables.own[other] = untested.own[other]
            tables.attends[other] = untested.attends[other]
            tables.attended[other] = untested.attended[other]
            h[other] = base_h[other]
            keys[other] = base_keys[other]
    return written
