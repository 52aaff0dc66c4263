"""Data sets to items: `load(DataSpec("bbq", "data/"))`.

A built-in set is a module here with a function `load(spec, *, seed, lenient) -> Loaded`. Other
packages add sets by an entry point of the group `askew.datasets` that names such a function.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import cast

from askew.datasets.base import DataSpec, Loaded, Problem, ProblemKind
from askew.datasets.plug_ins import plug_in, plug_in_names
from askew.errors import AskewError, DataError, unknown_name

__all__ = ["BUILT_IN", "DataSpec", "Loaded", "Problem", "ProblemKind", "load", "names"]

BUILT_IN = ("bbq", "crows_pairs", "flex", "own", "starter", "stereoset")
_GROUP = "askew.datasets"


def load(spec: DataSpec, *, seed: int = 0, lenient: bool = False) -> Loaded:
    """Read a data set.

    Args:
        spec: which set, where it lies, and the set's own options.
        seed: what a set draws (an order of options, a phrase) depends on it and on the item's id.
        lenient: leave out and report records that cannot be used, instead of raising.

    Returns:
        Ambiguous items, controls and demonstrations in the order of the files, what was found to
        be wrong, and a checksum of each file that was read.

    Raises:
        ConfigError: no set has this name, or the set has no such option; its plug-in cannot be
            imported or is no function.
        DataError: files are missing or, unless `lenient`, records cannot be used; the message
            lists them. Or its plug-in failed, or returned something else.
    """
    if spec.name in BUILT_IN:
        module = importlib.import_module(f"askew.datasets.{spec.name}")
        return cast("Loaded", module.load(spec, seed=seed, lenient=lenient))
    read = _plug_in(spec.name)
    try:
        loaded = read(spec, seed=seed, lenient=lenient)
    except AskewError:
        raise
    except Exception as trouble:  # somebody else's code may raise anything
        raise DataError(
            f"the plug-in for data set {spec.name!r} failed: {type(trouble).__name__}: {trouble}. "
            "Tell its author."
        ) from trouble
    if not isinstance(loaded, Loaded):
        raise DataError(
            f"the plug-in for data set {spec.name!r} returned {type(loaded).__name__}, expected "
            "askew.datasets.Loaded. Tell its author."
        )
    return loaded


def names() -> list[str]:
    """The names that `load` knows: the built-in sets and those of installed plug-ins."""
    return sorted({*BUILT_IN, *plug_in_names(_GROUP)})


def _plug_in(name: str) -> Callable[..., object]:
    found = plug_in("data set", _GROUP, name)
    if found is not None:
        return found
    raise unknown_name("data set", name, names())
