"""`MANIFEST`: a hash of every file of a run folder, and whether they still are what it says."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path, PurePosixPath

from askew.errors import RunError

MANIFEST, SIGNATURE = "MANIFEST", "MANIFEST.sig"
# Beside a database that is or was open, without a word in them; a log that holds any is not passed.
_PASSING = frozenset({"run.sqlite-shm", "run.sqlite.lock", "run.sqlite.owner"})
_LOG = "run.sqlite-wal"
_MOST_BYTES = 1 << 24  # of MANIFEST: a hundred thousand files
_LONGEST = 255  # bytes of a file's name, on every file system in use
_LINE = re.compile(r"([0-9a-f]{64})  (.+)")


class FaultKind(StrEnum):
    """In what way a folder is not as its manifest says."""

    CHANGED = "changed"
    MISSING = "missing"
    EXTRA = "extra"
    MALFORMED = "malformed"


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is not as it was left.

    Attributes:
        name: the file, as the manifest names it; of a malformed line "MANIFEST:3".
        kind: what it is.
        what: the same in words, with the reason.
    """

    name: str
    kind: FaultKind
    what: str

    def __str__(self) -> str:
        return f"{self.name}: {self.what}"


def check_manifest(folder: Path) -> list[Fault]:
    """What in a run folder is not as `MANIFEST` says; empty where all is.

    Nothing outside the folder is read, whatever the manifest names.

    Raises:
        RunError: there is no manifest, or a file cannot be read.
    """
    manifest = folder / MANIFEST
    if not manifest.is_file() and not manifest.is_symlink():
        raise RunError(f"{folder} has no MANIFEST: the run has not ended.")
    try:
        if why := _unreadable(manifest):
            return [Fault(MANIFEST, FaultKind.MALFORMED, why)]
        hashes, faults = _parsed(manifest)
        for name, expected in hashes.items():
            faults.extend(_checked(folder, name, expected))
        faults.extend(_extra(folder, hashes))
    except OSError as trouble:
        raise RunError(
            f"{trouble.filename or folder} cannot be read: {trouble.strerror or trouble}. See to "
            "its permissions, then check again."
        ) from trouble
    return faults


def _unreadable(manifest: Path) -> str:
    """Why a manifest is not read at all; "" where it is."""
    if manifest.is_symlink():
        return "a symbolic link, which is not followed; the file lies elsewhere"
    if manifest.stat().st_size > _MOST_BYTES:
        return f"longer than {_MOST_BYTES:,} bytes"
    return ""


def _parsed(manifest: Path) -> tuple[dict[str, str], list[Fault]]:
    """The hash by the name of each file, and the lines that are none."""
    hashes: dict[str, str] = {}
    faults: list[Fault] = []
    # Only "\n" ends a line: splitlines() would also take a name apart at U+2028.
    text = manifest.read_bytes().decode("utf-8", "backslashreplace")
    for number, line in enumerate(text.removesuffix("\n").split("\n"), start=1):
        found = _LINE.fullmatch(line)
        if found is None:
            what = "no line of sha256sum: 64 hex digits, two spaces, a name"
        elif not _is_inside(found[2]):
            what = f"{found[2]!r} does not name a file of this folder"
        elif found[2] in hashes:
            what = f"{found[2]!r} is named twice"
        else:
            hashes[found[2]] = found[1]
            continue
        faults.append(Fault(f"{MANIFEST}:{number}", FaultKind.MALFORMED, what))
    return hashes, faults


def _is_inside(name: str) -> bool:
    """Whether a name can only be a file below the folder, and neither manifest nor signature."""
    path = PurePosixPath(name)
    plain = path.as_posix() == name and name.isprintable() and "\\" not in name and ":" not in name
    return (
        plain
        and bool(path.parts)
        and not path.is_absolute()
        and not {"..", "."} & set(path.parts)
        and name not in (MANIFEST, SIGNATURE)
        and all(len(part.encode()) <= _LONGEST for part in path.parts)
        and len(name.encode()) <= _LONGEST * 8
    )


def _checked(folder: Path, name: str, expected: str) -> Iterator[Fault]:
    file = folder / name
    if any(part.is_symlink() for part in (file, *file.parents[: len(Path(name).parts) - 1])):
        yield Fault(name, FaultKind.CHANGED, "a symbolic link now; the file lies elsewhere")
    elif not file.is_file():
        yield Fault(name, FaultKind.MISSING, "missing")
    elif sha256_of(file) != expected:
        yield Fault(name, FaultKind.CHANGED, "changed since the run ended")


def _extra(folder: Path, named: dict[str, str]) -> Iterator[Fault]:
    for place, folders, files in os.walk(folder, onerror=_raise):
        links = [one for one in folders if (Path(place) / one).is_symlink()]
        folders.sort()
        for file in sorted(Path(place) / one for one in (*files, *links)):
            name = file.relative_to(folder).as_posix()
            if name in named or name in (MANIFEST, SIGNATURE):
                continue
            plain = file.is_file() and not file.is_symlink()
            if plain and (name in _PASSING or (name == _LOG and not file.stat().st_size)):
                continue
            what = "not in MANIFEST"
            if plain and name == _LOG:
                what = "holds changes of run.sqlite that MANIFEST does not know"
            yield Fault(name, FaultKind.EXTRA, what)


def _raise(trouble: OSError) -> None:
    raise trouble


def sha256_of(file: Path) -> str:
    """64 hex digits."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
