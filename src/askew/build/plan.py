"""What a build would ask and cost, counted and not made: a large source has millions of prompts.

Calls are bounds, from the number of scenarios that fit each item; a call that the server answers
with a fault is sent again, and counted once here. Tokens are those of the prompts of a few items,
scaled up.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from askew.build.asking import Ask, call_of
from askew.build.attack_asks import Ask as AttackAsk
from askew.build.attack_meaning import Change
from askew.build.attack_model import ModelAttacker
from askew.build.fitting import scenario_counts, text_kinds
from askew.build.flex import Prepared, attacker_of, checks_of, runner_of
from askew.build.settings import ROTATIONS
from askew.models.ledger import Ledger
from askew.models.stopping import Asked
from askew.prompts.scenarios import scenarios_for
from askew.records import AttackCategory, Call, Item, Scenario
from askew.run import ASSUMED_SECONDS_A_REPLY, TIMED_CALLS

SAMPLED_ITEMS = 48  # whose prompts are made, for the tokens
CHOICE_TOKENS = 16  # at most, of a reply to a scored prompt; what the runner reserves


@dataclass(frozen=True, slots=True)
class RoleBounds:
    """What a model beside the target is asked at most: every text attack, all its tries."""

    calls_at_most: int
    prompt_tokens: int  # scaled up from the prompts of a few items
    completion_tokens_at_most: int


@dataclass(frozen=True, slots=True)
class BuildPlan:
    """Bounds on what a build asks. Calls are the target's, unless a role is named.

    Attributes:
        items: that are asked without an attack.
        controls: of the competence gate.
        scenarios: over all items; text attacks that are still to be made count as if all passed.
        scenarios_an_item: the fewest and the most.
        calls_as_the_paper: every item without an attack, every scenario, every reply a call.
        calls_at_most: of this build: if every item is neutral and every scenario fails only with
            its last reply.
        calls_if_all_work: if every item is neutral and the first scenario asked always works.
        calls_at_least: if no item is neutral without an attack.
        roles: bounds for the attacker and the judge, where they are models.
        made: calls that earlier starts of this build have made, of all roles.
        prompt_tokens: of `calls_at_most`, scaled up from `sampled_items`.
        completion_tokens_at_most: of the same.
        money_at_most: of the same and of `roles`, as far as prices are known; None where none is.
        unpriced: the models that a call may cost money at and whose price is not known.
        seconds: of `calls_at_most`; None where nothing is known.
        seconds_basis: what that rests on.
    """

    items: int
    controls: int
    scenarios: int
    scenarios_an_item: tuple[int, int]
    calls_as_the_paper: int
    calls_at_most: int
    calls_if_all_work: int
    calls_at_least: int
    roles: dict[str, RoleBounds]
    made: int
    sampled_items: int
    prompt_tokens: int
    completion_tokens_at_most: int
    money_at_most: float | None
    unpriced: tuple[str, ...] = ()
    seconds: float | None = None
    seconds_basis: str = ""


def plan(prepared: Prepared) -> BuildPlan:
    """Count; asks nothing and makes the prompts of a few items only."""
    config, items = prepared.config, prepared.study.items
    counts = scenario_counts(items, config)
    scenarios, controls = sum(counts), len(prepared.study.controls)
    orders = ROTATIONS if config.all_rotations else 1
    source = config.source_replies if config.sampled else orders
    attacked = config.rule.replies if config.sampled else orders
    # Where options are scored, a fresh reply is one more draw from what is there already; only the
    # random scenario may be a prompt that nobody has asked.
    fresh_known = config.estimate_replies if config.sampled else 0
    fresh_random = config.estimate_replies if config.sampled else orders
    tokens = _mean_tokens(prepared)
    n, least = len(items), ROTATIONS * controls
    asked_plain = n * (source + fresh_known)
    asked_attacked = scenarios * attacked + n * (fresh_known + fresh_random)
    at_most = least + asked_plain + asked_attacked
    prompt_tokens = round(
        least * tokens.control + asked_plain * tokens.source + asked_attacked * tokens.attacked
    )
    a_reply = config.sampling.max_tokens if config.sampled else CHOICE_TOKENS
    with _ledger(prepared) as ledger:
        made = ledger.spending.total.calls
        seconds_a_call = ledger.seconds_a_call(prepared.target.name)
        roles = _roles(prepared, ledger)
    tokens_out = at_most * a_reply
    money, unpriced = _money(
        prepared,
        {"target": (prompt_tokens, tokens_out)}
        | {role: (one.prompt_tokens, one.completion_tokens_at_most) for role, one in roles.items()},
    )
    found = BuildPlan(
        items=n,
        controls=controls,
        scenarios=scenarios,
        scenarios_an_item=(min(counts), max(counts)),
        calls_as_the_paper=n * config.source_replies + scenarios * config.rule.replies,
        calls_at_most=at_most,
        calls_if_all_work=least + n * (source + attacked + 2 * fresh_known + fresh_random),
        calls_at_least=least + n,
        roles=roles,
        made=made,
        sampled_items=tokens.items,
        prompt_tokens=prompt_tokens,
        completion_tokens_at_most=tokens_out,
        money_at_most=money,
        unpriced=unpriced,
    )
    if seconds_a_call is None:
        return found
    at_once = _at_once(prepared)
    return replace(
        found,
        seconds=seconds_a_call * at_most / at_once,
        seconds_basis="from the calls made so far",
    )


async def timed(prepared: Prepared, planned: BuildPlan) -> BuildPlan:
    """The plan with a time: measured at a model that costs nothing, else assumed and named."""
    if planned.seconds is not None:
        return planned
    model, at_once = prepared.target, _at_once(prepared)
    if model.paid:
        seconds = planned.calls_at_most * ASSUMED_SECONDS_A_REPLY / at_once
        basis = f"if a reply takes {ASSUMED_SECONDS_A_REPLY:g} s, {at_once} at a time"
        return replace(planned, seconds=seconds, seconds_basis=basis)
    calls = [call for _, of_item in _sample(prepared) for call in of_item]
    calls = calls[:: max(1, len(calls) // TIMED_CALLS)][:TIMED_CALLS]
    await model.ask(calls[:1])  # loads the weights
    began = time.monotonic()
    await model.ask(calls)
    took = (time.monotonic() - began) / len(calls)
    return replace(
        planned,
        seconds=took * planned.calls_at_most,
        seconds_basis=f"from {len(calls)} calls made just now",
    )


@dataclass(frozen=True, slots=True)
class _Tokens:
    """Mean tokens of a prompt, by kind."""

    items: int
    control: float
    source: float
    attacked: float


def _mean_tokens(prepared: Prepared) -> _Tokens:
    model, config = prepared.target, prepared.config
    source: list[int] = []
    attacked: list[int] = []
    sampled = _sample(prepared)
    for plain, of_item in sampled:
        source.append(model.tokens(plain))
        attacked.extend(model.tokens(call) for call in of_item)
    controls = [
        model.tokens(call_of(Ask(item, None, 0), config)) for item in _some(prepared.study.controls)
    ]
    return _Tokens(len(sampled), _mean(controls), _mean(source), _mean(attacked))


def _sample(prepared: Prepared) -> list[tuple[Call, list[Call]]]:
    """The calls of some items: without an attack, and under each scenario."""
    config = prepared.config
    calls = []
    for item in _some(prepared.study.items):
        # An attacked question is about as long as the question.
        kinds = text_kinds(item, config)
        whole = replace(item, text_attacks=dict.fromkeys(kinds, item.question))
        scenarios: list[Scenario | None] = [
            scenario
            for category in config.categories
            for scenario in scenarios_for(whole, category, config.wording)
        ]
        plain, *attacked = (call_of(Ask(whole, one, 0), config) for one in [None, *scenarios])
        calls.append((plain, attacked))
    return calls


def _some(items: Sequence[Item]) -> Sequence[Item]:
    return items[:: max(1, -(-len(items) // SAMPLED_ITEMS))]


def _mean(values: Sequence[int]) -> float:
    return sum(values) / len(values) if values else 0.0


@contextmanager
def _ledger(prepared: Prepared) -> Iterator[Ledger]:
    """The build's ledger, or an empty one that is gone afterwards."""
    path = prepared.path / "run.sqlite"
    if path.is_file():
        with Ledger.open(path) as ledger:
            yield ledger
        return
    with (
        TemporaryDirectory(prefix=".plan-") as folder,
        Ledger.open(Path(folder) / "run.sqlite") as ledger,
    ):
        yield ledger


def _roles(prepared: Prepared, ledger: Ledger) -> dict[str, RoleBounds]:
    """The most that the attacker and the judge are asked: each kind of attack, each try."""
    config, models = prepared.config, prepared.models
    if AttackCategory.TEXT_ATTACK not in config.categories or len(models) == 1:
        return {}
    runners = {role: runner_of(prepared, role, ledger, Asked()) for role in models}
    attacker, checks = attacker_of(prepared, runners), checks_of(prepared, runners)
    made = judged = 0
    attacks: list[Call] = []
    verdicts: list[Call] = []
    for kind in config.text_attacks:
        without = [item for item in prepared.study.items if kind not in item.text_attacks]
        calls = attacker.calls_at_most(without, [kind])
        made += calls
        judged += checks.calls_at_most(calls or len(without) * attacker.tries)
        some = _some(without)
        if isinstance(attacker, ModelAttacker):
            # As if it were asked again: a first request is shorter.
            attacks += attacker.calls(
                [AttackAsk(item, kind, variant=1, attempt=1, last=item.question) for item in some]
            )
        if checks.judge is not None:
            verdicts += checks.judge.calls([Change(kind, item, item.question) for item in some])
    found = {"attacker": (made, attacks), "judge": (judged, verdicts)}
    return {
        role: _bounds(prepared, role, *found[role]) for role in found if role in prepared.models
    }


def _bounds(prepared: Prepared, role: str, calls: int, sample: Sequence[Call]) -> RoleBounds:
    model, sampling = prepared.models[role], prepared.file.models[role].sampling()
    mean = _mean([model.tokens(call) for call in sample])
    return RoleBounds(calls, round(calls * mean), calls * sampling.max_tokens)


def _money(
    prepared: Prepared, tokens: Mapping[str, tuple[int, int]]
) -> tuple[float | None, tuple[str, ...]]:
    """What tokens by role cost where prices are known, and the paid models without a price."""
    prices = {role: prepared.prices.price_of(prepared.models[role].name) for role in tokens}
    costs = [price.cost(*tokens[role]) for role, price in prices.items() if price is not None]
    unpriced = {
        prepared.models[role].name: None
        for role, price in prices.items()
        if price is None and prepared.models[role].paid
    }
    return math.fsum(costs) if costs else None, tuple(unpriced)


def _at_once(prepared: Prepared) -> int:
    model, most = prepared.target, prepared.file.target.concurrency
    parallel = model.parallel if most is None else min(model.parallel, most)
    return parallel * model.batch
