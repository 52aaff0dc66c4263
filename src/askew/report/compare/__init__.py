"""Is the new version fairer? Runs held against a baseline, item by item."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path

from askew.errors import RunError
from askew.report.clinical_run import as_mapping
from askew.report.compare.boundary import compare_boundary
from askew.report.compare.clinical import compare_clinical
from askew.report.compare.flex import joined, left_over, paired
from askew.report.compare.flex_figures import coverage, flex_figures
from askew.report.compare.flex_flips import flex_flips
from askew.report.compare.records import (
    AuditComparison,
    ComparedRun,
    Comparison,
    RunComparison,
    SettingDifference,
)
from askew.report.compare.settings import audit_settings, audits_missing, shared_settings
from askew.report.compare.verdict import MARGIN, decide
from askew.report.items.redacted import redacted, redaction_of
from askew.report.which_audit import AUDITS, Audit, audits_in, settings_of
from askew.report.words import listed, percent
from askew.runfolder import RunFolder, write_whole

FLIPS = 25  # of each kind that are listed with their replies


class CannotCompare(RunError):
    """Two runs that have nothing in common, or were not asked or read alike."""


def compare(
    baseline: str | PathLike[str],
    *others: str | PathLike[str],
    margin: float = MARGIN,
    seed: int = 0,
    flips: int = FLIPS,
    anyway: bool = False,
) -> Comparison:
    """Hold runs against a baseline, each over the items that both have.

    Args:
        baseline: a run folder.
        others: run folders; at least one.
        margin: the largest difference of a share that would not matter, in (0, 1); clinical
            endpoints keep the margins that were declared for them.
        seed: of the bootstrap and of random permutations.
        flips: how many flipped items of each kind are listed with their replies.
        anyway: compare runs that were not asked or read alike; their figures then cannot tell which
            of the two made the difference, and the report says so.

    Raises:
        CannotCompare: the runs hold no audit in common, no item in common, or were not asked alike.
        RunError: a folder is no run, or cannot be read.
        ValueError: there is no other run, or a number is out of its range.
    """
    if not others:
        raise ValueError("name the baseline and at least one run to hold against it")
    if not 0 < margin < 1:
        raise ValueError(f"the margin is {margin}; give a share between 0 and 1, as 0.03")
    if flips < 0:
        raise ValueError(f"flips is {flips}; give 0 or more")
    opened = [_Opened(Path(path)) for path in (baseline, *others)]
    names = _names([one.folder.path for one in opened])
    runs = [one.described(name) for one, name in zip(opened, names, strict=True)]
    compared = [
        _against(opened[0], one, (runs[0], run), margin, seed, flips, anyway=anyway)
        for one, run in zip(opened[1:], runs[1:], strict=True)
    ]
    return Comparison(tuple(runs), decide(compared), margin, seed)


def write_comparison(
    folders: Sequence[RunFolder],
    out: Path,
    *,
    margin: float = MARGIN,
    anyway: bool = False,
) -> Path:
    """Write the page of a comparison; the first folder is the baseline.

    Raises:
        CannotCompare: see `compare`.
        RunError: a run cannot be read, or the page cannot be written.
    """
    paths = [folder.path for folder in folders]
    return write_page(compare(*paths, margin=margin, anyway=anyway), out)


def write_page(comparison: Comparison, out: Path) -> Path:
    """Write the page of a comparison that was made.

    Raises:
        RunError: the page cannot be written.
    """
    from askew.report.compare.page import page_text

    write_whole(out, page_text(comparison, out))
    return out


class _Opened:
    """A run folder with what its files say."""

    def __init__(self, path: Path) -> None:
        self.folder = RunFolder.open(path)
        self.settings = settings_of(self.folder)
        self.estimates: Mapping[str, object] = {}
        # A run that has not ended has outcomes all the same.
        if self.folder.estimates.is_file():
            self.estimates = self.folder.read_estimates()
        told = any(name in self.settings for name in AUDITS)
        self.audits = audits_in(self.settings if told else self.estimates)

    @property
    def model(self) -> str:
        """The target's name."""
        found = self.estimates.get("model")
        target = as_mapping(as_mapping(self.settings.get("models")).get("target"))
        return str(found or target.get("name") or self.folder.path.name or "the model")

    def described(self, name: str) -> ComparedRun:
        """The run as the comparison names it."""
        return ComparedRun(name, str(self.folder.path), self.model, self.audits)

    def table(self, audit: Audit) -> Mapping[str, object]:
        """The audit's settings: of `run.toml`, else as the figures have them."""
        own = as_mapping(self.settings.get(audit))
        return own or as_mapping(as_mapping(self.estimates.get(audit)).get("settings"))

    def unfit(self, audit: Audit) -> str:
        """Why the model was not fit to be measured; "" where it was, or where that is unknown."""
        gate = {"flex": "fit", "clinical": "worth"}.get(audit, "")
        found = as_mapping(as_mapping(self.estimates.get(audit)).get(gate))
        if found.get("meaningful") is not False:
            return ""
        reason = str(found.get("reason") or "no reason given")
        return f"{self.model} was not fit to be measured: {reason.rstrip('.')}"


def _names(paths: Sequence[Path]) -> list[str]:
    """The folders' names; whole paths where two share one."""
    names = [path.resolve().name for path in paths]
    return [
        str(path) if names.count(name) > 1 else name
        for path, name in zip(paths, names, strict=True)
    ]


def _against(
    baseline: _Opened,
    other: _Opened,
    runs: tuple[ComparedRun, ComparedRun],
    margin: float,
    seed: int,
    flips: int,
    *,
    anyway: bool,
) -> RunComparison:
    both = [audit for audit in baseline.audits if audit in other.audits]
    missing = audits_missing(baseline.audits, other.audits)
    if not both:
        raise CannotCompare(
            f"{runs[0].path} holds {listed(baseline.audits)}, {runs[1].path} "
            f"{listed(other.audits)}: no audit is in both. Compare runs of one audit."
        )
    found = []
    for audit in both:
        tables = baseline.table(audit), other.table(audit)
        settings = audit_settings(
            audit,
            {**baseline.settings, audit: tables[0]},
            {**other.settings, audit: tables[1]},
        )
        if not anyway:
            _refuse(settings, runs)
        compared = _compared(audit, baseline, other, settings, tables, margin, seed, flips)
        for run in (baseline, other):
            shown = redacted(compared.flips, redaction_of(run.folder))
            compared = replace(compared, flips=shown)
        found.append(_with_objections(compared, baseline, other, margin))
    if not any(audit.paired for audit in found):
        whole = "; ".join(
            f"{left.count:,} {left.what} in {_WHERE[left.where]}: {left.why}"
            for audit in found
            for left in audit.left
        )
        raise CannotCompare(
            f"{runs[0].path} and {runs[1].path} have nothing in common that could be paired. "
            f"{whole or 'Neither has asked anything'}. Compare runs over the same data."
        )
    shared = shared_settings(baseline.settings, other.settings)
    return RunComparison(runs[0], runs[1], tuple(found), shared, missing)


_WHERE = {"baseline": "the baseline alone", "other": "the other run alone", "both": "both"}


def _refuse(settings: Sequence[SettingDifference], runs: tuple[ComparedRun, ComparedRun]) -> None:
    refused = [one for one in settings if one.weight == "refused"]
    if refused:
        named = "; ".join(f"{one.name} is {one.baseline} against {one.other}" for one in refused)
        raise CannotCompare(
            f"{runs[0].path} and {runs[1].path} were not asked or read alike: {named}. Run one of "
            "them again with the other's settings, or compare them all the same with --anyway."
        )


def _compared(
    audit: Audit,
    baseline: _Opened,
    other: _Opened,
    settings: tuple[SettingDifference, ...],
    tables: tuple[Mapping[str, object], Mapping[str, object]],
    margin: float,
    seed: int,
    flips: int,
) -> AuditComparison:
    folders = baseline.folder, other.folder
    if audit == "clinical":
        return compare_clinical(*folders, settings, tables, margin=margin, seed=seed, limit=flips)
    if audit == "boundary":
        return compare_boundary(*folders, settings, margin=margin, seed=seed, limit=flips)
    with joined(*folders) as database:
        pairs = paired(database)
        wrong = all(table.get("non_answers") == "wrong" for table in tables)
        return AuditComparison(
            audit="flex",
            unit="pairs",
            paired=len(pairs),
            items=pairs.items,
            left=left_over(database),
            settings=settings,
            figures=flex_figures(pairs, "wrong" if wrong else "left_out", margin, seed),
            flips=flex_flips(database, flips),
            objection="",
            cautions=(),
            coverage=coverage(pairs),
        )


def _with_objections(
    audit: AuditComparison, baseline: _Opened, other: _Opened, margin: float
) -> AuditComparison:
    """The comparison with what speaks against telling anything from it."""
    found = [why for one in (baseline, other) if (why := one.unfit(audit.audit))]
    apart = abs(audit.coverage[0] - audit.coverage[1])
    if not math.isnan(apart) and apart > margin:
        found.append(
            f"the baseline answered {percent(audit.coverage[0])} of the shared {audit.unit}, the "
            f"other run {percent(audit.coverage[1])}: what was left unanswered could make a "
            "difference of more than the margin"
        )
    asked = [one.name for one in audit.settings if one.weight == "refused"]
    if asked:
        found.append(f"the runs were not asked or read alike ({listed(asked)})")
    warned = [one for one in audit.settings if one.weight == "warning"]
    cautions = [
        f"{one.name} differs: {one.baseline} in the baseline, {one.other} in the other run"
        for one in warned
    ]
    return replace(
        audit, objection="; ".join(dict.fromkeys(found)), cautions=(*audit.cautions, *cautions)
    )
