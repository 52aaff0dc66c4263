"""The promise of each pick, mended from running sums, is the one summed from the definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("numba")

from askew.errors import ConfigError
from askew.graphs.topics import TopicGraph, build_graph
from askew.search.ens import ENS
from askew.search.ens_compiled import best_of_changed
from askew.search.game import Board, Observation, play
from askew.search.policies import policy
from tests.search.graphs import half_played, tell

GAINS = st.lists(st.floats(0.0, 1.0), max_size=8)


@settings(max_examples=200, deadline=None)
@given(GAINS, GAINS, st.data(), st.integers(0, 12))
def test_the_best_of_changed_gains_is_that_of_the_new_list(
    old: list[float], new: list[float], data: st.DataObject, most: int
) -> None:
    gains = np.sort(np.array(old))[::-1].copy()
    removed = sorted(data.draw(st.sets(st.integers(0, len(old) - 1)))) if old else []
    kept = np.delete(gains, removed)
    expected = np.sort(np.concatenate([kept, new]))[::-1][:most].sum()
    found = best_of_changed(
        gains,
        np.append(0.0, np.cumsum(gains)),
        np.array(removed, np.int64),
        np.sort(np.array(new))[::-1].copy(),
        most,
    )
    assert found == pytest.approx(expected, abs=1e-9)


def chances(graph: TopicGraph, tests: list[tuple[int, float]]) -> np.ndarray:
    """The share model, from its definition."""
    found, tested = np.zeros(graph.size), np.zeros(graph.size)
    for test, share in tests:
        for one in graph.around(test).tolist():
            found[one] += share
            tested[one] += 1
            for two in graph.around(one).tolist():
                if two != test:
                    found[two] += share / len(graph.around(one))
                    tested[two] += 1 / len(graph.around(one))
    return (found + 0.08) / (tested + 1)


@settings(max_examples=60, deadline=None)
@given(half_played())
def test_it_picks_what_promises_most_by_the_definition(
    played: tuple[Board, list[tuple[int, float]]],
) -> None:
    board, tests = played
    tests = [(node, share) for node, share in tests if share == share]
    chooser = ENS()
    chooser.start(board, np.random.default_rng(0))
    for node, share in tests:
        chooser.observe(node, *tell(board, node, share))
    node = chooser.pick()
    candidates = board.candidates()
    now = chances(board.graph, tests)
    worth = {}
    for one in candidates.tolist():
        worth[one] = now[one]
        for label, likely in ((1.0, now[one]), (0.0, 1 - now[one])):
            then = chances(board.graph, [*tests, (one, label)])
            rest = (~board.taken) & (np.arange(board.graph.size) != one)
            # Topics that no gain was found for count as untouched ones, of which there are plenty.
            gains = np.sort(np.maximum(then[rest] - 0.08, 0))[::-1]
            worth[one] += likely * gains[: board.left - 1].sum()
    assert worth[node] == pytest.approx(max(worth.values()), abs=1e-4)
    assert chooser.last_probability == pytest.approx(now[node], abs=1e-5)


def test_early_it_prefers_what_tells_much_and_at_the_end_what_is_likely() -> None:
    # Topic 0 was found; 1 is its parent with many children, 2 a child that stands alone.
    children = np.array([0, 2, *range(3, 20)])
    parents = np.array([1, 0, *[1] * 17])
    graph = build_graph([str(one) for one in range(20)], children, parents)
    picks = []
    for queries in (12, 2):
        board = Board(graph, np.zeros((20, 1), np.float32), queries)
        chooser = ENS()
        chooser.start(board, np.random.default_rng(0))
        chooser.observe(0, *tell(board, 0, 1.0))
        picks.append(chooser.pick())
    assert picks[0] == 1


def test_it_plays_a_whole_game_on_scattered_topics() -> None:
    graph = build_graph(list("abcd"), np.array([1]), np.array([0]))
    board = Board(graph, np.zeros((4, 1), np.float32), 4)
    played = play(board, policy("ens"), lambda node: Observation(float("nan"), answers=0))
    assert sorted(played.tested.tolist()) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "options", [{"base": 0.0}, {"strength": -1.0}, {"second": -0.1}, {"horizon": 0}]
)
def test_settings_without_meaning_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match="expected"):
        policy("ens", **options)
