"""The steps of a LoRA training: texts in tokens, their order, the optimizer, its checkpoint."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from askew.errors import ConfigError, DataError
from askew.models.local_prompts import PromptReader
from askew.models.lora_settings import LoraConfig, Pair, Text, TrainingStep
from askew.records import Message, Prompt
from askew.seeds import generator

if TYPE_CHECKING:
    import torch

    from askew.models.lora_network import Network

_LONGEST_GRADIENT = 1.0
_WARM_UP = 0.1  # of the steps


def in_tokens(reader: PromptReader, pairs: Sequence[Pair], most: int) -> tuple[list[Text], int]:
    """The pairs in tokens, each answer with the token that ends a turn; and how many were cut."""
    tokenizer = reader.tokenizer
    if tokenizer.eos_token_id is None:
        raise ConfigError("lora: the tokenizer names no end of a turn (eos_token), so it is unfit.")
    texts, cut = [], 0
    for place, pair in enumerate(pairs):
        prompt = reader.prepare(Prompt(messages=(Message("user", pair.question),))).tokens.prompt
        answer = [*tokenizer.encode(pair.answer, add_special_tokens=False), tokenizer.eos_token_id]
        room = most - len(prompt)
        if room < 1:
            raise DataError(
                f"pair {place + 1}: its question takes {len(prompt)} tokens and max_tokens is "
                f"{most}. Raise it, or shorten the question."
            )
        cut += len(answer) > room
        texts.append(Text(prompt, tuple(answer[:room])))
    return texts, cut


def schedule(texts: Sequence[Text], config: LoraConfig) -> Iterator[list[int]]:
    """The pairs of each step, shuffled anew in each epoch.

    Nothing is padded, so batches of like length would save nothing. They would keep slanted pairs
    and neutral ones apart, as these differ in length, and the model learns to tell them apart where
    a step holds both.
    """
    for epoch in range(config.epochs):
        rng = generator(config.seed, "lora", "order", str(epoch))
        order = [int(index) for index in rng.permutation(len(texts))]
        yield from (order[at : at + config.batch] for at in range(0, len(order), config.batch))


@dataclass(slots=True)
class Training:
    """The steps of one training, with its checkpoint."""

    network: Network
    steps: list[list[int]]
    config: LoraConfig
    checkpoint: Path
    key: str

    def run(
        self, texts: Sequence[Text], progress: Callable[[TrainingStep], None] | None
    ) -> tuple[float, float]:
        """Train to the end; the mean losses of the first and the last epoch."""
        import torch

        optimizer = torch.optim.AdamW(self.network.parameters, lr=0.0, weight_decay=0.0)
        losses = self._resumed(optimizer)
        sizes = [sum(len(texts[index]) for index in batch) for batch in self.steps]
        began, tokens = time.monotonic(), 0
        for step in range(len(losses), len(self.steps)):
            for group in optimizer.param_groups:
                group["lr"] = self.config.learning_rate * self._share(step)
            batch = self.steps[step]
            loss = self.network.loss(batch)
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(self.network.parameters, _LONGEST_GRADIENT)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            losses.append(float(loss.detach()))
            if losses[-1] != losses[-1]:
                raise ConfigError(
                    f"lora: the loss is not a number at step {step + 1}. Lower the learning_rate."
                )
            tokens += sizes[step]
            if (step + 1) % self.config.checkpoint_steps == 0 and step + 1 < len(self.steps):
                self._keep(optimizer, losses)
            if progress is not None:
                progress(
                    TrainingStep(
                        step + 1,
                        len(self.steps),
                        losses[-1],
                        tokens,
                        sum(sizes[step + 1 :]),
                        time.monotonic() - began,
                    )
                )
        an_epoch = len(self.steps) // self.config.epochs
        return _mean(losses[:an_epoch]), _mean(losses[-an_epoch:])

    def _share(self, step: int) -> float:
        """Of the highest learning rate: up in the first tenth, then down to 0."""
        steps = len(self.steps)
        rise = max(1, round(_WARM_UP * steps))
        return min(1.0, (step + 1) / rise) * (steps - step) / steps

    def _keep(self, optimizer: torch.optim.Optimizer, losses: Sequence[float]) -> None:
        from safetensors.torch import save

        tensors = dict(self.network.weights())
        for place, parameter in enumerate(self.network.parameters):
            state = optimizer.state[parameter]
            for name in ("exp_avg", "exp_avg_sq"):
                tensors[f"optimizer.{place}.{name}"] = state[name].contiguous()
        about = {"key": self.key, "losses": json.dumps(list(losses))}
        write_whole(self.checkpoint, save(tensors, metadata=about))

    def _resumed(self, optimizer: torch.optim.Optimizer) -> list[float]:
        """Weights and optimizer as they were kept, if they were; the losses of the steps made."""
        import torch
        from safetensors import SafetensorError, safe_open

        if not self.checkpoint.is_file():
            return []
        try:
            with safe_open(self.checkpoint, framework="pt", device="cpu") as file:
                about = file.metadata() or {}
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        except (SafetensorError, OSError) as trouble:
            raise ConfigError(
                f"{self.checkpoint}: cannot be read: {trouble}. Remove it to train anew."
            ) from trouble
        if about.get("key") != self.key:
            raise ConfigError(
                f"{self.checkpoint} is of a training with other pairs, settings or base model. "
                "Name another folder, or remove the file."
            )
        losses: list[float] = json.loads(about["losses"])
        self.network.restore(tensors)
        for place, parameter in enumerate(self.network.parameters):
            moments = {
                name: tensors[f"optimizer.{place}.{name}"].to(parameter.device)
                for name in ("exp_avg", "exp_avg_sq")
            }
            optimizer.state[parameter] = {"step": torch.tensor(float(len(losses))), **moments}
        return losses


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def write_whole(path: Path, data: str | bytes) -> None:
    """The old file or the new one, never half of it."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data.encode() if isinstance(data, str) else data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o644)
        os.replace(name, path)
    finally:
        Path(name).unlink(missing_ok=True)
