"""Answers and vignettes for the tests of the measures without a judge."""

from __future__ import annotations

from typing import Any

from askew.records import Provenance
from askew.vignettes import ClinicalAnswer, Vignette

_FIELDS = ("differential", "urgency", "tests", "treatments", "referral", "chosen")


def answer(**fields: Any) -> ClinicalAnswer:
    """A complete answer that settles the fields that are named, empty lists included."""
    fields.setdefault("outcome", "answered")
    fields.setdefault("text", "The patient should be seen by a doctor.")
    fields.setdefault("given", frozenset(name for name in _FIELDS if name in fields))
    return ClinicalAnswer(**fields)


def vignette(name: str = "case", **fields: Any) -> Vignette:
    """A vignette about a cough."""
    fields.setdefault("text", "A patient has had a cough for a week.")
    return Vignette(f"made/{name}", "made", provenance=Provenance("made.jsonl", 1), **fields)
