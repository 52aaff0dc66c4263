"""Data sets by name or by file, for Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from askew import datasets
from askew.datasets import DataSpec, Loaded
from askew.errors import ConfigError
from askew.records import Item
from askew.vignettes import Facts, Vignette

# How a caller may name a data set: "starter", "bbq", "own=mine.csv", Path("mine.csv"), a table of a
# run file, or a DataSpec with the set's own options.
Data = str | Path | Mapping[str, object] | DataSpec


def load(
    data: Data = "starter",
    *,
    path: str | Path | None = None,
    seed: int = 0,
    lenient: bool = False,
    **options: object,
) -> Loaded:
    """Read a data set: its ambiguous items, its controls, and what was wrong with it.

    Args:
        data: a name ("starter", "bbq", a plug-in's), or a `.csv` or `.jsonl` file of your own.
        path: the file or folder that holds the set; None = where `askew data get` has put it.
        seed: what a set draws at random depends on it.
        lenient: leave out records that cannot be used, and list them, instead of raising.
        options: the set's own, e.g. `categories=["Age"]` of bbq.

    Raises:
        ConfigError: no set has this name or such an option.
        DataError: files are missing or, unless `lenient`, records cannot be used.

    >>> loaded = load("starter")
    >>> len(loaded.items), len(loaded.controls)
    (154, 70)
    """
    spec = _completed(data_spec(data), path, options)
    return datasets.load(spec, seed=seed, lenient=lenient)


def load_items(
    data: Data = "starter",
    *,
    path: str | Path | None = None,
    seed: int = 0,
    lenient: bool = False,
    **options: object,
) -> list[Item]:
    """The ambiguous items of a data set, those that an audit asks; see `load` for the rest.

    >>> item = load_items("starter")[0]
    >>> item.options[item.neutral] == item.options[item.answer]
    True
    """
    loaded = load(data, path=path, seed=seed, lenient=lenient, **options)
    return list(loaded.items)


def load_vignettes(
    data: Data = "starter",
    *,
    path: str | Path | None = None,
    seed: int = 0,
    lenient: bool = False,
    **options: object,
) -> list[Vignette]:
    """The vignettes of a clinical data set.

    Args:
        data: a name ("starter", "equitymedqa", a plug-in's), or a file of your own.
        path: the file or folder that holds the set; None = where `askew data get` has put it.
        seed: what a set draws at random depends on it.
        lenient: leave out records that cannot be used instead of raising.
        options: the set's own.

    Raises:
        ConfigError: no set has this name or such an option.
        DataError: files are missing or, unless `lenient`, records cannot be used.

    >>> vignette = load_vignettes("starter")[0]
    >>> vignette.id, vignette.must_not_miss[0]
    ('starter/heart-attack-1', 'acute myocardial infarction')
    """
    from askew.datasets import vignettes

    spec = _completed(vignette_spec(data), path, options)
    return list(vignettes.load(spec, seed=seed, lenient=lenient).vignettes)


def extract_facts(text: str, rules: str = "full") -> Facts:
    """What a text states about its patient, as `askew clinical extract` finds it; asks no model.

    Args:
        text: one text about one patient.
        rules: the rule set, e.g. "full", or "full-context" with a rule taken off.

    Raises:
        ConfigError: no rule set has this name.
        MissingDependency: spaCy or its English pipeline is not installed.
    """
    from askew import graphs

    return graphs.extract(text, rules)


def _completed(spec: DataSpec, path: str | Path | None, options: Mapping[str, object]) -> DataSpec:
    """The data set with what the caller says beside its name."""
    if path is not None:
        spec = replace(spec, path=path)
    if spec.path is not None:
        spec = replace(spec, path=Path(spec.path).expanduser())
    return replace(spec, options={**spec.options, **options})


def vignette_spec(data: Data) -> DataSpec:
    """The clinical data set that a caller means.

    Raises:
        ConfigError: it is no name, file or table.
    """
    from askew.datasets import vignettes

    return data_spec(data, vignettes.names())


def data_spec(data: Data, names: Sequence[str] | None = None) -> DataSpec:
    """The data set that a caller means.

    Args:
        data: what the caller says.
        names: of the sets that there are; None = the fairness sets.

    Raises:
        ConfigError: it is no name, file or table.
    """
    match data:
        case DataSpec():
            return data
        case Path():
            if data.is_dir():
                raise ConfigError(
                    f"{data} is a folder, which does not say what data set is in it. Name the set "
                    f'and give the folder as its path: "NAME={data}", or path=… beside the name.'
                )
            return DataSpec("own", data)
        case str():
            return _named(data, datasets.names() if names is None else names)
        case Mapping():
            return _from_table(data)
    raise ConfigError(
        f"data is {type(data).__name__}, expected a name such as 'starter', a path, or a table "
        "such as {'name': 'bbq', 'path': …}."
    )


def _named(text: str, names: Sequence[str]) -> DataSpec:
    if text in names:
        return DataSpec(text)
    name, equals, path = text.partition("=")
    if name not in names and (Path(text).suffix or Path(text).is_file()):
        return DataSpec("own", Path(text))
    # A name that there is none of is for `datasets.load` to answer: it lists those there are.
    return DataSpec(name, path) if equals else DataSpec(text)


def _from_table(table: Mapping[str, object]) -> DataSpec:
    unknown = sorted(set(table) - {"name", "path", "options"})
    name, path, options = table.get("name"), table.get("path"), table.get("options", {})
    if (
        unknown
        or not isinstance(name, str)
        or not isinstance(path, str | Path | None)
        or not isinstance(options, Mapping)
    ):
        raise ConfigError(
            f"the table of a data set has {', '.join(map(repr, table)) or 'nothing'}; expected a "
            "'name' and, where wanted, a 'path' and a table of 'options'."
        )
    return DataSpec(name, path, dict(options))
