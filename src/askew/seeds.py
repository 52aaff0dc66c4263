"""One seed in; one independent random generator per named use out."""

from __future__ import annotations

import hashlib

import numpy as np


def generator(seed: int, *use: str) -> np.random.Generator:
    """A random generator that depends on the run's seed and on the named use alone.

    The order of calls, the number of items and the number of workers do not enter, so an item's
    draw is the same in every run, shard and resume.

    Args:
        seed: the run's seed, any non-negative integer.
        use: names that say what is drawn, e.g. ``("option_order", item.id)``.

    >>> int(generator(0, "option_order", "bbq/Age/0").integers(1000))
    581
    >>> int(generator(0, "option_order", "bbq/Age/0").integers(1000))
    581
    """
    # Length-prefixed, so that ("ab", "c") and ("a", "bc") are different uses.
    packed = b"".join(len(name.encode()).to_bytes(8, "big") + name.encode() for name in use)
    digest = hashlib.sha256(packed).digest()
    words = [int.from_bytes(digest[i : i + 4], "big") for i in range(0, 32, 4)]
    return np.random.default_rng(np.random.SeedSequence([seed, *words]))
