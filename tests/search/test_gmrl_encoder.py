"""Eq. 4 by torch and by the compiled walks, against one plain loop; GraphSAGE's sampling."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")
pytest.importorskip("numba")

from askew.search.gmrl_network import GmrlNetwork, gather_topics  # noqa: E402
from askew.search.gmrl_projection import project, towers  # noqa: E402
from askew.search.gmrl_rows import refresh  # noqa: E402
from askew.search.gmrl_settings import variant_settings  # noqa: E402
from askew.search.gmrl_walks import UNTOUCHED  # noqa: E402

from .gmrl_plain import plain_embedding, plain_q, random_graph  # noqa: E402

AGGREGATORS = ("full", "without_attention", "without_both")


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), variant=st.sampled_from(AGGREGATORS))
def test_torch_and_compiled_embeddings_are_the_plain_ones(seed: int, variant: str) -> None:
    random = np.random.default_rng(seed)
    nodes = int(random.integers(1, 20))
    graph = random_graph(random, nodes, int(random.integers(0, 3 * nodes)))
    network = GmrlNetwork(variant_settings(variant, embedding=6, tower=5, query=3), 4, random)
    weights = network.arrays()
    before, after = random.standard_normal((2, nodes, 4)).astype(np.float32)
    # Each topic in a state of its own: those with order < step are tested.
    order = random.integers(10, size=(nodes, nodes)).astype(np.int32)
    step = random.integers(11, size=nodes)
    everything = np.arange(nodes)
    topics = gather_topics(graph, everything, everything, step, order)
    first, then = torch.from_numpy(before), torch.from_numpy(after)
    found = network.embed(first, then, topics).detach().numpy()
    for node in range(nodes):
        h0 = np.where((order[node] < step[node])[:, None], after, before)
        plain = plain_embedding(weights, h0, graph.around(node), node, network.aggregate)
        np.testing.assert_allclose(found[node], plain, rtol=1e-4, atol=1e-5)

    h = np.zeros((nodes, 6), np.float32)
    keys = np.zeros((nodes, 4), np.float32)
    refresh(
        everything.astype(np.int32),
        graph.starts,
        graph.neighbours,
        project(weights, before),
        network.aggregate,
        towers(weights),
        h,
        keys,
    )
    for node in range(nodes):
        plain = plain_embedding(weights, before, graph.around(node), node, network.aggregate)
        np.testing.assert_allclose(h[node], plain, rtol=1e-4, atol=1e-5)
    # Q by torch and from the compiled keys.
    summary = random.standard_normal(3 * 6 + 5).astype(np.float32)
    values = network.q(torch.from_numpy(summary).expand(nodes, -1), torch.from_numpy(h))
    np.testing.assert_allclose(
        values.detach().numpy(), plain_q(weights, summary, h), rtol=1e-3, atol=1e-4
    )


def test_attention_coefficients_sum_to_one() -> None:
    # With W_r = 0 and equal neighbours h is what one neighbour gives, whatever the coefficients.
    random = np.random.default_rng(0)
    network = GmrlNetwork(variant_settings(embedding=4), 2, random)
    with torch.no_grad():
        network.own.zero_()
    graph = random_graph(random, 9, 30)
    h0 = torch.ones(9, 2)
    nobody = np.full((1, 9), UNTOUCHED, np.int32)
    zeros = np.zeros(9, np.int64)
    h = network.embed(h0, h0, gather_topics(graph, np.arange(9), zeros, zeros, nobody))
    linked = np.diff(graph.starts) > 0
    expected = torch.relu(h0[0] @ network.neighbour).detach().numpy()
    np.testing.assert_allclose(
        h.detach().numpy()[linked], np.tile(expected, (linked.sum(), 1)), rtol=1e-5
    )


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), fan_out=st.integers(1, 6))
def test_sampling_keeps_so_many_neighbours_each_once(seed: int, fan_out: int) -> None:
    random = np.random.default_rng(seed)
    graph = random_graph(random, 15, 60)
    nodes = random.integers(15, size=8)
    zeros = np.zeros(8, np.int64)
    order = np.full((1, 15), UNTOUCHED, np.int32)
    topics = gather_topics(graph, nodes, zeros, zeros, order, fan_out=fan_out, random=random)
    for row, node in enumerate(nodes.tolist()):
        drawn = topics.neighbour[topics.row == row].tolist()
        around = graph.around(node).tolist()
        assert len(drawn) == len(set(drawn)) == min(fan_out, len(around))
        assert set(drawn) <= set(around)


def test_sampling_is_fresh_in_every_step() -> None:
    random = np.random.default_rng(0)
    graph = random_graph(random, 30, 300)
    nodes, zeros = np.arange(30), np.zeros(30, np.int64)
    order = np.full((1, 30), UNTOUCHED, np.int32)
    first, second = (
        gather_topics(graph, nodes, zeros, zeros, order, fan_out=3, random=random) for _ in range(2)
    )
    assert first.neighbour.tolist() != second.neighbour.tolist()
