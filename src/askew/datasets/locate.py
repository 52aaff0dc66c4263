"""Where the files of a data set lie: a folder of several sets, the set's own, or a clone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from askew.cache import cache_folder
from askew.datasets.base import DataSpec
from askew.errors import DataError


def root_of(spec: DataSpec) -> Path:
    """The file or folder to look in: the one that was named, else the download cache.

    Raises:
        DataError: the path that was named does not exist.
    """
    if spec.path is None:
        return cache_folder()
    root = Path(spec.path)
    if not root.exists():
        raise DataError(
            f"{root}: no such file or folder. Check the path of data set {spec.name!r}."
        )
    return root


def find_file(root: Path, folders: Sequence[str], name: str) -> Path | None:
    """The first of `root/folder/name`, packed (`.gz`) or not, that exists."""
    for folder in folders:
        for candidate in (root / folder / name, root / folder / f"{name}.gz"):
            if candidate.is_file():
                return candidate
    return None


def not_found(spec: DataSpec, wanted: str, hint: str = "") -> DataError:
    """The error for a data set whose files are not where they were looked for."""
    if spec.path is None:
        return DataError(
            f"data set {spec.name!r} is not here yet: no {wanted} in {cache_folder()}. Get it with "
            f"`askew data get {spec.name}`, or name the folder that holds it: --data "
            f"{spec.name}=FOLDER."
            f"{hint}"
        )
    return DataError(
        f"{spec.path}: holds no {wanted} of data set {spec.name!r}. Name the set's own folder, a "
        f"folder with {spec.name}/ in it, or a clone of the repository it is published in."
    )


def checksum_name(path: Path, root: Path) -> str:
    """How a table of checksums calls a file: by its place below `root`, naming no home folder."""
    try:
        relative = path.relative_to(root)
    except ValueError:
        return path.name
    return relative.as_posix() if relative.parts else path.name
