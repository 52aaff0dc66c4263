"""Run files: TOML -> checked, frozen settings, and back as the resolved `run.toml`.

What a file leaves open ("auto") is settled here from the target's provider, so that the resolved
file says everything and a resumed run asks the same questions.

Paths become absolute as they are read. What a run reads (`prices`, `reuse`, data, the published
wording) is meant from the file's own folder; what is given on the command line, and `out`, from the
working folder. A `run.toml` in a run folder has no `out`: it means the folder in which it lies, so
that a run that was moved goes on where it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from askew.audits.flex import FlexConfig
from askew.errors import ConfigError
from askew.prompts.wording import DEFAULT_WORDING
from askew.report.which_audit import AUDITS, Audit
from askew.runfile.boundary import ROLES as BOUNDARY_ROLES
from askew.runfile.boundary import STARTER, BoundaryTable
from askew.runfile.clinical import JUDGES, MAX_TOKENS, TEMPERATURE, ClinicalTable, with_paper_judges
from askew.runfile.clinical import READING as CLINICAL_READING
from askew.runfile.clinical import ROLES as CLINICAL_ROLES
from askew.runfile.flex import READING as FLEX_READING
from askew.runfile.flex import FlexTable, WordingTable
from askew.runfile.reading import make_absolute, put, read_toml, validated, write_run_file
from askew.runfile.tables import (
    SERVERS_OWN,
    BudgetTable,
    Count,
    DataTable,
    EngineTable,
    ModelTable,
    RedactTable,
    RetentionTable,
    RoleBudgetTable,
    Table,
)

__all__ = [
    "AUDITS",
    "SERVERS_OWN",
    "Audit",
    "BoundaryTable",
    "BudgetTable",
    "ClinicalTable",
    "Count",
    "DataTable",
    "EngineTable",
    "FlexTable",
    "ModelTable",
    "RoleBudgetTable",
    "RunFile",
    "Table",
    "WordingTable",
    "checked",
    "inputs_absolute",
    "make_absolute",
    "put",
    "read_run_file",
    "read_toml",
    "read_values",
    "validated",
    "write_run_file",
]


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
    engine: EngineTable | None = None
    retention: RetentionTable | None = None
    redact: RedactTable | None = None
    flex: FlexTable = FlexTable()  # read where it is given, and where no other audit's table is
    clinical: ClinicalTable | None = None
    boundary: BoundaryTable | None = None
    # Versions and checksums that a run has written. Those of the data tell two runs apart; the rest
    # is for people. A run of several audits keeps what is one audit's below `record.audits.NAME`.
    record: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _judged_as_the_paper(cls, values: Any) -> Any:
        """The paper's preset names the judges of its targets, where the file names none."""
        return with_paper_judges(values) if isinstance(values, dict) else values

    @model_validator(mode="after")
    def _fits_its_audits(self) -> RunFile:
        strange = [role for role in self.models if not self._audits_with(role)]
        if "target" not in self.models or strange:
            known = dict.fromkeys(role for audit in self.audits for role in _ROLES[audit])
            more = [role for role in known if role != "target"]
            if self.clinical is not None:
                more += [one for one in ("judge", "judge_2") if one not in more]
            also = f"; also {', '.join(more)}" if more else ""
            raise ValueError(f"models must hold [models.target]{also}" + _strange(strange))
        self._check_budget_roles()
        if self.clinical is not None and self.clinical.backend == "model":
            for role in ("generator", "attacker"):
                if role not in self.models:
                    raise ValueError(f'clinical.backend is "model", which asks [models.{role}]')
        return self

    def _check_budget_roles(self) -> None:
        """A budget that no call would be counted against is a slip; judges share one."""
        roles = dict.fromkeys(JUDGES if self._is_judge(role) else role for role in self.models)
        if strange := [role for role in self.budget.roles if role not in roles]:
            raise ValueError(
                f"[budget.roles.{strange[0]}] is the budget of no role. Known: {', '.join(roles)}"
                + ("; all judges share one" if self._is_judge(strange[0]) else "")
            )

    @model_serializer(mode="wrap")
    def _its_audits(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        values: dict[str, Any] = handler(self)
        for name in AUDITS:
            if name not in self.audits:
                values.pop(name, None)
        if len(self.audits) > 1 and "models" in values:
            # What is left open is another thing in each audit: the paper's temperature, say.
            for role, table in values["models"].items():
                given = self.models[role].model_fields_set
                values["models"][role] = {key: one for key, one in table.items() if key in given}
        return values

    @property
    def audits(self) -> tuple[Audit, ...]:
        """The audits that the file describes, in their order; at least one."""
        given = (name for name in AUDITS if name in self.model_fields_set)
        return tuple(name for name in given if getattr(self, name) is not None) or ("flex",)

    def _audits_with(self, role: str) -> tuple[Audit, ...]:
        """The audits of the file that ask a role's model."""
        return tuple(
            audit
            for audit in self.audits
            if role in _ROLES[audit] or (audit == "clinical" and self._is_judge(role))
        )

    def part(self, audit: Audit) -> RunFile:
        """The file as it would be if it described this audit alone.

        Args:
            audit: one of `audits`.
        """
        if self.audits == (audit,):
            return self
        given = self.model_fields_set | {audit}
        values = {name: getattr(self, name) for name in given if name not in AUDITS}
        roles = [role for role in self.models if audit in self._audits_with(role)]
        own = self.record.get("audits", {}).get(audit, {})
        shared = {name: one for name, one in self.record.items() if name != "audits"}
        values["models"] = {role: self.models[role] for role in roles}
        values |= {audit: getattr(self, audit), "record": {**shared, **own}}
        # Checked already; a budget may name roles of another audit.
        return RunFile.model_construct(set(values), **values)

    def _is_judge(self, role: str) -> bool:
        return self.clinical is not None and (role == JUDGES or role.startswith(f"{JUDGES}_"))

    @property
    def target(self) -> ModelTable:
        """The model under audit."""
        return self.models["target"]

    @property
    def judges(self) -> tuple[str, ...]:
        """The roles of the judges, in the order of the file."""
        return tuple(role for role in self.models if self._is_judge(role))

    def settled(self) -> RunFile:
        """The same file with nothing left to "auto".

        How a model's replies are drawn stays open in a file of several audits: each has its own.
        """
        if len(self.audits) > 1:
            parts: dict[str, Any] = {
                audit: getattr(self.part(audit).settled(), audit) for audit in self.audits
            }
            return self.model_copy(update=parts)
        if self.boundary is not None:
            return self.model_copy(update={"boundary": self.boundary.settled()})
        if self.clinical is None:
            return self.model_copy(update={"flex": self.flex.settled(self.target.spec().provider)})
        models = {role: _drawn_as_the_paper(table) for role, table in self.models.items()}
        return self.model_copy(update={"clinical": self.clinical.settled(), "models": models})

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
        """What decides which questions of its one audit are put; a folder holds one such set.

        Args:
            checksums: of the data files, by name; default: those that a run has written down.
                Data are told apart by their content, so that a folder that was moved still serves.
        """
        (audit,) = self.audits
        settings = self.model_dump(mode="json", include={"seed", "models", audit})
        for table in settings["models"].values():
            for way in ("timeout_seconds", "concurrency", "api_key_keyring"):
                table.pop(way)
        for name in (*_READING[audit], *_APART[audit]):
            settings[audit].pop(name)
        # A run goes on in the form in which it was begun, whatever the form of new ones is.
        settings[audit].pop("judge_form", None)
        settings[audit].get("judge", {}).pop("form", None)
        for source in settings[audit].get("data", ()):
            source.pop("path")
        written = self.record.get("data", {}) if checksums is None else checksums
        settings["data"] = sorted(written.values())
        return settings


_ROLES: Mapping[str, tuple[str, ...]] = {
    "flex": ("target",),
    "clinical": CLINICAL_ROLES,
    "boundary": BOUNDARY_ROLES,
}
_READING: Mapping[str, tuple[str, ...]] = {
    "flex": FLEX_READING,
    "clinical": CLINICAL_READING,
    "boundary": (),  # what its policy is told decides what is asked next
}
# Where something lies that is told apart by its checksum; and how far a search goes, as it may go
# on further in its folder.
_APART: Mapping[str, tuple[str, ...]] = {
    "flex": (),
    "clinical": (),
    "boundary": ("graph", "checkpoint", "question_sets", "slant_references", "queries"),
}


def _drawn_as_the_paper(table: ModelTable) -> ModelTable:
    """A model of the clinical audit: temperature and length as in §4.1 where the file is mute."""
    defaults = {"temperature": TEMPERATURE, "max_tokens": MAX_TOKENS}
    mute = {key: value for key, value in defaults.items() if key not in table.model_fields_set}
    return table.model_copy(update=mute)


def _strange(roles: list[str]) -> str:
    return f", and not {', '.join(f'[models.{role}]' for role in roles)}" if roles else ""


def read_run_file(path: Path, overrides: Mapping[str, object] | None = None) -> RunFile:
    """The run file at `path`, with `overrides` ("flex.shots": 2) put over what it says.

    Paths are read as the head of this module says; where `path` is a run folder's `run.toml`,
    `out` is that folder.

    Raises:
        ConfigError: names file, line where it can be found, key and mend.
    """
    values, text = read_values(path)
    if path.name == "run.toml" and (path.parent / "run.sqlite").is_file():
        values["out"] = str(path.parent.resolve())
    return checked(values, overrides, where=str(path), text=text)


def read_values(path: Path) -> tuple[dict[str, Any], str]:
    """The values of a run file as they stand, what it reads made absolute; and its text.

    Raises:
        ConfigError: it is not there, or no TOML.
    """
    values, text = read_toml(path, f"Write one with `askew init {path}`, or leave the file out.")
    inputs_absolute(values, path.parent)
    return values, text


def inputs_absolute(values: dict[str, Any], folder: Path) -> None:
    """Make the paths of what a run reads absolute, as they are meant from a folder."""
    make_absolute(_inputs(values), folder)


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
    given = [name for name in AUDITS if name in values]
    for key, value in overrides.items():
        table = key.partition(".")[0]
        if given and table in AUDITS and table not in given:
            there = " and ".join(f"[{name}]" for name in given)
            file = "the settings have" if where == "command line" else f"{where} has"
            raise ConfigError(
                f"command line: {key}: {file} no [{table}] table but {there}. Leave the option "
                "out, or add the table."
            )
        put(values, key, value)
    make_absolute([*_inputs(values), (values, "out")], Path.cwd())
    return validated(RunFile, values, overrides, where=where, text=text)


def _inputs(values: dict[str, Any]) -> list[tuple[dict[str, Any], str]]:
    """Where a run file names what is read: a table, and the key of a path or a list of them."""
    places = [(values, "prices"), (values, "reuse")]
    if isinstance(redact := values.get("redact"), dict):
        places.append((redact, "names_file"))
    boundary = values.get("boundary")
    if isinstance(boundary, dict):
        read = ("checkpoint", "question_sets", "slant_references")
        places += [(boundary, name) for name in read]
        if boundary.get("graph") != STARTER:
            places.append((boundary, "graph"))
    for audit in ("flex", "clinical"):
        table = values.get(audit)
        if isinstance(table, dict):
            data = table.get("data")
            if isinstance(data, list):
                places += [(one, "path") for one in data if isinstance(one, dict)]
            if isinstance(table.get("wording"), dict):
                places.append((table["wording"], "published"))
    return places
