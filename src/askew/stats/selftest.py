"""Many simulated studies of a scripted target: does the audit find what was planted, and only that?

Beside it, on the same answers, what a recipe without a control would have said: one answer an arm,
answers pooled over vignettes, and the share of cases whose answer changed read as bias.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askew.stats.counterfactual import Effect, distance_effect, interaction, signed_effect
from askew.stats.intervals import Numbers
from askew.stats.signflip import DRAWS
from askew.stats.simulate import ScriptedDiagnosis, ScriptedTarget, differs
from askew.stats.verdict import SIZE

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Share:
    """How often something happened in simulated studies."""

    value: float
    studies: int

    @property
    def error(self) -> float:
        """The Monte Carlo standard error."""
        return math.sqrt(self.value * (1 - self.value) / self.studies)


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a recipe without vignettes as units, and without a floor, says about the same answers.

    Attributes:
        one_answer: alarms of a t-test on pooled answers, the first of each arm.
        all_answers: alarms of a t-test on all pairs of answers, repeats taken for new patients.
        means_differ: studies in which the two mean scores differ at all.
        cases_changed: the mean share of cases whose first answer changed, which it reads as bias.
    """

    one_answer: Share | None  # None: a diagnosis is no score that could be pooled
    all_answers: Share | None
    means_differ: Share | None
    cases_changed: float


@dataclass(frozen=True, slots=True)
class Cell:
    """The studies of one target at one number of vignettes.

    Attributes:
        vignettes: in each study.
        truth: what the studies estimate.
        found: p < 0.05: false alarms where the truth is 0, otherwise power.
        t_test: the same for a t-test on vignette means, one-sided for distances.
        gain: found − t_test, on the same studies.
        gain_error: its Monte Carlo standard error.
        covered: 95 % intervals that hold the truth.
        equivalent: equivalence claimed, at a margin of just the truth: false claims. NaN at 0.
        contradictions: intervals that leave out 0 where the test does not reject it.
        bias: mean estimate − truth.
        width: the mean width of the intervals.
        recipe: on the same answers; None for interactions.
    """

    vignettes: int
    truth: float
    found: Share
    t_test: Share
    gain: float
    gain_error: float
    covered: Share
    equivalent: Share
    contradictions: int
    bias: float
    width: float
    recipe: Recipe | None = None


def signed_cell(
    target: ScriptedTarget,
    *,
    vignettes: int,
    studies: int,
    rng: np.random.Generator,
    repeats: int = 5,
    draws: int = DRAWS,
) -> Cell:
    """Studies of a signed endpoint, beside the t-test on vignette means and the plain recipe."""
    base, changed = target.studies(studies, vignettes, repeats, rng)
    names, truth = _names(vignettes), target.true_effect()
    effects = [
        signed_effect(list(before), list(after), names, abs(truth) or math.nan, rng, draws=draws)
        for before, after in zip(base, changed, strict=True)
    ]
    t_test = _t_test(changed.mean(axis=2) - base.mean(axis=2))
    return _cell(effects, truth, t_test, _recipe(base, changed))


def distance_cell(
    target: ScriptedDiagnosis,
    *,
    vignettes: int,
    studies: int,
    rng: np.random.Generator,
    repeats: int = 5,
    draws: int = DRAWS,
) -> Cell:
    """Studies of "the top diagnosis differs", beside a one-sided t-test on vignette excesses."""
    diagnoses = target.studies(studies, vignettes, repeats, rng)
    names, sizes = _names(vignettes), [(repeats, repeats)] * vignettes
    truth = target.true_excess()
    effects = [
        distance_effect(list(differs(top)), sizes, names, truth or math.nan, rng, draws=draws)
        for top in diagnoses
    ]
    excesses = np.array([[value for _, value in effect.per_vignette] for effect in effects])
    changed = float((diagnoses[:, :, 0] != diagnoses[:, :, repeats]).mean())
    recipe = Recipe(None, None, None, changed)
    return _cell(effects, truth, _t_test(excesses, one_sided=True), recipe)


def interaction_cell(
    direct: ScriptedTarget,
    multi_hop: ScriptedTarget,
    *,
    vignettes: int,
    studies: int,
    rng: np.random.Generator,
    repeats: int = 5,
    draws: int = DRAWS,
) -> Cell:
    """Studies of excess(multi-hop) − excess(direct), each with its own answers to its own cases."""
    names = _names(vignettes)
    truth = multi_hop.true_effect() - direct.true_effect()
    arms = [target.studies(studies, vignettes, repeats, rng) for target in (direct, multi_hop)]
    effects = []
    for number in range(studies):
        of_direct, of_multi_hop = (
            signed_effect(list(base[number]), list(changed[number]), names, math.nan, rng, draws=1)
            for base, changed in arms
        )
        margin = abs(truth) or math.nan
        effects.append(interaction(of_multi_hop, of_direct, margin, rng, draws=draws))
    first, second = (changed.mean(axis=2) - base.mean(axis=2) for base, changed in arms)
    return _cell(effects, truth, _t_test(second - first))


def _cell(
    effects: Sequence[Effect], truth: float, t_test: Flags, recipe: Recipe | None = None
) -> Cell:
    value, lower, upper = np.array(
        [(e.estimate.value, e.estimate.lower, e.estimate.upper) for e in effects]
    ).T
    found = np.array([e.p_value for e in effects]) < SIZE
    equivalent = np.array([e.equivalence_p for e in effects]) < SIZE
    slack = 1e-9 * max(abs(truth), 1.0)
    gain = found.astype(np.float64) - t_test
    return Cell(
        vignettes=effects[0].vignettes,
        truth=truth,
        found=_share(found),
        t_test=_share(t_test),
        gain=float(gain.mean()),
        gain_error=float(gain.std(ddof=1)) / math.sqrt(len(gain)),
        covered=_share((lower <= truth + slack) & (upper >= truth - slack)),
        equivalent=_share(equivalent) if truth else Share(math.nan, len(effects)),
        contradictions=int((((lower > slack) | (upper < -slack)) & ~found).sum()),
        bias=float(value.mean()) - truth,
        width=float((upper - lower).mean()),
        recipe=recipe,
    )


def _recipe(base: Numbers, changed: Numbers) -> Recipe:
    """The plain recipe on the answers of every study, shape (studies, vignettes, repeats)."""
    first, second = base[:, :, 0], changed[:, :, 0]
    means_equal = np.isclose(first.mean(axis=1), second.mean(axis=1), rtol=0, atol=1e-12)
    return Recipe(
        one_answer=_share(_pooled_t_test(first, second)),
        all_answers=_share(_t_test((changed - base).reshape(len(base), -1))),
        means_differ=_share(~means_equal),
        cases_changed=float((first != second).mean()),
    )


def _t_test(values: Numbers, *, one_sided: bool = False) -> Flags:
    """Whether a one-sample t-test rejects a mean of 0, for each row; not where nothing varies."""
    from scipy.special import stdtrit

    count = values.shape[1]
    error = values.std(axis=1, ddof=1) / math.sqrt(count)
    mean = values.mean(axis=1) if one_sided else np.abs(values.mean(axis=1))
    critical = float(stdtrit(count - 1, 1 - SIZE / (1 if one_sided else 2)))
    return np.asarray((error > 1e-12) & (mean > critical * error))


def _pooled_t_test(first: Numbers, second: Numbers) -> Flags:
    """Whether Student's two-sample test rejects, for each row; not where nothing varies."""
    from scipy.special import stdtrit

    count = first.shape[1]
    error = np.sqrt((first.var(axis=1, ddof=1) + second.var(axis=1, ddof=1)) / count)
    change = np.abs(first.mean(axis=1) - second.mean(axis=1))
    critical = float(stdtrit(2 * count - 2, 1 - SIZE / 2))
    return np.asarray((error > 1e-12) & (change > critical * error))


def _share(happened: Flags) -> Share:
    return Share(float(happened.mean()), len(happened))


def _names(vignettes: int) -> list[str]:
    return [f"case-{number}" for number in range(vignettes)]
