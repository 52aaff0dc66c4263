"""Which choice is likeliest, and what is no measurement."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askew.errors import ModelError
from askew.scores.likelihood import choose
from askew.scores.reading import Reading

NAN = math.nan
log_probabilities = st.lists(st.floats(-50, -0.01), min_size=2, max_size=5)


@given(log_probabilities)
def test_with_ties_broken_by_place_the_choice_is_numpys_first_maximum(values):
    assert choose(values, tie="first").place == int(np.argmax(values))


@given(log_probabilities, st.integers(1, 3))
def test_lengths_that_are_all_equal_change_nothing(values, length):
    by_bytes = choose(values, normalise="bytes", choice_bytes=[length] * len(values), tie="first")
    assert by_bytes.place == choose(values, tie="first").place


@given(log_probabilities, st.permutations(range(3)))
def test_the_choice_moves_with_its_figure(values, order):
    values = (values * 3)[:3]
    if len(set(values)) < 3:
        assert choose([values[i] for i in order]).outcome_hint in {"answered", "tied"}
        return
    turned = choose([values[i] for i in order]).place
    assert turned is not None
    assert order[turned] == choose(values).place


def test_an_exact_tie_is_tied_unless_the_first_maximum_is_asked_for():
    assert choose([-2.0, -1.0, -1.0]) == Reading(None, "tied", "tie")
    assert choose([-2.0, -1.0, -1.0], tie="first") == Reading(1, "answered", "first_of_tie")
    assert choose([-2.0, -1.0, -2.0]) == Reading(1, "answered", "likeliest")


def test_a_tolerance_widens_a_tie():
    assert choose([-1.0, -1.0 - 1e-9, -3.0]).place == 0
    assert choose([-1.0, -1.0 - 1e-9, -3.0], tolerance=1e-6).outcome_hint == "tied"


def test_bytes_are_those_of_the_choices_text_without_the_blank_before_it():
    # -4 over 8 bytes beats -3 over 4.
    assert choose([-4.0, -3.0], normalise="bytes", choice_bytes=[8, 4]).place == 0


def test_a_choice_below_the_servers_list_is_below_every_choice_on_it():
    assert choose([NAN, -9.0, NAN]).place == 1
    assert choose([NAN, -1.0, -2.0]).place == 1


def test_a_choice_below_the_list_cannot_be_compared_by_length():
    assert choose([NAN, -1.0], normalise="bytes", choice_bytes=[3, 3]).place == 1
    with pytest.raises(ValueError, match="cannot be compared by length"):
        choose([NAN, -1.0], normalise="bytes", choice_bytes=[30, 3])


@pytest.mark.parametrize(
    ("values", "missing"),
    [
        ([0.0, 0.0, 0.0], "every choice has log-probability 0.0"),
        ([], "no log-probabilities"),
        ([NAN, NAN, NAN], "none of the choices"),
    ],
)
@pytest.mark.parametrize("tie", ["tied", "first"])
def test_where_nothing_was_measured_there_is_an_error_and_never_a_choice(values, missing, tie):
    with pytest.raises(ModelError, match=missing) as raised:
        choose(values, tie=tie)
    assert "ask for replies" in str(raised.value)


def test_impossible_chances_are_an_error_and_impossible_choices_are_not():
    assert choose([-math.inf, -3.0, -math.inf]).place == 1
    with pytest.raises(ValueError, match="cannot be positive"):
        choose([0.5, -1.0])


@pytest.mark.parametrize("lengths", [[], [3], [3, 0]])
def test_lengths_have_to_be_given_for_every_choice(lengths):
    with pytest.raises(ValueError, match="lengths in bytes"):
        choose([-1.0, -2.0], normalise="bytes", choice_bytes=lengths)
