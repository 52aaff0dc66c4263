"""One process a run folder: a lock that ends with its process, however that ends."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from askew.errors import RunError

# The lock file is as large as this. When the disk is full it is cut, and what that frees lets the
# replies under way be written before the run stops: 64 calls at three pages of 4 KiB, and spare.
_BALLAST_BYTES = 1 << 20
_PID_BYTES = 20


class RunLock:
    """Holds `<database>.lock` while the run is open; the file is gone after a clean end.

    The lock belongs to the open file, so the system drops it when the process dies: after
    `kill -9` the file stays, but it holds nobody up.
    """

    def __init__(self, database: Path) -> None:
        """Take the lock.

        Raises:
            RunError: another process has it, or the folder cannot be written to.
        """
        self._path = database.with_name(database.name + ".lock")
        try:
            self._file = _take(self._path)
            self._file.seek(0)
            self._file.write(f"{os.getpid()}\n".ljust(_PID_BYTES).encode())
            # Random bytes: zeros take no room on file systems that compress.
            self._file.write(os.urandom(_BALLAST_BYTES))
            self._file.flush()
        except OSError as trouble:
            raise RunError(
                f"{self._path}: {trouble.strerror}. The folder must be there, writable, and have "
                "some megabytes left."
            ) from trouble

    def free_space(self) -> None:
        """Cut the file, so that a full disk has room for the last replies."""
        self._file.truncate(_PID_BYTES)

    def release(self) -> None:
        """Let the next process in."""
        if sys.platform == "win32":
            self._file.close()
            with suppress(OSError):  # another process has opened it meanwhile: it is theirs now
                self._path.unlink()
        else:
            self._path.unlink(missing_ok=True)
            self._file.close()


class KeptLock:
    """A lock that this process keeps over several uses of a run, lent to one of them at a time."""

    def __init__(self, lock: RunLock) -> None:
        self._lock = lock
        self.lent = False

    def free_space(self) -> None:
        """See `RunLock.free_space`."""
        self._lock.free_space()

    def release(self) -> None:
        """Let the next use of this process in, and no other process."""
        self.lent = False


Lock = RunLock | KeptLock
_kept: dict[Path, KeptLock] = {}


@contextmanager
def kept_from_others(database: Path) -> Iterator[None]:
    """Keep other processes out of a run, also between the times that its ledger is open here.

    Raises:
        RunError: as `RunLock`.
    """
    place, lock = database.resolve(), RunLock(database)
    _kept[place] = KeptLock(lock)
    try:
        yield
    finally:
        del _kept[place]
        lock.release()


def lock_of(database: Path) -> Lock:
    """The lock for one use of a run: this process's where it keeps one, else a new one.

    Raises:
        RunError: as `RunLock`.
    """
    kept = _kept.get(database.resolve())
    if kept is None or kept.lent:
        return RunLock(database)  # where this process has it already, this says so
    kept.lent = True
    return kept


def _take(path: Path) -> BinaryIO:
    while True:
        # "a" makes the file if it is not there and cuts nothing off if it is.
        path.open("ab").close()
        file = path.open("r+b")
        if not _try_lock(file):
            holder = file.read(_PID_BYTES).decode(errors="replace").strip()
            file.close()
            raise RunError(
                f"{path.parent} is in use by another askew process (pid {holder}). "
                "Wait until it has ended, or stop it and start again."
            )
        # The holder before us may have removed the file between our open and our lock.
        with suppress(FileNotFoundError):
            if path.stat().st_ino == os.fstat(file.fileno()).st_ino:
                return file
        file.close()


if sys.platform == "win32":
    import msvcrt

    def _try_lock(file: BinaryIO) -> bool:
        file.seek(_PID_BYTES)  # a locked byte cannot be read by others: leave the pid free
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        finally:
            file.seek(0)
        return True

else:
    import fcntl

    def _try_lock(file: BinaryIO) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
