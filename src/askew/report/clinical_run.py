"""A clinical run as its `estimates.json` tells it. Nothing is asked and nothing is computed again.

Files of other versions may lack a figure: what is missing is undefined, and says so.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from askew.records import Estimate
from askew.report.estimates import as_number, read_estimate

OUGHT = " (ought to matter)"  # behind an attribute: the cases in which a difference is medicine
PAPER_ATTRIBUTES = ("age", "gender", "place")  # the paper's; race and one's own stand beside them
# The paper's five dimensions of a judge's bias scores, in the order of its tables and axes.
DIMENSIONS = ("age", "gender", "age+gender", "location", "age+gender+location")
CRITERIA = ("factual_consistency", "clinical_relevance", "coherence")  # Table 1
FORMS = ("direct", "single", "chained")
_PERCENT = re.compile(r"(?<=\d)%")
MULTI_HOP = ("single", "chained")
DIFFERENCE, EQUIVALENT, CANNOT_TELL = VERDICTS = (
    "difference",
    "equivalent within the margin",
    "cannot tell",
)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One measure, as the file describes it."""

    name: str
    title: str
    kind: str  # binary, ordinal, number or distance; "" where the file does not say
    unit: str
    meaning: str
    higher_means: str

    @property
    def is_share(self) -> bool:
        """Whether a difference of it can be counted in patients, so many of a hundred."""
        return self.unit in ("share of answers", "share of pairs")


@dataclass(frozen=True, slots=True)
class Finding:
    """One comparison on one endpoint, with its verdict."""

    form: str
    attribute: str  # "gender"; of a set of attributes "age+gender"
    contrast: str  # "female − male"
    kind: str  # levels, neutral or set
    relevant: bool  # over the cases in which the attribute ought to matter
    endpoint: Endpoint
    estimate: Estimate  # the excess, with its interval
    floor: Estimate  # what two answers to one prompt differ by
    p_value: float
    p_adjusted: float
    effect_size: float
    smallest_p: float  # below which no p value can come out, with so few vignettes
    smallest_visible: float
    margin: float
    equivalence_p: float
    odds_ratio: float
    verdict: str
    reason: str
    vignettes: int
    left_out: int
    moved: int  # vignettes whose value is not 0
    family: str  # declared or exploratory
    tests: int
    per_vignette: tuple[tuple[str, float], ...]  # those that moved most

    @property
    def beside(self) -> bool:
        """Whether it stands beside the paper's attributes: race, or one of the user's own."""
        return not set(self.attribute.split("+")) <= set(PAPER_ATTRIBUTES)

    @property
    def base(self) -> str:
        """The level that is compared with."""
        return self.contrast.partition(" − ")[2]

    @property
    def changed(self) -> str:
        """The level that is compared."""
        return self.contrast.partition(" − ")[0]


@dataclass(frozen=True, slots=True)
class ClinicalRun:
    """One run's figures.

    Attributes:
        name: what tells runs of one model apart: the folder's name, a number; may be empty.
        estimates: `estimates.json`, parsed.
    """

    name: str
    estimates: Mapping[str, object]
    # Comparisons that were read already: a report asks for all of them again and again.
    _read: dict[str, tuple[Finding, ...]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @property
    def model(self) -> str:
        """The target's name; the run's where the file does not say."""
        return str(self.estimates.get("model") or self.name or "the model")

    @property
    def title(self) -> str:
        """The model and, where the run has a name of its own, that name."""
        return f"{self.model} ({self.name})" if self.name not in ("", self.model) else self.model

    @property
    def data(self) -> str:
        """The data sets that the vignettes come from."""
        return ", ".join(self.part("study", "sources")) or "the vignettes"

    @property
    def meaningful(self) -> bool | None:
        """Whether differences of the answers mean anything; None where that cannot be told."""
        found = self.part("worth").get("meaningful")
        return found if isinstance(found, bool) else None

    @property
    def reason(self) -> str:
        """Why; may be empty. Files have "4%" in it; people read "4 %" everywhere else."""
        return _PERCENT.sub(" %", str(self.part("worth").get("reason") or ""))

    @property
    def missing(self) -> int:
        """Answers that were wanted and never had."""
        wanted, had = self.count("answers", "wanted"), self.count("answers", "had")
        return max(0, (wanted or 0) - (had or 0))

    @property
    def forms(self) -> list[str]:
        """The forms of the answers, the primary one first."""
        asked = self.setting("answers")
        if isinstance(asked, list):
            return [str(form) for form in asked]
        return list(self.part("effects"))

    @property
    def multi_hop(self) -> str:
        """The form that stands for the paper's multi-hop answers; "" where none was asked for."""
        return next((form for form in self.forms if form in MULTI_HOP), "")

    @property
    def primary(self) -> list[str]:
        """The endpoints that were declared beforehand."""
        named = self.setting("primary")
        return [str(name) for name in named] if isinstance(named, list) else []

    @property
    def judges(self) -> list[str]:
        """The judges' names, as the card has them."""
        names = dict.fromkeys(
            [*self.part("judges", "card", "judges"), *self.part("judges", "bias")]
        )
        return list(names)

    def part(self, *path: str) -> Mapping[str, object]:
        """What lies at `path` below `clinical`; empty where nothing does."""
        return as_mapping(self._at(path))

    def top(self, name: str) -> Mapping[str, object]:
        """A part that stands beside `clinical`, e.g. `calls`."""
        return as_mapping(self.estimates.get(name))

    def setting(self, name: str) -> object:
        """One of the audit's settings; None where the file does not say."""
        return self.part("settings").get(name)

    def figure(self, *path: str) -> Estimate:
        """A figure with its interval at `path` below `clinical`."""
        return read_figure(self.part(*path))

    def number(self, *path: str) -> float:
        """A plain number at `path` below `clinical`; NaN where there is none."""
        return as_number(self._at(path))

    def count(self, *path: str) -> int | None:
        """A whole number at `path` below `clinical`; None where there is none."""
        found = self.number(*path)
        return None if math.isnan(found) else int(found)

    def endpoint(self, name: str) -> Endpoint:
        """One endpoint as the file describes it; its bare name where it does not."""
        found = self.part("endpoints", name)
        told = {key: str(found.get(key) or "") for key in ("kind", "unit", "meaning")}
        title = str(found.get("title") or name.replace("_", " "))
        return Endpoint(name, title, **told, higher_means=str(found.get("higher_means") or ""))

    def findings(self, part: str = "effects") -> Iterator[Finding]:
        """Every comparison; `part` may be "interactions" as well."""
        if part not in self._read:
            self._read[part] = tuple(self._findings(part))
        yield from self._read[part]

    def declared(self) -> list[Finding]:
        """The comparisons that were declared beforehand, endpoint by endpoint in their order."""
        return self._in_order(one for one in self.findings() if one.family == "declared")

    def ought_to_matter(self) -> list[Finding]:
        """The same comparisons over the cases in which a difference is medicine."""
        primary, forms = self.primary, self.forms[:1]
        return self._in_order(
            one
            for one in self.findings()
            if one.relevant
            and one.kind == "levels"
            and one.endpoint.name in primary
            and one.form in forms
        )

    def exploratory(self) -> list[Finding]:
        """All others, the smallest p value first; undefined ones last."""
        found = [one for one in self.findings() if one.family != "declared"]
        return sorted(found, key=lambda one: (math.isnan(one.p_value), one.p_value))

    def judge_card(self, judge: str) -> Mapping[str, object]:
        """One judge's card."""
        return self.part("judges", "card", "judges", judge)

    def is_out(self, judge: str) -> bool:
        """Whether too many of a judge's replies could not be read for its figures to be used."""
        return self.judge_card(judge).get("out") is True

    def warnings_of(self, judge: str) -> list[str]:
        """What the card warns of."""
        found = self.judge_card(judge).get("warnings")
        return [str(one) for one in found] if isinstance(found, list) else []

    def _findings(self, part: str) -> Iterator[Finding]:
        endpoints: dict[str, Endpoint] = {}
        for form, attributes in self.part(part).items():
            for attribute, contrasts in as_mapping(attributes).items():
                for contrast, entry in as_mapping(contrasts).items():
                    yield from self._of_contrast(
                        form, attribute, contrast, as_mapping(entry), endpoints
                    )

    def _of_contrast(
        self,
        form: str,
        attribute: str,
        contrast: str,
        entry: Mapping[str, object],
        endpoints: dict[str, Endpoint],
    ) -> Iterator[Finding]:
        for name, record in entry.items():
            if isinstance(record, Mapping):
                if name not in endpoints:
                    endpoints[name] = self.endpoint(name)
                yield Finding(
                    form=form,
                    attribute=attribute.removesuffix(OUGHT),
                    contrast=contrast,
                    kind=str(entry.get("kind") or ""),
                    relevant=attribute.endswith(OUGHT),
                    endpoint=endpoints[name],
                    **_effect(record),
                )

    def _in_order(self, found: Iterator[Finding]) -> list[Finding]:
        places = {name: place for place, name in enumerate(self.primary)}
        return sorted(
            found,
            key=lambda one: (one.beside, places.get(one.endpoint.name, len(places))),
        )

    def _at(self, path: Sequence[str]) -> object:
        found: object = self.estimates.get("clinical")
        for name in path:
            found = as_mapping(found).get(name)
        return found


def as_mapping(found: object) -> Mapping[str, object]:
    """A part of a parsed file; empty where it is none."""
    return found if isinstance(found, Mapping) else {}


def read_figure(record: Mapping[str, object]) -> Estimate:
    """The estimate that JSON holds, with a reason of this audit where it has no value."""
    figure = read_estimate(record)
    if "value" in record and not figure.defined and not record.get("note"):
        note = "nothing could be read" if not figure.n else "one of its parts is undefined"
        return replace(figure, note=note)
    return figure


def _effect(record: Mapping[str, object]) -> dict[str, Any]:
    """The fields of a finding that one record of `effects` holds."""
    numbers = {
        name: as_number(record.get(name))
        for name in (
            "p_value",
            "p_adjusted",
            "effect_size",
            "smallest_p",
            "smallest_visible",
            "margin",
            "equivalence_p",
            "odds_ratio",
        )
    }
    counts = {
        name: 0 if math.isnan(found := as_number(record.get(name))) else int(found)
        for name in ("vignettes", "left_out", "moved", "tests")
    }
    listed = record.get("per_vignette")
    moved = [one for one in listed if isinstance(one, list)] if isinstance(listed, list) else []
    return {
        "estimate": read_figure(as_mapping(record.get("estimate"))),
        "floor": read_figure(as_mapping(record.get("floor"))),
        **numbers,
        **counts,
        "verdict": str(record.get("verdict") or CANNOT_TELL),
        "reason": str(record.get("reason") or ""),
        "family": str(record.get("family") or ""),
        "per_vignette": tuple((str(name), as_number(value)) for name, value in moved),
    }
