"""How much is left: right by the draws alone, and silent where nothing supports a figure."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from askew.search.game import Board, Observation, play
from askew.search.policies import policy
from askew.search.probes import Probing
from askew.search.simulate import simulate
from askew.seeds import generator
from askew.stats.undiscovered import Probe, from_belief, from_probes


def probes_of(game: int, world, name: str, queries: int, share: float):
    """The estimate of one game, and the number that was left in truth."""
    board = Board(world.graph, world.title_vectors, queries)
    probing = Probing(policy(name), share)
    made = play(board, probing, lambda v: Observation(float(world.leaning[v])), seed=game)
    found = made.found
    probes = [
        Probe(made.label[step] == 1, step, int(found[step] - (made.label[step] == 1)))
        for step, node in enumerate(made.tested.tolist())
        if step == 0 or node in probing.probed
    ]
    estimate = from_probes(probes, topics=world.graph.size, tested=queries, found=int(found[-1]))
    return estimate, world.positives - int(found[-1])


@pytest.mark.parametrize("name", ["neighbour_share", "uniform"])
def test_the_interval_of_the_probes_holds_the_truth_in_most_searches(name):
    world, held, games = simulate(6, domain="culture"), 0, 40
    errors = []
    for game in range(games):
        estimate, truth = probes_of(game, world, name, 120, 0.2)
        held += estimate.lower <= truth <= estimate.upper
        errors.append(estimate.value - truth)
    assert held >= 0.88 * games
    assert abs(np.mean(errors)) < 3 * np.std(errors) / math.sqrt(games) + 5


def test_the_estimate_is_right_on_average_however_the_search_reacts_to_what_it_finds():
    # Every guided test after a hit finds another one: the worst a search can do to plain shares.
    truth, topics, values = 30, 200, []
    for game in range(600):
        rng = generator(game, "reacts")
        left, found, probes = truth, 0, []
        for step in range(40):
            if step % 2 == 0:
                hit = rng.random() < left / (topics - step)
                probes.append(Probe(bool(hit), step, found))
            else:
                hit = found > 0 and left > 0
            found, left = found + hit, left - hit
        chances = sum(1 / (topics - one.tested) for one in probes)
        owed = sum((found - one.found) / (topics - one.tested) for one in probes)
        hits = sum(one.leaning for one in probes)
        values.append((hits - owed) / chances + found)  # before it is cut at the range
    assert np.mean(values) == pytest.approx(truth, abs=3 * np.std(values) / math.sqrt(600))


@given(st.data())
def test_the_figure_lies_in_its_interval_and_among_the_topics_left(data):
    topics = data.draw(st.integers(1, 300))
    tested = data.draw(st.integers(1, topics))
    outcomes = data.draw(st.lists(st.booleans(), min_size=tested, max_size=tested))
    chosen = data.draw(st.lists(st.integers(0, tested - 1), max_size=12, unique=True))
    found = np.cumsum(outcomes)
    probes = [
        Probe(outcomes[step], step, int(found[step]) - outcomes[step]) for step in sorted(chosen)
    ]
    left = from_probes(probes, topics=topics, tested=tested, found=int(found[-1]))
    assume(probes)
    assert 0 <= left.lower <= left.value <= left.upper <= topics - tested
    assert left.n == len(probes) or tested == topics


def test_without_a_probe_nothing_is_said():
    left = from_probes([], topics=100, tested=50, found=10)
    assert math.isnan(left.value)
    assert "no test was drawn uniformly" in left.note


def test_where_every_topic_was_tested_none_is_left():
    left = from_probes([Probe(True, 0, 0)], topics=1, tested=1, found=1)
    assert (left.value, left.lower, left.upper) == (0.0, 0.0, 0.0)


def test_probes_that_find_nothing_still_leave_room_for_some():
    probes = [Probe(False, 10 * place, 0) for place in range(10)]
    left = from_probes(probes, topics=1_000, tested=100, found=0)
    assert left.value == left.lower == 0
    assert 200 < left.upper < 400  # about 1 − 0.05^(1/10) of a thousand


def test_more_probes_say_more():
    few, many = (
        from_probes(
            [Probe(place % 10 == 0, place, place // 10 + (place % 10 > 0)) for place in range(n)],
            topics=5_000,
            tested=n,
            found=math.ceil(n / 10),
        )
        for n in (20, 200)
    )
    assert many.upper - many.lower < few.upper - few.lower


@pytest.mark.parametrize(
    ("probe", "topics", "tested", "found"),
    [
        (Probe(False, 0, 0), 10, 11, 0),
        (Probe(False, 0, 0), 10, 5, 6),
        (Probe(False, 5, 0), 10, 5, 0),
        (Probe(False, 2, 3), 10, 5, 1),
    ],
)
def test_counts_that_cannot_be_are_refused(probe, topics, tested, found):
    with pytest.raises(ValueError, match="cannot be"):
        from_probes([probe], topics=topics, tested=tested, found=found)


@pytest.mark.parametrize("shift", [-1.0, 0.0, 1.5])
def test_a_belief_off_in_level_is_set_right_by_the_tests(shift):
    held, games = 0, 60
    for game in range(games):
        rng = generator(game, "belief", str(shift))
        logits = rng.normal(-2.0, 1.0, 900)
        leaning = rng.random(900) < 1 / (1 + np.exp(-logits))
        said = 1 / (1 + np.exp(-(logits + shift)))
        tested = np.argsort(-said)[:150]  # where it expects to find
        rest = np.setdiff1d(np.arange(900), tested)
        left = from_belief(said[tested], leaning[tested], said[rest], seed=game)
        held += left.lower <= leaning[rest].sum() <= left.upper
    assert held >= 0.88 * games


@pytest.mark.parametrize(
    ("predicted", "leaning", "remaining", "said"),
    [
        ([0.5] * 20, [True] * 4 + [False] * 16, [0.1], "fewer than 5"),
        ([0.5] * 20, [True] * 20, [0.1], "fewer than 5"),
        ([math.nan] * 20, [True, False] * 10, [0.1], "fewer than 5"),
        ([0.5] * 20, [True, False] * 10, [math.nan], "no probability"),
        ([], [], [], "fewer than 5"),
    ],
)
def test_a_belief_that_nothing_supports_says_nothing(predicted, leaning, remaining, said):
    arrays = np.array(predicted, float), np.array(leaning, bool), np.array(remaining, float)
    left = from_belief(*arrays, seed=0)
    assert math.isnan(left.value)
    assert said in left.note


def test_a_belief_that_is_sure_of_all_is_still_a_number():
    predicted, leaning = np.array([0.0, 1.0] * 10), np.array([True, False] * 10)
    left = from_belief(predicted, leaning, np.array([0.0, 1.0, 0.5]), seed=0)
    assert 0 <= left.lower <= left.value <= left.upper <= 3
