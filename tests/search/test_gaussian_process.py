"""The process solved a test at a time is the process solved at once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

pytest.importorskip("numba")

from askew.search.features_text import TextSpace
from askew.search.game import Board, Observation, play
from askew.search.gaussian_process import (
    GaussianProcessPolicy,
    KernelSettings,
    Process,
    Walks,
    gp,
)
from askew.search.policies import policy
from tests.search.graphs import half_played

SETTINGS = KernelSettings(graph=0.05, text=0.02, product=0.03, noise=0.06, mean=0.1)


def kernel(board: Board) -> np.ndarray:
    """Of all topics, from the definition."""
    graph, used = board.graph, SETTINGS
    joined = np.zeros((graph.size, graph.size))
    for node in range(graph.size):
        joined[node, graph.around(node)] = 1
    degree = np.maximum(joined.sum(axis=1), 1)
    walk = np.linalg.inv(np.eye(graph.size) - 0.75 * joined / degree[:, None])
    lonely = joined.sum(axis=1) == 0
    walk[lonely] *= 4
    alike = walk * np.sqrt(degree[:, None] / degree[None, :])
    rows = TextSpace(board.title_vectors).rows(np.arange(graph.size, dtype=np.int32))
    told = rows @ rows.T
    return used.graph * alike + used.text * told + used.product * alike * told


@settings(max_examples=50, deadline=None)
@given(half_played())
def test_mean_variance_and_evidence_are_those_solved_at_once(
    played: tuple[Board, list[tuple[int, float]]],
) -> None:
    board, tests = played
    tests = [(node, share) for node, share in tests if share == share]
    walks = Walks(board, tolerance=1e-10)
    space = TextSpace(board.title_vectors)
    process = Process(board.graph.size, space.dimensions, SETTINGS)
    for node, share in tests:
        reached, _, alike = walks.from_topic(node)
        own = space.rows(np.array([node], np.int32))[0]
        process.observe(node, share, reached, alike, own, space.rows(reached))
    whole = kernel(board)
    at = np.array([node for node, _ in tests], int)
    seen = np.array([share for _, share in tests]) - SETTINGS.mean
    among = whole[np.ix_(at, at)] + SETTINGS.noise * np.eye(len(at))
    nodes = np.arange(board.graph.size, dtype=np.int32)
    rows = space.rows(nodes)
    walked, told = process.mean(nodes, rows)
    expected = whole[:, at] @ np.linalg.solve(among, seen) if len(at) else np.zeros(len(nodes))
    np.testing.assert_allclose(walked + told, expected, atol=1e-4)
    if len(at):
        _, logarithm = np.linalg.slogdet(among)
        evidence = -0.5 * (
            seen @ np.linalg.solve(among, seen) + logarithm + len(at) * np.log(2 * np.pi)
        )
        assert process.evidence == pytest.approx(evidence, abs=1e-3)


def test_what_was_tested_is_known_better_than_what_lies_far() -> None:
    board = Board(*_chain(), 5)
    walks, space = Walks(board), TextSpace(board.title_vectors)
    process = Process(board.graph.size, space.dimensions, SETTINGS)
    nodes = np.arange(board.graph.size, dtype=np.int32)
    before = process.variance(nodes, space.rows(nodes))
    reached, _, alike = walks.from_topic(0)
    process.observe(0, 1.0, reached, alike, space.rows(nodes[:1])[0], space.rows(reached))
    after = process.variance(nodes, space.rows(nodes))
    assert (after <= before + 1e-6).all()
    assert after[0] < before[0]
    assert after[0] < after[-1]


def _chain() -> tuple:
    from askew.graphs.topics import build_graph

    graph = build_graph([str(one) for one in range(20)], np.arange(1, 20), np.arange(19))
    return graph, np.random.default_rng(0).standard_normal((20, 3)).astype(np.float32)


@pytest.mark.parametrize("rule", ["mean", "ucb"])
def test_it_stays_beside_what_it_has_found(rule: str) -> None:
    graph, vectors = _chain()
    board = Board(graph, vectors, 8)
    policy_of = GaussianProcessPolicy(rule, settings=KernelSettings(text=0, product=0))
    played = play(board, policy_of, lambda node: Observation(float(node > 10)), start=10)
    assert played.label.sum() >= 6


def test_it_is_found_by_name_and_refuses_unknown_rules() -> None:
    assert policy("gp", rule="ucb", hope=1.0).name == "gp"
    with pytest.raises(ValueError, match=r'rule is "?\'?median'):
        gp("median")  # type: ignore[arg-type]
