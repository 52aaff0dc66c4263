"""A folder in memory, where there is one, for parsers that take a file and not its bytes."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path


@cache
def scratch() -> Path:
    """This process's folder; gone when the process ends."""
    memory = Path("/dev/shm")
    folder = Path(
        tempfile.mkdtemp(
            # By the process's number: libFuzzer ends a process without its exit functions, and
            # `run.py` takes the folder away then.
            prefix=f"askew-fuzz-{os.getpid()}-",
            dir=memory if memory.is_dir() else None,
        )
    )
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def written(name: str, data: bytes) -> Path:
    """A file with these bytes; the next of the same name takes its place."""
    path = scratch() / name
    path.write_bytes(data)
    return path
