"""One run, from a run file to a run folder that has its figures and its report."""

from __future__ import annotations

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
    rescore,
)

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
