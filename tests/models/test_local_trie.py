"""Packing questions into trees: nothing lost, nothing twice, nothing over the budget."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askew.models.trie import Pack, TokenQuestion, pack

TOKENS = st.lists(st.integers(0, 2), min_size=1, max_size=8).map(tuple)
QUESTIONS = st.lists(
    st.builds(TokenQuestion, TOKENS, st.lists(TOKENS, min_size=1, max_size=3).map(tuple)),
    max_size=12,
)
BUDGETS = st.integers(1, 40)


def paths(each: Pack) -> list[tuple[int, ...]]:
    """The tokens from the root to each node."""
    found: list[tuple[int, ...]] = []
    for token, parent in zip(each.tokens, each.parents, strict=True):
        found.append((*(found[parent] if parent >= 0 else each.kept), token))
    return found


@given(QUESTIONS, BUDGETS, BUDGETS)
def test_each_token_of_each_choice_is_read_once_after_its_own_history(questions, tokens, rows):
    read: dict[tuple[int, int], list[tuple[tuple[int, ...], int]]] = {}
    for each in pack(questions, token_budget=tokens, row_budget=rows):
        histories = paths(each)
        for target in each.targets:
            place = (target.question, target.choice)
            read.setdefault(place, []).append((histories[target.node], target.token))
    expected = {
        (number, choice): [
            ((*question.prompt, *continuation[:done]), token)
            for done, token in enumerate(continuation)
        ]
        for number, question in enumerate(questions)
        for choice, continuation in enumerate(question.continuations)
    }
    assert read == expected


@given(QUESTIONS, BUDGETS, BUDGETS)
def test_no_history_is_computed_twice_in_a_pack_and_depths_count_it(questions, tokens, rows):
    for each in pack(questions, token_budget=tokens, row_budget=rows):
        histories = paths(each)
        assert len(set(histories)) == len(histories)
        assert each.depths == [len(history) - 1 for history in histories]


@given(QUESTIONS, BUDGETS, BUDGETS)
def test_only_a_question_that_is_too_long_alone_exceeds_the_budgets(questions, tokens, rows):
    for each in pack(questions, token_budget=tokens, row_budget=rows):
        alone = len({target.question for target in each.targets}) == 1
        assert alone or (len(each.tokens) <= tokens and len(each.rows) <= rows)


@given(QUESTIONS, BUDGETS, BUDGETS)
def test_what_a_pack_keeps_is_what_the_pack_before_computed_first(questions, tokens, rows):
    kept_before: tuple[int, ...] = ()
    for each in pack(questions, token_budget=tokens, row_budget=rows):
        assert each.kept == kept_before[: len(each.kept)]
        assert each.stem is not None
        stem_nodes = len(each.stem) - len(each.kept)
        if stem_nodes > 0:
            assert paths(each)[stem_nodes - 1] == each.stem
        kept_before = each.stem


def test_a_shared_beginning_is_computed_once_over_all_packs():
    stem = tuple(range(100))
    questions = [TokenQuestion((*stem, 200 + i), ((1,), (2,))) for i in range(50)]
    packs = list(pack(questions, token_budget=110, row_budget=1000))
    assert len(packs) > 1
    assert sum(len(each.tokens) for each in packs) == 100 + 50


def test_an_empty_prompt_or_continuation_is_refused():
    for prompt, continuations in (((), ((1,),)), ((1,), ((),))):
        with pytest.raises(ValueError, match="at least one token"):
            TokenQuestion(prompt, continuations)
