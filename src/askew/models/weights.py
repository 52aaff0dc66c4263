"""The files of a model on this machine: where they lie, and their checksums."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from askew.cache import cache_folder
from askew.errors import ConfigError, missing_extra
from askew.models.gguf_header import check_gguf
from askew.models.model_folder import check_model_folder

_WEIGHTS = (".safetensors", ".bin", ".gguf", ".pt", ".pth")
# What else in a folder can change an answer: configuration, vocabulary, chat template.
_SETTINGS = (".json", ".jinja", ".model", ".txt", ".tiktoken")


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """A folder in Hugging Face's form, or one GGUF file in a folder."""

    folder: Path
    gguf: str | None = None  # the file's name in `folder`

    @property
    def label(self) -> str:
        """The last part of the path, without the user's folders before it."""
        return self.gguf or self.folder.name

    def weights_sha256(self) -> str:
        """One checksum over the names and contents of the weight files."""
        if self.gguf is not None:
            return combined_sha256([self.folder / self.gguf])
        return combined_sha256(files_with(self.folder, _WEIGHTS))

    def settings_sha256(self) -> str:
        """The same over configuration and tokenizer; of nothing for a GGUF, which holds them."""
        return combined_sha256([] if self.gguf else files_with(self.folder, _SETTINGS))


def locate(
    model: str, *, revision: str | None, download: bool, remote_code: bool | None = None
) -> ModelFiles:
    """Find a folder, a GGUF file or a model of the Hugging Face hub, and see that it is data only.

    Args:
        model: a path, or "organisation/name" on the hub.
        revision: a branch, tag or commit on the hub.
        download: whether the hub may be asked; otherwise only its cache on this machine is.
        remote_code: see `model_folder.check_model_folder`.

    Raises:
        ConfigError: there is nothing of the kind, its weights are not in safetensors or GGUF, or
            code of the folder would run.
        MissingDependency: the packages of askew[local] are not there.
    """
    path = Path(model).expanduser()
    if path.is_file():
        if path.suffix.lower() != ".gguf":
            raise ConfigError(f"{path} is a file, expected a .gguf file or a model's folder.")
        check_gguf(path)
        return ModelFiles(path.parent, path.name)
    if not path.is_dir():
        path = _from_hub(model, revision, download, remote_code is True)
    if not (path / "config.json").is_file():
        raise ConfigError(f"{path} holds no config.json, so it is no model's folder.")
    check_model_folder(path, remote_code=remote_code)
    return ModelFiles(path)


def _from_hub(model: str, revision: str | None, download: bool, with_code: bool) -> Path:
    if model.count("/") != 1 or model.startswith(("/", ".", "~")):
        raise ConfigError(f"{model}: no such file or folder, and not a hub id (organisation/name).")
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HfHubHTTPError, HFValidationError
    except ImportError as error:
        raise missing_extra("huggingface_hub", "local") from error
    # Pickled weights can run code as they are loaded, so only safetensors are fetched.
    patterns = ["*.safetensors", *(f"*{suffix}" for suffix in _SETTINGS)]
    patterns += ["*.py"] if with_code else []
    try:
        return Path(
            snapshot_download(
                model, revision=revision, allow_patterns=patterns, local_files_only=not download
            )
        )
    except (OSError, HfHubHTTPError, HFValidationError, ValueError) as error:
        where = "on the hub" if download else "in the hub's cache on this machine"
        mend = "Check the name." if download else "Set the model's option download = true."
        raise ConfigError(
            f"{model}: no such folder, and not to be had {where} ({type(error).__name__}). {mend}"
        ) from error


def files_with(folder: Path, suffixes: tuple[str, ...]) -> list[Path]:
    """The files right in `folder` with one of the suffixes, by name."""
    return sorted(path for path in folder.iterdir() if path.suffix.lower() in suffixes)


def combined_sha256(files: Iterable[Path]) -> str:
    """One checksum over the files' names and contents, in order."""
    digest = hashlib.sha256()
    for path in files:
        digest.update(f"{file_sha256(path)}  {path.name}\n".encode())
    return digest.hexdigest()


def file_sha256(path: Path) -> str:
    """A file's checksum, remembered in the cache folder by path, size and time of change."""
    path = path.resolve()
    status = path.stat()
    key = hashlib.sha256(f"{path}\n{status.st_size}\n{status.st_mtime_ns}".encode()).hexdigest()
    remembered = cache_folder() / "checksums" / key
    if remembered.is_file():
        return remembered.read_text().strip()
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    remembered.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=remembered.parent, delete=False) as temporary:
        temporary.write(found + "\n")
    os.replace(temporary.name, remembered)  # so that no other process reads half a line
    return found
