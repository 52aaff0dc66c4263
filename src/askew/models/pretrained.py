"""How transformers and peft open a folder: offline, from safetensors, with no code run unasked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from askew.errors import AskewError, ConfigError, missing_extra
from askew.models.model_folder import ADAPTER_WEIGHTS, check_adapter
from askew.models.weights import ModelFiles

_NAMED = 3  # tensors that a message names


def opened(
    name: str,
    from_pretrained: Callable[..., Any],
    files: ModelFiles,
    *,
    remote_code: bool | None = None,
    error: type[ConfigError] = ConfigError,
    **settings: Any,
) -> Any:
    """What one of transformers' loaders makes of a model's files.

    Args:
        name: the model's, for messages.
        from_pretrained: of a tokenizer's class, or of a network's through `opened_network`.
        files: checked by `weights.locate` or `model_folder.check_model_folder`.
        remote_code: see `model_folder.check_model_folder`.
        error: raised where the files cannot be loaded.
        settings: handed on.

    Raises:
        ConfigError: of the kind `error`, with the library's own words.
    """
    if files.gguf is not None:
        settings["gguf_file"] = files.gguf
    try:
        return from_pretrained(
            files.folder, local_files_only=True, trust_remote_code=remote_code is True, **settings
        )
    except AskewError:
        raise
    except Exception as trouble:  # a stranger's files; the libraries' errors have no common base
        raise error(
            f"{name}: {files.folder} cannot be loaded: {trouble or type(trouble).__name__}"
        ) from trouble


def opened_network(
    name: str,
    from_pretrained: Callable[..., Any],
    files: ModelFiles,
    *,
    may_lack: tuple[str, ...] = (),
    error: type[ConfigError] = ConfigError,
    **settings: Any,
) -> Any:
    """The same for a network, all of whose weights must be in the files.

    transformers draws what is missing at random, with no more than a warning.

    Args:
        name: as `opened`.
        from_pretrained: as `opened`.
        files: as `opened`.
        may_lack: beginnings of the names of tensors that are not used.
        error: as `opened`.
        settings: handed on.

    Raises:
        ConfigError: of the kind `error`.
    """
    network, told = opened(
        name,
        from_pretrained,
        files,
        error=error,
        use_safetensors=True,
        output_loading_info=True,
        **settings,
    )
    absent = sorted(key for key in told["missing_keys"] if not key.startswith(may_lack))
    if absent:
        shown = ", ".join(absent[:_NAMED]) + (", …" if len(absent) > _NAMED else "")
        raise error(
            f"{name}: {files.folder} cannot be used: its weights lack {len(absent)} of the "
            f"network's tensors: {shown}. They would be drawn at random; fetch the model again."
        )
    return network


def with_adapter(
    name: str, network: Any, folder: Path, *, error: type[ConfigError] = ConfigError
) -> Any:
    """The network with its LoRA adapter merged in.

    Raises:
        ConfigError: the adapter is refused by `check_adapter`; of the kind `error` where it does
            not fit the network.
        MissingDependency: peft is not installed.
    """
    try:
        import peft
        from safetensors import safe_open
    except ImportError as trouble:
        raise missing_extra(trouble.name or "peft", "local") from trouble
    check_adapter(folder)
    try:
        adapted = peft.PeftModel.from_pretrained(network, folder, local_files_only=True)
        with safe_open(folder / ADAPTER_WEIGHTS, framework="pt") as weights:
            there = set(weights.keys())
        wanted = set(peft.get_peft_model_state_dict(adapted, save_embedding_layers=False))
        # peft leaves what is missing as it was made, which is without effect, and warns at most.
        if absent := sorted(wanted - there):
            raise ValueError(f"{ADAPTER_WEIGHTS} lacks {len(absent)} tensors, as {absent[0]}")
        return adapted.merge_and_unload()
    except Exception as trouble:  # as in `opened`
        raise error(
            f"{name}: adapter {folder} does not fit the model: {trouble or type(trouble).__name__}"
        ) from trouble
