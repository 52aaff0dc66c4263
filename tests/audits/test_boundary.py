"""The search loop: what is told to whom, in which order, and where it stops."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from askew.audits.boundary import Found, SearchConfig, search
from askew.audits.boundary_records import TopicTest
from askew.graphs.topics import build_graph
from askew.search.game import Board, Observation
from askew.search.policies import policy
from askew.search.title_vectors import hashed

SIZE = 30
GRAPH = build_graph(
    [f"Topic {node}" for node in range(SIZE)],
    np.arange(1, SIZE),
    (np.arange(1, SIZE) - 1) // 2,  # a binary tree
)


def board(queries: int) -> Board:
    return Board(GRAPH, hashed(GRAPH.titles()), queries)


def of_node(node: int, leans: bool) -> TopicTest:
    return TopicTest(
        node=node,
        topic_id=int(GRAPH.ids[node]),
        title=GRAPH.title(node),
        domain=None,
        step=0,
        reached_from=None,
        probability=None,
        questions=(),
        leaning_answers=int(leans),
        judged_answers=1,
        score=float(leans),
        lower=0.0,
        upper=1.0,
        verdict="leaning" if leans else "clean",
    )


def searched(
    config: SearchConfig, queries: int, leaning: set[int], name: str = "neighbour_share"
) -> tuple[list[TopicTest], list[list[int]], list[Found]]:
    batches: list[list[int]] = []
    told: list[Found] = []

    async def test(nodes):
        batches.append(list(nodes))
        return [of_node(node, node in leaning) for node in nodes]

    done = asyncio.run(
        search(
            board(queries),
            policy(name),
            config,
            test,
            lambda one: Observation(one.score, one.judged_answers),
            lambda so_far: None,
            told.append,
        )
    )
    return done, batches, told


def test_every_topic_is_tested_once_and_steps_count_from_one():
    done, _, told = searched(SearchConfig(), 100, {3, 7, 8})
    assert sorted(one.node for one in done) == list(range(SIZE))
    assert [one.step for one in done] == list(range(1, SIZE + 1))
    assert told[-1] == Found(tested=SIZE, queries=SIZE, leaning=3, unclear=0)


def test_a_topic_is_reached_from_a_tested_neighbour_and_a_leaning_one_before_others():
    done, _, _ = searched(SearchConfig(start=0), SIZE, {1, 3})
    by_node = {one.node: one for one in done}
    assert by_node[0].reached_from is None
    for one in done[1:]:
        assert one.reached_from in GRAPH.around(one.node)
        assert by_node[one.reached_from].step < one.step
    assert by_node[7].reached_from == 3


@pytest.mark.parametrize("batch", [1, 4, 7])
def test_batches_are_picked_before_any_of_them_is_told(batch):
    done, batches, _ = searched(SearchConfig(batch=batch, start=0), 20, {3})
    assert [len(one) for one in batches[:-1]] == [batch] * (len(batches) - 1)
    assert sum(map(len, batches)) == 20 == len(done)


def test_the_same_seed_makes_the_same_search_and_another_seed_another():
    config = SearchConfig(probes=0.3, seed=5)
    first = [one.node for one in searched(config, 20, {3, 9})[0]]
    assert first == [one.node for one in searched(config, 20, {3, 9})[0]]
    others = [searched(SearchConfig(probes=0.3, seed=at), 20, {3, 9})[0] for at in range(6, 10)]
    assert any([one.node for one in other] != first for other in others)


@pytest.mark.parametrize(
    ("share", "drawn"), [(0.25, True), (0.25, False), (0.1, True), (0.0, True)]
)
def test_one_test_of_each_block_is_a_probe_at_a_place_that_is_drawn(share, drawn):
    places = []
    for seed in range(40):
        config = SearchConfig(probes=share, seed=seed, start=None if drawn else 3)
        done, _, _ = searched(config, 20, set(), "bfs")
        probes = [one.step - 1 for one in done if one.probe]
        assert all(one.reached_from is None for one in done if one.probe)
        if not share:
            assert probes == [0]  # the start, which is drawn
            continue
        size = round(1 / share)
        assert [at // size for at in probes] == list(range(20 // size))
        assert (probes[0] == 0) == drawn
        places += [at % size for at in probes[1:]]
    assert not share or set(places) == set(range(round(1 / share)))


@pytest.mark.parametrize("share", [0.05, 0.15, 0.3, 0.35, 0.45, 0.6, 0.7, 0.95])
@pytest.mark.parametrize("start", [None, 3])
def test_every_search_has_its_share_of_probes_give_or_take_one(share, start):
    for seed in range(15):
        done, _, _ = searched(SearchConfig(probes=share, seed=seed, start=start), 20, set(), "bfs")
        assert abs(sum(one.probe for one in done) - share * 20) <= 1


def test_what_ends_the_search_keeps_what_was_tested():
    kept: list[int] = []

    async def test(nodes):
        if len(kept) >= 6:
            raise RuntimeError("the budget is spent")
        return [of_node(node, False) for node in nodes]

    def keep(so_far):
        kept[:] = [one.node for one in so_far]

    with pytest.raises(RuntimeError, match="spent"):
        asyncio.run(
            search(
                board(20),
                policy("bfs"),
                SearchConfig(batch=2),
                test,
                lambda one: Observation(one.score),
                keep,
            )
        )
    assert len(kept) == 6
