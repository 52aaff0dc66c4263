"""The pace of calls: growth, halving, waits, giving up."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askew.models.pace import Pace, PaceSettings


def pace(start: int = 16, cap: int = 64, **settings: float) -> Pace:
    return Pace(start, cap, PaceSettings(**settings), random.Random(0))


def test_concurrency_grows_by_about_one_a_round_and_stops_at_the_cap():
    steady = pace(start=16, cap=18)
    for _ in range(17):
        steady.replied()
    assert steady.concurrency == 17
    for _ in range(1000):
        steady.replied()
    assert steady.concurrency == 18


def test_one_burst_of_refusals_halves_once_and_the_next_one_again():
    slowed = pace(start=16)
    for sent_at in (1.0, 1.1, 1.2):
        slowed.slow_down(sent_at, now=2.0, wait_seconds=None)
    assert slowed.concurrency == 8
    slowed.slow_down(3.0, now=4.0, wait_seconds=None)
    assert slowed.concurrency == 4


def test_concurrency_never_falls_below_one():
    slowed = pace(start=4)
    for k in range(10):
        slowed.slow_down(2.0 * k, now=2.0 * k + 1, wait_seconds=None)
    assert slowed.concurrency == 1


def test_the_servers_own_word_holds_everybody_up_exactly_so_long():
    slowed = pace()
    slowed.slow_down(1.0, now=2.0, wait_seconds=7.0)
    assert slowed.held_for(2.0) == 7.0
    slowed.slow_down(1.5, now=3.0, wait_seconds=2.0)  # a shorter word does not undo it
    assert slowed.held_for(3.0) == 6.0
    assert slowed.held_for(9.0) == 0.0


@given(st.integers(1, 40), st.integers(0, 2**32))
def test_waits_double_up_to_the_longest_and_are_never_negative(attempt, seed):
    settings = PaceSettings(first_wait_seconds=0.5, longest_wait_seconds=60.0)
    wait = Pace(1, 1, settings, random.Random(seed)).wait(attempt)
    assert 0 <= wait <= min(60.0, 0.5 * 2 ** (attempt - 1))


def test_one_fault_holds_nobody_else_up_and_a_second_one_does():
    faulty = pace()
    faulty.fault(1.0, now=2.0)
    assert faulty.held_for(2.0) == 0.0
    faulty.fault(3.0, now=4.0)
    assert faulty.held_for(4.0) > 0.0


def test_after_three_troubles_one_call_at_a_time_is_tried_until_one_is_answered():
    faulty = pace(start=16)
    for k in range(3):
        faulty.fault(2.0 * k, now=2.0 * k + 1)
    assert (faulty.room(0), faulty.room(1)) == (1, 0)
    faulty.replied()
    assert faulty.room(0) == 16


@pytest.mark.parametrize("answered_after", [None, 9])
def test_it_gives_up_after_ten_troubles_in_a_row(answered_after):
    faulty = pace()
    for k in range(10):
        if k == answered_after:
            faulty.replied()
        faulty.fault(2.0 * k, now=2.0 * k + 1)
    assert faulty.given_up is (answered_after is None)


def test_a_burst_that_left_before_the_first_fault_counts_once():
    faulty = pace()
    for _ in range(64):
        faulty.fault(1.0, now=2.0)
    assert not faulty.given_up


def test_calls_that_are_left_over_and_fail_by_themselves_do_not_wait_for_each_other_for_ever():
    left = pace()
    left.replied()
    waits = []
    for k in range(40):
        left.fault(100.0 * k, now=100.0 * k + 1, left_over=True)
        waits.append(left.held_for(100.0 * k + 1))
    settings = PaceSettings()
    assert max(waits) <= settings.first_wait_seconds * 2**3
    assert waits[settings.give_up_after - 1 :] == [0.0] * (41 - settings.give_up_after)
    assert left.room(0) == left.concurrency


def test_a_server_that_says_at_once_and_refuses_again_is_not_taken_at_its_word():
    slowed = pace()
    slowed.slow_down(1.0, now=2.0, wait_seconds=0.0)
    assert slowed.held_for(2.0) == 0.0
    for k in range(2, 12):
        slowed.slow_down(10.0 * k, now=10.0 * k + 1, wait_seconds=0.0)
    assert slowed.held_for(111.0) > 0.0
