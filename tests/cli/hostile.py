"""Applications that answer badly."""

from __future__ import annotations


def evil(prompt: str) -> str:
    """A spreadsheet formula with half a character."""
    return "=1+1 \ud83d"


def failing(prompt: str) -> str:
    """No answer, ever."""
    raise RuntimeError("the application is down")
