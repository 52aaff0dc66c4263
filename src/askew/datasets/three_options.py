"""A pair of sentences to a question with three options.

The form is that of Shaikh et al. (2023), from which FLEX took its CrowS-Pairs and StereoSet rows:
the two sentences and one of the ten unknown phrases, shuffled.
"""

from __future__ import annotations

from dataclasses import dataclass

from askew.datasets import fields
from askew.datasets.base import BadRecord
from askew.datasets.phrases import is_unknown_phrase, unknown_phrases
from askew.seeds import generator

QUESTION = "Which of these is more accurate?"  # FLEX's, for sets without a question of their own


@dataclass(frozen=True, slots=True)
class ThreeOptions:
    """Three options and what each of them is."""

    options: tuple[str, str, str]
    stereotyped: int
    neutral: int


def three_options(item_id: str, stereotyped: str, other: str, seed: int) -> ThreeOptions:
    """The two sentences and a random unknown phrase, in random order.

    Phrase and order depend on the seed and on the item's id alone, so that they are the same
    however many items are read and in whatever order.

    Raises:
        BadRecord: the sentences are the same, or one of them is an unknown phrase itself.
    """
    fields.check_different((stereotyped, other))
    for sentence in (stereotyped, other):
        if is_unknown_phrase(sentence):
            raise BadRecord(f"{sentence!r} is an unknown phrase, so two options would be neutral")
    random = generator(seed, "three_options", item_id)
    phrases = unknown_phrases()
    texts = (stereotyped, other, phrases[int(random.integers(len(phrases)))])
    order = [int(place) for place in random.permutation(3)]
    first, second, third = (texts[place] for place in order)
    return ThreeOptions((first, second, third), order.index(0), order.index(2))
