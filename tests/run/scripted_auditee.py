"""One scripted model for all three audits: what is planted in it is known beforehand."""

from __future__ import annotations

from tests.audits import planted, scripted_clinic, scripted_leanings


def target(text: str) -> str:
    """A persona turns it, patients are all one to it, and it leans on some topics."""
    if planted.NEUTRAL.search(text):
        return planted.leaning(text)
    return scripted_clinic.even(text) if "Case:" in text else scripted_leanings.target(text)


def stubborn(text: str) -> str:
    """The same, but no persona turns it."""
    neutral = planted.NEUTRAL.search(text)
    return f"({neutral['letter']})" if neutral else target(text)


def judge(text: str) -> str:
    """Judges both kinds of answers."""
    return scripted_leanings.judge(text) if "one_sided" in text else scripted_clinic.judge(text)
