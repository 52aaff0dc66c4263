"""The simulation of very many calls: it knows the answers that can be had without it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

FOLDER = Path(__file__).parents[2] / "benchmarks" / "scale"
sys.path.insert(0, str(FOLDER))
try:
    from simulate import Rates, Setup, simulate
finally:
    sys.path.remove(str(FOLDER))

QUICK = Rates(owner_exchange=1e-6, owner_call=1e-6, round_trip=0.0, worker_call=0.0)


def rate(rates: Rates = QUICK, **changes: object) -> float:
    return simulate(
        rates, Setup(**{"calls": 4000, "workers": 2, "spread": 0.0, **changes})
    ).calls_per_second


def test_where_nothing_holds_it_up_the_rate_is_lanes_over_latency():
    assert rate(lanes=10, latency=0.5) == pytest.approx(2 * 10 / 0.5, rel=0.02)


def test_the_spread_of_latencies_does_not_change_the_mean_rate():
    assert rate(lanes=10, latency=0.5, spread=1.0) == pytest.approx(40, rel=0.05)


def test_an_endpoint_lets_no_more_begin_than_its_limit():
    assert rate(lanes=64, latency=1.0, limit=20.0) == pytest.approx(20.0, rel=0.1)


def test_the_owner_can_be_the_bound():
    slow = Rates(owner_exchange=0.0, owner_call=0.01, round_trip=0.0, worker_call=0.0)
    found = simulate(slow, Setup(calls=4000, workers=8, lanes=64, latency=0.1))
    assert found.calls_per_second == pytest.approx(100, rel=0.05)
    assert found.owner_busy > 0.95


def test_a_workers_processor_can_be_the_bound():
    slow = Rates(owner_exchange=0.0, owner_call=0.0, round_trip=0.0, worker_call=0.02)
    assert rate(slow, lanes=64, latency=0.1) == pytest.approx(2 * 50, rel=0.05)


@settings(max_examples=25)
@given(
    st.integers(1, 6),
    st.integers(1, 30),
    st.floats(0.05, 2.0),
    st.floats(0.0, 1.0),
    st.floats(1.0, 500.0),
)
def test_no_bound_is_ever_exceeded(workers, lanes, latency, spread, limit):
    rates = Rates(owner_exchange=0.001, owner_call=0.001, round_trip=0.002, worker_call=0.002)
    setup = Setup(
        calls=600, workers=workers, lanes=lanes, latency=latency, spread=spread, limit=limit
    )
    found = simulate(rates, setup)
    assert found.seconds * limit >= setup.calls - 1
    assert found.seconds >= 600 * 0.001
    assert 0 < found.owner_busy <= 1
    assert 0 < found.worker_busy <= 1
