"""Build wheel and sdist twice, in two places and at two times, and see that they are the same.

    python release/build.py --out dist

The wheel is then made once more from the sdist, and is the same again. Needs `build` and
`hatchling` beside this Python; nothing is downloaded.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EPOCH = "1764547200"  # 2025-12-01, the time that every file in the archives bears
# What the archives are made of; a folder of work holds much else.
PARTS = ("src", "docs", "examples", "pyproject.toml")
FILES = ("README.md", "LICENSE", "CHANGELOG.md", "SECURITY.md", "constraints.txt")


class NotTheSame(Exception):
    """Two builds of the same files differ."""


def built(source: Path, out: Path, kind: str) -> Path:
    """One archive of the project at `source`: kind "wheel" or "sdist"."""
    command = [sys.executable, "-m", "build", "--no-isolation", f"--{kind}", "--outdir", str(out)]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": EPOCH}
    subprocess.run([*command, str(source)], check=True, capture_output=True, env=environment)
    (made,) = out.glob("*.whl" if kind == "wheel" else "*.tar.gz")
    return made


def copied(target: Path, *, moment: float) -> Path:
    """The project's files somewhere else, all of another time, with another mask."""
    target.mkdir(parents=True)
    passed = shutil.ignore_patterns("__pycache__", "*.pyc", ".*")
    for name in PARTS + FILES:
        place = ROOT / name
        if place.is_dir():
            shutil.copytree(place, target / name, ignore=passed)
        elif place.is_file():
            shutil.copy(place, target / name)
    for file in target.rglob("*"):
        os.utime(file, (moment, moment))
    return target


def reproduced(work: Path) -> dict[str, Path]:
    """Wheel and sdist, each of which two builds agree on.

    Raises:
        NotTheSame: they do not.
    """
    first = copied(work / "one", moment=1_600_000_000)
    second = copied(work / "a longer place" / "two", moment=1_700_000_000)
    made: dict[str, Path] = {}
    for kind in ("sdist", "wheel"):
        one = built(first, work / f"{kind}-1", kind)
        two = built(second, work / f"{kind}-2", kind)
        _same(one, two)
        made[kind] = one
    with tarfile.open(made["sdist"]) as packed:
        packed.extractall(work / "unpacked", filter="data")
    (unpacked,) = (work / "unpacked").iterdir()
    _same(made["wheel"], built(unpacked, work / "wheel-3", "wheel"))
    return made


def sha256(file: Path) -> str:
    """64 hex digits."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _same(one: Path, two: Path) -> None:
    if sha256(one) != sha256(two):
        raise NotTheSame(f"{one} and {two} differ")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description="Build wheel and sdist, and see that builds agree."
    )
    parser.add_argument("--out", type=Path, default=Path("dist"))
    out: Path = parser.parse_args().out
    with tempfile.TemporaryDirectory() as temporary:
        out.mkdir(parents=True, exist_ok=True)
        for archive in reproduced(Path(temporary)).values():
            shutil.copy(archive, out / archive.name)
            print(f"{sha256(archive)}  {archive.name}")
