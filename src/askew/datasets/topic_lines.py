"""Tables of a topic graph, a tab between fields: bytes to rows, with the physical line of each.

The columns are found by name where the first line names them, else by their place. What cannot be
used is collected, so that the user sees all of it at once.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from askew.datasets.files import File, read_file
from askew.errors import DataError, bad_field, shortened

_BOM = "\ufeff"
Header = Literal["by_id", "whole", "none"]
_SHOWN = 80  # characters of a bad field; a file without line ends is one field
_POINT_ZERO = re.compile(r"-?\d+\.0+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name, and what else it may be called in a header."""

    name: str
    others: tuple[str, ...] = ()
    required: bool = True

    def is_called(self, cell: str) -> bool:
        """Whether a header's cell means this column."""
        word = re.sub(r"[\s_-]+", "_", cell.strip().casefold())
        return word == self.name or word in self.others


@dataclass(slots=True)
class Tally:
    """What was left out while files were read, and why."""

    LISTED = 20  # a longer list hides its own point

    lenient: bool = False
    counts: Counter[str] = field(default_factory=Counter)
    bad: int = 0
    messages: list[str] = field(default_factory=list)  # of the first bad lines

    def reject(
        self, why: str, path: str, line: int, column: str, found: object, expected: str, mend: str
    ) -> None:
        """Write a bad line down; `why` is the name under which it is counted."""
        self.counts[why] += 1
        self.bad += 1
        if len(self.messages) < self.LISTED:
            found = found[:_SHOWN] if isinstance(found, str) else found
            self.messages.append(str(bad_field(path, line, column, found, expected, mend)))

    def finish(self) -> None:
        """End the reading.

        Raises:
            DataError: there were bad lines and `lenient` is off; the message lists them.
        """
        if not self.bad or self.lenient:
            return
        listed = [f"  {message}" for message in self.messages]
        if self.bad > self.LISTED:
            listed.append(f"  … and {self.bad - self.LISTED:,} more")
        lines = "1 line" if self.bad == 1 else f"{self.bad:,} lines"
        raise DataError(
            f"{lines} cannot be used:\n"
            + "\n".join(listed)
            + "\nMend them in the file, or read leniently: they are left out then, and counted."
        )


@dataclass(frozen=True, slots=True)
class Table:
    """A file whose columns are known."""

    label: str  # how messages call the file
    sha256: str
    data: bytes
    columns: Sequence[Column]
    header: Sequence[str] | None  # the columns' names in the file's order; "" for others
    tally: Tally

    def rows(self) -> Iterator[tuple[int, Mapping[str, str]]]:
        """Line and fields, stripped, of each row that has the right number of them."""
        names = self.header or [column.name for column in self.columns]
        optional = {column.name for column in self.columns if not column.required}
        least = len(names)
        while least and names[least - 1] in optional:
            least -= 1
        skip_header = self.header is not None
        for line, cells in _cells(self.label, self.data, self.tally):
            if skip_header:
                skip_header = False
            elif not least <= len(cells) <= len(names):
                self.tally.reject(
                    "wrong_number_of_fields",
                    self.label,
                    line,
                    "the whole line",
                    "\t".join(cells),
                    f"{len(names)} fields ({', '.join(name or 'unused' for name in names)})",
                    "Put one tab between fields, and none inside them.",
                )
            else:
                yield line, dict(zip(names, cells, strict=False))


def read_table(
    path: Path, columns: Sequence[Column], tally: Tally, header: Header = "by_id"
) -> Table:
    """Open a file and find its columns.

    Args:
        path: plain or gzip.
        columns: in the order that they have in a file without a header.
        tally: gets what cannot be used.
        header: how the first line is known to be one. "by_id": its first field names a column, as
            no id is called "id", or all of it together names each. "whole": it names every column,
            as a topic may well be called "child". "none": never.

    Raises:
        DataError: the file cannot be read or is empty, or its header lacks a column.
    """
    file = read_file(path)
    _check_readable(file)
    first = next((cells for _, cells in _cells(file.label, file.data, Tally())), None)
    if first is None:
        raise DataError(f"{file.label}: the file is empty. Put one row on each line.")
    names = None if header == "none" else _header(file.label, first, columns, header)
    return Table(file.label, file.sha256, file.data, columns, names, tally)


def identifier(cell: str) -> str:
    """An id as it is compared: "7.0", a trace of pandas, is 7."""
    return cell.split(".")[0] if _POINT_ZERO.fullmatch(cell) else cell


def _check_readable(file: File) -> None:
    if b"\r" in file.data and b"\n" not in file.data:
        raise DataError(f"{file.label}: lines end in CR alone. Save it with LF or CRLF.")


def _header(
    label: str, first: list[str], columns: Sequence[Column], kind: Header
) -> list[str] | None:
    """The columns by the names in the first row, "" for others; None where it is no header."""
    cells = [first[0].lstrip("# "), *first[1:]]
    names = [
        next((column.name for column in columns if column.is_called(cell)), "") for cell in cells
    ]
    missing = [column.name for column in columns if column.required and column.name not in names]
    if missing and (kind == "whole" or not names[0]):
        return None
    again = [name for name, count in Counter(filter(None, names)).items() if count > 1]
    if again:
        raise DataError(f"{label}: the header names the column {again[0]!r} twice.")
    if missing:
        raise DataError(
            f"{label}: the header has no column {', '.join(map(repr, missing))}. "
            f"It has: {shortened(', '.join(map(repr, first)), 800)}."
        )
    return names


def _cells(label: str, data: bytes, tally: Tally) -> Iterator[tuple[int, list[str]]]:
    """The fields of each line that is neither blank nor a comment nor no UTF-8."""
    for line, raw in enumerate(io.BytesIO(data), start=1):  # lines end at LF alone
        try:
            text = raw.decode("utf-8").rstrip("\r\n").removeprefix(_BOM)
        except UnicodeDecodeError as error:
            tally.reject(
                "not_utf8",
                label,
                line,
                "the whole line",
                raw[:_SHOWN].decode("utf-8", errors="backslashreplace"),
                f"UTF-8 (byte 0x{raw[error.start]:02x} is not)",
                "Save the file as UTF-8.",
            )
            continue
        if not text.strip():
            continue
        # "#MeToo<tab>Feminism" is a row; "# source: …" and "#source" are comments.
        if text.startswith("# ") or (text.startswith("#") and "\t" not in text):
            tally.counts["comments"] += 1
            continue
        yield line, [cell.strip() for cell in text.split("\t")]
