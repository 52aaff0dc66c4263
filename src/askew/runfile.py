"""Run files: TOML -> checked, frozen settings, and back as the resolved `run.toml`.

What a file leaves open ("auto") is settled here from the target's provider, so that the resolved
file says everything and a resumed run asks the same questions.

Paths become absolute as they are read. What a run reads (`prices`, `reuse`, data, the published
wording) is meant from the file's own folder; what is given on the command line, and `out`, from the
working folder. A `run.toml` in a run folder has no `out`: it means the folder in which it lies, so
that a run that was moved goes on where it is.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from askew.audits.flex import CONTROLS, FlexConfig
from askew.datasets import DataSpec
from askew.errors import ConfigError
from askew.models.base import ModelSpec
from askew.models.budget import Budget, Limits
from askew.prompts.choice import PromptFormat
from askew.prompts.objectives import published_wording
from askew.prompts.wording import DEFAULT_WORDING, Wording
from askew.records import AttackCategory, Sampling
from askew.scores.outcome import ScoreSettings

Count = Annotated[int, Field(ge=0)]
Model = TypeVar("Model", bound=BaseModel)


class Table(BaseModel):
    """A table of a run file: unknown keys are errors, values do not change."""

    model_config = ConfigDict(extra="forbid", frozen=True)


SERVERS_OWN: Literal["default"] = "default"
_DEGREE = TypeAdapter(Annotated[float, Field(ge=0, allow_inf_nan=False)])


def _degree_or_default(value: object) -> float | Literal["default"]:
    if value is None or value == SERVERS_OWN:
        return SERVERS_OWN
    try:
        return _DEGREE.validate_python(value)
    except ValidationError:
        raise ValueError(
            f'expected a number from 0 up, or "{SERVERS_OWN}" for the server\'s own'
        ) from None


class ModelTable(Table):
    """`[models.ROLE]`: a model and how its replies are drawn."""

    name: str = Field(pattern=r"^[^/\s]+/\S+$")
    base_url: str | None = None
    api_key_env: str | None = None
    revision: str | None = None
    dtype: str | None = None
    adapter: str | None = None
    timeout_seconds: float = Field(default=120.0, gt=0)
    concurrency: int | None = Field(default=None, ge=1)
    # A word, as TOML has no null; Python's None is taken for it.
    temperature: Annotated[float | Literal["default"], PlainValidator(_degree_or_default)] = 0.0
    max_tokens: int = Field(default=256, ge=1)
    top_p: float | None = Field(default=None, gt=0, le=1)
    seed: int | None = None
    stop: tuple[str, ...] = ()
    options: dict[str, Any] = {}

    def spec(self) -> ModelSpec:
        """What the provider reads."""
        return ModelSpec(
            name=self.name,
            base_url=self.base_url,
            api_key_env=self.api_key_env,
            revision=self.revision,
            dtype=self.dtype,
            adapter=self.adapter,
            timeout_seconds=self.timeout_seconds,
            options=self.options,
        )

    def sampling(self) -> Sampling:
        """How replies are drawn."""
        temperature = None if self.temperature == SERVERS_OWN else self.temperature
        return Sampling(temperature, self.max_tokens, self.top_p, self.seed, self.stop)


class RoleBudgetTable(Table):
    """`[budget.roles.ROLE]`: what one role may spend; a limit that is left out is no limit."""

    calls: Count | None = None
    tokens: Count | None = None
    money: float | None = Field(default=None, ge=0)

    def budget(self) -> Budget:
        """The same as the runner reads it."""
        return Budget(self.calls, self.tokens, self.money)


class BudgetTable(RoleBudgetTable):
    """`[budget]`: what the whole run may spend."""

    roles: dict[str, RoleBudgetTable] = {}

    def limits(self) -> Limits:
        """The budgets of the run and of its roles."""
        return Limits(self.budget(), {role: part.budget() for role, part in self.roles.items()})


class DataTable(Table):
    """`[[flex.data]]`: a data set and where it lies."""

    name: str
    path: Path | None = None
    options: dict[str, Any] = {}


class WordingTable(Table):
    """`[flex.wording]`: how scenarios are worded."""

    persona_style: Literal["askew", "paper"] = "askew"
    adjective: str = "terrible"
    published: Path | None = None  # a clone of the FLEX release, for its five objectives
    personas: dict[str, tuple[str, ...]] = {}
    plug_ins: tuple[str, ...] = ()

    def wording(self) -> Wording:
        """The wording, with the published texts read where they are wanted."""
        return Wording(
            persona_style=self.persona_style,
            adjective=self.adjective,
            personas=self.personas,
            objectives=published_wording(self.published) if self.published else {},
            plug_ins=self.plug_ins,
        )


# What "auto" comes to by provider; every other one is read by its replies.
_SCORING: dict[str, Literal["letters", "texts"]] = {"builtin": "texts", "local": "letters"}


class FlexTable(Table):
    """`[flex]`: the FLEX audit."""

    data: tuple[DataTable, ...] = (DataTable(name="starter"),)
    lenient: bool = False
    items: int | None = Field(default=None, ge=1)
    controls: Count = CONTROLS
    categories: tuple[AttackCategory, ...] = tuple(AttackCategory)
    scenarios: Literal["assigned", "random", "all"] = "assigned"
    prompt: Literal["auto", "flex", "chat"] = "auto"
    scoring: Literal["auto", "letters", "texts", "reply"] = "auto"
    list_options: bool | None = None  # None: not listed where option texts are scored
    attack_role: Literal["system", "user"] = "system"
    normalise: Literal["sum", "bytes"] = "sum"
    option_order: Literal["file", "shuffled"] = "file"
    rotations: Literal["one", "all"] = "one"
    shots: int = Field(default=0, ge=0, le=5)
    shot_kind: Literal["positive", "negative"] = "positive"
    replicates: int = Field(default=1, ge=1)
    non_answers: Literal["left_out", "wrong"] = "left_out"
    paraphrase: Literal["unreadable", "neutral"] = "unreadable"
    wording: WordingTable = WordingTable()

    @model_validator(mode="before")
    @classmethod
    def _data_by_name(cls, values: Any) -> Any:
        """`data = ["bbq", "starter"]` is short for tables with nothing but a name."""
        if isinstance(values, dict) and isinstance(values.get("data"), list):
            named = [{"name": one} if isinstance(one, str) else one for one in values["data"]]
            return {**values, "data": named}
        return values

    def settled(self, provider: str) -> FlexTable:
        """The same table with nothing left to "auto".

        Letters are what the paper scores, where log-probabilities can be had; an endpoint is read
        by its replies. The 135M built-in model picks letters at chance and reads option texts.
        """
        scoring = _SCORING.get(provider, "reply") if self.scoring == "auto" else self.scoring
        prompt = "chat" if self.prompt == "auto" else self.prompt
        listed = self.list_options if self.list_options is not None else scoring != "texts"
        return self.model_copy(
            update={"scoring": scoring, "prompt": prompt, "list_options": listed}
        )

    def config(self, sampling: Sampling, wording: Wording) -> FlexConfig:
        """What the audit reads; the table must be settled."""
        assert self.scoring != "auto"
        assert self.prompt != "auto"
        return FlexConfig(
            data=tuple(DataSpec(one.name, one.path, one.options) for one in self.data),
            lenient=self.lenient,
            items=self.items,
            controls=self.controls,
            categories=self.categories,
            scenarios=self.scenarios,
            prompt_format=PromptFormat(
                form=self.prompt,
                scoring=self.scoring,
                list_options=self.list_options is not False,
                attack_role=self.attack_role,
            ),
            option_order=self.option_order,
            all_rotations=self.rotations == "all",
            shots=self.shots,
            shot_kind=self.shot_kind,
            replicates=self.replicates,
            wording=wording,
            sampling=sampling,
            scores=ScoreSettings(
                normalise=self.normalise,
                # lm-evaluation-harness takes the first maximum, and so does the release's prompt.
                tie="first" if self.prompt == "flex" else "tied",
                paraphrase=self.paraphrase,
            ),
            non_answers=self.non_answers,
        )


class RunFile(Table):
    """A whole run file."""

    seed: Count = 0
    out: Path | None = None
    prices: Path | None = None
    reuse: tuple[Path, ...] = ()
    unknown: Literal["skip", "retry"] = "skip"
    local_only: bool = False
    models: dict[str, ModelTable]
    budget: BudgetTable = BudgetTable()
    flex: FlexTable = FlexTable()
    # Versions and checksums that a run has written. Those of the data tell two runs apart; the rest
    # is for people.
    record: dict[str, Any] = {}

    @model_validator(mode="after")
    def _has_a_target(self) -> RunFile:
        if set(self.models) != {"target"}:
            raise ValueError("models must hold exactly one table, [models.target]")
        return self

    @property
    def target(self) -> ModelTable:
        """The model under audit."""
        return self.models["target"]

    def settled(self) -> RunFile:
        """The same file with nothing left to "auto"."""
        return self.model_copy(update={"flex": self.flex.settled(self.target.spec().provider)})

    def flex_config(self) -> FlexConfig:
        """What the FLEX audit reads to ask.

        Raises:
            DataError: the published wording is wanted and cannot be read.
        """
        return self.flex.config(self.target.sampling(), self.flex.wording.wording())

    def reading_config(self) -> FlexConfig:
        """What it reads to score replies that are there: no file, and so askew's own wording."""
        return self.flex.config(self.target.sampling(), DEFAULT_WORDING)

    def questions_key(self, checksums: Mapping[str, str] | None = None) -> dict[str, Any]:
        """What decides which questions are put; a folder holds one such set.

        Args:
            checksums: of the data files, by name; default: those that a run has written down.
                Data are told apart by their content, so that a folder that was moved still serves.
        """
        settings = self.model_dump(mode="json", include={"seed", "models", "flex"})
        for way in ("timeout_seconds", "concurrency"):
            settings["models"]["target"].pop(way)
        for reading in ("normalise", "non_answers", "paraphrase"):
            settings["flex"].pop(reading)
        for source in settings["flex"]["data"]:
            source.pop("path")
        written = self.record.get("data", {}) if checksums is None else checksums
        settings["data"] = sorted(written.values())
        return settings


def read_run_file(path: Path, overrides: Mapping[str, object] | None = None) -> RunFile:
    """The run file at `path`, with `overrides` ("flex.shots": 2) put over what it says.

    Paths are read as the head of this module says; where `path` is a run folder's `run.toml`,
    `out` is that folder.

    Raises:
        ConfigError: names file, line where it can be found, key and mend.
    """
    values, text = read_toml(path, f"Write one with `askew init {path}`, or leave the file out.")
    make_absolute(_inputs(values), path.parent)
    if path.name == "run.toml" and (path.parent / "run.sqlite").is_file():
        values["out"] = str(path.parent.resolve())
    return checked(values, overrides, where=str(path), text=text)


def checked(
    values: dict[str, Any],
    overrides: Mapping[str, object] | None = None,
    *,
    where: str = "command line",
    text: str = "",
) -> RunFile:
    """A run file from parsed values; paths that are not absolute are meant from the working folder.

    Raises:
        ConfigError: names the first three faults, each with its key and, where `text` shows it,
            its line; what stands in `overrides` is blamed on the command line.
    """
    overrides = overrides or {}
    for key, value in overrides.items():
        put(values, key, value)
    make_absolute([*_inputs(values), (values, "out")], Path.cwd())
    return validated(RunFile, values, overrides, where=where, text=text)


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


def _inputs(values: dict[str, Any]) -> list[tuple[dict[str, Any], str]]:
    """Where a run file names what is read: a table, and the key of a path or a list of them."""
    places = [(values, "prices"), (values, "reuse")]
    flex = values.get("flex")
    if isinstance(flex, dict):
        data = flex.get("data")
        if isinstance(data, list):
            places += [(one, "path") for one in data if isinstance(one, dict)]
        if isinstance(flex.get("wording"), dict):
            places.append((flex["wording"], "published"))
    return places


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
    shown = "" if unshown else f" is {found!r}:"
    mend = {
        "extra_forbidden": "is no setting. Check the spelling in the settings table.",
        "missing": "is missing. Add it.",
    }.get(error["type"], f"{error['msg'].removeprefix('Value error, ')}.")
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
