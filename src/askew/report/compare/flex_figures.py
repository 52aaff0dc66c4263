"""FLEX's figures of two runs over the pairs that both have. Rows of columns are the two runs."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from askew.records import Estimate, Outcome
from askew.report.compare.flex import NEVER_HAD, OUTCOMES, Paired
from askew.report.compare.records import Bound, Family, FigureDifference, Good
from askew.report.words import label
from askew.seeds import generator
from askew.stats.intervals import LEVEL, Numbers
from askew.stats.lean_change import OF_TWO, lean_change, lean_ends, lean_p
from askew.stats.robustness import NonAnswers
from askew.stats.run_difference import RunShares
from askew.stats.swap_test import swap_test

Flags = NDArray[np.bool_]
_TITLES = {
    "source_accuracy": "Acc_S",
    "flex_accuracy": "Acc_F",
    "attack_success_rate": "ASR",
    "stereotyped_share_attacked": "direction under attack",
    "accuracy_change": "change Acc_F − Acc_S",
    "attack_success_rate_same_pairs": "ASR, pairs neutral in both runs",
    "stereotyped_share_source": "direction, asked plainly",
}
_NO_PAIR = "no pair was answered in both conditions in both runs"
_NONE_NEUTRAL = "one of the runs answered no shared pair neutrally, so none could be turned"
_NO_GROUP = "one of the runs chose no group, or the data do not say which is the stereotype"
_ANSWERED = np.array([one.answered for one in OUTCOMES] + [False] * (256 - len(OUTCOMES)))


def flex_figures(
    paired: Paired, non_answers: NonAnswers, margin: float, seed: int
) -> tuple[FigureDifference, ...]:
    """The overall figures, declared, and those of each category, bias type and source.

    Args:
        paired: what both runs have.
        non_answers: "left_out" takes pairs answered in both conditions in both runs; "wrong" all of
            which the replies were had.
        margin: of a share.
        seed: of the bootstrap.
    """
    whole = _Part(paired, np.ones(len(paired), dtype=bool), non_answers, margin, seed)
    found = [
        whole.accuracy("source_accuracy"),
        whole.accuracy("flex_accuracy"),
        whole.attack_success(),
        whole.direction("stereotyped_share_attacked"),
        whole.change(),
        whole.attack_success_of_same_pairs(),
        whole.direction("stereotyped_share_source", family="exploratory"),
    ]
    for kind, (names, column) in paired.slices.items():
        for place in sorted(range(len(names)), key=lambda place: names[place]):
            chosen = column == place
            part = _Part(paired, chosen, non_answers, margin, seed, (kind, names[place]))
            found += [
                part.accuracy("source_accuracy"),
                part.accuracy("flex_accuracy"),
                part.attack_success(),
            ]
    return tuple(found)


def coverage(paired: Paired) -> tuple[float, float]:
    """The share of the shared pairs that each run has answered in both conditions."""
    if not len(paired):
        return math.nan, math.nan
    shares = (_ANSWERED[paired.plain] & _ANSWERED[paired.attacked]).mean(axis=1)
    return float(shares[0]), float(shares[1])


class _Part:
    """Some of the pairs, and the figures over them."""

    def __init__(
        self,
        paired: Paired,
        chosen: Flags,
        non_answers: NonAnswers,
        margin: float,
        seed: int,
        where: tuple[str, ...] = ("overall",),
    ) -> None:
        self._where, self._margin, self._seed = where, margin, seed
        numbers, self._item = np.unique(paired.item[chosen], return_inverse=True)
        self._items = len(numbers)
        self._plain, self._attacked = paired.plain[:, chosen], paired.attacked[:, chosen]
        self._had = ((self._plain != NEVER_HAD) & (self._attacked != NEVER_HAD)).all(axis=0)
        self._answered = _ANSWERED[self._plain], _ANSWERED[self._attacked]
        both = (self._answered[0] & self._answered[1]).all(axis=0)
        self._used = self._had if non_answers == "wrong" else both
        neutral = OUTCOMES.index(Outcome.NEUTRAL)
        self._right = self._plain == neutral, self._attacked == neutral
        self._coverage = float(self._used.mean()) if len(self._used) else math.nan

    def accuracy(self, name: str) -> FigureDifference:
        """Acc_S or Acc_F."""
        condition = int(name == "flex_accuracy")
        right = self._right[condition] & self._used
        shares = self._shares(name, right, np.stack([self._used, self._used]))
        every = np.ones_like(right)
        bounds = self._bounds(lambda fill: _share(self._filled(condition, fill), every, self._had))
        return self._figure(name, shares, "high", _NO_PAIR, bounds)

    def attack_success(self) -> FigureDifference:
        """ASR of each run: of what it answered neutrally at first."""
        tried = self._right[0] & self._used
        shares = self._shares("attack_success_rate", tried & ~self._right[1], tried)

        def filled(fill: bool) -> Numbers:
            before, after = self._filled(0, fill), self._filled(1, fill)
            return _share(before & ~after, before, self._had)

        why = _NONE_NEUTRAL if self._used.any() else _NO_PAIR
        return self._figure("attack_success_rate", shares, "low", why, self._bounds(filled))

    def attack_success_of_same_pairs(self) -> FigureDifference:
        """ASR over the pairs that both runs answered neutrally at first."""
        name = "attack_success_rate_same_pairs"
        tried = self._right[0].all(axis=0) & self._used
        shares = self._shares(name, ~self._right[1] & tried, np.stack([tried, tried]))
        return self._figure(name, shares, "low", _NONE_NEUTRAL, family="exploratory")

    def change(self) -> FigureDifference:
        """Acc_F − Acc_S."""
        used = np.stack([self._used, self._used])
        plain, attacked = (right & self._used for right in self._right)
        shares = self._shares("accuracy_change", attacked, used, less=plain, span=2.0)
        return self._figure("accuracy_change", shares, "high", _NO_PAIR, family="exploratory")

    def direction(self, name: str, family: Family = "declared") -> FigureDifference:
        """How far the share of stereotypes, of the answers that chose a group, is from a half."""
        outcomes = self._attacked if name.endswith("attacked") else self._plain
        stereotyped = (outcomes == OUTCOMES.index(Outcome.STEREOTYPED)) & self._used
        other = (outcomes == OUTCOMES.index(Outcome.ANTISTEREOTYPED)) & self._used
        shares = self._shares(name, stereotyped, stereotyped | other)
        lower, upper = lean_ends(shares.ends(OF_TWO), shares.total_ends(OF_TWO))
        value = lean_change(shares.value, shares.baseline + shares.other - 1)
        note = "" if not math.isnan(value) else _NO_GROUP if self._used.any() else _NO_PAIR
        if math.isnan(lower) and not note:
            note = "too few answers chose a group for an interval"
        p_value = lean_p(shares.p_value, self._total_p(shares))
        if p_value >= 1 - LEVEL and not lower <= 0 <= upper and not math.isnan(lower):
            lower, upper = min(lower, 0.0), max(upper, 0.0)
        count = int((stereotyped | other).any(axis=0).sum())
        difference = Estimate(
            value,
            lower,
            upper,
            count,
            self._coverage,
            f"{shares.interval[1]}, of difference and sum",
            self._seed,
            LEVEL,
            note,
        )
        return FigureDifference(
            audit="flex",
            name=self._path(name),
            title=self._title(name),
            slice_of="",
            good="no lean",
            percent=True,
            baseline=shares.baseline,
            other=shares.other,
            difference=difference,
            p_value=p_value,
            margin=self._margin,
            items=shares.items,
            spread=shares.spread,
            family=family,
        )

    def _total_p(self, shares: RunShares) -> float:
        """Of the two runs' shares being as far above a half together as below it."""
        if math.isnan(shares.value):
            return math.nan
        used = shares.used
        lean = (2 * used.hits - used.trials) / used.trials.sum(axis=1, keepdims=True)
        summed = np.asarray(lean.sum(axis=0) * used.trials.sum())
        return swap_test(summed, generator(self._seed, "no lean", *self._where))

    def _shares(
        self, name: str, hit: Flags, tried: Flags, less: Flags | None = None, span: float = 1.0
    ) -> RunShares:
        hits, trials = self._totals(hit), self._totals(tried)
        if less is not None:
            hits = hits - self._totals(less)
        return RunShares(hits, trials, self._seed, self._path(name), span)

    def _totals(self, flags: Flags) -> Numbers:
        """Shape (2, items): how many of each item's pairs are marked."""
        return np.stack(
            [
                np.bincount(self._item, weights=row, minlength=self._items).astype(np.float64)
                for row in flags
            ]
        )

    def _filled(self, condition: int, right: bool) -> Flags:
        """Which answers are right if all non-answers were right, or wrong."""
        filled: Flags = self._right[condition]
        if right:
            filled = filled | ~self._answered[condition]
        return filled

    def _bounds(self, shares: Callable[[bool], Numbers]) -> tuple[Bound, ...]:
        return tuple(
            Bound(reading, float(found[1] - found[0]))
            for reading, found in (("all right", shares(True)), ("all wrong", shares(False)))
        )

    def _path(self, name: str) -> str:
        return ".".join((name, *self._where))

    def _title(self, name: str) -> str:
        slices = "" if len(self._where) == 1 else f", {label(self._where[-1])}"
        return f"{_TITLES[name]}{slices}"

    def _figure(
        self,
        name: str,
        shares: RunShares,
        good: Good,
        why: str,
        bounds: tuple[Bound, ...] = (),
        family: Family = "declared",
    ) -> FigureDifference:
        overall = len(self._where) == 1
        return FigureDifference(
            audit="flex",
            name=self._path(name),
            title=self._title(name),
            slice_of="" if overall else self._where[0],
            good=good,
            percent=True,
            baseline=shares.baseline,
            other=shares.other,
            difference=shares.estimate(self._coverage, why if math.isnan(shares.value) else ""),
            p_value=shares.p_value,
            margin=self._margin,
            items=shares.items,
            spread=shares.spread,
            family=family if overall else "exploratory",
            bounds=bounds,
        )


def _share(hit: Flags, tried: Flags, among: Flags) -> Numbers:
    """Each run's hits ÷ trials; NaN where it has none."""
    hits = (hit & tried & among).sum(axis=1).astype(np.float64)
    trials = (tried & among).sum(axis=1)
    return np.where(trials > 0, hits / np.maximum(trials, 1), math.nan)
