"""What one contrast on one endpoint comes to: the figures, and a verdict in plain words."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

from askew.records import Estimate

SIZE = 0.05  # of every test; 1 − the level of the intervals

Verdict = Literal["difference", "equivalent within the margin", "cannot tell"]
Family = Literal["declared", "exploratory"]


@dataclass(frozen=True, slots=True)
class Effect:
    """One contrast (changed − base) on one endpoint, taken over vignettes.

    The reader sees `verdict` and `reason`; the rest is what they rest on.
    """

    estimate: Estimate  # the excess, by vignette, with its 95 % interval; n = vignettes used
    p_value: float  # of the permutation test; NaN where there was nothing to test
    p_adjusted: float  # for the family of tests (`multiplicity.adjust`); NaN until then
    effect_size: float  # d_z: mean ÷ standard deviation of the vignettes' values
    floor: Estimate  # what two answers to one prompt differ by: the same-prompt noise
    smallest_visible: float  # seen by four of five such studies, two-sided 5 %; NaN where none is
    equivalence_p: float  # of two one-sided tests against ± margin; NaN without a margin
    margin: float  # in the endpoint's unit; NaN = none was stated
    verdict: Verdict
    reason: str
    vignettes: int  # that the figures rest on
    left_out: int  # that lack a value in one of the arms
    per_vignette: tuple[tuple[str, float], ...]  # (id, excess), in the order given
    odds_ratio: float = math.nan  # paired, of a binary endpoint; the risk difference is `estimate`
    smallest_p: float = 0.0  # the smallest p value that so few vignettes, or draws, can give
    family: Family | None = None  # that `p_adjusted` is corrected for
    tests: int = 0  # how many tests that family holds


def check_margin(margin: float) -> None:
    """Refuse a margin that is no distance from 0; NaN says that none was stated.

    Raises:
        ValueError: the margin is 0, negative or infinite.
    """
    if not math.isnan(margin) and not (0 < margin < math.inf):
        raise ValueError(
            f"the margin is {margin}; give the largest difference that would not matter, a "
            "number above 0 in the endpoint's unit, or NaN for none"
        )


def decided(effect: Effect) -> Effect:
    """The effect with the verdict and the reason that its figures give.

    1. *difference*: p < 0.05, corrected where the effect stands in a family.
    2. *equivalent within the margin*: not the first, and both one-sided tests against ± margin
       have p < 0.05.
    3. *cannot tell*: neither; the reason says what the study could have seen.
    """
    corrected = effect.family is not None
    p_value = effect.p_adjusted if corrected else effect.p_value
    if math.isnan(effect.p_value):
        return replace(effect, verdict="cannot tell", reason=effect.estimate.note or "no test")
    if p_value < SIZE:
        reason = f"{_test(effect)}; {_interval(effect)}{_against_margin(effect)}"
        return replace(effect, verdict="difference", reason=reason)
    if effect.equivalence_p < SIZE:
        reason = (
            f"any difference is smaller than {effect.margin:g} ({_p(effect.equivalence_p)} for "
            f"two one-sided tests); {_interval(effect)}; {_test(effect)}"
        )
        return replace(effect, verdict="equivalent within the margin", reason=reason)
    reason = f"{_test(effect)}; {_interval(effect)}; {_visible(effect)}"
    return replace(effect, verdict="cannot tell", reason=reason)


def _test(effect: Effect) -> str:
    if effect.family is None:
        return _p(effect.p_value)
    method = "Holm's" if effect.family == "declared" else "Benjamini and Hochberg's"
    tests = "1 test" if effect.tests == 1 else f"{effect.tests} tests"
    return (
        f"{_p(effect.p_value)}, {effect.p_adjusted:.2g} after {method} correction over "
        f"{tests} ({effect.family})"
    )


def _interval(effect: Effect) -> str:
    estimate = effect.estimate
    over = "1 vignette" if effect.vignettes == 1 else f"{effect.vignettes} vignettes"
    if math.isnan(estimate.lower):
        return f"{estimate.value:+.3g} over {over}, without an interval"
    return f"{estimate.value:+.3g} [{estimate.lower:+.3g}, {estimate.upper:+.3g}] over {over}"


def _against_margin(effect: Effect) -> str:
    if math.isnan(effect.margin):
        return ""
    if effect.equivalence_p < SIZE:
        return f"; yet smaller than the margin of {effect.margin:g}"
    estimate = effect.estimate
    if estimate.lower > effect.margin or estimate.upper < -effect.margin:
        return f"; larger than the margin of {effect.margin:g}"
    return f"; whether it is larger than the margin of {effect.margin:g} is open"


def _visible(effect: Effect) -> str:
    if effect.smallest_p >= SIZE:
        return (
            "so few vignettes could show no effect of any size: the smallest p that there can be "
            f"is {effect.smallest_p:.2g}"
        )
    if effect.family == "declared" and effect.smallest_p * effect.tests >= SIZE:
        return (
            f"so few vignettes, or draws, can give no p below {effect.smallest_p:.2g}, which the "
            f"correction turns into {min(1.0, effect.smallest_p * effect.tests):.2g}"
        )
    if math.isnan(effect.smallest_visible):
        return "no effect is known that four of five such studies would see"
    before = ", before the correction" if effect.tests > 1 else ""
    return f"four of five such studies would see {effect.smallest_visible:.3g} or more{before}"


def _p(p_value: float) -> str:
    return f"p = {p_value:.2g}" if p_value >= 1e-4 else "p < 0.0001"
