"""Short names for the figures that releases are decided by, and whether a run was complete.

An alias stands for a place in `estimates.json`; what follows it in a rule is looked up from there:
`asr.upper`, `asr.category.persona_injection.upper`, `declared.verdict`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from askew.report.boundary_run import BoundaryRun
from askew.report.clinical_run import ClinicalRun
from askew.report.estimates import Run
from askew.report.which_audit import Audit, part_of

Estimates = Mapping[str, object]
Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Alias:
    """A short name.

    Attributes:
        name: as it is typed; the same one may stand for a figure of each audit.
        audit: whose figure it is.
        path: where it stands; empty where it is counted up.
        meaning: in a few words.
        slices: whether the path's last name is one slice of several.
        count: makes the number of what has no place of its own.
        share: whether that number is a share.
    """

    name: str
    audit: Audit
    path: Path
    meaning: str
    slices: bool = False
    count: Callable[[Estimates], float] | None = None
    share: bool = False

    @property
    def full(self) -> str:
        """The path, or the name with the audit's before it where it has none."""
        return ".".join(self.path) or f"{self.audit}.{self.name}"


def _flex(figure: str, last: str = "overall") -> Path:
    return ("flex", figure, last)


def _flex_coverage(estimates: Estimates) -> float:
    return Run("", part_of(estimates, "flex")).coverage


def _flex_missing(estimates: Estimates) -> float:
    return Run("", part_of(estimates, "flex")).number("missing_pairs")


def _clinical_coverage(estimates: Estimates) -> float:
    """Of the answers that were wanted, the share that could be read."""
    run = ClinicalRun("", part_of(estimates, "clinical"))
    wanted = run.number("answers", "wanted")
    return run.number("worth", "outcomes", "answered") / wanted if wanted > 0 else math.nan


def _clinical_missing(estimates: Estimates) -> float:
    run = ClinicalRun("", part_of(estimates, "clinical"))
    return run.number("answers", "wanted") - run.number("answers", "had")


def _boundary_coverage(estimates: Estimates) -> float:
    """Of the topics that were tested, the share that could be judged."""
    run = BoundaryRun("", part_of(estimates, "boundary"))
    return run.judged / run.tested if run.tested else math.nan


def boundary_missing(estimates: Estimates) -> float:
    """Topics that were to be tested and were not, while the graph still held some."""
    run = BoundaryRun("", part_of(estimates, "boundary"))
    wanted, size = run.setting("queries"), run.number("topics", "graph")
    if not isinstance(wanted, int) or math.isnan(size):
        return math.nan
    return max(0.0, min(wanted, size) - run.tested)


def _flex_calls(estimates: Estimates) -> float:
    return float(_whole(part_of(estimates, "flex"), "calls", "asked"))


def _clinical_calls(estimates: Estimates) -> float:
    return _calls_by_role(part_of(estimates, "clinical"))


def _boundary_calls(estimates: Estimates) -> float:
    part = part_of(estimates, "boundary")
    asked = BoundaryRun("", part).calls
    return _calls_by_role(part) if asked is None else float(asked)


def _calls_by_role(part: Estimates) -> float:
    calls = part.get("calls")
    roles = calls.get("by_role") if isinstance(calls, Mapping) else None
    if not isinstance(roles, Mapping):
        return math.nan
    return math.fsum(_whole(roles, role, "asked") for role in roles)


def _whole(tree: object, *path: str) -> float:
    for name in path:
        tree = tree.get(name) if isinstance(tree, Mapping) else None
    return tree if isinstance(tree, int) and not isinstance(tree, bool) else math.nan


ALIASES: tuple[Alias, ...] = (
    Alias(
        "asr",
        "flex",
        _flex("attack_success_rate"),
        "of the answers that were neutral at first, the share that the attack turned",
        slices=True,
    ),
    Alias(
        "asr_mean",
        "flex",
        _flex("attack_success_rate", "average"),
        "the same, as the mean of the three attack categories",
    ),
    Alias("acc_s", "flex", _flex("source_accuracy"), "neutral without an attack", slices=True),
    Alias("acc_f", "flex", _flex("flex_accuracy"), "neutral under attack", slices=True),
    Alias("change", "flex", _flex("accuracy_change"), "Acc_F − Acc_S", slices=True),
    Alias(
        "stereotyped",
        "flex",
        _flex("stereotyped_share_attacked"),
        "of the answers under attack that took a side, the share that took the stereotype's",
        slices=True,
    ),
    Alias("fit", "flex", ("flex", "fit", "meaningful"), "the model was fit to be measured"),
    Alias(
        "coverage",
        "flex",
        (),
        "pairs answered in both conditions, of all that were planned",
        count=_flex_coverage,
        share=True,
    ),
    Alias("missing", "flex", (), "planned pairs of which a reply is missing", count=_flex_missing),
    Alias("calls", "flex", (), "calls that were asked", count=_flex_calls),
    Alias("declared", "clinical", (), "every comparison that was declared beforehand"),
    Alias(
        "listed",
        "clinical",
        ("clinical", "worth", "excess"),
        "reference diagnoses listed, above what chance lists",
    ),
    Alias(
        "fit", "clinical", ("clinical", "worth", "meaningful"), "the answers are better than chance"
    ),
    Alias(
        "coverage",
        "clinical",
        (),
        "answers that could be read, of all that were wanted",
        count=_clinical_coverage,
        share=True,
    ),
    Alias(
        "missing", "clinical", (), "answers that were wanted and not had", count=_clinical_missing
    ),
    Alias("calls", "clinical", (), "calls that were asked", count=_clinical_calls),
    Alias(
        "leaning",
        "boundary",
        ("boundary", "uniform_share"),
        "of all topics of the graph, the share that leans, by the topics drawn at random",
    ),
    Alias(
        "leaning_found",
        "boundary",
        ("boundary", "leaning_share"),
        "of the topics that the search chose and that were judged, the share that leans",
    ),
    Alias(
        "undiscovered",
        "boundary",
        ("boundary", "undiscovered", "probes"),
        "topics that lean and were not found",
    ),
    Alias(
        "clustering",
        "boundary",
        ("boundary", "clustering", "verdict"),
        "whether topics that lean lie together",
    ),
    Alias(
        "coverage",
        "boundary",
        (),
        "topics that could be judged, of all that were tested",
        count=_boundary_coverage,
        share=True,
    ),
    Alias(
        "missing",
        "boundary",
        (),
        "topics that were to be tested and were not",
        count=boundary_missing,
    ),
    Alias("calls", "boundary", (), "calls that were asked", count=_boundary_calls),
)
DECLARED = "declared"


def aliases_named(text: str) -> list[tuple[Alias, str]]:
    """The aliases that a subject begins with, each with what follows it.

    An audit's name may stand before the alias, which a run of several audits needs for some. The
    full path of an alias counts as the alias, so that both say the same of a run that lacks it.

    >>> [(one.audit, rest) for one, rest in aliases_named("asr.category.text_attack.upper")]
    [('flex', 'category.text_attack.upper')]
    >>> [one.audit for one, _ in aliases_named("clinical.coverage")]
    ['clinical']
    """
    return [
        (alias, text[len(name) + 1 :])
        for alias in ALIASES
        for name in {alias.name, f"{alias.audit}.{alias.name}", alias.full}
        if text == name or text.startswith(f"{name}.")
    ]


def prefixes(alias: Alias, estimates: Estimates) -> list[Path]:
    """The places that an alias stands for in a run, the most special first; none if counted up."""
    if alias.name == DECLARED:
        return _declared(estimates)
    if not alias.path:
        return []
    return [alias.path, alias.path[:-1]] if alias.slices else [alias.path]


def _declared(estimates: Estimates) -> list[Path]:
    """The places of the comparisons that were declared beforehand."""
    found: list[Path] = []

    def look(tree: object, path: Path) -> None:
        if not isinstance(tree, Mapping):
            return
        if tree.get("family") == "declared":
            found.append(path)
            return
        for name, part in tree.items():
            look(part, (*path, name))

    clinical = estimates.get("clinical")
    effects = clinical.get("effects") if isinstance(clinical, Mapping) else None
    look(effects, ("clinical", "effects"))
    return found
