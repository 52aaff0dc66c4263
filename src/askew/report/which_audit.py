"""Which audits a run holds, each audit's own part of the figures, and the folder's settings."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any, Literal

from askew.errors import RunError
from askew.runfolder import RunFolder

Audit = Literal["flex", "clinical", "boundary"]
AUDITS: tuple[Audit, ...] = ("flex", "clinical", "boundary")


def audits_of(folder: RunFolder) -> tuple[Audit, ...]:
    """The audits that the run in a folder holds, finished or not; at least one.

    Raises:
        RunError: its settings cannot be read.
    """
    return audits_in(settings_of(folder))


def audits_in(tables: Mapping[str, object]) -> tuple[Audit, ...]:
    """The audits that a run file or `estimates.json` holds, parsed: each has a table by its name.

    A file that names none is of FLEX.

    >>> audits_in({"seed": 0, "boundary": {}, "flex": {}}), audits_in({"seed": 0})
    (('flex', 'boundary'), ('flex',))
    """
    return tuple(name for name in AUDITS if name in tables) or ("flex",)


def part_of(estimates: Mapping[str, object], audit: Audit) -> Mapping[str, object]:
    """The figures of one audit as they stand in a run that holds no other.

    A run of several audits names them in `audits`, and keeps the calls of each below its name.

    Raises:
        KeyError: the audit has no figures yet.

    >>> both = {"audits": ["flex", "boundary"], "flex": {"a": 1}, "calls": {"flex": {"asked": 2}}}
    >>> part_of(both, "flex")
    {'calls': {'asked': 2}, 'flex': {'a': 1}}
    """
    if "audits" not in estimates:
        return estimates
    calls = estimates.get("calls")
    own = calls.get(audit, {}) if isinstance(calls, Mapping) else {}
    apart = (*AUDITS, "audits", "calls")
    shared = {key: value for key, value in estimates.items() if key not in apart}
    return {**shared, "calls": own, audit: estimates[audit]}


def parts_of(estimates: Mapping[str, object]) -> dict[Audit, Mapping[str, object]]:
    """The figures of each audit that has some, as `part_of` gives them."""
    if "audits" not in estimates:
        return {audits_in(estimates)[0]: estimates}
    return {audit: part_of(estimates, audit) for audit in AUDITS if audit in estimates}


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
