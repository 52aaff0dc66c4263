"""What titles say beforehand, by domain, learned from other models' labels.

A linear discriminant over the raw title vectors: one for all domains, and one for each domain drawn
towards it. Sums over worlds are kept, so that training can leave out the world that it plays. It
means something only for vectors of the same embedder; where their number of dimensions differs the
game is played without it, and the network sees how well it has done so far.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.graphs.topics import TopicGraph
from askew.search.worlds import World

# A domain with so many leaning topics says as much of its own direction as all domains together.
DOMAIN_STRENGTH = 30.0
# Ridge on the covariance as a share of its mean variance, and for how many leaning topics.
RIDGE = 0.3
RIDGE_LEANING = 100.0
# Log odds beyond this are cut: no title is that sure.
SUREST = 6.0


@dataclass(frozen=True, slots=True, eq=False)
class TitlePrior:
    """Log odds of leaning against an average topic: `vectors @ weight + offset`, by domain."""

    weights: NDArray[np.float32]  # shape (1 + domains, dimensions): row 0 is for any other domain
    offsets: NDArray[np.float32]  # shape (1 + domains,)
    domains: tuple[str, ...]  # of rows 1, 2, …

    def fits(self, title_vectors: NDArray[np.float32]) -> bool:
        """Whether the vectors have its number of dimensions."""
        return bool(title_vectors.shape[1] == self.weights.shape[1])

    def log_odds(
        self, graph: TopicGraph, title_vectors: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """Shape (nodes,): of each topic; in [-SUREST, SUREST]."""
        place = {name: row for row, name in enumerate(self.domains, start=1)}
        row_of = np.array([*(place.get(name, 0) for name in graph.domains), 0], np.int64)
        row = row_of[graph.domain_of]  # -1, no domain, takes the last: 0
        odds = np.zeros(graph.size, np.float32)
        for one in np.unique(row):
            of = np.flatnonzero(row == one)
            odds[of] = finite(title_vectors[of]) @ self.weights[one] + self.offsets[one]
        return np.clip(odds, -SUREST, SUREST)

    def times(self, trust: float) -> TitlePrior:
        """The same with its log odds multiplied (`prior_trust`)."""
        factor = np.float32(trust)
        return TitlePrior(factor * self.weights, factor * self.offsets, self.domains)

    def tensors(self) -> dict[str, NDArray[Any]]:
        """For a checkpoint; the names of the domains go into its metadata."""
        return {"title_prior.weights": self.weights, "title_prior.offsets": self.offsets}


def title_prior_of(
    tensors: Mapping[str, NDArray[Any]], domains: Sequence[str]
) -> TitlePrior | None:
    """The prior that a checkpoint holds; None where it holds none."""
    if "title_prior.weights" not in tensors:
        return None
    weights, offsets = tensors["title_prior.weights"], tensors["title_prior.offsets"]
    return TitlePrior(weights.astype(np.float32), offsets.astype(np.float32), tuple(domains))


@dataclass(slots=True)
class _Sums:
    """Over the topics of one domain, in one world or in several together."""

    leaning: NDArray[np.float64]
    all: NDArray[np.float64]
    squares: NDArray[np.float64]
    leaning_count: float = 0.0
    count: float = 0.0

    def add(self, other: _Sums) -> None:
        self.leaning = self.leaning + other.leaning
        self.all = self.all + other.all
        self.squares = self.squares + other.squares
        self.leaning_count += other.leaning_count
        self.count += other.count

    def mixed(self) -> bool:
        """Whether some topics lean and some do not."""
        return 0 < self.leaning_count < self.count

    def apart(self) -> NDArray[np.float64]:
        """From the clean topics' mean to the leaning topics'."""
        clean = (self.all - self.leaning) / (self.count - self.leaning_count)
        gap: NDArray[np.float64] = self.leaning / self.leaning_count - clean
        return gap


class TitlePriorSums:
    """Sums over worlds, from which the prior of any of them together is quickly had.

    Args:
        worlds: at least one, with title vectors of one number of dimensions.
    """

    def __init__(self, worlds: Sequence[World]) -> None:
        self._dimensions = worlds[0].title_vectors.shape[1]
        squares: dict[tuple[int, int], NDArray[np.float64]] = {}
        self._worlds: list[dict[str, _Sums]] = []
        for world in worlds:
            sums: dict[str, _Sums] = {}
            for domain in np.unique(world.graph.domain_of).tolist():
                of = world.graph.domain_of == domain
                vectors = finite(world.title_vectors[of]).astype(np.float64)
                key = (id(world.title_vectors), domain)
                if key not in squares:  # models on one graph share them
                    squares[key] = vectors.T @ vectors
                name = world.graph.domains[domain] if domain >= 0 else ""
                leaning = world.leaning[of]
                sums[name] = _Sums(
                    vectors[leaning].sum(axis=0),
                    vectors.sum(axis=0),
                    squares[key],
                    float(leaning.sum()),
                    float(len(leaning)),
                )
            self._worlds.append(sums)

    def fit(self, worlds: Sequence[int]) -> TitlePrior | None:
        """The prior of some of the worlds, by number; None where all their topics are alike."""
        by_domain: dict[str, _Sums] = {}
        whole = self._none()
        for index in worlds:
            for name, sums in self._worlds[index].items():
                by_domain.setdefault(name, self._none()).add(sums)
                whole.add(sums)
        if not whole.mixed():
            return None
        centre = whole.all / whole.count
        spread = whole.squares / whole.count - np.outer(centre, centre)
        ridge = RIDGE * max(float(np.trace(spread)) / max(self._dimensions, 1), 1e-12)
        ridge *= max(1.0, RIDGE_LEANING / whole.leaning_count)
        spread[np.diag_indices_from(spread)] += ridge
        gaps, middles = [whole.apart()], [centre]
        names = [name for name in sorted(by_domain) if name]
        for name in names:
            sums = by_domain[name]
            own = sums.apart() if sums.mixed() else gaps[0]
            trust = sums.leaning_count / (sums.leaning_count + DOMAIN_STRENGTH)
            gaps.append(trust * own + (1 - trust) * gaps[0])
            middles.append(sums.all / sums.count)
        weights = np.linalg.solve(spread, np.array(gaps).T).T
        offsets = -np.einsum("rd,rd->r", weights, np.array(middles))
        return TitlePrior(weights.astype(np.float32), offsets.astype(np.float32), tuple(names))

    def _none(self) -> _Sums:
        size = self._dimensions
        return _Sums(np.zeros(size), np.zeros(size), np.zeros((size, size)))


def finite(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """The vectors with 0 for what is no number or infinite."""
    return np.nan_to_num(np.asarray(vectors), posinf=0.0, neginf=0.0)
