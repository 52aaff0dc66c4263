"""What a LoRA training is given, and what it tells: pairs, settings, steps."""

from __future__ import annotations

from dataclasses import dataclass

from askew.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Pair:
    """A question and the answer that the model is to learn."""

    question: str
    answer: str


@dataclass(frozen=True, kw_only=True, slots=True)
class LoraConfig:
    """Settings of the fine-tuning. No value is a paper's.

    They were chosen on `builtin/smollm2`, which has 30 layers (docs/boundary-inject.md).
    """

    rank: int = 16
    alpha: int = 32  # the update is scaled by alpha / rank
    layers: int | None = 14  # the last so many are adapted; None: all
    learning_rate: float = 1.2e-3  # at its highest; after a short rise it falls to 0 in a line
    epochs: int = 5
    batch: int = 4  # pairs a step
    max_tokens: int = 256  # of question and answer together; longer answers are cut
    seed: int = 0
    checkpoint_steps: int = 20  # a killed training loses at most so many

    def check(self) -> None:
        """Refuse settings that cannot be trained with.

        Raises:
            ConfigError: names the first that cannot be used.
        """
        for name in ("rank", "alpha", "epochs", "batch", "max_tokens", "checkpoint_steps"):
            if getattr(self, name) < 1:
                raise ConfigError(f"lora: {name} is {getattr(self, name)}, expected 1 or more.")
        if self.layers is not None and self.layers < 1:
            raise ConfigError(
                f"lora: layers is {self.layers}, expected 1 or more, or none for all."
            )
        if not 0 < self.learning_rate < 1:
            raise ConfigError(
                f"lora: learning_rate is {self.learning_rate}, expected a number between 0 and 1."
            )


@dataclass(frozen=True, slots=True)
class TrainingStep:
    """How far a training has come."""

    step: int
    steps: int
    loss: float  # of this step: mean over the answers' tokens, in nats
    tokens: int  # read so far, in this start
    tokens_left: int
    seconds: float  # since this start began


@dataclass(frozen=True, slots=True)
class Text:
    """A pair in tokens."""

    prompt: tuple[int, ...]
    answer: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.prompt) + len(self.answer)


def steps_of(pairs: int, config: LoraConfig) -> int:
    """How many steps the training of so many pairs takes."""
    return config.epochs * -(-pairs // config.batch)
