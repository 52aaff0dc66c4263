"""What the folder of a model or an adapter may hold: numbers and settings, no code run unasked.

A model's folder is a stranger's data. Pickled weights run code as they are read, `auto_map` names
Python files to import, an adapter's settings may name a module. All of it is refused here, before a
library opens the folder, and the message says what to do instead. Weights are read from safetensors
(or GGUF, whose header is checked in `gguf_header`) alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from askew.errors import ConfigError

WEIGHTS = ".safetensors"
PICKLED = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle", ".msgpack", ".h5")
ADAPTER_WEIGHTS = "adapter_model.safetensors"
ADAPTER_SETTINGS = "adapter_config.json"
_MOST_BYTES = 1 << 24  # of a file of settings; the largest in the field has some 200 kB
_MOST_LAYERS = (
    4096  # the largest model in the field has some 200; each is built before it is filled
)
_LAYERS = ("num_hidden_layers", "num_layers", "n_layer", "n_layers", "decoder_layers")
_HIGHEST_RANK = 16_384
# Where transformers reads `auto_map`: which file of the folder holds the model's code.
_WITH_CODE = ("config.json", "tokenizer_config.json", "processor_config.json")


def check_model_folder(folder: Path, *, remote_code: bool | None) -> None:
    """Refuse a folder that cannot be loaded without running what is in it.

    Args:
        folder: in Hugging Face's form, with a `config.json`.
        remote_code: the option `trust_remote_code`. True: the folder's own code may run. False: it
            does not, and transformers' own class of the model's type is used where there is one.
            None (not given): a folder with code is refused, as nobody said which is meant.

    Raises:
        ConfigError: the weights are pickled or absent, code would run, or a file leads elsewhere.
    """
    settings = read_settings(folder / "config.json")
    _check_weights(folder)
    _check_places(folder, settings)
    for layers in _named(settings, _LAYERS):
        if isinstance(layers, bool) or not isinstance(layers, int) or layers > _MOST_LAYERS:
            raise ConfigError(
                f"{folder / 'config.json'}: {str(layers)[:40]} layers, expected at most "
                f"{_MOST_LAYERS:,}. Fetch the model again."
            )
    if (folder / ADAPTER_SETTINGS).is_file():
        raise ConfigError(
            f"{folder} holds an {ADAPTER_SETTINGS} beside its config.json, and it would change the "
            "model unasked. Name the base model's folder, and the adapter's with `adapter`."
        )
    _check_code(folder, remote_code)


def check_adapter(folder: Path) -> None:
    """Refuse an adapter that is no LoRA adapter in safetensors.

    Raises:
        ConfigError: it is not one, its weights are pickled, or its settings would import a module.
    """
    if not (folder / ADAPTER_SETTINGS).is_file():
        raise ConfigError(
            f"adapter {folder} holds no {ADAPTER_SETTINGS}. Name an adapter's folder, as "
            "`save_pretrained` of peft writes it."
        )
    path = folder / ADAPTER_SETTINGS
    settings = read_settings(path)
    if not (folder / ADAPTER_WEIGHTS).is_file():
        raise ConfigError(_no_safetensors(folder, ADAPTER_WEIGHTS))
    if settings.get("peft_type") != "LORA":
        raise ConfigError(
            f"{path}: field 'peft_type' is {str(settings.get('peft_type'))[:40]!r}, expected "
            "'LORA'. Merge an adapter of another kind into its model and name that."
        )
    if settings.get("megatron_config") is not None:
        raise ConfigError(
            f"{path}: field 'megatron_config' has peft import the module that the adapter names. "
            "Set it to null; it is of no use outside Megatron."
        )
    for field in ("rank_pattern", "alpha_pattern"):
        if not isinstance(settings.get(field, {}), Mapping | None):
            raise ConfigError(f"{path}: field {field!r} is no table. Fetch the adapter again.")
    ranks = [settings.get("r"), *(settings.get("rank_pattern") or {}).values()]
    for rank in ranks:
        if isinstance(rank, bool) or not isinstance(rank, int) or not 1 <= rank <= _HIGHEST_RANK:
            raise ConfigError(
                f"{path}: rank {str(rank)[:40]!r}, expected a whole number from 1 to "
                f"{_HIGHEST_RANK:,}. Fetch the adapter again."
            )


def code_files(folder: Path) -> list[Path]:
    """The Python files of a model's folder, which run if `trust_remote_code` is set; by name."""
    return sorted(path for path in folder.rglob("*.py") if path.is_file())


def read_settings(path: Path) -> dict[str, Any]:
    """A JSON object from a model's folder.

    Raises:
        ConfigError: it is not there, too long, or no JSON object.
    """
    mend = "Fetch the model again."
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise ConfigError(f"{path}: longer than {_MOST_BYTES:,} bytes. {mend}")
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as trouble:
        raise ConfigError(f"{path}: cannot be read: {trouble.strerror}. {mend}") from trouble
    except (ValueError, RecursionError) as trouble:
        raise ConfigError(f"{path}: not JSON ({trouble}). {mend}") from trouble
    if not isinstance(found, dict):
        raise ConfigError(f"{path}: a JSON {type(found).__name__}, expected an object. {mend}")
    return found


def _check_weights(folder: Path) -> None:
    if not any(path.suffix.lower() == WEIGHTS for path in folder.iterdir()):
        raise ConfigError(_no_safetensors(folder, f"*{WEIGHTS}"))


def _no_safetensors(folder: Path, wanted: str) -> str:
    pickled = sorted(path.name for path in folder.iterdir() if path.suffix.lower() in PICKLED)
    if not pickled:
        return f"{folder} holds no weights: expected {wanted}. Fetch the model again."
    return (
        f"{folder} holds no {wanted}, only {', '.join(pickled[:3])}: such files can run code as "
        "they are read, so askew does not open them. Take the safetensors that most models are "
        "published with beside them. If there are none and you trust whoever made them, convert "
        "them in an environment of their own: load with transformers or peft, then "
        "`save_pretrained(NEW_FOLDER)`, and name the new folder."
    )


def _check_places(folder: Path, settings: Mapping[str, Any]) -> None:
    """Weights lie in the folder itself, so that its checksum is that of what was loaded."""
    named = settings.get("transformers_weights")
    if named is not None and not _is_plain(named):
        raise ConfigError(
            f"{folder / 'config.json'}: field 'transformers_weights' is {str(named)[:80]!r}, "
            "expected the name of a safetensors file of the folder. Fetch the model again."
        )
    for index in sorted(folder.glob(f"*{WEIGHTS}.index.json")):
        places = read_settings(index).get("weight_map")
        if not isinstance(places, dict):
            raise ConfigError(f"{index}: field 'weight_map' is no table. Fetch the model again.")
        for tensor, name in places.items():
            if not _is_plain(name):
                raise ConfigError(
                    f"{index}: {tensor[:80]!r} lies in {str(name)[:80]!r}, expected a safetensors "
                    "file of the folder. Fetch the model again."
                )


def _is_plain(name: object) -> bool:
    return (
        isinstance(name, str)
        and name.endswith((WEIGHTS, f"{WEIGHTS}.index.json"))
        and not set(name) & {"/", "\\", ":", "\0"}
    )


def _check_code(folder: Path, remote_code: bool | None) -> None:
    for name in _WITH_CODE:
        path = folder / name
        if not path.is_file():
            continue
        settings = read_settings(path)
        for kernel in _named(settings, ("attn_implementation", "_attn_implementation")):
            # "organisation/name" has transformers fetch compiled code from the hub.
            if "/" in json.dumps(kernel):
                raise ConfigError(
                    f"{path}: field 'attn_implementation' names code of the hub, "
                    f"{str(kernel)[:80]!r}. Remove the field; transformers has its own."
                )
        mapped = [entry for entry in _named(settings, ("auto_map",)) if entry]
        if not mapped or remote_code is False:
            continue
        if remote_code is None:
            raise ConfigError(
                f"{path}: field 'auto_map' has Python code of the folder run as the model is "
                "loaded. Read the code; then set the model's option trust_remote_code = true to "
                "run it, or = false for transformers' own class of this type, if it has one."
            )
        # Code of another repository would come from wherever the hub's cache has it.
        if "--" in json.dumps(mapped):
            raise ConfigError(
                f"{path}: field 'auto_map' names code of another repository, which is not in the "
                "folder and has no checksum. Copy it into the folder and name it there."
            )


def _named(value: object, names: tuple[str, ...]) -> Iterator[Any]:
    """What stands under one of the names at any depth, `null` left out."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            for key, entry in one.items():
                if key in names and entry is not None:
                    yield entry
                else:
                    waiting.append(entry)
        elif isinstance(one, list):
            waiting.extend(one)
