"""TOML to checked settings: paths made absolute, faults named with file, line, key and mend."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from askew.errors import ConfigError
from askew.privacy.key_forms import Literal, literals

Model = TypeVar("Model", bound=BaseModel)

# What pydantic puts into the place of a fault for each kind of value that a setting may have.
_KIND_OF_VALUE = re.compile(r"(constrained-)?(int|float|str|bool)|(literal|tuple|function-).*")
_WORDS = {
    "bool": "true or false",
    "dict": "a table",
    "float": "a number",
    "int": "a whole number",
    "list": "a list",
    "model": "a table",
    "path": "a path",
    "string": "text",
    "tuple": "a list",
}
_BOUNDS = {
    "greater_than": ("above {}", "gt"),
    "greater_than_equal": ("from {} up", "ge"),
    "less_than": ("below {}", "lt"),
    "less_than_equal": ("of at most {}", "le"),
}
_FREE = "NAME"  # stands for a key that the user chooses, such as that of [models.target]
_PATTERNS = {
    r"^[^/\s]+/\S+$": "provider/model, such as 'openai/gpt-4o'",
    r"^[^+=|/#]+$": "a name without any of + = | / #",
    r"^.+/[^/]+$": "an entry of the keyring, such as 'openai/me'",
    r"^\d{1,5} ?(d|w|m|y)$": "a time such as 30d, 6w, 12m or 2y",
}


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
        ConfigError: names the first three faults; or a secret that stands in plain text, unshown.
    """
    _refuse_literals(values, overrides, where, text)
    try:
        return kind.model_validate(values)
    except ValidationError as trouble:
        faults = _Faults(kind, values, overrides, where, text).told(trouble)
        more = len(faults) - 3
        raise ConfigError(
            "\n".join(faults[:3]) + (f"\n… and {more} more." if more > 0 else "")
        ) from None


def _refuse_literals(
    values: dict[str, Any], overrides: Mapping[str, object], where: str, text: str
) -> None:
    """Refuse keys and passwords that are written out; what askew has recorded itself may stand."""
    given: dict[str, Any] = {}
    for key, value in overrides.items():
        put(given, key, value)
    typed = next(literals(given), None)
    found = typed or (None if "record" in values else next(literals(values), None))
    if found is None:
        return
    line = None if typed else _line_of(list(found.place), text)
    blamed = "command line" if typed else f"{where}:{line}" if line else where
    mend = _in_variable(found)
    shown = " It also stands in your shell's history." if blamed == "command line" else ""
    raise ConfigError(
        f"{blamed}: {'.'.join(found.place)} holds a secret in plain text ({found.what}), which the "
        f"run folder would keep. {mend}{shown} If others have seen it, have it replaced."
    )


def _in_variable(found: Literal) -> str:
    """How a setting is given its secret instead."""
    name = found.place[-1]
    if name in ("api_key_env", "api_key"):
        return (
            "Set an environment variable (export OPENAI_API_KEY=…) and write its name: "
            'api_key_env = "OPENAI_API_KEY".'
        )
    return 'Put it in an environment variable and write "${VARIABLE}" in its place.'


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


class _Faults:
    """What is wrong with the values of a file, in the words of somebody who wrote the file."""

    def __init__(
        self,
        kind: type[BaseModel],
        values: dict[str, Any],
        overrides: Mapping[str, object],
        where: str,
        text: str,
    ) -> None:
        self._kind = kind
        self._values = values
        self._overrides = overrides
        self._where = where
        self._text = text

    def told(self, trouble: ValidationError) -> list[str]:
        """A line a fault, in pydantic's order."""
        by_place: dict[tuple[str | int, ...], list[Any]] = {}
        for error in trouble.errors():
            by_place.setdefault(self._place(error["loc"]), []).append(error)
        return [
            self._fault(place, errors)
            for place, errors in by_place.items()
            if not _follows(place, errors, by_place)
        ]

    def _place(self, loc: tuple[str | int, ...]) -> tuple[str | int, ...]:
        """The keys and indices of a fault, without the kinds of value that were tried there."""
        place: list[str | int] = []
        found: Any = self._values
        for part in loc:
            if isinstance(found, dict) and part in found:
                found = found[part]
            elif isinstance(part, int):
                inside = isinstance(found, list | tuple) and part < len(found)
                found = found[part] if inside else None
            elif _KIND_OF_VALUE.fullmatch(part):
                continue
            else:
                found = None
            place.append(part)
        return tuple(place)

    def _fault(self, place: tuple[str | int, ...], errors: list[Any]) -> str:
        key = ".".join(str(part) for part in place)
        blamed = self._blamed(key, place)
        error = errors[0]
        if error["type"] == "extra_forbidden":
            # What stands under an unknown key may be a secret that was put in the wrong place.
            return f"{blamed}: {key} is no setting. {self._where_it_goes(place, error['input'])}"
        if error["type"] == "missing":
            return f"{blamed}: {key} is missing. Add it."
        found = error.get("input")
        shown = "" if isinstance(found, dict) else f" is {found!r}"
        first, *rest = dict.fromkeys(_said(one) for one in errors)
        said = " or ".join([first, *(one.removeprefix("expected ") for one in rest)])
        return f"{blamed}: {key or 'the file'}{shown}: {said}."

    def _blamed(self, key: str, place: tuple[str | int, ...]) -> str:
        if any(f"{key}.".startswith(f"{given}.") for given in self._overrides):
            return "command line"
        line = _line_of([str(part) for part in place if not isinstance(part, int)], self._text)
        return f"{self._where}:{line}" if line else self._where

    def _where_it_goes(self, place: tuple[str | int, ...], found: object) -> str:
        """The tables that have the setting, else the setting that was meant."""
        name = str(place[-1])
        settings = list(_settings(self._kind))
        places = [one for one in settings if one[-1] == name]
        # A file is of one audit: the tables of another are named where it has none.
        places = [one for one in places if len(one) == 1 or one[0] in self._values] or places
        named = [_heading(self._kind, one) for one in places]
        if isinstance(found, dict) and found:  # [target] for [models.target]
            free = [one for one in settings if _is_free(self._kind, one, found)]
            named = [f"[{'.'.join(one)}.{name}]" for one in free] or named
        if named:
            return f"It belongs to {' or '.join(dict.fromkeys(named[:3]))}."
        above = [part for part in place[:-1] if not isinstance(part, int)]
        beside = [one[-1] for one in settings if _stands_in(one, above)]
        if close := get_close_matches(name, beside, n=1):
            return f"Did you mean {close[0]!r}?"
        return "Check the spelling in the settings table."


def _stands_in(setting: tuple[str, ...], table: list[str]) -> bool:
    above = setting[:-1]
    return len(above) == len(table) and all(
        part in (_FREE, there) for part, there in zip(above, table, strict=True)
    )


def _is_free(kind: type[BaseModel], setting: tuple[str, ...], found: dict[str, Any]) -> bool:
    """Whether `found` is such a table as the setting holds under a name of the user's."""
    annotation = _annotation(kind, setting)
    table = _table(annotation)
    if table is None or not _has(annotation, dict):
        return False
    needed = {name for name, field in table.model_fields.items() if field.is_required()}
    return needed <= found.keys() <= table.model_fields.keys()


def _heading(kind: type[BaseModel], setting: tuple[str, ...]) -> str:
    """The heading below which a setting is written, in the way of TOML."""
    if not setting:
        return "the top of the file"
    dotted = ".".join(setting)
    annotation = _annotation(kind, setting)
    if _table(annotation) is None:
        return _heading(kind, setting[:-1])
    if _has(annotation, dict):
        return f"[{dotted}.{_FREE}]"
    return f"[[{dotted}]]" if _has(annotation, tuple) else f"[{dotted}]"


def _follows(
    place: tuple[str | int, ...], errors: list[Any], others: Mapping[tuple[str | int, ...], Any]
) -> bool:
    """Whether a list is only called too short because entries of it are wrong.

    pydantic counts the entries that are right. That a list is too short as it was written is said.
    """
    deeper = any(len(one) > len(place) and one[: len(place)] == place for one in others)
    return deeper and all(
        error["type"] == "too_short" and len(error["input"]) >= error["ctx"]["min_length"]
        for error in errors
    )


def _said(error: Any) -> str:
    """What was expected instead, without pydantic's own words where there are plainer ones."""
    kind, context = error["type"], error.get("ctx", {})
    if kind == "string_pattern_mismatch":
        pattern = context["pattern"]
        return f"expected {_PATTERNS.get(pattern, f'text of the form {pattern}')}"
    if kind in ("too_short", "too_long"):
        side, bound = ("least", "min_length") if kind == "too_short" else ("most", "max_length")
        count = context[bound]
        return f"expected at {side} {count} {'entry' if count == 1 else 'entries'}"
    if kind in _BOUNDS:
        words, bound = _BOUNDS[kind]
        return f"expected a number {words.format(context[bound])}"
    word = _WORDS.get(kind.partition("_")[0])
    if word and kind.endswith(("_type", "_parsing", "_from_float", "_parsing_size")):
        return f"expected {word}"
    message: str = error["msg"].removeprefix("Value error, ").removesuffix(".")
    for start in ("Input should be a valid ", "Input should be "):
        if message.startswith(start):
            return f"expected {message.removeprefix(start)}"
    return message


def _settings(kind: type[BaseModel], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The keys that lead to each setting of a kind of file; `_FREE` is one of the user's."""
    for name, field in kind.model_fields.items():
        yield (*above, name)
        table = _table(field.annotation)
        if table is not None:
            free = (_FREE,) if _has(field.annotation, dict) else ()
            yield from _settings(table, (*above, name, *free))


def _annotation(kind: Any, setting: tuple[str, ...]) -> Any:
    """The type of what stands at the keys that lead to a setting."""
    for part in setting:
        table = _table(kind)
        assert table is not None  # the keys are those of `_settings`
        kind = table if part == _FREE else table.model_fields[part].annotation
    return kind


def _table(annotation: Any) -> type[BaseModel] | None:
    """The table that a setting is, or is a list or a dictionary of."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for one in get_args(annotation) if (found := _table(one))), None)


def _has(annotation: Any, container: type) -> bool:
    origin = getattr(annotation, "__origin__", None)
    return origin is container or any(_has(one, container) for one in get_args(annotation))


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
