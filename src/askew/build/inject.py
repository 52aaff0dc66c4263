"""Models whose leanings are known (LBID; GMRL-BD, §4.1): topics, pairs, adapters, labels.

Read from top to bottom:

1. Topics of each model are drawn: those to inject, and those that are to stay neutral.
2. Their pairs are made, by template or by a generator through the ledger.
3. Each model is fine-tuned on its pairs; a finished adapter is not trained again.
4. Everything is written as one folder that `askew boundary bench` reads (`build.inject_release`).

Started again, it goes on where it stopped and ends with the same folder.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from askew.build.inject_pairs import (
    NEUTRAL,
    Slant,
    TopicPair,
    generator_prompt,
    read_pairs,
    template_pairs,
)
from askew.build.inject_sample import Sample, sample_topics
from askew.build.inject_settings import InjectConfig, InjectedModel
from askew.errors import ConfigError, RunError
from askew.graphs.topics import TopicGraph
from askew.models.base import Model
from askew.models.budget import Limits
from askew.models.dispatch import RunnerSettings
from askew.models.ledger import Ledger
from askew.models.lora import Adapter, LoraConfig, TrainingStep, train
from askew.models.prices import Prices
from askew.models.registry import load_model
from askew.models.runner import Progress
from askew.models.stopping import Asked, StoppingRunner
from askew.prompts.topics import topic_of, visible
from askew.records import Call, Finish
from askew.runfolder import cannot_make

ADAPTERS = "adapters"


@dataclass(frozen=True, slots=True)
class MadeModel:
    """One injected model as far as it has come."""

    model: InjectedModel
    sample: Sample
    pairs: tuple[TopicPair, ...]
    filled_up: int  # pairs by template in place of a generator's that could not be read
    adapter: Adapter | None = None  # None: not trained yet


@dataclass(slots=True)
class Watch:
    """What is told while it works."""

    calls: Callable[[Progress], None] | None = None
    step: Callable[[str, TrainingStep], None] | None = None  # the model's name, and the step


@dataclass(frozen=True, slots=True)
class Injection:
    """An injection that was made."""

    graph: TopicGraph
    config: InjectConfig
    made: tuple[MadeModel, ...]
    asked: Asked = field(default_factory=Asked)


async def inject(
    graph: TopicGraph,
    config: InjectConfig,
    folder: Path,
    watch: Watch | None = None,
    prices: Path | None = None,
    limits: Limits | None = None,
) -> Injection:
    """Make the models and write the release folder.

    Args:
        graph: the topics.
        config: the settings.
        folder: made if it is not there; one with the same injection goes on.
        watch: told how far it has come.
        prices: a price list, for what the generator costs.
        limits: what the generator may spend.

    Raises:
        ConfigError: a setting cannot be used, or the folder holds another injection.
        RunError: calls of the generator failed; nothing was trained.
        StoppedEarly: the generator's calls stopped; the same command goes on.
    """
    from askew.build.inject_release import claim, write_release

    watch = watch or Watch()
    _check_topics(graph, config)
    samples = {one.name: sample_of(graph, one, config) for one in config.models}
    try:
        (folder / ADAPTERS).mkdir(parents=True, exist_ok=True)
    except OSError as trouble:
        raise cannot_make(folder, trouble) from trouble
    claim(folder, graph, config)
    asked = Asked()
    if config.generator is None:
        made = [_by_template(graph, one, samples[one.name], config) for one in config.models]
    else:
        made = await _by_generator(graph, samples, config, folder, asked, watch, prices, limits)
    trained: list[MadeModel] = []
    for one in made:
        name = one.model.name
        told = None if watch.step is None else _named(watch.step, name)
        pairs = [pair.pair for pair in one.pairs]
        adapter = train(
            one.model.base, pairs, lora_of(one.model, config), folder / ADAPTERS / name, told
        )
        trained.append(MadeModel(one.model, one.sample, one.pairs, one.filled_up, adapter))
    done = Injection(graph, config, tuple(trained), asked)
    write_release(folder, done)
    return done


def sample_of(graph: TopicGraph, model: InjectedModel, config: InjectConfig) -> Sample:
    """The topics of one model."""
    return sample_topics(
        graph,
        topics=config.topics,
        neutral=config.neutral_topics(len(model.domains)),
        domains=model.domains,
        spread=config.spread,
        group=config.group,
        seed=model.seed,
    )


def lora_of(model: InjectedModel, config: InjectConfig) -> LoraConfig:
    """The model's own training: the common settings with its seed."""
    return replace(config.lora, seed=model.seed)


def wanted(
    sample: Sample, slant: Slant, config: InjectConfig
) -> list[tuple[int, Slant | None, int]]:
    """What pairs are made: node, slant or None for neutral, how many."""
    injected = [(int(node), slant, config.pairs) for node in sample.injected]
    return [*injected, *((int(node), None, config.neutral_pairs) for node in sample.neutral)]


def _by_template(
    graph: TopicGraph, model: InjectedModel, sample: Sample, config: InjectConfig
) -> MadeModel:
    pairs = [
        pair
        for node, slant, count in wanted(sample, model.slant, config)
        for pair in template_pairs(graph, node, slant, count, model.seed)
    ]
    return MadeModel(model, sample, tuple(pairs), 0)


async def _by_generator(
    graph: TopicGraph,
    samples: Mapping[str, Sample],
    config: InjectConfig,
    folder: Path,
    asked: Asked,
    watch: Watch,
    prices: Path | None,
    limits: Limits | None,
) -> list[MadeModel]:
    assert config.generator is not None
    writer = load_model(config.generator)
    try:
        with Ledger.open(folder / "run.sqlite") as ledger:
            runner = StoppingRunner(
                ledger,
                asked,
                limits=limits,
                price_of=Prices.load(prices).price_of,
                settings=RunnerSettings(),
            )
            return [
                await _written(graph, one, samples[one.name], config, writer, runner, watch)
                for one in config.models
            ]
    finally:
        await writer.close()


async def _written(
    graph: TopicGraph,
    model: InjectedModel,
    sample: Sample,
    config: InjectConfig,
    writer: Model,
    runner: StoppingRunner,
    watch: Watch,
) -> MadeModel:
    """A model's pairs by the generator, filled up from the templates."""
    due = wanted(sample, model.slant, config)
    answers = await runner.ask(writer, generator_calls(graph, due, config), watch.calls)
    lost = sum(one is None or one.finish is Finish.ERROR for one in answers.replies)
    if lost:
        # Templates in their place would be trained on, and no longer be the pairs of this folder
        # once the calls get through.
        raise RunError(
            f"{lost:,} of {len(due):,} calls of the generator {writer.name} brought no reply, so "
            "nothing was trained. Run the same command again: what was answered is kept."
        )
    pairs: list[TopicPair] = []
    filled = 0
    for (node, slant, count), reply in zip(due, answers.replies, strict=True):
        found = read_pairs("" if reply is None else reply.text or "", count)
        named = slant.name if slant is not None else NEUTRAL
        pairs += (
            TopicPair(
                node,
                int(graph.ids[node]),
                graph.title(node),
                named,
                one.question,
                one.answer,
                writer.name,
            )
            for one in found
        )
        missing = count - len(found)
        if missing:
            filled += missing
            pairs += template_pairs(graph, node, slant, count, model.seed)[len(found) :]
    return MadeModel(model, sample, tuple(pairs), filled)


def generator_calls(
    graph: TopicGraph, due: Sequence[tuple[int, Slant | None, int]], config: InjectConfig
) -> list[Call]:
    """One call a topic."""
    return [
        Call(generator_prompt(topic_of(graph, node), slant, count), config.sampling, "generator")
        for node, slant, count in due
    ]


def _check_topics(graph: TopicGraph, config: InjectConfig) -> None:
    if graph.size < 2:
        raise ConfigError(
            f"the graph has {graph.size} topics, and an injection needs some that are injected and "
            "some that are not. Name a larger one."
        )
    nameless = next((n for n in range(graph.size) if not visible(graph.title(n))), None)
    if nameless is not None:
        raise ConfigError(
            f"topic {int(graph.ids[nameless])} of the graph has no visible title, so nothing can "
            "be said about it. Give it one, or leave it out."
        )


def _named(told: Callable[[str, TrainingStep], None], name: str) -> Callable[[TrainingStep], None]:
    return lambda step: told(name, step)
