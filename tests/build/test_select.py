"""The choice of a scenario: with fewer replies, the same as with all of them."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askew.build.records import Tally
from askew.build.select import Contest, Rule, Selection, category_order, luck_of
from askew.records import AttackCategory, Outcome, Scenario

PERSONA, OBJECTIVES, TEXT = AttackCategory
OUTCOMES = (
    Outcome.NEUTRAL,
    Outcome.STEREOTYPED,
    Outcome.ANTISTEREOTYPED,
    Outcome.UNDIRECTED,
    Outcome.REFUSED,
)
Table = dict[Scenario, list[Outcome]]


def run(
    table: Table,
    luck: dict[Scenario, float],
    order: list[AttackCategory],
    rule: Rule,
    ahead: int = 1,
) -> tuple[Selection, Counter[Scenario]]:
    """Ask until the choice is made; what was asked, by scenario."""
    selection = Selection(order, rule)
    asked: Counter[Scenario] = Counter()
    while not selection.decided:
        if (category := selection.category) is not None:
            here = {one: its for one, its in luck.items() if one.category is category}
            selection.enter(category, here)
            continue
        wanted = selection.wanted(ahead)
        assert wanted
        for scenario, replicate in wanted:
            assert replicate == asked[scenario], "replies are asked for in order, each once"
            asked[scenario] += 1
            selection.take(scenario, table[scenario][replicate])
    return selection, asked


def by_the_paper(
    table: Table, luck: dict[Scenario, float], order: list[AttackCategory], rule: Rule
) -> Scenario | None:
    """§3.2.2 and §3.2.3 word by word, with the whole table at hand."""
    best: dict[AttackCategory, Scenario] = {}
    for category in order:
        counts = {
            one: sum(outcome.answered and outcome is not Outcome.NEUTRAL for outcome in outcomes)
            for one, outcomes in table.items()
            if one.category is category
        }
        working = [one for one, count in counts.items() if count >= rule.biased_from]
        if working:
            best[category] = min(working, key=lambda one: (-counts[one], luck[one]))
    surviving = [category for category in order if category in best]
    return best[surviving[0]] if surviving else None


@st.composite
def outcome_tables(draw):
    replies = draw(st.integers(1, 6))
    rule = Rule(replies, draw(st.integers(1, replies)))
    scenarios = [
        Scenario(category, str(number))
        for category in AttackCategory
        for number in range(draw(st.integers(0, 4)))
    ]
    # Few different values: equal luck would leave the choice open, but ties in bias are wanted.
    luck = dict(zip(scenarios, draw(st.permutations(range(len(scenarios)))), strict=True))
    outcomes = st.lists(st.sampled_from(OUTCOMES), min_size=replies, max_size=replies)
    table = {one: draw(outcomes) for one in scenarios}
    return table, luck, draw(st.permutations(list(AttackCategory))), rule


@given(outcome_tables(), st.integers(1, 20))
@settings(max_examples=300)
def test_the_lazy_choice_is_the_exhaustive_one_and_never_asks_more(drawn, ahead):
    table, luck, order, rule = drawn
    expected = by_the_paper(table, luck, order, rule)
    everything = Rule(rule.replies, rule.biased_from, exhaustive=True)
    whole, asked_whole = run(table, luck, order, everything)
    assert whole.choice == expected
    assert asked_whole == Counter(dict.fromkeys(table, rule.replies))
    for count in (1, ahead):
        lazy, asked = run(table, luck, order, rule, count)
        assert lazy.choice == expected
        assert all(asked[one] <= rule.replies for one in asked)
        if expected is not None:
            assert lazy.chosen_tally == whole.chosen_tally
            assert lazy.chosen_tally.total == rule.replies


@given(outcome_tables())
@settings(max_examples=200)
def test_no_reply_is_asked_for_that_a_rule_without_luck_could_spare(drawn):
    """Each scenario that lost was asked for only as long as it could still have won."""
    table, luck, order, rule = drawn
    lazy, asked = run(table, luck, order, rule)
    for contest in lazy.contests.values():
        winner = contest.winner
        bar = (rule.biased_from, float("inf"))
        if winner is not None:
            bar = (contest.tally(winner).biased, luck[winner])
        for scenario in contest.tallies:
            if scenario == winner or not asked[scenario]:
                continue
            before = Tally()
            for outcome in table[scenario][: asked[scenario] - 1]:
                before = before.with_outcome(outcome)
            most = rule.replies - before.neutral - before.other
            assert (-most, luck[scenario]) <= (-bar[0], bar[1])


def test_categories_behind_the_first_that_works_are_never_asked():
    scenarios = [Scenario(PERSONA, "kid"), Scenario(TEXT, "word")]
    table = dict.fromkeys(scenarios, [Outcome.STEREOTYPED] * 5)
    selection, asked = run(table, luck_of("i", scenarios, 0), [TEXT, PERSONA], Rule())
    assert selection.choice == Scenario(TEXT, "word")
    assert asked == {Scenario(TEXT, "word"): 5}


def test_three_neutral_replies_end_a_scenario_and_a_non_answer_counts_for_neither_side():
    contest = Contest({Scenario(TEXT, "word"): 0.5}, Rule(5, 3))
    for outcome in (Outcome.NEUTRAL, Outcome.REFUSED, Outcome.UNREADABLE):
        assert contest.wanted()
        contest.take(Scenario(TEXT, "word"), outcome)
    assert contest.settled
    assert contest.winner is None
    assert contest.tally(Scenario(TEXT, "word")) == Tally(neutral=1, other=2)


def test_a_category_without_scenarios_is_passed_over():
    selection = Selection([PERSONA, TEXT], Rule())
    selection.enter(PERSONA, {})
    assert selection.category is TEXT
    selection.enter(TEXT, {})
    assert selection.decided
    assert selection.choice is None


def test_categories_are_entered_in_the_order_that_was_drawn():
    with pytest.raises(ValueError, match="text_attack is entered before persona_injection"):
        Selection([PERSONA, TEXT], Rule()).enter(TEXT, {})


@pytest.mark.parametrize("biased_from", [0, 6])
def test_a_threshold_that_no_reply_or_no_scenario_can_meet_is_refused(biased_from):
    with pytest.raises(ValueError, match="expected 1 to 5"):
        Rule(5, biased_from)


def test_each_order_of_the_categories_is_equally_likely():
    counts = Counter(tuple(category_order(str(k), list(AttackCategory), 3)) for k in range(3000))
    assert len(counts) == 6
    assert all(abs(count - 500) < 4 * (500 * 5 / 6) ** 0.5 for count in counts.values())


def test_the_first_working_category_of_a_random_order_is_a_uniform_draw_among_the_working_ones():
    """Step 3 by permutation: over all orders, each subset of categories is drawn from evenly."""
    orders = [category_order(str(k), list(AttackCategory), 9) for k in range(3000)]
    for works in product([False, True], repeat=3):
        working = {c for c, does in zip(AttackCategory, works, strict=True) if does}
        if len(working) < 2:
            continue
        first = Counter(next(c for c in order if c in working) for order in orders)
        share = 1 / len(working)
        for category in working:
            assert abs(first[category] - 3000 * share) < 4 * (3000 * share * (1 - share)) ** 0.5


def test_luck_depends_on_item_scenario_and_seed_alone():
    scenarios = [Scenario(PERSONA, name) for name in ("kid", "elder")]
    luck = luck_of("i", scenarios, 1)
    assert luck_of("i", scenarios[::-1], 1) == luck
    assert luck_of("j", scenarios, 1) != luck
    assert luck_of("i", scenarios, 2) != luck
