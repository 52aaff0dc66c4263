"""The evidence pack of a run: what it supports and what not, as an auditor files it.

Everything follows from the run folder, so the same folder gives the same bytes; no date of today,
no name of a machine. The figures are those of `estimates.json`; nothing is asked or computed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from askew import __version__
from askew.report import boundary_summary, clinical_summary, summary
from askew.report.boundary_run import BoundaryRun
from askew.report.clinical_run import CANNOT_TELL, ClinicalRun
from askew.report.filed.claims import AnyRun, claims_of, fit_of, run_of, unfit_because
from askew.report.filed.limits import limits, methods, not_this
from askew.report.filed.provenance import provenance_of
from askew.report.filed.records import (
    FORMAT,
    NOT_MEASURED,
    VERSION,
    AuditPart,
    Claim,
    EvidencePack,
)
from askew.report.filed.requirements import frameworks
from askew.report.gate.alias import boundary_missing
from askew.report.which_audit import AUDITS, Audit, audits_in, part_of, settings_of
from askew.report.words import counted, listed
from askew.runfolder import RunFolder

_TOLD = {"flex": summary, "clinical": clinical_summary, "boundary": boundary_summary}


def evidence_of(folder: RunFolder) -> EvidencePack:
    """The pack of a run, its files not yet bundled.

    Raises:
        RunError: the run has no figures yet, or cannot be read.
    """
    estimates = folder.read_estimates()
    name = folder.path.resolve().name
    model = str(estimates.get("model") or "the model")
    audits = audits_in(estimates)
    parts = {audit: part_of(estimates, audit) for audit in audits}
    claims = [claim for audit in audits for claim in claims_of(parts[audit], audit)]
    told = [_audit(audit, parts[audit]) for audit in audits]
    incomplete = _incomplete(folder, estimates, parts)
    altered = folder.verify() if (folder.path / "MANIFEST").is_file() else None
    return EvidencePack(
        format=FORMAT,
        version=VERSION,
        made_by=f"askew {__version__}",
        headline=" ".join(
            [
                *faults(told, incomplete, altered or []),
                f"Evidence pack of {model}, {_audits([*audits])}",
            ]
        ),
        run=name,
        model=model,
        complete=not incomplete,
        incomplete=incomplete,
        altered=altered,
        audits=told,
        claims=claims,
        not_told=[claim.statement for claim in claims if _is_open(claim)],
        limits=limits(*audits),
        not_this=not_this(),
        frameworks=frameworks(claims),
        provenance=provenance_of(folder, estimates),
        files=[],
    )


def with_unknown(pack: EvidencePack, *unknown: str) -> EvidencePack:
    """The pack with more that the run did not record."""
    origin = pack.provenance
    return replace(pack, provenance=replace(origin, unknown=[*origin.unknown, *unknown]))


def _is_open(claim: Claim) -> bool:
    return claim.standing == NOT_MEASURED or claim.tests.get("verdict") == CANNOT_TELL


def _audit(audit: Audit, part: Mapping[str, object]) -> AuditPart:
    run = run_of(part, audit)
    unfit = unfit_because(run)
    return AuditPart(
        audit=audit,
        fit=fit_of(run),
        sentence=_unfit_words(run, unfit) if unfit else _TOLD[audit].sentence(part),
        warnings=_TOLD[audit].warnings(part),
        methods=methods(audit),
        settings=dict(run.part("settings")),
    )


def _unfit_words(run: AnyRun, unfit: str) -> str:
    return f"{run.model}: {unfit}. No figure of this audit is a claim."


def faults(told: list[AuditPart], incomplete: list[str], altered: list[str]) -> list[str]:
    """What is wrong with a run, in sentences, as it stands before anything else is said."""
    said = []
    if incomplete:
        said.append(f"INCOMPLETE RUN: {'; '.join(incomplete)}.")
    if altered:
        said.append(f"ALTERED since the run ended: {'; '.join(altered)}.")
    if unfit := [part.audit for part in told if part.fit is False]:
        said.append(f"NOT FIT TO BE MEASURED in the {_audits(unfit)}: nothing is claimed of it.")
    return said


def _audits(names: list[Audit]) -> str:
    return f"{listed([*names])} {'audit' if len(names) == 1 else 'audits'}"


def _incomplete(
    folder: RunFolder,
    estimates: Mapping[str, object],
    parts: Mapping[Audit, Mapping[str, object]],
) -> list[str]:
    """What is missing of the run, in clauses; empty where it ended and nothing is."""
    settings = settings_of(folder)
    gone = [audit for audit in AUDITS if audit in settings and audit not in estimates]
    said = [f"the {audit} audit has no figures" for audit in gone]
    for audit, part in parts.items():
        said += [f"{audit}: {clause}" for clause in _lacking(run_of(part, audit))]
    if not (folder.path / "MANIFEST").is_file():
        said.append("there is no MANIFEST, so the run has not ended")
    return said


def _lacking(run: AnyRun) -> list[str]:
    calls = run.top("calls")
    said = []
    if stopped := calls.get("stopped"):
        said.append(f"it stopped before its end ({calls.get('message') or stopped})".rstrip("."))
    if isinstance(run, ClinicalRun):
        if run.missing:
            wanted = counted(run.count("answers", "wanted") or 0, "answer")
            said.append(f"{run.missing:,} of {wanted} are missing")
    elif isinstance(run, BoundaryRun):
        missing = boundary_missing({"boundary": run.part()})
        if not run.tested:
            said.append("no topic was tested")
        elif missing > 0:
            said.append(f"{counted(int(missing), 'topic')} that were to be tested were not")
    elif run.missing:
        said.append(f"{run.missing:,} of {counted(run.planned, 'planned pair')} lack a reply")
    return said
