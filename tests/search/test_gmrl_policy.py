"""GMRL-BD in a game: what it may read, what it costs, how its agents move."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

torch = pytest.importorskip("torch")
pytest.importorskip("numba")

from askew.errors import ConfigError, DataError  # noqa: E402
from askew.graphs.topics import build_graph  # noqa: E402
from askew.search.game import Board, Game, Observation, play  # noqa: E402
from askew.search.gmrl import GmrlBd, gmrl_bd  # noqa: E402
from askew.search.gmrl_model import GmrlModel, load_model  # noqa: E402
from askew.search.gmrl_settings import variant_settings  # noqa: E402
from askew.search.gmrl_train import train_gmrl  # noqa: E402
from askew.search.policies import policy  # noqa: E402
from askew.search.worlds import World  # noqa: E402

from .gmrl_plain import plain_embedding, plain_q, plain_summary, random_world  # noqa: E402

QUERIES = 25
SMALL = {
    "embedding": 8,
    "tower": 8,
    "query": 3,
    "encoder_steps": 60,
    "encoder_batch": 256,
    "episodes": 6,
    "tries": 20,
    "try_queries": 20,
    "worlds_per_episode": 2,
}


def trained(regime: str, variant: str = "full") -> GmrlModel:
    worlds = [random_world(seed) for seed in (1, 2)]
    return train_gmrl(worlds, variant_settings(variant, regime=regime, **SMALL))


@pytest.fixture(scope="module")
def honest() -> GmrlModel:
    return trained("honest")


@pytest.fixture(scope="module")
def leaky() -> GmrlModel:
    return trained("leaky")


def picks(
    model: GmrlModel,
    world: World,
    ask: Callable[[int], Observation] | None = None,
    answers: NDArray[np.float32] | None = None,
    **options: object,
) -> list[int]:
    board = Board(world.graph, world.title_vectors, QUERIES)
    made = gmrl_bd(model, answer_vectors=answers, **options)
    return play(board, made, ask or world.oracle, seed=3).tested.tolist()


def always(score: float) -> Callable[[int], Observation]:
    """A test that says the same of every topic."""
    seen = Observation(score, answer_vector=np.zeros(3, np.float32))
    return lambda node: seen


def untested_permuted(world: World, tested: list[int], seed: int) -> World:
    """The same world, with labels and answers of all other topics dealt out anew."""
    others = np.setdiff1d(np.arange(world.graph.size), tested)
    dealt = np.random.default_rng(seed).permutation(others)
    leaning, answers = world.leaning.copy(), world.answer_vectors.copy()
    leaning[others], answers[others] = leaning[dealt], answers[dealt]
    return replace(world, leaning=leaning, answer_vectors=answers)


@pytest.mark.parametrize("options", [{}, {"agents": 3}, {"agents": 3, "restarts": True}])
def test_the_honest_regime_never_reads_what_was_not_paid_for(
    honest: GmrlModel, options: dict[str, object]
) -> None:
    for seed in range(3):
        world = random_world(100 + seed)
        whole = picks(honest, world, **options)
        for made in (5, 12, 20):
            other = untested_permuted(world, whole[:made], seed)
            # The pick after `made` tests depends on those tests alone.
            assert picks(honest, other, **options)[: made + 1] == whole[: made + 1]


def test_the_leaky_regime_does_so_the_test_above_can_fail(leaky: GmrlModel) -> None:
    world = random_world(100)
    whole = picks(leaky, world, answers=world.answer_vectors)
    other = untested_permuted(world, whole[:1], 0)
    assert picks(leaky, other, answers=other.answer_vectors) != whole


def test_the_honest_regime_reads_what_was_paid_for(honest: GmrlModel) -> None:
    world = random_world(100)
    turned = replace(world, leaning=~world.leaning)
    assert picks(honest, world) != picks(honest, turned)


def test_the_text_regime_reads_no_label_at_all() -> None:
    model = trained("text")
    one, other = random_world(7), random_world(7)
    blind = variant_settings("full", regime="text", **SMALL)
    assert model.settings == blind
    # h(v) stands still; only the state's split of the path by labels can differ.
    board = Board(one.graph, one.title_vectors, QUERIES)
    made = gmrl_bd(model)
    play(board, made, one.oracle, seed=1)
    h = made._network._h.copy()
    board = Board(other.graph, other.title_vectors, QUERIES)
    play(board, made, lambda node: Observation(1.0), seed=1)
    np.testing.assert_array_equal(made._network._h, h)


def test_leaks_are_priced(leaky: GmrlModel, honest: GmrlModel) -> None:
    world = random_world(1)
    assert GmrlBd(leaky, leaky.settings).upfront_tests(world.graph) == world.graph.size
    assert GmrlBd(honest, honest.settings).upfront_tests(world.graph) == 0
    assert gmrl_bd(variant="uniform_actions").upfront_tests(world.graph) == 0


def test_only_the_leaky_regime_takes_unpaid_answers(leaky: GmrlModel, honest: GmrlModel) -> None:
    world = random_world(1)
    with pytest.raises(ConfigError, match="honest regime reads no answers"):
        gmrl_bd(honest, answer_vectors=world.answer_vectors)
    with pytest.raises(ConfigError, match="cost a test each"):
        picks(leaky, world)
    with pytest.raises(DataError, match="answer_vectors hold numbers that are not finite"):
        picks(leaky, world, answers=np.full_like(world.answer_vectors, np.nan))


def test_same_seed_same_transcript(honest: GmrlModel, tmp_path: Path) -> None:
    honest.save(tmp_path / "a.safetensors")
    world = random_world(50)
    first = picks(honest, world, agents=4, restarts=True)
    assert first == picks(load_model(tmp_path / "a.safetensors"), world, agents=4, restarts=True)


def test_the_policy_moves_where_plain_q_is_largest(honest: GmrlModel) -> None:
    world = random_world(60)
    board = Board(world.graph, world.title_vectors, QUERIES)
    game = Game(board, gmrl_bd(honest), seed=2)
    weights, scale = honest.weights, np.sqrt(world.title_vectors.shape[1])
    for _ in range(15):
        told = board.label >= 0
        frontier = np.flatnonzero(board.on_frontier).tolist()
        node = game.pick()
        if told.any() and frontier:
            paid = np.zeros((world.graph.size, 3 + 3), np.float32)
            paid[told, :3] = world.answer_vectors[told] * np.sqrt(3)
            paid[told, 3] = 1
            paid[told, 4] = world.leaning[told]
            paid[told, 5] = ~world.leaning[told]
            h0 = np.concatenate([world.title_vectors * scale, paid], axis=1)
            h = np.array(
                [
                    plain_embedding(weights, h0, world.graph.around(one), one, 2)
                    for one in range(world.graph.size)
                ]
            )
            summary = plain_summary(h, board.label, board.tested, frontier)
            values = plain_q(weights, summary, h[frontier])
            assert values[frontier.index(node)] == pytest.approx(values.max(), abs=1e-4)
        game.tell(node, world.oracle(node))


def test_several_picks_may_be_under_way(honest: GmrlModel) -> None:
    for options in ({}, {"agents": 3}, {"agents": 2, "restarts": True}):
        world = random_world(61)
        board = Board(world.graph, world.title_vectors, 30)
        game = Game(board, gmrl_bd(honest, **options), seed=2)
        for _ in range(10):
            nodes = [game.pick() for _ in range(3)]
            for node in nodes:
                game.tell(node, world.oracle(node))
        assert len(set(game.transcript().tested.tolist())) == 30


def test_an_unread_topic_is_evidence_of_nothing_but_its_test(honest: GmrlModel) -> None:
    world = random_world(62)
    unread = Observation(float("nan"), 0)
    tested = picks(honest, world, ask=lambda node: unread)
    assert len(tested) == QUERIES


def test_after_a_hit_an_agent_of_algorithm_2_begins_anew(honest: GmrlModel) -> None:
    # Two parts: an agent can only come to the other one by a restart.
    graph = build_graph(list("abcdef"), np.array([1, 2, 4, 5]), np.array([0, 1, 3, 4]))
    titles = np.zeros((6, 4), np.float32)

    def second(restarts: bool, lean: float) -> set[int]:
        found = set()
        for seed in range(12):
            board = Board(graph, titles, 2)
            made = gmrl_bd(honest, restarts=restarts)
            found.add(int(play(board, made, always(lean), seed=seed, start=0).tested[1]))
        return found

    assert second(True, 1.0) - {1}
    assert second(True, 0.0) == {1}
    assert second(False, 1.0) == {1}


def test_a_restarted_agent_goes_on_with_what_it_has_not_tested(honest: GmrlModel) -> None:
    # κ = 0: nothing but the action set keeps an agent off what it tested on an earlier walk.
    for seed in range(4):
        world = random_world(70 + seed)
        board = Board(world.graph, world.title_vectors, QUERIES)
        made = gmrl_bd(honest, restarts=True, overlap_penalty=0.0)
        game = Game(board, made, seed=seed)
        walk: list[int] = []
        for _ in range(QUERIES):
            beside = {int(one) for node in walk for one in world.graph.around(node)}
            beside -= set(np.flatnonzero(board.taken).tolist())
            node = game.pick()
            assert not beside or node in beside
            game.tell(node, world.oracle(node))
            walk = [] if world.leaning[node] else [*walk, node]


def test_eq_6_with_three_agents(honest: GmrlModel) -> None:
    world = random_world(64)
    board = Board(world.graph, world.title_vectors, 30)
    made = gmrl_bd(honest, agents=3, overlap_penalty=0.3)
    game = Game(board, made, seed=5)
    taken_seen = 0
    first = game.pick()
    game.tell(first, world.oracle(first))
    for _ in range(20):
        if all(agent.path for agent in made._agents):
            paths = [set(agent.path) for agent in made._agents]
            for offer in made._offers():
                agent = made._agents[offer.agent]
                others = set.union(*(paths[k] for k in range(3) if k != offer.agent))
                around = {int(o) for node in agent.path for o in world.graph.around(node)}
                actions = np.array(sorted(around - paths[offer.agent]), np.int32)
                free = np.array([one for one in actions if one not in others], np.int32)
                q = made._network.q(agent, free, actions)
                lowered = [v - 0.3 * (int(a) in others) for v, a in zip(q, actions, strict=True)]
                assert offer.value == pytest.approx(max(lowered), abs=1e-5)
                assert lowered[actions.tolist().index(offer.move)] == pytest.approx(max(lowered))
                assert offer.taken == (offer.move in others)
                taken_seen += len(actions) - len(free)
        node = game.pick()
        game.tell(node, world.oracle(node))
    assert taken_seen


def test_several_agents_start_apart_and_share_what_they_learn(honest: GmrlModel) -> None:
    world = random_world(63)
    board = Board(world.graph, world.title_vectors, QUERIES)
    made = gmrl_bd(honest, agents=4)
    play(board, made, world.oracle, seed=1)
    assert all(agent.path for agent in made._agents)
    paths = [set(agent.path) for agent in made._agents]
    assert sum(len(path) for path in paths) == len(set.union(*paths)) == QUERIES


@pytest.mark.parametrize("variant", ["uniform_actions", "dfs"])
def test_rows_of_table_2_without_a_network_need_no_checkpoint(variant: str) -> None:
    world = random_world(1)
    board = Board(world.graph, world.title_vectors, QUERIES)
    made = policy("gmrl_bd", variant=variant)
    assert len(play(board, made, world.oracle).tested) == QUERIES


def test_a_graph_of_one_topic_and_one_without_edges(honest: GmrlModel) -> None:
    for nodes in (1, 7):
        graph = build_graph(["x"] * nodes, np.zeros(0, np.int64), np.zeros(0, np.int64))
        board = Board(graph, np.zeros((nodes, 4), np.float32), 5)
        made = gmrl_bd(honest, agents=2, restarts=True)
        tested = play(board, made, always(0.0)).tested
        assert len(tested) == min(nodes, 5)


def test_what_does_not_fit_is_refused_with_its_mend(honest: GmrlModel) -> None:
    world = random_world(1)
    with pytest.raises(ConfigError, match="needs a checkpoint"):
        gmrl_bd()
    with pytest.raises(ConfigError, match="not of 'without_sage'"):
        gmrl_bd(honest, variant="without_sage")
    with pytest.raises(ConfigError, match="cannot change 'embedding' in play"):
        gmrl_bd(honest, embedding=3)
    board = Board(world.graph, world.title_vectors[:, :2], QUERIES)
    with pytest.raises(DataError, match="trained with 4 dimensions"):
        play(board, gmrl_bd(honest), world.oracle)
    unclear = world.title_vectors.copy()
    unclear[2, 1] = np.nan
    with pytest.raises(DataError, match="title vectors hold numbers that are not finite"):
        play(Board(world.graph, unclear, QUERIES), gmrl_bd(honest), world.oracle)
    board = Board(world.graph, world.title_vectors, QUERIES)
    with pytest.raises(DataError, match="no answer_vector"):
        play(board, gmrl_bd(honest), lambda node: Observation(1.0))
    half = GmrlModel(**{name: getattr(honest, name) for name in GmrlModel.__slots__})
    half.episodes = 2
    with pytest.raises(DataError, match="2 of 6 episodes"):
        gmrl_bd(half)
