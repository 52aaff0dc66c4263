"""Whether a GGUF file's header is what it says, before a library believes it.

The reader of the package `gguf` takes each count from the file: an array said to hold 2**60 values
in a file of 100 bytes keeps it busy, and filling the memory, for ever. Here every length is held
against what is left of the file. Layout: the GGUF specification of ggml, versions 2 and 3.
"""

from __future__ import annotations

import mmap
import struct
from pathlib import Path

from askew.errors import ConfigError

_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}  # bytes, by type
_STRING, _ARRAY = 8, 9
_LEAST_ENTRY = 8 + 4 + 1  # bytes: the length of a key, a type and the smallest value
_LEAST_TENSOR = 8 + 4 + 4 + 8
_LONGEST_NAME = 65_535
_MOST_DIMENSIONS = 8  # ggml itself has 4
_MAGIC = b"GGUF"


class _Header:
    """A place in a file that never gets beyond its end."""

    def __init__(self, data: mmap.mmap | bytes) -> None:
        self.data = data
        self.at = 0

    def skip(self, count: int) -> None:
        if count > len(self.data) - self.at:
            raise ValueError(f"{count:,} bytes are said to follow byte {self.at:,}")
        self.at += count

    def number(self, form: str) -> int:
        start = self.at
        self.skip(struct.calcsize(form))
        return int(struct.unpack_from(form, self.data, start)[0])

    def count(self, least: int, what: str) -> int:
        """A number of things of at least `least` bytes each."""
        start, count = self.at, self.number("<Q")
        if count * least > len(self.data) - self.at:
            raise ValueError(f"{count:,} {what} are said to follow byte {start:,}")
        return count

    def name(self) -> None:
        start, length = self.at, self.number("<Q")
        if length > _LONGEST_NAME:
            raise ValueError(f"a name of {length:,} bytes at byte {start:,}")
        self.skip(length)

    def value(self) -> None:
        start, kind = self.at, self.number("<I")
        if kind == _ARRAY:
            kind = self.number("<I")
            if kind not in _SIZES and kind != _STRING:
                raise ValueError(f"an array of type {kind} at byte {start:,}")
            count = self.count(_SIZES.get(kind, 8), "values")
        elif kind in _SIZES or kind == _STRING:
            count = 1
        else:
            raise ValueError(f"a value of type {kind} at byte {start:,}")
        if kind == _STRING:
            for _ in range(count):
                self.skip(self.number("<Q"))
        else:
            self.skip(count * _SIZES[kind])


def check_gguf(path: Path) -> None:
    """Refuse a file whose header does not fit its length.

    Raises:
        ConfigError: it is no GGUF file, of another version, cut off, or says what cannot be.
    """
    try:
        with path.open("rb") as file:
            if not path.stat().st_size:
                raise ValueError("it is empty")
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                walk(data)
    except OSError as trouble:
        raise ConfigError(f"{path}: cannot be read: {trouble.strerror}.") from trouble
    except ValueError as trouble:
        raise ConfigError(
            f"{path}: is no whole GGUF file: {trouble}. Fetch it again and compare its checksum."
        ) from trouble


def walk(data: mmap.mmap | bytes) -> None:
    """Go through a header from the magic number to the last tensor's place.

    Raises:
        ValueError: it says what cannot be.
    """
    header = _Header(data)
    if data[:4] != _MAGIC:
        raise ValueError("it does not begin with GGUF")
    header.skip(4)
    version = header.number("<I")
    if version not in (2, 3):
        raise ValueError(f"version {version}, expected 2 or 3, little-endian")
    tensors = header.count(_LEAST_TENSOR, "tensors")
    entries = header.count(_LEAST_ENTRY, "entries")
    for _ in range(entries):
        header.name()
        header.value()
    for _ in range(tensors):
        header.name()
        start, dimensions = header.at, header.number("<I")
        if dimensions > _MOST_DIMENSIONS:
            raise ValueError(f"a tensor of {dimensions:,} dimensions at byte {start:,}")
        header.skip(8 * dimensions + 4)
        start, offset = header.at, header.number("<Q")
        if offset > len(data):
            raise ValueError(f"a tensor {offset:,} bytes on, at byte {start:,}")
