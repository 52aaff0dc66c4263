"""One run, from a run file to a run folder that has its figures and its report."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from askew.errors import ConfigError
from askew.run.audit import module_of
from askew.run.common import default_folder
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
from askew.runfile import read_run_file
from askew.runfolder import RunFolder

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

    Args:
        path: the run folder.
        changes: settings to read the replies by, e.g. {"flex.non_answers": "wrong"}.

    Raises:
        ConfigError: a change is no setting, or its value is none that it takes.
        RunError: a change would need other questions than were asked.
    """
    audits = read_run_file(RunFolder.open(path).settings).audits
    changes = changes or {}
    for key in changes:
        if len(audits) > 1 and key.partition(".")[0] not in audits:
            raise ConfigError(
                f"{key} is no setting by which a part of this run is read. Begin it with "
                f"{' or '.join(f'{name}.' for name in audits)}."
            )
    folder = RunFolder.open(path)
    for audit in audits:
        own = {key: one for key, one in changes.items() if key.partition(".")[0] == audit}
        module_of(audit).rescore(path, own if len(audits) > 1 else changes)
    return folder
