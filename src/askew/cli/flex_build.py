"""`askew flex build`."""

from __future__ import annotations


def build() -> None:
    """Not there yet."""
    raise NotImplementedError
