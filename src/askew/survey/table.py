"""The analysis as people read it: Table 4's layout, and below it what Table 4 leaves out."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from askew.records import Estimate
from askew.report.words import (
    UNDEFINED,
    counted,
    digits,
    label,
    p_equals,
    p_value,
    percent,
    percent_range,
)
from askew.stats.rates import Rate
from askew.survey.analysis import Analysis, ScenarioFigures
from askew.survey.records import NONE

_QUESTIONS = {
    "generative_ai": "Familiar with generative AI",
    "postgraduate": "Studying at postgraduate level",
    "clinician": "Health professional",
}
NOTE = (
    "* the questions differ in this attribute; elsewhere a detection is a false one. The paper "
    "tested one-sided (ours chosen more often) and called it a t-test; its printed p values are "
    "not those of its counts."
)


def table_4(analysis: Analysis) -> tuple[list[str], list[list[str]]]:
    """The head and the rows of Table 4, one column a scenario, with the exact tests."""
    columns = analysis.scenarios
    head = ["Scenario", *(one.id for one in columns)]
    rows = [
        [f"Chose {label(analysis.ours)} (%)", *(_percent(one.chose_ours.value) for one in columns)],
        ["  95 % interval", *(_interval(one.chose_ours) for one in columns)],
        ["  choices", *(str(one.chose_ours.n) for one in columns)],
    ]
    if any(one.no_difference for one in columns):
        rows.append(["  no difference", *(str(one.no_difference) for one in columns)])
    rows.append(["Correct features", *map(_features, columns)])
    names = dict.fromkeys(name for one in columns for name in one.detected)
    rows += [
        [f"{label(name)} detection (%)", *(_detected(one, name) for one in columns)]
        for name in names
    ]
    rows += [
        ["P, one-sided (exact)", *(p_value(one.p_greater) for one in columns)],
        ["  after Holm", *(p_value(one.p_greater_holm) for one in columns)],
        ["P, two-sided (exact)", *(p_value(one.p_two_sided) for one in columns)],
        ["  after Holm", *(p_value(one.p_two_sided_holm) for one in columns)],
        ["Smallest share found (%)", *(_percent(one.smallest_share) for one in columns)],
    ]
    return head, rows


def lines(analysis: Analysis) -> Iterator[str]:
    """What stands below the table, line by line."""
    yield NOTE
    yield ""
    yield from _people(analysis)
    yield ""
    yield from _pooled(analysis)
    yield ""
    yield from _order(analysis)
    agreed = analysis.agreement
    yield (
        f"Agreement: {percent(agreed.choice_percent)} of pairs of raters chose alike (alpha "
        f"{_number(agreed.choice_alpha)}); {percent(agreed.noticed_percent)} on attributes (alpha "
        f"{_number(agreed.noticed_alpha)})."
    )
    if agreed.note:
        yield f"  {agreed.note}"
    yield ""
    yield "Attribute   noticed where it differs   noticed where it does not   beyond guessing"
    for one in analysis.detection:
        yield (
            f"{label(one.attribute):<12}{_share(one.hits):<27}{_share(one.false_alarms):<28}"
            f"{_number(one.beyond_guessing)}"
        )


def _people(analysis: Analysis) -> Iterator[str]:
    people = analysis.people
    links = ", ".join(f"{count} {status}" for status, count in people.by_status.items() if count)
    yield f"Raters: {links}."
    yield (
        f"Of the included, {people.complete} answered every scenario, {people.incomplete} did not "
        f"({people.silent} of them none). {counted(people.analysed, 'rater')} "
        f"{'is' if people.analysed == 1 else 'are'} analysed"
        f"{', complete ones only' if analysis.complete_only else ''}."
    )
    for question, answers in people.said.items():
        if any(answers.values()):
            yield f"  {_QUESTIONS.get(question, question)}: {counts(answers)}"


def counts(answers: Mapping[str, int]) -> str:
    """How often each answer was given.

    >>> counts({"yes": 14, "no": 1})
    '14 yes, 1 no'
    """
    return ", ".join(f"{count} {answer}" for answer, count in answers.items())


def _pooled(analysis: Analysis) -> Iterator[str]:
    pooled = analysis.pooled
    share = pooled.share_ours
    yield (
        f"All scenarios: {percent(share.value, 1)} of choices for {label(analysis.ours)} "
        f"({percent_range(share.lower, share.upper, 1)}; {share.method})."
    )
    yield (
        f"  Over raters, for these scenarios: {p_equals(pooled.p_over_raters)} (the smallest that "
        f"so many raters can give: {p_value(pooled.smallest_p_over_raters)})."
    )
    yield (
        f"  Over scenarios like these: {p_equals(pooled.p_over_scenarios)} (the smallest that so "
        f"many scenarios can give: {p_value(pooled.smallest_p_over_scenarios)})."
    )
    yield (
        f"  Raters with most choices for {label(analysis.ours)}: {_rate(pooled.majorities)}, exact "
        f"two-sided {p_equals(pooled.p_majorities)}."
    )


def _order(analysis: Analysis) -> Iterator[str]:
    order = analysis.order
    yield (
        f"Order: the left pair was chosen {_share(order.left_chosen)}, exact two-sided "
        f"{p_equals(order.p_two_sided)}. {label(analysis.ours)}: {_rate(order.ours_when_left)} on "
        f"the left, {_rate(order.ours_when_right)} on the right."
    )


def _percent(share: float) -> str:
    return UNDEFINED if math.isnan(share) else f"{share * 100:.1f}"


def _interval(figure: Estimate) -> str:
    if math.isnan(figure.lower):
        return UNDEFINED
    return f"{figure.lower * 100:.0f}–{figure.upper * 100:.0f}"


def _features(scenario: ScenarioFigures) -> str:
    if scenario.correct_features is None:
        return "not known"
    return ", ".join(map(label, scenario.correct_features)) or NONE


def _detected(scenario: ScenarioFigures, name: str) -> str:
    mark = "*" if name in (scenario.correct_features or ()) else ""
    return _percent(scenario.detected[name]) + mark


def _share(figure: Estimate) -> str:
    if math.isnan(figure.value):
        return UNDEFINED
    return f"{percent(figure.value)} ({percent_range(figure.lower, figure.upper)}) of {figure.n}"


def _rate(rate: Rate) -> str:
    return f"{rate.hits} of {rate.trials}"


def _number(value: float) -> str:
    return digits(value, 2)


def as_text(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of cells as aligned lines.

    >>> as_text([["a", "10"], ["long", "7"]])
    ['a     10', 'long  7']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
