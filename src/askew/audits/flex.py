"""FLEX (Jung et al., Findings of NAACL 2025): does fairness hold when the prompt pushes?

Read from top to bottom: load a study, turn it into questions, ask the model, read its replies,
sum them up. Only `ask` waits on the outside world; everything else can be run again from the
run folder without a model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from askew.audits.flex_figures import Joined, figures
from askew.datasets import DataSpec, Loaded, Problem, load
from askew.errors import DataError
from askew.models.base import Model
from askew.models.callkey import call_key
from askew.models.runner import Answers, Progress, Runner
from askew.prompts.choice import OptionOrder, PromptFormat, option_order, render, rotations
from askew.prompts.fewshot import demonstrations
from askew.prompts.persona import bias_types_without_personas
from askew.prompts.scenarios import changes_nothing, choose, detail, scenario_of
from askew.prompts.scenarios import question as attacked_question
from askew.prompts.wording import DEFAULT_WORDING, Wording
from askew.records import (
    AttackCategory,
    Call,
    Condition,
    Item,
    Prompt,
    Reply,
    Sampling,
    Scenario,
    Score,
)
from askew.runfolder import Question
from askew.scores.outcome import ScoreSettings, score_reply
from askew.seeds import generator
from askew.stats.gate import FEWEST_ITEMS, competence
from askew.stats.robustness import NonAnswers

# Demonstrations are drawn from at most so many items of a set that brings none of its own.
POOL_SIZE = 200
# Controls asked at most, unless the run says otherwise: the 95 % interval of an accuracy near 0.8
# is then about 8 points wide to each side.
CONTROLS = 100
# Calls that are sorted by their beginning together. Where a run stops, the pairs of one window are
# cut in two at most: two batches for a model that takes batches and keeps beginnings from one to
# the next (2 % more tokens than sorting everything), a minute's calls or so for an endpoint.
WINDOW = 512
ENDPOINT_WINDOW = 64


@dataclass(frozen=True, kw_only=True, slots=True)
class FlexConfig:
    """Settings of the FLEX audit. Section numbers are the paper's."""

    data: tuple[DataSpec, ...] = (DataSpec("starter"),)
    lenient: bool = False  # skip rows that cannot be read instead of stopping
    items: int | None = None  # at most so many a source, drawn by the seed; None takes all
    controls: int = CONTROLS
    categories: tuple[AttackCategory, ...] = tuple(AttackCategory)  # §3.1
    # "assigned": as the benchmark has it (§3.2), and one a category at random for items without.
    scenarios: Literal["assigned", "random", "all"] = "assigned"
    prompt_format: PromptFormat = PromptFormat()
    option_order: Literal["file", "shuffled"] = "file"
    all_rotations: bool = False  # ask every item under the three rotations of its options
    shots: int = 0  # §4.5, k = 0 … 5
    shot_kind: Literal["positive", "negative"] = "positive"
    replicates: int = 1
    wording: Wording = DEFAULT_WORDING
    sampling: Sampling = Sampling()
    scores: ScoreSettings = ScoreSettings()
    non_answers: NonAnswers = "left_out"


@dataclass(frozen=True, slots=True)
class Study:
    """What is to be asked about."""

    items: tuple[Item, ...]
    controls: tuple[Item, ...]
    pools: Mapping[str, tuple[Item, ...]]  # source -> what demonstrations are drawn from
    problems: tuple[Problem, ...]
    checksums: Mapping[str, str]
    left_out: Mapping[str, str] = field(default_factory=dict)  # what has no scenario -> why


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with the prompt that puts it."""

    item: Item
    condition: Condition
    order: OptionOrder
    prompt: Prompt
    scenario: Scenario | None = None
    replicate: int = 0


def load_study(config: FlexConfig, seed: int) -> Study:
    """Read the data sets, draw the items and the controls.

    Raises:
        DataError: a file cannot be read (`lenient` skips bad rows), two sets give different items
            one id, or nothing is left to ask.
    """
    sets = [load(spec, seed=seed, lenient=config.lenient) for spec in config.data]
    problems = [problem for loaded in sets for problem in loaded.problems]
    everything = _once((item for loaded in sets for item in loaded.items), problems)
    drawn = [
        item
        for source in _by_source(everything)
        for item in _draw(source, config.items, seed, "items")
    ]
    items = tuple(item for item in drawn if _can_be_asked(item, config, problems))
    if not items:
        names = ", ".join(spec.name for spec in config.data)
        raise DataError(f"no ambiguous item in {names}: there is nothing to audit.")
    controls = _once((control for loaded in sets for control in loaded.controls), problems)
    if len(controls) < FEWEST_ITEMS:
        # CrowS-Pairs and StereoSet have no question with a known answer, the user's own sets few.
        controls = _once([*controls, *load(DataSpec("starter"), seed=seed).controls], [])
    return Study(
        items,
        tuple(_draw(controls, config.controls, seed, "controls")),
        _pools(sets, everything, seed),
        tuple(problems),
        _checksums(sets),
        _left_out(items, config),
    )


def questions(study: Study, config: FlexConfig, seed: int) -> list[Asked]:
    """Everything that will be asked: controls, source prompts and their attacked twins.

    An item and its twins share option order and demonstrations, so that a pair differs in the
    scenario alone.
    """
    asked = [one for item in study.controls for one in _control_questions(item, config, seed)]
    for item in study.items:
        asked.extend(_item_questions(item, study, config, seed))
    return asked


def calls_of(asked: Sequence[Asked], config: FlexConfig) -> list[Call]:
    """The calls that put the questions to the target."""
    return [
        Call(one.prompt, config.sampling.of_replicate(one.replicate), replicate=one.replicate)
        for one in asked
    ]


def as_questions(asked: Sequence[Asked], calls: Sequence[Call], model: Model) -> list[Question]:
    """The questions as the run folder keeps them, each with its call's key."""
    identity = model.identity()
    return [
        Question(
            one.item.id,
            one.condition,
            one.order,
            call_key(identity, call),
            one.scenario,
            one.replicate,
        )
        for one, call in zip(asked, calls, strict=True)
    ]


async def ask(
    calls: Sequence[Call],
    model: Model,
    runner: Runner,
    progress: Callable[[Progress], None] | None = None,
) -> Answers:
    """Put the calls to the model; the one step that waits. Replies are in the order of `calls`."""
    order = _by_shared_beginning(calls, WINDOW if model.batch > 1 else ENDPOINT_WINDOW)
    answers = await runner.ask(model, [calls[place] for place in order], progress)
    replies: list[Reply | None] = [None] * len(calls)
    for place, reply in zip(order, answers.replies, strict=True):
        replies[place] = reply
    return replace(answers, replies=replies)


def _by_shared_beginning(calls: Sequence[Call], window: int) -> list[int]:
    """The places of `calls`, those with a common beginning side by side within each window.

    A model that takes batches computes what a batch's prompts share once, and servers keep the
    beginnings of late prompts. The windows keep most pairs of an item together, so that a run that
    is stopped has whole pairs to show.
    """
    places = range(len(calls))
    return sorted(places, key=lambda place: (place // window, _beginning(calls[place].prompt)))


def _beginning(prompt: Prompt) -> str:
    if prompt.text is not None:
        return prompt.text
    return "\n".join(message.content for message in prompt.messages)


def read_replies(
    recorded: Sequence[Question],
    replies: Sequence[Reply | None],
    items: Mapping[str, Item],
    config: FlexConfig,
) -> list[Score | None]:
    """One score a question; None where no reply was had."""
    return [
        None
        if reply is None
        else score_reply(
            items[question.item_id],
            reply,
            condition=question.condition,
            order=question.order,
            scoring=config.prompt_format.scoring,
            scenario=question.scenario,
            settings=config.scores,
            replicate=question.replicate,
        )
        for question, reply in zip(recorded, replies, strict=True)
    ]


def estimate(
    recorded: Sequence[Question],
    scores: Sequence[Score | None],
    items: Mapping[str, Item],
    config: FlexConfig,
    seed: int,
) -> dict[str, object]:
    """The `flex` part of `estimates.json`."""
    controls = [score for score in scores if score is not None and score.condition == "control"]
    pairs = join(recorded, scores, items)
    return {
        "fit": competence(controls),
        "missing_pairs": sum(not pair.complete for pair in pairs),
        "unchanged_text_attacks": sum(pair.unchanged for pair in pairs),
        **figures(pairs, controls, items, seed=seed, non_answers=config.non_answers),
    }


def join(
    recorded: Sequence[Question], scores: Sequence[Score | None], items: Mapping[str, Item]
) -> list[Joined]:
    """Every planned pair: an attacked question and the source of its item, order and replicate.

    Args:
        recorded: the run's questions.
        scores: one a question, None where no reply was had.
        items: by id.
    """
    sources = {
        (score.item_id, score.order, score.replicate): score.outcome
        for score in scores
        if score is not None and score.condition == "source"
    }
    joined = []
    for question, score in zip(recorded, scores, strict=True):
        if question.scenario is None:
            continue
        item = items[question.item_id]
        joined.append(
            Joined(
                item=item,
                category=question.scenario.category,
                detail=detail(question.scenario, item),
                source=sources.get((question.item_id, question.order, question.replicate)),
                attacked=None if score is None else score.outcome,
                unchanged=changes_nothing(question.scenario, item),
            )
        )
    return joined


def _once(items: Iterable[Item], problems: list[Problem]) -> list[Item]:
    """The items by id, each once; what was there already is reported.

    Raises:
        DataError: an id stands for two different items, so that replies could not be told apart.
    """
    kept: dict[str, Item] = {}
    for item in items:
        before = kept.setdefault(item.id, item)
        if before is item:
            continue
        where, first = item.provenance, before.provenance
        if replace(item, provenance=first) != before:
            mend = (
                'Give one of the sets another name: options = { source = "…" }.'
                if item.assigned == before.assigned
                else "It has another scenario there: run the two sets apart."
            )
            raise DataError(
                f"{where.path}:{where.line}: item {item.id!r} differs from the one of this id in "
                f"{first.path}:{first.line}. {mend}"
            )
        message = f"item {item.id!r} was read from {first.path}:{first.line} already"
        problems.append(Problem(where.path, where.line, where.record, "", "duplicate", message))
    return list(kept.values())


def _by_source(items: Iterable[Item]) -> list[list[Item]]:
    sources: dict[str, list[Item]] = {}
    for item in items:
        sources.setdefault(item.source, []).append(item)
    return list(sources.values())


def _checksums(sets: Sequence[Loaded]) -> dict[str, str]:
    """File -> sha256 over all sets; a file name that comes again gets a number."""
    checksums: dict[str, str] = {}
    for loaded in sets:
        for name, sha256 in loaded.checksums.items():
            if checksums.get(name, sha256) != sha256:
                name = f"{name} ({len(checksums) + 1})"
            checksums[name] = sha256
    return checksums


def _draw(items: Sequence[Item], count: int | None, seed: int, use: str) -> list[Item]:
    """At most `count` items, in their own order; each item's luck depends on its id alone."""
    if count is None or len(items) <= count:
        return list(items)
    luck = {item.id: generator(seed, use, item.id).random() for item in items}
    drawn = set(sorted(luck, key=lambda name: luck[name])[:count])
    return [item for item in items if item.id in drawn]


def _can_be_asked(item: Item, config: FlexConfig, problems: list[Problem]) -> bool:
    """Whether the assigned scenario exists; if not, an error, or a problem where lenient."""
    if config.scenarios != "assigned" or item.assigned is None:
        return True
    try:
        attacked_question(scenario_of(item.assigned, item), item)
    except DataError as trouble:
        if not config.lenient:
            raise
        where = item.provenance
        problems.append(
            Problem(where.path, where.line, where.record, "attack_type", "rejected", str(trouble))
        )
        return False
    return True


def _pools(sets: Sequence[Loaded], items: Sequence[Item], seed: int) -> dict[str, tuple[Item, ...]]:
    """What each source's demonstrations are drawn from: its own, else some of its items."""
    pools: dict[str, list[Item]] = {}
    for loaded in sets:
        for item in loaded.demonstrations:
            pools.setdefault(item.source, []).append(item)
    for source in _by_source(items):
        pools.setdefault(source[0].source, _draw(source, POOL_SIZE, seed, "demonstration_pool"))
    return {name: tuple(pool) for name, pool in pools.items()}


def _left_out(items: Sequence[Item], config: FlexConfig) -> dict[str, str]:
    left_out: dict[str, str] = {}
    if AttackCategory.PERSONA_INJECTION in config.categories:
        left_out.update(bias_types_without_personas(items, config.wording))
    if AttackCategory.TEXT_ATTACK in config.categories:
        without = Counter(item.source for item in items if not item.text_attacks)
        for source, count in without.items():
            left_out[f"text_attack on {source}"] = (
                f"{count} items bring no attacked questions of their own"
            )
    return left_out


def _control_questions(item: Item, config: FlexConfig, seed: int) -> Iterator[Asked]:
    # No demonstrations: they all show the neutral or the stereotyped option, which a control must
    # not be pushed towards.
    order = option_order(item, seed, config.option_order)
    for rotated in rotations(order):
        yield Asked(item, "control", rotated, render(item, config.prompt_format, rotated))


def _item_questions(item: Item, study: Study, config: FlexConfig, seed: int) -> Iterator[Asked]:
    scenarios = _scenarios(item, config, seed)
    if not scenarios:
        return
    shown = demonstrations(
        item,
        study.pools[item.source],
        config.shots,
        config.shot_kind,
        seed,
        order=config.option_order,
    )
    first = option_order(item, seed, config.option_order)
    orders = rotations(first) if config.all_rotations else (first,)
    conditions: list[Scenario | None] = [None, *scenarios]
    for order in orders:
        for scenario in conditions:
            prompt = render(
                item,
                config.prompt_format,
                order,
                scenario=scenario,
                demonstrations=shown,
                wording=config.wording,
            )
            condition: Condition = "source" if scenario is None else "attacked"
            for replicate in range(config.replicates):
                yield Asked(item, condition, order, prompt, scenario, replicate)


def _scenarios(item: Item, config: FlexConfig, seed: int) -> tuple[Scenario, ...]:
    if config.scenarios == "assigned" and item.assigned is not None:
        wanted = item.assigned.category in config.categories
        return (scenario_of(item.assigned, item),) if wanted else ()
    how: Literal["all", "random"] = "all" if config.scenarios == "all" else "random"
    return choose(item, config.categories, seed, how, config.wording)
