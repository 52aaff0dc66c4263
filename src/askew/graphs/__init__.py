"""Text to facts about a patient; asks no model."""

from __future__ import annotations

from askew.graphs.extract import extract, extract_many
from askew.graphs.parsing import parse
from askew.graphs.rules import RULE_SETS, RuleSet, explain, relevance, rule_set
from askew.graphs.scoring import Counts, Scoring, score

__all__ = [
    "RULE_SETS",
    "Counts",
    "RuleSet",
    "Scoring",
    "explain",
    "extract",
    "extract_many",
    "parse",
    "relevance",
    "rule_set",
    "score",
]
