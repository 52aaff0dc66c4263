"""The top of a report, for somebody who has a minute.

Which findings stand there follows from a rule. Each audit makes its claims, the most telling first,
and none without an interval. What was found comes before what was not: the audits take turns, so
that each has its first finding there before any has its second. There are five at most; where fewer
were found, claims that nothing was found follow in the same way, up to three in all. An audit whose
model was not fit to be measured makes no claim, and stands among what could not be told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from askew.report.boundary_run import BoundaryRun
from askew.report.clinical_run import ClinicalRun
from askew.report.estimates import Run
from askew.report.overview_claims import (
    Claim,
    boundary_claims,
    boundary_untold,
    clinical_claims,
    clinical_untold,
    flex_claims,
    flex_untold,
)
from askew.report.run_record import RunRecord
from askew.report.which_audit import Audit, audits_in, part_of
from askew.report.words import counted, percent, percent_range

MOST, ENOUGH = 5, 3  # claims at most; as many as are filled up with nothing-found
TITLES: Mapping[Audit, str] = {"flex": "FLEX", "clinical": "Clinical", "boundary": "Boundary"}
QUESTIONS: Mapping[Audit, str] = {
    "flex": "Does fairness hold when the prompt pushes?",
    "clinical": "Do the answers move with the patient when the facts do not?",
    "boundary": "On which topics can this model not be trusted?",
}


@dataclass(frozen=True, slots=True)
class Fitness:
    """Whether the model was fit for one audit: a badge, why, and on how much the audit rests."""

    audit: Audit
    badge: str
    shade: str  # the CSS class: "yes", "no" or "open"
    said: str
    measured: str = ""  # "150 pairs of plain and attacked questions"; "" where nothing was yet


@dataclass(frozen=True, slots=True)
class Overview:
    """What stands at the top of a report.

    Attributes:
        model: under audit.
        days: on which it was asked; "" where that is not recorded.
        facts: (name, value) of how the model was served and what the run cost.
        fitness: one an audit, also of those that have no figures yet.
        claims: see the module's rule.
        untold: (audit, what could not be told and why).
    """

    model: str
    days: str
    facts: tuple[tuple[str, str], ...]
    fitness: tuple[Fitness, ...]
    claims: tuple[Claim, ...]
    untold: tuple[tuple[Audit, str], ...]


def overview(
    name: str, estimates: Mapping[str, object], record: RunRecord, planned: Sequence[Audit] = ()
) -> Overview:
    """The top of a run's report.

    Args:
        name: the run's.
        estimates: `estimates.json`, parsed.
        record: what the folder says of model, time and cost.
        planned: the audits of the run file; one of them may have no figures yet.
    """
    fitness, claims, untold = [], [], []
    audits = measured_in(estimates)
    for audit in audits:
        part = part_of(estimates, audit)
        if audit == "flex":
            flex = Run(name, part)
            pairs = f"{counted(flex.planned, 'pair')} of plain and attacked questions"
            fitness.append(replace(_flex_fitness(flex), measured=pairs))
            claims.append(flex_claims(flex))
            said = flex_untold(flex)
        elif audit == "clinical":
            clinical = ClinicalRun(name, part)
            cases = (
                f"{counted(clinical.count('study', 'vignettes') or 0, 'vignette')} in "
                f"{counted(clinical.count('study', 'variants') or 0, 'text')}"
            )
            fitness.append(replace(_clinical_fitness(clinical), measured=cases))
            claims.append(clinical_claims(clinical))
            said = clinical_untold(clinical)
        else:
            boundary = BoundaryRun(name, part)
            size = boundary.count("topics", "graph")
            of = "" if size is None else f" of {size:,} in the graph"
            topics = f"{counted(boundary.tested, 'topic')}{of}"
            fitness.append(replace(_boundary_fitness(boundary), measured=topics))
            claims.append(boundary_claims(boundary))
            said = boundary_untold(boundary)
        untold += [(audit, one) for one in said]
    for audit in planned:
        if audit not in audits:
            fitness.append(Fitness(audit, "no figures yet", "open", "It is in the run file."))
            untold.append((audit, "This audit is in the run file and has no figures yet."))
    facts = {"Model": record.identity(), "Cost": record.cost()}
    return Overview(
        str(estimates.get("model") or name or "the model"),
        record.days,
        tuple((title, text) for title, text in facts.items() if text),
        tuple(fitness),
        tuple(chosen(claims)),
        tuple(dict.fromkeys(untold)),
    )


def measured_in(estimates: Mapping[str, object]) -> list[Audit]:
    """The audits that have figures, in the order of the report."""
    return [one for one in audits_in(estimates) if one in estimates or "audits" not in estimates]


def chosen(claims: Sequence[Sequence[Claim]]) -> list[Claim]:
    """The claims that stand at the top.

    Args:
        claims: of each audit, the most telling first.
    """
    found = _in_turn([[one for one in own if one.found] for own in claims])[:MOST]
    nothing = _in_turn([[one for one in own if not one.found] for own in claims])
    return [*found, *nothing[: max(0, ENOUGH - len(found))]]


def _in_turn(claims: Sequence[Sequence[Claim]]) -> list[Claim]:
    return [one for turn in zip_longest(*claims) for one in turn if one is not None]


def _flex_fitness(run: Run) -> Fitness:
    gate = run.figure("fit", "accuracy")
    said = ""
    if gate.defined:
        said = (
            f"{percent(gate.value)} of {counted(gate.n, 'control')} right, 95 % interval "
            f"{percent_range(gate.lower, gate.upper)}"
        )
    if run.meaningful is False:
        return Fitness("flex", "not fit to be measured", "no", run.reason or said)
    if run.meaningful is None:
        return Fitness("flex", "fitness not tested", "open", said)
    if run.caution:
        return Fitness("flex", "fit, with a caution", "open", f"{said}; {run.caution}".lstrip("; "))
    return Fitness("flex", "fit to be measured", "yes", said)


def _clinical_fitness(run: ClinicalRun) -> Fitness:
    badge, shade = {
        True: ("answers better than chance", "yes"),
        False: ("answers not worth comparing", "no"),
        None: ("worth of answers not known", "open"),
    }[run.meaningful]
    read = run.figure("worth", "read")
    said = ""
    if read.defined:
        said = (
            f"{percent(read.value)} of {counted(read.n, 'answer')} could be read, 95 % interval "
            f"{percent_range(read.lower, read.upper)}"
        )
    reason = run.reason[:1].upper() + run.reason[1:]
    return Fitness("clinical", badge, shade, ". ".join(filter(None, [said, reason])))


def _boundary_fitness(run: BoundaryRun) -> Fitness:
    """No gate stands before a search: what counts is how many topics could be judged."""
    if not run.tested:
        return Fitness("boundary", "nothing was tested", "no", "")
    said = f"{run.judged:,} of {counted(run.tested, 'tested topic')} could be judged"
    if run.judge:
        said += f", by {run.judge}"
    refused = run.figure("answers", "refused")
    if refused.defined:
        said += (
            f"; {percent(refused.value)} of {counted(refused.n, 'answer')} were refusals "
            f"({percent_range(refused.lower, refused.upper)})"
        )
    if not run.judged:
        return Fitness("boundary", "could not be judged", "no", said)
    if run.unclear * 10 > run.tested:
        return Fitness("boundary", "judged in part", "open", said)
    return Fitness("boundary", "answers could be judged", "yes", said)
