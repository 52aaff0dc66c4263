"""The compiled tries against the plain formulas, step by step: states, h(a), Eq. 3 and Eq. 7."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

torch = pytest.importorskip("torch")
pytest.importorskip("numba")

from askew.graphs.topics import build_graph  # noqa: E402
from askew.search.gmrl_model import h0_of_world  # noqa: E402
from askew.search.gmrl_sets import grow_sets  # noqa: E402
from askew.search.gmrl_settings import GmrlSettings, variant_settings  # noqa: E402
from askew.search.gmrl_train import Trainer  # noqa: E402
from askew.search.gmrl_walks import UNTOUCHED, Tries  # noqa: E402
from askew.search.worlds import World  # noqa: E402

from .gmrl_plain import (  # noqa: E402
    plain_distance,
    plain_embedding,
    plain_q,
    plain_reward,
    plain_summary,
    random_world,
)


def small(**changes: object) -> GmrlSettings:
    sizes: dict[str, object] = {"embedding": 5, "tower": 6, "query": 3, "tries": 4}
    return variant_settings(**{**sizes, **changes})


def tries_of(
    world: World, used: GmrlSettings, epsilon: float, seed: int = 0
) -> tuple[Trainer, Tries]:
    trainer = Trainer([world], used, seed)
    random = np.random.default_rng(seed)
    return trainer, trainer.play(trainer.prepared[0], used.tries, epsilon, random)


def path_of(tries: Tries, walk: int) -> list[int]:
    order = tries.order[walk]
    tested = np.flatnonzero(order != UNTOUCHED)
    return tested[np.argsort(order[tested])].tolist()


def frontier_of(world: World, path: list[int]) -> list[int]:
    return sorted({int(o) for node in path for o in world.graph.around(node)} - set(path))


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    regime=st.sampled_from(["honest", "text", "leaky"]),
    variant=st.sampled_from(["full", "without_attention", "without_both"]),
    epsilon=st.sampled_from([0.0, 0.5]),
    ends=st.booleans(),
)
def test_every_recorded_step_is_what_the_plain_formulas_give(
    seed: int, regime: str, variant: str, epsilon: float, ends: bool
) -> None:
    world = random_world(seed, nodes=18, edges=24, share=0.25)
    used = small(variant=variant, regime=regime, try_queries=None if ends else 9)
    trainer, tries = tries_of(world, used, epsilon, seed)
    weights = trainer.model.weights
    before, after = h0_of_world(used, world, trainer.model.answer_dimensions)
    reward_weights = used.reward_hit, used.reward_test, used.reward_near
    label = world.leaning.astype(np.int8)

    def state(path: list[int]) -> tuple[NDArray[np.float64], NDArray[np.float64], list[int]]:
        told = np.isin(np.arange(world.graph.size), path)
        h0 = np.where(told[:, None], after, before)
        h = np.array(
            [
                plain_embedding(weights, h0, world.graph.around(node), node, used.aggregate)
                for node in range(world.graph.size)
            ]
        )
        frontier = frontier_of(world, path)
        return h, plain_summary(h, label, path, frontier), frontier

    for walk in range(used.tries):
        path = path_of(tries, walk)
        hits = np.flatnonzero(world.leaning[path])
        assert tries.first_hit[walk] == (hits[0] + 1 if len(hits) else 0)
        assert (tries.hits[walk], tries.queries[walk]) == (len(hits), len(path))
        assert not (ends and len(hits) and hits[0] + 1 < len(path))
        rows = np.flatnonzero(tries.walk == walk)
        assert tries.step[rows].tolist() == list(range(1, len(path)))
        total = 0.0
        for row in rows:
            step = int(tries.step[row])
            node = int(tries.node[row])
            h, summary, frontier = state(path[:step])
            assert node == path[step]
            assert node in frontier
            np.testing.assert_allclose(tries.summary[row], summary, rtol=1e-3, atol=1e-4)
            np.testing.assert_allclose(tries.action[row], h[node], rtol=1e-3, atol=1e-4)
            if epsilon == 0:  # Eq. 8
                values = plain_q(weights, summary, h[frontier])
                assert values[frontier.index(node)] == pytest.approx(values.max(), abs=1e-4)
            reward = plain_reward(world.graph, world.leaning, path[: step + 1], reward_weights)
            total += reward
            h, summary, frontier = state(path[: step + 1])
            target = reward
            if frontier and not (ends and world.leaning[node]):
                target += used.discount * plain_q(weights, summary, h[frontier]).max()
            assert tries.target[row] == pytest.approx(target, rel=1e-3, abs=1e-3)
        assert tries.reward[walk] == pytest.approx(total, abs=1e-4)


def line_world() -> World:
    """A line from a over b, c and d to e, of which c and e lean."""
    graph = build_graph(list("abcde"), np.array([1, 2, 3, 4]), np.array([0, 1, 2, 3]))
    leaning = np.array([False, False, True, False, True])
    return World("line", graph, np.eye(5, dtype=np.float32), leaning)


def test_eq_3_by_hand() -> None:
    world = line_world()
    assert plain_distance(world.graph, world.leaning, [0]) == 2
    weights = (1.0, 0.05, 0.1)
    # b: no hit, and c is one edge away.
    assert plain_reward(world.graph, world.leaning, [0, 1], weights) == pytest.approx(
        -0.05 + 0.1 / 2
    )
    # c: a hit; the nearest that is untested is now e, two edges away.
    assert plain_reward(world.graph, world.leaning, [0, 1, 2], weights) == pytest.approx(
        1 - 0.05 + 0.1 / 3
    )
    # e: none is left, and the last term is gone.
    assert plain_reward(world.graph, world.leaning, [0, 1, 2, 3, 4], weights) == pytest.approx(0.95)


def test_without_the_explored_penalty_only_that_term_is_gone() -> None:
    world = line_world()
    figures = []
    for alpha in (0.0, 0.05):
        used = small(reward_test=alpha, try_queries=5)
        _, tries = tries_of(world, used, 1.0)
        figures.append(tries.reward)
        assert (tries.queries == 5).all()
    np.testing.assert_allclose(figures[0] - figures[1], 4 * 0.05, atol=1e-6)


def test_a_full_record_ends_recording_not_the_tries() -> None:
    world = random_world(3)
    used = small(try_queries=20, transitions=10)
    _, tries = tries_of(world, used, 1.0)
    assert len(tries.target) == 10
    assert (tries.queries > 1).all()


def test_tested_sets_hang_together_and_topics_drawn_for_eq_5_are_untested() -> None:
    world = random_world(5, nodes=60, edges=200)
    order = np.empty((8, 60), np.int32)
    drawn = np.empty((8, 40), np.int64)
    lengths = np.arange(1, 57, 7)
    random = np.random.default_rng(0)
    grow_sets(
        world.graph.starts,
        world.graph.neighbours,
        world.leaning,
        random.integers(60, size=8).astype(np.int32),
        lengths,
        random.integers(2**31, size=8),
        order,
        drawn,
    )
    for walk in range(8):
        tested = np.flatnonzero(order[walk] != UNTOUCHED)
        assert len(tested) == lengths[walk]
        assert (order[walk, drawn[walk]] == UNTOUCHED).all()
        for node in tested:
            if order[walk, node]:
                around = order[walk, world.graph.around(int(node))]
                assert around.min() < order[walk, node]
