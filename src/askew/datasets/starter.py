"""The starter set: items written for this project, so that the first audit works offline."""

from __future__ import annotations

from importlib import resources

from askew.datasets import own
from askew.datasets.base import DataSpec, Loaded, Report, by_condition, check_options
from askew.datasets.collect import Items
from askew.datasets.files import unpacked
from askew.errors import ConfigError, DataError

_FOLDER = "starter"


def load(spec: DataSpec, *, seed: int = 0, lenient: bool = False) -> Loaded:
    """Read the items that come with the package.

    Args:
        spec: takes neither a path nor options.
        seed: not used; nothing is drawn here.
        lenient: leave out and report records that cannot be used, instead of raising.
    """
    check_options(spec, ())
    if spec.path is not None:
        raise ConfigError("data set 'starter' comes with askew and takes no path.")
    folder = resources.files("askew.datasets") / _FOLDER
    entries = sorted(folder.iterdir(), key=lambda entry: entry.name) if folder.is_dir() else []
    report = Report()
    items = Items(report)
    checksums: dict[str, str] = {}
    for entry in entries:
        if entry.name.endswith(".jsonl"):
            file = unpacked(f"{_FOLDER}/{entry.name}", entry.read_bytes())
            checksums[entry.name] = file.sha256
            own.read_items(file, "starter", items, report)
    if not checksums:
        raise DataError("the starter set is not in this installation. Install askew again.")
    return by_condition(spec.name, items, report.finish(lenient=lenient), checksums)
