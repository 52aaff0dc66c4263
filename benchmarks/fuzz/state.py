"""What fuzzing leaves on disk, so that it can go on another day: counts, inputs kept, faults.

STATE/TARGET/counts.json    inputs by engine, seconds, coverage edges
STATE/TARGET/kept/          what libFuzzer found worth keeping
STATE/TARGET/faults/        KEY.bin, the input, and KEY.txt, what it did
STATE/TARGET/mended/        faults that no longer happen
"""

from __future__ import annotations

import json
import mmap
import os
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness import Fault, Target

_HEAD = struct.Struct("<QQQdQ")
_ROOM = 4 << 20


class Shared:
    """What a child has counted and the input it holds, in a file that outlives the child."""

    def __init__(self, path: Path, *, new: bool) -> None:
        """Open the file, made anew by the parent."""
        if new:
            with path.open("wb") as file:
                file.truncate(_HEAD.size + _ROOM)
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), 0)

    def begin(self, inputs: int, refused: int, faults: int, slowest: float, data: bytes) -> None:
        """Write down the input that is about to be given, and the counts up to it."""
        length = min(len(data), _ROOM)
        _HEAD.pack_into(self._map, 0, inputs, refused, faults, slowest, length)
        self._map[_HEAD.size : _HEAD.size + length] = data[:length]

    def counts(self) -> tuple[int, int, int, float]:
        """Inputs, refused, faults, and the seconds of the slowest."""
        inputs, refused, faults, slowest, _ = _HEAD.unpack_from(self._map, 0)
        return inputs, refused, faults, slowest

    def held(self) -> bytes:
        """The input that the child had begun when it was last heard of."""
        length = _HEAD.unpack_from(self._map, 0)[4]
        return bytes(self._map[_HEAD.size : _HEAD.size + length])

    def close(self) -> None:
        """Let the file go."""
        self._map.close()


@dataclass
class Counts:
    """One target's counts over all runs so far."""

    inputs: dict[str, int] = field(default_factory=dict)  # by engine
    seconds: float = 0.0  # wall time of the children
    refused: int = 0
    slowest: float = 0.0  # seconds
    edges: int = 0  # the most that one atheris child reached

    @property
    def all_inputs(self) -> int:
        """Inputs given by all engines."""
        return sum(self.inputs.values())


class Folder:
    """The folder of one target in the state."""

    def __init__(self, state: Path, target: Target) -> None:
        """Make the folder if need be."""
        self.path = state / target.name
        self.kept = self.path / "kept"
        self.faults = self.path / "faults"
        self.mended = self.path / "mended"
        for one in (self.kept, self.faults, self.mended):
            one.mkdir(parents=True, exist_ok=True)

    def counts(self) -> Counts:
        """What has been counted so far; nothing for a new target."""
        path = self.path / "counts.json"
        if not path.exists():
            return Counts()
        read: dict[str, Any] = json.loads(path.read_text())
        return Counts(**read)

    def write(self, counts: Counts) -> None:
        """Replace the counts in one step."""
        new = self.path / "counts.json.new"
        new.write_text(json.dumps(vars(counts), indent=1) + "\n")
        os.replace(new, self.path / "counts.json")

    def keep(self, fault: Fault) -> Path:
        """Save a fault; of two inputs for one fault the shorter stays."""
        path = self.faults / f"{fault.key}.bin"
        if not path.exists() or len(path.read_bytes()) > len(fault.data):
            path.write_bytes(fault.data)
            path.with_suffix(".txt").write_text(fault.told, errors="backslashreplace")
        return path

    def open_faults(self) -> list[Path]:
        """The inputs of faults not seen mended."""
        return sorted(self.faults.glob("*.bin"))

    def mend(self, path: Path) -> None:
        """Put a fault that no longer happens with the mended ones."""
        for one in (path, path.with_suffix(".txt")):
            if one.exists():
                one.replace(self.mended / one.name)
