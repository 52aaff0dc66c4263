"""Names by number and numbers by name, as flat arrays: millions of titles in little memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.datasets.compiling import compiled_module
from askew.datasets.sql_rows import Texts


class Names:
    """Byte strings, numbered from 0 in the order in which they came.

    Raises:
        MissingDependency: numba is not installed.
    """

    def __init__(self) -> None:
        self._machine = compiled_module("askew.datasets.name_machine")
        self._count = 0
        self._data = np.empty(1 << 12, np.uint8)
        self._starts = np.zeros(1 << 8, np.int64)
        self._slots = np.full(1 << 9, -1, np.int64)

    def __len__(self) -> int:
        """How many names there are."""
        return self._count

    def __getitem__(self, number: int) -> bytes:
        """The name with a number."""
        return self._data[self._starts[number] : self._starts[number + 1]].tobytes()

    def texts(self, first: int = 0) -> Texts:
        """The names from number `first` on."""
        starts = self._starts[first : self._count + 1]
        return Texts(self._data[starts[0] : starts[-1]], starts - starts[0])

    def add(self, names: Texts, wanted: NDArray[np.bool_] | None = None) -> NDArray[np.int64]:
        """The numbers of names; new names get the next numbers.

        Args:
            names: in order.
            wanted: shape (names,): the others get -1 and are not added.
        """
        return self._number(names, wanted, True)

    def find(self, names: Texts) -> NDArray[np.int64]:
        """The numbers of names; -1 where a name is not known."""
        return self._number(names, None, False)

    def _number(
        self, names: Texts, wanted: NDArray[np.bool_] | None, add: bool
    ) -> NDArray[np.int64]:
        if add:
            self._make_room(len(names), len(names.data))
        found = np.full(len(names), -1, np.int64)
        self._count = self._machine.number(
            names.data,
            names.starts,
            np.ones(len(names), np.bool_) if wanted is None else wanted,
            add,
            self._data,
            self._starts,
            self._count,
            self._slots,
            found,
        )
        return found

    def _make_room(self, more: int, more_bytes: int) -> None:
        self._data = _grown(self._data, int(self._starts[self._count]) + more_bytes)
        self._starts = _grown(self._starts, self._count + more + 1)
        if 2 * (self._count + more) > len(self._slots):
            size = len(self._slots)
            while 2 * (self._count + more) > size:
                size *= 2
            self._slots = np.full(size, -1, np.int64)
            self._machine.fill(self._data, self._starts, self._count, self._slots)


def _grown(array: NDArray[Any], size: int) -> NDArray[Any]:
    """The array, or a copy with room for `size` and as much again."""
    if size <= len(array):
        return array
    larger = np.empty(2 * size, array.dtype)
    larger[: len(array)] = array
    return larger
