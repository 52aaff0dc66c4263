"""A rate that a judge with known errors has called, corrected for them."""

from __future__ import annotations

import math

from askew.records import Estimate
from askew.stats.intervals import LEVEL


def corrected_rate(
    rate: Estimate,
    rate_trials: float,
    sensitivity: float,
    sensitivity_trials: float,
    specificity: float,
    specificity_trials: float,
    level: float = LEVEL,
) -> Estimate:
    """The true rate behind the rate that a judge calls, with what is not known of the judge.

    Rogan and Gladen (1978): (called + specificity − 1) ÷ (sensitivity + specificity − 1). The
    interval is that of Lang and Reiczigel (2014), "Confidence limits for prevalence of disease
    adjusted for estimated sensitivity and specificity": all three proportions are drawn a little to
    the middle, and their three variances are added.

    Args:
        rate: what the judge called, as counted.
        rate_trials: on how many independent units it rests (the effective number, where units of
            one vignette are alike); may be a fraction, like the other two.
        sensitivity: share of true differences that the judge calls.
        sensitivity_trials: on how many units it rests.
        specificity: share of non-differences that the judge does not call.
        specificity_trials: on how many units it rests.
        level: of the interval.

    Returns:
        In [0, 1]; a value beyond it is put to the edge and the note says so. NaN where the judge is
        no better than chance (sensitivity + specificity ≤ 1): no rate can be read off it.

    >>> called = Estimate(0.3, 0.2, 0.4, 100, 1.0, "wilson")
    >>> round(corrected_rate(called, 100, 0.9, 50, 0.8, 50).value, 3)
    0.143
    """
    method = "Rogan-Gladen, Lang-Reiczigel"
    if math.isnan(rate.value) or math.isnan(sensitivity) or math.isnan(specificity):
        note = "the rate, the sensitivity or the specificity was not measured"
        return _undefined(rate, method, level, note)
    if sensitivity + specificity <= 1:
        note = (
            f"sensitivity {sensitivity:.2f} + specificity {specificity:.2f} is not above 1: "
            "the judge tells nothing"
        )
        return _undefined(rate, method, level, note)
    value = (rate.value + specificity - 1) / (sensitivity + specificity - 1)
    lower, upper = _interval(
        (rate.value, rate_trials),
        (sensitivity, sensitivity_trials),
        (specificity, specificity_trials),
        level,
    )
    kept = min(1.0, max(0.0, value))
    note = "" if kept == value else f"truncated from {value:.3f}"
    return Estimate(
        kept,
        min(lower, kept),
        max(upper, kept),
        rate.n,
        rate.coverage,
        method,
        level=level,
        note=note,
    )


def _undefined(rate: Estimate, method: str, level: float, note: str) -> Estimate:
    return Estimate(
        math.nan, math.nan, math.nan, rate.n, rate.coverage, method, level=level, note=note
    )


def _interval(
    rate: tuple[float, float],
    sensitivity: tuple[float, float],
    specificity: tuple[float, float],
    level: float,
) -> tuple[float, float]:
    """(lower, upper) in [0, 1], by Lang and Reiczigel; each argument is a share and its trials."""
    from scipy.special import ndtri

    z = float(ndtri(0.5 + level / 2))
    called, n = _drawn_in(*rate, z * z)
    hit, n_hit = _drawn_in(*sensitivity, 2.0)
    clear, n_clear = _drawn_in(*specificity, 2.0)
    power = hit + clear - 1
    if power <= 0:
        return 0.0, 1.0  # the judge may tell nothing, so any rate may be behind what it called
    centre = min(1.0, max(0.0, (called + clear - 1) / power))
    of_hit = hit * (1 - hit) / n_hit
    of_clear = clear * (1 - clear) / n_clear
    shift = 2 * z * z * (centre * of_hit - (1 - centre) * of_clear)
    spread = math.sqrt(
        called * (1 - called) / n + centre * centre * of_hit + (1 - centre) ** 2 * of_clear
    )
    half = z / power * spread
    return (
        min(1.0, max(0.0, centre + shift - half)),
        min(1.0, max(0.0, centre + shift + half)),
    )


def _drawn_in(share: float, trials: float, added: float) -> tuple[float, float]:
    """The share with half of `added` trials put on each side, and the trials that it then has."""
    return (share * trials + added / 2) / (trials + added), trials + added
