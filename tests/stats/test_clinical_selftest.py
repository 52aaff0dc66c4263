"""The self-test in small: what was planted is found, only that; the plain recipe sees ghosts."""

from __future__ import annotations

import importlib.util
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from askew.seeds import generator
from askew.stats.selftest import Share, distance_cell, interaction_cell, signed_cell
from askew.stats.simulate import ScriptedDiagnosis, ScriptedTarget, differs

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "reproduce" / "clinical_selftest.py"
STUDIES = 200


def load_script():
    spec = importlib.util.spec_from_file_location("clinical_selftest", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


benchmark = load_script()


def within(share, low, high, errors=3):
    """Whether the share lies in the range, up to the Monte Carlo error at its ends."""
    below = low - errors * Share(low, share.studies).error
    above = high + errors * Share(high, share.studies).error
    return below <= share.value <= above


@pytest.mark.parametrize("vignettes", [10, 20, 50])
@pytest.mark.parametrize("case", ["urgency, no bias", "urgency, random slopes", "length, no bias"])
def test_without_bias_alarms_are_rare_and_intervals_hold(case, vignettes):
    rng = generator(1, case, str(vignettes))
    cell = signed_cell(
        benchmark.PROMISED[case], vignettes=vignettes, studies=STUDIES, rng=rng, draws=499
    )
    assert cell.truth == pytest.approx(0, abs=1e-12)
    assert within(cell.found, 0.0, 0.065)
    assert within(cell.covered, 0.935, 0.965)
    assert cell.contradictions == 0


@pytest.mark.parametrize("vignettes", [10, 20])
@pytest.mark.parametrize("case", ["urgency, q = 0.35", "test offered, q = 0.3", "length, q = 0.4"])
def test_planted_bias_is_returned_within_the_interval_with_the_power_of_a_t_test(case, vignettes):
    rng = generator(1, case, str(vignettes))
    cell = signed_cell(
        benchmark.PROMISED[case], vignettes=vignettes, studies=STUDIES, rng=rng, draws=999
    )
    assert within(cell.covered, 0.935, 0.965)
    assert cell.gain > -0.01 - 3 * cell.gain_error
    assert abs(cell.bias) < 4 * cell.width / 4 / math.sqrt(STUDIES)
    assert within(cell.equivalent, 0.0, 0.065)


def test_the_plain_recipe_reads_bias_where_there_is_none():
    cell = signed_cell(
        ScriptedTarget(reacting=0.3),
        vignettes=10,
        studies=STUDIES,
        rng=generator(1, "recipe"),
        repeats=25,
        draws=499,
    )
    assert within(cell.found, 0.0, 0.065)
    assert cell.recipe is not None
    assert cell.recipe.all_answers.value > 0.15
    assert cell.recipe.means_differ.value > 0.8
    assert cell.recipe.cases_changed > 0.4


@pytest.mark.parametrize("vignettes", [10, 20])
def test_distances_find_a_change_of_diagnosis_and_no_ghost(vignettes):
    rng = generator(1, "distances", str(vignettes))
    settings = {"vignettes": vignettes, "studies": 150, "rng": rng, "draws": 499}
    null = distance_cell(ScriptedDiagnosis(), **settings)
    assert within(null.found, 0.0, 0.065)
    assert null.covered.value > 0.9
    assert null.recipe is not None
    assert null.recipe.cases_changed > 0.3
    moved = distance_cell(ScriptedDiagnosis(lowered=0.5), **settings)
    assert moved.found.value > moved.t_test.value
    assert within(moved.covered, 0.92, 0.965)


def test_interactions_find_more_bias_in_one_arm_and_no_ghost():
    settings = {"vignettes": 20, "studies": 200, "rng": generator(1, "interaction"), "draws": 499}
    same = ScriptedTarget(lowered=0.2)
    null = interaction_cell(same, same, **settings)
    assert within(null.found, 0.0, 0.065)
    assert within(null.covered, 0.935, 0.965)
    more = interaction_cell(ScriptedTarget(), ScriptedTarget(lowered=0.5), **settings)
    assert more.found.value > 0.7


@pytest.mark.parametrize(
    "target",
    [
        ScriptedTarget(lowered=0.35),
        ScriptedTarget(lowered=0.3, reacting=0.4, middle=-0.7),
        ScriptedTarget(lowered=0.8, share_lowered=0.2, reacting=0.2),
        ScriptedTarget(endpoint="test_offered", lowered=0.5, middle=-1.3, reacting=0.3),
        ScriptedTarget(endpoint="length", lowered=0.4, reacting=0.3, vignette_sd=0.4),
    ],
)
def test_the_planted_effect_is_what_is_said(target):
    base, changed = target.studies(1, 200_000, 2, generator(1, "truth"))
    differences = (changed.mean(axis=2) - base.mean(axis=2)).ravel()
    error = differences.std() / math.sqrt(len(differences))
    assert differences.mean() == pytest.approx(target.true_effect(), abs=4 * error)


@pytest.mark.parametrize("lowered", [0.0, 0.5, 1.0])
def test_the_planted_excess_is_what_is_said(lowered):
    target = ScriptedDiagnosis(lowered=lowered)
    distances = differs(target.studies(1, 20_000, 2, generator(1, "truth"))[0])
    across = distances[:, :2, 2:].mean(axis=(1, 2))
    excess = across - (distances[:, 0, 1] + distances[:, 2, 3]) / 2
    error = excess.std() / math.sqrt(len(excess))
    assert excess.mean() == pytest.approx(target.true_excess(), abs=4 * error)


def test_the_benchmark_tells_a_broken_row_from_a_good_one():
    good = signed_cell(
        ScriptedTarget(), vignettes=10, studies=100, rng=generator(1, "good"), draws=99
    )
    good = replace(good, found=Share(0.05, 2000), covered=Share(0.95, 2000))
    assert benchmark.broken("promised", good) == []
    for change, fault in (
        ({"found": Share(0.09, 2000)}, "false alarms"),
        ({"covered": Share(0.90, 2000)}, "coverage"),
        ({"covered": Share(0.99, 2000)}, "coverage"),
        ({"truth": -0.2, "gain": -0.05, "gain_error": 0.01}, "power"),
        ({"contradictions": 1}, "interval against test"),
    ):
        assert benchmark.broken("promised", replace(good, **change)) == [fault]


def test_the_studies_follow_from_their_seed():
    draw = [ScriptedTarget().studies(2, 3, 4, generator(7, "seed")) for _ in range(2)]
    np.testing.assert_array_equal(draw[0], draw[1])
