"""Rulings as annotations of a GitHub workflow, which are commands that its runner reads.

The runner obeys any line that begins with `::`, whoever wrote it, so what a model, a data file or a
folder is called must never begin one.
"""

from __future__ import annotations

from collections.abc import Iterator

from askew.report.gate.rule import Outcome
from askew.report.gate.ruling import Ruling, Verdict
from askew.report.words import clean

# The order matters: the sign that escapes goes first.
_IN_MESSAGE = (("%", "%25"), ("\r", "%0D"), ("\n", "%0A"))
_IN_PROPERTY = (*_IN_MESSAGE, (":", "%3A"), (",", "%2C"))
_TITLES = {
    Outcome.FAIL: "fairness gate failed",
    Outcome.CANNOT_TELL: "fairness gate could not tell",
}


def harmless(text: str) -> str:
    r"""The text on one line that no workflow runner takes for a command.

    `::` at the beginning of a line and `##[` anywhere in it are commands. A text may come to stand
    at a beginning as a terminal wraps it, so they are parted wherever they stand.

    >>> harmless("a\n::error::b ##[group]")
    'a : :error: :b # #[group]'
    """
    flat = " ".join(clean(text).split())
    while "::" in flat:
        flat = flat.replace("::", ": :")
    return flat.replace("##[", "# #[")


def annotation_lines(verdict: Verdict) -> Iterator[str]:
    """One line for each ruling that did not pass: an error, or a warning where it does not count.

    >>> from askew.report.gate.ruling import Verdict
    >>> list(annotation_lines(Verdict(())))
    []
    """
    for ruling in verdict.rulings:
        if ruling.outcome is not Outcome.PASS:
            level = "error" if ruling.counts else "warning"
            yield command(level, f"{_TITLES[ruling.outcome]}: {ruling.run}", message(ruling))


def message(ruling: Ruling) -> str:
    """What an annotation says of a ruling."""
    why = f" Reason for the rule: {ruling.rule.why}" if ruling.rule.why else ""
    return f"{ruling.rule.text}: {ruling.reason}. ({ruling.path}){why}"


def command(level: str, title: str, text: str) -> str:
    r"""One workflow command; what it carries cannot end it or begin another.

    >>> command("error", "run: a,b", "50 %\n::warning::x")
    '::error title=run%3A a%2Cb::50 %25 : :warning: :x'
    """
    return (
        f"::{level} title={_escaped(harmless(title), _IN_PROPERTY)}::"
        f"{_escaped(harmless(text), _IN_MESSAGE)}"
    )


def _escaped(text: str, signs: tuple[tuple[str, str], ...]) -> str:
    for sign, written in signs:
        text = text.replace(sign, written)
    return text
