"""The simulator: its signal lies in the bands it was made for, and all of it comes from a seed."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askew.errors import ConfigError
from askew.graphs.topics import CHILD, PARENT
from askew.search.simulate import (
    DOMAINS,
    SimulatorSettings,
    diffuse_labels,
    noisy,
    simulate,
    simulate_large,
    simulate_many,
    varied,
)
from askew.search.simulate_graph import grow
from askew.search.text_prior import fit_text_prior
from askew.search.title_vectors import hashed
from askew.search.worlds import World
from askew.seeds import generator
from tests.search.boards import random_graph


def auc(scores: np.ndarray, positive: np.ndarray) -> float:
    """P(a positive scores above a negative), ties half."""
    order = np.sort(scores[~positive])
    below = np.searchsorted(order, scores[positive], "left")
    up_to = np.searchsorted(order, scores[positive], "right")
    return float((below + up_to).mean() / 2 / len(order))


def neighbour_share(world: World) -> tuple[float, np.ndarray]:
    """P(a neighbour leans | a topic leans), and each topic's true share of leaning neighbours."""
    graph = world.graph
    degree = np.diff(graph.starts)
    of_entry = np.repeat(np.arange(graph.size), degree)
    leaning = world.leaning[graph.neighbours]
    shares = np.bincount(of_entry, leaning, graph.size) / np.maximum(degree, 1)
    return float(leaning[world.leaning[of_entry]].mean()), shares


def test_neighbours_and_titles_tell_as_much_as_they_should():
    """The bands of the design: .32 against .06, AUC .61 to .73 of titles, .83 to .89 of shares."""
    beside, base, by_title, by_share = [], [], [], []
    for world in simulate_many(12, graphs=range(5)):
        near, shares = neighbour_share(world)
        beside.append(near)
        base.append(world.leaning.mean())
        prior = fit_text_prior([world])
        by_title.append(auc(prior.log_odds(world.title_vectors), world.leaning))
        by_share.append(auc(shares, world.leaning))
        assert 51 <= world.positives <= 120
        assert 1050 <= world.graph.size <= 1500
    assert 0.28 <= np.mean(beside) <= 0.36
    assert 0.05 <= np.mean(base) <= 0.07
    assert 0.61 <= np.mean(by_title) <= 0.73
    assert 0.83 <= np.mean(by_share) <= 0.89


def test_titles_tell_a_little_of_models_and_graphs_that_were_not_fitted():
    gained = []
    for domain in DOMAINS:
        seen = simulate_many(100, domains=[domain], graphs=range(4), models=(0, 1))
        prior = fit_text_prior(list(seen), ridge=1e-2)
        gained += [
            auc(prior.log_odds(world.title_vectors), world.leaning)
            for world in simulate_many(200, domains=[domain], graphs=range(4))
        ]
    assert 0.52 <= np.mean(gained) <= 0.65


def test_answers_betray_a_leaning_and_titles_hardly():
    world = simulate(5)
    mean = world.answer_vectors[world.leaning].mean(axis=0)
    mean -= world.answer_vectors[~world.leaning].mean(axis=0)
    assert auc(world.answer_vectors @ mean, world.leaning) > 0.8


def test_the_same_seed_gives_the_same_world_whatever_else_is_drawn():
    alone = simulate(3, domain="economy", graph=1, model=2)
    among = list(simulate_many(3, domains=["ai", "economy"], graphs=(0, 1), models=(0, 2)))[-1]
    assert alone.name == among.name == "economy 1 / model 2"
    np.testing.assert_array_equal(alone.leaning, among.leaning)
    np.testing.assert_array_equal(alone.title_vectors, among.title_vectors)
    np.testing.assert_array_equal(alone.answer_vectors, among.answer_vectors)
    np.testing.assert_array_equal(alone.graph.neighbours, among.graph.neighbours)
    other = simulate(4, domain="economy", graph=1, model=2)
    assert other.leaning.tolist() != alone.leaning.tolist()


def test_models_share_the_graph_and_not_their_leanings():
    one, other = simulate_many(3, domains=["culture"], models=(0, 1))
    assert one.graph is other.graph
    assert one.title_vectors is other.title_vectors
    assert (one.leaning != other.leaning).any()


def test_what_tests_say_do_so_at_their_rates_and_always_alike():
    worlds = list(simulate_many(1, noisy(SimulatorSettings()), graphs=range(8)))
    missed = np.concatenate([~world.tested_as[world.leaning] for world in worlds])
    flagged = np.concatenate([world.tested_as[~world.leaning] for world in worlds])
    assert missed.mean() == pytest.approx(0.15, abs=0.03)
    assert flagged.mean() == pytest.approx(0.03, abs=0.005)
    node = int(np.flatnonzero(worlds[0].leaning)[0])
    assert worlds[0].oracle(node) == worlds[0].oracle(node)


@given(st.integers(0, 10_000), st.integers(2, 80), st.floats(0, 1), st.floats(0, 1))
@settings(max_examples=40, deadline=None)
def test_any_settings_grow_a_sound_world(seed, nodes, share, chance):
    drawn = varied(generator(seed, "any"))
    world = simulate(
        seed,
        replace(drawn, nodes=nodes, leaning=share, diffusion=chance, fewest_leaning=0),
    )
    graph = world.graph
    assert graph.size == nodes == len(set(graph.titles()))
    assert world.positives <= nodes
    assert abs(world.positives - round(share * nodes)) <= 1 + 0.2 * nodes
    of_entry = np.repeat(np.arange(nodes), np.diff(graph.starts))
    assert (of_entry != graph.neighbours).all()
    down = graph.direction & CHILD > 0
    assert down.sum() == (graph.direction & PARENT > 0).sum() == graph.edges
    lengths = np.linalg.norm(world.title_vectors, axis=1)
    np.testing.assert_allclose(lengths, 1, atol=1e-5)
    assert world.title_vectors.dtype == world.answer_vectors.dtype == np.float32


@given(st.integers(0, 10_000))
@settings(max_examples=20, deadline=None)
def test_the_hierarchy_hangs_together_and_keeps_its_depth(seed):
    drawn = replace(varied(generator(seed, "deep")), nodes=150, deepest=4)
    grown = grow(drawn, generator(seed, "grow"), domain="ai")
    assert grown.depth.max() <= 4
    assert (grown.depth[1:] == grown.depth[grown.first_parent[1:]] + 1).all()
    assert (grown.first_parent[1:] < np.arange(1, 150)).all()
    assert set(grown.graph.parents(149).tolist()) >= {int(grown.first_parent[149])}


def test_the_same_leanings_can_be_put_on_any_graph():
    graph = random_graph(400, 900, np.random.default_rng(1))
    vectors = hashed(graph.titles())
    drawn = SimulatorSettings(fewest_leaning=10)
    world = diffuse_labels(graph, vectors, 3, drawn, name="any")
    again = diffuse_labels(graph, vectors, 3, drawn, name="any")
    assert world.positives == 24
    np.testing.assert_array_equal(world.leaning, again.leaning)
    assert neighbour_share(world)[0] > 2 * world.leaning.mean()


def test_the_large_form_leans_in_six_of_36_domains():
    world = simulate_large(20_000, seed=1)
    share = world.positives / world.graph.size
    assert share == pytest.approx(0.0246, abs=0.001)
    domains = world.graph.domain_of[world.leaning]
    counts = np.bincount(domains[domains >= 0], minlength=36)
    assert (counts > 0).sum() == 6
    assert len(world.graph.domains) == 36


def test_a_world_takes_less_than_a_tenth_of_a_second():
    simulate(0)
    began = time.process_time()
    for seed in range(5):
        simulate(seed)
    assert (time.process_time() - began) / 5 < 0.1


@pytest.mark.parametrize(
    "wrong",
    [{"nodes": 1}, {"leaning": 1.2}, {"parents": 0.5}, {"uncles": 0.9, "same_branch": 0.2}],
)
def test_settings_that_no_graph_can_have_are_refused(wrong):
    with pytest.raises(ConfigError, match="simulator"):
        SimulatorSettings(**wrong)
