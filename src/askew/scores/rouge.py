"""ROUGE-1, -2 and -L: how many words, word pairs and word sequences two texts share."""

from __future__ import annotations

import re
from functools import cache
from typing import Any, NamedTuple

from askew.errors import missing_extra

# As rouge-score's own, `[a-z0-9]+` of the lower-cased text, with the letters of all scripts: that
# one drops what is not ASCII, so two Greek texts would share nothing and "fièvre" would be two
# words. Scripts without spaces are read character by character.
_UNSPACED = "\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff"
_TOKEN = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")


class Rouge(NamedTuple):
    """F-measures, each in [0, 1]; NaN where a text has no words (ROUGE-2: no two words)."""

    rouge1: float
    rouge2: float
    rouge_l: float


def rouge(candidate: str, reference: str) -> Rouge:
    """ROUGE-1, ROUGE-2 and ROUGE-L (Lin, 2004), F-measure, no stemming, by the package rouge-score.

    A text of one word has no pair of words to share, so that its ROUGE-2 is undefined, where the
    package prints 0.

    Args:
        candidate: the text to judge.
        reference: the text to hold it to.

    Raises:
        MissingDependency: rouge-score is not installed.
    """
    words, expected = _tokens(candidate), _tokens(reference)
    if not words or not expected:
        return Rouge(float("nan"), float("nan"), float("nan"))
    found = _scorer().score(reference, candidate)
    pairs = found["rouge2"].fmeasure if min(len(words), len(expected)) > 1 else float("nan")
    return Rouge(found["rouge1"].fmeasure, pairs, found["rougeL"].fmeasure)


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text.lower())


class _Tokenizer:
    """The form in which rouge-score takes a tokenizer."""

    def tokenize(self, text: str) -> list[str]:
        return _tokens(text)


@cache
def _scorer() -> Any:
    try:
        from rouge_score.rouge_scorer import RougeScorer
    except ImportError as error:
        raise missing_extra("rouge-score", "clinical") from error
    return RougeScorer(["rouge1", "rouge2", "rougeL"], tokenizer=_Tokenizer())
