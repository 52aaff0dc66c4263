"""One process a run folder: a lock that ends with its process, however that ends."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import BinaryIO

from askew.errors import RunError

# The lock file is as large as this. When the disk is full it is cut, and what that frees lets the
# replies under way be written before the run stops: 64 calls at three pages of 4 KiB, and spare.
_BALLAST_BYTES = 1 << 20
_PID_BYTES = 20
_OWNER_SECONDS = 15.0  # that the process of an engine may take to see that its run is gone


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
            self.keep_space()
        except OSError as trouble:
            if hasattr(self, "_file"):
                with suppress(OSError):
                    self.release()  # what little a full disk took of it is given back
            raise RunError(
                f"{self._path}: {trouble.strerror}. The folder must be there, writable, and have "
                "some megabytes left."
            ) from trouble

    def keep_space(self) -> None:
        """Make the file large, so that it has room to give away.

        Raises:
            OSError: the disk is full.
        """
        self._file.seek(_PID_BYTES)
        # Random bytes: zeros take no room on file systems that compress.
        self._file.write(os.urandom(_BALLAST_BYTES))
        self._file.flush()

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
            # Where the folder was moved, another process's lock may stand in the place of ours.
            with suppress(OSError):
                if self._path.stat().st_ino == os.fstat(self._file.fileno()).st_ino:
                    self._path.unlink()
            self._file.close()


class KeptLock:
    """A lock that this process keeps over several uses of a run, lent to one of them at a time."""

    def __init__(self, lock: RunLock) -> None:
        self._lock = lock
        self.lent = False

    def free_space(self) -> None:
        """See `RunLock.free_space`."""
        self._lock.free_space()

    def lend(self) -> None:
        """Give it to one use.

        Raises:
            RunError: the disk has no room to keep for the replies under way.
        """
        try:
            self._lock.keep_space()
        except OSError as trouble:
            self._lock.free_space()
            raise RunError(
                f"the folder of the run has no room left: {trouble.strerror}. Free some megabytes "
                "and start the same run again."
            ) from trouble
        self.lent = True

    def release(self) -> None:
        """Let the next use of this process in, and no other process."""
        self._lock.free_space()  # no reply is under way: the report may have the room
        self.lent = False


class OwnerLock:
    """Holds `<database>.owner` while an engine's process writes for the one that holds the run.

    When the holder is killed, this process lives on for a moment. Nobody opens the ledger before
    it has ended, so that two never hand out the same work.
    """

    def __init__(self, database: Path, wait_seconds: float = _OWNER_SECONDS) -> None:
        """Take the lock; one that ends just now is waited for.

        Raises:
            RunError: it is not let go.
        """
        self._run = database.with_name(database.name + ".lock")
        self._path = _owner_path(database)
        self._file = _wait_for(self._path, wait_seconds)

    def free_space(self) -> None:
        """Cut the lock file of the run, as `RunLock.free_space` does."""
        with suppress(OSError), self._run.open("r+b") as file:
            file.truncate(_PID_BYTES)

    def release(self) -> None:
        """Let the next process in."""
        self._path.unlink(missing_ok=True)
        self._file.close()


def wait_for_owner(database: Path, wait_seconds: float = _OWNER_SECONDS) -> None:
    """Return once no engine's process writes to a ledger; at once where none did.

    Raises:
        RunError: one goes on.
    """
    path = _owner_path(database)
    if path.exists():
        file = _wait_for(path, wait_seconds)
        path.unlink(missing_ok=True)
        file.close()


def _owner_path(database: Path) -> Path:
    return database.with_name(database.name + ".owner")


def _wait_for(path: Path, seconds: float) -> BinaryIO:
    deadline = time.monotonic() + seconds
    while True:
        try:
            return _take(path)
        except RunError as trouble:
            if time.monotonic() > deadline:
                raise RunError(
                    f"{path}: a process of an earlier start still writes to the ledger. Wait "
                    "until it has ended (on a Ray cluster: until the earlier job is gone)."
                ) from trouble
        time.sleep(0.05)


Lock = RunLock | KeptLock | OwnerLock
_kept: dict[Path, KeptLock] = {}
# Of the work that asks: another thread of this process is kept out as another process is.
_held_here: ContextVar[frozenset[Path]] = ContextVar("held_here", default=frozenset())


@contextmanager
def kept_from_others(database: Path) -> Iterator[None]:
    """Keep other processes out of a run, also between the times that its ledger is open here.

    May be used within itself: the outermost keeps it.

    Raises:
        RunError: as `RunLock`.
    """
    place = database.resolve()
    if place in _held_here.get():
        yield
        return
    lock = RunLock(database)
    _kept[place] = KeptLock(lock)
    held = _held_here.set(_held_here.get() | {place})
    try:
        yield
    finally:
        _held_here.reset(held)
        del _kept[place]
        lock.release()


def lock_of(database: Path) -> Lock:
    """The lock for one use of a run: this process's where it keeps one, else a new one.

    Raises:
        RunError: as `RunLock`.
    """
    place = database.resolve()
    kept = _kept.get(place) if place in _held_here.get() else None
    if kept is None or kept.lent:
        return RunLock(database)  # where this process has it already, this says so
    kept.lend()
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
