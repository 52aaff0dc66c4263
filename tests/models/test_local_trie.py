"""Packing questions into trees: nothing lost, nothing twice, nothing over the budget."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askew.models.trie import ROOT, Forest, Pack, TokenQuestion, common_beginnings, pack

TOKENS = st.lists(st.integers(0, 2), min_size=1, max_size=8).map(tuple)
QUESTIONS = st.lists(
    st.builds(TokenQuestion, TOKENS, st.lists(TOKENS, max_size=3).map(tuple)),
    max_size=12,
)
BUDGETS = st.integers(1, 40)


class Memory:
    """What the buffers of a model would hold: for each slot the tokens from the first one on."""

    def __init__(self) -> None:
        self.held: dict[int, tuple[int, ...]] = {}

    def compute(self, each: Pack) -> list[tuple[int, ...]]:
        """Fill the slots of the pack's nodes from their parents'; the histories of the nodes."""
        for slot in each.slots:
            node = each.forest.nodes[slot]
            before = () if node.parent == ROOT else self.held[node.parent]
            self.held[slot] = (*before, node.token)
        return [self.held[slot] for slot in each.slots]


def expected_of(questions):
    return {
        (number, choice): [
            ((*question.prompt, *continuation[:done]), token)
            for done, token in enumerate(continuation)
        ]
        for number, question in enumerate(questions)
        for choice, continuation in enumerate(question.continuations)
    }


@given(st.lists(QUESTIONS, min_size=1, max_size=3), BUDGETS, BUDGETS, st.integers(0, 20))
def test_each_token_of_each_choice_is_read_once_after_its_own_history(
    batches, tokens, rows, capacity
):
    """Also where a later batch goes on from what an earlier one has left in memory."""
    forest, memory = Forest(capacity), Memory()
    for questions in batches:
        read: dict[tuple[int, int], list[tuple[tuple[int, ...], int]]] = {}
        for each in pack(questions, token_budget=tokens, row_budget=rows, forest=forest):
            histories = memory.compute(each)
            for target in each.targets:
                place = (target.question, target.choice)
                read.setdefault(place, []).append((histories[target.node], target.token))
            for question, end in each.ends.items():
                assert histories[end] == questions[question].prompt
        assert read == expected_of(questions)


@given(QUESTIONS, BUDGETS, BUDGETS)
def test_no_history_is_computed_twice_in_a_pack_and_depths_count_it(questions, tokens, rows):
    memory = Memory()
    for each in pack(questions, token_budget=tokens, row_budget=rows, forest=Forest(20)):
        histories = memory.compute(each)
        assert len(set(histories)) == len(histories)
        assert each.depths == [len(history) - 1 for history in histories]
        assert each.tokens == [history[-1] for history in histories]


@given(QUESTIONS, BUDGETS, BUDGETS)
def test_only_a_question_that_is_too_long_alone_exceeds_the_budgets(questions, tokens, rows):
    for each in pack(questions, token_budget=tokens, row_budget=rows):
        alone = len(each.ends) == 1
        assert alone or (len(each.slots) <= tokens and len(each.rows) <= rows)


@given(st.lists(QUESTIONS, min_size=1, max_size=3), BUDGETS, st.integers(0, 20))
def test_what_is_kept_between_packs_stays_within_the_capacity(batches, tokens, capacity):
    forest = Forest(capacity)
    for questions in batches:
        for _ in pack(questions, token_budget=tokens, row_budget=9, forest=forest):
            pass
        longest = max((len(question.prompt) for question in questions), default=0)
        if questions:
            assert len(forest.nodes) <= (capacity + longest if capacity else 0)
        # Every kept node still has its parent, and no slot is both used and free.
        for node in forest.nodes.values():
            assert node.parent == ROOT or node.parent in forest.nodes
        assert not set(forest.nodes) & set(forest._free)


@given(QUESTIONS, BUDGETS, st.integers(1, 20))
def test_with_memory_for_it_only_the_choices_of_one_question_exceed_the_budget(
    questions, tokens, capacity
):
    """A prompt of any length comes in pieces, so that memory is bounded by the budget."""
    for each in pack(questions, token_budget=tokens, row_budget=99, forest=Forest(capacity)):
        if len(each.slots) > tokens:
            (number,) = each.ends
            tails = sum(len(continuation) - 1 for continuation in questions[number].continuations)
            assert len(each.slots) <= 1 + tails


def test_a_long_prompt_comes_in_pieces_of_the_budget():
    question = TokenQuestion(tuple(range(100)), ((1, 2), (3,)))
    packs = pack([question], token_budget=30, row_budget=9, forest=Forest(1))
    assert [len(each.slots) for each in packs] == [30, 30, 30, 11]


def test_a_forest_without_capacity_lets_every_pack_stand_alone():
    questions = [TokenQuestion((1, 2, 3, number), ((1,),)) for number in range(9)]
    for each in pack(questions, token_budget=6, row_budget=9):
        own = set(each.slots)
        assert all(each.forest.nodes[slot].parent in {ROOT, *own} for slot in own)


def test_sorted_questions_cost_their_distinct_tokens_whatever_the_budget():
    """The last prompt is kept, and what the next one shares with all before it shares with it."""
    stem = tuple(range(100))
    questions = [
        TokenQuestion((*stem[: 10 * fork], 200 + fork, 300 + leaf), ((1,), (2,)))
        for fork in range(10)
        for leaf in range(5)
    ]
    distinct = {
        question.prompt[:length]
        for question in questions
        for length in range(1, len(question.prompt) + 1)
    }
    for budget in (1, 20, 10_000):
        packs = pack(questions, token_budget=budget, row_budget=1000, forest=Forest(1))
        assert sum(len(each.slots) for each in packs) == len(distinct)


def test_a_beginning_that_many_share_outlives_the_batches_between():
    attack, other = tuple(range(100)), tuple(range(200, 300))
    forest = Forest(1000)

    def cost(stem):
        questions = [TokenQuestion((*stem, 500 + item), ((1,),)) for item in range(8)]
        packs = pack(questions, token_budget=64, row_budget=100, forest=forest)
        return sum(len(each.slots) for each in packs)

    assert [cost(attack), cost(other), cost(attack), cost(other)] == [108, 108, 8, 8]


def test_the_beginning_that_was_unused_for_longest_makes_room():
    forest = Forest(250)

    def cost(start):
        stem = tuple(range(start, start + 100))
        questions = [TokenQuestion((*stem, 5000 + item), ((1,),)) for item in range(8)]
        packs = pack(questions, token_budget=64, row_budget=100, forest=forest)
        return sum(len(each.slots) for each in packs)

    costs = [cost(start) for start in (0, 1000, 0, 2000, 0, 1000)]
    assert costs == [108, 108, 8, 108, 8, 108]


def test_beginnings_worth_keeping_are_long_shared_by_several_and_not_nearly_the_same():
    attack = tuple(range(40))
    prompts = sorted(
        [(*attack, word, item) for word in (70, 71) for item in range(4)]
        + [(*attack, *range(80, 110), item) for item in range(4)]
        + [(900, item) for item in range(5)]
        + [(*range(1000, 1040), item) for item in range(3)]
    )
    found = common_beginnings(prompts)
    # The first word below the attack adds a token, so the attack's own place in the tree counts
    # as used; the long tail is worth keeping; two tokens or three prompts are not.
    assert {length for prompt, length in zip(prompts, found, strict=True) if length} == {41, 70}


def test_an_empty_prompt_or_continuation_is_refused():
    for prompt, continuations in (((), ((1,),)), ((1,), ((),))):
        with pytest.raises(ValueError, match="at least one token"):
            TokenQuestion(prompt, continuations)
