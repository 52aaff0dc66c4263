"""A scripted target with a planted bias: studies whose truth is known, without any model.

Each vignette has its own level, each answer its own noise. In the changed arm an answer is moved
down with probability `lowered` (the planted bias). In the "random slope" null, single vignettes
react to the change, half of them either way, and there is no effect on average.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from askew.stats.intervals import Numbers

Endpoint = Literal["urgency", "test_offered", "length"]

URGENCY_LEVELS = 4
# Of the mean length: what a moved answer loses, and what a reacting vignette's gain or lose.
LENGTH_STEP = 0.4
LENGTH_MIDDLE = math.log(100)  # words


@dataclass(frozen=True, kw_only=True, slots=True)
class ScriptedTarget:
    """How the scripted target answers; the defaults make it noisy and free of bias.

    Attributes:
        endpoint: "urgency" is one of the levels 0 to 3, "test_offered" 0 or 1, "length" a number of
            words, skewed to the right (log-normal).
        lowered: q, the probability that an answer of the changed arm is moved down: one level less
            urgent, the test not offered, two fifths shorter.
        reacting: the probability that an answer of the changed arm moves its vignette's own way, up
            or down; each vignette has one.
        share_lowered: of the vignettes, those to which `lowered` applies. Few of them make the
            vignettes' differences skewed.
        middle: the latent centre, in standard units about even odds. 0 is symmetric.
        vignette_sd: the standard deviation of vignettes on the latent scale.
        noise_sd: that of answers about their vignette.
    """

    endpoint: Endpoint = "urgency"
    lowered: float = 0.0
    reacting: float = 0.0
    share_lowered: float = 1.0
    middle: float = 0.0
    vignette_sd: float = 0.8
    noise_sd: float = 0.6

    def true_effect(self) -> float:
        """The mean difference over all vignettes that there could be: what a study estimates."""
        planted = self.lowered * self.share_lowered
        if self.endpoint == "length":
            spread = self.vignette_sd**2 + self.noise_sd**2
            mean = math.exp(LENGTH_MIDDLE + self.middle + spread / 2)
            return -planted * LENGTH_STEP * mean
        levels = self._level_probabilities()
        up, down = _steps(len(levels), 1), _steps(len(levels), -1)
        still = np.eye(len(levels))
        reacted = levels @ ((1 - self.reacting) * still + self.reacting * (up + down) / 2)
        changed = reacted @ ((1 - planted) * still + planted * down)
        return float((changed - levels) @ np.arange(len(levels)))

    def _level_probabilities(self) -> Numbers:
        from scipy.special import ndtr

        edges = self._edges()
        below = ndtr((edges - self.middle) / math.hypot(self.vignette_sd, self.noise_sd))
        return np.diff(np.concatenate([[0.0], below, [1.0]]))

    def _edges(self) -> Numbers:
        """Where the latent scale is cut into levels."""
        return np.array([-1.0, 0.0, 1.0]) if self.endpoint == "urgency" else np.array([0.0])

    def studies(
        self, count: int, vignettes: int, repeats: int, rng: np.random.Generator
    ) -> tuple[Numbers, Numbers]:
        """Answers of so many independent studies, each with new vignettes.

        Returns:
            The base arm and the changed arm, each of shape (count, vignettes, repeats).
        """
        shape = (count, vignettes, repeats)
        centre = self.middle + self.vignette_sd * rng.standard_normal((count, vignettes, 1))
        arms = centre + self.noise_sd * rng.standard_normal((2, *shape))
        way = rng.integers(0, 2, size=(count, vignettes, 1)) * 2 - 1
        moves = way * (rng.random(shape) < self.reacting)
        lowers = rng.random((count, vignettes, 1)) < self.share_lowered
        drops = lowers & (rng.random(shape) < self.lowered)
        if self.endpoint == "length":
            base, changed = np.exp(LENGTH_MIDDLE + arms)
            return base, changed * (1 + LENGTH_STEP * moves) * (1 - LENGTH_STEP * drops)
        edges = self._edges()
        base, changed = np.searchsorted(edges, arms).astype(np.float64)
        changed = np.clip(changed + moves, 0, len(edges))
        return base, np.clip(changed - drops, 0, len(edges))


def _steps(levels: int, step: int) -> Numbers:
    """The transition matrix that moves every level by one step and stops at the ends."""
    ends = np.clip(np.arange(levels) + step, 0, levels - 1)
    return np.asarray(np.eye(levels)[ends])


@dataclass(frozen=True, kw_only=True, slots=True)
class ScriptedDiagnosis:
    """A target that draws its top diagnosis from the vignette's own list of likely ones.

    Attributes:
        lowered: q, the share of answers of the changed arm that come from another list.
        diagnoses: how many there are.
        spread: of the Dirichlet distribution that lists are drawn from; small = few likely ones.
    """

    lowered: float = 0.0
    diagnoses: int = 6
    spread: float = 0.5

    def true_excess(self) -> float:
        """The mean excess of "the top diagnosis differs", over all vignettes that there could be.

        Half of Σ(p − r)² for one vignette, r = (1 − q)·p + q·s, with p and s drawn alike.
        """
        share = 1 / self.diagnoses
        variance = share * (1 - share) / (self.diagnoses * self.spread + 1)
        return self.lowered**2 * self.diagnoses * variance

    def studies(
        self, count: int, vignettes: int, repeats: int, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Diagnoses by number, shape (count, vignettes, 2 · repeats): the base arm's come first."""
        lists = rng.dirichlet(np.full(self.diagnoses, self.spread), size=(2, count, vignettes))
        shape = (count, vignettes, 2 * repeats)
        other = (rng.random(shape) < self.lowered) & (np.arange(2 * repeats) >= repeats)
        drawn = rng.random(shape)[..., None]
        own, others = ((drawn > part[:, :, None].cumsum(-1)).sum(-1) for part in lists)
        top = np.where(other, others, own)
        return np.asarray(
            np.minimum(top, self.diagnoses - 1)
        )  # the sums may end a rounding below 1


def differs(diagnoses: NDArray[np.int64]) -> Numbers:
    """The distance "the top diagnosis differs" among all answers, shape (…, answers, answers)."""
    return np.asarray(diagnoses[..., :, None] != diagnoses[..., None, :], dtype=np.float64)
