"""Features kept up to date test by test are those counted anew from their definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings

pytest.importorskip("numba")

from askew.graphs.topics import CHILD, PARENT, TopicGraph, build_graph
from askew.search import features_compiled as compiled
from askew.search.features import BASE, NAMES, Features
from askew.search.features_text import TextSpace
from askew.search.game import Board, Observation
from askew.search.gaussian_process import Walks
from askew.search.label_prior import LabelPrior
from tests.search.graphs import half_played, tell, topic_graphs


def counted_anew(graph: TopicGraph, tests: list[tuple[int, float]]) -> dict[str, np.ndarray]:
    """The counts of `features_compiled`, from their definitions, slowly."""
    size = graph.size
    kind = np.zeros((size, size), int)  # what column is to row
    for node in range(size):
        span = slice(int(graph.starts[node]), int(graph.starts[node + 1]))
        kind[node, graph.neighbours[span]] = graph.direction[span]
    joined = kind > 0
    degree = joined.sum(axis=1)
    counts = np.zeros((size, compiled.COLUMNS))
    for test, share in tests:
        if math.isnan(share):
            continue
        for node in range(size):
            weights = {
                compiled.NEAR: float(joined[node, test]),
                compiled.PARENTS: float(bool(kind[node, test] & PARENT)),
                compiled.CHILDREN: float(bool(kind[node, test] & CHILD)),
                compiled.DAMPED: joined[node, test] * min(1.0, (10 / max(degree[test], 1)) ** 0.5),
            }
            if node != test:
                middles = [m for m in range(size) if joined[test, m] and joined[m, node]]
                weights[compiled.SECOND] = sum(1 / degree[m] for m in middles)
                weights[compiled.SIBLINGS] = sum(
                    1 / degree[m]
                    for m in middles
                    if kind[test, m] & PARENT and kind[node, m] & PARENT
                )
            for column, weight in weights.items():
                counts[node, column] += share * weight
                counts[node, column + 1] += weight
    return {"counts": counts, "degree": degree}


@settings(max_examples=60, deadline=None)
@given(half_played())
def test_counts_kept_test_by_test_are_those_counted_anew(
    played: tuple[Board, list[tuple[int, float]]],
) -> None:
    board, tests = played
    features = Features(board)
    for node, share in tests:
        features.observe(node, *tell(board, node, share))
    plain = counted_anew(board.graph, tests)
    kept = features._counts[:, : compiled.WALK]
    np.testing.assert_allclose(kept, plain["counts"][:, : compiled.WALK], atol=1e-5)
    nodes = np.flatnonzero(~board.taken).astype(np.int32)
    rows = features.matrix(nodes)
    assert rows.shape == (len(nodes), len(NAMES))
    assert np.isfinite(rows).all()
    near = plain["counts"][nodes]
    share = (near[:, compiled.NEAR] + BASE) / (near[:, compiled.NEAR + 1] + 1)
    np.testing.assert_allclose(rows[:, NAMES.index("near_share")], share, atol=1e-5)
    np.testing.assert_allclose(
        rows[:, NAMES.index("degree")], np.log1p(plain["degree"][nodes]), atol=1e-5
    )


@settings(max_examples=40, deadline=None)
@given(topic_graphs())
def test_a_walk_by_pushes_is_the_walk_solved_for(graph: TopicGraph) -> None:
    board = Board(graph, np.zeros((graph.size, 0), np.float32), 1)
    walks = Walks(board, tolerance=1e-9)
    joined = np.zeros((graph.size, graph.size))
    for node in range(graph.size):
        joined[node, graph.around(node)] = 1
    degree = joined.sum(axis=1, keepdims=True)
    step = np.divide(joined, degree, out=np.zeros_like(joined), where=degree > 0)
    for node in range(graph.size):
        solved = 0.25 * np.linalg.inv(np.eye(graph.size) - 0.75 * step)[node]
        if not degree[node]:
            solved[node] = 1.0  # nowhere to go
        # The second time shows that nothing of the first was left behind.
        for _ in range(2):
            reached, walked, alike = walks.from_topic(node)
            assert len(np.unique(reached)) == len(reached)
            found = np.zeros(graph.size)
            found[reached] = walked
            np.testing.assert_allclose(found, solved, atol=1e-6)
        assert alike[reached == node] >= 1 - 1e-6


@settings(max_examples=30, deadline=None)
@given(half_played())
def test_an_unread_test_is_evidence_of_nothing(
    played: tuple[Board, list[tuple[int, float]]],
) -> None:
    board, tests = played
    other = Board(board.graph, board.title_vectors, board.queries)
    with_unread, without = Features(board), Features(other)
    for node, share in tests:
        with_unread.observe(node, *tell(board, node, share))
        if not math.isnan(share):
            without.observe(node, *tell(other, node, share))
    nodes = np.flatnonzero(~board.taken).astype(np.int32)
    of_all = [name for name in range(len(NAMES)) if NAMES[name] != "left_share"]
    np.testing.assert_array_equal(
        with_unread.matrix(nodes)[:, of_all], without.matrix(nodes)[:, of_all]
    )


def test_the_order_in_which_candidates_are_asked_about_changes_nothing() -> None:
    graph = build_graph([str(one) for one in range(30)], np.arange(1, 30), np.arange(29) // 2)
    vectors = np.random.default_rng(0).standard_normal((30, 4)).astype(np.float32)
    rows = []
    for order in (np.arange(30), np.arange(30)[::-1]):
        board = Board(graph, vectors, 30)
        features = Features(board)
        for node in (3, 7, 1, 15):
            features.observe(node, *tell(board, node, float(node % 2)))
            features.matrix(order[:5].astype(np.int32))
        rows.append(features.matrix(np.array([8, 16, 4], np.int32)))
    np.testing.assert_allclose(rows[0], rows[1], atol=1e-6)


def test_titles_count_whatever_their_scale_and_dimensions() -> None:
    random = np.random.default_rng(1)
    vectors = random.standard_normal((200, 6)).astype(np.float32)
    turn, _ = np.linalg.qr(random.standard_normal((40, 40)))
    wide = (100 * (vectors @ turn[:6]) + 7).astype(np.float32)
    nodes = np.arange(200, dtype=np.int32)
    one, other = TextSpace(vectors).rows(nodes), TextSpace(wide).rows(nodes)
    assert one.shape == other.shape == (200, 6)
    np.testing.assert_allclose(one @ one.T, other @ other.T, atol=1e-3)
    np.testing.assert_allclose(np.square(one).sum(axis=1).mean(), 1.0, atol=1e-3)


@pytest.mark.parametrize(
    "vectors",
    [
        np.zeros((5, 0), np.float32),
        np.zeros((5, 3), np.float32),
        np.ones((5, 3), np.float32),
        np.full((5, 3), np.nan, np.float32),
        np.full((5, 3), np.inf, np.float32),
    ],
)
def test_titles_without_meaning_say_nothing(vectors: np.ndarray) -> None:
    graph = build_graph(list("abcde"), np.array([1, 2, 3, 4]), np.array([0, 0, 1, 1]))
    board = Board(graph, vectors, 5)
    features = Features(board)
    features.observe(1, *tell(board, 1, 1.0))
    rows = features.matrix(np.array([0, 3], np.int32))
    assert np.isfinite(rows).all()
    assert (rows[:, NAMES.index("title_log_odds")] == 0).all()


def test_other_models_labels_are_used_and_held_against_what_is_seen() -> None:
    graph = build_graph(list("abcde"), np.array([1, 2, 3, 4]), np.array([0, 0, 1, 1]))
    prior = LabelPrior(np.array([0, 3, 0, 3, 0], np.float32), np.full(5, 3, np.float32))
    board = Board(graph, np.zeros((5, 1), np.float32), 5)
    features = Features(board, labels=prior)
    features.observe(1, *tell(board, 1, 1.0))
    rows = features.matrix(np.array([0, 3, 4], np.int32))
    odds = rows[:, NAMES.index("prior_labels")]
    assert odds[1] > 0 > odds[0] == odds[2]
    assert rows[0, NAMES.index("prior_labels_most")] == pytest.approx(odds[1])
    assert (rows[:, NAMES.index("prior_labels_evidence")] > 0).all()
    features.observe(3, *tell(board, 3, 0.0))
    again = features.matrix(np.array([0], np.int32))[0, NAMES.index("prior_labels_evidence")]
    assert again < rows[0, NAMES.index("prior_labels_evidence")]


def test_a_topic_that_nobody_labelled_has_no_prior() -> None:
    prior = LabelPrior(np.array([0, 1, 0], np.float32), np.array([1, 1, 0], np.float32))
    odds = prior.log_odds()
    assert odds[2] == 0
    assert odds[1] > 0 > odds[0]
    nobody = LabelPrior(np.zeros(3, np.float32), np.zeros(3, np.float32))
    assert (nobody.log_odds() == 0).all()


def test_a_soft_score_counts_as_its_share() -> None:
    graph = build_graph(list("abc"), np.array([1, 2]), np.array([0, 0]))
    board = Board(graph, np.zeros((3, 1), np.float32), 3)
    features = Features(board)
    seen = Observation(0.4, answers=5)
    board._take(1)
    features.observe(1, seen, board._record(1, seen))
    row = features.matrix(np.array([0], np.int32))[0]
    assert row[NAMES.index("near_found")] == pytest.approx(math.log1p(0.4))
    assert row[NAMES.index("children_found")] == pytest.approx(math.log1p(0.4))
    assert row[NAMES.index("parents_found")] == 0
