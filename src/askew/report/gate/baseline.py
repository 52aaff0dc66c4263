"""What a run is compared with: another run, or a small file of its figures kept under review."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from askew import __version__
from askew.errors import ConfigError, RunError
from askew.report.gate.alias import ALIASES, prefixes
from askew.report.gate.caution import Conditions, caution
from askew.report.gate.figure_list import ANY, Entry, Kind, entries
from askew.report.gate.gated_run import GateRun, differences, protocol, read_json, read_run
from askew.report.gate.rule import FromBaseline, Rule
from askew.report.gate.subject import Figures, Subject
from askew.report.which_audit import AUDITS, Audit, audits_in, part_of
from askew.runfolder import json_text, write_whole

FORM = 1  # of the file
_MARK = "askew_baseline"
# Beside the figures: what says whether these may be relied upon, and how much they rest on.
_ALWAYS = (
    ("flex", "fit"),
    ("flex", "missing_pairs"),
    ("flex", "pairs", "overall"),
    ("flex", "outcomes_attacked", "overall"),
    ("clinical", "worth"),
    ("clinical", "answers"),
    ("clinical", "endpoints"),
    ("boundary", "topics"),
    ("boundary", "leaning_share"),
    ("boundary", "settings", "queries"),
)
_CATEGORIES = ("attack_success_rate", "source_accuracy", "flex_accuracy", "accuracy_change")


@dataclass(frozen=True, slots=True)
class Baseline:
    """Figures to compare with.

    Attributes:
        name: as it is shown: the file's or the run's.
        estimates: in the form of `estimates.json`; of a file, some of them.
        protocols: audit -> what was asked, as `gate_run.protocol` gives it.
        folder: the run folder, where it is one.
        about: what else the file says: model, date, version, checksums.
    """

    name: str
    estimates: Mapping[str, Any]
    protocols: Mapping[str, Mapping[str, Any]]
    folder: Path | None = None
    about: Mapping[str, Any] = field(default_factory=dict)

    @property
    def model(self) -> str:
        """The target's name; "" where the file does not say."""
        return str(self.estimates.get("model") or "")

    def number(
        self, text: str, run: GateRun, ours: Subject, terms: Conditions
    ) -> tuple[float | None, str]:
        """A number of the baseline to hold `ours` against, or None and why it may not be.

        Raises:
            ConfigError: the baseline has no such figure, or `text` names no end of one.
        """
        if apart := self.differs(run, ours.audit):
            return None, apart
        try:
            subjects = Figures(self.estimates, f"the baseline {self.name}").named(text)
        except ConfigError as trouble:
            more = "" if self.folder else " Write the baseline again with --write-baseline."
            raise ConfigError(f"{trouble}{more}") from trouble
        if ANY in text or len(subjects) != 1:
            raise ConfigError(
                f"baseline.{text} names {len(subjects)} figures. Name one of them in each rule."
            )
        (subject,) = subjects
        if subject.kind is not ours.kind:
            raise ConfigError(
                f"baseline.{text} is a {subject.kind}, and {ours.name} a {ours.kind}. Compare like "
                "with like."
            )
        why = caution(subject, self.estimates, terms)
        number = subject.number()
        if not why and not math.isfinite(number):
            why = "it is undefined there"
        return (
            (None, f"the baseline's {subject.name} decides nothing: {why}")
            if why
            else (
                number,
                "",
            )
        )

    def differs(self, run: GateRun, audit: str) -> str:
        """Why the run may not be compared with it: other questions were asked; "" where it may."""
        if audit not in AUDITS:
            return ""
        theirs = self.protocols.get(audit)
        if theirs is None:
            return f"the baseline {self.name} holds no {audit} audit"
        found = differences(protocol(run, audit), theirs)
        if not found:
            return ""
        more = f", and {len(found) - 3} more" if len(found) > 3 else ""
        return f"the baseline {self.name} was asked otherwise: {'; '.join(found[:3])}{more}"


def read_baseline(path: Path) -> Baseline:
    """The baseline in a file, or the run that stands for one.

    Raises:
        RunError: it is neither, or of a form that this version does not know.
    """
    if path.is_dir() or not path.exists():
        return as_baseline(read_run(path))
    found = read_json(path, "Name a run folder, or a file that --write-baseline has made.")
    if _MARK not in found:
        return as_baseline(read_run(path))
    if found[_MARK] != FORM:
        raise RunError(
            f"{path} is a baseline of form {found[_MARK]!r}, and this askew reads form {FORM}. "
            "Write it again with --write-baseline, or use the askew that wrote it."
        )
    estimates, protocols = found.get("figures"), found.get("protocol")
    if not isinstance(estimates, dict) or not isinstance(protocols, dict):
        raise RunError(
            f"{path} is damaged: a baseline holds `figures` and `protocol`. Take it from its "
            "history, or write it again with --write-baseline."
        )
    about = {key: value for key, value in found.items() if key not in ("figures", "protocol")}
    return Baseline(path.name, estimates, protocols, None, about)


def as_baseline(run: GateRun) -> Baseline:
    """A run as what another is compared with."""
    protocols: dict[str, Mapping[str, Any]] = {
        audit: protocol(run, audit) for audit in audits_in(run.estimates)
    }
    return Baseline(run.name, run.estimates, protocols, run.folder)


def write_baseline(path: Path, run: GateRun, rules: Sequence[Rule], today: date) -> int:
    """Write the run's main figures, and those that the rules name, for review and for later runs.

    Returns:
        How many figures with an interval the file holds.

    Raises:
        ConfigError: a rule names what the run does not have.
        RunError: the file cannot be written.
    """
    chosen = _chosen(run, rules)
    file = {
        _MARK: FORM,
        "askew": __version__,
        "written": today.isoformat(),
        "run": run.name,
        "model": run.model,
        "run_by_askew": run.estimates.get("askew"),
        "checksums": dict(run.checksums),
        "protocol": {audit: protocol(run, audit) for audit in audits_in(run.estimates)},
        "figures": {**_shared(run), **_tree(chosen)},
    }
    write_whole(path, json_text(file))
    return sum(entry.kind is Kind.FIGURE for entry in chosen)


def _shared(run: GateRun) -> dict[str, object]:
    """What stands beside the audits, and each audit's calls in so far as they tell of trouble."""
    audits = audits_in(run.estimates)
    calls = {audit: _stopped(run, audit) for audit in audits}
    kept = {key: run.estimates[key] for key in ("askew", "model", "seed") if key in run.estimates}
    return {**kept, "calls": calls if len(audits) > 1 else calls[audits[0]]}


def _stopped(run: GateRun, audit: Audit) -> dict[str, object]:
    calls = part_of(run.estimates, audit).get("calls")
    return {"stopped": calls.get("stopped") if isinstance(calls, Mapping) else None}


def _chosen(run: GateRun, rules: Sequence[Rule]) -> list[Entry]:
    figures = Figures(run.estimates, run.name)
    wanted = {*_ALWAYS}
    for alias in ALIASES:
        if alias.audit in run.estimates:
            places = prefixes(alias, run.estimates)
            wanted.update(places[:1] if alias.slices else places)
    wanted.update(("flex", figure, "category") for figure in _CATEGORIES)
    for rule in rules:
        texts = [rule.subject]
        if isinstance(rule.operand, FromBaseline):
            texts.append(rule.operand.subject)
        for subject in (one for text in texts for one in figures.named(text)):
            if subject.entry is not None:
                wanted.add(subject.entry.path)
                wanted.update(_coverage_of(subject.entry))
    return [
        entry
        for entry in entries(run.estimates)
        if any(entry.path[: len(place)] == place for place in wanted)
    ]


def _coverage_of(entry: Entry) -> Iterator[tuple[str, ...]]:
    """Where the coverage of a figure stands, without which it decides nothing."""
    match entry.path:
        case ("flex", _, *place):
            yield ("flex", "source_accuracy", *place)
        case ("boundary", "by_domain", domain, *_):
            yield ("boundary", "by_domain", domain, "leaning_share")
        case ("clinical", "effects" | "interactions", *_):
            yield (*entry.path[:-1], "estimate")


def _tree(chosen: Sequence[Entry]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for entry in chosen:
        branch = tree
        for name in entry.path[:-1]:
            branch = branch.setdefault(name, {})
        branch[entry.path[-1]] = entry.found
    return tree
