"""Rulings as JUnit XML, which continuous integration reads.

| ruling | element |
|---|---|
| pass | none |
| fail | `<failure>` |
| could not tell | `<error>`: the test did not come to a result |
| fail or could not tell, of a rule that only warns | `<skipped>` |
"""

from __future__ import annotations

import re
from xml.etree import ElementTree

from askew import __version__
from askew.report.gate.rule import Outcome
from askew.report.gate.ruling import Ruling, Verdict
from askew.report.gate.wording import interval, read

# What XML 1.0 cannot hold, escaped or not: most controls, surrogates, two noncharacters.
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ELEMENTS = {Outcome.FAIL: "failure", Outcome.CANNOT_TELL: "error"}
_COUNTED = {"failures": "failure", "errors": "error", "skipped": "skipped"}


def junit(verdict: Verdict) -> str:
    """The XML text: one suite a run, one case a ruling."""
    root = ElementTree.Element("testsuites", name="askew gate")
    for run, model in verdict.models.items():
        rulings = [one for one in verdict.rulings if one.run == run]
        suite = ElementTree.SubElement(root, "testsuite", name=legal(run))
        properties = ElementTree.SubElement(suite, "properties")
        for name, value in (("model", model), ("askew", __version__)):
            ElementTree.SubElement(properties, "property", name=name, value=legal(value))
        names = [_name(one) for one in rulings]
        for ruling, name in zip(rulings, names, strict=True):
            # Readers that go by the name would show one of two cases of the same.
            place = f" ({ruling.rule.place})" if names.count(name) > 1 else ""
            _case(suite, ruling, f"{name}{place}")
        _count(suite, len(rulings))
    _count(root, len(verdict.rulings))
    return _text(root)


def junit_of_error(message: str) -> str:
    """The XML text of a gate that could not be tried: one case, in error."""
    root = ElementTree.Element("testsuites", name="askew gate")
    suite = ElementTree.SubElement(root, "testsuite", name="askew gate")
    case = ElementTree.SubElement(suite, "testcase", name="askew gate", classname="askew.gate")
    case.set("time", "0")
    error = ElementTree.SubElement(case, "error", message=legal(message), type="error")
    error.text = legal(message)
    _count(suite, 1)
    _count(root, 1)
    return _text(root)


def legal(text: str) -> str:
    r"""The text without characters that XML cannot hold.

    >>> legal("a\x00b\x1b[31m")
    'ab[31m'
    """
    return _ILLEGAL.sub("", text)


def _name(ruling: Ruling) -> str:
    text = ruling.rule.text
    several = "*" in text or ruling.rule.subject.startswith("declared")
    return f"{text} ({ruling.path})" if several else text


def _case(suite: ElementTree.Element, ruling: Ruling, name: str) -> None:
    case = ElementTree.SubElement(
        suite, "testcase", name=legal(name), classname=legal(f"askew.gate.{ruling.run}"), time="0"
    )
    if ruling.outcome is not Outcome.PASS:
        element = _ELEMENTS[ruling.outcome] if ruling.counts else "skipped"
        found = ElementTree.SubElement(case, element, message=legal(ruling.reason))
        if ruling.counts:
            found.set("type", ruling.outcome.value)
        found.text = legal(told(ruling))
        return
    ElementTree.SubElement(case, "system-out").text = legal(told(ruling))


def told(ruling: Ruling) -> str:
    """Everything about a ruling, a line each."""
    lines = [
        f"outcome: {ruling.outcome}" + ("" if ruling.counts else " (warns only)"),
        f"rule: {ruling.rule.text}",
        f"figure: {ruling.path}",
    ]
    if ruling.estimate is not None:
        figure = ruling.estimate
        value = read(figure.value, unit=ruling.unit)
        lines.append(f"value: {value}, interval {interval(figure, unit=ruling.unit)}")
        lines.append(f"n: {figure.n}")
    else:
        lines.append(f"found: {read(ruling.found, unit=ruling.unit)}")
    lines.append(f"bound: {read(ruling.bound, unit=ruling.unit)}")
    lines.append(f"because: {ruling.reason}")
    if ruling.rule.why:
        lines.append(f"reason for the rule: {ruling.rule.why}")
    return "\n".join(lines)


def _count(element: ElementTree.Element, tests: int) -> None:
    element.set("tests", str(tests))
    for attribute, tag in _COUNTED.items():
        element.set(attribute, str(sum(1 for _ in element.iter(tag))))
    element.set("time", "0")


def _text(root: ElementTree.Element) -> str:
    ElementTree.indent(root)
    body = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n'
