"""Generated replies: the same alone and in company, cut where they should be."""

from __future__ import annotations

from collections import Counter

import pytest

from askew.models.local_cache import tree_for_prompts
from askew.models.local_generation import (
    Drawing,
    Request,
    generate,
    keep_only_end_tokens,
)
from askew.models.local_likelihood import tree_for
from askew.models.local_memory import Budgets
from askew.records import Finish

GREEDY = Drawing(temperature=0.0, top_p=1.0, max_tokens=12, stop=())
DRAWN = Drawing(temperature=1.0, top_p=1.0, max_tokens=12, stop=())
PROMPTS = [(40,), (41, 42, 43, 44, 45), (50, 51, 52), (40, 41), (60,) * 9]


@pytest.fixture(scope="module")
def network(make_network):
    return make_network("llama")


@pytest.fixture(scope="module")
def tokenizer(make_tokenizer):
    return make_tokenizer()


def sharing(network, tokens=64):
    """The tree that prompts are computed with."""
    tree = tree_for(network, Budgets(tokens=tokens, kept=64, rows=64))
    return tree_for_prompts(tree)


@pytest.mark.parametrize("drawing", [GREEDY, DRAWN])
@pytest.mark.parametrize("shared", [True, False])
def test_a_reply_does_not_depend_on_its_batch(network, tokenizer, drawing, shared):
    requests = [Request(prompt, drawing, seed) for seed, prompt in enumerate(PROMPTS)]
    tree = sharing(network) if shared else None
    together = generate(network, tokenizer, requests, batch_size=4, tree=tree)
    alone = [generate(network, tokenizer, [each], batch_size=1)[0] for each in requests]
    assert together == alone


@pytest.mark.parametrize("kind", ["llama", "gpt2", "qwen2", "gemma2", "mistral", "falcon", "bloom"])
def test_shared_beginnings_are_gone_on_from_as_if_computed_anew(make_network, tokenizer, kind):
    network = make_network(kind)
    prompts = [(*stem, *tail) for stem in ((), (40,) * 9, (41, 42)) for tail in PROMPTS]
    requests = [Request(prompt, DRAWN, seed) for prompt in prompts for seed in (1, 2)]
    tree, window = sharing(network, tokens=7), {"mistral": 16}.get(kind)
    found = generate(network, tokenizer, requests, batch_size=7, tree=tree, window=window)
    assert found == generate(network, tokenizer, requests, batch_size=7)


def test_networks_whose_cache_cannot_be_filled_from_a_tree_do_without(make_network):
    assert sharing(make_network("llama")) is not None
    assert sharing(make_network("falcon")) is None
    assert sharing(make_network("bloom")) is None


def test_replicates_of_a_prompt_are_computed_once(network, tokenizer):
    computed = []

    def note(module, inputs, keywords):
        computed.append(keywords["input_ids"].numel())

    prompt = tuple(range(40, 80))
    one = Drawing(temperature=1.0, top_p=1.0, max_tokens=1, stop=())
    requests = [Request(prompt, one, seed) for seed in range(10)]
    tree = sharing(network)
    handle = network.register_forward_pre_hook(note, with_kwargs=True)
    generate(network, tokenizer, requests, batch_size=10, tree=tree)
    handle.remove()
    # All but the last token once, the last one for each reply.
    assert sum(computed) == 39 + 10


def test_the_room_bounds_a_batch(network, tokenizer):
    widths = []

    def note(module, inputs, keywords):
        widths.append(len(keywords["input_ids"]))

    requests = [Request((40, 41, 42, seed), GREEDY, seed) for seed in range(50, 56)]
    handle = network.register_forward_pre_hook(note, with_kwargs=True)
    bounded = generate(network, tokenizer, requests, batch_size=8, room=3 * (4 + 12))
    handle.remove()
    assert max(widths) == 3
    # A request that has no room alone is served all the same.
    assert bounded == generate(network, tokenizer, requests, batch_size=8, room=1)


def test_the_likeliest_token_is_taken_at_temperature_zero(network, tokenizer, torch):
    prompt = PROMPTS[1]
    ids = list(prompt)
    with torch.inference_mode():
        for _ in range(GREEDY.max_tokens):
            ids.append(int(network(torch.tensor([ids])).logits[0, -1].argmax()))
            if ids[-1] == tokenizer.eos_token_id:
                break
    (found,) = generate(network, tokenizer, [Request(prompt, GREEDY, 0)], batch_size=1)
    new = ids[len(prompt) :]
    assert found.tokens == len(new)
    assert found.text == tokenizer.decode([i for i in new if i != tokenizer.eos_token_id])


def test_another_seed_draws_another_reply(network, tokenizer):
    requests = [Request(PROMPTS[0], DRAWN, seed) for seed in range(6)]
    texts = [each.text for each in generate(network, tokenizer, requests, batch_size=8)]
    assert len(set(texts)) > 3


def test_draws_follow_the_softmax_of_the_logits(make_network, tokenizer, torch):
    network = make_network("llama", initializer_range=0.1)
    one = Drawing(temperature=0.4, top_p=0.9, max_tokens=1, stop=())
    requests = [Request(PROMPTS[1], one, seed) for seed in range(1500)]
    drawn = Counter(each.text for each in generate(network, tokenizer, requests, batch_size=500))
    with torch.inference_mode():
        logits = network(torch.tensor([PROMPTS[1]])).logits[0, -1]
    likely = (logits / 0.4).softmax(-1)
    ordered = likely.argsort(descending=True).tolist()
    nucleus, mass = [], 0.0
    while mass < 0.9:
        token = ordered[len(nucleus)]
        nucleus.append(token)
        mass += likely[token].item()

    def shown(token: int) -> str:
        return "" if token == tokenizer.eos_token_id else tokenizer.decode([token])

    assert set(drawn) <= {shown(token) for token in nucleus}
    for token in nucleus[:3]:
        share = likely[token].item() / mass
        spread = (share * (1 - share) / 1500) ** 0.5
        assert drawn[shown(token)] / 1500 == pytest.approx(share, abs=5 * spread)


def test_a_stop_string_ends_the_reply_and_is_left_out(network, tokenizer):
    (free,) = generate(network, tokenizer, [Request(PROMPTS[2], GREEDY, 0)], batch_size=1)
    stop = free.text[4:6]
    assert stop
    stopping = Drawing(temperature=0.0, top_p=1.0, max_tokens=12, stop=(stop,))
    (found,) = generate(network, tokenizer, [Request(PROMPTS[2], stopping, 0)], batch_size=1)
    assert found.text == free.text[: free.text.index(stop)]
    assert found.finish is Finish.STOP
    assert found.tokens < free.tokens


def test_a_reply_cut_by_the_limit_says_so(network, tokenizer):
    short = Drawing(temperature=0.0, top_p=1.0, max_tokens=3, stop=())
    (found,) = generate(network, tokenizer, [Request(PROMPTS[0], short, 0)], batch_size=1)
    assert (found.finish, found.tokens) == (Finish.LENGTH, 3)


def test_the_end_token_ends_the_reply(make_network, tokenizer, torch):
    network = make_network("llama")
    with torch.inference_mode():  # the model's first choice is made its end token
        first = int(network(torch.tensor([PROMPTS[3]])).logits[0, -1].argmax())
    network.generation_config.eos_token_id = [first]
    (found,) = generate(network, tokenizer, [Request(PROMPTS[3], GREEDY, 0)], batch_size=1)
    assert (found.text, found.finish, found.tokens) == ("", Finish.STOP, 1)


def test_a_models_own_generation_settings_do_not_bend_the_reply(make_network, tokenizer):
    plain = generate(make_network("llama"), tokenizer, [Request((40,), GREEDY, 0)], batch_size=1)
    bent = make_network("llama")
    bent.generation_config.repetition_penalty = 5.0
    bent.generation_config.no_repeat_ngram_size = 1
    keep_only_end_tokens(bent, tokenizer)
    assert generate(bent, tokenizer, [Request((40,), GREEDY, 0)], batch_size=1) == plain
