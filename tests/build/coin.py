"""A model that answers by a coin, the neutral option or another, whatever the scenario."""

from __future__ import annotations

import random

from tests.build.planted import letter

_COIN = random.Random(0)


def answer(prompt: str) -> str:
    """Heads neutral, tails biased, whatever the prompt says."""
    return letter(prompt, biased=_COIN.random() < 0.5)
