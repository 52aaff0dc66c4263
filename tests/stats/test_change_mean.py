"""A mean change between two runs, where few vignettes moved."""

from __future__ import annotations

import numpy as np
import pytest

from askew.seeds import generator
from askew.stats.change_mean import FEW, ChangeMean
from askew.stats.vignette_mean import VignetteMean


@pytest.mark.parametrize("count", [30, 64, 160])
def test_one_that_moved_makes_no_shorter_an_interval_than_none(count):
    none, one = np.zeros(count), np.zeros(count)
    one[0] = 1.0
    widths = [np.diff(ChangeMean(values, 2.0).ends(0.95)) for values in (none, one)]
    assert widths[1] > 0.9 * widths[0]
    assert np.diff(VignetteMean(one, 2.0).ends(0.95)) < 0.5 * widths[0]


def test_a_change_of_the_margin_is_seldom_said_to_lie_within_it():
    """Each twentieth vignette changes: an interval within ± 0.05 would be wrong."""
    rng = generator(3, "margin")
    within = {ChangeMean: 0, VignetteMean: 0}
    for _ in range(300):
        values = (rng.random(64) < 0.05).astype(float)
        for made in within:
            lower, upper = made(values, 2.0).ends(0.95)
            within[made] += lower > -0.05 and upper < 0.05
    assert within[ChangeMean] == 0
    assert within[VignetteMean] > 15


def test_with_many_moved_it_is_the_usual_interval():
    values = np.array([1.0, -1.0, 0.0] * 20)
    mean = ChangeMean(values, 2.0)
    assert mean.ends(0.95) == VignetteMean(values, 2.0).ends(0.95)
    assert FEW not in mean.method
