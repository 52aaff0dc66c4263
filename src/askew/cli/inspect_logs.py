"""`askew export inspect` and `askew import inspect`."""

from __future__ import annotations


def export_inspect() -> None:
    """Not there yet."""
    raise NotImplementedError


def import_inspect() -> None:
    """Not there yet."""
    raise NotImplementedError
