"""What each audit has to say in a minute: its findings, and what it could not tell.

The words follow from the figures alone, by fixed rules. A claim without an interval is not made.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from askew.report.boundary_run import CANNOT_TELL as NOBODY_KNOWS
from askew.report.boundary_run import CLUSTERS, DOES_NOT, BoundaryRun
from askew.report.boundary_summary import clustering_words, short_title, undiscovered_words
from askew.report.boundary_summary import warnings as boundary_warnings
from askew.report.clinical_run import DIFFERENCE, EQUIVALENT, ClinicalRun
from askew.report.clinical_summary import by_verdict, nothing_seen, strongest, told
from askew.report.clinical_summary import warnings as clinical_warnings
from askew.report.clinical_words import in_patients
from askew.report.estimates import Run, as_number
from askew.report.items import items_link
from askew.report.links import cases_link, pairs_link
from askew.report.summary import SIGNIFICANT, non_answers
from askew.report.summary import warnings as flex_warnings
from askew.report.which_audit import Audit
from askew.report.words import (
    counted,
    has_interval,
    label,
    p_equals,
    percent,
    percent_range,
    points,
    points_range,
    share_with_interval,
)


@dataclass(frozen=True, slots=True)
class Claim:
    """A finding in a plain sentence.

    Attributes:
        audit: whose.
        found: whether it says that something was found, and not that nothing was.
        text: the sentence, with figures and intervals.
        link: where the items behind it are shown.
        lead: what the link says: "Show the 132 pairs".
    """

    audit: Audit
    found: bool
    text: str
    link: str
    lead: str


def flex_claims(run: Run) -> list[Claim]:
    """The findings of FLEX, the most telling first; none of a model unfit to be measured."""
    if run.meaningful is False:
        return []
    return [*_attack(run), *_slices(run), *_direction(run)]


def clinical_claims(run: ClinicalRun) -> list[Claim]:
    """The declared comparisons: differences, then what is equivalent within the margin.

    None of a model whose answers are worth nothing.
    """
    if run.meaningful is False:
        return []
    groups = by_verdict(run.declared())
    said = []
    for one in strongest(groups.get(DIFFERENCE, [])):
        if has_interval(one.estimate):
            patients = in_patients(one)
            meaning = f", that is {patients}" if patients else ""
            text = (
                f"The answers move with the patient. {told(one)} above the noise{meaning} "
                f"({p_equals(one.p_adjusted)} after Holm's correction)."
            )
            said.append(Claim("clinical", True, text, cases_link(one), "Show its cases"))
    equal = [one for one in strongest(groups.get(EQUIVALENT, [])) if has_interval(one.estimate)]
    if equal:
        total = counted(sum(map(len, groups.values())), "declared comparison")
        text = (
            f"{len(equal)} of {total} {'is' if len(equal) == 1 else 'are'} equivalent within the "
            f"margin. The largest of them: {told(equal[0])}."
        )
        said.append(Claim("clinical", False, text, cases_link(equal[0]), "Show its cases"))
    return said


def boundary_claims(run: BoundaryRun) -> list[Claim]:
    """What the search found, and whether leaning clusters."""
    share = run.figure("leaning_share")
    if not run.judged or not has_interval(share):
        return []
    leaning, whole = items_link("boundary", verdict="leaning"), items_link("boundary")
    topics = counted(run.leaning or run.tested, "topic")
    if run.leaning:
        text = (
            f"On {topics} the model was found leaning: {share_with_interval(share)} of the "
            f"{run.judged:,} that were judged{_surest(run)}. The search looks where it expects to "
            "find, so that is no rate of all topics."
        )
        said = [Claim("boundary", True, text, leaning, f"Show the {topics}")]
    else:
        text = (
            f"On none of {counted(run.judged, 'judged topic')} was the model found leaning (95 % "
            f"interval {percent_range(share.lower, share.upper)} of topics like these)."
        )
        said = [Claim("boundary", False, text, whole, f"Show the {topics}")]
    both = [run.figure("clustering", f"beside_{side}") for side in ("leaning", "clean")]
    if all(map(has_interval, both)) and run.clustering in (CLUSTERS, DOES_NOT):
        found = run.clustering == CLUSTERS
        lead = "Show the leaning topics" if found else "Show the topics"
        link = leaning if found else whole
        said.append(Claim("boundary", found, clustering_words(run), link, lead))
    return said


def flex_untold(run: Run) -> list[str]:
    """What FLEX could not tell, and why."""
    said = flex_warnings(run.estimates)
    if not run.figure("source_accuracy", "overall").n:
        said.append("No pair was answered in both conditions, so no figure of fairness is defined.")
    counts = [run.outcomes(condition, "overall") for condition in ("source", "attacked")]
    lacking = any(n for part in counts for outcome, n in part.items() if not outcome.answered)
    return [*said, *(non_answers(run) if lacking else ())]


def clinical_untold(run: ClinicalRun) -> list[str]:
    """What the clinical audit could not tell, and why."""
    said = clinical_warnings(run.estimates)
    if run.meaningful is None:
        why = run.reason.rstrip(".")
        said.append(f"What the answers are worth could not be told{f': {why}' if why else ''}.")
    if not run.declared():
        said.append("No comparison was declared beforehand, or none could be made.")
    return [*said, *nothing_seen(run)]


def boundary_untold(run: BoundaryRun) -> list[str]:
    """What the boundary audit could not tell, and why."""
    said = boundary_warnings(run.estimates)
    if not run.judged:
        nothing = "No topic could be judged." if run.tested else "No topic was tested."
        return [*said, nothing]
    if run.clustering == NOBODY_KNOWS:
        said.append(clustering_words(run))
    if run.untested:
        said.append(f"{run.untested:,} topics were not tested. {undiscovered_words(run)}")
    return said


def _attack(run: Run) -> Iterator[Claim]:
    """The attack as a whole."""
    success = run.figure("attack_success_rate", "overall")
    change = run.figure("accuracy_change", "overall")
    if not has_interval(success) or not has_interval(change):
        return
    p_value = run.number("test", "overall", "p_value")
    moved = f"{points(change.value)} points ({points_range(change.lower, change.upper)})"
    turned = (
        f"the attack turned {share_with_interval(success)} of "
        f"{counted(success.n, 'neutral answer')} into a choice of a group"
    )
    pairs = round(success.value * success.n)
    # Where non-answers count as wrong, some of these pairs are no choice of a group.
    exact = pairs and run.setting("non_answers") != "wrong"
    lead = f"Show the {counted(pairs, 'pair')}" if exact else "Show the pairs"
    link = pairs_link(flagged="yes") if pairs else pairs_link()
    if p_value < SIGNIFICANT:
        text = f"Under pressure {turned}; the share of neutral answers changes by {moved}."
        yield Claim("flex", True, text, link, lead)
    else:
        text = (
            f"No change of accuracy under attack could be told from chance: {moved}, "
            f"{p_equals(p_value)}. In single answers {turned}."
        )
        yield Claim("flex", False, text, link, lead)


def _slices(run: Run) -> Iterator[Claim]:
    """The attack category, the scenario and the bias type that change most, after correction."""
    kinds: Mapping[str, list[tuple[str, tuple[str, ...]]]] = {
        "attack": [(label(name), ("category", name)) for name in run.categories()],
        "scenario": [
            (f"{label(name)} ({label(category).lower()})", ("scenario", category, name))
            for category, name in run.scenarios()
        ],
        "bias type": [(label(name), ("bias_type", name)) for name in run.names("bias_type")],
    }
    for kind, slices in kinds.items():
        held = [
            (abs(change.value), name, where, change)
            for name, where in slices
            if run.number("test", *where, "p_holm") < SIGNIFICANT
            and has_interval(change := run.figure("accuracy_change", *where))
        ]
        if not held:
            continue
        _, name, where, change = max(held, key=lambda entry: entry[0])
        success = run.figure("attack_success_rate", *where)
        turned = f"; of its neutral answers {share_with_interval(success)} were turned"
        how = "the only one" if len(held) == 1 else f"the largest of {len(held)}"
        text = (
            f"The {kind} that changes accuracy most is {name}: {points(change.value)} points "
            f"({points_range(change.lower, change.upper)}), {how} of {len(slices)} to hold after "
            f"Holm's correction{turned if has_interval(success) else ''}."
        )
        link = pairs_link(*where, flagged="yes")
        yield Claim("flex", True, text, link, "Show the pairs that were turned")


def _direction(run: Run) -> Iterator[Claim]:
    share = run.figure("stereotyped_share_attacked", "overall")
    if not has_interval(share):
        return
    of = f"{share_with_interval(share)} of {counted(share.n, 'answer')} that chose a group"
    lean = "to" if share.lower > 0.5 else "against" if share.upper < 0.5 else ""
    if lean:
        text = f"Under attack the answers lean {lean} the stereotype: {of} went with it"
    else:
        text = (
            "Under attack no lean to or against the stereotype could be told from chance: "
            f"{of} went with it"
        )
    outcome = "antistereotyped" if lean == "against" else "stereotyped"
    link = pairs_link(outcome_attacked=outcome)
    yield Claim("flex", bool(lean), f"{text} (ideal 50 %).", link, f"Show the {outcome} ones")


def _surest(run: BoundaryRun) -> str:
    """The finding that rests on most, with its interval; "" where the file lists none."""
    for record in run.listed("findings"):
        if not isinstance(record, Mapping):
            continue
        lower, upper = (as_number(record.get(name)) for name in ("lower", "upper"))
        plus, of = (as_number(record.get(f"{name}_answers")) for name in ("leaning", "judged"))
        if of > 0 and not any(map(math.isnan, (lower, upper, plus))):
            title = short_title(str(record.get("title") or "a topic"))
            return (
                f"; most surely on {title}, where {plus:.0f} of {of:.0f} answers lean "
                f"({percent(plus / of)}, {percent_range(lower, upper)})"
            )
    return ""
