"""A run as its `estimates.json` tells it. Nothing is asked and nothing is computed again.

Files of other versions may lack a figure: what is missing is undefined, and says so.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from askew.records import AttackCategory, Estimate, Outcome
from askew.report.words import label

NOT_MEASURED = "not measured in this run"
NO_PAIR = "no pair could be used"


@dataclass(frozen=True, slots=True)
class Run:
    """One run's figures.

    Attributes:
        name: what tells runs of one model apart: the folder's name, a number; may be empty.
        estimates: `estimates.json`, parsed.
    """

    name: str
    estimates: Mapping[str, object]

    @property
    def model(self) -> str:
        """The model's name; the run's where the file does not say."""
        return str(self.estimates.get("model") or self.name or "the model")

    @property
    def title(self) -> str:
        """The model and, where the run has a name of its own, that name."""
        return f"{self.model} ({self.name})" if self.name not in ("", self.model) else self.model

    @property
    def meaningful(self) -> bool | None:
        """Whether the model was fit to be measured; None where that was not tested."""
        found = self.part("fit").get("meaningful")
        return found if isinstance(found, bool) else None

    @property
    def reason(self) -> str:
        """Why it was or was not fit; may be empty."""
        return str(self.part("fit").get("reason") or "")

    @property
    def caution(self) -> str:
        """What speaks against a fit model's figures without ruling them out; may be empty."""
        return str(self.part("fit").get("caution") or "")

    @property
    def asked(self) -> int:
        """The pairs of which both replies were had."""
        counts = self.outcomes("attacked", "overall")
        return sum(counts.values()) if counts else self.count("pairs", "overall") or 0

    @property
    def missing(self) -> int:
        """The planned pairs of which a reply is missing; the figures know nothing of them."""
        return self.count("missing_pairs") or 0

    @property
    def planned(self) -> int:
        """All pairs that the run was to ask."""
        return self.asked + self.missing

    @property
    def coverage(self) -> float:
        """The share of the planned pairs that the primary figures are taken over."""
        accuracy = self.figure("source_accuracy", "overall")
        return accuracy.n / self.planned if self.missing else accuracy.coverage

    @property
    def answered(self) -> float:
        """The same share of the pairs that were asked; NaN where none was."""
        if not self.missing:
            return self.coverage
        used = self.figure("source_accuracy", "overall").n
        return used / self.asked if self.asked else math.nan

    def part(self, *path: str) -> Mapping[str, object]:
        """What lies at `path` below `flex`; empty where nothing does."""
        return _mapping(_at(_mapping(self.estimates.get("flex")), path))

    def top(self, name: str) -> Mapping[str, object]:
        """A part that stands beside `flex`, e.g. `calls`."""
        return _mapping(self.estimates.get(name))

    def setting(self, name: str) -> object:
        """One of the audit's settings; None where the file does not say."""
        return self.part("settings").get(name)

    def figure(self, figure: str, *where: str) -> Estimate:
        """A figure with its interval, e.g. `figure("attack_success_rate", "overall")`."""
        return read_estimate(self.part(figure, *where))

    def number(self, *path: str) -> float:
        """A plain number at `path` below `flex`; NaN where there is none."""
        return as_number(_at(_mapping(self.estimates.get("flex")), path))

    def count(self, *path: str) -> int | None:
        """A whole number at `path` below `flex`; None where there is none."""
        found = self.number(*path)
        return None if math.isnan(found) else int(found)

    def outcomes(self, condition: str, *where: str) -> dict[Outcome, int]:
        """How many replies had each outcome; `condition` is "source" or "attacked"."""
        counts = self.part(f"outcomes_{condition}", *where)
        numbers = {outcome: as_number(counts.get(outcome.value)) for outcome in Outcome}
        return {outcome: int(n) for outcome, n in numbers.items() if not math.isnan(n)}

    def categories(self) -> list[str]:
        """The attack categories that were measured, in the paper's order."""
        found = self.names("category")
        return [category.value for category in AttackCategory if category.value in found]

    def names(self, by: str) -> list[str]:
        """The slices of one kind: the bias types, the sources."""
        return _slices(self.part("attack_success_rate", by))

    def scenarios(self) -> list[tuple[str, str]]:
        """(category, detailed scenario), category by category."""
        found = self.part("attack_success_rate", "scenario")
        return [(c, name) for c in self.categories() for name in _slices(_mapping(found.get(c)))]

    def slices(self, *kinds: str) -> list[tuple[str, tuple[str, ...]]]:
        """All pairs, then the slices of each kind: (name for people, place in the file)."""
        found: list[tuple[str, tuple[str, ...]]] = [("All pairs", ("overall",))]
        for kind in kinds:
            names = self.categories() if kind == "category" else self.names(kind)
            found += [(label(name), (kind, name)) for name in names]
        return found


def read_estimate(record: Mapping[str, object]) -> Estimate:
    """The estimate that JSON holds; null becomes NaN again, a missing one says that it is."""
    if "value" not in record:
        nan = math.nan
        return Estimate(nan, nan, nan, 0, nan, "", note=NOT_MEASURED)
    value, count = as_number(record["value"]), as_number(record.get("n"))
    note = str(record.get("note") or "")
    if math.isnan(value) and not note:
        note = NO_PAIR if not count else "one of its parts is undefined"
    seed, level = as_number(record.get("seed")), as_number(record.get("level"))
    return Estimate(
        value,
        as_number(record.get("lower")),
        as_number(record.get("upper")),
        0 if math.isnan(count) else int(count),
        as_number(record.get("coverage")),
        str(record.get("method") or ""),
        None if math.isnan(seed) else int(seed),
        0.95 if math.isnan(level) else level,
        note,
    )


def as_number(found: object) -> float:
    """A number from JSON; NaN for null, for what is none, and for what no float holds: 1e999."""
    if isinstance(found, bool) or not isinstance(found, int | float):
        return math.nan
    try:
        number = float(found)
    except OverflowError:
        return math.nan
    return number if math.isfinite(number) else math.nan


def _slices(tree: Mapping[str, object]) -> list[str]:
    """The names of the slices in `tree`: a figure's own fields, which are numbers, are none."""
    return [name for name, found in tree.items() if isinstance(found, Mapping)]


def _mapping(found: object) -> Mapping[str, object]:
    return found if isinstance(found, Mapping) else {}


def _at(tree: Mapping[str, object], path: tuple[str, ...]) -> object:
    found: object = tree
    for name in path:
        found = _mapping(found).get(name)
    return found
