"""Files too large for memory, plain or packed: read a piece at a time, told when they are cut off.

A gzip or bzip2 stream that ends early looks like a short file to a reader that only asks for the
next bytes. Here it is an error, whatever the file is called: what it is packed with is read from
its first bytes. So is a file that is made to unpack without end: a dump of text shrinks to a tenth,
a bomb to a thousandth and less.
"""

from __future__ import annotations

import bz2
import gzip
import zlib
from collections.abc import Callable
from io import BufferedReader
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self, cast

from askew.errors import DataError

_GZIP = b"\x1f\x8b"
_BZIP2 = b"BZh"
_STORED_PIECE = 1 << 20  # bytes read from the disk at once
_MOST_RATIO = (
    200  # unpacked bytes to one stored, from `_UNWATCHED` on; Wikipedia's dumps have 4 to 12
)
_UNWATCHED = 1 << 28  # unpacked bytes that any file may have
_MOST_EMPTY = 1000  # bzip2 streams without a byte one after another; each costs a look at the rest

# The file, how many of its stored bytes were read, and how many there are.
Progress = Callable[[Path, int, int], None]


class _Bzip2:
    """A bzip2 file of one or several streams.

    `bz2.BZ2File` takes a further stream whose first block is damaged for the end of the file.
    """

    def __init__(self, stored: BufferedReader) -> None:
        self._stored = stored
        self._stream = bz2.BZ2Decompressor()
        self._empty = 0  # streams since the last byte

    def close(self) -> None:
        """Nothing is open here."""

    def readinto(self, view: memoryview) -> int:
        """Fill the beginning of `view`; 0 at the end of the file."""
        while True:
            stored = b""
            if self._stream.eof:
                stored = self._stream.unused_data.lstrip(b"\0")  # some writers fill up with zeros
                while not stored:
                    piece = self._stored.read(_STORED_PIECE)
                    if not piece:
                        return 0
                    stored = piece.lstrip(b"\0")
                self._stream = bz2.BZ2Decompressor()
                self._empty += 1
                if self._empty > _MOST_EMPTY:
                    raise OSError(f"over {_MOST_EMPTY:,} empty streams one after another")
            elif self._stream.needs_input:
                stored = self._stored.read(_STORED_PIECE)
                if not stored:
                    raise EOFError("a stream without its end")
            data = self._stream.decompress(stored, len(view))
            if data:
                self._empty = 0
                view[: len(data)] = data
                return len(data)


class Packed:
    """A file's bytes, unpacked as they are read. Both forms may have several parts.

    Args:
        path: the file.
        progress: told after each piece.

    Raises:
        DataError: the file cannot be opened.
    """

    def __init__(self, path: Path, progress: Progress | None = None) -> None:
        self.path = path
        self._progress = progress
        self._unpacked = 0  # bytes given so far
        try:
            stored = cast("BufferedReader", path.open("rb", buffering=_STORED_PIECE))
            self.size = path.stat().st_size  # bytes as stored
            first = stored.peek(3)[:3]
        except OSError as error:
            raise DataError(f"{path}: cannot be read: {error.strerror}. Check the path.") from error
        self._stored = stored
        self._stream = cast("BinaryIO", stored)
        if first.startswith(_GZIP):
            self._stream = cast("BinaryIO", gzip.GzipFile(fileobj=stored, mode="rb"))
        elif first.startswith(_BZIP2):
            self._stream = cast("BinaryIO", _Bzip2(stored))

    def __enter__(self) -> Self:
        """Opened already."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the file."""
        self.close()

    def close(self) -> None:
        """Close the file; a second time does nothing."""
        self._stream.close()
        self._stored.close()

    def fill(self, view: memoryview) -> int:
        """Fill `view` with the next bytes, less only where the file ends.

        Returns:
            How many bytes were written; 0 at the end of the file.

        Raises:
            DataError: the stream is damaged or cut off, or unpacks without measure.
        """
        filled = 0
        while filled < len(view):
            count = self._read(view[filled:])
            if not count:
                break
            filled += count
        self._unpacked += filled
        if self._unpacked > max(_UNWATCHED, _MOST_RATIO * self._stored.tell()):
            raise DataError(
                f"{self.path}: {self._stored.tell():,} bytes have unpacked to {self._unpacked:,}, "
                f"over {_MOST_RATIO} times as many: made so on purpose, or no dump. If you know "
                "what it is, unpack it yourself and name the unpacked file."
            )
        if self._progress is not None:
            self._progress(self.path, self._stored.tell(), self.size)
        return filled

    def _read(self, view: memoryview) -> int:
        try:
            return cast("int", self._stream.readinto(view))  # type: ignore[attr-defined]  # typed as bytes alone
        except (EOFError, zlib.error, OSError) as error:
            raise DataError(
                f"{self.path}: the file is damaged or cut off, after byte {self._stored.tell():,} "
                f"of {self.size:,} as stored ({error}). Fetch it again and compare its checksum "
                "with the one published beside it."
            ) from error
