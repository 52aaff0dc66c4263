"""Which audit a run is of, and the settings that its folder keeps."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any, Literal

from askew.errors import RunError
from askew.runfolder import RunFolder

Audit = Literal["flex", "clinical", "boundary"]


def audit_of(folder: RunFolder) -> Audit:
    """The audit that the run in a folder is of, finished or not.

    Raises:
        RunError: its settings cannot be read.
    """
    return audit_in(settings_of(folder))


def audit_in(tables: Mapping[str, object]) -> Audit:
    """The audit that a run file or `estimates.json` is of, parsed: each has a table by its name.

    >>> audit_in({"seed": 0, "boundary": {}}), audit_in({"seed": 0})
    ('boundary', 'flex')
    """
    if "clinical" in tables:
        return "clinical"
    return "boundary" if "boundary" in tables else "flex"


def settings_of(folder: RunFolder) -> Mapping[str, Any]:
    """The run file that lies in the folder, parsed; empty where there is none.

    Raises:
        RunError: it cannot be read.
    """
    if not folder.settings.is_file():
        return {}
    try:
        return tomllib.loads(folder.settings.read_text(encoding="utf-8"))
    except (OSError, ValueError) as trouble:
        raise RunError(
            f"{folder.settings}: {trouble}. Take the file from a copy of the run."
        ) from trouble
