"""What a clinical run would ask and cost: exact where the prompts are known, else a bound.

The second hop's prompt holds the first hop's reply, and a judge's prompt the answer that it judges:
their number is known beforehand, their length is bounded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from askew.audits.clinical_answers import (
    AnswerConfig,
    Case,
    asks_of,
    first_call,
    later_calls,
)
from askew.audits.clinical_generated import GeneratorConfig, attacker_call, generator_calls
from askew.audits.clinical_judging import JudgingConfig, judge_work
from askew.audits.clinical_reference import sweep_calls
from askew.audits.judging import calls_of
from askew.models.callkey import call_key
from askew.models.ledger import Ledger
from askew.models.ledgerfile import State
from askew.models.prices import Prices
from askew.models.runner import Runner
from askew.records import Call, Prompt
from askew.run.clinical import Prepared
from askew.run.common import lanes, planning_ledger, runner_terms
from askew.run.flex import ASSUMED_SECONDS_A_REPLY
from askew.vignettes import Answered, AnswerForm, ClinicalAnswer, HopEdge, HopGraph, Variant

# Stands for a token of a reply that is not known yet: one of most tokenizers, and as many bytes as
# a token has at most on average, where a model is counted by its bytes.
_WORD = " patient"


@dataclass(frozen=True, slots=True)
class StagePlan:
    """One stage of a run.

    Attributes:
        name: "answers", "judge: bias", …
        role: whose model is asked.
        calls: at most, those that are recorded included.
        new: of them, still to be made, at most.
        exact: whether the prompts are known; otherwise all counts are bounds.
        prompt_tokens: of the new calls, at most.
        completion_tokens: of the new calls, at most.
        money: of the new calls, at most; None where no price is known.
    """

    name: str
    role: str
    calls: int
    new: int
    exact: bool
    prompt_tokens: int
    completion_tokens: int
    money: float | None


@dataclass(frozen=True, slots=True)
class ClinicalPlan:
    """All stages, in their order; nothing was sent or written."""

    stages: tuple[StagePlan, ...]
    seconds: float | None  # of the new calls; None where nothing is known
    seconds_basis: str

    @property
    def new(self) -> int:
        """Calls still to be made, at most."""
        return sum(stage.new for stage in self.stages)

    @property
    def calls(self) -> int:
        """Calls in all, at most."""
        return sum(stage.calls for stage in self.stages)

    def new_of(self, roles: Sequence[str]) -> int:
        """Calls still to be made of these roles, at most."""
        return sum(stage.new for stage in self.stages if stage.role in roles)

    @property
    def money(self) -> float | None:
        """What the new calls cost at most; None where a price is missing."""
        found = [stage.money for stage in self.stages if stage.new]
        known = [money for money in found if money is not None]
        return sum(known) if len(known) == len(found) else None


def plan(prepared: Prepared) -> ClinicalPlan:
    """Count every stage; asks nothing."""
    with planning_ledger(prepared.run, prepared.path, prepared.study.checksums) as ledger:
        stages = tuple(_Planner(prepared, ledger).stages())
        measured = ledger.seconds_a_call(prepared.target.name)
    new = sum(stage.new for stage in stages)
    at_once = lanes(prepared.run, prepared.target) * prepared.target.batch
    if measured is not None:
        return ClinicalPlan(stages, measured * new / at_once, "from the calls made so far")
    if not prepared.paid:
        return ClinicalPlan(stages, None, "")
    seconds = new * ASSUMED_SECONDS_A_REPLY / at_once
    basis = f"if a reply takes {ASSUMED_SECONDS_A_REPLY:g} s, {at_once} at a time"
    return ClinicalPlan(stages, seconds, basis)


class _Planner:
    """The stages of one run, counted by the models' own tokenizers and the run's ledger."""

    def __init__(self, prepared: Prepared, ledger: Ledger) -> None:
        self._prepared = prepared
        self._ledger = ledger
        self._price_of = Prices.load(prepared.run.prices).price_of
        self._answers = prepared.table.answer_config(prepared.run.target.sampling())

    def stages(self) -> Iterator[StagePlan]:
        prepared, table = self._prepared, self._prepared.table
        cases = list(prepared.cases().values())
        to_come: list[Case] = []
        if table.backend == "model":
            run = prepared.run
            sampling = {role: run.models[role].sampling() for role in ("generator", "attacker")}
            config = table.generator_config(sampling["generator"], sampling["attacker"])
            yield from self._questions(config)
            to_come = self._to_come(config)
        yield from self._answer_stages(cases, to_come)
        if "reference" in prepared.models:
            yield from self._sweep(cases)
        for role in prepared.run.judges:
            yield self._judging(role, [*cases, *to_come])

    def _words(self, role: str) -> str:
        """As long as a reply of this role can be."""
        return _WORD * self._prepared.run.models[role].max_tokens

    def _to_come(self, config: GeneratorConfig) -> list[Case]:
        """A case for every twin that the Attacker may make, as long as it may be."""
        words = self._words("attacker")
        return [
            Case(
                vignette,
                Variant(
                    id=f"{vignette.id}/{number}",
                    vignette_id=vignette.id,
                    arm=f"twin {number}",
                    levels={name: config.levels[name][0] for name in combination},
                    text=f"{vignette.id} {number}{words}",
                    method="attacker",
                ),
            )
            for vignette in self._prepared.study.vignettes
            for number, combination in enumerate(config.combinations * config.variants)
        ]

    def _questions(self, config: GeneratorConfig) -> Iterator[StagePlan]:
        study = self._prepared.study
        yield self._exact("questions", "generator", generator_calls(study, config))
        calls = [
            attacker_call(self._words("generator"), combination, config, study.facts[vignette.id])
            for vignette in study.vignettes
            for combination in config.combinations
        ]
        yield self._bounded("perturbed questions", "attacker", calls, 0)

    def _answer_stages(self, cases: Sequence[Case], to_come: Sequence[Case]) -> Iterator[StagePlan]:
        config, words = self._answers, self._words("target")
        known = _first_calls(cases, config)
        yield self._exact("answers", "target", known)
        later = _first_calls(to_come, config)
        for case in (*cases, *to_come):
            for form in config.forms:
                hops = later_calls(case, form, words, config)
                later += hops * config.replicates
        if later:
            name = "later hops and twins still to be made" if known else "answers, hop by hop"
            yield self._bounded(name, "target", later, self._had("target", known))

    def _sweep(self, cases: Sequence[Case]) -> Iterator[StagePlan]:
        run, table = self._prepared.run, self._prepared.table
        plain = [case for case in cases if case.variant.arm == "original"]
        calls = sweep_calls(
            plain, self._answers, run.models["reference"].sampling(), table.temperatures
        )
        yield self._exact("reference answers", "reference", calls[: len(plain)])
        yield self._exact("temperature sweep", "target", calls[len(plain) :])

    def _judging(self, role: str, cases: Sequence[Case]) -> StagePlan:
        run, table = self._prepared.run, self._prepared.table
        config = table.judging_config({one: run.models[one].sampling() for one in run.judges})
        answered = _as_if_answered(cases, self._answers, self._words("target"))
        tasks = judge_work(answered, config, run.seed).tasks
        calls = calls_of(list({(one.prompt, one.replicate): one for one in tasks}.values()))
        rated = {one.unit for one in tasks if one.kind == "quality"}
        if rated:
            # Which twins are rated depends on which answers can be judged.
            more = _most_rated(cases, config, self._answers.forms) - len(rated)
            longest = max(calls, key=self._prepared.models[role].tokens)
            calls += [longest] * (max(0, more) * config.repeats)
        alone = [run.models[one].name for one in run.judges].count(run.models[role].name) == 1
        had = self._had(role, ()) if alone else 0
        name = f"judge {run.models[role].name}"
        return self._bounded(name, role, calls * (1 + config.re_asks), had)

    def _had(self, role: str, without: Sequence[Call]) -> int:
        """How many replies of a role the run has already, beside those to these calls."""
        model = self._prepared.models[role]
        identity = model.identity()
        known = {call_key(identity, call) for call in without}
        called = "judge" if role in self._prepared.run.judges else role
        return sum(
            record.call.role == called
            and record.model == model.name
            and record.state is State.RECEIVED
            and record.key not in known
            for record in self._ledger.own_records()
        )

    def _exact(self, name: str, role: str, calls: Sequence[Call]) -> StagePlan:
        runner = Runner(self._ledger, **runner_terms(self._prepared.run, role))
        found = runner.plan(self._prepared.models[role], calls)
        return StagePlan(
            name,
            role,
            found.calls - found.duplicates,
            found.new,
            True,
            found.prompt_tokens,
            found.completion_tokens_at_most,
            found.money_at_most,
        )

    def _bounded(self, name: str, role: str, calls: Sequence[Call], had: int) -> StagePlan:
        """At most these calls, each with words for what is not known yet, less what is recorded."""
        table = self._prepared.run.models[role]
        model = self._prepared.models[role]
        price = self._price_of(model.name)
        prompts: dict[Prompt, int] = {}
        for call in calls:
            if call.prompt not in prompts:
                prompts[call.prompt] = model.tokens(call)
        new = max(0, len(calls) - had)
        tokens = sorted((prompts[call.prompt] for call in calls), reverse=True)[:new]
        money = None
        if price is not None:
            money = sum(price.cost(each, table.max_tokens) for each in tokens)
        return StagePlan(
            name, role, len(calls), new, False, sum(tokens), new * table.max_tokens, money
        )


def _first_calls(cases: Sequence[Case], config: AnswerConfig) -> list[Call]:
    """The calls that answers begin with, where they do not depend on a graph."""
    by_id = {case.variant.id: case for case in cases}
    calls = (first_call(by_id[ask.variant_id], ask, config) for ask in asks_of(cases, config))
    return [call for call in calls if call is not None]


def _most_rated(cases: Sequence[Case], config: JudgingConfig, forms: Sequence[AnswerForm]) -> int:
    twins = sum(case.variant.text != case.vignette.text for case in cases)
    return twins if config.items is None else min(twins, config.items * len(forms))


def _as_if_answered(cases: Sequence[Case], config: AnswerConfig, words: str) -> list[Answered]:
    """An answer to every question, for counting what a judge would be asked of them."""
    asks = asks_of(cases, config)
    by_id = {case.variant.id: case for case in cases}
    first = HopGraph(1, (HopEdge(words, "", ""),), words)
    hops = (first, replace(first, hop=2))
    return [
        Answered(
            by_id[ask.variant_id].vignette,
            by_id[ask.variant_id].variant,
            ask.form,
            ask.replicate,
            ClinicalAnswer("answered", f"answer {place}{words}"),
            () if ask.form == "direct" else hops,
        )
        for place, ask in enumerate(asks)
    ]
