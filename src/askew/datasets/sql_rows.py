"""The rows of one table of a MySQL or MariaDB dump, some columns of them, a batch at a time.

Made for Wikipedia's `categorylinks`: 25 GB and 200 million rows, of which a graph needs one in
forty, and two or three of seven columns. What is no wanted value is stepped over without being
copied or decoded.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from askew.datasets import sql_layout
from askew.datasets.packed import Progress
from askew.datasets.sql_layout import Table
from askew.datasets.sql_statements import Scanned, Statements
from askew.errors import DataError

_PIECE = 1 << 22  # bytes looked at at once: small enough for the processor's cache
_SHOWN = 60  # bytes that a message shows


@dataclass(frozen=True, slots=True)
class Texts:
    """Byte strings, one after another."""

    data: NDArray[np.uint8]
    starts: NDArray[np.int64]  # shape (strings + 1,)

    def __len__(self) -> int:
        """How many strings there are."""
        return len(self.starts) - 1

    def __iter__(self) -> Iterator[bytes]:
        """The strings, in order."""
        whole = self.data.tobytes()
        bounds = self.starts.tolist()
        for start, end in itertools.pairwise(bounds):
            yield whole[start:end]


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows that were kept, by column. NULL is 0 or the empty string, and `missing` says so."""

    rows: int
    integers: dict[str, NDArray[np.int64]]  # each of shape (rows,)
    texts: dict[str, Texts]
    missing: dict[str, NDArray[np.bool_]]  # each of shape (rows,), for all columns


class SqlTable:
    """One table's rows in a dump file, which may hold other tables too.

    Args:
        path: plain, gzip or bzip2.
        table: its name, without the database's.
        progress: told how far the file was read.
        piece: bytes looked at at once.
    """

    def __init__(
        self, path: Path, table: str, *, progress: Progress | None = None, piece: int = _PIECE
    ) -> None:
        self.path = path
        self.table = table
        self.rows_read = 0  # rows of the table, kept or not
        self.bytes_read = 0  # unpacked
        self.closing_line = True  # False: mysqldump's first line is there and its last is not
        self._progress = progress
        self._piece = piece

    def columns(self) -> tuple[str, ...]:
        """The table's columns, read from the head of the file.

        Raises:
            DataError: the file cannot be read, or says nothing of the table's columns.
        """
        with Statements(self.path, None, min(self._piece, 1 << 16)) as statements:
            for found in statements:
                if isinstance(found, Table):
                    if found.name == self.table:
                        return found.columns
                elif found.table == self.table and found.columns is not None:
                    return found.columns
                else:
                    for _ in statements.rows(found, None, (), None):
                        pass
            raise DataError(self._no_table(statements))

    def batches(
        self,
        *,
        integers: tuple[str, ...] = (),
        texts: tuple[str, ...] = (),
        where: tuple[str, bytes] | None = None,
    ) -> Iterator[Batch]:
        """Rows a batch at a time, in the order of the file. `rows_read` counts as they come.

        Args:
            integers: columns read as whole numbers of 64 bits.
            texts: columns read as bytes, escapes undone.
            where: a column and the bytes that it must hold, as they stand in the file, or
                written as 0x...

        Raises:
            DataError: the file cannot be read, is damaged or cut off, lacks the table or one of
                the columns, or a value is not of its kind; the message says where.
            MissingDependency: numba is not installed.
        """
        self.rows_read = 0
        names = (*integers, *texts, *(() if where is None else (where[0],)))
        created: Table | None = None
        table: Table | None = None
        with Statements(self.path, self._progress, self._piece) as statements:
            for found in statements:
                if isinstance(found, Table):
                    if found.name == self.table:
                        created = table = found
                    continue
                if found.table != self.table:
                    for _ in statements.rows(found, None, (), None):
                        pass
                    continue
                # A list of columns counts for its own statement alone.
                listed = found.columns
                table = created if listed is None else Table(found.table, listed)
                if table is None:
                    raise DataError(
                        f"{self.path}: rows of `{self.table}` come before its CREATE TABLE, so "
                        "their columns have no names. Dump the table with its definition."
                    )
                sql_layout.places(str(self.path), table, names)
                for scanned in statements.rows(found, table, names, where):
                    self.rows_read += scanned.read
                    if scanned.kept:
                        yield self._batch(scanned, integers, texts)
            self.bytes_read = statements.bytes_read
            self.closing_line = statements.closing_line
            if table is None:
                raise DataError(self._no_table(statements))
            sql_layout.places(str(self.path), table, names)

    def _no_table(self, statements: Statements) -> str:
        if not statements.bytes_read:
            return f"{self.path}: the file is empty. Fetch it again."
        seen = ", ".join(f"`{name}`" for name in sorted(statements.tables)) or "none"
        return (
            f"{self.path}: no CREATE TABLE `{self.table}` in the file. Tables found: {seen}. Check "
            "that it is a SQL dump (mysqldump or mariadb-dump) of that table."
        )

    def _batch(self, scanned: Scanned, integers: tuple[str, ...], texts: tuple[str, ...]) -> Batch:
        """Decode the spans; they lie in a buffer that the next piece overwrites."""
        numbers: dict[str, NDArray[np.int64]] = {}
        strings: dict[str, Texts] = {}
        missing: dict[str, NDArray[np.bool_]] = {}
        machine, rows = scanned.machine, scanned.kept
        for name in integers:
            slot = scanned.names.index(name)
            numbers[name], missing[name] = np.empty(rows, np.int64), np.empty(rows, np.bool_)
            bad = machine.integers(
                scanned.data,
                scanned.spans,
                scanned.kinds,
                slot,
                rows,
                numbers[name],
                missing[name],
            )
            if bad >= 0:
                raise self._bad_value(scanned, bad, name, "a whole number below 2**63")
        for name in texts:
            slot = scanned.names.index(name)
            room = int((scanned.spans[:rows, slot, 1] - scanned.spans[:rows, slot, 0]).sum())
            out, starts = np.empty(room, np.uint8), np.empty(rows + 1, np.int64)
            missing[name] = np.empty(rows, np.bool_)
            bad = machine.texts(
                scanned.data, scanned.spans, scanned.kinds, slot, rows, out, starts, missing[name]
            )
            if bad >= 0:
                raise self._bad_value(scanned, bad, name, "a string")
            strings[name] = Texts(out[: starts[-1]], starts)
        return Batch(rows, numbers, strings, missing)

    def _bad_value(self, scanned: Scanned, row: int, name: str, expected: str) -> DataError:
        start, end = scanned.spans[row, scanned.names.index(name)].tolist()
        found = scanned.data[start : min(end, start + _SHOWN)].tobytes()
        return DataError(
            f"{self.path}: byte {scanned.base + start:,} of the unpacked file: column {name!r} is "
            f"{found!r}, expected {expected}. Fetch the file again; if it stays so, dump the table "
            "with mysqldump's defaults."
        )
