"""Puts a build's questions to the target and reads what comes of each: replicate in, outcome out.

A model that writes replies is asked once a replicate. One whose options are scored is asked once a
prompt, and each replicate is a draw from the scores (`build.draws`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from askew.audits import flex
from askew.build.draws import drawn_outcome
from askew.build.settings import ROTATIONS, BuildConfig
from askew.models.base import Model
from askew.models.runner import Progress, Runner
from askew.prompts.choice import OptionOrder, option_order, render, rotations
from askew.records import Call, Condition, Item, Outcome, Reply, Scenario, Score
from askew.scores.outcome import score_reply
from askew.seeds import generator

# Prompts that are held in memory at once, and calls that are planned together.
LARGEST_WAVE = 16_384
# Replies that select are numbered from here on, those that estimate from 0, as a run numbers its
# own. A run of the set on the same model takes the replies that it finds in the folders beside it,
# and so is given fresh ones, never those that selected. A multiple of the rotations.
SELECTING = 1_000_000 * ROTATIONS


@dataclass(frozen=True, slots=True)
class Step:
    """How far a build has come."""

    stage: str  # "controls", "source", "text attacks", "selection", "estimation"
    wave: int  # of this stage, counted from 1
    progress: Progress  # of the wave


Watch = Callable[[Step], None]


@dataclass(frozen=True, slots=True)
class Ask:
    """One reply that is wanted."""

    item: Item
    scenario: Scenario | None  # None: without an attack
    replicate: int


class Target:
    """The model that a set is selected on, asked through the ledger.

    Args:
        model: who is asked.
        runner: the build's.
        config: how questions are put and replies are read.
        watch: told of each wave.
    """

    def __init__(
        self,
        model: Model,
        runner: Runner,
        config: BuildConfig,
        watch: Watch | None = None,
    ) -> None:
        self.model = model
        self.calls: Counter[str] = Counter()  # distinct calls, by stage
        self._runner = runner
        self._config = config
        self._watch = watch
        self._waves: Counter[str] = Counter()
        self._scored: dict[tuple[str, Scenario | None, OptionOrder], Reply] = {}

    def ahead(self, items: int) -> int:
        """How many replies are asked for of each of so many items at once, ahead of need."""
        if self._config.ahead is not None:
            return self._config.ahead
        if self.model.paid:
            return 1
        return max(1, self.model.batch * self.model.parallel // items)

    async def outcomes(self, stage: str, asks: Sequence[Ask]) -> list[Outcome | None]:
        """The outcome of each ask, in order; None where it is unknown what became of the call.

        Raises:
            StoppedEarly: some were not asked.
        """
        outcomes: list[Outcome | None] = []
        for start in range(0, len(asks), LARGEST_WAVE):
            wave = asks[start : start + LARGEST_WAVE]
            outcomes += await (self._sampled if self._config.sampled else self._drawn)(stage, wave)
        return outcomes

    async def control_scores(self, controls: Sequence[Item]) -> list[Score]:
        """The scores of the controls under the three rotations of their options.

        Raises:
            StoppedEarly: some were not asked.
        """
        config = self._config
        shown = [
            (item, order)
            for item in controls
            for order in rotations(option_order(item, config.seed, config.option_order))
        ]
        prompts = [render(item, config.prompt_format, order) for item, order in shown]
        calls = [Call(prompt, config.sampling) for prompt in prompts]
        replies = await self._ask("controls", calls)
        return [
            self._score(item, reply, "control", order)
            for (item, order), reply in zip(shown, replies, strict=True)
            if reply is not None
        ]

    async def _sampled(self, stage: str, asks: Sequence[Ask]) -> list[Outcome | None]:
        config = self._config
        replies = await self._ask(stage, [call_of(ask, self._config) for ask in asks])
        return [
            None
            if reply is None
            else self._score(
                ask.item,
                reply,
                "source" if ask.scenario is None else "attacked",
                order_of(ask.item, ask.replicate, config),
                ask.scenario,
            ).outcome
            for ask, reply in zip(asks, replies, strict=True)
        ]

    async def _drawn(self, stage: str, asks: Sequence[Ask]) -> list[Outcome | None]:
        missing = {self._place(ask): ask for ask in asks if self._place(ask) not in self._scored}
        replies = await self._ask(stage, [call_of(ask, self._config) for ask in missing.values()])
        for place, reply in zip(missing, replies, strict=True):
            if reply is not None:
                self._scored[place] = reply
        return [self._draw(ask) for ask in asks]

    def _draw(self, ask: Ask) -> Outcome | None:
        config, scenario = self._config, ask.scenario
        reply = self._scored.get(self._place(ask))
        if reply is None:
            return None
        attack = ("source",) if scenario is None else (scenario.category.value, scenario.name)
        return drawn_outcome(
            ask.item,
            reply,
            order=order_of(ask.item, ask.replicate, config),
            scoring=config.prompt_format.scoring,
            scenario=scenario,
            settings=config.scores,
            temperature=config.draw_temperature,
            rng=generator(config.seed, "draw", ask.item.id, *attack, str(ask.replicate)),
        )

    def _place(self, ask: Ask) -> tuple[str, Scenario | None, OptionOrder]:
        return ask.item.id, ask.scenario, order_of(ask.item, ask.replicate, self._config)

    def _score(
        self,
        item: Item,
        reply: Reply,
        condition: Condition,
        order: OptionOrder,
        scenario: Scenario | None = None,
    ) -> Score:
        return score_reply(
            item,
            reply,
            condition=condition,
            order=order,
            scoring=self._config.prompt_format.scoring,
            scenario=scenario,
            settings=self._config.scores,
        )

    async def _ask(self, stage: str, calls: Sequence[Call]) -> list[Reply | None]:
        if not calls:
            return []
        self._waves[stage] += 1
        self.calls[stage] += len(calls)
        answers = await flex.ask(calls, self.model, self._runner, self._progress(stage))
        return answers.replies

    def _progress(self, stage: str) -> Callable[[Progress], None] | None:
        watch, wave = self._watch, self._waves[stage]
        if watch is None:
            return None
        return lambda progress: watch(Step(stage, wave, progress))


def call_of(ask: Ask, config: BuildConfig) -> Call:
    """The call that an ask makes, or shares with the other replicates of its prompt."""
    prompt = render(
        ask.item,
        config.prompt_format,
        order_of(ask.item, ask.replicate, config),
        scenario=ask.scenario,
        wording=config.wording,
    )
    if not config.sampled:
        return Call(prompt, config.sampling)
    return Call(prompt, config.sampling.of_replicate(ask.replicate), replicate=ask.replicate)


def order_of(item: Item, replicate: int, config: BuildConfig) -> OptionOrder:
    """How the options stand in a replicate, without an attack and under any."""
    first = option_order(item, config.seed, config.option_order)
    return rotations(first)[replicate % ROTATIONS] if config.all_rotations else first


def known(outcomes: Sequence[Outcome | None]) -> Iterator[Outcome]:
    """The outcomes that are known."""
    return (outcome for outcome in outcomes if outcome is not None)
