"""What a gate found: in a sentence, as Markdown for a pipeline's page, and as JSON."""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import Any

from askew import __version__
from askew.report.gate.annotations import harmless
from askew.report.gate.caution import Conditions
from askew.report.gate.rule import Outcome
from askew.report.gate.ruling import Ruling, Verdict
from askew.report.gate.wording import interval, read
from askew.report.words import UNDEFINED, counted
from askew.runfolder import json_text

_SIGNS = {Outcome.PASS: "✅", Outcome.FAIL: "❌", Outcome.CANNOT_TELL: "❔"}
_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
_COLUMNS = (
    "",
    "Outcome",
    "Run",
    "Rule",
    "Found",
    "Interval",
    "n",
    "Because",
    "Reason for the rule",
)
_SAID = {
    Outcome.PASS: "The gate passed",
    Outcome.FAIL: "The gate failed",
    Outcome.CANNOT_TELL: "The gate could not tell",
}


def sentence(verdict: Verdict) -> str:
    """The outcome with its counts."""
    parts = [
        f"{verdict.number_of(outcome)} {word}"
        for outcome, word in (
            (Outcome.PASS, "passed"),
            (Outcome.FAIL, "failed"),
            (Outcome.CANNOT_TELL, "could not be told"),
        )
        if verdict.number_of(outcome)
    ]
    warned = sum(
        verdict.number_of(one, warnings=True) for one in (Outcome.FAIL, Outcome.CANNOT_TELL)
    )
    if warned:
        parts.append(counted(warned, "warning"))
    checks = sum(one.counts for one in verdict.rulings)
    return f"{_SAID[verdict.outcome]}: of {counted(checks, 'check')}, {', '.join(parts) or 'none'}."


def markdown(verdict: Verdict) -> str:
    """The rulings as a table of GitHub's Markdown, failures first, and the outcome above it."""
    order = (Outcome.FAIL, Outcome.CANNOT_TELL, Outcome.PASS)
    rulings = sorted(verdict.rulings, key=lambda one: (not one.counts, order.index(one.outcome)))
    models = ", ".join(
        f"{escaped(run)} ({escaped(model)})" if model else escaped(run)
        for run, model in verdict.models.items()
    )
    lines = [
        f"### {_SIGNS[verdict.outcome]} askew gate: {verdict.outcome}",
        "",
        f"{escaped(sentence(verdict))} {models}",
        "",
        f"| {' | '.join(_COLUMNS)} |",
        f"|{'---|' * len(_COLUMNS)}",
        *(f"| {' | '.join(_cells(one))} |" for one in rulings),
        "",
    ]
    return "\n".join(lines) + "\n"


def markdown_of_error(message: str) -> str:
    """What stands in a pipeline's page where the gate could not be tried."""
    return f"### ❗ askew gate: error\n\n{escaped(message)}\n\n"


def escaped(text: str) -> str:
    r"""The text as Markdown shows it literally: no tag, no link, no table's edge, on one line.

    >>> escaped("<b>[x](y)</b> | *a*")
    '\\<b\\>\\[x\\]\\(y\\)\\<\\/b\\> \\| \\*a\\*'
    """
    return _PUNCTUATION.sub(r"\\\1", harmless(text))


def _cells(ruling: Ruling) -> list[str]:
    figure = ruling.estimate
    outcome = str(ruling.outcome) if ruling.counts else f"{ruling.outcome} (warns only)"
    shown = read(ruling.found if figure is None else figure.value, unit=ruling.unit)
    return [
        _SIGNS[ruling.outcome] if ruling.counts or ruling.outcome is Outcome.PASS else "⚠️",
        outcome,
        escaped(ruling.run),
        f"{escaped(ruling.rule.text)}{_which(ruling)}",
        escaped(shown),
        "" if figure is None else escaped(interval(figure, unit=ruling.unit)),
        "" if figure is None else f"{figure.n:,}",
        escaped(ruling.reason),
        escaped(ruling.rule.why) or UNDEFINED,
    ]


def _which(ruling: Ruling) -> str:
    """Which of several figures it is, where the rule names several."""
    several = "*" in ruling.rule.subject or ruling.rule.subject.startswith("declared")
    return f"<br>{escaped(ruling.path)}" if several else ""


def as_json(verdict: Verdict, exit_code: int, terms: Conditions, baseline: str = "") -> str:
    """Everything for a program; null where undefined."""
    return json_text(
        {
            "askew": __version__,
            "outcome": verdict.outcome.value,
            "exit_code": exit_code,
            "sentence": sentence(verdict),
            "baseline": baseline or None,
            "conditions": asdict(terms),
            "runs": [{"run": run, "model": model} for run, model in verdict.models.items()],
            "rulings": [_json(one) for one in verdict.rulings],
        }
        # A workflow's runner takes "##[" for a command wherever it stands.
    ).replace("##[", "#\\u0023[")


def _json(ruling: Ruling) -> dict[str, Any]:
    return {
        "run": ruling.run,
        "rule": ruling.rule.text,
        "place": ruling.rule.place,
        "severity": ruling.rule.severity.value,
        "reason_for_the_rule": ruling.rule.why,
        "path": ruling.path,
        "outcome": ruling.outcome.value,
        "because": ruling.reason,
        "found": ruling.found,
        "bound": ruling.bound,
        "estimate": None if ruling.estimate is None else asdict(ruling.estimate),
    }
