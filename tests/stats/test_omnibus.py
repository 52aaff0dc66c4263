"""One test over the levels of an attribute, and which of them differ."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import friedmanchisquare

from askew.seeds import generator
from askew.stats.omnibus import omnibus


def levels_of(shifts, vignettes=20, seed=1, repeats=5):
    """Answers with large vignette effects; `shifts` moves a level's answers."""
    rng = generator(seed, "levels")
    vignette = rng.normal(0, 3, size=(vignettes, 1))
    return {
        name: list(vignette + shift + rng.normal(0, 1, size=(vignettes, repeats)))
        for name, shift in shifts.items()
    }


def test_it_names_the_level_that_was_moved():
    found = omnibus(levels_of({"white": 0, "black": -1.5, "asian": 0, "hispanic": 0}), generator(1))
    assert found.p_value < 0.001
    assert "black" in found.which
    assert found.deviation["black"] < -0.8
    assert min(found.per_level.values()) == found.p_value


def test_vignettes_may_be_as_different_as_they_like():
    plain = levels_of({"a": 0, "b": 0.4, "c": 0})
    lifted = {
        name: [row + 100 * number for number, row in enumerate(rows)]
        for name, rows in plain.items()
    }
    found, same = omnibus(plain, generator(1)), omnibus(lifted, generator(1))
    assert found.p_value == same.p_value


def test_it_is_close_to_friedmans_test():
    levels = levels_of({"a": 0, "b": 0.35, "c": 0.2}, vignettes=30)
    ranks = friedmanchisquare(*[[row.mean() for row in rows] for rows in levels.values()]).pvalue
    found = omnibus(levels, generator(1)).p_value
    assert abs(math.log10(found) - math.log10(ranks)) < 1


def test_where_no_level_differs_alarms_are_as_rare_as_said():
    alarms = [
        omnibus(levels_of({"a": 0, "b": 0, "c": 0, "d": 0}, 8, seed), generator(seed), draws=199)
        for seed in range(300)
    ]
    share = np.mean([found.p_value < 0.05 for found in alarms])
    assert share < 0.05 + 3 * math.sqrt(0.05 * 0.95 / 300)


def test_a_level_that_some_vignettes_lack_is_tested_where_it_is():
    levels = levels_of({"man": 0, "woman": -1.5, "non-binary": 0})
    levels["man"][:8] = [np.array([])] * 8  # a pregnancy has no man
    found = omnibus(levels, generator(1))
    assert found.vignettes == 20
    assert "woman" in found.which
    levels["non-binary"] = [np.array([math.nan])] * 20
    lacking = omnibus(levels, generator(1))
    assert lacking.vignettes == 12
    assert math.isnan(lacking.per_level["non-binary"])


def test_answers_that_never_move_are_no_evidence():
    still = {name: [np.array([2, 2])] * 10 for name in "abc"}
    found = omnibus(still, generator(1))
    assert (found.p_value, found.which) == (1.0, ())


def test_a_level_that_always_moves_alike_is_found():
    levels = {name: [np.array([2, 2])] * 10 for name in "ab"} | {"c": [np.array([1, 1])] * 10}
    assert "c" in omnibus(levels, generator(1)).which


def test_one_vignette_settles_nothing():
    found = omnibus(levels_of({"a": 0, "b": 5}, vignettes=1), generator(1))
    assert math.isnan(found.p_value)
    assert "fewer than two vignettes" in found.note


@pytest.mark.parametrize("levels", [{}, {"a": [np.zeros(2)]}])
def test_one_level_is_refused(levels):
    with pytest.raises(ValueError, match="two levels or more"):
        omnibus(levels, generator(1))


def test_levels_over_other_vignettes_are_refused():
    with pytest.raises(ValueError, match=r"'a': 3, 'b': 2"):
        omnibus({"a": [np.zeros(2)] * 3, "b": [np.zeros(2)] * 2}, generator(1))
