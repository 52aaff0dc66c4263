"""LoRA fine-tuning of a model on this machine on questions and answers, with peft.

What is learned is the answer alone: the chat template's text and the question carry no loss. The
adapter is a folder in peft's form that `local/…` and `builtin/…` take as their `adapter`. The same
pairs, settings and seed give the same adapter, also when the training was killed and goes on.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from askew.errors import ConfigError, DataError, missing_extra
from askew.models import builtin, options
from askew.models.base import ModelSpec
from askew.models.local import OPTIONS, remote_code_of
from askew.models.local_prompts import PromptReader
from askew.models.lora_settings import LoraConfig, Pair, TrainingStep, steps_of
from askew.models.lora_steps import Training, in_tokens, schedule, write_whole
from askew.models.pretrained import opened, opened_network
from askew.models.weights import ModelFiles, locate

WEIGHTS = "adapter_model.safetensors"
SETTINGS = "adapter_config.json"
RECORD = "training.json"
CHECKPOINT = "checkpoint.safetensors"

__all__ = [
    "Adapter",
    "LoraConfig",
    "Pair",
    "TrainingStep",
    "public_name",
    "steps_of",
    "train",
]


@dataclass(frozen=True, slots=True)
class Adapter:
    """A trained adapter and what it was made of; `training.json` holds the same."""

    folder: Path
    sha256: str  # of its weights
    base_model: str
    base_weights_sha256: str
    pairs: int
    pairs_sha256: str
    settings: LoraConfig
    steps: int
    tokens_an_epoch: int
    first_loss: float  # mean over the first epoch's steps
    last_loss: float  # over the last one's
    cut: int  # answers that did not fit into max_tokens
    versions: dict[str, str]


def train(
    spec: ModelSpec,
    pairs: Sequence[Pair],
    config: LoraConfig,
    folder: Path,
    progress: Callable[[TrainingStep], None] | None = None,
) -> Adapter:
    """Fine-tune an adapter into `folder`; goes on where an earlier call was killed.

    Where `folder` holds the finished adapter of the same model, pairs and settings, nothing is
    done. On one thread the adapter is the same to the bit; the number of threads moves it by
    rounding.

    Args:
        spec: `builtin/…` or `local/…`, without an adapter of its own.
        pairs: what is learned; the order does not matter but for rounding.
        config: the settings.
        folder: made if it is not there.
        progress: told of every step.

    Raises:
        ConfigError: no local model, a setting that cannot be used, or a folder that holds the
            adapter of another training.
        DataError: no pairs, an empty one, or a question that leaves no room for an answer.
        MissingDependency: the packages of askew[local] are not there.
    """
    config.check()
    _check_pairs(pairs)
    torch, transformers, peft = _packages()
    files = _files(spec)
    versions = {
        one.__name__: one.__version__.partition("+")[0] for one in (torch, transformers, peft)
    }
    base = public_name(spec)
    key = {
        "base_model": base,
        "base_weights_sha256": files.weights_sha256(),
        "pairs_sha256": pairs_sha256(pairs),
        "settings": {k: v for k, v in asdict(config).items() if k != "checkpoint_steps"},
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as trouble:
        raise ConfigError(
            f"{folder} cannot be made: {trouble.strerror}. Name another folder."
        ) from trouble
    if (done := _finished(folder, key)) is not None:
        return done

    from askew.models.lora_network import adapt

    code = remote_code_of(spec)
    tokenizer = opened(
        spec.name, transformers.AutoTokenizer.from_pretrained, files, remote_code=code
    )
    reader = PromptReader(spec.name, tokenizer, options.table(spec.options, "template"))
    texts, cut = in_tokens(reader, pairs, config.max_tokens)
    bare = opened_network(
        spec.name,
        transformers.AutoModelForCausalLM.from_pretrained,
        files,
        remote_code=code,
        dtype=torch.float32,
    )
    network = adapt(bare.to(_device(spec)), config, texts)
    steps = list(schedule(texts, config))
    record = Training(network, steps, config, folder / CHECKPOINT, hash_of(key)).run(
        texts, progress
    )
    network.save(folder, base)
    adapter = Adapter(
        folder=folder,
        sha256=builtin.sha256_of(folder / WEIGHTS),
        base_model=base,
        base_weights_sha256=files.weights_sha256(),
        pairs=len(pairs),
        pairs_sha256=pairs_sha256(pairs),
        settings=config,
        steps=len(steps),
        tokens_an_epoch=sum(map(len, texts)),
        first_loss=record[0],
        last_loss=record[1],
        cut=cut,
        versions=versions,
    )
    plain = {name: value for name, value in asdict(adapter).items() if name != "folder"}
    write_whole(folder / RECORD, json.dumps({**plain, "key": key}, indent=2, sort_keys=True) + "\n")
    (folder / CHECKPOINT).unlink(missing_ok=True)
    return adapter


def public_name(spec: ModelSpec) -> str:
    """The model's name without the folders of this machine: what an adapter may say of its base.

    >>> public_name(ModelSpec(name="builtin/smollm2"))
    'builtin/smollm2'
    """
    path = Path(spec.model).expanduser()
    if spec.provider == "local" and (path.is_absolute() or path.exists()):
        return f"local/{path.name}"
    return spec.name


def pairs_sha256(pairs: Sequence[Pair]) -> str:
    """One checksum over all pairs, in their order."""
    return hash_of([[one.question, one.answer] for one in pairs])


def hash_of(value: object) -> str:
    """64 hex digits that stand for a JSON value."""
    # ASCII, so that half a surrogate pair, which UTF-8 cannot hold, has a checksum as well.
    text = json.dumps(value, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _check_pairs(pairs: Sequence[Pair]) -> None:
    if not pairs:
        raise DataError("lora: there are no pairs to train on. Make some first.")
    for place, pair in enumerate(pairs, start=1):
        for name in ("question", "answer"):
            if not getattr(pair, name).strip():
                raise DataError(f"lora: pair {place} has an empty {name}. Leave it out.")


def _finished(folder: Path, key: dict[str, Any]) -> Adapter | None:
    """What the folder's record says, if the adapter is there and of the same training."""
    path = folder / RECORD
    if not path.is_file():
        return None
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if found.pop("key") != key:
            raise ConfigError(
                f"{folder} holds an adapter of other pairs, settings or another base model. "
                "Name another folder, or remove it."
            )
        settings = LoraConfig(**found.pop("settings"))
        adapter = Adapter(folder=folder, settings=settings, **found)
    except (ValueError, KeyError, TypeError) as trouble:
        if isinstance(trouble, ConfigError):
            raise
        raise ConfigError(
            f"{path}: no record of a training: {trouble}. Remove the folder to train anew."
        ) from trouble
    weights = folder / WEIGHTS
    if not weights.is_file() or builtin.sha256_of(weights) != adapter.sha256:
        raise ConfigError(
            f"{weights} is missing or changed since it was trained. Remove {folder} to train anew."
        )
    return adapter


def _files(spec: ModelSpec) -> ModelFiles:
    """The base model's files.

    Raises:
        ConfigError: it is not on this machine, is quantised, or has an adapter already.
    """
    if spec.provider in ("builtin", "local"):
        options.check_known(spec.options, OPTIONS, spec.provider)
    if spec.adapter is not None:
        raise ConfigError(f"{spec.name} has an adapter already. Name the base model alone.")
    if spec.provider == "builtin":
        return ModelFiles(builtin.require(spec.name))
    if spec.provider != "local":
        raise ConfigError(
            f"{spec.name} is not on this machine, so it cannot be fine-tuned. "
            "Name builtin/smollm2 or local/FOLDER."
        )
    download = options.flag(spec.options, "download", False)
    return locate(
        spec.model, revision=spec.revision, download=download, remote_code=remote_code_of(spec)
    )


def _device(spec: ModelSpec) -> str:
    import torch

    named = options.text(spec.options, "device", "auto")
    if named != "auto":
        return str(named)
    return "cuda" if torch.cuda.is_available() else "cpu"


def _packages() -> tuple[Any, Any, Any]:
    """Torch, transformers and peft, imported when they are needed."""
    try:
        import peft
        import safetensors.torch  # noqa: F401  # only whether it is there
        import torch
        import transformers
    except ImportError as error:
        raise missing_extra(error.name or "peft", "local") from error
    return torch, transformers, peft
