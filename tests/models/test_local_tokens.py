"""Where a prompt ends and a choice begins, in tokens."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askew.models.tokens import split_choices

# " A", " B", " C" are tokens, and ": C" is one as well: only for C does a token span the join.
SPANNING = ((" ", "A"), (" ", "B"), (" ", "C"), (":", " C"))


def lm_eval_split(encode, context, choice):
    """The rule of lm-eval 0.4.13, `TemplateLM._encode_pair`, for a context that is not blank."""
    stripped = context.rstrip()
    whole = encode(stripped + context[len(stripped) :] + choice)
    return tuple(encode(stripped)), tuple(whole[len(encode(stripped)) :])


def test_a_token_that_spans_the_join_moves_the_cut_for_all_choices(make_tokenizer):
    tokenizer = make_tokenizer(SPANNING)
    found = split_choices(tokenizer.encode, "Answer:", (" A", " B", " C"), start_token=0)
    assert tokenizer.decode(found.prompt) == "Answer"
    assert [tokenizer.decode(ids) for ids in found.continuations] == [": A", ": B", ": C"]
    assert [len(ids) for ids in found.continuations] == [2, 2, 1]


def test_lm_eval_would_leave_one_choice_without_a_token(make_tokenizer):
    """The trouble that the shared cut is there for."""
    encode = make_tokenizer(SPANNING).encode
    assert lm_eval_split(encode, "Answer:", " C")[1] == ()


def test_without_such_tokens_the_split_is_lm_evals(make_tokenizer):
    encode = make_tokenizer(((" ", "("), ("A", ")"))).encode
    choices = (" (A)", " (B)", " (C)")
    for context in ("Answer:", "Answer: ", "Answer:\n\n"):
        found = split_choices(encode, context, choices, start_token=0)
        for choice, ids in zip(choices, found.continuations, strict=True):
            assert (found.prompt, ids) == lm_eval_split(encode, context, choice)


def test_blanks_at_the_end_of_the_context_go_to_every_choice(make_tokenizer):
    tokenizer = make_tokenizer()
    found = split_choices(tokenizer.encode, "Answer: \n", ("A", "B"), start_token=0)
    assert tokenizer.decode(found.prompt) == "Answer:"
    assert [tokenizer.decode(ids) for ids in found.continuations] == [" \nA", " \nB"]


def test_an_empty_context_stands_on_the_start_token(make_tokenizer):
    encode = make_tokenizer().encode
    found = split_choices(encode, "", ("A", "B"), start_token=0)
    assert found.prompt == (0,)
    assert found.continuations == (tuple(encode("A")), tuple(encode("B")))
    with pytest.raises(ValueError, match="BOS or EOS"):
        split_choices(encode, "", ("A",), start_token=None)


def test_an_empty_choice_is_refused(make_tokenizer):
    with pytest.raises(ValueError, match="a choice is empty"):
        split_choices(make_tokenizer().encode, "Answer:", (" A", ""), start_token=0)


def test_every_choice_has_a_token_and_all_join_up_to_the_same_prompt(make_tokenizer):
    letters = st.sampled_from("ABC: (")
    tokenizer = make_tokenizer((*SPANNING, ("(", "A"), ("A", "B"), (" C", " C")), adds_bos=True)

    @given(
        st.text(letters, max_size=6),
        st.lists(st.text(letters, min_size=1, max_size=4), min_size=1, max_size=4),
    )
    def check(context, choices):
        found = split_choices(tokenizer.encode, context, choices, start_token=0)
        for choice, ids in zip(choices, found.continuations, strict=True):
            assert ids
            assert [*found.prompt, *ids] == tokenizer.encode(context + choice)

    check()
