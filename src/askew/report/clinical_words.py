"""Comparisons and amounts of a clinical run in words that a ward understands."""

from __future__ import annotations

import math

from askew.records import Estimate
from askew.report.clinical_run import Endpoint, Finding
from askew.report.words import UNDEFINED, has_interval, label, points

_FORMS = {
    "direct": "asked directly",
    "single": "multi-hop, in one prompt",
    "chained": "multi-hop, in three calls",
}
_ATTRIBUTES = {"race": "Race or ethnicity"}
_SHORT_UNITS = {"share of answers": "", "share of pairs": "", "share of diagnoses": ""}


def form_words(form: str) -> str:
    """How answers were asked for.

    >>> form_words("single")
    'multi-hop, in one prompt'
    """
    return _FORMS.get(form, form)


def attribute_words(attribute: str) -> str:
    """An attribute, or several that were changed together.

    >>> attribute_words("race"), attribute_words("age+gender"), attribute_words("My own")
    ('Race or ethnicity', 'Age + gender', 'My own')
    """
    first, *more = [_ATTRIBUTES.get(name, label(name)) for name in attribute.split("+")]
    return " + ".join([first, *(name[:1].lower() + name[1:] for name in more)])


def contrast_words(finding: Finding) -> str:
    """Who is compared with whom."""
    return compared(finding.changed, finding.base)


def compared(changed: str, base: str) -> str:
    """Two levels, in words.

    >>> compared("female", "male"), compared("female", "neutral"), compared("changed", "original")
    ('female against male', 'female against not stated', 'changed against the original')
    """
    others = {"neutral": "not stated", "original": "the original"}
    return f"{changed} against {others.get(base, base)}"


def amount(value: float, endpoint: Endpoint) -> str:
    """A difference with its sign and unit: shares in percentage points.

    >>> share = Endpoint("opioid_offered", "Opioid offered", "binary", "share of answers", "", "")
    >>> amount(-0.23, share), amount(float("nan"), share)
    ('−23 points', '–')
    """
    if math.isnan(value):
        return UNDEFINED
    if endpoint.unit in _SHORT_UNITS:
        return f"{points(value, _places(value))} points"
    return f"{signed(value)} {endpoint.unit}".rstrip()


def size(value: float, endpoint: Endpoint) -> str:
    """The same without a sign: a margin, a noise floor, a smallest visible effect."""
    return amount(abs(value), endpoint).lstrip("+−")


def interval(estimate: Estimate, endpoint: Endpoint) -> str:
    """The interval of a difference, without its unit."""
    if not estimate.defined:
        return ""
    if not has_interval(estimate):
        return "no interval"
    ends = (estimate.lower, estimate.upper)
    if endpoint.unit in _SHORT_UNITS:
        return " to ".join(points(end, _places(end)) for end in ends)
    return " to ".join(signed(end) for end in ends)


def signed(value: float) -> str:
    """A number with its sign, in three digits.

    >>> signed(-0.83333), signed(0.0), signed(12.5)
    ('−0.83', '0', '+12.5')
    """
    if math.isnan(value):
        return UNDEFINED
    if value == 0:
        return "0"
    shown = f"{value:+.2f}" if abs(value) < 10 else f"{value:+.1f}"
    return shown.replace("-", "−")


def in_patients(finding: Finding) -> str:
    """What the excess means for a hundred patients; "" where it cannot be counted so.

    The mean difference is all that is said: for an ordinal endpoint it is put as if every patient
    had moved by one level, which is the same mean.
    """
    value, endpoint = finding.estimate.value, finding.endpoint
    if math.isnan(value):
        return ""
    patients = _patients(abs(value) * 100)
    if patients == "0":
        return ""
    if endpoint.is_share:
        return f"{patients} {'more' if value >= 0 else 'fewer'} in 100 patients"
    if endpoint.kind == "ordinal":
        way = "higher" if value >= 0 else "lower"
        return f"as if {patients} in 100 patients were rated one level {way}"
    return ""


def _patients(number: float) -> str:
    if number >= 0.95:
        return f"{number:.0f}"
    return f"{number:.1f}" if number >= 0.05 else "0"


def _places(value: float) -> int:
    return 0 if abs(value) >= 0.0995 else 1
