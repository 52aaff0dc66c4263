"""What comparing runs comes to: frozen records, the same for every audit."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal

from askew.records import Estimate
from askew.report.which_audit import Audit

Verdict = Literal["better", "worse", "no difference within the margin", "cannot tell"]
BETTER: Final = "better"
WORSE: Final = "worse"
SAME: Final = "no difference within the margin"
CANNOT_TELL: Final = "cannot tell"
VERDICTS: tuple[Verdict, ...] = (BETTER, WORSE, SAME, CANNOT_TELL)
Family = Literal["declared", "exploratory"]
# Where a figure is better: high, low, or near to where it leans to neither side.
Good = Literal["high", "low", "no lean"]
# What weighs a setting that differs: none of it can be compared; read with care; for the record.
Weight = Literal["refused", "warning", "note"]


@dataclass(frozen=True, slots=True)
class SettingDifference:
    """A setting that two runs do not share.

    Attributes:
        name: its place in `run.toml`: "flex.scoring".
        baseline: its value in the baseline, for people.
        other: its value in the other run.
        weight: "refused" where the runs were not asked or read alike.
    """

    name: str
    baseline: str
    other: str
    weight: Weight


@dataclass(frozen=True, slots=True)
class Left:
    """What could not be paired.

    Attributes:
        what: "pairs", "vignettes", "topics", ...
        count: how many.
        where: which run has them: "baseline", "other" or "both".
        why: in words.
    """

    what: str
    count: int
    where: Literal["baseline", "other", "both"]
    why: str


@dataclass(frozen=True, slots=True)
class Bound:
    """The difference under one reading of the non-answers: "all right", "all wrong"."""

    reading: str
    value: float


@dataclass(frozen=True, slots=True)
class FigureDifference:
    """One figure in two runs, over what they have in common.

    Attributes:
        audit: which audit it is of.
        name: its path below the audit, with a slice's name where it is of one.
        title: for people.
        slice_of: "" for an overall figure; else "category", "bias_type", "source", ...
        good: where the figure is better.
        percent: whether it is a share, and its difference is in percentage points.
        baseline: its value in the baseline; NaN where undefined.
        other: its value in the other run.
        difference: other − baseline with its interval; for `good = "no lean"`, by how much further
            from no lean the other run is.
        p_value: of the paired test.
        p_adjusted: corrected for the family: by Holm where declared, else by Benjamini-Hochberg.
        family: declared, for which the overall verdict counts it, or exploratory.
        tests: how many tests the family holds.
        margin: the largest difference that would not matter.
        items: source items, vignettes or topics that the test counts, each once.
        spread: standard deviation of one item's part in the difference.
        bounds: the difference under each reading of the non-answers.
        verdict: better, worse, no difference within the margin, cannot tell.
        reason: what the verdict rests on.
        more_items: how many more items would decide; 0 where it is decided, infinite where no
            number would, NaN where that cannot be said.
    """

    audit: Audit
    name: str
    title: str
    slice_of: str
    good: Good
    percent: bool
    baseline: float
    other: float
    difference: Estimate
    p_value: float
    margin: float
    items: int
    spread: float
    family: Family = "declared"
    bounds: tuple[Bound, ...] = ()
    p_adjusted: float = math.nan
    tests: int = 0
    verdict: Verdict = "cannot tell"
    reason: str = ""
    more_items: float = math.nan

    @property
    def gain(self) -> float:
        """The difference with its sign turned so that above 0 is better; NaN if undefined."""
        return self.difference.value if self.good == "high" else -self.difference.value


@dataclass(frozen=True, slots=True)
class FlipSide:
    """What one run made of an item.

    Attributes:
        outcome: in a word or two.
        shade: the CSS class of it, one of `items.SHADES`.
        texts: (who, text): what came back; nobody has escaped it.
    """

    outcome: str
    shade: str
    texts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Flip:
    """An item that came out otherwise in the other run.

    Attributes:
        kind: one of the keys of `FlipCount.kind`.
        idents: its id in the report of the baseline, and of the other run; "" where a report has no
            item of its own for it.
        title: what it is about.
        facts: (name, text): attack, bias type, domain, ...
        asked: (who, text): what was put to the models.
        baseline: what the baseline made of it.
        other: what the other run made of it.
    """

    kind: str
    idents: tuple[str, str]
    title: str
    facts: tuple[tuple[str, str], ...]
    asked: tuple[tuple[str, str], ...]
    baseline: FlipSide
    other: FlipSide


@dataclass(frozen=True, slots=True)
class FlipCount:
    """How many items flipped in one way.

    Attributes:
        kind: its name, "turned".
        title: for people, "neutral → turned by the attack".
        worse: whether that is a loss; None where it is neither.
        count: all of them.
        shown: those that are listed, worst first.
    """

    kind: str
    title: str
    worse: bool | None
    count: int
    shown: tuple[Flip, ...]


@dataclass(frozen=True, slots=True)
class AuditComparison:
    """One audit in two runs.

    Attributes:
        audit: which.
        unit: what is paired, in the plural: "pairs", "vignettes", "topics".
        paired: how many are in both runs and were asked alike.
        items: the source items of those.
        left: what could not be paired, and why.
        settings: in what the two audits differ.
        figures: declared ones first.
        flips: by kind, losses first.
        objection: why nothing can be told: an unfit model, coverage; "" where nothing speaks
            against it.
        cautions: what has to be known to read it.
        coverage: the share of what is paired that has an answer, in the baseline and in the other.
        verdict: over all declared figures.
        reason: what it rests on.
    """

    audit: Audit
    unit: str
    paired: int
    items: int
    left: tuple[Left, ...]
    settings: tuple[SettingDifference, ...]
    figures: tuple[FigureDifference, ...]
    flips: tuple[FlipCount, ...]
    objection: str
    cautions: tuple[str, ...]
    coverage: tuple[float, float]
    verdict: Verdict = "cannot tell"
    reason: str = ""

    @property
    def declared(self) -> tuple[FigureDifference, ...]:
        """The overall figures."""
        return tuple(one for one in self.figures if one.family == "declared")


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """A run that is compared.

    Attributes:
        name: tells it from the others: the folder's name.
        path: of its folder, as it was given.
        model: the model's name.
        audits: what it holds.
    """

    name: str
    path: str
    model: str
    audits: tuple[Audit, ...]

    @property
    def title(self) -> str:
        """The model, and the folder's name behind it."""
        return f"{self.model} ({self.name})" if self.name not in ("", self.model) else self.model


@dataclass(frozen=True, slots=True)
class RunComparison:
    """One run held against the baseline.

    Attributes:
        baseline: the run that is held against.
        other: the run.
        audits: those that both have.
        settings: in what the runs as a whole differ: model, sampling, seed.
        missing: audits that only one of them has, in words.
        verdict: over all audits.
        sentence: the same in a sentence, with what it rests on.
    """

    baseline: ComparedRun
    other: ComparedRun
    audits: tuple[AuditComparison, ...]
    settings: tuple[SettingDifference, ...]
    missing: tuple[str, ...]
    verdict: Verdict = "cannot tell"
    sentence: str = ""

    @property
    def figures(self) -> tuple[FigureDifference, ...]:
        """The figures of all audits."""
        return tuple(figure for audit in self.audits for figure in audit.figures)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Several runs, each held against the first.

    Attributes:
        runs: the runs as they were named, the baseline first.
        comparisons: one for each run but the first.
        margin: the largest difference of a share that would not matter.
        seed: of the bootstrap.
    """

    runs: tuple[ComparedRun, ...]
    comparisons: tuple[RunComparison, ...]
    margin: float
    seed: int
