"""Trained policies on disk: safetensors, with what they are and how they came about as JSON.

One file holds the arrays and, in the format's own metadata, one JSON object under the key "askew":
the kind of policy, the version of its layout, its features' names, and the settings, seed and
figures of its training. Nothing in it is ever executed.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.errors import DataError, missing_extra

# The layout of the metadata; raise it when an older askew could misread a newer file.
FORMAT = 1
_KEY = "askew"


@dataclass(frozen=True, slots=True, eq=False)
class Checkpoint:
    """A trained policy: its arrays by name, and what they are."""

    tensors: dict[str, NDArray[Any]]
    meta: dict[str, Any] = field(default_factory=dict)  # plain JSON; "kind" says whose it is

    @property
    def kind(self) -> str:
        """Which policy it belongs to: "learned", "gmrl_bd"."""
        return str(self.meta.get("kind", ""))


def save_checkpoint(
    path: str | Path, tensors: Mapping[str, NDArray[Any]], meta: Mapping[str, Any]
) -> None:
    """Write a checkpoint; the file is whole or not there, also after a kill.

    The same tensors and meta give the same bytes.

    Args:
        path: ends with ".safetensors" by custom.
        tensors: arrays of numbers or truth values, by name.
        meta: JSON-able, with "kind"; `format` is added. NaN is kept as null, as JSON has none.

    Raises:
        ValueError: "kind" is missing, or something in `meta` is no JSON.
        TypeError: a tensor is no array of numbers.
    """
    _packages()
    from safetensors.numpy import save

    if not meta.get("kind"):
        raise ValueError('meta needs "kind": the name of the policy that the checkpoint is for')
    for name, array in tensors.items():
        if not isinstance(array, np.ndarray) or array.dtype.kind not in "biuf":
            raise TypeError(f"tensor {name!r} is no array of numbers or truth values")
    text = json.dumps(_plain({**meta, "format": FORMAT}), sort_keys=True, allow_nan=False)
    # C order: safetensors writes the buffer as it lies, and a transposed view lies otherwise.
    whole = {name: np.ascontiguousarray(array) for name, array in tensors.items()}
    data = save(whole, metadata={_KEY: text})
    target = Path(path)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as handle:
            handle.write(data)
            handle.flush()
            os.fsync(handle.fileno())
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def load_checkpoint(path: str | Path, kind: str | None = None) -> Checkpoint:
    """Read a checkpoint.

    Args:
        path: a file of `save_checkpoint`.
        kind: whose checkpoint it must be; None: anyone's.

    Raises:
        DataError: the file is not there, cut off, not of askew, of a newer layout or of another
            kind; the message names the file and the mend.
    """
    _packages()
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(str(path), framework="numpy") as handle:
            notes = handle.metadata() or {}
            tensors = {name: handle.get_tensor(name) for name in sorted(handle.keys())}
    except FileNotFoundError:
        raise DataError(
            f"{path}: there is no such checkpoint. Make one with: askew boundary train"
        ) from None
    except (SafetensorError, OSError, ValueError, TypeError) as error:
        raise DataError(
            f"{path}: is no whole safetensors file ({error}). If it was copied, copy it again; "
            "else train anew with: askew boundary train"
        ) from None
    meta = _meta(path, notes)
    found = meta["kind"]
    if kind is not None and found != kind:
        raise DataError(
            f"{path}: is a checkpoint of {found!r}, expected one of {kind!r}. "
            f"Name a checkpoint of {kind!r}, or use this one with the policy {found!r}."
        )
    return Checkpoint(tensors, meta)


def tensor(checkpoint: Checkpoint, name: str, path: str | Path) -> NDArray[Any]:
    """One array of a checkpoint, which must be there and finite.

    Raises:
        DataError: it is not.
    """
    found = checkpoint.tensors.get(name)
    if found is None:
        raise DataError(
            f"{path}: has no tensor {name!r}. It was not written by this version; train anew with: "
            "askew boundary train"
        )
    if found.dtype.kind == "f" and not np.isfinite(found).all():
        raise DataError(
            f"{path}: tensor {name!r} holds numbers that are not finite. Train anew with a lower "
            "learning rate."
        )
    return found


def _meta(path: str | Path, notes: Mapping[str, str]) -> dict[str, Any]:
    mend = "Name a file that `askew boundary train` wrote."
    if _KEY not in notes:
        raise DataError(f"{path}: is a safetensors file, but not one of askew's policies. {mend}")
    try:
        meta = json.loads(notes[_KEY])
    except ValueError:
        raise DataError(f"{path}: its metadata is no JSON. {mend}") from None
    if not isinstance(meta, dict) or not isinstance(meta.get("kind"), str):
        raise DataError(f"{path}: its metadata does not say which policy it is of. {mend}")
    version = meta.get("format")
    if not isinstance(version, int) or not 1 <= version <= FORMAT:
        raise DataError(
            f"{path}: is of format {version!r}, and this askew reads 1 to {FORMAT}. "
            "Update askew, or train anew."
        )
    return meta


def _plain(value: Any) -> Any:
    """As JSON has it: numpy's numbers as Python's, NaN and infinities as null."""
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise ValueError(f"meta holds {type(value).__name__}, which is no JSON")


def _packages() -> None:
    try:
        import safetensors  # noqa: F401
    except ImportError:
        raise missing_extra("safetensors", "boundary") from None
