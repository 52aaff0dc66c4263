"""No policy can see what was not paid for: labels and answers of untested topics move no pick."""

from __future__ import annotations

import gc
import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np
import pytest

from askew.errors import ConfigError, DataError, MissingDependency
from askew.search.game import Board, Game, Observation, Policy, play
from askew.search.policies import POLICIES, policy
from askew.search.text_prior import fit_text_prior
from askew.search.worlds import World
from tests.search.boards import board_of, graph_of, small_world

WORLD = small_world(seed=5)
OTHER = small_world(seed=6)
QUERIES = 40


@cache
def needed(name: str) -> dict[str, Any]:
    """The options that a policy cannot do without; trained on another graph and another model."""
    if name == "hop2_text":
        return {"text_prior": fit_text_prior([OTHER])}
    if name == "gmrl_bd":
        from askew.search.gmrl_settings import variant_settings
        from askew.search.gmrl_train import train_gmrl

        small = {"encoder_steps": 20, "episodes": 2, "tries": 8, "try_queries": 10}
        return {"checkpoint": train_gmrl([OTHER], variant_settings(**small)), "agents": 2}
    return {}


def made(name: str) -> Policy:
    """The policy; skips where an optional package that it needs is not installed."""
    try:
        return policy(name, **needed(name))
    except MissingDependency as error:
        pytest.skip(str(error))


def soft(world: World) -> Callable[[int], Observation]:
    """Tests with soft scores, some of them unread."""
    random = np.random.default_rng(8)
    noise = random.uniform(0, 0.4, world.graph.size)
    unread = random.random(world.graph.size) < 0.1

    def ask(node: int) -> Observation:
        score = abs(float(world.leaning[node]) - noise[node])
        vectors = world.answer_vectors
        return Observation(
            score=float("nan") if unread[node] else score,
            answers=0 if unread[node] else 5,
            answer_vector=None if vectors is None else vectors[node],
        )

    return ask


@pytest.mark.parametrize("name", sorted(POLICIES))
def test_permuting_what_was_not_tested_moves_no_pick(name):
    told = play(board_of(WORLD, QUERIES), made(name), WORLD.oracle, seed=2)
    untested = np.setdiff1d(np.arange(WORLD.graph.size), told.tested)
    random = np.random.default_rng(0)
    leaning, vectors = WORLD.leaning.copy(), WORLD.answer_vectors.copy()
    moved = random.permutation(untested)
    leaning[untested], vectors[untested] = leaning[moved], -vectors[moved]
    shuffled = replace(WORLD, leaning=leaning, answer_vectors=vectors)
    assert (leaning != WORLD.leaning).any()
    again = play(board_of(shuffled, QUERIES), made(name), shuffled.oracle, seed=2)
    assert again.tested.tolist() == told.tested.tolist()


@pytest.mark.parametrize("name", sorted(POLICIES))
def test_a_pick_depends_on_the_past_alone(name):
    """The labels of all later tests are turned round at every length of the past."""
    told = play(board_of(WORLD, QUERIES), made(name), WORLD.oracle, seed=4).tested.tolist()
    for known in (1, 5, 20):
        game = Game(board_of(WORLD, QUERIES), made(name), seed=4)
        for step in range(QUERIES):
            node = game.pick()
            if step <= known:
                assert node == told[step]
            seen = WORLD.oracle(node)
            game.tell(node, seen if step < known else replace(seen, score=1 - seen.score))


@pytest.mark.parametrize("name", sorted(POLICIES))
def test_the_same_seed_gives_the_same_transcript_with_soft_and_unread_tests(name):
    games = [play(board_of(WORLD, QUERIES), made(name), soft(WORLD), seed=1) for _ in range(2)]
    assert games[0].tested.tolist() == games[1].tested.tolist()
    assert (games[0].label == 2).any()


@pytest.mark.parametrize("name", sorted(POLICIES))
def test_one_policy_object_plays_a_second_game_as_it_played_the_first(name):
    player = made(name)
    games = [play(board_of(WORLD, QUERIES), player, WORLD.oracle, seed=1) for _ in range(2)]
    assert games[0].tested.tolist() == games[1].tested.tolist()


@pytest.mark.parametrize("name", sorted(POLICIES))
def test_several_picks_may_be_under_way(name):
    game = Game(board_of(WORLD, QUERIES), made(name), seed=1)
    node = game.pick()
    game.tell(node, WORLD.oracle(node))
    tested = [node]
    while len(tested) < QUERIES:
        under_way = [game.pick() for _ in range(min(3, QUERIES - len(tested)))]
        for node in under_way:
            game.tell(node, WORLD.oracle(node))
        tested += under_way
    assert len(set(tested)) == QUERIES


@pytest.mark.parametrize("name", sorted(POLICIES))
def test_every_policy_plays_a_graph_to_its_last_topic(name):
    world = small_world(seed=9, nodes=25)
    transcript = play(board_of(world, 99), made(name), world.oracle)
    assert sorted(transcript.tested.tolist()) == list(range(25))


@pytest.mark.parametrize("name", sorted(POLICIES))
def test_nothing_that_a_policy_holds_after_a_game_has_the_labels(name):
    player = made(name)
    play(board_of(WORLD, QUERIES), player, WORLD.oracle, seed=1)
    code = (ModuleType, type, FunctionType, BuiltinFunctionType, CodeType)
    held: list[Any] = [player]
    seen: set[int] = set()
    while held:
        one = held.pop()
        if id(one) in seen or isinstance(one, code):
            continue
        seen.add(id(one))
        assert not isinstance(one, World | Game)
        assert one is not WORLD.leaning
        assert one is not WORLD.answer_vectors
        if isinstance(one, np.ndarray) and one.shape == WORLD.leaning.shape:
            assert one.dtype == object or not np.array_equal(one, WORLD.leaning)
        held.extend(gc.get_referents(one))


@pytest.mark.parametrize("name", sorted(POLICIES))
@pytest.mark.parametrize("score", [0.0, 1.0, math.nan])
def test_every_policy_plays_any_graph_to_its_end_whatever_the_tests_say(name, score):
    """One topic, no edge, a loop of two beside others, a hub; all clean, leaning or unread."""
    graphs = [
        graph_of(1, []),
        graph_of(4, []),
        graph_of(5, [(0, 1), (1, 0), (2, 3)]),
        graph_of(12, [(leaf, 0) for leaf in range(1, 12)]),
    ]
    seen = Observation(
        score, answers=0 if math.isnan(score) else 1, answer_vector=WORLD.answer_vectors[0]
    )
    for graph in graphs:
        for queries in (0, 3, 99):
            titles = np.zeros((graph.size, WORLD.title_vectors.shape[1]), np.float32)
            told = play(Board(graph, titles, queries), made(name), lambda _: seen, seed=3)
            assert len(set(told.tested.tolist())) == min(queries, graph.size)


@pytest.mark.filterwarnings("ignore:(invalid value|overflow):RuntimeWarning")
@pytest.mark.parametrize("name", sorted(POLICIES))
@pytest.mark.parametrize("broken", [math.nan, math.inf, 1e30])
def test_title_vectors_that_are_no_numbers_end_no_game(name, broken):
    titles = WORLD.title_vectors.copy()
    titles[::7] = broken
    if name == "gmrl_bd" and not math.isfinite(broken):
        # Its network would make NaN of every value, and so of every pick.
        with pytest.raises(DataError, match="not finite"):
            play(Board(WORLD.graph, titles, QUERIES), made(name), WORLD.oracle, seed=1)
        return
    told = play(Board(WORLD.graph, titles, QUERIES), made(name), WORLD.oracle, seed=1)
    assert len(told.tested) == QUERIES


def test_an_unknown_policy_is_answered_with_the_known_ones():
    with pytest.raises(ConfigError, match=r"unknown policy 'bfz'. Known: bfs, dfs,"):
        policy("bfz")


def test_an_option_that_a_policy_does_not_have_is_named():
    with pytest.raises(ConfigError, match=r"'hop2'.*'weigth'"):
        policy("hop2", weigth=2)


def test_references_are_no_policies():
    assert not any("references" in place for place in POLICIES.values())
