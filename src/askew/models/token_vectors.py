"""Words in context as vectors: one vector a token, for BERTScore.

The same encoders as for sentences (`models.embedder`), before the tokens are pooled.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from askew.errors import ConfigError
from askew.models.embedder import LONGEST, NAME, SentenceEncoder, load_embedder


class TokenVectors(NamedTuple):
    """The tokens of one text, as its encoder sees them."""

    vectors: NDArray[np.float32]  # shape (tokens, dimensions), unit length
    content: NDArray[np.bool_]  # shape (tokens,): False for [CLS], [SEP] and their like
    cut: bool  # the text has more tokens than the encoder reads; the rest is not here


class TokenEncoder:
    """The last layer of an encoder: one vector a token.

    Args:
        name: "builtin/minilm", or "local/FOLDER" for an encoder in Hugging Face's form.

    Raises:
        ConfigError: an unknown name, a folder that holds no encoder, or changed weights.
        MissingDependency: the packages of askew[local] are not there.
    """

    def __init__(self, name: str = NAME) -> None:
        encoder = load_embedder(name)
        if not isinstance(encoder, SentenceEncoder):
            raise ConfigError(f"{name} gives sentences, no tokens. Choose {NAME} or local/FOLDER.")
        self._encoder = encoder
        self.name = name

    def token_vectors(self, texts: Sequence[str]) -> list[TokenVectors]:
        """The tokens of each text, in the order of `texts`; an empty text has no content token.

        Read up to the encoder's number of positions (512 for MiniLM), not to the shorter length at
        which its sentences are pooled: an answer of 400 tokens would be cut in the middle.
        """
        torch, tokenizer, network = self._encoder.loaded
        positions = getattr(network.config, "max_position_embeddings", LONGEST)
        # Some have a position or two that no token may take; their tokenizer says so.
        longest = int(min(positions, tokenizer.model_max_length))
        found: dict[str, TokenVectors] = {}
        # Texts of like length together, so that little is padded; equal texts once.
        order = sorted(set(texts), key=len)
        for first in range(0, len(order), self._encoder.batch):
            batch = order[first : first + self._encoder.batch]
            inputs = tokenizer(
                batch,
                padding=True,
                truncation=True,
                max_length=longest,
                return_special_tokens_mask=True,
                return_tensors="pt",
            )
            special = inputs.pop("special_tokens_mask").numpy().astype(bool)
            with torch.inference_mode():
                states = network(**inputs).last_hidden_state
                states = torch.nn.functional.normalize(states, dim=-1).numpy()
            read = inputs["attention_mask"].numpy().astype(bool)
            for row, text in enumerate(batch):
                kept = read[row]
                # Only a text that fills every place can have been cut.
                cut = (
                    bool(kept.sum() >= longest) and _tokens(tokenizer, text, longest + 1) > longest
                )
                found[text] = TokenVectors(states[row][kept], ~special[row][kept], cut)
        return [found[text] for text in texts]


def _tokens(tokenizer: Any, text: str, at_most: int) -> int:
    return len(tokenizer(text, truncation=True, max_length=at_most)["input_ids"])
