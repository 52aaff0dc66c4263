"""Data sets that other packages bring, by their entry points."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from askew.errors import ConfigError


def plug_in(kind: str, group: str, name: str) -> Callable[..., object] | None:
    """The function behind an entry point; None where no package has one of this name.

    Args:
        kind: what messages call it: "data set".
        group: of entry points: "askew.datasets".
        name: the data set's.

    Raises:
        ConfigError: it cannot be imported, or is no function.
    """
    from importlib.metadata import entry_points

    for point in entry_points(group=group, name=name):
        try:
            found = point.load()
        except Exception as trouble:  # somebody else's code may raise anything
            raise ConfigError(
                f"the plug-in for {kind} {name!r} ({point.value}) cannot be imported: "
                f"{type(trouble).__name__}: {trouble}. Tell its author, or remove it."
            ) from trouble
        if not callable(found):
            raise ConfigError(
                f"the plug-in for {kind} {name!r} ({point.value}) is a {type(found).__name__}. "
                "Point its entry point to a function load(spec, *, seed, lenient)."
            )
        return cast("Callable[..., object]", found)
    return None


def plug_in_names(group: str) -> list[str]:
    """The names of all entry points of a group."""
    from importlib.metadata import entry_points

    return [point.name for point in entry_points(group=group)]
