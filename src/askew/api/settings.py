"""Keyword arguments -> the run file that `askew run` would make of the same settings.

A setting is named as in the run file, without its table: `shots=2` is `flex.shots`, `max_tokens=64`
is `models.target.max_tokens`, `prices="prices.toml"` is at the top. What two tables have is the
first table's in the order top, the audit's own, `[models.target]`, the table within the audit's
(`[flex.wording]`, `[clinical.judge]`), `[budget]`; a dotted key says which is meant.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from askew.api.data import Data, data_spec, vignette_spec
from askew.datasets import DataSpec
from askew.errors import ConfigError

if TYPE_CHECKING:
    from pydantic import BaseModel

    from askew.models.base import Model
    from askew.report.which_audit import Audit
    from askew.runfile import RunFile

    # The tables of a run file by what stands before their settings ("flex.").
    Tables = Mapping[str, type[BaseModel]]

DEFAULT_MODEL = "builtin/smollm2"
# What a caller may give that is no setting of a run file.
_ARGUMENTS: Mapping[Audit, tuple[str, ...]] = {
    "flex": ("model", "data", "file", "progress"),
    "clinical": ("model", "data", "file", "judges", "models", "progress"),
    "boundary": ("model", "file", "judge", "generator", "models", "progress"),
}
# Tables, and what a run writes.
_NO_SETTINGS = ("name", "models", "flex", "clinical", "boundary", "record")

Function = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Chosen:
    """The settings of a run, and its model where that is a function at hand."""

    run: RunFile
    target: Model | None


def given(**settings: object) -> dict[str, object]:
    """The settings that are not None."""
    return {name: value for name, value in settings.items() if value is not None}


def chosen(
    model: str | Function | None,
    data: Data | list[Data] | tuple[Data, ...] | None,
    file: str | Path | None,
    settings: Mapping[str, object],
    audit: Audit = "flex",
) -> Chosen:
    """What a caller's arguments add up to; they go before the file.

    Args:
        model: "provider/model" or a function.
        data: one data set or several.
        file: a run file.
        settings: by name or dotted key. None is a setting that was not given.
        audit: which one is called.

    Raises:
        ConfigError: names the setting that is wrong.
    """
    from askew.runfile import checked, read_run_file

    named = list(settings.items())
    if data is not None:
        several = data if isinstance(data, list | tuple) else [data]
        if not several:
            raise ConfigError("data is empty. Name a data set, or leave it out for 'starter'.")
        spec_of = data_spec if audit == "flex" else vignette_spec
        named.append((f"{audit}.data", [_table_of(spec_of(one)) for one in several]))
    function = None if isinstance(model, str | None) else model
    if model is not None:
        named.append(("models.target.name", model if function is None else name_of(function)))
    options = _by_key(named, audit)
    with named_as_in_python():
        if file is None:
            values: dict[str, Any] = {"models": {"target": {"name": DEFAULT_MODEL}}}
            own: dict[str, Any] = {} if audit == "flex" else {audit: {}}
            run = checked({**values, **own}, options, where="settings")
        else:
            _is_file_of(audit, Path(file).expanduser())
            run = read_run_file(Path(file).expanduser(), options)
    return as_chosen(run, function)


def as_chosen(run: RunFile, function: Function | None) -> Chosen:
    """The settings of a run, with the function that is its model.

    Raises:
        ConfigError: the settings cannot be kept in a file, or nothing says when the function has
            become another model.
    """
    from askew.runfile import write_run_file

    try:
        write_run_file(run)
    except (TypeError, ValueError) as trouble:
        raise ConfigError(
            f"a setting cannot be kept in the run's folder: {trouble}. Use numbers, texts, lists "
            "and tables."
        ) from trouble
    return Chosen(run, None if function is None else _as_model(function, run))


def _is_file_of(audit: Audit, file: Path) -> None:
    """Whether a run file is of the audit that is called, told before its settings are read.

    Raises:
        ConfigError: it is of another one.
    """
    from askew.report.which_audit import audits_in
    from askew.runfile import read_toml

    values, _ = read_toml(file, f"Write one with `{_init(audit)}`, or leave the file out.")
    found = audits_in(values)
    if found == (audit,):
        return
    if len(found) > 1:
        raise ConfigError(f"{file} is of several audits. Run it with askew.audit(file=…).")
    if found == ("flex",):
        raise ConfigError(
            f"{file} has no [{audit}] table. Add one, or run the file with askew.flex."
        )
    raise ConfigError(f"{file} is of the {found[0]} audit. Run it with askew.{found[0]}.")


def _init(audit: Audit) -> str:
    """The command that writes a run file of an audit."""
    return "askew init" if audit == "flex" else f"askew {audit} init"


@contextmanager
def named_as_in_python() -> Iterator[None]:
    """Errors of settings that a caller gave do not speak of a command line."""
    try:
        yield
    except ConfigError as trouble:
        raise ConfigError(str(trouble).replace("command line: ", "")) from None


def _by_key(named: Iterable[tuple[str, object]], audit: Audit) -> dict[str, object]:
    """The settings by dotted key, each table's one by one: what it leaves out stays as it is.

    Raises:
        ConfigError: there is no such setting, it cannot be None, or it is given twice.
    """
    found: dict[str, object] = {}
    tables = _tables(audit)
    for name, value in named:
        key_of = _key_of(name, audit)
        given = _is_given(name, value, _default_of(key_of, tables))
        for key, part in _parts(key_of, value, tables) if given else ():
            if key in found:
                raise ConfigError(f"{key} is given twice. Leave one out.")
            found[key] = part
    # What is put into a table comes after the table.
    return dict(sorted(found.items(), key=lambda entry: entry[0].count(".")))


def _parts(key: str, value: object, tables: Tables) -> Iterator[tuple[str, object]]:
    if isinstance(value, Mapping) and f"{key}." in tables:
        for name, part in value.items():
            yield from _parts(f"{key}.{name}", part, tables)
    else:
        yield key, value


def _key_of(name: str, audit: Audit) -> str:
    """The dotted key that a setting's name is short for.

    Raises:
        ConfigError: there is no such setting. Its value, which may be a secret, is not shown.
    """
    if "." in name:
        return name
    places = _places(_tables(audit))
    if name not in places:
        near = get_close_matches(name, [*places, *_ARGUMENTS[audit]], n=3, cutoff=0.5)
        meant = f" Did you mean {' or '.join(near)}?" if near else ""
        raise ConfigError(f"there is no setting {name!r}.{meant} `{_init(audit)}` writes them all.")
    return places[name]


def _places(tables: Tables) -> dict[str, str]:
    """Setting -> dotted key, where two tables have it that of the later one in `tables`."""
    return {
        name: f"{table}{name}"
        for table, fields in tables.items()
        for name in fields.model_fields
        if name not in _NO_SETTINGS
    }


def _tables(audit: Audit) -> Tables:
    """The tables of a run file by what stands before their settings; later ones go first."""
    from askew.runfile import (
        BoundaryTable,
        BudgetTable,
        ClinicalTable,
        FlexTable,
        ModelTable,
        RunFile,
        WordingTable,
    )
    from askew.runfile.clinical import JudgeTable

    if audit == "boundary":
        return {
            "budget.": BudgetTable,
            "models.target.": ModelTable,
            "boundary.": BoundaryTable,
            "": RunFile,
        }
    if audit == "clinical":
        return {
            "budget.": BudgetTable,
            "clinical.judge.": JudgeTable,
            "models.target.": ModelTable,
            "clinical.": ClinicalTable,
            "": RunFile,
        }
    return {
        "budget.": BudgetTable,
        "flex.wording.": WordingTable,
        "models.target.": ModelTable,
        "flex.": FlexTable,
        "": RunFile,
    }


def _is_given(name: str, value: object, default: object) -> bool:
    """Whether a value says something; a run file has no way to say "none".

    Raises:
        ConfigError: None is not what the setting is without a value, or stands within one.
    """
    if value is None and default is not None:
        raise ConfigError(
            f"{name} is None, which a run file cannot say. Leave it out for {default!r}."
        )
    if value is not None and (hole := _hole(value, name)):
        raise ConfigError(f"{hole} is None, which a run file cannot say. Leave it out.")
    return value is not None


def _default_of(key: str, tables: Tables) -> object:
    table, _, last = key.rpartition(".")
    fields = tables.get(f"{table}." if table else "")
    if fields is None or last not in fields.model_fields:
        return None
    return fields.model_fields[last].get_default(call_default_factory=True)


def _hole(value: object, path: str) -> str:
    """Where None stands within a value; "" where it does not."""
    parts: list[tuple[object, object]] = []
    if isinstance(value, Mapping):
        parts = list(value.items())
    elif isinstance(value, list | tuple):
        parts = list(enumerate(value))
    for key, part in parts:
        if part is None:
            return f"{path}.{key}"
        if found := _hole(part, f"{path}.{key}"):
            return found
    return ""


def _table_of(spec: DataSpec) -> dict[str, object]:
    table: dict[str, object] = {"name": spec.name}
    if spec.path is not None:
        table["path"] = spec.path
    if spec.options:
        table["options"] = dict(spec.options)
    return table


def name_of(function: Function) -> str:
    """`python/module:name`; the command line can ask by it what a module holds."""
    if not callable(function):
        raise ConfigError(
            f"model is {type(function).__name__}, expected provider/model or a function that "
            "takes a prompt and returns the answer."
        )
    while isinstance(function, partial):
        function = function.func
    module = getattr(function, "__module__", None) or "__main__"
    name = getattr(function, "__qualname__", None) or type(function).__qualname__
    plain = re.sub(r"[^\w.]+", "", name.rpartition("<locals>.")[2])  # "<lambda>" names no folder
    return f"python/{module}:{plain}"


def _as_model(function: Function, run: RunFile) -> Model | None:
    """The function as a model; None where it can be found by its name, as the command line does.

    Raises:
        ConfigError: nothing says when it has become another model.
    """
    from askew.models.python_app import PythonApp, is_importable

    spec = run.target.spec()
    if is_importable(function, spec.model):
        return None
    if spec.revision is None:
        raise ConfigError(
            f"{spec.name} stands in no module that can be imported, so that askew cannot tell "
            "whether its recorded replies are still its own. Say which version it is, e.g. "
            "revision='1', and another whenever something that it uses has changed; or put it "
            "into a file of its own."
        )
    return PythonApp(spec, function)
