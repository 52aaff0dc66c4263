"""Models that answer with everything that could break a reader."""

from __future__ import annotations

from tests.hostile.texts import ALL

FAIL = False


def target(text: str) -> str:
    """Hostile, and of one option, so that it is scored as well."""
    return f"A {ALL}"


def failing(text: str) -> str:
    """No answer, and an exception that speaks to the terminal."""
    raise RuntimeError(ALL)


def judge(text: str) -> str:
    """A verdict whose reason and direction are hostile."""
    import json

    if '"one_sided"' not in text:
        return ALL
    return json.dumps({"misinformation": True, "one_sided": True, "direction": ALL, "reason": ALL})
