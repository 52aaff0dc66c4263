"""The tree scorer against the definition, on models of several kinds."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askew.models.local_likelihood import (
    PlainScorer,
    TreeScorer,
    Windowed,
    scorer_for,
    tree_for,
)
from askew.models.local_memory import Budgets
from askew.models.local_tree import Tree
from askew.models.trie import TokenQuestion

TOKENS = st.integers(0, 97)


@st.composite
def batches(draw: st.DrawFn) -> list[TokenQuestion]:
    """Questions some of which share long beginnings."""
    stems = draw(st.lists(st.lists(TOKENS, max_size=40), min_size=1, max_size=3))
    continuation = st.lists(TOKENS, min_size=1, max_size=5).map(tuple)
    questions = []
    for _ in range(draw(st.integers(0, 8))):
        tail = draw(st.lists(TOKENS, min_size=1, max_size=6))
        choices = draw(st.lists(continuation, min_size=1, max_size=3).map(tuple))
        questions.append(TokenQuestion((*draw(st.sampled_from(stems)), *tail), choices))
    return questions


def assert_alike(found, expected):
    assert len(found) == len(expected)
    for left, right in zip(found, expected, strict=True):
        np.testing.assert_allclose(left, right, atol=1e-4, rtol=1e-5)


def bounded(tokens, kept=64, rows=64):
    return Budgets(tokens=tokens, kept=kept, rows=rows)


def chosen(network, tokens):
    return scorer_for(network, tree_for(network, bounded(tokens)))


KINDS = ["llama", "gpt2", "qwen2", "gemma", "gemma2", "mistral", "neox", "falcon", "bloom"]


@pytest.mark.parametrize("kind", KINDS)
def test_any_batch_scores_as_one_sequence_at_a_time(make_network, kind):
    network = make_network(kind)
    plain, scorer = PlainScorer(network), chosen(network, 48)

    # The scorer goes on from batch to batch with what it has kept.
    @settings(max_examples=12, deadline=None)
    @given(batches())
    def check(questions):
        assert_alike(scorer.score(questions), plain.score(questions))

    check()


@pytest.mark.parametrize("blocks", [True, False])
@pytest.mark.parametrize("budget", [1, 7, 30, 1000])
def test_both_ways_of_attending_agree_with_the_definition_at_any_budget(
    make_network, blocks, budget
):
    network = make_network("llama")
    plain = PlainScorer(network)
    scorer = TreeScorer(Tree(network, bounded(budget, kept=30, rows=budget), blocks=blocks))

    @settings(max_examples=8, deadline=None)
    @given(batches())
    def check(questions):
        assert_alike(scorer.score(questions), plain.score(questions))

    check()


@pytest.mark.parametrize("padded", [0.0, 0.65, 1.0])
@pytest.mark.parametrize("block", [1, 3, 64])
def test_how_a_pack_is_cut_into_blocks_does_not_change_a_score(
    make_network, monkeypatch, block, padded
):
    monkeypatch.setattr("askew.models.local_attention.BLOCK", block)
    monkeypatch.setattr("askew.models.local_attention.PADDED", padded)
    network = make_network("llama")
    questions = [TokenQuestion((1, 2, 3, *range(i, 2 * i), i), ((4,), (5, 6))) for i in range(12)]
    scorer = TreeScorer(Tree(network, bounded(40)))
    assert_alike(scorer.score(questions), PlainScorer(network).score(questions))


def test_the_last_layer_computes_only_what_is_read(make_network, torch):
    network = make_network("llama")
    seen = []
    handles = [
        layer.mlp.down_proj.register_forward_pre_hook(
            lambda module, inputs: seen.append(inputs[0].shape[1])
        )
        for layer in network.model.layers
    ]
    question = TokenQuestion(tuple(range(2, 22)), ((1, 2), (3,)))
    TreeScorer(Tree(network, bounded(64))).score([question])
    for handle in handles:
        handle.remove()
    assert seen == [21, 2]


def test_models_that_honour_a_tree_get_it_and_others_do_not(make_network):
    for kind in ("llama", "gpt2", "qwen2", "gemma", "gemma2", "neox"):
        assert tree_for(make_network(kind), bounded(64)).blocks, kind
    # Falcon computes attention by its own code, which takes a mask.
    assert not tree_for(make_network("falcon"), bounded(64)).blocks
    # BLOOM builds its position bias from a mask of its own.
    assert tree_for(make_network("bloom"), bounded(64)) is None
    assert isinstance(chosen(make_network("bloom"), 64), PlainScorer)


def test_trying_a_tree_leaves_the_network_as_it_was(make_network, capfd):
    for kind in ("llama", "falcon"):
        network = make_network(kind)
        before = network.config._attn_implementation
        tree_for(network, bounded(64))
        assert network.config._attn_implementation == before
    assert capfd.readouterr() == ("", "")


def test_the_tree_alone_is_wrong_beyond_a_sliding_window(make_network):
    """The reason why `Windowed` is there."""
    network = make_network("mistral")
    tokens = random.Random(0).choices(range(98), k=40)
    question = TokenQuestion(tuple(tokens), ((1,), (2,)))
    tree = TreeScorer(Tree(network, bounded(64))).score([question])
    plain = PlainScorer(network).score([question])
    assert not np.allclose(tree, plain, atol=1e-2)
    assert_alike(chosen(network, 64).score([question]), plain)


def test_the_definition_is_the_sum_of_log_softmax_over_the_continuation(make_network, torch):
    network = make_network("llama")
    prompt, continuation = (3, 4, 5), (6, 7)
    with torch.inference_mode():
        logits = network(torch.tensor([[*prompt, *continuation]])).logits[0].double()
    by_hand = sum(logits[2 + k].log_softmax(-1)[continuation[k]].item() for k in range(2))
    ((found,),) = PlainScorer(network).score([TokenQuestion(prompt, (continuation,))])
    assert found == pytest.approx(by_hand, abs=1e-5)


def test_a_checkpoint_can_stop_the_work_between_packs(make_network):
    class Enough(Exception):
        pass

    calls = 0

    def checkpoint():
        nonlocal calls
        calls += 1
        if calls == 2:
            raise Enough

    network = make_network("llama")
    scorer = TreeScorer(Tree(network, bounded(8)))
    questions = [TokenQuestion((i, i + 1), ((1,),)) for i in range(20)]
    with pytest.raises(Enough):
        scorer.score(questions, checkpoint)
    # What the stopped batch had begun does not show in the next one.
    assert_alike(scorer.score(questions), PlainScorer(network).score(questions))


def test_the_packaged_model_agrees_with_the_definition(builtin_model):
    import transformers

    from askew.models.tokens import split_choices

    tokenizer = transformers.AutoTokenizer.from_pretrained(builtin_model)
    network = transformers.AutoModelForCausalLM.from_pretrained(builtin_model).eval()
    questions = [
        split_choices(
            tokenizer.encode, f"{start}Ann was late. Who was?\nAnswer:", choices, start_token=1
        )
        for start in ("", "You are an old sailor. ")
        for choices in ((" (A)", " (B)", " (C)"), (" Ann", " Bob", " It cannot be known"))
    ]
    scorer = chosen(network, 96)
    assert isinstance(scorer, Windowed)
    assert_alike(scorer.score(questions), PlainScorer(network).score(questions))
