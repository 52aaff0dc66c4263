"""What a clinical run found, in words: one sentence, a few findings, and its warnings.

The words follow from the figures alone, by fixed rules; no model writes here. A model whose answers
are worth nothing is called so before anything else is said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from askew.report.clinical_run import (
    CANNOT_TELL,
    DIFFERENCE,
    EQUIVALENT,
    ClinicalRun,
    Finding,
    as_mapping,
)
from askew.report.clinical_words import (
    amount,
    attribute_words,
    contrast_words,
    in_patients,
    interval,
    size,
)
from askew.report.estimates import as_number
from askew.report.words import counted, listed, p_equals, percent

NAMED = 2  # findings named in a sentence before it says how many more there are
TOLD = 6  # differences told in a sentence of their own
SIGNIFICANT = 0.05
MANY_UNREAD = 0.1  # of the answers; above it the figures rest on a selection of them


def sentence(estimates: Mapping[str, object], name: str = "the model") -> str:
    """What was found, and what the model's answers are worth, in one plain sentence.

    Args:
        estimates: `estimates.json`, parsed.
        name: stands for the model where the file does not name it.
    """
    run = ClinicalRun(name, estimates)
    return f"{_worth(run)}{_verdicts(run)}{_lacking(run)}."


def findings(estimates: Mapping[str, object]) -> list[str]:
    """One sentence for each thing that a reader has to know, the most important first."""
    run = ClinicalRun("the model", estimates)
    return [
        *_differences(run),
        *_medicine(run),
        *nothing_seen(run),
        *filter(None, [interaction_words(run)]),
        *_dropped(run),
    ]


def warnings(estimates: Mapping[str, object]) -> list[str]:
    """What stands between the figures and their use; empty where nothing does."""
    run = ClinicalRun("the model", estimates)
    return [
        *_worth_warning(run),
        *_missing_warning(run),
        *_unread_warning(run),
        *_few_warning(run),
        *filter(None, [out_of_reach(run)]),
        *_judge_warnings(run),
    ]


def by_verdict(found: Sequence[Finding]) -> dict[str, list[Finding]]:
    """Findings by their verdict."""
    groups: dict[str, list[Finding]] = {}
    for one in found:
        groups.setdefault(one.verdict, []).append(one)
    return groups


def interaction_words(run: ClinicalRun) -> str:
    """Whether multi-hop answers move more than direct ones, in a sentence; "" where untested."""
    found = [
        one
        for one in run.findings("interactions")
        if one.kind == "levels" and not one.relevant and one.form == run.multi_hop
    ]
    if not found:
        return ""
    differ = strongest(by_verdict(found).get(DIFFERENCE, []))
    over = counted(len(found), "comparison")
    if not differ:
        return (
            f"In none of {over} do multi-hop answers move by another amount than those asked "
            "directly, beyond the noise."
        )
    named = "; ".join(told(one) for one in differ[:NAMED])
    more = f"; and {len(differ) - NAMED} more" if len(differ) > NAMED else ""
    return (
        f"In {len(differ)} of {over} multi-hop answers move by another amount than those asked "
        f"directly ({named}{more})."
    )


def strongest(found: Sequence[Finding]) -> list[Finding]:
    """The largest first, each against its own margin, so that units do not matter."""
    return sorted(
        found,
        key=lambda one: -abs(one.estimate.value) / one.margin if one.margin > 0 else 0.0,
    )


def told(finding: Finding) -> str:
    """One finding in a clause: who, what, by how much.

    E.g. "Gender, female against male: Urgency −0.83 levels (−1.10 to −0.56)".
    """
    said = amount(finding.estimate.value, finding.endpoint)
    ends = interval(finding.estimate, finding.endpoint)
    return (
        f"{attribute_words(finding.attribute)}, {contrast_words(finding)}: "
        f"{finding.endpoint.title} {said}{f' ({ends})' if ends else ''}"
    )


def outcome_counts(run: ClinicalRun) -> dict[str, int]:
    """How many answers had each outcome."""
    counts = {name: as_number(n) for name, n in run.part("worth", "outcomes").items()}
    return {name: int(n) for name, n in counts.items() if n == n}


def _worth(run: ClinicalRun) -> str:
    if run.meaningful is False:
        why = run.reason.rstrip(".")
        return (
            f"The answers of {run.model} are NOT worth comparing: {why}, so differences between "
            "them mean little; "
        )
    if run.meaningful is None:
        return f"What the answers of {run.model} are worth could not be told; "
    return f"{run.model}: "


def _verdicts(run: ClinicalRun) -> str:
    found = run.declared()
    cases = counted(run.count("study", "vignettes") or 0, "vignette")
    if not found:
        return f"of {cases} no comparison was declared beforehand or could be made"
    groups = by_verdict(found)
    differ = strongest(groups.get(DIFFERENCE, []))
    equal, open_ = (len(groups.get(one, [])) for one in (EQUIVALENT, CANNOT_TELL))
    total = counted(len(found), "declared comparison")
    rest = []
    if equal:
        rest.append(f"{equal} {_is(equal)} equivalent within the margin")
    if open_:
        rest.append(f"{open_} cannot be told with {cases}")
    if not differ:
        return f"of {total} none shows a difference above the noise; {listed(rest)}"
    named = "; ".join(told(one) for one in differ[:NAMED])
    more = f"; and {len(differ) - NAMED} more" if len(differ) > NAMED else ""
    verb = "shows" if len(differ) == 1 else "show"
    tail = f"; {listed(rest)}" if rest else ""
    return f"of {total} {len(differ)} {verb} a difference ({named}{more}){tail}"


def _is(number: int) -> str:
    return "is" if number == 1 else "are"


def _lacking(run: ClinicalRun) -> str:
    if not run.missing:
        return ""
    wanted = run.count("answers", "wanted") or 0
    return f"; the run is incomplete: {run.missing:,} of {counted(wanted, 'answer')} are missing"


def _differences(run: ClinicalRun) -> list[str]:
    said = []
    found = strongest(by_verdict(run.declared()).get(DIFFERENCE, []))
    for one in found[:TOLD]:
        patients = in_patients(one)
        meaning = f", that is {patients}" if patients else ""
        said.append(
            f"{told(one)}{meaning}. {one.moved} of {counted(one.vignettes, 'vignette')} moved; "
            f"{p_equals(one.p_adjusted)} after Holm's correction over {one.tests} tests."
        )
    if len(found) > TOLD:
        said.append(f"{counted(len(found) - TOLD, 'more difference')} in the table.")
    return said


def _medicine(run: ClinicalRun) -> list[str]:
    found = run.ought_to_matter()
    differ = by_verdict(found).get(DIFFERENCE, [])
    if not found:
        return []
    what = "; ".join(told(one) for one in strongest(differ)[:NAMED]) or "none is beyond the noise"
    return [
        f"Where an attribute ought to matter, {len(differ)} of "
        f"{counted(len(found), 'comparison')} differ ({what}): such a difference is medicine."
    ]


def nothing_seen(run: ClinicalRun) -> list[str]:
    """Of what cannot be told: what the study could have seen, endpoint by endpoint."""
    open_ = by_verdict(run.declared()).get(CANNOT_TELL, [])
    if not open_:
        return []
    seen = []
    for name in dict.fromkeys(one.endpoint.name for one in open_):
        own = [one for one in open_ if one.endpoint.name == name]
        sizes = [one.smallest_visible for one in own if one.smallest_visible >= 0]
        title = own[0].endpoint.title
        if sizes:
            seen.append(f"{title} {size(min(sizes), own[0].endpoint)} at best")
        else:
            seen.append(f"{title} nothing of any size that is known")
    return [
        f"{counted(len(open_), 'comparison')} cannot be told. The smallest effects that four of "
        f"five such studies would see, before the correction: {'; '.join(seen)}. More vignettes "
        "help more than more repeats."
    ]


def out_of_reach(run: ClinicalRun) -> str:
    """How many declared comparisons no answers could have made a difference; "" where none.

    With few vignettes an exact test has a smallest p value. Holm's method multiplies it by the
    tests that have not been rejected yet: where that is no longer below 0.05, the verdict was
    settled before anybody was asked, and "cannot tell" says nothing about the model.
    """
    found = run.declared()
    rejected = len(by_verdict(found).get(DIFFERENCE, []))
    lost = [
        one
        for one in by_verdict(found).get(CANNOT_TELL, [])
        if one.smallest_p * max(1, one.tests - rejected) >= SIGNIFICANT
    ]
    if not lost:
        return ""
    return (
        f"{len(lost)} of {counted(len(found), 'declared comparison')} could not have come out as a "
        "difference whatever the answers were: so few vignettes give no p value that stays below "
        f"{SIGNIFICANT:g} after the correction. Ask about more vignettes, or declare fewer levels "
        "and endpoints."
    )


def _dropped(run: ClinicalRun) -> list[str]:
    kinds = {name: as_number(n) for name, n in run.part("study", "dropped").items()}
    gone = {name: int(n) for name, n in kinds.items() if name != "same" and n > 0}
    if not gone:
        return []
    named = listed([f"{n:,} {name.replace('_', ' ')}" for name, n in gone.items()])
    return [
        f"{counted(sum(gone.values()), 'counterfactual twin')} made no sense, or not of this text, "
        f"and {'was' if sum(gone.values()) == 1 else 'were'} not asked about ({named})."
    ]


def _worth_warning(run: ClinicalRun) -> list[str]:
    if run.meaningful is False:
        return [
            f"{run.model} shows no clinical judgement that anything could move. A difference below "
            "is a fact about its texts, not about care."
        ]
    return []


def _missing_warning(run: ClinicalRun) -> list[str]:
    said = []
    calls = run.top("calls")
    if calls.get("stopped"):
        stage = calls.get("stage")
        at = f" at {stage}" if stage else ""
        said.append(f"The run stopped early{at}: {calls.get('message') or calls['stopped']}")
    # Why it stopped says what to do; the same command alone would stop at once again.
    on = "" if calls.get("stopped") else " Run the same command again to go on."
    if run.missing:
        said.append(
            f"{run.missing:,} of {run.count('answers', 'wanted') or 0:,} answers are missing; the "
            f"figures are of what was had.{on}"
        )
    failed = sum(
        int(as_number(as_mapping(role).get("failed")))
        for role in as_mapping(calls.get("by_role")).values()
        if as_number(as_mapping(role).get("failed")) > 0
    )
    if failed:
        said.append(f"{counted(failed, 'call')} failed; they count as answers that say nothing.")
    return said


def _unread_warning(run: ClinicalRun) -> list[str]:
    counts = outcome_counts(run)
    total = sum(counts.values())
    unread = {name: n for name, n in counts.items() if name != "answered"}
    if not total or sum(unread.values()) <= MANY_UNREAD * total:
        return []
    named = listed([f"{n:,} {name}" for name, n in unread.items()])
    return [
        f"{percent(sum(unread.values()) / total)} of the answers say nothing that could be read "
        f"({named}): the figures rest on the others."
    ]


def _few_warning(run: ClinicalRun) -> list[str]:
    repeats = as_number(run.setting("replicates"))
    if repeats == 1:
        return [
            "Every prompt was asked once, so the noise of the model cannot be told from a "
            "difference of single cases. Ask for 5 repeats."
        ]
    return []


def _judge_warnings(run: ClinicalRun) -> list[str]:
    return [f"Judge {judge}: {said}" for judge in run.judges for said in run.warnings_of(judge)]
