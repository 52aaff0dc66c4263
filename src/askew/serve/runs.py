"""The runs that are served: found again at each look, and read again when their files change."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock
from typing import NamedTuple, TypeVar

from askew.errors import RunError
from askew.report.folders.run_list import RunEntry, find_folders, newest_first, read_run, stamp
from askew.runfolder import RunFolder

MOST_KEPT = 4  # pages and indexes of items that are kept in memory, each
_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")

Made = TypeVar("Made")
Stamp = tuple[tuple[int, int], ...]


class _Kept(NamedTuple):
    stamp: Stamp
    made: object


class NotServed(RunError):
    """There is no such run, or it may not be read."""


class Memory:
    """What was made of a run's files, until they change; the few that were used last."""

    def __init__(self, most: int = MOST_KEPT) -> None:
        self._most = most
        self._kept: dict[tuple[Path, str], _Kept] = {}
        self._lock = Lock()
        self._making: dict[tuple[Path, str], Lock] = {}

    def get(self, path: Path, name: str, make: Callable[[], Made]) -> Made:
        """What `make` makes of the run at `path`; made once for the same files, and by one thread.

        Args:
            path: the run's folder.
            name: what is made, to tell it from other things of the same run.
            make: reads the run.
        """
        key = (path, name)
        with self._lock:
            making = self._making.setdefault(key, Lock())
        with making:
            now = stamp(path)
            with self._lock:
                kept = self._kept.pop(key, None)
                if kept is not None and kept.stamp == now:
                    self._kept[key] = kept  # the last in the order is the last that was used
                    return kept.made  # type: ignore[return-value]  # `make` made it
            made = make()
            with self._lock:
                self._kept[key] = _Kept(now, made)
                while len(self._kept) > self._most:
                    oldest = next(iter(self._kept))
                    del self._kept[oldest]
                    self._making.pop(oldest, None)
            return made


class ServedRuns:
    """The runs at and below some folders, each under a key that an address can hold.

    A key is looked up, never made into a path: no address leads out of the folders. The same
    folder keeps its key from one start to the next.

    Args:
        places: run folders, and folders of runs.

    Raises:
        RunError: one of them is not there, or none holds a run.
    """

    def __init__(self, places: Sequence[Path]) -> None:
        self._places = tuple(places)
        self._entries: dict[str, RunEntry] = {}
        self._read: dict[Path, tuple[Stamp, RunEntry]] = {}
        self._refreshing = Lock()
        self.refresh()
        if not self._entries:
            shown = ", ".join(map(str, places))
            raise RunError(
                f"{shown}: no run is in there. Name a run folder, or one that holds runs."
            )

    @property
    def entries(self) -> dict[str, RunEntry]:
        """The runs by key, the last asked first, as they were at the last look."""
        return self._entries

    def refresh(self) -> dict[str, RunEntry]:
        """Look for runs again; only those whose files have changed are read.

        Raises:
            RunError: a folder is no longer there.
        """
        with self._refreshing:
            found: dict[Path, RunEntry] = {}
            for place in self._places:
                for path in find_folders(place):
                    found.setdefault(path.resolve(), self._entry(path, place))
            entries = newest_first(list(found.values()))
            keys: dict[str, RunEntry] = {}
            for entry in entries:
                keys[_key(entry, keys)] = entry
            self._entries = keys
            return keys

    def _entry(self, path: Path, place: Path) -> RunEntry:
        now = stamp(path)
        kept = self._read.get(path)
        if kept is None or kept[0] != now:
            kept = now, read_run(path, place)
            self._read[path] = kept
        return kept[1]

    def folder(self, key: str) -> RunFolder:
        """The run folder under a key.

        Raises:
            NotServed: there is none, it is gone, or a file of it leads out of the folder.
        """
        entry = self._entries.get(key)
        if entry is None or not (entry.path / "run.sqlite").is_file():
            raise NotServed(f"no run {key!r} is served. Reload the list of runs.")
        for file in (*entry.path.iterdir(), *entry.path.glob("graph/*")):
            if file.is_symlink():
                raise PermissionError(
                    f"{file.name} of this run is a symbolic link, which is not followed: the file "
                    "may lie outside the folder. Serve a copy of the run."
                )
        return RunFolder(entry.path)


def _key(entry: RunEntry, taken: dict[str, RunEntry]) -> str:
    """The run's name where an address can hold it as it is, and no other run has it."""
    plain = _UNSAFE.sub("-", entry.name).strip("-.")
    if plain == entry.name and plain not in taken:
        return plain
    digest = hashlib.sha256(str(entry.path.resolve()).encode("utf-8", "surrogateescape"))
    return f"{plain or 'run'}-{digest.hexdigest()[:8]}"
