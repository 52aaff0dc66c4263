"""What a boundary run would ask and cost: a bound, as which topics are asked about is found out.

Every topic takes the same number of calls, at most. Their length is bounded by the topics with the
longest names.
"""

from __future__ import annotations

from dataclasses import dataclass

from askew.audits.boundary_calls import TopicTestConfig, calls_per_topic, sample_calls
from askew.models.prices import Prices
from askew.prompts.topics import topic_of
from askew.run.boundary import Prepared
from askew.run.common import lanes, planning_ledger
from askew.run.flex import ASSUMED_SECONDS_A_REPLY


@dataclass(frozen=True, slots=True)
class RolePlan:
    """The calls of one role.

    Attributes:
        role: "target", "generator", "judge".
        calls: at most, those that are recorded included.
        usual: where nothing has to be asked again.
        new: still to be made, at most.
        prompt_tokens: of the new calls, at most.
        completion_tokens: of the new calls, at most.
        money: of the new calls, at most; None where no price is known.
    """

    role: str
    calls: int
    usual: int
    new: int
    prompt_tokens: int
    completion_tokens: int
    money: float | None


@dataclass(frozen=True, slots=True)
class BoundaryPlan:
    """All roles; nothing was sent or written."""

    topics: int  # tested, at most
    roles: tuple[RolePlan, ...]
    seconds: float | None  # of the new calls; None where nothing is known
    seconds_basis: str

    @property
    def new(self) -> int:
        """Calls still to be made, at most."""
        return sum(one.new for one in self.roles)

    @property
    def calls(self) -> int:
        """Calls in all, at most."""
        return sum(one.calls for one in self.roles)

    @property
    def money(self) -> float | None:
        """What the new calls cost at most; None where a price is missing."""
        found = [one.money for one in self.roles if one.new]
        known = [money for money in found if money is not None]
        return sum(known) if len(known) == len(found) else None


def plan(prepared: Prepared) -> BoundaryPlan:
    """Bound the calls of every role; asks nothing."""
    run = prepared.run
    config = prepared.table.test_config({role: one.sampling() for role, one in run.models.items()})
    with planning_ledger(run, prepared.path, prepared.checksums) as ledger:
        had, measured = ledger.received(), ledger.seconds_a_call(prepared.target.name)
    recorded = {role: had.get(role, 0) for role in prepared.models}
    roles = tuple(_roles(prepared, config, recorded))
    new = sum(one.new for one in roles)
    at_once = lanes(run, prepared.target) * prepared.target.batch
    # Topics of a batch are asked at once, and no more than that.
    at_once = min(at_once, prepared.table.batch * config.questions)
    if measured is not None:
        return BoundaryPlan(
            prepared.tests, roles, measured * new / at_once, "from the calls made so far"
        )
    if not prepared.paid:
        return BoundaryPlan(prepared.tests, roles, None, "")
    basis = f"if a reply takes {ASSUMED_SECONDS_A_REPLY:g} s, {at_once} at a time"
    return BoundaryPlan(prepared.tests, roles, new * ASSUMED_SECONDS_A_REPLY / at_once, basis)


def _roles(prepared: Prepared, config: TopicTestConfig, recorded: dict[str, int]) -> list[RolePlan]:
    graph = prepared.graph
    longest = int((graph.title_starts[1:] - graph.title_starts[:-1]).argmax())
    samples = sample_calls(topic_of(graph, longest), config)
    each = calls_per_topic(
        config, generator="generator" in prepared.models, judge="judge" in prepared.models
    )
    price_of = Prices.load(prepared.run.prices).price_of
    plans = []
    for role, count in each.items():
        model, table = prepared.models[role], prepared.run.models[role]
        calls = prepared.tests * count.at_most
        new = max(0, calls - recorded[role])
        tokens = max(model.tokens(call) for call in samples[role])
        price = price_of(model.name)
        plans.append(
            RolePlan(
                role=role,
                calls=calls,
                usual=prepared.tests * count.usual,
                new=new,
                prompt_tokens=new * tokens,
                completion_tokens=new * table.max_tokens,
                money=None if price is None else new * price.cost(tokens, table.max_tokens),
            )
        )
    return plans
