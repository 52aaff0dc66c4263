"""A scenario that was chosen for its luck: what selecting replies say, and what fresh ones say.

The model answers by a fair coin, so that every scenario has a success rate of one half, exactly.
"""

from __future__ import annotations

import random
import sys

import pytest

from askew.build.flex import execute, prepare
from askew.build.select import Rule, Selection, category_order, luck_of
from askew.build.settings import checked
from askew.records import AttackCategory, Outcome, Scenario

ITEMS = 500
EACH = {
    AttackCategory.PERSONA_INJECTION: 8,
    AttackCategory.COMPETING_OBJECTIVES: 5,
    AttackCategory.TEXT_ATTACK: 4,
}


def coin(rng: random.Random) -> Outcome:
    return Outcome.STEREOTYPED if rng.random() < 0.5 else Outcome.NEUTRAL


@pytest.mark.parametrize(
    ("rule", "least"), [(Rule(5, 3), 0.75), (Rule(5, 4), 0.75), (Rule(3, 2), 0.8)]
)
def test_selecting_replies_overstate_a_coin_and_fresh_ones_do_not(rule, least):
    rng = random.Random(1)
    selecting = fresh = chosen = asked = 0
    for number in range(ITEMS):
        selection = Selection(category_order(str(number), list(AttackCategory), 0), rule)
        while not selection.decided:
            if (category := selection.category) is not None:
                scenarios = [Scenario(category, str(k)) for k in range(EACH[category])]
                selection.enter(category, luck_of(str(number), scenarios, 0))
                continue
            for scenario, _ in selection.wanted():
                asked += 1
                selection.take(scenario, coin(rng))
        if selection.choice is not None:
            chosen += 1
            selecting += selection.chosen_tally.biased
            fresh += sum(coin(rng) is not Outcome.NEUTRAL for _ in range(rule.replies))
    replies = chosen * rule.replies
    print(
        f"{rule}: {chosen} of {ITEMS} items given a scenario; success rate "
        f"{selecting / replies:.3f} on the replies that selected, {fresh / replies:.3f} on fresh "
        f"ones, 0.500 in truth; {asked / ITEMS:.1f} of {sum(EACH.values()) * rule.replies} "
        "replies asked an item"
    )
    assert selecting / replies > least
    assert abs(fresh / replies - 0.5) < 4 * (0.25 / replies) ** 0.5


async def test_a_built_set_states_both_and_its_fresh_interval_holds_the_truth(
    tmp_path,
):
    target = {"name": "python/tests.build.coin:answer", "options": {"paid": False, "batch": 1}}
    build = {"controls": 0, "items": 60}
    file = checked({"out": str(tmp_path / "set"), "models": {"target": target}, "build": build})
    built = await execute(prepare(file))
    report = built.report
    on_selecting = report["selection"]["attack_success_rate"]["overall"]
    on_fresh = report["fresh"]["selected"]["attack_success_rate"]["overall"]
    on_random = report["fresh"]["random"]["attack_success_rate"]["overall"]
    curse, gain = report["winners_curse"]["overall"], report["selected_minus_random"]["overall"]
    print(
        *(
            f"{one.value:.3f} [{one.lower:.3f}, {one.upper:.3f}]"
            for one in (on_selecting, on_fresh, on_random, curse, gain)
        )
    )
    assert on_selecting.value > 0.7
    for one, truth in ((on_fresh, 0.5), (on_random, 0.5), (gain, 0.0)):
        # About four standard errors: an interval misses the truth one time in twenty.
        assert abs(one.value - truth) < one.upper - one.lower
    assert curse.lower > 0.1
    assert "tests.build.coin" in sys.modules
