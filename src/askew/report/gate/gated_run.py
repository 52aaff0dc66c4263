"""A run as the gate reads it: its figures, and what was asked of which data."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any

from askew.errors import RunError
from askew.models.ledgerfile import refuse_newer
from askew.report.which_audit import AUDITS, Audit

# Settings that change neither the figures' questions nor how a reply is read.
_WITHOUT_EFFECT = frozenset({"controls", "lenient", "concurrency", "out"})


@dataclass(frozen=True, slots=True)
class GateRun:
    """One run, or its `estimates.json` alone.

    Attributes:
        name: as it is shown.
        estimates: `estimates.json`, parsed.
        settings: `run.toml`, parsed; empty where none lies beside the figures.
        folder: the run folder; None for a file of figures.
        checksums: sha256 of the run's files, by name.
    """

    name: str
    estimates: Mapping[str, Any]
    settings: Mapping[str, Any] = field(default_factory=dict)
    folder: Path | None = None
    checksums: Mapping[str, str] = field(default_factory=dict)

    @property
    def model(self) -> str:
        """The target's name; "" where the file does not say."""
        return str(self.estimates.get("model") or "")


def read_run(path: Path) -> GateRun:
    """The run in a folder, or the figures in a file.

    Raises:
        RunError: there is none, or it cannot be read.
    """
    file = path / "estimates.json" if path.is_dir() else path
    if not path.exists():
        raise RunError(f"{path} is not there. Name a run folder, or its estimates.json.")
    if not file.is_file():
        raise RunError(
            f"{path} has no estimates.json. Finish the run with `askew run {path / 'run.toml'}`, "
            f"or score what it has with `askew score {path}`."
        )
    refuse_newer(file.with_name("run.sqlite"))
    estimates = read_json(file, "Name a run folder, or its estimates.json.")
    if not any(isinstance(estimates.get(audit), Mapping) for audit in AUDITS):
        raise RunError(
            f"{file} holds the figures of no audit ({', '.join(AUDITS)}). Name a run folder, or "
            "its estimates.json."
        )
    settings = _settings(file.with_name("run.toml"))
    folder = path if path.is_dir() else None
    names = ("run.toml", "run.sqlite", "estimates.json") if folder else (file.name,)
    checksums = {
        name: _sha256(file.with_name(name)) for name in names if file.with_name(name).is_file()
    }
    return GateRun(_name(path), estimates, settings, folder, checksums)


def read_json(file: Path, mend: str) -> dict[str, Any]:
    """The JSON object in a file.

    Raises:
        RunError: it cannot be read, or holds no object.
    """
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except OSError as trouble:
        raise RunError(f"{file} cannot be read: {trouble.strerror or trouble}. {mend}") from trouble
    except RecursionError as trouble:
        raise RunError(f"{file}: nested too deep to be figures. {mend}") from trouble
    except ValueError as trouble:
        raise RunError(f"{file}: {trouble}. {mend}") from trouble
    if not isinstance(found, dict):
        raise RunError(f"{file} holds no JSON object. {mend}")
    return found


def _settings(file: Path) -> Mapping[str, Any]:
    if not file.is_file():
        return {}
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as trouble:
        raise RunError(f"{file}: {trouble}. Take the file from a copy of the run.") from trouble


def _name(path: Path) -> str:
    if path.name == "estimates.json":
        return path.absolute().parent.name
    return path.absolute().name


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def protocol(run: GateRun, audit: Audit) -> dict[str, Any]:
    """What was asked of an audit, and how: its settings, its data and, where it draws, the seed.

    Two runs with one protocol put the same questions and read the replies alike. The target and
    its sampling are no part of it: they are what is under test.
    """
    table = run.settings.get(audit)
    if not isinstance(table, Mapping):
        part = run.estimates.get(audit)
        table = part.get("settings") if isinstance(part, Mapping) else None
    settings = {
        key: _without_places(value)
        for key, value in (table.items() if isinstance(table, Mapping) else ())
        if key not in _WITHOUT_EFFECT
    }
    found: dict[str, Any] = {"settings": settings, "seed": run.estimates.get("seed")}
    if data := _data(run.settings.get("record"), audit):
        found["data"] = data
    if others := _other_roles(run, audit):
        found["models"] = others
    return found


def _other_roles(run: GateRun, audit: Audit) -> dict[str, str]:
    """The models that an audit's figures hang on beside the target: who judged, who embedded."""
    models = run.estimates.get("models")
    if audit == "flex" or not isinstance(models, Mapping):
        return {}
    return {role: str(name) for role, name in models.items() if role != "target"}


def _data(record: object, audit: Audit) -> dict[str, Any]:
    """The checksums of the audit's data, as the run wrote them down; empty where it did not."""
    if not isinstance(record, Mapping):
        return {}
    audits = record.get("audits")
    own = audits.get(audit) if isinstance(audits, Mapping) else None
    for place in (own, record):
        data = place.get("data") if isinstance(place, Mapping) else None
        if isinstance(data, Mapping):
            return dict(data)
    return {}


def _without_places(value: object) -> object:
    """Settings without the places where files lie: their checksums say what they hold."""
    if isinstance(value, list):
        return [_without_places(one) for one in value]
    if isinstance(value, Mapping):
        return {key: _without_places(part) for key, part in value.items() if key != "path"}
    if isinstance(value, str) and PurePath(value).is_absolute():
        return PurePath(value).name
    return value


def differences(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> list[str]:
    """In what two protocols differ, for people; empty where they ask alike.

    >>> differences({"settings": {"shots": 0}, "data": {"a": "1"}}, {"settings": {"shots": 3}})
    ['the data of the baseline are not known', 'shots is 0 and was 3']
    """
    found = []
    mine, other = ours.get("data"), theirs.get("data")
    if not mine or not other:
        which = "run" if not mine else "baseline"
        found.append(f"the data of the {which} are not known")
    elif mine != other:
        names = sorted(name for name in {*mine, *other} if mine.get(name) != other.get(name))
        found.append(f"other data ({', '.join(names[:3])}{', …' if len(names) > 3 else ''})")
    for name in ("settings", "models"):
        found += _changed(ours.get(name, {}), theirs.get(name, {}))
    return found + _changed(ours.get("seed"), theirs.get("seed"), "seed")


def _changed(ours: object, theirs: object, place: str = "") -> list[str]:
    if isinstance(ours, Mapping) and isinstance(theirs, Mapping):
        return [
            one
            for key in sorted({*ours, *theirs})
            for one in _changed(ours.get(key), theirs.get(key), f"{place}.{key}".lstrip("."))
        ]
    # TOML has no null, and an empty table or list may be left out of it.
    if ours == theirs or (ours in (None, {}, []) and theirs in (None, {}, [])):
        return []
    return [f"{place} is {_shown(ours)} and was {_shown(theirs)}"]


def _shown(value: object) -> str:
    return "not set" if value is None else json.dumps(value, ensure_ascii=False, default=str)[:60]
