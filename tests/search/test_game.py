"""The rules: what may be picked, what a test shows, when a game ends."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askew.search.game import (
    CLEAN,
    LEANING,
    UNREAD,
    UNTESTED,
    Board,
    Game,
    IllegalPick,
    Observation,
    play,
)
from askew.search.policies import policy
from askew.search.worlds import World
from tests.search.boards import board_of, graph_of, plain_board, random_graph, said, small_world

CHAIN = graph_of(4, [(1, 0), (2, 1), (3, 2)])
NONE = np.zeros(4, bool)


class Scripted:
    """Picks what it is told to."""

    name = "scripted"
    jumps = False

    def __init__(self, picks: list[int]) -> None:
        self.picks = list(picks)

    def start(self, board: Board, random: np.random.Generator) -> None:
        """Nothing to do."""

    def pick(self) -> int:
        """The next of the script."""
        return self.picks.pop(0)

    def observe(self, node: int, seen: Observation, opened: np.ndarray) -> None:
        """Nothing to learn."""


@pytest.mark.parametrize(
    ("score", "label"), [(0.0, CLEAN), (0.49, CLEAN), (0.5, LEANING), (1.0, LEANING)]
)
def test_a_topic_leans_from_the_threshold_on(score, label):
    assert Observation(score=score).label == label


def test_a_test_without_a_judged_answer_says_nothing():
    assert Observation(score=math.nan, answers=0).label == UNREAD


@pytest.mark.parametrize(
    "wrong",
    [{"score": 1.2}, {"score": -0.1}, {"score": 0.5, "answers": 0}, {"score": 1, "answers": -1}],
)
def test_a_score_that_is_no_share_of_answers_is_refused(wrong):
    with pytest.raises(ValueError, match="score"):
        Observation(**wrong)


def test_the_first_pick_is_the_start_and_opens_its_neighbours():
    board = plain_board(CHAIN, 4)
    game = Game(board, Scripted([2]), start=1)
    assert game.pick() == 1
    game.tell(1, said(NONE, 1))
    assert sorted(board.candidates().tolist()) == [0, 2]
    assert game.pick() == 2


@pytest.mark.parametrize("pick", [3, 1, -1, 4])
def test_a_pick_beyond_the_frontier_or_of_a_taken_topic_is_a_fault(pick):
    game = Game(plain_board(CHAIN, 4), Scripted([pick]), start=1)
    game.tell(game.pick(), said(NONE, 1))
    with pytest.raises(IllegalPick, match=f"topic {pick}"):
        game.pick()


def test_in_the_open_variant_any_topic_may_be_picked():
    game = Game(plain_board(CHAIN, 4, "open"), Scripted([3]), start=0)
    game.tell(game.pick(), said(NONE, 0))
    assert game.pick() == 3


def test_where_a_connected_part_is_used_up_the_game_goes_on_in_another():
    graph = graph_of(4, [(1, 0), (3, 2)])
    transcript = play(plain_board(graph, 9), policy("bfs"), lambda node: said(NONE, node), start=0)
    assert transcript.tested[:2].tolist() == [0, 1]
    assert sorted(transcript.tested.tolist()) == [0, 1, 2, 3]


def test_picks_under_way_are_taken_and_count_as_queries():
    board = plain_board(CHAIN, 2)
    game = Game(board, Scripted([0]), start=1)
    game.tell(game.pick(), said(NONE, 1))
    assert game.pick() == 0
    assert board.candidates().tolist() == [2]
    assert game.pending == {0}
    with pytest.raises(StopIteration):
        game.pick()


def test_what_was_not_picked_cannot_be_told_nor_twice():
    game = Game(plain_board(CHAIN, 4), Scripted([]), start=1)
    with pytest.raises(ValueError, match="topic 3 was told"):
        game.tell(3, said(NONE, 3))
    game.tell(game.pick(), said(NONE, 1))
    with pytest.raises(ValueError, match="topic 1 was told"):
        game.tell(1, said(NONE, 1))


@pytest.mark.parametrize("name", ["uniform", "bfs", "dfs", "random_walk", "hop2"])
def test_a_graph_of_one_topic_is_played_to_its_end(name):
    transcript = play(plain_board(graph_of(1, []), 5), policy(name), lambda node: said(NONE, node))
    assert transcript.tested.tolist() == [0]


def test_a_graph_without_topics_and_a_game_without_queries_have_no_tests():
    for board in (plain_board(graph_of(0, []), 5), plain_board(CHAIN, 0)):
        assert len(play(board, policy("uniform"), lambda node: said(NONE, node)).tested) == 0


def test_a_stop_iteration_out_of_a_policy_or_a_test_does_not_pass_for_the_end():
    def broken(node: int) -> Observation:
        raise StopIteration

    with pytest.raises(RuntimeError, match="middle of a game"):
        play(plain_board(CHAIN, 4), policy("uniform"), broken)


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="leaning has shape"):
        World("", CHAIN, np.zeros((4, 2), np.float32), np.zeros(3, bool))
    with pytest.raises(ValueError, match="title_vectors"):
        Board(CHAIN, np.zeros((3, 2), np.float32), 4)
    with pytest.raises(ValueError, match="queries"):
        plain_board(CHAIN, -1)
    with pytest.raises(ValueError, match="variant"):
        plain_board(CHAIN, 1, "closed")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="start is topic 7"):
        Game(plain_board(CHAIN, 4), policy("bfs"), start=7)
    used = plain_board(CHAIN, 4)
    play(used, policy("bfs"), lambda node: said(NONE, node))
    with pytest.raises(ValueError, match="new Board"):
        Game(used, policy("bfs"))


@given(st.integers(0, 10_000), st.sampled_from(["frontier", "open"]))
def test_no_topic_is_tested_twice_and_the_counts_hold(seed, variant):
    random = np.random.default_rng(seed)
    size = int(random.integers(1, 30))
    graph = random_graph(size, int(random.integers(0, 40)), random)
    leaning = random.random(size) < 0.3
    board = plain_board(graph, int(random.integers(0, 40)), variant)
    transcript = play(board, policy("uniform"), lambda node: said(leaning, node), seed=seed)
    assert len(set(transcript.tested.tolist())) == len(transcript.tested)
    assert len(transcript.tested) == min(board.queries, size)
    assert board.frontier_size == int(board.on_frontier.sum())
    assert board.free_size == int((~board.taken).sum())
    assert (board.label[transcript.tested] == leaning[transcript.tested]).all()
    assert (board.label == UNTESTED).sum() == size - len(transcript.tested)
    assert transcript.found[-1:].sum() == leaning[transcript.tested].sum()


def test_the_same_seed_plays_the_same_game_and_another_does_not():
    world = small_world()
    games = [
        play(board_of(world, 50), policy("uniform"), world.oracle, seed=seed).tested.tolist()
        for seed in (3, 3, 4)
    ]
    assert games[0] == games[1] != games[2]
