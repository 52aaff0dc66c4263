"""Answers to a case and to its counterfactual twin -> how much the change moved them.

The unit is the vignette. Repeats make its value more precise; they are no new patients, so they
enter as the mean of their vignette. `docs/clinical-statistics.md` says all this in plain words.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from askew.records import Estimate
from askew.stats.equivalence import equivalence_p
from askew.stats.intervals import LEVEL, Numbers
from askew.stats.label_permutation import Distances, LabelTest, permute_labels
from askew.stats.multiplicity import adjust
from askew.stats.noise_floor import ONE_ANSWER, floor_of, mean_difference
from askew.stats.omnibus import Omnibus, omnibus
from askew.stats.paired_rates import PairedRates
from askew.stats.power import FEWEST, POWER, mcnemar_p, smallest_share
from askew.stats.signflip import DRAWS, SignFlip, sign_flip_test
from askew.stats.verdict import SIZE, Effect, check_margin, decided
from askew.stats.vignette_mean import VignetteMean

__all__ = [
    "Effect",
    "Omnibus",
    "adjust",
    "distance_effect",
    "interaction",
    "omnibus",
    "signed_effect",
]


def signed_effect(
    base: Sequence[NDArray[np.generic]],
    changed: Sequence[NDArray[np.generic]],
    ids: Sequence[str],
    margin: float,
    rng: np.random.Generator,
    *,
    span: float | None = None,
    draws: int = DRAWS,
) -> Effect:
    """By how much the change moves a score or a rate: mean of changed − mean of base, by vignette.

    Noise cancels in a signed difference, so nothing has to be subtracted from it; the floor is
    printed beside it as what two answers to one prompt differ by.

    Args:
        base: one array of repeats a vignette; NaN = no value, any number of repeats.
        changed: the same vignettes in the same order, with the attribute changed.
        ids: the vignettes' ids.
        margin: the largest mean difference that would not matter, in the endpoint's unit; NaN for
            none.
        rng: draws patterns of signs where there are too many to count.
        span: the largest difference that the endpoint allows (3 for urgency 0 to 3). None: 1 where
            all values are 0 or 1, else the range of the values seen. Read only where all vignettes
            have the same difference.
        draws: patterns of signs, where not all are counted.

    Raises:
        ValueError: the lengths differ, an id comes twice, a value is infinite, or the margin is
            no distance.

    >>> urgency, of_women = [np.array([2, 3])] * 8, [np.array([1, 2])] * 4 + [np.array([1, 3])] * 4
    >>> names = [f"case-{n}" for n in range(8)]
    >>> found = signed_effect(urgency, of_women, names, 0.25, np.random.default_rng(0), span=3)
    >>> found.estimate.value, found.p_value, found.verdict
    (-0.75, 0.0078125, 'difference')
    """
    check_margin(margin)
    _check_ids(ids, len(base), len(changed))
    before, after = [_values(part) for part in base], [_values(part) for part in changed]
    differences = np.array(
        [_mean(b) - _mean(a) for a, b in zip(before, after, strict=True)], dtype=np.float64
    )
    used = ~np.isnan(differences)
    floor = floor_of(_floors(before, after), len(ids))
    if not used.any():
        return _undefined(ids, floor, margin)
    pooled = np.concatenate([*before, *after])
    rates = _rates(before, after) if _binary(pooled, span) else None
    found = VignetteMean(differences[used], _span(pooled, rates is not None, span), rates)
    if rates is not None and rates.turned is not None:
        p_value = mcnemar_p(*rates.turned)
        test = SignFlip(p_value, 2.0 ** (1 - len(found.values)), exact=True)
    else:
        noise = np.array(_variances(before, after))
        test = sign_flip_test(found.values, rng, noise=noise[used], draws=draws)
    effect = _effect(found, ids, differences, floor, margin, test)
    return effect if rates is None else replace(effect, odds_ratio=rates.odds_ratio)


def distance_effect(
    matrices: Sequence[NDArray[np.float64]],
    sizes: Sequence[tuple[int, int]],
    ids: Sequence[str],
    margin: float,
    rng: np.random.Generator,
    *,
    span: float = 1.0,
    draws: int = DRAWS,
) -> Effect:
    """By how much answers to the two arms lie further apart than answers to one prompt do.

    For what has no direction: the top diagnosis, ranked lists, sets of tests, embeddings. The
    excess is the mean distance between the arms − the mean within them. It sees vignettes that
    react in opposite directions, so the test asks whether any reacts at all: labels are permuted
    within the vignettes, one-sided, as distances only grow. The interval is for the mean excess
    of vignettes of this kind and takes them as draws; it may reach 0 where the test is significant.

    Args:
        matrices: one a vignette, shape (base + changed, base + changed): distances among all its
            answers, those of the base arm first. An answer with NaN distances is left out.
        sizes: for each vignette, how many answers are of the base arm and of the changed one.
        ids: the vignettes' ids.
        margin: the largest mean excess that would not matter; NaN for none.
        rng: draws the permutations and patterns of signs where they are too many to count.
        span: the largest distance there can be. Read where all vignettes have the same excess.
        draws: permutations, where not all are counted.

    Raises:
        ValueError: the lengths or shapes do not fit, an id comes twice, a matrix is not symmetric
            or has a negative entry, or the margin is no distance.
    """
    check_margin(margin)
    _check_ids(ids, len(matrices), len(sizes))
    vignettes = [
        Distances.of(matrix, size, name)
        for matrix, size, name in zip(matrices, sizes, ids, strict=True)
    ]
    excess = np.array([d.observed() if d.usable else math.nan for d in vignettes])
    floor = floor_of([d.within for d in vignettes], len(ids))
    usable = [d for d in vignettes if d.usable]
    if not usable:
        compared = any(min(d.base, d.changed) for d in vignettes)
        effect = _undefined(ids, floor, margin, ONE_ANSWER if compared else "")
        return effect
    test = permute_labels(usable, rng, draws=draws)
    largest = max(float(d.matrix.max()) for d in usable)
    found = VignetteMean(excess[~np.isnan(excess)], max(span, largest), skewed=True)
    effect = _effect(found, ids, excess, floor, margin, test)
    needed = _vignettes_needed(usable)
    return decided(replace(effect, smallest_visible=_visible_excess(found, test.critical, needed)))


def _vignettes_needed(vignettes: Sequence[Distances]) -> int:
    """How many vignettes have to react outright for the permutation test to be significant."""
    # Two of the ways to deal the labels part the answers of a vignette completely.
    chance = max(2 / math.comb(len(d.matrix), d.base) for d in vignettes)
    return math.ceil(math.log(SIZE) / math.log(chance)) if chance < 1 else len(vignettes) + 1


def _visible_excess(found: VignetteMean, critical: float, needed: int) -> float:
    """The mean excess that is significant with power 0.8: the critical one and what it varies by.

    Where no vignette reacted, the mean that the smallest visible share of vignettes makes if each
    of them moves as far as the distance goes.
    """
    from scipy.special import ndtri

    count = len(found.values)
    if found.alike:
        return smallest_share(count, needed) * found.span
    standard_error = float(found.values.std(ddof=1)) / math.sqrt(count)
    return max(critical, 0.0) + float(ndtri(POWER)) * standard_error


def interaction(
    multi_hop: Effect,
    direct: Effect,
    margin: float,
    rng: np.random.Generator,
    *,
    span: float | None = None,
    draws: int = DRAWS,
) -> Effect:
    """Whether the change moves multi-hop answers more than direct ones: excess − excess.

    Both effects are of one contrast on one endpoint. Their vignettes are joined by id; a vignette
    that one of them lacks is left out. Tested by sign flips, whatever kind of effect they are. With
    a signed effect, negative means "moved further down", which is more bias where both are below 0.

    Args:
        multi_hop: of the multi-hop answers.
        direct: of the direct ones.
        margin: the largest difference between the two that would not matter; NaN for none.
        rng: draws patterns of signs where there are too many to count.
        span: the largest difference between two effects of one vignette. None: twice the largest
            effect seen. Read only where all vignettes have the same difference.
        draws: patterns of signs, where not all are counted.
    """
    check_margin(margin)
    of_direct = dict(direct.per_vignette)
    of_multi_hop = dict(multi_hop.per_vignette)
    ids = list(dict.fromkeys([*of_multi_hop, *of_direct]))
    differences = np.array(
        [of_multi_hop.get(name, math.nan) - of_direct.get(name, math.nan) for name in ids]
    )
    left_out = max(
        multi_hop.vignettes + multi_hop.left_out, direct.vignettes + direct.left_out, len(ids)
    ) - len(ids)
    note = "the floors stand with the two effects that are compared"
    floor = Estimate(math.nan, math.nan, math.nan, 0, math.nan, "none", level=LEVEL, note=note)
    used = ~np.isnan(differences)
    if not used.any():
        effect = _undefined(ids, floor, margin, "no vignette has both effects")
        return replace(effect, left_out=effect.left_out + left_out)
    if span is None:
        span = 2 * max(abs(value) for value in (*of_multi_hop.values(), *of_direct.values()))
    found = VignetteMean(differences[used], span or math.nan)
    test = sign_flip_test(found.values, rng, draws=draws)
    effect = _effect(found, ids, differences, floor, margin, test)
    asked = len(ids) + left_out
    estimate = replace(effect.estimate, coverage=effect.vignettes / asked)
    return replace(effect, estimate=estimate, left_out=effect.left_out + left_out)


def _effect(
    found: VignetteMean,
    ids: Sequence[str],
    values: Numbers,
    floor: Estimate,
    margin: float,
    test: SignFlip | LabelTest,
) -> Effect:
    """The effect of a mean over vignettes, decided."""
    count = len(found.values)
    return decided(
        Effect(
            estimate=found.estimate(len(ids), test.p_value),
            p_value=test.p_value,
            p_adjusted=math.nan,
            effect_size=found.effect_size,
            floor=floor,
            smallest_visible=found.smallest_visible if count >= FEWEST else math.nan,
            equivalence_p=equivalence_p(found.ends, margin),
            margin=margin,
            verdict="cannot tell",
            reason="",
            vignettes=count,
            left_out=len(ids) - count,
            per_vignette=tuple(
                (name, float(value))
                for name, value in zip(ids, values, strict=True)
                if not math.isnan(value)
            ),
            smallest_p=test.smallest_p,
        )
    )


def _undefined(ids: Sequence[str], floor: Estimate, margin: float, note: str = "") -> Effect:
    """The effect where no vignette has a value in both arms."""
    why = note or (
        "no vignette has a value in both arms" if len(ids) else "there is no vignette to compare"
    )
    coverage = 0.0 if len(ids) else math.nan
    nothing = Estimate(math.nan, math.nan, math.nan, 0, coverage, "none", level=LEVEL, note=why)
    return Effect(
        estimate=nothing,
        p_value=math.nan,
        p_adjusted=math.nan,
        effect_size=math.nan,
        floor=floor,
        smallest_visible=math.nan,
        equivalence_p=math.nan,
        margin=margin,
        verdict="cannot tell",
        reason=why,
        vignettes=0,
        left_out=len(ids),
        per_vignette=(),
    )


def _check_ids(ids: Sequence[str], *lengths: int) -> None:
    if {len(ids), *lengths} != {len(ids)}:
        raise ValueError(
            f"{len(ids)} ids for arms of {' and '.join(map(str, lengths))} vignettes; pass the "
            "same vignettes in the same order, an empty array where one has no answer"
        )
    if len(set(ids)) != len(ids):
        twice = sorted(name for name, times in Counter(ids).items() if times > 1)
        raise ValueError(f"vignettes come twice: {', '.join(twice)}; put their repeats together")


def _values(repeats: NDArray[np.generic]) -> Numbers:
    """The repeats that have a value."""
    values = np.asarray(repeats, dtype=np.float64).ravel()
    if np.isinf(values).any():
        raise ValueError("a value is infinite; an answer without a value is NaN")
    return values[~np.isnan(values)]


def _mean(values: Numbers) -> float:
    return float(values.mean()) if len(values) else math.nan


def _floors(before: Sequence[Numbers], after: Sequence[Numbers]) -> list[float]:
    """Each vignette's mean |difference| between answers to one prompt, the mean of its arms."""
    floors = []
    for pair in zip(before, after, strict=True):
        known = [mean_difference(values) for values in pair if len(values) > 1]
        floors.append(sum(known) / len(known) if known else math.nan)
    return floors


def _variances(before: Sequence[Numbers], after: Sequence[Numbers]) -> list[float]:
    """Each vignette's variance of answers to one prompt, the mean of its arms."""
    variances = []
    for pair in zip(before, after, strict=True):
        known = [float(values.var(ddof=1)) for values in pair if len(values) > 1]
        variances.append(sum(known) / len(known) if known else math.nan)
    return variances


def _binary(pooled: Numbers, span: float | None) -> bool:
    return span in (None, 1) and bool(np.isin(pooled, (0, 1)).all())


def _rates(before: Sequence[Numbers], after: Sequence[Numbers]) -> PairedRates:
    used = [(a, b) for a, b in zip(before, after, strict=True) if len(a) and len(b)]
    return PairedRates(
        np.array([_mean(a) for a, _ in used]),
        np.array([_mean(b) for _, b in used]),
        sum(len(a) for a, _ in used),
        sum(len(b) for _, b in used),
    )


def _span(pooled: Numbers, binary: bool, span: float | None) -> float:
    if span is not None:
        return span
    return 1.0 if binary else float(np.ptp(pooled)) or math.nan
