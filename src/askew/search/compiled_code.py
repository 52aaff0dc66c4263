"""Numba's compiler, where it is installed; only modules that are loaded lazily may import this."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from askew.errors import missing_extra

try:
    import numba
except ImportError as error:
    raise missing_extra("numba", "boundary") from error

Routine = TypeVar("Routine", bound=Callable[..., Any])


def compiled(routine: Routine) -> Routine:
    """The routine compiled at its first call; kept on disk where there is a place for it."""
    try:
        made: Routine = numba.njit(cache=True)(routine)
    except RuntimeError:  # neither the package's folder nor the user's cache can be written
        made = numba.njit(routine)
    return made
