"""ROUGE: rouge-score's own figures on English, and other scripts as well."""

from __future__ import annotations

import math
import string
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askew.errors import MissingDependency
from askew.scores import rouge as module
from askew.scores.rouge import rouge

rouge_scorer = pytest.importorskip(
    "rouge_score.rouge_scorer", reason="askew[clinical] is not installed"
)

letters = st.text(string.ascii_letters + string.digits + " .,-_'\n", max_size=60)


@settings(deadline=None)
@given(letters, letters)
def test_on_ascii_it_is_rouge_score_itself(candidate, reference):
    theirs = rouge_scorer.RougeScorer(["rouge1", "rouge2", "rougeL"]).score(reference, candidate)
    ours = rouge(candidate, reference)
    for name, value in zip(("rouge1", "rouge2", "rougeL"), ours, strict=True):
        # What is undefined here is printed as 0 there.
        assert theirs[name].fmeasure == pytest.approx(0.0 if math.isnan(value) else value)


def test_it_is_what_the_definition_gives_by_hand():
    found = rouge("a fever and a rash", "fever and rash")
    assert found.rouge1 == pytest.approx(2 * (3 / 5) * 1 / (3 / 5 + 1))  # 3 of 5, 3 of 3
    assert found.rouge2 == pytest.approx(2 * (1 / 4) * (1 / 2) / (1 / 4 + 1 / 2))  # "fever and"
    assert found.rouge_l == pytest.approx(2 * (3 / 5) * 1 / (3 / 5 + 1))


@pytest.mark.parametrize("text", ["πυρετός και βήχας", "発熱と咳", "fièvre élevée", "لحمى وسعال"])
def test_a_text_in_another_script_matches_itself(text):
    assert rouge(text, text) == (1.0, 1.0, 1.0)


def test_a_text_without_words_has_no_score():
    for candidate, reference in [("", "fever"), ("fever", "…"), ("", "")]:
        assert all(map(math.isnan, rouge(candidate, reference)))


def test_a_single_word_has_no_pairs_of_words():
    found = rouge("It is probably malaria", "malaria")
    assert math.isnan(found.rouge2)
    assert found.rouge1 > 0


def test_without_the_package_it_says_what_to_install(monkeypatch):
    module._scorer.cache_clear()
    monkeypatch.setitem(sys.modules, "rouge_score.rouge_scorer", None)
    with pytest.raises(MissingDependency, match=r"askew\[clinical\]"):
        rouge("fever", "fever")
    module._scorer.cache_clear()
