"""The learned search sees what was paid for and nothing else, and finds more than its baselines."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("numba")

from askew.errors import DataError
from askew.search import learned as module
from askew.search.checkpoints import Checkpoint, load_checkpoint, save_checkpoint
from askew.search.features import NAMES
from askew.search.game import Board, Game, Observation, play
from askew.search.label_prior import graph_key, label_prior
from askew.search.learned import learned, learned_of, shipped
from askew.search.learned_network import fresh_network
from askew.search.policies import policy
from askew.search.prior_trust import UNTRIED
from askew.search.simulate import DOMAINS, SimulatorSettings, simulate, simulate_many
from askew.search.title_prior import TitlePriorSums
from askew.search.worlds import World

SMALL = SimulatorSettings(nodes=250, fewest_leaning=20)


def found(world: World, chooser: object, queries: int = 60, seed: int = 0) -> np.ndarray:
    board = Board(world.graph, world.title_vectors, queries)
    return play(board, chooser, world.oracle, seed=seed).tested  # type: ignore[arg-type]


def test_labels_of_untested_topics_never_change_a_pick() -> None:
    world = simulate(11, SMALL)
    board = Board(world.graph, world.title_vectors, 40)
    game = Game(board, learned(), seed=1)
    random = np.random.default_rng(0)
    labels, picked = world.leaning.copy(), []
    for _ in range(40):
        node = game.pick()
        picked.append(node)
        game.tell(node, Observation(float(labels[node])))
        # Whatever was not asked is now otherwise; what comes next may rest on the told alone.
        untold = np.flatnonzero(~board.taken)
        labels[untold] = labels[random.permutation(untold)]
    told = dict(zip(picked, board.label[picked].tolist(), strict=True))
    again = play(
        Board(world.graph, world.title_vectors, 40),
        learned(),
        lambda node: Observation(float(told[node])),
        seed=1,
    )
    assert again.tested.tolist() == picked


def test_the_same_seed_is_the_same_transcript() -> None:
    world = simulate(12, SMALL)
    np.testing.assert_array_equal(found(world, learned()), found(world, policy("learned")))


def test_it_finds_far_more_than_uniform_draws() -> None:
    worlds = [simulate(50 + number, domain=domain) for number, domain in enumerate(DOMAINS)]
    totals = {
        name: sum(int(one.leaning[found(one, policy(name), 100)].sum()) for one in worlds)
        for name in ("learned", "uniform")
    }
    assert totals["learned"] > 2 * totals["uniform"]


def test_many_candidates_are_scored_a_part_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ALL_SCORED", 30)
    monkeypatch.setattr(module, "BEST_SCORED", 15)
    monkeypatch.setattr(module, "TURN_SCORED", 7)
    world = simulate(13, SMALL)
    tested = found(world, learned(), queries=world.graph.size)
    assert sorted(tested.tolist()) == list(range(world.graph.size))


def test_any_topic_may_be_asked_about_in_the_open_variant() -> None:
    world = simulate(14, SMALL)
    board = Board(world.graph, world.title_vectors, 30, "open")
    assert len(play(board, learned(), world.oracle).tested) == 30


def test_answers_that_nobody_could_read_end_no_game() -> None:
    world = simulate(15, SMALL)
    board = Board(world.graph, world.title_vectors, 30)
    unread = play(board, learned(), lambda node: Observation(float("nan"), answers=0))
    assert len(unread.tested) == 30


def test_other_models_labels_on_the_graph_are_worth_something() -> None:
    world = simulate(16, SMALL)
    others = [replace(world, model=str(one)) for one in range(4)]  # they agree to the last topic
    # The area under the curve: by the last test all are found either way.
    without = world.leaning[found(world, learned())].cumsum().sum()
    prior = label_prior(others)
    assert prior is not None
    assert world.leaning[found(world, learned(prior=prior))].cumsum().sum() > without
    share = np.where(np.arange(world.graph.size) % 2, world.leaning, np.nan)
    assert len(found(world, learned(prior=share))) == 60


def test_a_prior_of_another_graph_is_refused() -> None:
    world = simulate(17, SMALL)
    with pytest.raises(DataError, match=r"prior has 7 topics and the graph 250"):
        found(world, learned(prior=np.zeros(7)))


def test_a_checkpoint_brings_the_labels_that_its_training_saw_on_the_graph(tmp_path) -> None:  # type: ignore[no-untyped-def]
    worlds = list(simulate_many(18, SMALL, domains=["ai"], models=[0, 1]))
    known = shipped()
    key = graph_key(worlds[0].graph)
    tensors = {**known.network.tensors(), f"labels.{key}": worlds[0].leaning.astype(np.uint16)}
    meta = {**known.meta, "labelled_models": {key: 1}, "label_trust": {key: UNTRIED}}
    save_checkpoint(tmp_path / "a.safetensors", tensors, meta)
    by_file = found(worlds[1], learned(tmp_path / "a.safetensors"))
    given = found(worlds[1], learned(prior=label_prior(worlds[:1])))
    np.testing.assert_array_equal(by_file, given)


def test_a_title_prior_of_other_vectors_is_left_out() -> None:
    worlds = list(simulate_many(19, SMALL, domains=["ai", "culture"]))
    titles = TitlePriorSums(worlds).fit([0, 1])
    known = replace(shipped(), titles=titles)
    wider = np.hstack([worlds[0].title_vectors, worlds[0].title_vectors])
    other = replace(worlds[0], title_vectors=wider)
    np.testing.assert_array_equal(found(other, learned(known)), found(other, learned()))


def test_a_checkpoint_of_other_features_is_refused() -> None:
    meta = {"kind": "learned", "features": ["near_share"]}
    with pytest.raises(DataError, match="other features"):
        learned_of(Checkpoint({}, meta), "a.safetensors")


@pytest.mark.parametrize("broken", ["mean", "layer1.weights", "layer0.offsets"])
def test_layers_that_do_not_fit_are_refused(broken: str) -> None:
    rows = np.zeros((2, len(NAMES)), np.float32)
    tensors = fresh_network(rows, (3,), 2, np.random.default_rng(0)).tensors()
    tensors[broken] = tensors[broken][:1]
    with pytest.raises(DataError, match="do not fit"):
        learned_of(Checkpoint(tensors, {"kind": "learned", "features": list(NAMES)}))
    del tensors[broken]
    with pytest.raises(DataError, match=r"has no tensor|do not fit"):
        learned_of(Checkpoint(tensors, {"kind": "learned", "features": list(NAMES)}))


def test_the_shipped_weights_are_small_and_say_how_they_were_made() -> None:
    from importlib.resources import files

    path = files("askew.search") / "weights" / "learned.safetensors"
    assert len(path.read_bytes()) < 300_000
    meta = load_checkpoint(str(path), "learned").meta
    assert meta["command"] == "python -m askew.search.shipped_training"
    assert meta["seed"] == 2026
    assert meta["settings"]["begin"] == "nothing"
    assert meta["labelled_models"] == {}


def test_playing_needs_no_torch() -> None:
    code = (
        "import sys, numpy as np\n"
        "from askew.graphs.topics import build_graph\n"
        "from askew.search.game import Board, Observation, play\n"
        "from askew.search.policies import policy\n"
        "graph = build_graph(list('abcd'), np.array([1, 2, 3]), np.array([0, 0, 1]))\n"
        "board = Board(graph, np.zeros((4, 2), np.float32), 4)\n"
        "play(board, policy('learned'), lambda node: Observation(1.0))\n"
        "print('torch' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
