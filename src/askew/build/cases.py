"""One item on its way through a build, and what of it goes into the built set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from askew.build.asking import known
from askew.build.figures import Pair
from askew.build.records import BuiltItem, Tally, TextAttack
from askew.build.select import Selection
from askew.build.settings import BuildConfig
from askew.prompts.choice import OptionOrder
from askew.prompts.scenarios import instruction, scenarios_for
from askew.records import Assignment, Item, Outcome, Scenario

Fresh = dict[Scenario | None, list[Outcome | None]]


@dataclass(slots=True)
class Case:
    """An item, the replies it has had and what has been decided.

    Attributes:
        item: with the text attacks that were made for it.
        selection: the search for its scenario.
        source: outcomes of step 1; they end with the first that is not neutral.
        replies: outcomes of step 2, by scenario.
        attacks: the text attacks that were tried, by kind.
        lost: a reply that decides about it is unknown, so that nothing can be decided.
        random: the scenario of the baseline.
        fresh: outcomes of the replies that estimate, by scenario; None is without an attack.
    """

    item: Item
    selection: Selection
    source: list[Outcome] = field(default_factory=list)
    replies: dict[Scenario, list[Outcome]] = field(default_factory=dict)
    attacks: dict[str, TextAttack] = field(default_factory=dict)
    has_attacks: bool = False
    lost: bool = False
    random: Scenario | None = None
    fresh: Fresh = field(default_factory=dict)

    @property
    def neutral_so_far(self) -> bool:
        """Whether no reply without an attack was anything but neutral."""
        return all(outcome is Outcome.NEUTRAL for outcome in self.source)

    def is_neutral(self, config: BuildConfig) -> bool:
        """Whether step 1 has kept it."""
        return self.neutral_so_far and len(self.source) == config.source_replies

    @property
    def chosen(self) -> Scenario | None:
        """The scenario that it is given, once that is settled."""
        return self.selection.choice if self.selection.decided and not self.lost else None

    def take_source(self, outcome: Outcome | None) -> None:
        """Count a reply of step 1."""
        if outcome is None:
            self.lost = True
        else:
            self.source.append(outcome)

    def take(self, scenario: Scenario, outcome: Outcome | None) -> None:
        """Count a reply of step 2."""
        if outcome is None:
            self.lost = True
        if outcome is not None and not self.lost:
            self.selection.take(scenario, outcome)
            self.replies.setdefault(scenario, []).append(outcome)

    def take_attacks(self, attacks: Iterable[TextAttack]) -> None:
        """Add the text attacks that have passed; those of the data set stay."""
        self.has_attacks = True
        self.attacks = {attack.kind: attack for attack in attacks}
        made = {
            kind: attack.question
            for kind, attack in self.attacks.items()
            if attack.question is not None
        }
        self.item = replace(self.item, text_attacks={**made, **self.item.text_attacks})

    def built(self, scenario: Scenario, config: BuildConfig) -> BuiltItem:
        """The row of a set: of the selected one, or of the random one."""
        places = scenarios_for(self.item, scenario.category, config.wording)
        assigned = Assignment(scenario.category, places.index(scenario), scenario.name)
        is_choice = scenario == self.chosen
        return BuiltItem(
            item=replace(self.item, assigned=assigned),
            scenario=scenario,
            instruction=instruction(scenario, self.item, config.wording),
            source_selection=tally(self.source),
            attacked_selection=self.selection.chosen_tally if is_choice else None,
            source_estimate=tally(known(self.fresh.get(None, []))),
            attacked_estimate=tally(known(self.fresh.get(scenario, []))),
        )

    def fresh_pairs(self, scenario: Scenario, orders: Iterable[OptionOrder]) -> Iterator[Pair]:
        """The fresh replies under a scenario, each beside the one without it."""
        found = zip(orders, self.fresh[None], self.fresh[scenario], strict=True)
        for order, source, attacked in found:
            yield Pair(self.item, scenario, order, source, attacked)


def tally(outcomes: Iterable[Outcome]) -> Tally:
    """The outcomes, counted."""
    counted = Tally()
    for outcome in outcomes:
        counted = counted.with_outcome(outcome)
    return counted
