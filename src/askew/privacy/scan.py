"""Looking for secrets and texts in files byte by byte: in whatever form and wherever they lie.

A file is looked at as it is, so that a database's free pages and its log count, and unpacked once
more where it is packed: gzip, zip, the items in a report. Nothing is imported that a file is of.
"""

from __future__ import annotations

import base64
import gzip
import io
import os
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from askew.privacy.key_forms import KEY_FORM, form_of
from askew.privacy.spellings import InBytes

WINDOW = 12  # bytes of a text by which it is looked for
_MOST_UNPACKED = 1 << 31  # bytes; a bomb is not unpacked to its end
_PIECE = 1 << 22
_ISLAND = re.compile(rb"[A-Za-z0-9+/]{200,}={0,2}")
_FORM = re.compile(KEY_FORM.pattern.encode())


@dataclass(frozen=True, slots=True)
class Found:
    """Something that should not be there.

    Attributes:
        file: where, from the folder that was looked through.
        offset: of its first byte, in the file or in what was unpacked from it.
        what: the name of the secret, or the form of a key; never the secret itself.
        within: "" in the file as it is, else how it was packed.
    """

    file: str
    offset: int
    what: str
    within: str = ""

    def __str__(self) -> str:
        packed = f", {self.within}" if self.within else ""
        return f"{self.file}: {self.what} at byte {self.offset:,}{packed}"


def find_secrets(folder: Path, secrets: Mapping[str, str], *, by_form: bool = True) -> list[Found]:
    """Where in the files of a folder a secret stands, as it is or in an encoding.

    Args:
        folder: looked through to any depth; links are not followed.
        secrets: name -> value; those of fewer than eight characters are looked for as well.
        by_form: whether what has the form of a key counts too, whosever it is.

    Returns:
        The first place of each secret in each file, in the order of the files.

    Raises:
        OSError: a file cannot be read.
    """
    wanted = InBytes({name: value for name, value in secrets.items() if value})
    found: list[Found] = []
    for file in files_of(folder):
        name = file.relative_to(folder).as_posix()
        seen: set[tuple[str, str]] = set()
        for within, data in layers(file):
            for what, place in wanted.first_places(data).items():
                if (what, within) not in seen:
                    seen.add((what, within))
                    found.append(Found(name, place, f"the value of {what}", within))
            hit = _FORM.search(data) if by_form else None
            if hit is not None and not wanted.first_places(hit[0]):
                kind = form_of(hit[0].decode("ascii", "replace")) or "a key"
                found.append(Found(name, hit.start(), kind, within))
    return found


def find_texts(
    folder: Path, texts: Iterable[str], *, skip: Iterable[str] = ()
) -> list[tuple[Found, str]]:
    """Where in the files of a folder one of many texts stands, whole.

    Args:
        folder: looked through to any depth.
        texts: of at least twelve bytes each; shorter ones are passed over.
        skip: files that are not looked at, from the folder.

    Returns:
        The first place of each text in each file, with the text.
    """
    needles = Needles(texts)
    passed = set(skip)
    found: list[tuple[Found, str]] = []
    for file in files_of(folder):
        name = file.relative_to(folder).as_posix()
        if name in passed:
            continue
        for within, data in layers(file):
            found += [
                (Found(name, place, "a text", within), text)
                for text, place in needles.first_places(data).items()
            ]
    return found


class Needles:
    """Many texts, looked for at once by their first twelve bytes.

    Args:
        texts: those of fewer bytes are passed over. Each is looked for as UTF-8, as JSON escapes
            it and as HTML does.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._by_start: dict[bytes, dict[bytes, str]] = {}
        for text in texts:
            for written in _written(text):
                if len(written) >= WINDOW:
                    self._by_start.setdefault(written[:WINDOW], {})[written] = text
        starts = b"".join(self._by_start)
        self._hashes = np.unique(_windows(np.frombuffer(starts, np.uint8))[::WINDOW])

    def __len__(self) -> int:
        return sum(map(len, self._by_start.values()))

    def first_places(self, data: bytes) -> dict[str, int]:
        """The texts that stand in `data`, each with the offset of its first place."""
        found: dict[str, int] = {}
        if not len(self._hashes):
            return found
        for start in range(0, max(1, len(data) - WINDOW + 1), _PIECE):
            piece = np.frombuffer(data, np.uint8)[start : start + _PIECE + WINDOW - 1]
            hashes = _windows(piece)
            places = np.searchsorted(self._hashes, hashes)
            places[places == len(self._hashes)] = 0
            for at in np.flatnonzero(self._hashes[places] == hashes):
                place = start + int(at)
                for written, text in self._by_start.get(data[place : place + WINDOW], {}).items():
                    if text not in found and data.startswith(written, place):
                        found[text] = place
        return found


def files_of(folder: Path) -> Iterator[Path]:
    """The files below a folder, by name; a link is not followed."""
    if folder.is_file():
        yield folder
        return
    for place, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            file = Path(place) / name
            if file.is_file() and not file.is_symlink():
                yield file


def layers(file: Path) -> Iterator[tuple[str, bytes]]:
    """What a file holds: as it is, and what can be unpacked from it."""
    data = file.read_bytes()
    yield "", data
    if data.startswith(b"\x1f\x8b"):
        if unpacked := _gunzipped(data):
            yield "in gzip", unpacked
    elif data.startswith(b"PK\x03\x04"):
        yield from _unzipped(data)
    if b"<html" in data[:4096]:
        for island in _ISLAND.finditer(data):
            if unpacked := _from_island(island[0]):
                yield "in packed items", unpacked


def _unzipped(data: bytes) -> Iterator[tuple[str, bytes]]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            for member in packed.infolist():
                if member.file_size <= _MOST_UNPACKED:
                    yield f"in zip: {member.filename}", packed.read(member)
    except (zipfile.BadZipFile, RuntimeError, zlib.error, EOFError, NotImplementedError):
        return


def _gunzipped(data: bytes) -> bytes:
    try:
        with gzip.open(io.BytesIO(data)) as packed:
            return packed.read(_MOST_UNPACKED)
    except (OSError, EOFError, zlib.error):
        return b""


def _from_island(text: bytes) -> bytes:
    """What base64 stands for, unpacked where it is packed; b"" where it is none."""
    try:
        raw = base64.b64decode(text + b"=" * (-len(text) % 4))
    except ValueError:
        return b""
    if raw.startswith(b"\x1f\x8b"):
        return _gunzipped(raw)
    for bits in (zlib.MAX_WBITS, -zlib.MAX_WBITS):
        try:
            return zlib.decompressobj(bits).decompress(raw, _MOST_UNPACKED)
        except zlib.error:
            continue
    return raw


def _written(text: str) -> set[bytes]:
    import html
    import json

    escaped = text.encode("utf-8", "backslashreplace").decode()
    told = {escaped, html.escape(escaped), html.escape(escaped, quote=False)}
    told |= {json.dumps(escaped)[1:-1], json.dumps(escaped, ensure_ascii=False)[1:-1]}
    return {one.encode() for one in told}


def _windows(data: np.ndarray) -> np.ndarray:
    """A number for each window of twelve bytes; equal windows have equal ones."""
    count = len(data) - WINDOW + 1
    if count <= 0:
        return np.zeros(0, np.uint64)
    total = np.zeros(count, np.uint64)
    for place in range(WINDOW):
        total = total * np.uint64(1_099_511_628_211) + data[place : place + count] + np.uint64(1)
    return total
