"""What a survey can be made of: scenarios whose pairs are known for both arms, not yet blinded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from askew.survey.records import QuestionAnswer

# What the page calls the paper's attributes, and what other names stand for them.
_SHOWN = {"place": "location", "ethnicity": "race", "sex": "gender"}
ATTRIBUTES = ("age", "gender", "location", "race")


@dataclass(frozen=True, slots=True)
class Candidate:
    """One scenario with a pair of questions and answers for each arm."""

    name: str  # the vignette's id, or the scenario's name in the user's file
    ground_truth: str
    by_arm: Mapping[str, tuple[QuestionAnswer, ...]]
    true_attributes: tuple[str, ...] | None  # None = nobody has said
    source: Mapping[str, Any]


def shown_attribute(name: str) -> str:
    """An attribute as raters are asked about it.

    >>> [shown_attribute(name) for name in ("place", "Age ", "insurance")]
    ['location', 'age', 'insurance']
    """
    folded = " ".join(name.split()).casefold()
    return _SHOWN.get(folded, folded)
