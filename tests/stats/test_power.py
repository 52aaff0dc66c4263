"""The smallest effect a study could see: against tables, statsmodels, enumeration, simulation."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom, binomtest
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.power import TTestPower

from askew.seeds import generator
from askew.stats.power import (
    FEW_VIGNETTES,
    mcnemar_p,
    mcnemar_power,
    smallest_effect_size,
    smallest_net_difference,
    smallest_share,
    t_test_power,
)
from askew.stats.signflip import sign_flip_test


@pytest.mark.parametrize(("count", "expected"), [(20, 0.66), (50, 0.40), (100, 0.28), (200, 0.20)])
def test_the_smallest_effect_size_is_that_of_a_paired_t_test(count, expected):
    found = smallest_effect_size(count)
    assert round(found, 2) == expected
    assert TTestPower().power(found, count, 0.05) == pytest.approx(0.8, abs=1e-5)


@pytest.mark.parametrize("effect_size", [0.0, 0.3, 1.0, 4.0])
@pytest.mark.parametrize("count", [6, 30, 10_000])
def test_the_power_of_the_t_test_is_statsmodels(effect_size, count):
    expected = TTestPower().power(effect_size, count, 0.05)
    if not math.isnan(expected):
        assert t_test_power(effect_size, count) == pytest.approx(expected, abs=1e-9)


def test_it_falls_with_the_number_of_vignettes_and_is_none_below_six():
    found = [smallest_effect_size(count) for count in range(6, 300)]
    assert found == sorted(found, reverse=True)
    assert all(math.isnan(smallest_effect_size(count)) for count in range(6))


@pytest.mark.parametrize("count", sorted(FEW_VIGNETTES))
def test_with_few_vignettes_the_sign_flip_test_has_the_stated_power(count):
    rng = generator(1, "power", str(count))
    values = rng.normal(FEW_VIGNETTES[count], 1, size=(1500, count))
    seen = np.mean([sign_flip_test(row, rng).p_value < 0.05 for row in values])
    assert seen == pytest.approx(0.8, abs=3.5 * math.sqrt(0.16 / 1500))


def power_by_all_tables(pairs, discordant, net):
    """P(p < 0.05), going through every number of pairs that turn either way."""
    one_way = (discordant + net) / 2
    total = 0.0
    for yes, no in product(range(pairs + 1), repeat=2):
        if yes + no <= pairs and (yes + no == 0 or binomtest(yes, yes + no).pvalue < 0.05):
            moved = yes + no
            chance = binom.pmf(moved, pairs, discordant) * binom.pmf(
                yes, moved, one_way / discordant
            )
            total += chance if moved else 0.0
    return total


@pytest.mark.parametrize(("discordant", "net"), [(0.2, 0.0), (0.3, 0.2), (0.5, -0.5), (0.4, 0.1)])
def test_the_power_of_mcnemars_exact_test_is_that_of_all_tables(discordant, net):
    expected = power_by_all_tables(18, discordant, net)
    assert mcnemar_power(18, discordant, net) == pytest.approx(expected, abs=1e-10)


def test_at_twenty_pairs_no_net_difference_is_seen():
    assert math.isnan(smallest_net_difference(20, 0.2))
    assert math.isnan(smallest_net_difference(20, 0.3))
    assert smallest_net_difference(20, 0.9) < 0.9


def test_the_smallest_net_difference_just_has_the_power():
    found = smallest_net_difference(100, 0.2)
    assert mcnemar_power(100, 0.2, found) >= 0.8 > mcnemar_power(100, 0.2, found - 0.002)


def test_a_net_difference_beyond_the_discordant_share_is_refused():
    with pytest.raises(ValueError, match="discordant"):
        mcnemar_power(50, 0.1, 0.2)


@pytest.mark.parametrize(("yes", "no"), [(0, 0), (5, 0), (3, 9), (4, 4)])
def test_the_exact_test_is_statsmodels(yes, no):
    expected = mcnemar([[7, yes], [no, 2]], exact=True).pvalue
    assert mcnemar_p(yes, no) == pytest.approx(expected)


@pytest.mark.parametrize("count", [6, 20, 200])
def test_the_smallest_share_moves_five_vignettes_in_four_studies_of_five(count):
    share = smallest_share(count)
    assert binom.sf(4, count, share) == pytest.approx(0.8)


def test_five_that_move_alike_among_others_that_do_not_are_significant_and_four_are_not():
    for moved, significant in ((5, True), (4, False)):
        values = np.array([1.0] * moved + [0.0] * (12 - moved))
        found = sign_flip_test(values, generator(1, "test")).p_value
        assert (found < 0.05) is significant


def test_too_few_vignettes_see_no_share():
    assert math.isnan(smallest_share(5))
    assert math.isnan(smallest_share(1, 2))
    assert smallest_share(1, 1) == pytest.approx(0.8)
