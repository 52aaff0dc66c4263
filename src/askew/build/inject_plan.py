"""What an injection would ask, train and cost; nothing is asked, and no weights are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from askew.build.inject import generator_calls, sample_of
from askew.build.inject_pairs import TopicPair, template_pairs
from askew.build.inject_settings import InjectConfig
from askew.errors import ConfigError
from askew.graphs.topics import TopicGraph
from askew.models.base import ModelSpec
from askew.models.lora import steps_of
from askew.models.prices import Prices
from askew.models.registry import load_model
from askew.records import Call, Message, Prompt
from askew.seeds import generator

# §4.1: 22,608 topics and 113,040 pairs over six models and six domains. 22,608 is 6 * 6 * 628.
PAPER_MODELS = 6
PAPER_DOMAINS = 6
PAPER_TOPICS = 628
PAPER_PAIRS = 5
_SAMPLED = 24  # topics whose pairs are made, for the tokens
# Tokens that a training with the default settings reads in a CPU-second, on one thread of a busy
# machine, the loading left out: 16,804 in 170 (docs/boundary-inject.md).
RATES = {"builtin/smollm2": 99.0}


@dataclass(frozen=True, slots=True)
class InjectPlan:
    """The bounds of an injection."""

    models: int
    injected: int  # topics, over all models
    neutral: int
    pairs: int  # slanted ones
    neutral_pairs: int
    generator_calls: int  # 0: templates
    prompt_tokens: int  # the generator's, scaled up from a few topics
    completion_tokens_at_most: int
    money_at_most: float | None  # None: nothing is paid for, or no price is known
    unpriced: str | None  # the paid generator that has no price
    steps: int  # of training, over all models
    training_tokens: int  # over all epochs, scaled up from the pairs of a few topics
    training_seconds: float | None  # CPU-seconds at the measured rate; None: none was measured
    rate: float | None  # tokens a CPU-second

    @property
    def all_pairs(self) -> int:
        """What is learned, over all models."""
        return self.pairs + self.neutral_pairs


def plan_injection(
    graph: TopicGraph,
    config: InjectConfig,
    *,
    prices: Prices | None = None,
    rate: float | None = None,
) -> InjectPlan:
    """The plan of an injection on this graph.

    Args:
        graph: the topics.
        config: the settings.
        prices: of the generator.
        rate: tokens a CPU-second of training; default: what was measured for the base model.

    Raises:
        ConfigError: a setting cannot be used.
    """
    samples = [sample_of(graph, one, config) for one in config.models]
    injected = [len(one.injected) for one in samples]
    neutral = [len(one.neutral) for one in samples]
    return _plan(graph, config, injected, neutral, prices or Prices.load(None), rate)


def plan_paper(
    graph: TopicGraph,
    config: InjectConfig,
    *,
    prices: Prices | None = None,
    rate: float | None = None,
) -> InjectPlan:
    """The plan at the paper's size: six models, 22,608 topics, 113,040 pairs.

    Args:
        graph: any; titles are taken from it for the tokens of a pair.
        config: everything but the size; its first model stands for all six.
        prices: as in `plan_injection`.
        rate: as in `plan_injection`.
    """
    topics = PAPER_DOMAINS * PAPER_TOPICS
    neutral = round(config.neutral * topics)
    sized = replace(config, pairs=PAPER_PAIRS, models=config.models[:1])
    counts = [topics] * PAPER_MODELS, [neutral] * PAPER_MODELS
    return _plan(graph, sized, *counts, prices or Prices.load(None), rate)


def _plan(
    graph: TopicGraph,
    config: InjectConfig,
    injected: Sequence[int],
    neutral: Sequence[int],
    prices: Prices,
    rate: float | None,
) -> InjectPlan:
    if rate is not None and not rate > 0:
        raise ConfigError(f"inject: rate is {rate}, expected more than 0 tokens a second.")
    per_model = [
        topics * config.pairs + others * config.neutral_pairs
        for topics, others in zip(injected, neutral, strict=True)
    ]
    first = config.models[0]
    rng = generator(first.seed, "inject", "plan")
    nodes = [int(n) for n in rng.permutation(graph.size)[:_SAMPLED]]
    slanted = [p for n in nodes for p in template_pairs(graph, n, first.slant, config.pairs, 0)]
    balanced = [p for n in nodes for p in template_pairs(graph, n, None, config.neutral_pairs, 0)]
    tokens = _tokens(first.base, slanted), _tokens(first.base, balanced)
    pairs, neutral_pairs = sum(injected) * config.pairs, sum(neutral) * config.neutral_pairs
    training = round(config.lora.epochs * (pairs * tokens[0] + neutral_pairs * tokens[1]))
    measured = rate if rate is not None else RATES.get(first.base.name)
    calls, prompt, completion, money, unpriced = _generator(
        graph, config, nodes, sum(injected) + sum(neutral), prices
    )
    return InjectPlan(
        models=len(injected),
        injected=sum(injected),
        neutral=sum(neutral),
        pairs=pairs,
        neutral_pairs=neutral_pairs,
        generator_calls=calls,
        prompt_tokens=prompt,
        completion_tokens_at_most=completion,
        money_at_most=money,
        unpriced=unpriced,
        steps=sum(steps_of(count, config.lora) for count in per_model),
        training_tokens=training,
        training_seconds=None if measured is None else training / measured,
        rate=measured,
    )


def _tokens(base: ModelSpec, pairs: Sequence[TopicPair]) -> float:
    """Mean tokens of a pair: the prompt as the base model's template writes it, and the answer."""
    model = load_model(base)
    found = [
        model.tokens(Call(Prompt(messages=(Message("user", one.question),))))
        + model.tokens(Call(Prompt(text=one.answer)))
        for one in pairs
    ]
    return float(np.mean(found))


def _generator(
    graph: TopicGraph, config: InjectConfig, nodes: Sequence[int], topics: int, prices: Prices
) -> tuple[int, int, int, float | None, str | None]:
    """Calls, tokens and money of the generator; zeros where templates write the pairs."""
    if config.generator is None:
        return 0, 0, 0, None, None
    writer = load_model(config.generator)
    due = [(node, config.models[0].slant, config.pairs) for node in nodes]
    mean = float(np.mean([writer.tokens(call) for call in generator_calls(graph, due, config)]))
    prompt, completion = round(topics * mean), topics * config.sampling.max_tokens
    price = prices.price_of(writer.name)
    money = None if price is None else price.cost(prompt, completion)
    unpriced = writer.name if price is None and writer.paid else None
    return topics, prompt, completion, money, unpriced
