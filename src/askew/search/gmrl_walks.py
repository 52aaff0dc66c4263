"""GMRL-BD's walks, compiled: Eq. 4 for the rows that a test changes, Eq. 3, Q, ε-greedy moves.

Algorithm 1 makes 600 x 200 tries. A test changes h(v) of the tested topic and its neighbours alone,
so a step costs their degrees and one product over the frontier, and not a pass over the graph. The
plain forms are `gmrl_network.GmrlNetwork` and `tests/search/gmrl_plain.py`; tests hold it to them.
Imported when a policy is trained or played, as numba is optional.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from askew.errors import missing_extra
from askew.search.distance import FAR, Scratch, drop_source, search_all
from askew.search.gmrl_settings import ATTENTION, NO_NEIGHBOURS

try:
    import numba
except ImportError:
    raise missing_extra("numba", "boundary") from None

Floats = NDArray[np.float32]
_F = TypeVar("_F", bound=Callable[..., Any])

LEAKY_SLOPE = 0.2  # of the LeakyReLU in α_ij, as in GAT
RECENT = 10  # queries that the state's recent hit rate looks back on
COUNTS = 5  # entries of the state's summary beside the three mean embeddings
UNTOUCHED = 2**30  # in `Tries.order`: never tested in that try


def _compiled(function: _F) -> _F:
    # Sums may be reordered, so that they run in vectors; infinities and NaN keep their meaning.
    flags = {"reassoc", "contract", "nsz"}
    try:
        return cast("_F", numba.njit(cache=True, fastmath=flags)(function))
    except RuntimeError:  # there is no place where a cache can be written
        return cast("_F", numba.njit(fastmath=flags)(function))


class Tables(NamedTuple):
    """h0 of every topic, projected: what Eq. 4 sums."""

    other: Floats  # shape (nodes, embedding): W_h h0(j)
    own: Floats  # shape (nodes, embedding): W_r h0(i) + bias
    attends: Floats  # shape (nodes,): what i brings into the logit of α_ij
    attended: Floats  # shape (nodes,): what j does


class Towers(NamedTuple):
    """The Q-network: Q(s, a) = query(s) · key(a) + own(a) + value(s)."""

    action_hidden: Floats  # shape (embedding, tower)
    action_bias: Floats  # shape (tower,)
    key: Floats  # shape (tower, query + 1); the last column is own(a)
    key_bias: Floats  # shape (query + 1,)
    state_hidden: Floats  # shape (3 * embedding + COUNTS, tower)
    state_bias: Floats  # shape (tower,)
    query: Floats  # shape (tower, query + 1); the last column is value(s)
    query_bias: Floats  # shape (query + 1,)


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


@_compiled
def add_row(sums: Floats, part: int, rows: Floats, row: int, sign: float) -> None:
    """sums[part] += sign * rows[row], without the array that numpy's form would make."""
    for k in range(rows.shape[1]):
        sums[part, k] += np.float32(sign) * rows[row, k]


@_compiled
def embed(
    node: int,
    starts: NDArray[np.int64],
    neighbours: NDArray[np.int32],
    tables: Tables,
    aggregate: int,
    out: Floats,
) -> None:
    """Eq. 4 for one topic, over all its neighbours; σ is max(0, x)."""
    size = len(out)
    for k in range(size):
        out[k] = 0.0
    begin, end = starts[node], starts[node + 1]
    if aggregate != NO_NEIGHBOURS and end > begin:
        top = -np.inf
        if aggregate == ATTENTION:
            for entry in range(begin, end):
                logit = tables.attends[node] + tables.attended[neighbours[entry]]
                top = max(top, logit if logit > 0 else LEAKY_SLOPE * logit)
        total = 0.0
        for entry in range(begin, end):
            other = neighbours[entry]
            weight = 1.0
            if aggregate == ATTENTION:
                logit = tables.attends[node] + tables.attended[other]
                weight = np.exp((logit if logit > 0 else LEAKY_SLOPE * logit) - top)
            total += weight
            for k in range(size):
                out[k] += np.float32(weight) * tables.other[other, k]
        for k in range(size):
            out[k] /= np.float32(total)
    for k in range(size):
        out[k] = max(out[k] + tables.own[node, k], np.float32(0.0))


@_compiled
def tower(
    values: Floats,
    hidden: Floats,
    hidden_bias: Floats,
    last: Floats,
    last_bias: Floats,
    middle: Floats,
    out: Floats,
) -> None:
    """One tower of Q: last · max(0, hidden · values)."""
    middle[:] = hidden_bias
    for k in range(len(values)):
        if values[k] != 0:
            for m in range(len(middle)):
                middle[m] += values[k] * hidden[k, m]
    out[:] = last_bias
    for m in range(len(middle)):
        if middle[m] > 0:
            for k in range(len(out)):
                out[k] += middle[m] * last[m, k]


@_compiled
def key_rows(
    nodes: NDArray[np.int32],
    towers: Towers,
    h: Floats,
    keys: Floats,
    gathered: Floats,
    middles: Floats,
    made: Floats,
) -> None:
    """The keys of some topics, in place, by one matrix product for all; the rest is work space."""
    count = len(nodes)
    for row in range(count):
        for k in range(h.shape[1]):
            gathered[row, k] = h[nodes[row], k]
    np.dot(gathered[:count], towers.action_hidden, middles[:count])
    for row in range(count):
        for k in range(middles.shape[1]):
            middles[row, k] = max(middles[row, k] + towers.action_bias[k], np.float32(0.0))
    np.dot(middles[:count], towers.key, made[:count])
    for row in range(count):
        for k in range(keys.shape[1]):
            keys[nodes[row], k] = made[row, k] + towers.key_bias[k]


@_compiled
def refresh(
    nodes: NDArray[np.int32],
    starts: NDArray[np.int64],
    neighbours: NDArray[np.int32],
    tables: Tables,
    aggregate: int,
    towers: Towers,
    h: Floats,
    keys: Floats,
) -> None:
    """Compute h(v) and the key of Q for some topics, in place."""
    count = len(nodes)
    for node in nodes:
        embed(node, starts, neighbours, tables, aggregate, h[node])
    # In parts, so that the work space of a large graph stays small.
    part = min(count, 4096)
    gathered = np.empty((part, h.shape[1]), np.float32)
    middles = np.empty((part, len(towers.action_bias)), np.float32)
    made = np.empty((part, keys.shape[1]), np.float32)
    for begin in range(0, count, 4096):
        key_rows(nodes[begin : begin + 4096], towers, h, keys, gathered, middles, made)


@_compiled
def describe_state(
    sums: Floats,
    leaning: int,
    clean: int,
    frontier: int,
    recent_hits: int,
    out: Floats,
) -> None:
    """What Q reads of a state, in place: the set {h(v)} of §3.2 as three means, and five counts.

    `sums` has shape (3, embedding): Σ h over the tested topics that lean, over those that are
    clean, and over the frontier.
    """
    size = sums.shape[1]
    for part in range(3):
        count = leaning if part == 0 else clean if part == 1 else frontier
        for k in range(size):
            out[part * size + k] = sums[part, k] / np.float32(max(count, 1))
    tested = leaning + clean
    out[3 * size] = np.log1p(tested) / 5
    out[3 * size + 1] = leaning / max(tested, 1)
    out[3 * size + 2] = recent_hits / max(min(tested, RECENT), 1)
    out[3 * size + 3] = np.log1p(frontier) / 7
    out[3 * size + 4] = np.log1p(leaning) / 3


@_compiled
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


@_compiled
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
