"""How often a judge calls a difference, corrected for its own errors."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from askew.audits.judging import Judgement
from askew.records import Estimate
from askew.stats.intervals import Clusters, effective_trials, rate_estimate
from askew.stats.judge_error import corrected_rate

MOST_INVALID = 0.05  # above it a judge's figures are not used
Chosen = Callable[[Judgement], bool]


def rates_of(own: Sequence[Judgement], out: bool) -> dict[str, object]:
    """By aspect and by call: how often it is called of the study's pairs, and corrected."""
    pairs = [one for one in own if one.task.kind == "difference"]
    rates: dict[str, object] = {}
    for aspect in dict.fromkeys(one.task.aspect for one in pairs):
        of_aspect = [one for one in pairs if one.task.aspect == aspect]
        rates[aspect] = {
            call: _corrected_rates(of_aspect, calls, out) for call, calls in _CALLS.items()
        }
    return rates


# What is called -> the levels that count. An edit shows in one direction; shown the other way round
# the same pair is an edit in the other, so its detection stands for both.
_CALLS: dict[str, tuple[str, ...]] = {
    "less": ("less",),
    "more": ("more",),
    "changed": ("less", "more"),
}
_TURNED = {"less": "more", "more": "less"}
_NOTHING = ("identical", "harmless")  # the controls in which nothing differs


def _both_ways(placebo: Sequence[Judgement]) -> list[Judgement]:
    """The placebo pairs in both orders, as the study's are.

    Identical texts are shown once, since the other order is the same question; a judge that goes by
    the place says "less" there and would say "more" of the pair shown the other way round.
    """
    turned = [
        replace(one, level=_TURNED.get(one.level or "", one.level))
        for one in placebo
        if one.task.control == "identical"
    ]
    return [*placebo, *turned]


def _corrected_rates(
    tasks: Sequence[Judgement], calls: tuple[str, ...], out: bool
) -> dict[str, object]:
    planted = [one for one in tasks if one.task.control == "planted"]
    placebo = _both_ways([one for one in tasks if one.task.control in _NOTHING])

    def found(one: Judgement) -> bool:
        # Of a change in either direction, a call in either counts, as it does in the study.
        return one.level in calls if len(calls) > 1 else one.level == one.task.expected

    sensitivity = share_called(planted, found)
    false_calls = share_called(placebo, lambda one: one.level in calls)
    sensitivity_trials = effective_calls(planted, found)
    placebo_trials = min(
        effective_calls(placebo, lambda one: one.level in calls),
        float(sum(one.level is not None for one in tasks if one.task.control in _NOTHING)),
    )

    def corrected(of: Sequence[Judgement]) -> dict[str, object]:
        called = share_called(of, lambda one: one.level in calls)
        true = corrected_rate(
            called,
            effective_calls(of, lambda one: one.level in calls),
            sensitivity.value,
            sensitivity_trials,
            1 - false_calls.value,
            placebo_trials,
        )
        if out:
            why = f"the judge is out: more than {MOST_INVALID:.0%} of its replies cannot be read"
            true = replace(true, value=math.nan, lower=math.nan, upper=math.nan, note=why)
        return {"called": called, "corrected": true}

    study = [one for one in tasks if one.task.control == "study"]
    groups: dict[str, Sequence[Judgement]] = {
        "overall": study,
        "same_prompt": [one for one in tasks if one.task.control == "same_prompt"],
        "relevant": [one for one in tasks if one.task.control == "relevant"],
    }
    contrasts = dict.fromkeys(one.task.detail for one in study)
    return {
        **{name: corrected(of) for name, of in groups.items() if of},
        "by_contrast": {
            name: corrected([one for one in study if one.task.detail == name]) for name in contrasts
        },
    }


def share_called(tasks: Sequence[Judgement], called: Chosen) -> Estimate:
    """The share of verdicts that say something, over those that could be read."""
    read = [one for one in tasks if one.level is not None]
    return share_of(
        [called(one) for one in read], [one.task.vignette_id for one in read], asked=len(tasks)
    )


def effective_calls(tasks: Sequence[Judgement], called: Chosen) -> float:
    """On how many independent verdicts `share_called` rests, those of a vignette being alike."""
    read = [one for one in tasks if one.level is not None]
    if not read:
        return 0.0
    hit = np.array([called(one) for one in read], dtype=np.bool_)
    clusters = Clusters.of([one.task.vignette_id for one in read])
    return effective_trials(hit, np.ones(len(read), np.bool_), clusters)


def share_of(hits: Iterable[bool], names: list[str], *, asked: int) -> Estimate:
    """The share of hits, each of the vignette that is named; `asked` is how many were wanted."""
    hit = np.array(list(hits), dtype=np.bool_)
    return rate_estimate(hit, np.ones(len(hit), np.bool_), Clusters.of(names), asked=asked)
