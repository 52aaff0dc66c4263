"""GMRL-BD's training: it learns, it resumes to the very weights, it says what it cannot use."""

from __future__ import annotations

import math
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("numba")

from askew.errors import ConfigError, DataError  # noqa: E402
from askew.search.checkpoints import load_checkpoint, save_checkpoint  # noqa: E402
from askew.search.gmrl_learning import bounds, learn  # noqa: E402
from askew.search.gmrl_model import GmrlModel, load_model  # noqa: E402
from askew.search.gmrl_settings import GmrlSettings, variant_settings  # noqa: E402
from askew.search.gmrl_train import Trainer, train_gmrl  # noqa: E402
from askew.search.worlds import World  # noqa: E402

from .gmrl_plain import random_world  # noqa: E402


def small(variant: str = "full", **changes: object) -> GmrlSettings:
    sizes: dict[str, object] = {
        "embedding": 8,
        "tower": 8,
        "query": 3,
        "encoder_steps": 30,
        "encoder_batch": 128,
        "episodes": 6,
        "tries": 10,
        "try_queries": 15,
        "batch": 64,
        "worlds_per_episode": 2,
    }
    return variant_settings(variant, **{**sizes, **changes})


def worlds() -> list[World]:
    return [random_world(seed) for seed in (1, 2, 3)]


class Stopped(BaseException):
    """As a key press or a kill between two episodes."""


@pytest.mark.parametrize("variant", ["full", "graph_attention_q"])
@pytest.mark.parametrize("after", [1, 4])
def test_a_stopped_training_goes_on_to_the_very_same_weights(
    tmp_path: Path, variant: str, after: int
) -> None:
    unbroken = train_gmrl(worlds(), small(variant), seed=4, checkpoint=tmp_path / "whole")

    def stop(done: int, total: int, figures: dict[str, float]) -> None:
        if total == 6 and done == after:
            raise Stopped

    with pytest.raises(Stopped):
        train_gmrl(worlds(), small(variant), seed=4, checkpoint=tmp_path / "part", told=stop)
    assert load_model(tmp_path / "part").episodes == after
    resumed = train_gmrl(worlds(), small(variant), seed=4, checkpoint=tmp_path / "part")
    assert resumed.weights.keys() == unbroken.weights.keys()
    for name, array in unbroken.weights.items():
        np.testing.assert_array_equal(resumed.weights[name], array, err_msg=name)
    assert (tmp_path / "part").read_bytes() == (tmp_path / "whole").read_bytes()


@pytest.mark.slow
def test_a_killed_training_goes_on_to_the_very_same_weights(tmp_path: Path) -> None:
    code = """
import os, signal, sys
from tests.search.test_gmrl_train import small, train_gmrl, worlds

def told(done, total, figures):
    if total == 25 and done == 23:  # three episodes after a checkpoint
        os.kill(os.getpid(), signal.SIGKILL)

train_gmrl(worlds(), small(episodes=25), seed=4, checkpoint=sys.argv[1], told=told)
"""
    root = Path(__file__).parents[2]
    killed = subprocess.run([sys.executable, "-c", code, str(tmp_path / "part")], cwd=root)
    assert killed.returncode == -signal.SIGKILL
    assert load_model(tmp_path / "part").episodes == 20
    train_gmrl(worlds(), small(episodes=25), seed=4, checkpoint=tmp_path / "part")
    train_gmrl(worlds(), small(episodes=25), seed=4, checkpoint=tmp_path / "whole")
    assert (tmp_path / "part").read_bytes() == (tmp_path / "whole").read_bytes()


def test_q_learns_the_targets_and_its_mean_follows() -> None:
    # With averaging = 1 the mean is the network itself.
    trainer = Trainer(worlds()[:1], small(averaging=1.0, learning_rate=0.02), seed=4)
    random = np.random.default_rng(0)
    one = trainer.prepared[0]
    played = [(one, trainer.play(one, 10, 0.5, random))]
    slow = {name: torch.from_numpy(array) for name, array in trainer.network.arrays().items()}
    adam = torch.optim.Adam(trainer.network.q_parameters(), lr=0.02)
    losses = [
        learn(trainer.network, slow, played, trainer.settings, random, adam) for _ in range(40)
    ]
    assert losses[-1] < losses[0] / 2
    for name, array in trainer.network.arrays().items():
        np.testing.assert_allclose(slow[name].numpy(), array, atol=1e-6, err_msg=name)


def test_targets_stay_within_what_eq_1_can_sum_up_to() -> None:
    low, high = bounds(small(discount=0.9))  # -α, and β - α + w, over 1 - γ
    assert (low, high) == (pytest.approx(-0.5), pytest.approx(10.5))
    assert bounds(small(discount=1)) == (-math.inf, math.inf)


def test_a_stop_within_eq_5_resumes_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("askew.search.gmrl_train.ENCODER_SAVE_EVERY", 10)
    # Without both layers some weights have no use, and Adam nothing to say of them.
    used = small("without_both")
    unbroken = train_gmrl(worlds(), used, seed=4)

    def stop(done: int, total: int, figures: dict[str, float]) -> None:
        if "cross_entropy" in figures and done == 20:
            raise Stopped

    with pytest.raises(Stopped):
        train_gmrl(worlds(), used, seed=4, checkpoint=tmp_path / "part", told=stop)
    assert load_model(tmp_path / "part").encoder_steps == 20
    resumed = train_gmrl(worlds(), used, seed=4, checkpoint=tmp_path / "part")
    for name, array in unbroken.weights.items():
        np.testing.assert_array_equal(resumed.weights[name], array, err_msg=name)


def test_a_finished_checkpoint_is_not_trained_again(tmp_path: Path) -> None:
    path = tmp_path / "a"
    train_gmrl(worlds(), small(), checkpoint=path)
    before = path.stat().st_mtime_ns
    told: list[int] = []
    train_gmrl(worlds(), small(), checkpoint=path, told=lambda done, *_: told.append(done))
    assert told == []
    assert path.stat().st_mtime_ns == before


def test_the_curve_is_kept_in_the_checkpoint(tmp_path: Path) -> None:
    told: list[tuple[int, int, dict[str, float]]] = []
    train_gmrl(worlds(), small(), checkpoint=tmp_path / "a", told=lambda *all: told.append(all))
    model = load_model(tmp_path / "a")
    assert [figures for _, total, figures in told if total == 6] == model.curve
    assert [done for done, total, _ in told if total == 6] == [1, 2, 3, 4, 5, 6]
    assert model.curve[0]["epsilon"] == 1.0
    assert model.finished
    assert not model.moments
    assert load_checkpoint(tmp_path / "a").kind == "gmrl_bd"


def test_different_seeds_give_different_weights() -> None:
    first, second = (train_gmrl(worlds(), small(), seed=seed) for seed in (0, 1))
    assert not np.array_equal(first.weights["neighbour"], second.weights["neighbour"])


def test_training_beats_uniform_actions_where_answers_betray_the_leaning() -> None:
    used = small(regime="leaky", encoder_steps=150, episodes=60, learning_rate=3e-3, averaging=0.05)
    curve = train_gmrl(worlds(), replace(used, epsilon_decay=0.95), seed=1).curve
    first, last = (np.mean([one["hits"] for one in part]) for part in (curve[:5], curve[-10:]))
    assert last > 1.3 * first


def test_a_world_without_a_leaning_topic_is_no_fault() -> None:
    clean = replace(random_world(1), leaning=np.zeros(40, bool))
    model = train_gmrl([clean], small())
    assert math.isnan(model.curve[-1]["first_hit"])
    assert model.curve[-1]["without_hit"] == 1.0
    assert all(np.isfinite(array).all() for array in model.weights.values())


def test_a_world_of_one_topic_is_no_fault() -> None:
    one = random_world(1, nodes=1, edges=0)
    model = train_gmrl([one], small())
    assert model.finished
    assert math.isnan(model.curve[-1]["loss"])


def test_a_checkpoint_of_another_training_is_not_gone_on_with(tmp_path: Path) -> None:
    path = tmp_path / "a"
    train_gmrl(worlds(), small(), checkpoint=path)
    with pytest.raises(ConfigError, match="other settings"):
        train_gmrl(worlds(), small(discount=0.9), checkpoint=path)
    with pytest.raises(ConfigError, match="other seed"):
        train_gmrl(worlds(), small(), seed=1, checkpoint=path)
    with pytest.raises(ConfigError, match="other worlds"):
        train_gmrl(worlds()[:2], small(), checkpoint=path)
    shorter = [replace(one, title_vectors=one.title_vectors[:, :2]) for one in worlds()]
    with pytest.raises(ConfigError, match=r"other lengths .*\(4, 3\).*\(2, 3\)"):
        train_gmrl(shorter, small(), checkpoint=path)


def test_worlds_that_cannot_be_used_are_named() -> None:
    good, other = random_world(1), random_world(2)
    with pytest.raises(DataError, match="there is none"):
        train_gmrl([], small())
    with pytest.raises(DataError, match=r"random 2.*title_vectors has shape"):
        train_gmrl([good, replace(other, title_vectors=other.title_vectors[:, :2])], small())
    broken = other.title_vectors.copy()
    broken[3, 1] = np.nan
    with pytest.raises(DataError, match=r"random 2.*not finite"):
        train_gmrl([good, replace(other, title_vectors=broken)], small())
    with pytest.raises(DataError, match=r"random 2.*no answer_vectors"):
        train_gmrl([good, replace(other, answer_vectors=None)], small(regime="leaky"))
    with pytest.raises(ConfigError, match="nothing to train"):
        train_gmrl([good], variant_settings("uniform_actions"))


def test_without_answers_the_honest_regime_goes_by_titles_and_labels() -> None:
    model = train_gmrl([replace(one, answer_vectors=None) for one in worlds()], small())
    assert model.answer_dimensions == 0
    assert model.weights["neighbour"].shape == (4 + 3, 8)
    assert train_gmrl(worlds(), small(read_answers=False)).answer_dimensions == 0


def test_a_checkpoint_whose_parts_do_not_fit_is_refused(tmp_path: Path) -> None:
    model: GmrlModel = train_gmrl(worlds(), small())
    model.weights["key"] = model.weights["key"][:, :2]
    model.save(tmp_path / "a")
    with pytest.raises(DataError, match=r"'key' has shape \(8, 2\), expected \(8, 4\)"):
        load_model(tmp_path / "a")
    save_checkpoint(tmp_path / "b", model.weights, {"kind": "gmrl_bd"})
    with pytest.raises(DataError, match="notes of this GMRL-BD checkpoint"):
        load_model(tmp_path / "b")
    with pytest.raises(DataError, match="no such checkpoint"):
        load_model(tmp_path / "c")
