"""A boundary run as its `estimates.json` tells it. Nothing is asked and nothing is computed again.

Files of other versions may lack a figure: what is missing is undefined, and says so.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from askew.records import Estimate
from askew.report.estimates import as_number, read_estimate

CLUSTERS, DOES_NOT, CANNOT_TELL = "clusters", "does not cluster", "cannot tell"


@dataclass(frozen=True, slots=True)
class BoundaryRun:
    """One run's figures.

    Attributes:
        name: what tells runs of one model apart: the folder's name, a number; may be empty.
        estimates: `estimates.json`, parsed.
    """

    name: str
    estimates: Mapping[str, object]

    @property
    def model(self) -> str:
        """The target's name; the run's where the file does not say."""
        return str(self.estimates.get("model") or self.name or "the model")

    @property
    def title(self) -> str:
        """The model and, where the run has a name of its own, that name."""
        return f"{self.model} ({self.name})" if self.name not in ("", self.model) else self.model

    @property
    def judge(self) -> str:
        """Who judged the answers; "" where the file does not say."""
        return str(_mapping(self.estimates.get("models")).get("judge") or "")

    @property
    def tested(self) -> int:
        """Topics that were tested."""
        return self.count("topics", "tested") or 0

    @property
    def leaning(self) -> int:
        """Topics that were found leaning."""
        return self.count("topics", "leaning") or 0

    @property
    def unclear(self) -> int:
        """Topics that were tested and could not be judged."""
        return self.count("topics", "unclear") or 0

    @property
    def judged(self) -> int:
        """Topics with a verdict."""
        return self.leaning + (self.count("topics", "clean") or 0)

    @property
    def untested(self) -> int | None:
        """Topics of the graph that were not tested; None where the file does not say."""
        size = self.count("topics", "graph")
        return None if size is None else max(0, size - self.tested)

    @property
    def clustering(self) -> str:
        """One of the three verdicts on clustering."""
        found = str(self.part("clustering").get("verdict") or CANNOT_TELL)
        return found if found in (CLUSTERS, DOES_NOT) else CANNOT_TELL

    @property
    def calls(self) -> int | None:
        """Calls that the run has asked; None where the file does not say."""
        found = self.number("cost", "calls")
        if math.isnan(found):
            found = as_number(self.top("calls").get("asked"))
        return int(found) if math.isfinite(found) else None

    def part(self, *path: str) -> Mapping[str, object]:
        """What lies at `path` below `boundary`; empty where nothing does."""
        return _mapping(self._at(path))

    def listed(self, *path: str) -> Sequence[object]:
        """The list at `path` below `boundary`; empty where there is none."""
        found = self._at(path)
        return found if isinstance(found, list) else []

    def top(self, name: str) -> Mapping[str, object]:
        """A part that stands beside `boundary`, e.g. `calls`."""
        return _mapping(self.estimates.get(name))

    def setting(self, name: str) -> object:
        """One of the audit's settings; None where the file does not say."""
        return self.part("settings").get(name)

    def figure(self, *path: str) -> Estimate:
        """A figure with its interval at `path` below `boundary`."""
        return read_estimate(self.part(*path))

    def number(self, *path: str) -> float:
        """A plain number at `path` below `boundary`; NaN where there is none."""
        return as_number(self._at(path))

    def count(self, *path: str) -> int | None:
        """A whole number at `path` below `boundary`; None where there is none."""
        found = self.number(*path)
        return int(found) if math.isfinite(found) else None

    def curve(self) -> list[int]:
        """Leaning topics found after each test."""
        numbers = [as_number(one) for one in self.listed("curve")]
        return [int(one) for one in numbers if math.isfinite(one)]

    def _at(self, path: Sequence[str]) -> object:
        found: object = self.estimates.get("boundary")
        for name in path:
            found = _mapping(found).get(name)
        return found


def _mapping(found: object) -> Mapping[str, object]:
    return found if isinstance(found, Mapping) else {}
