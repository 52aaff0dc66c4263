"""One run, from a run file to a run folder that has its figures and its report."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from askew.errors import ConfigError, RunError
from askew.models.ledgerfile import audits_with_calls
from askew.run.audit import module_of
from askew.run.common import default_folder, writing_to
from askew.run.flex import (
    ASSUMED_SECONDS_A_REPLY,
    TIMED_CALLS,
    Duration,
    Prepared,
    duration,
    execute,
    plan,
    prepare,
)
from askew.runfile import Audit, RunFile, read_run_file
from askew.runfolder import RunFolder, refuse_purged

__all__ = [
    "ASSUMED_SECONDS_A_REPLY",
    "TIMED_CALLS",
    "Duration",
    "Prepared",
    "default_folder",
    "duration",
    "execute",
    "plan",
    "prepare",
    "rescore",
]


def rescore(path: Path, changes: Mapping[str, object] | None = None) -> RunFolder:
    """Read the recorded replies of a run again, by its audits' rules; asks no model.

    Of several audits those are read that were begun. Nothing is written unless all can be read.

    Args:
        path: the run folder.
        changes: settings to read the replies by, e.g. {"flex.non_answers": "wrong"}.

    Raises:
        ConfigError: a change is no setting, or its value is none that it takes.
        RunError: a change would need other questions than were asked, or is of an audit that was
            not begun; or nothing was asked yet; or another process has the folder.
    """
    folder = RunFolder.open(path)
    refuse_purged(path)
    with writing_to(folder):
        return _rescore(folder, changes or {})


def _rescore(folder: RunFolder, changes: Mapping[str, object]) -> RunFolder:
    before, path = read_run_file(folder.settings), folder.path
    audits = before.audits
    if len(audits) == 1:
        module_of(audits[0]).rescore(path, changes)
        return folder
    own: dict[Audit, dict[str, object]] = {audit: {} for audit in audits}
    for key, value in changes.items():
        audit = next((one for one in audits if key.partition(".")[0] == one), None)
        if audit is None:
            raise ConfigError(
                f"{key} is no setting by which a part of this run is read. Begin it with "
                f"{' or '.join(f'{name}.' for name in audits)}."
            )
        own[audit][key] = value
    begun = _begun(folder, audits)
    _check_readable(folder, before, begun, own)
    for audit in begun:
        module_of(audit).rescore(path, own[audit])
    return folder


def _begun(folder: RunFolder, audits: tuple[Audit, ...]) -> list[Audit]:
    """The audits that have figures, or calls from which they can be made.

    Raises:
        RunError: there are none.
    """
    figures = folder.read_estimates() if folder.estimates.is_file() else {}
    called = audits_with_calls(folder.database)
    begun = [audit for audit in audits if audit in figures or audit in called]
    if not begun:
        raise RunError(
            f"{folder.path}: nothing was asked yet. Start it with `askew run {folder.settings}`."
        )
    return begun


def _check_readable(
    folder: RunFolder,
    before: RunFile,
    begun: list[Audit],
    changes: Mapping[Audit, Mapping[str, object]],
) -> None:
    """Refuse a change before a part is written.

    Raises:
        ConfigError: a change is no setting, or its value is none that it takes.
        RunError: a change is of an audit that was not begun, or would need other questions; or the
            tests of a search were not written down.
    """
    for audit, own in changes.items():
        if audit not in begun and own:
            raise RunError(
                f"{folder.path}: {', '.join(own)}: the {audit} audit was not begun, so that there "
                f"is nothing to read again. Run it with `askew run {folder.settings} --only "
                f"{audit}`."
            )
        if audit not in begun:
            continue
        after = read_run_file(folder.settings, own)
        if _asked_by(audit, after) != _asked_by(audit, before):
            raise RunError(
                f"{folder.path}: {', '.join(own)} would change what is asked, not how the replies "
                "are read. Start another run with `askew run`."
            )
    if "boundary" in begun:
        module_of("boundary").kept_tests(folder)


def _asked_by(audit: Audit, run: RunFile) -> object:
    """What decides what an audit of a run asks."""
    part = run.part(audit).settled()
    return module_of(audit).asked_by(part) if audit == "boundary" else part.questions_key()
