"""The clinical starter set: vignettes written for this project, so that an audit works offline."""

from __future__ import annotations

from importlib import resources

from askew.datasets.base import DataSpec, Report, check_options
from askew.datasets.files import unpacked
from askew.datasets.own_vignettes import read_vignettes
from askew.datasets.vignette_records import Vignettes
from askew.datasets.vignettes import LoadedVignettes
from askew.errors import ConfigError, DataError

# Not in `starter/`: every .jsonl there is read as fairness items.
_FOLDER, _FILE = "starter_clinical", "vignettes.jsonl"


def load(spec: DataSpec, *, seed: int = 0, lenient: bool = False) -> LoadedVignettes:
    """Read the vignettes that come with the package.

    Args:
        spec: takes neither a path nor options.
        seed: not used; nothing is drawn here.
        lenient: leave out and report records that cannot be used, instead of raising.
    """
    check_options(spec, ())
    if spec.path is not None:
        raise ConfigError(f"data set {spec.name!r} comes with askew and takes no path.")
    entry = resources.files("askew.datasets") / _FOLDER / _FILE
    if not entry.is_file():
        raise DataError(
            "the clinical starter set is not in this installation. Install askew again."
        )
    file = unpacked(f"{_FOLDER}/{_FILE}", entry.read_bytes())
    report = Report()
    vignettes = Vignettes(report)
    read_vignettes(file, "starter", vignettes, report)
    checksums = {_FILE: file.sha256}
    return LoadedVignettes(spec.name, tuple(vignettes), report.finish(lenient=lenient), checksums)
