"""The tables that every audit's run file shares: models, budgets, data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from askew.models.base import ModelSpec
from askew.models.budget import Budget, Limits
from askew.models.engine import EngineSettings
from askew.privacy.redaction import Kind, Redaction
from askew.records import Sampling

Count = Annotated[int, Field(ge=0)]


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
    api_key_keyring: str | None = Field(default=None, pattern=r"^.+/[^/]+$")
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
            api_key_keyring=self.api_key_keyring,
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


Age = Annotated[str, Field(pattern=r"^\d{1,5} ?(d|w|m|y)$")]


class RetentionTable(Table):
    """`[retention]`: after how long `askew purge --due` takes what, counted from the last call."""

    texts: Age | None = None  # prompts, replies, items and cases
    all: Age | None = None


class RedactTable(Table):
    """`[redact]`: what is blacked out where texts leave the run folder; scores never change."""

    kinds: tuple[Kind, ...] = ()
    names: tuple[str, ...] = ()
    names_file: Path | None = None  # one a line
    patterns: tuple[str, ...] = ()

    def redaction(self) -> Redaction:
        """The same, ready for use.

        Raises:
            ConfigError: a pattern is no regular expression, or the file cannot be read.
        """
        return Redaction.of(self.kinds, self.names, self.names_file, self.patterns)


class EngineTable(Table):
    """`[engine]`: where calls are sent from. What is asked and found does not depend on it."""

    name: Literal["local", "ray"] = "local"
    address: str | None = None  # of a Ray cluster, HOST:PORT; "env" takes RAY_ADDRESS
    workers: int = Field(default=2, ge=1)
    cpus_per_worker: float = Field(default=1.0, ge=0, allow_inf_nan=False)
    gpus_per_worker: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    shard: int = Field(default=256, ge=1)  # calls that a worker is given at once, at most

    @model_validator(mode="before")
    @classmethod
    def _name_alone(cls, values: Any) -> Any:
        """`engine = "ray"` is short for a table with nothing but a name."""
        return {"name": values} if isinstance(values, str) else values

    @model_validator(mode="after")
    def _is_named(self) -> EngineTable:
        if self.model_fields_set and "name" not in self.model_fields_set:
            given = ", ".join(sorted(self.model_fields_set))
            raise ValueError(f'{given}: of no use without engine.name = "ray" (--engine ray)')
        return self

    def settings(self) -> EngineSettings | None:
        """What the engine reads; None where calls are sent from this process."""
        if self.name == "local":
            return None
        return EngineSettings(**self.model_dump(exclude={"name"}))


class DataTable(Table):
    """`[[flex.data]]`: a data set and where it lies."""

    name: str
    path: Path | None = None
    options: dict[str, Any] = {}


def named_data(values: Any) -> Any:
    """`data = ["bbq", "starter"]` is short for tables with nothing but a name."""
    if isinstance(values, dict) and isinstance(values.get("data"), list):
        named = [{"name": one} if isinstance(one, str) else one for one in values["data"]]
        return {**values, "data": named}
    return values
