"""Sweep files: one run file over several models, seeds and data; a cell for each combination.

What a cell asks is the base run file with its model, its seed and its data put in. A cell's name is
made of these alone, so that a sweep to which models, seeds or data are added goes on in the folders
that it has.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from askew.errors import ConfigError
from askew.runfile import (
    AUDITS,
    BudgetTable,
    Count,
    ModelTable,
    RunFile,
    Table,
    checked,
    inputs_absolute,
    make_absolute,
    put,
    read_toml,
    read_values,
    validated,
)

# How replies are drawn belongs to the experiment: what a model does not say of it, the base says.
DRAWING = ("temperature", "max_tokens", "top_p", "seed", "stop")
LONGEST_NAME = 60  # of a model or of data, in the name of a folder
_PLAIN = r"^\w[\w .-]*$"


class SweepModel(ModelTable):
    """`[[models]]`: what takes the place of the base's `[models.target]`."""

    label: str | None = Field(default=None, pattern=_PLAIN, max_length=LONGEST_NAME)

    @property
    def called(self) -> str:
        """What its cells are called by."""
        return self.label or in_a_folder(self.name)


class SweepData(Table):
    """`[[data]]`: settings of the audits that are put over the base's, such as `flex.data`."""

    label: str = Field(pattern=_PLAIN, max_length=LONGEST_NAME)
    flex: dict[str, Any] = Field(default_factory=dict)
    clinical: dict[str, Any] = Field(default_factory=dict)
    boundary: dict[str, Any] = Field(default_factory=dict)


class SweepFile(Table):
    """A whole sweep file."""

    base: Path
    out: Path | None = None  # the folder of all cells; default: sweeps/NAME_OF_THE_FILE
    models: tuple[SweepModel, ...] = ()  # (): the base's target
    seeds: tuple[Count, ...] = ()  # (): the base's seed
    data: tuple[SweepData, ...] = ()  # (): the base's data
    budget: BudgetTable = BudgetTable()  # of all cells together; the base's is each cell's own
    at_once: int = Field(default=4, ge=1)  # cells under way at once, of models that are served
    tries: int = Field(default=2, ge=1)  # of a cell that fails
    # Where given, these go before the base's.
    unknown: Literal["skip", "retry"] | None = None
    local_only: bool | None = None

    @model_validator(mode="after")
    def _told_apart(self) -> SweepFile:
        _once("models", [one.called for one in self.models], "Give one of them another label")
        _once("data", [one.label for one in self.data], "Give one of them another label")
        _once("seeds", list(map(str, self.seeds)), "Name each once")
        return self


def _once(what: str, names: Sequence[str], mend: str) -> None:
    # Some file systems take "A" and "a" for one folder.
    folded = [name.casefold() for name in names]
    if twice := [name for name in names if folded.count(name.casefold()) > 1]:
        raise ValueError(f"{what} holds {twice[0]!r} twice. {mend}")


@dataclass(frozen=True, slots=True)
class Cell:
    """One run of a sweep.

    Attributes:
        name: of its folder, in that of the sweep.
        model: what the model is called in this sweep.
        seed: of the run.
        data: what the data are called; "" where the sweep names none.
        run: its run file.
    """

    name: str
    model: str
    seed: int
    data: str
    run: RunFile


@dataclass(frozen=True, slots=True)
class Sweep:
    """A sweep file that was read.

    Attributes:
        file: its settings, with absolute paths.
        out: the folder of all cells.
        cells: model by model, data by data, seed by seed.
    """

    file: SweepFile
    out: Path
    cells: tuple[Cell, ...]


def read_sweep(path: Path, overrides: Mapping[str, object] | None = None) -> Sweep:
    """The sweep that a file describes.

    Args:
        path: the file; what it names is meant from its folder, `out` from the working folder.
        overrides: settings by their dotted key, which go before what it says.

    Raises:
        ConfigError: names file, key and mend, and the cell where the fault is one cell's.
    """
    overrides = overrides or {}
    values, text = read_toml(path, "Write one: the base run file, models, seeds and data.")
    for one in values["data"] if isinstance(values.get("data"), list) else ():
        if isinstance(one, dict):
            inputs_absolute(one, path.parent)
    make_absolute([(values, "base")], path.parent)
    for key, value in overrides.items():
        put(values, key, value)
    make_absolute([(values, "out")], Path.cwd())
    file = validated(SweepFile, values, overrides, where=str(path), text=text)
    out = file.out or Path("sweeps").absolute() / path.stem
    return Sweep(file, out, tuple(_cells(file, out, path)))


def _cells(file: SweepFile, out: Path, path: Path) -> list[Cell]:
    base, text = read_values(file.base)
    target = base.get("models", {}).get("target", {}) if _has_models(base) else {}
    models: list[tuple[str, dict[str, Any]]] = [
        (one.called, _with_drawing(one, target)) for one in file.models
    ] or [(_called(target), target)]
    seeds = file.seeds or (base.get("seed", 0),)
    overlays = [(one.label, _given(one)) for one in file.data] or [("", {})]
    cells = []
    for model, table in models:
        for data, overlay in overlays:
            for seed in seeds:
                name = ".".join(filter(None, (model, data, f"seed-{seed}")))
                values = copy.deepcopy(base)
                _lay_over(values, overlay)
                values.setdefault("models", {})
                if isinstance(values["models"], dict) and table:
                    values["models"]["target"] = dict(table)
                values |= {"seed": seed, "out": str(out / name)}
                values |= file.model_dump(include={"unknown", "local_only"}, exclude_none=True)
                run = _read_cell(path, name, values, str(file.base), text)
                cells.append(Cell(name, model, run.seed, data, run))
    _once_each(cells, path)
    return cells


def _has_models(base: Mapping[str, Any]) -> bool:
    models = base.get("models", {})
    return isinstance(models, dict) and isinstance(models.get("target", {}), dict)


def _called(target: Mapping[str, Any]) -> str:
    return in_a_folder(str(target.get("name", "model")))


def _once_each(cells: Sequence[Cell], path: Path) -> None:
    """Labels may hold points, so that two combinations could share a folder."""
    names = [cell.name.casefold() for cell in cells]
    if twice := [cell.name for cell in cells if names.count(cell.name.casefold()) > 1]:
        raise ConfigError(
            f"{path}: two cells would have the same folder, {twice[0]}. Give other labels."
        )


def _with_drawing(model: SweepModel, target: Mapping[str, Any]) -> dict[str, Any]:
    given = model.model_dump(mode="json", exclude_unset=True, exclude_none=True)
    given.pop("label", None)
    return {**{name: target[name] for name in DRAWING if name in target}, **given}


def _given(data: SweepData) -> dict[str, Any]:
    """The audits' settings that data bring, by audit."""
    return {name: table for name in AUDITS if (table := getattr(data, name))}


def _lay_over(values: dict[str, Any], overlay: Mapping[str, Any]) -> None:
    """Put tables over tables; a value that is no table takes the place of what was there."""
    for key, value in overlay.items():
        there = values.get(key)
        if isinstance(value, dict) and isinstance(there, dict):
            _lay_over(there, value)
        else:
            values[key] = copy.deepcopy(value)


def _read_cell(path: Path, cell: str, values: dict[str, Any], where: str, text: str) -> RunFile:
    try:
        return checked(values, where=where, text=text)
    except ConfigError as trouble:
        raise ConfigError(f"{path}: cell {cell}: {trouble}") from None


def in_a_folder(name: str) -> str:
    """A model's name as a folder may have it; names that differ in their signs alone may meet.

    >>> in_a_folder("openai/gpt-4o-mini"), in_a_folder("local/../../x y")
    ('openai-gpt-4o-mini', 'local-..-..-x-y')
    """
    return re.sub(r"[^\w.-]", "-", name)[:LONGEST_NAME]
