"""The mean of one value a vignette, and the interval that fits what the values are."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from askew.records import Estimate
from askew.stats.intervals import LEVEL, Numbers
from askew.stats.paired_rates import PairedRates
from askew.stats.power import smallest_effect_size, smallest_net_difference, smallest_share
from askew.stats.verdict import SIZE


@dataclass(frozen=True, slots=True)
class VignetteMean:
    """A mean over vignettes, each of them one draw.

    Attributes:
        values: shape (vignettes,), finite, at least one.
        span: the largest difference that the endpoint allows; NaN where it is unknown.
        rates: of a binary endpoint, the rates whose difference the values are; None otherwise.
        skewed: whether the values are skewed by nature, as excesses of distances are.
    """

    values: Numbers
    span: float
    rates: PairedRates | None = None
    skewed: bool = False

    @property
    def value(self) -> float:
        """The mean."""
        return float(self.values.mean())

    @property
    def alike(self) -> bool:
        """Whether all vignettes have the same value, so that their spread is unknown."""
        return float(np.ptp(self.values)) <= 1e-10 * float(np.abs(self.values).max())

    @property
    def _none_moved(self) -> bool:
        """Whether all rates of a binary endpoint change alike, or none does; not all 0 or all 1.

        Their correlation is then 1 by what was seen, and an interval made with it is too short.
        """
        return self.rates is not None and self.alike and 0 < float(self.rates.before.mean()) < 1

    @property
    def effect_size(self) -> float:
        """d_z: mean ÷ standard deviation; NaN where there is no spread."""
        if self.alike:
            return math.nan
        return self.value / float(self.values.std(ddof=1))

    @property
    def smallest_visible(self) -> float:
        """What four of five such studies would see, in the endpoint's unit; NaN if nothing.

        From the spread of the vignettes' values. Where there is none, the mean that the smallest
        visible share of vignettes makes if each of them moves as far as the endpoint allows. With
        one yes or no an arm, by going through all tables of McNemar's test.
        """
        count = len(self.values)
        turned = self.rates.turned if self.rates else None
        if turned is not None:
            # With few pairs moved their share is uncertain; this keeps the figure from being 0.
            return smallest_net_difference(count, (sum(turned) + 1) / (count + 2))
        if self.alike:
            return smallest_share(count) * self.span
        return smallest_effect_size(count) * float(self.values.std(ddof=1))

    @property
    def method(self) -> str:
        """How the interval is made."""
        if len(self.values) == 1:
            return "none"
        if self.rates is not None:
            widened = ", and the rule of three" if self._none_moved else ""
            return f"newcombe over vignettes{widened}"
        if self.alike:
            return "rule of three"
        return "t over vignettes, corrected for skewness" if self.skewed else "t over vignettes"

    def ends(self, level: float) -> tuple[float, float]:
        """The interval at a level; NaNs where nothing tells how vignettes differ."""
        if len(self.values) == 1:
            return math.nan, math.nan
        if self.rates is not None:
            lower, upper = self.rates.ends(level)
            if self._none_moved:
                # The two rates go together by what was seen alone; others may part.
                unseen = self._unseen(level)
                lower, upper = min(lower, unseen[0]), max(upper, unseen[1])
        elif self.alike:
            lower, upper = self._unseen(level)
        else:
            made = skewed_t_interval if self.skewed else t_interval
            lower, upper = made(self.values, level)
        return (
            (lower, upper)
            if math.isnan(self.span)
            else (
                max(lower, -self.span),
                min(upper, self.span),
            )
        )

    def _unseen(self, level: float) -> tuple[float, float]:
        """Bounds where all vignettes are alike: some share of others, not met here, may differ.

        Clopper and Pearson's bound for 0 of n (the rule of three: about 3/n), with each of those
        vignettes as far away as the endpoint allows.
        """
        share = 1 - ((1 - level) / 2) ** (1 / len(self.values))
        return (
            self.value - share * (self.span + self.value),
            self.value + share * (self.span - self.value),
        )

    def estimate(self, asked: int, p_value: float) -> Estimate:
        """The mean with its 95 % interval, which never claims more than the test.

        Args:
            asked: how many vignettes there are, with those that had no value.
            p_value: of the test that the interval stands beside.
        """
        lower, upper = self.ends(LEVEL)
        method, count = self.method, len(self.values)
        if p_value >= SIZE and not lower <= 0 <= upper and not math.isnan(lower):
            # An interval holds what the data do not rule out, and the test does not rule out 0.
            lower, upper = min(lower, 0.0), max(upper, 0.0)
            method += ", widened to 0 by the test"
        elif p_value < SIZE and "rule of three" in method and lower < 0 < upper:
            lower, upper = (0.0, upper) if self.value > 0 else (lower, 0.0)
            method += ", cut at 0 by the test"
        note = ""
        if count == 1:
            note = "one vignette: nothing tells how others would differ"
        elif math.isnan(lower):
            note = "all vignettes have the same value, and the endpoint's range is unknown"
        return Estimate(
            self.value, lower, upper, count, count / asked, method, level=LEVEL, note=note
        )


def t_interval(values: Numbers, level: float = LEVEL) -> tuple[float, float]:
    """Student's interval for the mean of at least two values."""
    from scipy.special import stdtrit

    count = len(values)
    half = float(stdtrit(count - 1, 0.5 + level / 2) * values.std(ddof=1)) / math.sqrt(count)
    return float(values.mean()) - half, float(values.mean()) + half


def skewed_t_interval(values: Numbers, level: float = LEVEL) -> tuple[float, float]:
    """Student's interval with Hall's (1992) correction for skewness; values that differ.

    "On the removal of skewness by transformation", JRSS B 54: t is turned into
    g(t) = t + γ(t²/3 + 1/6)/√n + γ²t³/(27n), which is monotone and far less skewed, and the
    interval is made for g(t). γ is the sample's skewness. Without skewness it is Student's.
    """
    from scipy.special import stdtrit

    count, mean = len(values), float(values.mean())
    error = float(values.std(ddof=1)) / math.sqrt(count)
    from_mean = values - mean
    skewness = float((from_mean**3).mean() / (from_mean**2).mean() ** 1.5) / math.sqrt(count)
    quantile = float(stdtrit(count - 1, 0.5 + level / 2))

    def turned_back(g: float) -> float:
        if abs(skewness) < 1e-9:
            return g
        return (math.cbrt(1 + skewness * (g - skewness / 6)) - 1) / (skewness / 3)

    return mean - turned_back(quantile) * error, mean - turned_back(-quantile) * error
