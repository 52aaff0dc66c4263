"""One run, from a run file to a run folder that has its figures and its report."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from askew.run import flex
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
    """Read the recorded replies of a run again, by its audit's rules; asks no model.

    Args:
        path: the run folder.
        changes: settings to read the replies by, e.g. {"flex.non_answers": "wrong"}.

    Raises:
        ConfigError: a change is no setting, or its value is none that it takes.
        RunError: a change would need other questions than were asked.
    """
    run = read_run_file(RunFolder.open(path).settings)
    if run.clinical is not None:
        from askew.run import clinical  # it brings what no other audit needs

        return clinical.rescore(path, changes)
    if run.boundary is not None:
        from askew.run import boundary

        return boundary.rescore(path, changes)
    return flex.rescore(path, changes)
