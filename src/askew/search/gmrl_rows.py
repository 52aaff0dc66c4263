"""GMRL-BD's rows, compiled: Eq. 4 and the keys of Q for single topics, and what Q reads of a state.

Training's walks and the policy in a game share them. The plain forms are
`gmrl_network.GmrlNetwork` and `tests/search/gmrl_plain.py`; tests hold these to them. Imported when
a policy is trained or played, as numba is optional.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from askew.errors import missing_extra
from askew.search.gmrl_settings import ATTENTION, NO_NEIGHBOURS

try:
    import numba
except ImportError:
    raise missing_extra("numba", "boundary") from None

Floats = NDArray[np.float32]
_F = TypeVar("_F", bound=Callable[..., Any])

LEAKY_SLOPE = 0.2  # of the LeakyReLU in α_ij, as in GAT
RECENT = 10  # queries that the state's recent hit rate looks back on


def compiled(function: _F) -> _F:
    """By numba, kept on disk where that can be."""
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


@compiled
def add_row(sums: Floats, part: int, rows: Floats, row: int, sign: float) -> None:
    """sums[part] += sign * rows[row], without the array that numpy's form would make."""
    for k in range(rows.shape[1]):
        sums[part, k] += np.float32(sign) * rows[row, k]


@compiled
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


@compiled
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


@compiled
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


@compiled
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


@compiled
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
