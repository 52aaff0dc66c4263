"""A topic graph as a folder of `.npy` files, mapped from disk when it is opened, and a `meta.json`.

Opening reads the small parts and the ends of the large ones, so that millions of edges are there at
once; `verify=True` reads everything and compares it with the checksum.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.durable import sync_folder
from askew.errors import DataError
from askew.graphs.topics import MOST_NODES, TopicGraph

FORMAT = 1
META = "meta.json"
_KIND = "askew topic graph"
_BLOCK = 65_536  # bytes at each end of a file that its print is made of
_DTYPES = {
    "ids": "<i8",
    "starts": "<i8",
    "neighbours": "<i4",
    "direction": "|u1",
    "title_bytes": "|u1",
    "title_starts": "<i8",
    "domain_of": "<i2",
}
_AGAIN = "Build the graph again: askew boundary graph build."


@dataclass(frozen=True, slots=True)
class StoredGraph:
    """A graph that lies in a folder, and what is known of how it came about."""

    graph: TopicGraph
    source: str  # where it was read from, in words
    checksum: str  # of the graph when it was saved
    counts: Mapping[str, int] = field(default_factory=dict)  # what was kept and dropped, and why
    notes: tuple[str, ...] = ()


def is_graph_folder(path: Path) -> bool:
    """Whether a folder looks like one that `save_graph` has made."""
    return (path / META).is_file() and (path / "starts.npy").is_file()


def save_graph(
    graph: TopicGraph,
    folder: Path,
    *,
    source: str,
    counts: Mapping[str, int] | None = None,
    notes: tuple[str, ...] = (),
    overwrite: bool = False,
) -> None:
    """Write a graph; the folder is there whole or not at all.

    Args:
        graph: what to write.
        folder: a new folder, or an empty one.
        source: where the graph was read from, in words.
        counts: what was kept and dropped.
        notes: what a reader should know.
        overwrite: replace a graph that is there; any other folder is left alone all the same.

    Raises:
        DataError: something else is there, or it cannot be written.
    """
    check_place(folder, overwrite=overwrite)
    folder = folder.resolve()  # what a link leads to is replaced, not the link
    made = None
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
        made.chmod(0o755)  # mkdtemp keeps it to its owner
        stored = {name: _write(made / f"{name}.npy", array) for name, array in _arrays(graph)}
        meta = {
            "kind": _KIND,
            "format": FORMAT,
            "nodes": graph.size,
            "edges": graph.edges,
            "checksum": graph.checksum,
            "source": source,
            "counts": dict(counts or {}),
            "notes": list(notes),
            "domains": list(graph.domains),
            "arrays": stored,
        }
        text = json.dumps(meta, indent=1, ensure_ascii=True) + "\n"
        _flushed(made / META, text.encode("ascii"))
        sync_folder(made)
        _put(made, folder, overwrite)
        sync_folder(folder.parent)
    except OSError as error:
        raise DataError(
            f"{folder}: the graph cannot be written: {error.strerror}. Name another folder."
        ) from error
    finally:
        if made is not None:
            shutil.rmtree(made, ignore_errors=True)


def open_graph(folder: Path, *, verify: bool = False) -> StoredGraph:
    """The graph in a folder; its arrays stay on disk and are read where they are looked at.

    Args:
        folder: what `save_graph` has written.
        verify: read everything and compare it with the checksum.

    Raises:
        DataError: it is no such folder, or a file of it is missing, cut off, of another graph or
            written by a later askew.
    """
    meta = _read_meta(folder)
    arrays = {
        name: _open(folder / f"{name}.npy", meta["arrays"][name], dtype)
        for name, dtype in _DTYPES.items()
    }
    graph = TopicGraph(**arrays, domains=tuple(meta["domains"]))
    _check(folder, graph, meta)
    if verify:
        _verify(folder, graph, meta["checksum"])
    return StoredGraph(
        graph, meta["source"], meta["checksum"], meta["counts"], tuple(meta["notes"])
    )


def _arrays(graph: TopicGraph) -> list[tuple[str, NDArray[Any]]]:
    return [(name, array.astype(_DTYPES[name])) for name, array in graph.arrays().items()]


def check_place(folder: Path, *, overwrite: bool = False) -> None:
    """Refuse a place where no graph can be written, before work is spent on making one.

    Raises:
        DataError: something else is there, or a graph that is not to be replaced.
    """
    try:
        if not folder.exists() and not folder.is_symlink():
            return
    except OSError as error:  # a name that is too long
        raise DataError(
            f"{folder}: no graph can be kept there: {error.strerror}. Name another folder."
        ) from error
    if not folder.is_dir():
        raise DataError(f"{folder} is there already and is no folder. Name another.")
    if is_graph_folder(folder):
        if not overwrite:
            raise DataError(f"{folder} holds a graph already. Name another folder, or add --force.")
        ours = {META, *(f"{name}.npy" for name in _DTYPES)}
        others = sorted(path.name for path in folder.iterdir() if path.name not in ours)
        if others:
            raise DataError(
                f"{folder} holds a graph and other files ({', '.join(map(repr, others[:5]))}), "
                "which would be lost. Take them out, or name another folder."
            )
    elif any(folder.iterdir()):
        raise DataError(f"{folder} is not empty and holds no graph. Name a new folder.")


def _write(path: Path, array: NDArray[Any]) -> dict[str, Any]:
    with path.open("wb") as out:
        np.save(out, array, allow_pickle=False)
        out.flush()
        os.fsync(out.fileno())
    return {
        "dtype": array.dtype.str,
        "shape": list(array.shape),
        "bytes": path.stat().st_size,
        "print": _print(path),
    }


def _flushed(path: Path, data: bytes) -> None:
    with path.open("wb") as out:
        out.write(data)
        out.flush()
        os.fsync(out.fileno())


def _put(made: Path, folder: Path, overwrite: bool) -> None:
    """Move the new folder to its place, and an old graph out of it."""
    check_place(folder, overwrite=overwrite)  # again, as others may have written there
    if not is_graph_folder(folder):
        with suppress(OSError):
            folder.rmdir()  # an empty one
        os.rename(made, folder)  # fails where one that is not empty has come between
        return
    aside = Path(tempfile.mkdtemp(prefix=f".{folder.name}.old.", dir=folder.parent))
    try:
        os.rename(folder, aside / "graph")
        try:
            os.rename(made, folder)
        except OSError:
            os.rename(aside / "graph", folder)
            raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _print(path: Path) -> int:
    """CRC-32 of both ends of a file: tells files of different graphs apart without reading them."""
    with path.open("rb") as file:
        value = zlib.crc32(file.read(_BLOCK))
        with suppress(OSError):  # shorter than a block
            file.seek(-_BLOCK, os.SEEK_END)
        return zlib.crc32(file.read(_BLOCK), value)


def _read_meta(folder: Path) -> dict[str, Any]:
    path = folder / META
    try:
        meta = json.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError) as error:
        what = "is a file" if folder.is_file() else f"has no {META}"
        raise DataError(
            f"{folder} is no topic graph: it {what}. Name a folder that "
            "`askew boundary graph build` has made."
        ) from error
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}. Check the path.") from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: damaged or cut off ({error}). {_AGAIN}") from error
    if not isinstance(meta, dict) or meta.get("kind") != _KIND:
        raise DataError(f"{path}: not the description of a topic graph. {_AGAIN}")
    if meta.get("format") != FORMAT:
        raise DataError(
            f"{path}: field 'format' is {meta.get('format')!r}, expected {FORMAT}. "
            f"Use the askew that wrote it, or a newer one. {_AGAIN}"
        )
    _check_meta(path, meta)
    return meta


def _check_meta(path: Path, meta: dict[str, Any]) -> None:
    def whole(value: object) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and value >= 0

    def texts(value: object) -> bool:
        return isinstance(value, list) and all(isinstance(one, str) for one in value)

    arrays = meta.get("arrays")
    counts = meta.get("counts")
    sound = {
        "nodes": whole(meta.get("nodes")) and meta["nodes"] <= MOST_NODES,
        "edges": whole(meta.get("edges")),
        "checksum": isinstance(meta.get("checksum"), str),
        "source": isinstance(meta.get("source"), str),
        "counts": isinstance(counts, dict) and all(whole(one) for one in counts.values()),
        "notes": texts(meta.get("notes")),
        "domains": texts(meta.get("domains")),
        "arrays": isinstance(arrays, dict)
        and all(
            isinstance(arrays.get(name), dict)
            and isinstance(arrays[name].get("shape"), list)
            and all(whole(arrays[name].get(key)) for key in ("bytes", "print"))
            for name in _DTYPES
        ),
    }
    for name, is_sound in sound.items():
        if not is_sound:
            raise DataError(f"{path}: field {name!r} is missing or damaged. {_AGAIN}")


def _open(path: Path, stored: Mapping[str, Any], dtype: str) -> NDArray[Any]:
    try:
        size = path.stat().st_size
        if size != stored["bytes"]:
            raise DataError(
                f"{path}: {size:,} bytes, expected {stored['bytes']:,}: cut off, or of another "
                f"graph. {_AGAIN}"
            )
        if _print(path) != stored["print"]:
            raise DataError(f"{path}: damaged, or of another graph. {_AGAIN}")
        # A file without entries cannot be mapped.
        mapped = np.load(
            path, mmap_mode="r" if 0 not in stored["shape"] else None, allow_pickle=False
        )
    except DataError:
        raise
    except FileNotFoundError as error:
        raise DataError(f"{path}: missing. {_AGAIN}") from error
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}. Check the path.") from error
    except Exception as error:  # NumPy reads the header as a Python literal, in several ways
        raise DataError(f"{path}: not a NumPy file ({error}). {_AGAIN}") from error
    array = np.asarray(mapped)  # a plain view: memmap's own slicing is slow
    if array.dtype.str != dtype or list(array.shape) != stored["shape"]:
        raise DataError(
            f"{path}: holds {array.dtype.str} {array.shape}, expected {dtype} "
            f"{tuple(stored['shape'])}. {_AGAIN}"
        )
    return array


def _check(folder: Path, graph: TopicGraph, meta: Mapping[str, Any]) -> None:
    """Refuse arrays that do not fit each other."""
    nodes, entries = meta["nodes"], len(graph.neighbours)
    lengths = {
        "ids": nodes,
        "starts": nodes + 1,
        "title_starts": nodes + 1,
        "domain_of": nodes,
        "direction": entries,
    }
    for name, expected in lengths.items():
        found = getattr(graph, name).shape
        if found != (expected,):
            raise DataError(f"{folder / name}.npy: shape {found}, expected ({expected},). {_AGAIN}")
    for name, end in (("starts", entries), ("title_starts", len(graph.title_bytes))):
        starts = getattr(graph, name)
        if starts[0] != 0 or starts[-1] != end or (np.diff(starts) < 0).any():
            raise DataError(f"{folder / name}.npy: does not fit the other files. {_AGAIN}")
    if nodes and not -1 <= graph.domain_of.min() <= graph.domain_of.max() < len(graph.domains):
        raise DataError(f"{folder / 'domain_of'}.npy: does not fit {META}. {_AGAIN}")
    if entries and not 0 <= graph.neighbours.min() <= graph.neighbours.max() < nodes:
        raise DataError(f"{folder / 'neighbours'}.npy: a node that is not there. {_AGAIN}")
    if graph.edges != meta["edges"]:
        raise DataError(f"{folder / 'direction'}.npy: does not fit {META}. {_AGAIN}")


def _verify(folder: Path, graph: TopicGraph, checksum: str) -> None:
    if graph.checksum != checksum:
        raise DataError(f"{folder}: the files are not as they were written. {_AGAIN}")
