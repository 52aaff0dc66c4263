"""Files that are whole, or not there, whatever ends the process that writes them.

Three things make one so. What is written goes into a *part* beside the file and takes its place in
one step, so that neither a kill nor a full disk leaves half of it. The part is on the disk before
that step, as a file system may keep a rename and forget what was written before it: after a loss
of power the file would be there and empty. And the folder is on the disk after it, so that of two
files written one after the other the second is never there without the first.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from askew.errors import RunError

# File systems that keep folders on their own refuse to be asked to.
_NOT_ASKED_OF_FOLDERS = {errno.EINVAL, errno.ENOTSUP, errno.EACCES, errno.EPERM, errno.EBADF}
_LONGEST_STEM = 180  # bytes; with what stands around it a part's name fits every file system


def write_whole(path: Path, text: str) -> None:
    """Write a file so that a reader sees the old text or the new one, never half of it.

    Raises:
        RunError: it cannot be written.
    """
    with whole_file(path) as part, part.open("w", encoding="utf-8", newline="\n") as file:
        file.write(text)


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Where to write what `path` is to hold; it takes the place of `path` once all is on the disk.

    Several processes may write the same file at once: each has a part of its own, and the last to
    end wins. A part that a killed process has left goes when the same file is written again.

    Raises:
        RunError: the file cannot be written.
    """
    part, held = None, None
    try:
        _remove_left(path)
        part, held = _new_part(path)
        yield part
        sync_file(part)
        part.replace(path)
        sync_folder(path.parent)
    except OSError as trouble:
        raise RunError(
            f"{path} cannot be written: {trouble.strerror or trouble}. Name another place, or "
            "see to the folder and its free space."
        ) from trouble
    finally:
        if part is not None:
            with suppress(OSError):
                part.unlink(missing_ok=True)
        if held is not None:
            os.close(held)


def make_folder(path: Path) -> None:
    """Make a folder, and those above it that are not there; they are on the disk afterwards.

    Raises:
        OSError: it cannot be made, or something else stands in its place.
    """
    missing = [one for one in (path, *path.parents) if not one.is_dir()]
    path.mkdir(parents=True, exist_ok=True)
    for one in reversed(missing):
        sync_folder(one.parent)


def sync_file(path: Path) -> None:
    """What was written into the file survives a loss of power once this returns."""
    # Windows flushes only what may be written to.
    handle = os.open(path, os.O_RDWR if sys.platform == "win32" else os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_folder(path: Path) -> None:
    """Which files the folder holds, and under which names, survives a loss of power."""
    if sys.platform == "win32":
        return  # a folder cannot be opened there, and the file system keeps its own log
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as trouble:
        if trouble.errno not in _NOT_ASKED_OF_FOLDERS:
            raise
    finally:
        os.close(handle)


def sync_tree(folder: Path) -> None:
    """Everything below the folder, to be called before it is moved to its place."""
    for place, _, files in os.walk(folder, topdown=False):
        for name in files:
            sync_file(Path(place) / name)
        sync_folder(Path(place))


def _new_part(path: Path) -> tuple[Path, int | None]:
    """A new file beside `path`, and what keeps it from being taken for one that was left."""
    while True:
        part = path.with_name(f"{_stem(path)}{secrets.token_hex(4)}.part")
        handle = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        if sys.platform == "win32":
            os.close(handle)  # an open file cannot be moved there
            return part, None
        if _try_lock(handle) is not False:
            # Another process may have taken it for left, and removed it, before it was locked.
            with suppress(FileNotFoundError):
                if part.stat().st_ino == os.fstat(handle).st_ino:
                    return part, handle
        os.close(handle)


def _remove_left(path: Path) -> None:
    """Remove the parts of this file whose writers are gone."""
    named = re.compile(re.escape(_stem(path)) + r"[0-9a-f]{8}\.part")
    with os.scandir(path.parent) as entries:
        left = [one.path for one in entries if named.fullmatch(one.name)]
    for name in left:
        with suppress(OSError):  # another process has removed it, or it is not ours to remove
            handle = os.open(name, os.O_RDWR)
            try:
                if _try_lock(handle):
                    os.unlink(name)
            finally:
                os.close(handle)


def _stem(path: Path) -> str:
    """How the names of a file's parts begin."""
    name = path.name
    if len(os.fsencode(name)) > _LONGEST_STEM:
        name = hashlib.sha256(os.fsencode(name)).hexdigest()
    return f".{name}."


def _try_lock(handle: int) -> bool | None:
    """Whether the file was locked; None where files cannot be locked."""
    if sys.platform == "win32":
        return None
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True
