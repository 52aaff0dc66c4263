"""TOML to checked settings: paths made absolute, faults named with file, line, key and mend."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from askew.errors import ConfigError

Model = TypeVar("Model", bound=BaseModel)


def read_toml(path: Path, mend: str) -> tuple[dict[str, Any], str]:
    """The values of a TOML file, and its text.

    Args:
        path: the file.
        mend: what to do where there is none.

    Raises:
        ConfigError: it is not there, no UTF-8 or no TOML.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as trouble:
        raise ConfigError(f"{path}: no such file. {mend}") from trouble
    except (OSError, UnicodeDecodeError) as trouble:
        raise ConfigError(f"{path}: {trouble}. Save the file as UTF-8 text.") from trouble
    try:
        return tomllib.loads(text), text
    except tomllib.TOMLDecodeError as trouble:
        raise ConfigError(f"{path}: {trouble}. Mend the TOML there.") from trouble


def validated(
    kind: type[Model],
    values: dict[str, Any],
    overrides: Mapping[str, object],
    where: str,
    text: str,
) -> Model:
    """`values` as the settings of a kind of file; see `checked` for the rest.

    Raises:
        ConfigError: names the first three faults.
    """
    try:
        return kind.model_validate(values)
    except ValidationError as trouble:
        faults = [_fault(error, where, text, overrides) for error in trouble.errors()[:3]]
        more = trouble.error_count() - len(faults)
        raise ConfigError("\n".join(faults) + (f"\n… and {more} more." if more else "")) from None


def write_run_file(run: BaseModel) -> str:
    """The TOML text of a run file, or of another file of settings.

    Its paths are absolute: what reads such a file gives the same back.
    """
    import tomli_w

    return tomli_w.dumps(run.model_dump(mode="json", exclude_none=True))


def make_absolute(places: list[tuple[dict[str, Any], str]], folder: Path) -> None:
    """Make the paths at `places` (table, key) absolute, as they are meant from `folder`."""
    for table, key in places:
        found = table.get(key)
        if isinstance(found, list | tuple):
            table[key] = [_absolute(one, folder) for one in found]
        elif found is not None:
            table[key] = _absolute(found, folder)


def _absolute(path: object, folder: Path) -> object:
    if not isinstance(path, str | Path):
        return path  # no path at all; the check of the settings says so
    try:
        return str((folder / Path(path).expanduser()).resolve())
    except (OSError, RuntimeError, ValueError) as trouble:
        raise ConfigError(
            f"{str(path)!r} is no path: {trouble}. Write it out in full."
        ) from trouble


def put(values: dict[str, Any], key: str, value: object) -> None:
    """Set the key "table.key" of nested tables.

    Raises:
        ConfigError: there is a value where the key names a table.
    """
    *tables, last = key.split(".")
    for name in tables:
        values = values.setdefault(name, {})
        if not isinstance(values, dict):
            raise ConfigError(f"command line: {key}: {name!r} is no table of the file.")
    values[last] = value


def _fault(error: Any, where: str, text: str, overrides: Mapping[str, object]) -> str:
    path = [part for part in error["loc"] if not str(part).startswith("function-")]
    key = ".".join(str(part) for part in path)
    if any(f"{key}.".startswith(f"{given}.") for given in overrides):
        place = "command line"
    else:
        line = _line_of([str(part) for part in path if not isinstance(part, int)], text)
        place = f"{where}:{line}" if line else where
    found = error.get("input")
    # What stands under an unknown key may be a secret that was put in the wrong place.
    unshown = isinstance(found, dict) or error["type"] in ("missing", "extra_forbidden")
    told = error["type"] not in ("missing", "extra_forbidden")  # the message is a sentence then
    shown = (":" if told else "") if unshown else f" is {found!r}:"
    mend = {
        "extra_forbidden": "is no setting. Check the spelling in the settings table.",
        "missing": "is missing. Add it.",
    }.get(error["type"], f"{error['msg'].removeprefix('Value error, ').removesuffix('.')}.")
    return f"{place}: {key or 'the file'}{shown} {mend}"


def _line_of(path: list[str], text: str) -> int | None:
    """The line where the key at `path` stands, None where it cannot be told."""
    if not path or not text:
        return None
    table: list[str] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if heading := re.match(r"\s*\[+\s*([\w.\-]+)\s*\]+", line):
            table = heading[1].split(".")
            if table == path:
                return number
        elif (key := re.match(r"\s*([\w.\-]+)\s*=", line)) and [
            *table,
            *key[1].split("."),
        ] == path:
            return number
    return None
