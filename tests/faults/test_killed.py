"""`kill -9` and other ends, through the command line: a share of `benchmarks/soak`, in seconds."""

from __future__ import annotations

import random
import signal

import pytest
from benchmarks.soak.voting import votes_through_kills

from tests.faults.killed import Tally, Watched, random_moment
from tests.faults.scripted import work


def test_killed_at_random_moments_it_ends_as_if_left_alone(tmp_path, starter, server, alone):
    rng = random.Random(0)
    figures, needed = alone
    tally = Tally("kill -9")
    watched = Watched(work("flex", server.url, tmp_path), server, starter, tally)
    for _ in range(3):
        process = watched.start()
        random_moment(watched, process, needed, rng)
        watched.end(process)
    watched.finish(figures)
    assert tally.kept, tally
    assert tally.injected > 0


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_signal_lets_what_is_under_way_end_and_nothing_is_asked_again(
    tmp_path, starter, server, alone, name
):
    number = getattr(signal, name)
    figures, needed = alone
    tally = Tally(name)
    watched = Watched(work("flex", server.url, tmp_path), server, starter, tally)
    process = watched.start()
    watched.reach(process, needed // 2)
    assert watched.end(process, number) == 4, process.said
    assert "stopped early (interrupted)" in process.said
    watched.finish(figures)
    assert tally.kept, tally
    assert tally.repeats == 0


def test_votes_that_were_said_to_be_saved_outlive_the_server(tmp_path, starter):
    tally = votes_through_kills(tmp_path, random.Random(0), starter, kills=2)
    assert tally.kept, tally
    assert tally.injected == 2
