"""Training: the same seed, the same weights, killed or not; and never worse by its own measure."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("numba")

from askew.errors import ConfigError, DataError
from askew.search.checkpoints import Checkpoint, save_checkpoint
from askew.search.features import NAMES
from askew.search.game import Board, play
from askew.search.learned import learned, shipped
from askew.search.learned_network import Adam, adam, cross_entropy, fresh_network
from askew.search.learned_rows import gather, known_before
from askew.search.simulate import SimulatorSettings, simulate_many
from askew.search.training import TrainingProgress, TrainingSettings, train
from askew.search.worlds import World

SMALL = SimulatorSettings(nodes=90, fewest_leaning=12)
TINY = TrainingSettings(
    begin="nothing", rounds=2, games=2, queries=8, epochs=2, hidden=(5,), members=2, folds=0
)


@pytest.fixture(scope="module")
def worlds() -> list[World]:
    return list(simulate_many(5, SMALL, domains=["ai"], models=[0, 1, 2]))


def assert_same(one: Checkpoint, other: Checkpoint) -> None:
    assert one.tensors.keys() == other.tensors.keys()
    for name, array in one.tensors.items():
        np.testing.assert_array_equal(array, other.tensors[name], err_msg=name)
    assert one.meta == other.meta


def test_gradients_are_those_of_small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    rows = random.standard_normal((20, 4)).astype(np.float32)
    labels = random.integers(0, 2, 20).astype(np.float32)
    network = fresh_network(rows, (3, 2), 1, random)
    network.weights = [one.astype(np.float64) for one in network.weights]  # type: ignore[misc]
    network.offsets = [one.astype(np.float64) for one in network.offsets]  # type: ignore[misc]
    rows = network.standardised(rows).astype(np.float64)
    kept: list[np.ndarray] = []
    optimiser = adam(network, 0.0)
    monkeypatch.setattr(Adam, "_move", lambda self, gradients, member, rate: kept.extend(gradients))

    def loss() -> float:
        odds = network.forward(rows, 0)[-1][:, 0]
        return float(cross_entropy(odds, labels).mean())

    optimiser._step(rows, labels, 0, 1.0)
    parameters = [x for pair in zip(network.weights, network.offsets, strict=True) for x in pair]
    for values, gradient in zip(parameters, kept, strict=True):
        flat, step = values[0].reshape(-1), 1e-5
        for place in range(len(flat)):
            before = flat[place]
            flat[place] = before + step
            above = loss()
            flat[place] = before - step
            below = loss()
            flat[place] = before
            slope = (above - below) / (2 * step)
            assert gradient.reshape(-1)[place] == pytest.approx(slope, abs=1e-6)


def test_the_same_seed_gives_the_same_weights_and_another_others(worlds: list[World]) -> None:
    first, again = train(worlds, TINY, 3), train(worlds, TINY, 3)
    assert_same(first, again)
    other = train(worlds, TINY, 4)
    assert not np.array_equal(first.tensors["layer0.weights"], other.tensors["layer0.weights"])


@pytest.mark.parametrize("stop", [0, 2, 3, 4, 7, 8])
def test_a_killed_training_goes_on_to_the_very_same_weights(
    worlds: list[World], tmp_path: Path, stop: int
) -> None:
    steps = 0

    def kill(progress: TrainingProgress) -> None:
        nonlocal steps
        if steps == stop:
            raise KeyboardInterrupt
        steps += 1

    with pytest.raises(KeyboardInterrupt):
        train(worlds, TINY, 3, kill, resume=tmp_path)
    assert_same(train(worlds, TINY, 3, resume=tmp_path), train(worlds, TINY, 3))
    # Once it is done, nothing is left to do.
    seen: list[TrainingProgress] = []
    train(worlds, TINY, 3, seen.append, resume=tmp_path)
    assert seen == []


def test_the_folder_of_another_training_is_refused(worlds: list[World], tmp_path: Path) -> None:
    train(worlds, TINY, 3, resume=tmp_path)
    with pytest.raises(ConfigError, match="other worlds, settings or seed"):
        train(worlds, TINY, 4, resume=tmp_path)
    with pytest.raises(ConfigError, match="other worlds, settings or seed"):
        train(worlds[:2], TINY, 3, resume=tmp_path)


def test_progress_is_told(worlds: list[World]) -> None:
    told: list[TrainingProgress] = []
    train(worlds, TINY, 0, told.append)
    assert [(one.part, one.round, one.done, one.of) for one in told] == [
        *(("games", 1, done, 3) for done in (1, 2, 3)),
        *(("fit", 1, done, 2) for done in (1, 2)),
        *(("games", 2, done, 3) for done in (1, 2, 3)),
        *(("fit", 2, done, 2) for done in (1, 2)),
    ]
    assert all(math.isfinite(one.loss) == (one.part == "fit") for one in told)


def test_what_comes_out_can_be_saved_and_played(worlds: list[World], tmp_path: Path) -> None:
    made = train(worlds[:2], TINY, 0)
    assert made.meta["title_domains"] == ["ai"]
    save_checkpoint(tmp_path / "a.safetensors", made.tensors, made.meta)
    games = [
        play(
            Board(worlds[2].graph, worlds[2].title_vectors, 20), learned(given), worlds[2].oracle
        ).tested
        for given in (made, tmp_path / "a.safetensors")
    ]
    np.testing.assert_array_equal(*games)


def test_what_is_known_before_a_game_never_holds_its_own_labels() -> None:
    # Titles that say much, of models that share their taste: else titles are not trusted at all.
    telling = replace(SMALL, nodes=600, title_noise=0.1, shared_direction=0.95)
    worlds = list(simulate_many(4, telling, domains=["ai"], models=range(4)))
    before = known_before(worlds)
    assert before[0].titles is not None
    turned = [replace(worlds[0], leaning=~worlds[0].leaning), *worlds[1:]]
    after = known_before(turned)
    np.testing.assert_array_equal(before[0].titles, after[0].titles)
    assert not np.array_equal(before[1].titles, after[1].titles)  # type: ignore[arg-type]
    assert [one.others for one in before] == [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]]


def test_a_model_on_two_graphs_does_not_inform_itself() -> None:
    worlds = list(simulate_many(6, SMALL, domains=["ai"], graphs=[0, 1], models=[0, 1]))
    before = known_before(worlds)
    flipped = [
        replace(one, leaning=~one.leaning) if one.model == "model 0" else one for one in worlds
    ]
    after = known_before(flipped)
    np.testing.assert_array_equal(before[0].titles, after[0].titles)
    assert before[0].others == [1]


def test_which_candidates_are_labelled_does_not_depend_on_their_labels(
    worlds: list[World],
) -> None:
    known = known_before(worlds)
    rows = []
    for leaning in (worlds[0].leaning, ~worlds[0].leaning):
        # The tests say the same; the truth that rows are labelled with is turned around.
        world = replace(worlds[0], leaning=leaning, tested_as=worlds[0].leaning)
        some = [world, *worlds[1:]]
        rows.append(gather(some, known, 0, None, 1, "game", 15, 0.0))
    np.testing.assert_array_equal(rows[0][0], rows[1][0])
    np.testing.assert_array_equal(rows[0][1], 1 - rows[1][1])
    assert rows[0][0].shape[1] == len(NAMES)


def test_from_one_world_nothing_speaks_for_new_weights(worlds: list[World]) -> None:
    settings = replace(TINY, begin="shipped", rounds=1, folds=3)
    made = train(worlds[:1], settings, 0)
    assert made.meta["figures"]["kept"] == "shipped"
    assert math.isnan(made.meta["figures"]["held_out_gain"])
    for name, array in shipped().network.tensors().items():
        np.testing.assert_array_equal(made.tensors[name], array)


def test_from_several_models_the_held_out_ones_decide(worlds: list[World]) -> None:
    settings = replace(TINY, begin="shipped", rounds=1, folds=3)
    figures = train(worlds, settings, 0).meta["figures"]
    assert math.isfinite(figures["held_out_gain"])
    assert ("kept" in figures) == (figures["held_out_gain"] <= 0)


@pytest.mark.parametrize("leaning", [0, 1])
def test_worlds_of_one_label_teach_nothing(worlds: list[World], leaning: int) -> None:
    alike = replace(worlds[0], leaning=np.full(90, bool(leaning)))
    with pytest.raises(DataError, match="lean and topics that do not"):
        train([alike], TINY)
    with pytest.raises(DataError, match="lean and topics that do not"):
        train([], TINY)


@pytest.mark.parametrize(
    "change",
    [{"rounds": 0}, {"rate": math.nan}, {"folds": 1}, {"forgetting": 2.0}, {"begin": "anew"}],
)
def test_settings_without_meaning_are_refused(change: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=r"expected|must be"):
        replace(TINY, **change)  # type: ignore[arg-type]
