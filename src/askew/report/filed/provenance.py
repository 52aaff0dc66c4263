"""What a run measured, when and with what: from its `run.toml`, its figures and its ledger."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from askew.report.clinical_run import as_mapping
from askew.report.estimates import as_number
from askew.report.filed.records import Provenance
from askew.report.which_audit import settings_of
from askew.runfolder import RunFolder


def provenance_of(folder: RunFolder, estimates: Mapping[str, object]) -> Provenance:
    """What was measured; what the run did not record is listed as unknown.

    Raises:
        RunError: `run.toml` cannot be read.
    """
    settings = settings_of(folder)
    record = as_mapping(settings.get("record"))
    models = _models(record, settings, estimates)
    first, last = asked_between(folder.database)
    data = data_of(record)
    unknown = [
        what
        for what, there in (
            ("the identity of the model (checksum, revision or endpoint)", record.get("model")),
            ("checksums of the data", data),
            ("versions of the software", record.get("packages")),
            ("when the model was asked", first),
        )
        if not there
    ]
    seed = as_number(estimates.get("seed"))
    return Provenance(
        models=models,
        first_call=first,
        last_call=last,
        seed=None if math.isnan(seed) else int(seed),
        versions=_versions(record, estimates),
        data=data,
        calls=dict(as_mapping(estimates.get("calls"))),
        unknown=unknown,
    )


def data_of(record: Mapping[str, object]) -> dict[str, str]:
    """The checksums of the data; of a run of several audits with the audit before each name.

    Two audits may each have a file of one name.
    """
    data = dict(as_mapping(record.get("data")))
    for audit, found in as_mapping(record.get("audits")).items():
        own = as_mapping(as_mapping(found).get("data"))
        data |= {f"{audit}: {name}": one for name, one in own.items()}
    return {str(name): str(found) for name, found in data.items()}


def asked_between(database: Path) -> tuple[str | None, str | None]:
    """When the first and the last reply came in that this run asked for itself (UTC).

    Replies that were copied from earlier runs are not counted. None where no time is recorded.
    """
    # A settled file is opened as one that nobody changes: else SQLite leaves files beside it.
    waiting = database.with_name(f"{database.name}-wal")
    settled = "" if waiting.is_file() and waiting.stat().st_size else "&immutable=1"
    address = f"{database.resolve().as_uri()}?mode=ro{settled}"
    try:
        with closing(sqlite3.connect(address, uri=True)) as file:
            found = file.execute(
                "SELECT min(received_at), max(received_at) FROM calls WHERE origin IS NULL"
            ).fetchone()
    except sqlite3.Error:
        return None, None  # no ledger: the run of another tool, or none that asked anything
    first, last = (None if time is None else _moment(time) for time in found)
    return first, last


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _models(
    record: Mapping[str, object], settings: Mapping[str, object], estimates: Mapping[str, object]
) -> dict[str, dict[str, object]]:
    """By role: the name that was asked for, and the identity that the run recorded."""
    named = {role: as_mapping(one).get("name") for role, one in _asked(settings).items()}
    named |= as_mapping(estimates.get("models"))
    named.setdefault("target", estimates.get("model"))
    found = {"target": record.get("model"), **as_mapping(record.get("models"))}
    models: dict[str, dict[str, object]] = {}
    for role in dict.fromkeys(["target", *named, *found]):
        identity = {
            str(key): _as_json(value)
            for key, value in as_mapping(found.get(role)).items()
            if not isinstance(value, Mapping) or value
        }
        name = named.get(role)
        models[str(role)] = {**({"name": name} if name is not None else {}), **identity}
    return models


def _as_json(value: object) -> object:
    """A value of TOML as JSON holds it: dates and times, which it has not, as texts."""
    if isinstance(value, Mapping):
        return {str(key): _as_json(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_as_json(part) for part in value]
    return value if isinstance(value, str | int | float | None) else str(value)


def _asked(settings: Mapping[str, object]) -> Mapping[str, object]:
    return as_mapping(settings.get("models"))


def _versions(record: Mapping[str, object], estimates: Mapping[str, object]) -> dict[str, str]:
    found = {name: record.get(name) for name in ("askew", "python", "platform")}
    found["askew"] = found["askew"] or estimates.get("askew")
    versions = {name: str(one) for name, one in found.items() if one is not None}
    packages = as_mapping(record.get("packages"))
    return {**versions, **{str(name): str(one) for name, one in packages.items()}}
