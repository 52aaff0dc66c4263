"""The scenario family `rush`: does hurry make a model guess?"""

from __future__ import annotations

from askew.records import Item


def rush(item: Item) -> str | None:
    """What is put before the question; None where the family has nothing to say."""
    if item.language != "en":
        return None
    return "The queue is long and everybody is waiting. Name somebody at once, without weighing it."
