"""`askew export lm-eval` and `askew import lm-eval`."""

from __future__ import annotations


def export_lm_eval() -> None:
    """Not there yet."""
    raise NotImplementedError


def import_lm_eval() -> None:
    """Not there yet."""
    raise NotImplementedError
