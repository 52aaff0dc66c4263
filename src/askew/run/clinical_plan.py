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
    calls_an_answer,
    first_call,
)
from askew.audits.clinical_generated import generator_calls
from askew.audits.clinical_judging import calls_at_most
from askew.audits.clinical_reference import sweep_calls
from askew.models.ledger import Ledger
from askew.models.prices import Prices
from askew.models.runner import Runner
from askew.records import Call, Sampling
from askew.run.clinical import Prepared
from askew.run.common import planning_ledger, runner_terms
from askew.run.flex import ASSUMED_SECONDS_A_REPLY
from askew.vignettes import Answered, ClinicalAnswer, HopGraph

SAMPLED = 48  # prompts whose length stands for those that are not known yet


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
    at_once = prepared.target.parallel * prepared.target.batch
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
        texts = len(cases)
        if table.backend == "model":
            yield from self._questions()
            texts += len(prepared.study.vignettes) * self._twins_a_vignette()
        yield from self._answer_stages(cases, texts)
        if "reference" in prepared.models:
            yield from self._sweep(cases)
        for role in prepared.run.judges:
            yield self._judging(role, cases, texts)

    def _twins_a_vignette(self) -> int:
        config = self._prepared.table.generator_config(Sampling(), Sampling())
        return config.variants * len(config.combinations)

    def _questions(self) -> Iterator[StagePlan]:
        run, table = self._prepared.run, self._prepared.table
        sampling = {role: run.models[role].sampling() for role in ("generator", "attacker")}
        config = table.generator_config(sampling["generator"], sampling["attacker"])
        calls = generator_calls(self._prepared.study, config)
        yield self._exact("questions", "generator", calls)
        # The attacker is shown the generator's question, which is at most so long.
        count = len(calls) * len(config.combinations)
        yield self._bounded("perturbed questions", "attacker", count, calls, extra=1)

    def _answer_stages(self, cases: Sequence[Case], texts: int) -> Iterator[StagePlan]:
        config = self._answers
        asks = asks_of(cases, config)
        by_id = {case.variant.id: case for case in cases}
        known = [
            call
            for ask in asks
            if (call := first_call(by_id[ask.variant_id], ask, config)) is not None
        ]
        yield self._exact("answers", "target", known)
        # Twins that are still to be made, and hops that show what came before.
        wanted = (
            texts * config.replicates * sum(calls_an_answer(one, config) for one in config.forms)
        )
        if wanted > len(known):
            hops = max(calls_an_answer(one, config) for one in config.forms)
            name = "later hops and twins still to be made" if len(known) else "answers, hop by hop"
            sample = known or self._direct(cases)
            yield self._bounded(name, "target", wanted - len(known), sample, extra=hops - 1)

    def _direct(self, cases: Sequence[Case]) -> list[Call]:
        config = replace(self._answers, forms=("direct",), replicates=1)
        asks = asks_of(cases, config)
        by_id = {case.variant.id: case for case in cases}
        calls = (first_call(by_id[ask.variant_id], ask, config) for ask in asks)
        return [call for call in calls if call is not None]

    def _sweep(self, cases: Sequence[Case]) -> Iterator[StagePlan]:
        run, table = self._prepared.run, self._prepared.table
        plain = [case for case in cases if case.variant.arm == "original"]
        calls = sweep_calls(
            plain, self._answers, run.models["reference"].sampling(), table.temperatures
        )
        yield self._exact("reference answers", "reference", calls[: len(plain)])
        yield self._exact("temperature sweep", "target", calls[len(plain) :])

    def _judging(self, role: str, cases: Sequence[Case], texts: int) -> StagePlan:
        run, table = self._prepared.run, self._prepared.table
        config = table.judging_config({one: run.models[one].sampling() for one in run.judges})
        count = calls_at_most(_as_if_answered(cases, self._answers), config, run.seed, judges=1)
        if texts > len(cases):  # as many again for twins that are still to be made
            count = count * texts // max(1, len(cases))
        sample = self._direct(cases)
        return self._bounded(f"judge {run.models[role].name}", role, count, sample, extra=2)

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

    def _bounded(
        self, name: str, role: str, count: int, sample: Sequence[Call], *, extra: int
    ) -> StagePlan:
        """Calls whose prompts are those of a sample and so many replies more."""
        table = self._prepared.run.models[role]
        model = self._prepared.models[role]
        longest = max((model.tokens(call) for call in sample[:SAMPLED]), default=0)
        each = longest + extra * table.max_tokens
        price = self._price_of(model.name)
        money = None if price is None else count * price.cost(each, table.max_tokens)
        return StagePlan(
            name, role, count, count, False, count * each, count * table.max_tokens, money
        )


def _as_if_answered(cases: Sequence[Case], config: AnswerConfig) -> list[Answered]:
    """An answer to every question, for counting what a judge would be asked of them."""
    asks = asks_of(cases, config)
    by_id = {case.variant.id: case for case in cases}
    hops = (HopGraph(1, (), ""), HopGraph(2, (), ""))
    return [
        Answered(
            by_id[ask.variant_id].vignette,
            by_id[ask.variant_id].variant,
            ask.form,
            ask.replicate,
            ClinicalAnswer("answered", f"answer {place}"),
            () if ask.form == "direct" else hops,
        )
        for place, ask in enumerate(asks)
    ]
