"""`askew flex check`."""

from __future__ import annotations


def check() -> None:
    """Not there yet."""
    raise NotImplementedError
