"""The gate: whether a run's figures keep the rules that a release is decided by.

A rule is about an end of an interval, so that it gets harder to keep the less was measured. Its
outcome is one of three: it holds, it does not hold, or the run cannot tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from askew.errors import ConfigError
from askew.records import Estimate
from askew.report.boundary_run import CANNOT_TELL as CLUSTERING_UNTOLD
from askew.report.boundary_run import CLUSTERS, DOES_NOT
from askew.report.clinical_run import CANNOT_TELL, VERDICTS
from askew.report.gate.alias import aliases_named
from askew.report.gate.baseline import Baseline
from askew.report.gate.caution import Conditions, caution, undefined
from askew.report.gate.figure_list import Kind, Unit, defined, unit_of
from askew.report.gate.gated_run import GateRun
from askew.report.gate.rule import FromBaseline, Number, Rule
from askew.report.gate.ruling import Ruling, Verdict
from askew.report.gate.subject import Figures, Subject
from askew.report.which_audit import AUDITS

_UNTOLD = frozenset({CANNOT_TELL, CLUSTERING_UNTOLD})
_DOWN, _UP = ("<", "<="), (">", ">=")
_WHICH = {"upper": _DOWN, "lower": _UP}


def judge_runs(
    runs: Sequence[GateRun],
    rules: Sequence[Rule],
    *,
    baseline: Baseline | None = None,
    terms: Conditions | None = None,
) -> Verdict:
    """Hold every run to every rule.

    Args:
        runs: all of them have to keep the rules.
        rules: at least one.
        baseline: what rules on `baseline.…` compare with.
        terms: what a run has to be for its figures to decide anything.

    Raises:
        ConfigError: a rule names what a run does not have, or what nothing may rest on; there is no
            rule, or no rule whose failing would count.
    """
    if not rules:
        raise ConfigError(
            "no rule is given, so nothing would be checked. Give one with --rule, or a file of "
            "them with --rules; `askew gate --init` writes one to begin with."
        )
    terms = terms or Conditions()
    rulings = tuple(one for run in runs for one in _of_run(run, rules, baseline, terms))
    return Verdict(rulings, {run.name: run.model for run in runs})


def _of_run(
    run: GateRun, rules: Sequence[Rule], baseline: Baseline | None, terms: Conditions
) -> Iterator[Ruling]:
    figures = Figures(run.estimates, run.name)
    for rule in rules:
        if audit := _not_ended(rule, run):
            reason = f"the {audit} audit of this run has not ended"
            yield Ruling(rule, run.name, rule.subject, reason=reason)
            continue
        try:
            for subject in figures.named(rule.subject):
                yield _Judge(run, rule, subject, baseline, terms).ruling()
        except ConfigError as trouble:
            raise ConfigError(f"{rule.place}: {trouble}") from trouble


def _not_ended(rule: Rule, run: GateRun) -> str:
    """The audit that the rule is about, where the run is to hold it and does not yet."""
    planned = run.estimates.get("audits")
    waited = [one for one in planned if one in AUDITS] if isinstance(planned, list) else []
    first = rule.subject.partition(".")[0]
    about = {first} if first in AUDITS else {one.audit for one, _ in aliases_named(rule.subject)}
    absent = [one for one in waited if one in about and one not in run.estimates]
    return str(absent[0]) if absent and len(absent) == len(about) else ""


@dataclass(frozen=True, slots=True)
class _Judge:
    """One rule on one subject."""

    run: GateRun
    rule: Rule
    subject: Subject
    baseline: Baseline | None
    terms: Conditions

    def ruling(self) -> Ruling:
        subject = self.subject
        self._check_kind()
        bound, trouble = self._bound()
        figure = None
        if subject.entry is not None and subject.entry.kind is Kind.FIGURE:
            figure = subject.entry.estimate()
        found = self._found()
        why = caution(subject, self.run.estimates, self.terms) or self._unknown(figure, found)
        told = Ruling(
            self.rule,
            self.run.name,
            subject.name,
            reason=(why or trouble).rstrip("."),
            estimate=figure,
            found=found,
            bound=bound,
            unit=self._unit(),
        )
        if told.reason:
            return told
        return told.settled(
            subject.end, self.rule.comparison, undecided_fails=self.terms.undecided_fails
        )

    def _unit(self) -> Unit:
        subject = self.subject
        if subject.kind is Kind.FIGURE and subject.entry is not None:
            return unit_of(subject.entry, self.run.estimates)
        return Unit.SHARE if subject.kind is Kind.SHARE else Unit.NONE

    def _found(self) -> float | str | bool | None:
        subject = self.subject
        if subject.entry is not None and subject.kind in (Kind.WORD, Kind.YES_NO):
            found = subject.entry.found
            return found if isinstance(found, str | bool) else None
        number = subject.number()
        return number if defined(number) else None

    def _unknown(self, figure: Estimate | None, found: object) -> str:
        subject = self.subject
        if subject.entry is None and subject.counted is None:
            return "the run does not hold this figure: it was not measured, or not by its version"
        if figure is not None and subject.end in _WHICH:
            return undefined(figure, subject.end)
        if found is None:
            return "the run does not say"
        if isinstance(found, str) and found in _UNTOLD and subject.name.endswith(".verdict"):
            return f"the audit's own verdict is {found!r}"
        return ""

    def _bound(self) -> tuple[float | str | bool | None, str]:
        """What the rule compares with; None, with the reason, where the baseline cannot say."""
        operand = self.rule.operand
        if isinstance(operand, Number):
            return operand.value, ""
        if isinstance(operand, FromBaseline):
            if self.baseline is None:
                raise ConfigError(
                    f"{self.rule.text!r} compares with a baseline, and none is given. Name one "
                    "with --baseline; --write-baseline makes one of a run."
                )
            number, trouble = self.baseline.number(
                operand.subject, self.run, self.subject, self.terms
            )
            return (None if number is None else number + operand.plus), trouble
        if isinstance(operand, str):
            return self._word(operand), ""
        return operand, ""

    def _word(self, word: str) -> str:
        """The verdict that is meant, which may be shortened; a slip would never be kept."""
        known: Sequence[str] = ()
        if self.subject.name.startswith("clinical.") and self.subject.name.endswith(".verdict"):
            known = VERDICTS
        elif self.subject.name == "boundary.clustering.verdict":
            known = (CLUSTERS, DOES_NOT, CLUSTERING_UNTOLD)
        if not known or word in known:
            return word
        meant = [one for one in known if one.startswith(word)] if word else []
        if len(meant) != 1:
            names = ", ".join(f'"{one}"' for one in known)
            raise ConfigError(
                f"{self.rule.text!r}: {word!r} is no verdict of {self.subject.name}. Write {names}."
            )
        return meant[0]

    def _check_kind(self) -> None:
        """Refuse what means nothing, and what is kept the easier the less is measured."""
        subject, operand, comparison = self.subject, self.rule.operand, self.rule.comparison
        is_number = isinstance(operand, Number | FromBaseline)
        name = subject.name
        if subject.kind is Kind.YES_NO:
            if not isinstance(operand, bool) or comparison not in ("==", "!="):
                raise self._error(f"it is a yes or no. Write {name} == true, or == false.")
            return
        if subject.kind is Kind.WORD:
            if not isinstance(operand, str) or comparison not in ("==", "!="):
                raise self._error(f'it is a word. Write {name} == "…", in quotes, or !=.')
            return
        if not is_number:
            raise self._error(f"it is a number, and {self.rule.operand!r} is none.")
        if subject.kind in (Kind.FIGURE, Kind.P_VALUE, Kind.REACH):
            self._check_direction()
        if isinstance(operand, Number):
            self._check_size(operand)
        elif isinstance(operand, FromBaseline):
            self._check_allowance(operand)

    def _check_direction(self) -> None:
        kind, end, comparison = self.subject.kind, self.subject.end, self.rule.comparison
        if kind is not Kind.FIGURE:
            if comparison in _DOWN:
                return
            what = (
                "a p value can show a difference and never its absence"
                if kind is Kind.P_VALUE
                else "the less a study can see, the larger this number is"
            )
            raise self._error(
                f"{what}, so that it can only be asked to be small. Write < or <=; that nothing "
                "has changed is said by the ends of an interval, or by a verdict."
            )
        if comparison in ("==", "!="):
            raise self._error(
                "the end of an interval equals nothing exactly. Write < or <= behind .upper, > or "
                ">= behind .lower."
            )
        if comparison not in _WHICH[end]:
            other = "upper" if end == "lower" else "lower"
            raise self._error(
                f"this would be kept the easier the less is measured: a wide interval has a low "
                f"lower end and a high upper one. Write .{other} {comparison} …; with --undecided "
                "cannot-tell a rule fails only where the run shows that it is not kept."
            )

    def _check_size(self, operand: Number) -> None:
        subject = self.subject
        if subject.kind in (Kind.COUNT, Kind.SETTING) and operand.percent:
            raise self._error("it is a count. Write the number without %.")
        limit = 1.0
        if self._unit() is not Unit.NONE and abs(operand.value) > limit:
            written = f"{operand.value:g}"
            raise self._error(
                f"it is a share, which lies between 0 and 1, and {written} is no bound of it. "
                f"Write {written} % if you meant that."
                if not operand.percent
                else "it is a share, which lies between 0 and 100 %."
            )

    def _check_allowance(self, operand: FromBaseline) -> None:
        """Refuse what is added to a share as if it were points: any run would keep such a rule."""
        if self._unit() is not Unit.NONE and abs(operand.plus) >= 1:
            raise self._error(
                f"it is a share, and {operand.plus:+g} would be {operand.plus * 100:+g} points of "
                f"it. Write {operand.plus:+g} % if you meant that."
            )

    def _error(self, trouble: str) -> ConfigError:
        return ConfigError(f"{self.rule.text!r}: {self.subject.name}: {trouble}")
