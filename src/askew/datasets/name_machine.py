"""The inner loops of the table of names, compiled: hashing, looking up, adding."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.datasets.compiling import compiled

# FNV-1a, 64 bits.
_BASIS = np.uint64(14695981039346656037)
_PRIME = np.uint64(1099511628211)


@compiled
def number(
    new_data: NDArray[np.uint8],
    new_starts: NDArray[np.int64],
    wanted: NDArray[np.bool_],
    add: bool,
    data: NDArray[np.uint8],
    starts: NDArray[np.int64],
    count: int,
    slots: NDArray[np.int64],
    out: NDArray[np.int64],
) -> int:  # pragma: no cover (compiled)
    """Give each wanted name its number.

    Args:
        new_data: names, one after another.
        new_starts: shape (names + 1,).
        wanted: shape (names,): the others are passed over.
        add: give unknown names new numbers; otherwise they get -1.
        data: the table's names, with room for the new ones.
        starts: the same.
        count: how many names the table has.
        slots: shape (a power of two,): numbers by hash, -1 where free; at least half are.
        out: shape (names,): gets the numbers.

    Returns:
        How many names the table has now.
    """
    mask = slots.shape[0] - 1
    for row in range(wanted.shape[0]):
        if not wanted[row]:
            continue
        begin, end = new_starts[row], new_starts[row + 1]
        place = _hash(new_data, begin, end) & mask
        while slots[place] >= 0:
            known = slots[place]
            if _same(new_data, begin, end, data, starts[known], starts[known + 1]):
                break
            place = (place + 1) & mask
        if slots[place] < 0 and add:
            at = starts[count]
            for k in range(end - begin):
                data[at + k] = new_data[begin + k]
            slots[place] = count
            count += 1
            starts[count] = at + end - begin
        out[row] = slots[place]
    return count


@compiled
def fill(
    data: NDArray[np.uint8], starts: NDArray[np.int64], count: int, slots: NDArray[np.int64]
) -> None:  # pragma: no cover (compiled)
    """Put the numbers of all names into empty slots."""
    mask = slots.shape[0] - 1
    for known in range(count):
        place = _hash(data, starts[known], starts[known + 1]) & mask
        while slots[place] >= 0:
            place = (place + 1) & mask
        slots[place] = known


@compiled
def _hash(data: NDArray[np.uint8], begin: int, end: int) -> Any:  # pragma: no cover (compiled)
    found = _BASIS
    for k in range(begin, end):
        found = (found ^ np.uint64(data[k])) * _PRIME
    return np.int64((found ^ (found >> np.uint64(32))) & np.uint64(0x7FFFFFFFFFFFFFFF))


@compiled
def _same(
    one: NDArray[np.uint8], begin: int, end: int, other: NDArray[np.uint8], start: int, stop: int
) -> Any:  # pragma: no cover (compiled)
    if end - begin != stop - start:
        return False
    k = 0
    while k < end - begin and one[begin + k] == other[start + k]:
        k += 1
    return k == end - begin
