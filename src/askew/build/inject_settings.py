"""What an injection is made of: settings with their sources, and the models that come of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from askew.build.inject_pairs import PAIRS, Slant, slant_of
from askew.build.inject_sample import GROUP, Spread
from askew.errors import ConfigError
from askew.models.base import ModelSpec
from askew.models.lora import LoraConfig
from askew.records import Sampling

# A name is a folder's name as well, on any file system.
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class InjectedModel:
    """One model that is to lean: on which topics, and how."""

    name: str  # in labels.tsv, and its adapter's folder
    base: ModelSpec
    slant: Slant
    domains: tuple[str, ...]  # none: anywhere
    seed: int  # of its topics, pairs and training


@dataclass(frozen=True, kw_only=True, slots=True)
class InjectConfig:
    """Settings of an injection. Section numbers are GMRL-BD's."""

    models: tuple[InjectedModel, ...]
    topics: int = 12  # a domain and model; §4.1: 22,608 over six models and six domains
    pairs: int = PAIRS  # §4.1, a topic
    # Topics that are trained to stay neutral, for each injected one, with `neutral_pairs` each. The
    # paper names none; without them a slant spills over everything (docs/boundary-inject.md).
    neutral: float = 11.0
    neutral_pairs: int = 1
    spread: Spread = "clustered"  # §4.1 draws at random
    group: int = GROUP
    lora: LoraConfig = field(default_factory=LoraConfig)
    generator: ModelSpec | None = None  # who writes the pairs; None: templates. §4.1: GPT-4
    sampling: Sampling = Sampling(temperature=0.7, max_tokens=1200)  # the generator's
    check: int = 300  # §4.1, pairs that people look at

    def __post_init__(self) -> None:
        if not self.models:
            raise ConfigError("inject: no model is named. Name at least one.")
        names = [one.name for one in self.models]
        if repeated := {one for one in names if names.count(one) > 1}:
            raise ConfigError(f"inject: two models are named {min(repeated)!r}. Name each its own.")
        for name in names:
            if not name.strip(".") or _UNSAFE.search(name):
                raise ConfigError(
                    f"inject: {name!r} cannot name a folder. Use letters, digits, '.', '_', '-'."
                )
        for key in ("topics", "pairs", "neutral_pairs", "group", "check"):
            if getattr(self, key) < 1:
                raise ConfigError(f"inject: {key} is {getattr(self, key)}, expected 1 or more.")
        if not 0 <= self.neutral <= 1_000:
            raise ConfigError(f"inject: neutral is {self.neutral}, expected 0 to 1,000.")
        self.lora.check()

    def neutral_topics(self, domains: int) -> int:
        """How many topics get neutral pairs in a model with so many domains."""
        return round(self.neutral * self.topics * max(1, domains))


def injected_models(
    bases: Sequence[ModelSpec],
    slants: Sequence[str],
    domains: Sequence[str],
    seed: int,
) -> tuple[InjectedModel, ...]:
    """Every base model with every slant, each with a seed of its own, counted up from `seed`.

    >>> made = injected_models([ModelSpec(name="builtin/smollm2")], ["left", "right"], [], 3)
    >>> [(one.name, one.seed) for one in made]
    [('smollm2-left-3', 3), ('smollm2-right-4', 4)]
    """
    made: list[InjectedModel] = []
    for base in bases:
        for text in slants:
            slant, own = slant_of(text), seed + len(made)
            stem = base.name.rstrip("/").rpartition("/")[2]
            name = _UNSAFE.sub("-", f"{stem}-{slant.name}-{own}").strip(".-")
            made.append(InjectedModel(name, base, slant, tuple(dict.fromkeys(domains)), own))
    return tuple(made)
