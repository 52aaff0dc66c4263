"""A dump's statements, one after another, and the rows of its INSERTs as spans of bytes.

The file is read once, in pieces; what is not whole at the end of a piece is carried over.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from askew.datasets import sql_layout
from askew.datasets.compiling import compiled_module
from askew.datasets.packed import Packed, Progress
from askew.datasets.sql_layout import InsertHead, Table
from askew.errors import DataError

_LARGEST = 1 << 28  # bytes of one row, or of a statement that gives no rows
_ROOM = 1 << 14  # rows that one call of the machine may keep
_SHOWN = 60  # bytes that a message shows
_LAST_LINE = b"-- Dump completed"  # how mysqldump and mariadb-dump close a file


@dataclass(frozen=True, slots=True)
class Scanned:
    """What one call of the machine has found; its spans lie in the window's buffer."""

    machine: ModuleType
    data: NDArray[np.uint8]
    base: int  # the file's offset of data[0]
    names: tuple[str, ...]
    spans: NDArray[np.int64]
    kinds: NDArray[np.uint8]
    kept: int
    read: int


class Statements:
    """A dump's statements one by one: tables created, and INSERTs, whose rows must be read next."""

    def __init__(self, path: Path, progress: Progress | None, piece: int) -> None:
        self.path = path
        self.tables: set[str] = set()
        self.closing_line = True
        self._locked = False
        self._file = Packed(path, progress)
        self._machine = compiled_module("askew.datasets.sql_machine")
        self._pad = self._machine.PAD
        self._buffer = bytearray(piece + self._pad)
        self._data = np.frombuffer(self._buffer, np.uint8)
        self._at = 0
        self._end = 0
        self._base = 0  # the file's offset of the buffer's first byte
        self._ended = False

    @property
    def bytes_read(self) -> int:
        """Unpacked bytes read so far."""
        return self._base + self._end

    def __enter__(self) -> Statements:
        """Opened already."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self._file.close()

    def __iter__(self) -> Iterator[Table | InsertHead]:
        """The statements that matter, in the order of the file."""
        self._more()
        if self._buffer.startswith((b"\xff\xfe", b"\xfe\xff"), 0, self._end):
            raise DataError(
                f"{self.path}: the file is UTF-16, as Windows' `>` writes it. Fetch or dump it "
                "again without changing its bytes."
            )
        announced = b"-- M" in self._buffer[: min(self._end, 200)]  # "-- MySQL dump", "-- MariaDB"
        closed = False
        while True:
            before = self._at
            found = sql_layout.BETWEEN.match(self._buffer, self._at, self._end)
            self._at = found.end() if found else self._at
            closed = closed or self._buffer.find(_LAST_LINE, before, self._at) >= 0
            hidden = sql_layout.hidden_rows(self._buffer, before, self._at)
            if hidden is not None:
                raise DataError(
                    f"{self.path}: byte {self._base + hidden:,} of the unpacked file: rows inside "
                    f"a comment: {self._shown(hidden)}. Dump the table with mysqldump's defaults."
                )
            if self._at == self._end:
                if not self._more():
                    break
                continue
            if sql_layout.is_comment(self._buffer, self._at, self._end):
                pass  # begun, and its end is not read yet
            elif sql_layout.is_insert(self._buffer, self._at, self._end):
                head = sql_layout.insert_head(self._buffer, self._at, self._end)
                if head is not None:
                    self._at = head.end
                    self.tables.add(head.table)
                    yield head
                    closed = False
                    continue
            else:
                end = sql_layout.statement_end(self._buffer, self._at, self._end)
                if end is not None:
                    statement = bytes(self._buffer[self._at : end])
                    self._at = end
                    table = self._read_statement(statement)
                    if table is not None:
                        yield table
                    continue
            if not self._more():
                if sql_layout.LAST_COMMENT.match(self._buffer, self._at, self._end):
                    closed = closed or self._buffer.startswith(_LAST_LINE, self._at)
                    break
                raise DataError(
                    f"{self.path}: the file ends inside a statement that begins at byte "
                    f"{self._base + self._at:,}: {self._shown(self._at)}. It is cut off or no SQL "
                    "dump; fetch it again."
                )
        self.closing_line = closed or not announced
        if self._locked:
            raise DataError(
                f"{self.path}: the file ends before UNLOCK TABLES, with which a dump closes what "
                "it opened by LOCK TABLES: it is cut off. Fetch it again."
            )

    def rows(
        self,
        head: InsertHead,
        table: Table | None,
        names: tuple[str, ...],
        where: tuple[str, bytes] | None,
    ) -> Iterator[Scanned]:
        """The rows of the INSERT that came last, and of those with the same head behind it.

        Args:
            head: what was yielded.
            table: its columns; None to step over the rows.
            names: columns that are wanted.
            where: see `SqlTable.batches`.
        """
        machine = self._machine
        slots = np.full(len(table.columns) if table else 1, -1, np.int64)
        chosen, value = -1, b""
        if table is not None:
            unique = tuple(dict.fromkeys(names))
            slots[list(sql_layout.places(str(self.path), table, unique))] = range(len(unique))
            names = unique
            if where is not None:
                chosen, value = table.columns.index(where[0]), where[1]
        head_bytes = np.frombuffer(bytes(self._buffer[head.start : head.end]), np.uint8)
        spans = np.empty((_ROOM, max(len(names), 1), 2), np.int64)
        kinds = np.empty((_ROOM, max(len(names), 1)), np.uint8)
        while True:
            why, position, kept, read = machine.scan(
                self._data,
                self._at,
                self._end,
                head_bytes,
                len(table.columns) if table else -1,
                slots,
                chosen,
                np.frombuffer(value, np.uint8),
                spans,
                kinds,
            )
            self._at = position
            yield Scanned(machine, self._data, self._base, names, spans, kinds, kept, read)
            if why == machine.ENDED:
                return
            if why == machine.MORE:
                if not self._more():
                    raise DataError(
                        f"{self.path}: the file ends inside an INSERT, at byte "
                        f"{self._base + self._end:,}: it is cut off. Fetch it again."
                    )
            elif why != machine.FULL:
                raise self._fault(why, position, table)

    def _fault(self, why: int, position: int, table: Table | None) -> DataError:
        machine = self._machine
        columns = len(table.columns) if table else 0
        what = {
            machine.NO_ROW: "expected a row `(...)`, or `,` or `;` behind one",
            machine.WRONG_COUNT: f"the row has not as many values as its table has columns "
            f"({columns})",
            machine.NO_VALUE: "no value that mysqldump writes",
        }[why]
        return DataError(
            f"{self.path}: byte {self._base + position:,} of the unpacked file: {what}: "
            f"{self._shown(position)}. The file is damaged; fetch it again."
        )

    def _read_statement(self, statement: bytes) -> Table | None:
        word = statement[:6].upper()
        if word == b"CREATE":
            table = sql_layout.created_table(statement)
            if table is not None:
                self.tables.add(table.name)
            return table
        if word == b"LOCK T":
            self._locked = True
        elif word == b"UNLOCK":
            self._locked = False
        return None

    def _more(self) -> bool:
        """Read on behind what is left in the buffer; False at the end of the file."""
        if self._ended:
            return False
        left = self._end - self._at
        if left * 2 > len(self._buffer) - self._pad:
            if left > _LARGEST:
                raise DataError(
                    f"{self.path}: no end within {_LARGEST >> 20} MB of the row or statement that "
                    f"begins at byte {self._base + self._at:,}: {self._shown(self._at)}. The file "
                    "is damaged or no SQL dump."
                )
            larger = bytearray(2 * len(self._buffer))
            larger[:left] = self._buffer[self._at : self._end]
            self._buffer, self._data = larger, np.frombuffer(larger, np.uint8)
        else:
            self._data[:left] = self._data[self._at : self._end].copy()
        self._base += self._at
        self._at, room = 0, len(self._buffer) - self._pad
        count = self._file.fill(memoryview(self._buffer)[left:room])
        self._end = left + count
        self._data[self._end : self._end + self._pad] = ord("'")
        self._ended = self._end < room
        return count > 0

    def _shown(self, at: int) -> str:
        return repr(bytes(self._buffer[at : min(at + _SHOWN, self._end)]))
