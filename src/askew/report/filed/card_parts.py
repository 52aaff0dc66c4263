"""What the cards of built sets, injections and runs have in common: sizes and licences."""

from __future__ import annotations

import math

_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (math.inf, "n>100K"))
# Licence of what a row is made of, as Hugging Face names it, and in words.
_LICENCES = {
    "bbq": ("cc-by-4.0", "CC BY 4.0 (Parrish et al., 2022)"),
    "crows_pairs": ("cc-by-sa-4.0", "CC BY-SA 4.0 (Nangia et al., 2020)"),
    "stereoset": ("cc-by-sa-4.0", "CC BY-SA 4.0 (Nadeem et al., 2021)"),
    "starter": ("apache-2.0", "Apache-2.0 (askew's starter set)"),
}
OWN_LICENCE = ("other", "whatever you hold it under: it is no set that askew knows")


def size_category(rows: int) -> str:
    """How large a set is, in Hugging Face's words.

    >>> size_category(999), size_category(1_000), size_category(10**9)
    ('n<1K', '1K<n<10K', 'n>100K')
    """
    return next(words for top, words in _SIZES if rows < top)


def licence_of(source: str) -> tuple[str, str]:
    """The licence of a source's items: as Hugging Face names it, and in words.

    >>> licence_of("bbq")
    ('cc-by-4.0', 'CC BY 4.0 (Parrish et al., 2022)')
    """
    return _LICENCES.get(source, OWN_LICENCE)
