"""What other models say is believed as far as it foretells models that it was not learned from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from askew.search.label_prior import label_prior
from askew.search.learned_rows import known_before, trusted_titles
from askew.search.prior_trust import UNTRIED, prior_trust
from askew.search.simulate import SimulatorSettings, simulate_many
from askew.search.worlds import World

SMALL = SimulatorSettings(nodes=300, leaning=0.08, fewest_leaning=10)


@pytest.fixture(scope="module")
def worlds() -> list[World]:
    return list(simulate_many(5, SMALL, domains=["ai"], models=range(4)))


def drawn(slope: float, seed: int = 0, topics: int = 4000) -> tuple[np.ndarray, np.ndarray]:
    """Log odds, and labels that follow them by so much."""
    random = np.random.default_rng(seed)
    odds = random.normal(0, 1, topics)
    return odds, random.random(topics) < 1 / (1 + np.exp(2.5 - slope * odds))


@pytest.mark.parametrize(("slope", "trust"), [(-0.5, 0.0), (0.0, 0.0), (0.3, 0.5), (1.0, 1.0)])
def test_trust_is_the_slope_beside_the_reference(slope, trust):
    pairs = [drawn(slope, seed) for seed in range(3)]
    found = prior_trust([odds for odds, _ in pairs], [labels for _, labels in pairs])
    assert found == pytest.approx(trust, abs=0.12)


def test_models_that_lean_more_or_less_do_not_pass_for_foretold():
    """Odds that only tell one model from another say nothing of its topics."""
    random = np.random.default_rng(3)
    labels = [random.random(3000) < rate for rate in (0.02, 0.3)]
    odds = [level + random.normal(0, 0.5, 3000) for level in (-2.0, 2.0)]
    assert prior_trust(odds, labels) < 0.5


@pytest.mark.parametrize("labels", [np.zeros(9, bool), np.ones(9, bool)])
def test_what_nobody_can_judge_is_untried(labels):
    assert prior_trust([np.arange(9.0)], [labels]) == UNTRIED
    assert prior_trust([], []) == UNTRIED
    assert prior_trust([np.zeros(9)], [np.arange(9) % 2 == 0]) == UNTRIED


def test_models_that_agree_are_believed_and_others_are_not(worlds):
    random = np.random.default_rng(1)
    kept = [world.leaning & (random.random(world.graph.size) < 0.8) for world in worlds]
    same = [
        replace(one, leaning=worlds[0].leaning & part)
        for one, part in zip(worlds, kept, strict=True)
    ]
    assert label_prior(same).trust > 0.8
    apart = [replace(one, leaning=random.random(one.graph.size) < 0.08) for one in worlds]
    strangers = label_prior(apart)
    assert strangers.trust < 0.3
    assert np.abs(strangers.log_odds()).max() < 0.3 * np.abs(label_prior(same).log_odds()).max()
    assert label_prior(worlds[:1]).trust == UNTRIED


def test_many_meaningless_dimensions_of_one_graph_are_not_believed(worlds):
    """A discriminant of hundreds of dimensions remembers topics, and foretells no other model."""
    random = np.random.default_rng(2)
    noise = random.standard_normal((worlds[0].graph.size, 256)).astype(np.float32)
    apart = [
        replace(one, title_vectors=noise, leaning=random.random(one.graph.size) < 0.08)
        for one in worlds
    ]
    _, trust = trusted_titles(apart)
    assert trust < 0.3


def test_of_one_world_no_title_prior_is_kept(worlds):
    assert trusted_titles(worlds[:1]) == (None, 0.0)
    assert known_before(worlds[:1])[0].titles is None


def test_how_far_titles_are_believed_never_depends_on_the_worlds_own_labels(worlds):
    before = known_before(worlds)[0].titles
    turned = [replace(worlds[0], leaning=~worlds[0].leaning), *worlds[1:]]
    np.testing.assert_array_equal(before, known_before(turned)[0].titles)


def test_models_that_agree_to_the_last_topic_are_believed():
    """Labels that separate perfectly have no finite slope of their own."""
    leaning = np.arange(200) % 10 == 0
    odds = np.where(leaning, 3.9, -1.7)
    assert prior_trust([odds] * 3, [leaning] * 3) == 1.0
    assert prior_trust([-odds] * 3, [leaning] * 3) == 0.0
