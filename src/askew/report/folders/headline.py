"""What stands for a run in one line of a list: a figure with its interval, or why there is none."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from askew.models.budget import NANOS
from askew.records import Estimate
from askew.report.boundary_run import BoundaryRun
from askew.report.clinical_run import CANNOT_TELL, DIFFERENCE, ClinicalRun
from askew.report.clinical_summary import by_verdict, strongest
from askew.report.clinical_words import amount, contrast_words, interval
from askew.report.estimates import Run, as_number
from askew.report.which_audit import Audit, parts_of
from askew.report.words import UNDEFINED, counted, share_with_interval


@dataclass(frozen=True, slots=True)
class Headline:
    """One audit's figure for lists.

    Attributes:
        audit: whose.
        title: what the figure is: "ASR".
        text: the figure with its interval as people read it, or a dash and the reason.
        estimate: the same in numbers; not defined where there is none.
        meaningful: False where the model was not fit to be measured; None where that is not known.
    """

    audit: Audit
    title: str
    text: str
    estimate: Estimate
    meaningful: bool | None = None


def headlines(estimates: Mapping[str, object]) -> tuple[Headline, ...]:
    """One for each audit of a run's figures, in the order of the audits."""
    made = {"flex": _flex, "clinical": _clinical, "boundary": _boundary}
    return tuple(made[audit](part) for audit, part in figures_of(estimates).items())


def figures_of(estimates: Mapping[str, object]) -> dict[Audit, Mapping[str, object]]:
    """The figures of each audit that has some, each as in a run that holds no other."""
    parts = parts_of(estimates).items()
    return {audit: part for audit, part in parts if isinstance(part.get(audit), Mapping)}


def lacking(estimates: Mapping[str, object], audits: Sequence[Audit]) -> str:
    """What an ended run still lacks, in a clause; "" where it lacks nothing.

    Args:
        estimates: its figures.
        audits: that it is to hold.
    """
    return "; ".join(_lacking(estimates, audits))


def _lacking(estimates: Mapping[str, object], audits: Sequence[Audit]) -> Iterator[str]:
    figures = figures_of(estimates)
    for audit in audits:
        if audit not in figures:
            yield f"no figures of {audit}"
            continue
        whose = f"{audit}: " if len(audits) > 1 else ""
        part = figures[audit]
        calls = part.get("calls")
        stopped = calls.get("stopped") if isinstance(calls, Mapping) else None
        if stopped:
            yield f"{whose}stopped ({stopped})"
        missing, what = _missing(audit, part)
        if missing:
            yield f"{whose}{counted(missing, what)} missing"


def _missing(audit: Audit, part: Mapping[str, object]) -> tuple[int, str]:
    if audit == "flex":
        return Run("", part).missing, "pair"
    if audit == "clinical":
        return ClinicalRun("", part).missing, "answer"
    return 0, "topic"  # a search has no set number of tests: it may end early on purpose


def _flex(estimates: Mapping[str, object]) -> Headline:
    run = Run("", estimates)
    figure = run.figure("attack_success_rate", "overall")
    unfit = "not meaningful: " if run.meaningful is False else ""
    text = f"{unfit}{share_with_interval(figure)}"
    return Headline("flex", "ASR", text, figure, run.meaningful)


def _clinical(estimates: Mapping[str, object]) -> Headline:
    run = ClinicalRun("", estimates)
    found = by_verdict(run.declared())
    number = sum(len(group) for group in found.values())
    differ = strongest(found.get(DIFFERENCE, []))
    unfit = "not meaningful: " if run.meaningful is False else ""
    if not number:
        return Headline(
            "clinical", "Differences", f"{unfit}{UNDEFINED}", run.figure(), run.meaningful
        )
    open_ = len(found.get(CANNOT_TELL, []))
    text = f"{unfit}{len(differ)} of {counted(number, 'comparison')} differ"
    if differ:
        first = differ[0]
        said = amount(first.estimate.value, first.endpoint)
        ends = interval(first.estimate, first.endpoint)
        within = f" ({ends})" if ends else ""
        text += f"; most: {contrast_words(first)}, {first.endpoint.title} {said}{within}"
    elif open_:
        text += f", {open_} cannot be told"
    estimate = differ[0].estimate if differ else run.figure()
    return Headline("clinical", "Differences", text, estimate, run.meaningful)


def _boundary(estimates: Mapping[str, object]) -> Headline:
    run = BoundaryRun("", estimates)
    # Of uniform draws alone: a search looks where it expects to find, so its own share is no rate.
    figure = run.figure("uniform_share")
    text = f"{run.leaning} of {counted(run.judged, 'judged topic')} lean"
    if figure.defined:
        text += f"; of all topics {share_with_interval(figure)}"
    return Headline("boundary", "Leaning", text, figure)


def money_text(money: float | None) -> str:
    """An amount, in the currency of `prices.toml`.

    >>> money_text(None), money_text(0.00042), money_text(12.5)
    ('–', '0.00042', '12.50')
    """
    if money is None:
        return UNDEFINED
    return f"{money:.2f}" if money >= 1 or money == 0 else f"{money:.2g}"


def spent(estimates: Mapping[str, object]) -> float | None:
    """What the calls cost by `estimates.json`; None where it does not say or a price is missing."""
    found: list[float] = []
    for part in figures_of(estimates).values():
        calls = part.get("calls")
        by_role = calls.get("spent") if isinstance(calls, Mapping) else None
        if not isinstance(by_role, Mapping) or not by_role:
            return None
        costs = [cost for cost in by_role.values() if isinstance(cost, Mapping)]
        found += [as_number(cost.get("nanos")) for cost in costs]
    total = sum(found) / NANOS
    return total if found and math.isfinite(total) else None
