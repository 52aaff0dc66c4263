"""The mean over vignettes of a change between two runs, most of which may be none."""

from __future__ import annotations

import math

import numpy as np

from askew.stats.few_moved import few_moved_ends
from askew.stats.robustness import FEWEST_MOVED
from askew.stats.vignette_mean import VignetteMean

FEW = "few vignettes moved"


class ChangeMean(VignetteMean):
    """A mean whose interval is no shorter than the vignettes that moved allow.

    Student's interval of mostly zeros is shorter where one vignette moved than the rule of three is
    where none did.

    >>> changes = np.zeros(64)
    >>> changes[0] = 1.0
    >>> [round(end, 3) for end in VignetteMean(changes, 2.0).ends(0.95)]
    [-0.016, 0.047]
    >>> [round(end, 3) for end in ChangeMean(changes, 2.0).ends(0.95)]
    [-0.098, 0.141]
    """

    @property
    def _few_moved(self) -> bool:
        moved = int((np.abs(self.values) > 1e-9).sum())
        return not self.alike and not math.isnan(self.span) and moved < FEWEST_MOVED

    @property
    def method(self) -> str:
        """How the interval is made."""
        made = super().method
        return f"{made}, widened as {FEW}" if self._few_moved else made

    def ends(self, level: float) -> tuple[float, float]:
        """The interval at a level; NaNs where nothing tells how vignettes differ."""
        lower, upper = super().ends(level)
        if not self._few_moved:
            return lower, upper
        gained, lost = np.maximum(self.values, 0).mean(), np.maximum(-self.values, 0).mean()
        least = few_moved_ends(float(gained), float(lost), len(self.values), self.span, level)
        return min(lower, least[0]), max(upper, least[1])
