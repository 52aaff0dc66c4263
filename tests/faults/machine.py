"""Faults of the machine: a disk that is full or cannot be written to, a clock that goes back."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

# Steps back by a minute twenty times a second, as seen by whoever is run under it.
_CLOCK = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/time.h>
#include <time.h>
static int (*real)(clockid_t, struct timespec *);
static long back(void) {
    static struct timespec first;
    struct timespec now;
    real(CLOCK_MONOTONIC, &now);
    if (!first.tv_sec) first = now;
    double passed = (now.tv_sec - first.tv_sec) + (now.tv_nsec - first.tv_nsec) / 1e9;
    return 60L * (long)(passed * 20);
}
int clock_gettime(clockid_t clock, struct timespec *out) {
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int code = real(clock, out);
    if (clock == CLOCK_REALTIME && !code) out->tv_sec -= back();
    return code;
}
int gettimeofday(struct timeval *restrict out, void *restrict zone) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    out->tv_sec = now.tv_sec;
    out->tv_usec = now.tv_nsec / 1000;
    return 0;
}
time_t time(time_t *out) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out) *out = now.tv_sec;
    return now.tv_sec;
}
"""


def backward_clock(folder: Path) -> dict[str, str] | None:
    """The environment under which a process sees its clock go back; None without a C compiler."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None or not Path("/proc").is_dir():
        return None
    source, library = folder / "clock.c", folder / "clock.so"
    if not library.exists():
        source.write_text(_CLOCK, encoding="utf-8")
        made = subprocess.run(
            [compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(source), "-ldl"],
            capture_output=True,
            check=False,
        )
        if made.returncode:
            return None
    return {"LD_PRELOAD": str(library)}


@cache
def may_mount() -> bool:
    """Whether this process may mount a file system of its own."""
    if os.geteuid() != 0 or shutil.which("mount") is None:
        return False
    import tempfile

    with tempfile.TemporaryDirectory() as place:
        if _mount("-t", "tmpfs", "-o", "size=64k", "tmpfs", place):
            return False
        _unmount(Path(place))
    return True


@contextmanager
def small_disk(place: Path, kibibytes: int) -> Iterator[None]:
    """A file system of this size, mounted on a new folder."""
    place.mkdir()
    if _mount("-t", "tmpfs", "-o", f"size={kibibytes}k", "tmpfs", str(place)):
        raise OSError(f"{place} cannot be mounted on")
    try:
        yield
    finally:
        _unmount(place)


def resize(place: Path, kibibytes: int) -> None:
    """Give a small disk another size."""
    _mount("-o", f"remount,size={kibibytes}k", str(place))


def fill(place: Path) -> None:
    """Leave no room on a disk."""
    with suppress(OSError), (place / "filler").open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))


@contextmanager
def read_only(place: Path) -> Iterator[None]:
    """The folder, on a file system that takes no change."""
    _mount("--bind", str(place), str(place))
    _mount("-o", "remount,ro,bind", str(place))
    try:
        yield
    finally:
        _unmount(place)


def _mount(*arguments: str) -> int:
    return subprocess.run(["mount", *arguments], capture_output=True, check=False).returncode


def _unmount(place: Path) -> None:
    # Lazily: a process that was killed may hold a file open for a moment.
    subprocess.run(["umount", "--lazy", str(place)], capture_output=True, check=False)
