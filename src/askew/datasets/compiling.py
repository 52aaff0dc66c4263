"""Loops compiled by numba: where a module of them is imported, and how one is compiled."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any, TypeVar

from askew.errors import missing_extra

Routine = TypeVar("Routine", bound=Callable[..., Any])


def compiled_module(name: str) -> ModuleType:
    """A module whose loops are compiled, imported when it is first used.

    Raises:
        MissingDependency: numba is not installed.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        if error.name not in {"numba", "llvmlite"}:
            raise
        raise missing_extra("numba", "boundary") from error


def compiled(routine: Routine) -> Routine:
    """The routine compiled at its first call; kept on disk where there is a place for it."""
    import numba

    try:
        made: Routine = numba.njit(cache=True, nogil=True)(routine)
    except RuntimeError:  # neither the package's folder nor the user's cache can be written
        made = numba.njit(nogil=True)(routine)
    return made
