"""Budgets from the memory that is free."""

from __future__ import annotations

import pytest

from askew.models.local_memory import (
    KEPT,
    TOKENS,
    Sizes,
    _available,
    _left_in_group,
    budgets,
    free_memory,
)

GIGABYTE = 1 << 30


def test_plenty_of_memory_gives_what_is_fastest(make_network):
    found = budgets(make_network("llama"), free=64 * GIGABYTE)
    assert (found.tokens, found.kept) == (TOKENS["cpu"], KEPT)


def test_the_estimates_stay_within_what_is_free(make_network):
    network = make_network("llama")
    sizes = Sizes.of(network)
    for free in (10**5, 10**6, 10**7, 10**9):
        found = budgets(network, free=free)
        assert found.kept * sizes.kept <= free / 8
        assert found.room is None or found.room * sizes.kept <= free / 2
        assert found.tokens == 32 or found.tokens * sizes.computed <= free / 4
        assert found.rows == 1 or found.rows * sizes.vocabulary * 12 <= free / 8


def test_no_memory_at_all_still_gives_budgets_that_go_on(make_network):
    found = budgets(make_network("llama"), free=0)
    assert min(found.tokens, found.rows, found.prompts, found.room) >= 1
    assert found.kept == 0


def test_what_the_user_sets_stands(make_network):
    found = budgets(make_network("llama"), tokens=5000, prompts=99, free=1)
    assert (found.tokens, found.prompts, found.room) == (5000, 99, None)


@pytest.mark.parametrize("kind", ["llama", "gpt2", "bloom", "falcon"])
def test_keys_and_values_take_what_the_cache_says(make_network, torch, kind):
    network = make_network(kind)
    with torch.inference_mode():
        cache = network(torch.tensor([[1, 2, 3]]), use_cache=True).past_key_values
    held = sum(layer.keys.nbytes + layer.values.nbytes for layer in cache.layers)
    assert Sizes.of(network).kept >= held / 3


def test_the_system_is_asked_for_what_is_available(torch, tmp_path):
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal:       24000 kB\nMemAvailable:   12000 kB\n")
    assert _available(meminfo) == 12000 * 1024
    free = free_memory(torch.device("cpu"))
    assert free is None or free > 0


def test_a_container_has_what_its_limit_leaves(tmp_path):
    assert _left_in_group(tmp_path) is None
    (tmp_path / "memory.current").write_text("700\n")
    for limit, left in (("max\n", None), ("1000\n", 300), ("500\n", 0)):
        (tmp_path / "memory.max").write_text(limit)
        assert _left_in_group(tmp_path) == left
