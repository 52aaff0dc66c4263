"""Build files: TOML -> checked, frozen settings of `askew flex build`, and back as `build.toml`.

What a file leaves open is settled here, so that the resolved file says everything and a resumed
build asks the same questions. Paths are read as in run files (`askew.runfile`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from askew.audits.flex import CONTROLS, FlexConfig
from askew.build.attack_model import MOST_VARIANTS, TRIES, VARIANTS
from askew.build.select import Rule
from askew.datasets import DataSpec
from askew.prompts.choice import PromptFormat
from askew.prompts.text_attack import TEXT_ATTACKS
from askew.prompts.wording import Wording
from askew.records import AttackCategory, Sampling
from askew.runfile import (
    BudgetTable,
    Count,
    DataTable,
    FlexTable,
    ModelTable,
    Table,
    WordingTable,
    make_absolute,
    put,
    read_toml,
    validated,
)
from askew.scores.outcome import ScoreSettings

ROLES = ("target", "attacker", "judge")
ROTATIONS = 3
# The paper's replies were sampled; at temperature 0 five replies are one reply five times.
BUILD_TEMPERATURE = 1.0


class BuildTable(Table):
    """`[build]`: how the set is made. Section numbers are FLEX's."""

    sources: tuple[DataTable, ...] = (DataTable(name="starter"),)
    lenient: bool = False
    items: int | None = Field(default=None, ge=1)  # a source, drawn by the seed
    controls: Count = CONTROLS
    categories: tuple[AttackCategory, ...] = Field(default=tuple(AttackCategory), min_length=1)
    text_attacks: tuple[str, ...] = TEXT_ATTACKS  # the kinds that are made
    # Those that a data set brings are taken as they are; false: none of them is.
    keep_text_attacks: bool = True
    tries: int = Field(default=TRIES, ge=1)  # of a model that attacks, for one text attack
    variants: int = Field(default=VARIANTS, ge=1, le=MOST_VARIANTS)  # on one question of many items
    embedder: str | None = None
    similarity_from: float | None = Field(default=None, ge=-1, le=1)
    source_replies: int | None = Field(default=None, ge=1)  # §3.2.1; None: 1, or 3 with rotations
    replies: int | None = Field(default=None, ge=1)  # §3.2.2; None: 5, or 6 with rotations
    biased_from: int | None = Field(default=None, ge=1)  # §3.2.2; None: more than half of them
    estimate_replies: int | None = Field(default=None, ge=1)  # None: as many as `replies`
    rotations: Literal["one", "all"] = "one"
    option_order: Literal["file", "shuffled"] = "file"
    exhaustive: bool = False  # ask what can no longer change the choice, too
    # Replies asked for ahead of need, an item at a time; None: none where a call costs, else as
    # many as fill the model's batches. It changes what is asked, never what is chosen.
    ahead: int | None = Field(default=None, ge=1)
    prompt: Literal["auto", "flex", "chat"] = "auto"
    scoring: Literal["auto", "letters", "texts", "reply"] = "auto"
    list_options: bool | None = None
    attack_role: Literal["system", "user"] = "system"
    normalise: Literal["sum", "bytes"] = "sum"
    paraphrase: Literal["unreadable", "neutral"] = "unreadable"
    # Of the draws that stand for replies where log-probabilities are scored.
    draw_temperature: float = Field(default=1.0, ge=0)
    wording: WordingTable = WordingTable()

    @model_validator(mode="before")
    @classmethod
    def _sources_by_name(cls, values: Any) -> Any:
        """`sources = ["bbq", "starter"]` is short for tables with nothing but a name."""
        if isinstance(values, dict) and isinstance(values.get("sources"), list):
            named = [{"name": one} if isinstance(one, str) else one for one in values["sources"]]
            return {**values, "sources": named}
        return values

    @model_validator(mode="after")
    def _counts_fit(self) -> BuildTable:
        if len(set(self.categories)) < len(self.categories):
            raise ValueError("categories names one twice; name each once")
        settled = self.counts()
        if settled["biased_from"] > settled["replies"]:
            raise ValueError(
                f"biased_from is {settled['biased_from']} of {settled['replies']} replies, which "
                "no scenario can reach; lower it, or ask for more replies"
            )
        if self.rotations == "all":
            for name in ("source_replies", "replies", "estimate_replies"):
                if settled[name] % ROTATIONS:
                    raise ValueError(
                        f"{name} is {settled[name]}, and with rotations = 'all' each of the three "
                        "rotations is asked equally often; use a multiple of 3"
                    )
        return self

    def counts(self) -> dict[str, int]:
        """The numbers of replies and the threshold, with nothing left open."""
        rotated = self.rotations == "all"
        replies = self.replies or (2 * ROTATIONS if rotated else 5)
        return {
            "source_replies": self.source_replies or (ROTATIONS if rotated else 1),
            "replies": replies,
            "biased_from": self.biased_from or replies // 2 + 1,
            "estimate_replies": self.estimate_replies or replies,
        }

    def settled(self, provider: str) -> BuildTable:
        """The same table with nothing left open."""
        flex = FlexTable(
            scoring=self.scoring, prompt=self.prompt, list_options=self.list_options
        ).settled(provider)
        asked = {name: getattr(flex, name) for name in ("scoring", "prompt", "list_options")}
        return self.model_copy(update={**asked, **self.counts()})


class BuildFile(Table):
    """A whole build file."""

    seed: Count = 0
    out: Path | None = None
    prices: Path | None = None
    reuse: tuple[Path, ...] = ()
    unknown: Literal["skip", "retry"] = "skip"
    local_only: bool = False
    models: dict[str, ModelTable]
    budget: BudgetTable = BudgetTable()
    build: BuildTable = BuildTable()
    # Versions and checksums that a build has written.
    record: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _has_known_roles(self) -> BuildFile:
        strangers = sorted(set(self.models) - set(ROLES))
        if strangers or "target" not in self.models:
            raise ValueError(
                "models must hold [models.target], and may hold [models.attacker] and "
                "[models.judge]; without an attacker the text attacks are made by rules"
            )
        if budgets := sorted(set(self.budget.roles) - set(ROLES)):
            raise ValueError(f"budget.roles names {budgets[0]!r}, expected {', '.join(ROLES)}")
        return self

    @property
    def target(self) -> ModelTable:
        """The model that the set is selected on."""
        return self.models["target"]

    def settled(self) -> BuildFile:
        """The same file with nothing left open."""
        build = self.build.settled(self.target.spec().provider)
        models = dict(self.models)
        for role in ("target", "attacker"):
            table = models.get(role)
            # What scores choices draws nothing itself, and shares its calls with `askew run`.
            drawn = role == "attacker" or build.scoring == "reply"
            if table is not None and drawn and "temperature" not in table.model_fields_set:
                models[role] = table.model_copy(update={"temperature": BUILD_TEMPERATURE})
        return self.model_copy(update={"build": build, "models": models})

    def questions_key(self, checksums: Mapping[str, str] | None = None) -> dict[str, Any]:
        """What decides which questions are put and what is chosen; a folder holds one such build.

        Args:
            checksums: of the data files, by name; default: those that a build has written down.
        """
        settings = self.model_dump(mode="json", include={"seed", "models", "build"})
        for table in settings["models"].values():
            for way in ("timeout_seconds", "concurrency", "api_key_keyring"):
                table.pop(way)
        # Asking more than is needed changes no choice.
        for way in ("exhaustive", "ahead"):
            settings["build"].pop(way)
        for source in settings["build"]["sources"]:
            source.pop("path")
        written = self.record.get("data", {}) if checksums is None else checksums
        settings["data"] = sorted(written.values())
        return settings

    def config(self) -> BuildConfig:
        """What the builder reads; the file must be settled.

        Raises:
            DataError: the published wording is wanted and cannot be read.
        """
        table = self.build
        assert table.scoring != "auto"
        assert table.prompt != "auto"
        counts = table.counts()
        prompt_format = PromptFormat(
            form=table.prompt,
            scoring=table.scoring,
            list_options=table.list_options is not False,
            attack_role=table.attack_role,
        )
        wording = table.wording.wording()
        return BuildConfig(
            seed=self.seed,
            study=FlexConfig(
                data=tuple(DataSpec(one.name, one.path, one.options) for one in table.sources),
                lenient=table.lenient,
                items=table.items,
                controls=table.controls,
                categories=table.categories,
                scenarios="random",  # whatever a set has assigned, the scenario is chosen anew
                wording=wording,
            ),
            categories=table.categories,
            text_attacks=table.text_attacks,
            keep_text_attacks=table.keep_text_attacks,
            rule=Rule(counts["replies"], counts["biased_from"], table.exhaustive),
            source_replies=counts["source_replies"],
            estimate_replies=counts["estimate_replies"],
            all_rotations=table.rotations == "all",
            option_order=table.option_order,
            prompt_format=prompt_format,
            scores=ScoreSettings(
                normalise=table.normalise,
                # lm-evaluation-harness takes the first maximum, and so does the release's prompt.
                tie="first" if table.prompt == "flex" else "tied",
                paraphrase=table.paraphrase,
            ),
            sampling=self.target.sampling(),
            draw_temperature=table.draw_temperature,
            ahead=table.ahead,
            wording=wording,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class BuildConfig:
    """The settings of a build in the forms in which its steps take them."""

    seed: int
    study: FlexConfig  # how the sources are read and drawn from
    categories: tuple[AttackCategory, ...]
    text_attacks: tuple[str, ...]
    keep_text_attacks: bool
    rule: Rule
    source_replies: int
    estimate_replies: int
    all_rotations: bool
    option_order: Literal["file", "shuffled"]
    prompt_format: PromptFormat
    scores: ScoreSettings
    sampling: Sampling
    draw_temperature: float
    ahead: int | None
    wording: Wording

    @property
    def sampled(self) -> bool:
        """Whether the target writes replies; else they are drawn from its log-probabilities."""
        return self.prompt_format.scoring == "reply"


def read_build_file(path: Path, overrides: Mapping[str, object] | None = None) -> BuildFile:
    """The build file at `path`, with `overrides` ("build.replies": 10) put over what it says.

    Where `path` is a build folder's `build.toml`, `out` is that folder.

    Raises:
        ConfigError: names file, line where it can be found, key and mend.
    """
    values, text = read_toml(path, "Write one as docs/build.md shows, or leave the file out.")
    make_absolute(_inputs(values), path.parent)
    if path.name == "build.toml" and (path.parent / "run.sqlite").is_file():
        values["out"] = str(path.parent.resolve())
    return checked(values, overrides, where=str(path), text=text)


def checked(
    values: dict[str, Any],
    overrides: Mapping[str, object] | None = None,
    *,
    where: str = "command line",
    text: str = "",
) -> BuildFile:
    """A build file from parsed values; paths that are not absolute are meant from here.

    Raises:
        ConfigError: names the first three faults, each with its key and, where `text` shows it,
            its line.
    """
    overrides = overrides or {}
    for key, value in overrides.items():
        put(values, key, value)
    make_absolute([*_inputs(values), (values, "out")], Path.cwd())
    return validated(BuildFile, values, overrides, where, text)


def _inputs(values: dict[str, Any]) -> list[tuple[dict[str, Any], str]]:
    """Where a build file names what is read: a table, and the key of a path or a list of them."""
    places = [(values, "prices"), (values, "reuse")]
    build = values.get("build")
    if isinstance(build, dict):
        sources = build.get("sources")
        if isinstance(sources, Sequence):
            places += [(one, "path") for one in sources if isinstance(one, dict)]
        if isinstance(build.get("wording"), dict):
            places.append((build["wording"], "published"))
    return places
