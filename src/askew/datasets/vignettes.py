"""Clinical data sets to vignettes: `load(DataSpec("starter"))`.

A set is a function `load(spec, *, seed, lenient) -> LoadedVignettes`. Other packages add sets by an
entry point of the group `askew.vignettes` that names such a function.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import cast

from askew.datasets.base import DataSpec, Problem
from askew.datasets.plug_ins import plug_in, plug_in_names
from askew.errors import AskewError, ConfigError, DataError, unknown_name
from askew.vignettes import Vignette

__all__ = ["BUILT_IN", "DataSpec", "LoadedVignettes", "load", "names"]

# name -> module below `askew.datasets` and its function
BUILT_IN: Mapping[str, tuple[str, str]] = {
    "diversity_medqa": ("diversity_medqa", "load"),
    "equitymedqa": ("equitymedqa", "load"),
    "own": ("own_vignettes", "load"),
    "starter": ("starter_vignettes", "load"),
    "zack_cases": ("zack", "load_cases"),
    "zack_nurse": ("zack", "load_nurse"),
}
_GROUP = "askew.vignettes"


@dataclass(frozen=True, slots=True)
class LoadedVignettes:
    """A clinical data set, read."""

    name: str
    vignettes: tuple[Vignette, ...]  # in the order of the files
    problems: tuple[Problem, ...] = ()
    checksums: Mapping[str, str] = field(default_factory=dict)  # file -> sha256 as it is stored

    @property
    def rejected(self) -> tuple[Problem, ...]:
        """The problems that cost a record."""
        return tuple(problem for problem in self.problems if problem.kind == "rejected")


def load(spec: DataSpec, *, seed: int = 0, lenient: bool = False) -> LoadedVignettes:
    """Read a clinical data set.

    Args:
        spec: which set, where it lies, and the set's own options.
        seed: for what a set draws; none of the built-in sets draws anything.
        lenient: leave out and report records that cannot be used, instead of raising.

    Raises:
        ConfigError: no set has this name, or the set has no such option; its plug-in cannot be
            imported or is no function.
        DataError: files are missing or, unless `lenient`, records cannot be used; the message
            lists them. Or its plug-in failed, or returned something else.
    """
    if spec.name in BUILT_IN:
        module_name, function = BUILT_IN[spec.name]
        module = importlib.import_module(f"askew.datasets.{module_name}")
        read = getattr(module, function)
        return cast("LoadedVignettes", read(spec, seed=seed, lenient=lenient))
    plug_in = _plug_in(spec.name)
    try:
        loaded = plug_in(spec, seed=seed, lenient=lenient)
    except AskewError:
        raise
    except Exception as trouble:  # somebody else's code may raise anything
        raise DataError(
            f"the plug-in for clinical data set {spec.name!r} failed: "
            f"{type(trouble).__name__}: {trouble}. Tell its author."
        ) from trouble
    if not isinstance(loaded, LoadedVignettes):
        raise DataError(
            f"the plug-in for clinical data set {spec.name!r} returned {type(loaded).__name__}, "
            "expected askew.datasets.vignettes.LoadedVignettes. Tell its author."
        )
    return loaded


def names() -> list[str]:
    """The names that `load` knows: the built-in sets and those of installed plug-ins."""
    return sorted({*BUILT_IN, *plug_in_names(_GROUP)})


def _plug_in(name: str) -> Callable[..., object]:
    found = plug_in("clinical data set", _GROUP, name)
    if found is not None:
        return found
    unknown = unknown_name("clinical data set", name, names())
    if "." in name or "/" in name:
        raise ConfigError(f"{unknown} A file of your own is data set 'own': own={name}.")
    raise unknown
