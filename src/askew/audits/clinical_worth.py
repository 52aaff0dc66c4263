"""What a model's clinical answers are worth at all: read, complete, and right above chance.

A model whose answers cannot be read, or whose differentials name the reference diagnoses of their
case no more often than those of other cases, has no clinical judgement that anything could move.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from askew.records import Estimate
from askew.scores.reference_match import Match, Reference, concept_match
from askew.seeds import generator
from askew.stats.case_mean import case_mean
from askew.stats.intervals import LEVEL, wilson
from askew.vignettes import Answered

FEWEST_READ = 0.5  # of the answers; below it the figures rest on a selection of them
FEWEST_CASES = 10  # with a reference, to be held against chance


@dataclass(frozen=True, slots=True)
class Worth:
    """What the answers are worth.

    Attributes:
        outcomes: outcome -> answers.
        read: share of the answers that could be read; n = answers.
        listed: mean share of a case's reference diagnoses that its answers list; n = cases.
        chance: what the same answers list of the references of other cases.
        excess: the first − the second, by case.
        meaningful: whether differences of these answers mean anything; None where too few cases
            have a reference to tell by.
        reason: why (not), in one sentence.
    """

    outcomes: Mapping[str, int]
    read: Estimate
    listed: Estimate
    chance: Estimate
    excess: Estimate
    meaningful: bool | None
    reason: str


def worth(answered: Sequence[Answered], seed: int) -> Worth:
    """Judge a model by all of its answers.

    Args:
        answered: every answer that was had, whatever it says.
        seed: draws the references of other cases where there are many.
    """
    outcomes: Counter[str] = Counter(one.answer.outcome for one in answered)
    read = _share(outcomes["answered"], len(answered))
    held = [one for one in answered if one.vignette.reference]
    match = _listed(held, seed)
    ids = [one.vignette.id for one in held]
    listed = case_mean(match.scores, ids, least=0.0, most=1.0)
    chance = case_mean(match.chance_scores, ids, least=0.0, most=1.0)
    excess = case_mean(match.scores - match.chance_scores, ids)
    meaningful, reason = _verdict(read, listed, chance, excess)
    return Worth(dict(outcomes), read, listed, chance, excess, meaningful, reason)


def _listed(held: Sequence[Answered], seed: int) -> Match:
    if not held:
        return Match("reference_listed", np.empty(0), np.empty(0))
    matches = concept_match(
        [one.answer for one in held],
        [Reference.of_vignette(one.vignette) for one in held],
        generator(seed, "chance level of the reference"),
    )
    return matches["reference_listed"]


def _verdict(
    read: Estimate, listed: Estimate, chance: Estimate, excess: Estimate
) -> tuple[bool | None, str]:
    if not read.n:
        return None, "no answer was had."
    if read.value < FEWEST_READ:
        return False, (
            f"{read.value:.0%} of the answers could be read; the figures would rest on a selection."
        )
    if excess.n < FEWEST_CASES:
        return None, (
            f"{excess.n} cases have a reference differential, and {FEWEST_CASES} are needed to "
            "tell whether the answers are better than chance."
        )
    against = (
        f"the answers list {listed.value:.0%} of the reference diagnoses of their own case and "
        f"{chance.value:.0%} of those of other cases"
    )
    # Where every case has the same excess there is no interval, and its sign says it all.
    if (excess.value if math.isnan(excess.lower) else excess.lower) <= 0:
        return False, f"{against}: no better than chance."
    return True, f"{against}."


def _share(hits: int, trials: int) -> Estimate:
    lower, upper = wilson(hits, trials)
    value = hits / trials if trials else math.nan
    note = "" if trials else "no answer was had"
    return Estimate(value, lower, upper, trials, 1.0, "wilson", level=LEVEL, note=note)
