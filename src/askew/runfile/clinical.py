"""`[clinical]`: the settings of the clinical audit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from askew import perturb
from askew.audits.clinical_answers import AnswerConfig
from askew.audits.clinical_effects import PRIMARY, EffectConfig
from askew.audits.clinical_generated import CHANGEABLE, COMBINATIONS, GeneratorConfig
from askew.audits.clinical_judging import JudgingConfig
from askew.audits.clinical_reference import TEMPERATURES
from askew.audits.clinical_study import StudyConfig
from askew.audits.judge_questions import JudgeKind
from askew.datasets import DataSpec
from askew.errors import ConfigError, unknown_name
from askew.models.embedder import NAME as PACKAGED_EMBEDDER
from askew.models.embedder import available as embedder_available
from askew.prompts.clinical import MOST_SHOTS
from askew.prompts.marked import JudgeForm
from askew.records import Sampling
from askew.runfile.tables import DataTable, Table, named_data
from askew.scores.endpoints import ENDPOINTS
from askew.vignettes import AnswerForm

# §4.1: "A baseline temperature and token size were set to 0.5 and 400, respectively."
TEMPERATURE = 0.5
MAX_TOKENS = 400
JUDGES = "judge"  # a run may have several: [models.judge], [models.judge_2], …
ROLES = ("target", "generator", "attacker", "reference")
NO_EMBEDDER = "none"

Arm = Literal["original", "neutral", "each", "pairs", "all"]
Share = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Degree = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class AttributeTable(Table):
    """`[[clinical.declared]]`: an attribute of the user's own: insurance, language, names."""

    name: str = Field(pattern=r"^[^+=|/#]+$")  # arms are named "age=20-35+NAME=LEVEL"
    levels: tuple[str, ...] = Field(min_length=2)
    phrase: str  # "The patient is insured by {}."
    wording: dict[str, str] = Field(default_factory=dict)

    def attribute(self) -> perturb.Attribute:
        """The same as the perturbation reads it."""
        return perturb.Attribute(
            name=self.name, levels=self.levels, phrase=self.phrase, wording=self.wording
        )


class JudgeTable(Table):
    """`[clinical.judge]`: what judges are asked; read where the run has one.

    Kinds: `quality` of perturbed questions (Table 1), `bias` on five dimensions (Table 3),
    `consistency` of the hops, `pairwise` multi-hop against direct (Figure 7), `difference`, blind,
    between a twin's answer and the original's, `justified` (do guidelines have it so), `gpt_score`
    where the judge serves log-probabilities.
    """

    kinds: tuple[JudgeKind, ...] = ("quality", "bias", "consistency", "pairwise", "difference")
    items: Annotated[int, Field(ge=1)] | Literal["all"] = 20  # QAs a cell (§4.3.3)
    controls: int = Field(default=20, ge=0)  # of each kind: placebo, planted, label-only
    repeats: int = Field(default=3, ge=1)  # of each judgement
    re_asks: int = Field(default=1, ge=0)  # of a reply that cannot be read
    form: JudgeForm | Literal["auto"] = "auto"  # "auto": as the run was begun; a new one "marked"


_PAPER: dict[str, object] = {
    "data": ({"name": "zack_cases"},),
    "backend": "model",
    "variants": 4,
    "combinations": (("age", "gender", "place"),),
    "arms": ("original",),
    "answers": ("direct", "single"),
    "structured": False,
    "replicates": 1,
}
PRESETS: dict[str, dict[str, object]] = {"paper": _PAPER}
# Table 3's pairs: a part of the target's name -> the judges of it.
PAPER_JUDGES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("mistral-7b", ("gpt-4o", "llama-3.2-3b-instruct", "mistral-7b")),
    ("llama", ("gpt-4o", "llama-3.2-3b-instruct")),
    ("", ("gpt-4o",)),
)


class ClinicalTable(Table):
    """`[clinical]`: the clinical audit. Section numbers are the paper's."""

    preset: Literal["paper"] | None = None
    data: tuple[DataTable, ...] = (DataTable(name="starter"),)
    lenient: bool = False
    vignettes: int | None = Field(default=None, ge=1)  # a source, drawn by the seed
    rules: str = "full"
    attributes: tuple[str, ...] = ("age", "gender", "place", "race")
    levels: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    declared: tuple[AttributeTable, ...] = ()
    arms: tuple[Arm, ...] = ("original", "neutral", "each")
    combinations: tuple[tuple[str, ...], ...] = ()
    backend: Literal["edit", "template", "model"] = "edit"
    variants: int = Field(default=4, ge=1)  # of the attacker, a combination (§4.1)
    template: Literal["askew", "paper"] = "askew"  # where a text is built anew
    unsure: Literal["drop", "template"] = "drop"  # what no edit can say for sure
    keep_odd: bool = False
    sample: int | None = Field(default=None, ge=1)  # variants a vignette, drawn by the seed
    answers: tuple[AnswerForm, ...] = Field(default=("direct", "single"), min_length=1)
    structured: bool = True
    first_hop: Literal["target", "extractor"] = "target"
    steps: Literal["paper", "neutral"] = "paper"
    shots: int = Field(default=2, ge=0, le=MOST_SHOTS)
    replicates: int = Field(default=5, ge=1)
    primary: tuple[str, ...] = PRIMARY
    margins: dict[str, Share] = Field(default_factory=dict)
    reference: dict[str, str] = Field(default_factory=lambda: dict(EffectConfig().reference))
    temperatures: tuple[Degree, ...] = TEMPERATURES  # of the sweep against a reference model
    embedder: str = "auto"
    judge: JudgeTable = JudgeTable()

    @model_validator(mode="before")
    @classmethod
    def _expanded(cls, values: Any) -> Any:
        """A preset's values under those that are given, and data by their names alone."""
        if isinstance(values, dict):
            values = {**PRESETS.get(str(values.get("preset")), {}), **values}
            if isinstance(values.get("reference"), dict):
                # What is named for one attribute leaves the others as they are.
                values["reference"] = {**EffectConfig().reference, **values["reference"]}
        return named_data(values)

    @model_validator(mode="after")
    def _names_are_known(self) -> ClinicalTable:
        try:
            for endpoint in (*self.primary, *self.margins):
                if endpoint not in ENDPOINTS:
                    raise unknown_name("endpoint", endpoint, list(ENDPOINTS))
            plan = self.plan()
            self._check_reference(plan)
        except ConfigError as trouble:
            raise ValueError(str(trouble)) from None
        return self

    @model_validator(mode="after")
    def _nothing_twice(self) -> ClinicalTable:
        """What is named twice would be asked or counted twice."""
        for name in ("answers", "arms", "combinations", "primary", "temperatures"):
            values = getattr(self, name)
            if len(set(values)) < len(values):
                raise ValueError(f"{name} names one thing twice: {list(values)}. Name each once")
        own = [table.name for table in self.declared]
        if twice := [name for name in own if own.count(name) > 1 or name in perturb.STANDARD]:
            raise ValueError(
                f"declared attribute {twice[0]!r} has the name of another. Give it one of its own"
            )
        return self

    @model_validator(mode="after")
    def _fits_the_back_end(self) -> ClinicalTable:
        """What only edits can do is refused where models make the twins, before they are paid."""
        if self.backend != "model":
            return self
        for combination in self.combinations:
            if strange := [name for name in combination if name not in CHANGEABLE]:
                raise ValueError(
                    f'backend "model" changes {", ".join(CHANGEABLE)}, and not {strange[0]!r}. '
                    'Leave it out of the combinations, or set backend = "edit"'
                )
            if not combination or len(set(combination)) < len(combination):
                raise ValueError(
                    f"combination {list(combination)} names no attribute, or one of them twice"
                )
        unread = [name for name in ("declared", "sample") if getattr(self, name)]
        if unread:
            raise ValueError(
                f'{unread[0]} is not read where backend is "model". Leave it out, or set '
                'backend = "edit"'
            )
        return self

    def _check_reference(self, plan: perturb.PerturbPlan) -> None:
        """Refuse a reference that the file itself gives and nothing can be held against."""
        if "reference" not in self.model_fields_set:
            return
        named = [one.name for one in plan.attributes]
        for attribute, level in self.reference.items():
            if attribute not in (*named, *perturb.STANDARD):
                raise unknown_name("attribute of a reference", attribute, named)
            levels = plan.attribute(attribute).levels if attribute in named else ()
            by_name = {one.casefold(): one for one in levels}
            # A data set may bring levels of its own; one that differs in case alone is a slip.
            if level not in levels and level.casefold() in by_name:
                raise unknown_name(f"level of {attribute}", level, list(levels))

    def settled(self) -> ClinicalTable:
        """The same table with nothing left to "auto"."""
        if self.embedder != "auto":
            return self
        found = PACKAGED_EMBEDDER if embedder_available() else NO_EMBEDDER
        return self.model_copy(update={"embedder": found})

    def plan(self) -> perturb.PerturbPlan:
        """How twins are made by rule.

        Raises:
            ConfigError: an attribute or a level is not known.
        """
        own = {table.name: table.attribute() for table in self.declared}
        known = {**perturb.STANDARD, **own}
        named = (*self.attributes, *(name for name in own if name not in self.attributes))
        attributes = []
        for name in named:
            if name not in known:
                raise ConfigError(
                    f"{unknown_name('attribute', name, list(known))} An attribute of your own "
                    "needs its levels: declare it in a table [[clinical.declared]]."
                )
            attributes.append(_with_levels(known[name], self.levels.get(name)))
        for name in self.levels:
            if name not in named:
                raise unknown_name("attribute with levels", name, list(named))
        return perturb.PerturbPlan(
            attributes=tuple(attributes),
            arms=self.arms,
            combinations=self.combinations if self.backend != "model" else (),
            backend="template" if self.backend == "template" else "edit",
            template=self.template,
            unsure=self.unsure,
            keep_odd=self.keep_odd,
            sample=self.sample,
        )

    def study_config(self) -> StudyConfig:
        """What is read."""
        return StudyConfig(
            data=tuple(DataSpec(one.name, one.path, one.options) for one in self.data),
            lenient=self.lenient,
            vignettes=self.vignettes,
            rules=self.rules,
            plan=self.plan(),
        )

    def generator_config(self, generator: Sampling, attacker: Sampling) -> GeneratorConfig:
        """How models make twins, where the back end is "model"."""
        known = {name: one.levels for name, one in perturb.STANDARD.items()}
        levels = {**known, **{one.name: one.levels for one in self.plan().attributes}}
        return GeneratorConfig(
            variants=self.variants,
            combinations=self.combinations or COMBINATIONS,
            levels=levels,
            rules=self.rules,
            keep_odd=self.keep_odd,
            generator=generator,
            attacker=attacker,
        )

    def answer_config(self, sampling: Sampling) -> AnswerConfig:
        """How answers are asked for."""
        return AnswerConfig(
            forms=self.answers,
            structured=self.structured,
            first_hop=self.first_hop,
            steps=self.steps,
            shots=self.shots,
            replicates=self.replicates,
            sampling=sampling,
        )

    def judging_config(self, sampling: Mapping[str, Sampling]) -> JudgingConfig:
        """What judges are asked.

        Args:
            sampling: by the judge's role.
        """
        table = self.judge
        return JudgingConfig(
            kinds=table.kinds,
            items=None if table.items == "all" else table.items,
            controls=table.controls,
            repeats=table.repeats,
            re_asks=table.re_asks,
            form="marked" if table.form == "marked" else "plain",
            sampling=sampling,
        )

    def effect_config(self) -> EffectConfig:
        """What is declared beforehand."""
        return EffectConfig(primary=self.primary, margins=self.margins, reference=self.reference)


def with_paper_judges(values: dict[str, Any]) -> dict[str, Any]:
    """A run file's values with the paper's judges and makers of questions added to its preset.

    What the file names itself stays. The models are OpenAI-compatible ones; where they lie is for
    the user to say (`models.judge.base_url`).
    """
    clinical, models = values.get("clinical"), values.get("models")
    if not (isinstance(clinical, dict) and isinstance(models, dict)):
        return values
    if clinical.get("preset") != "paper":
        return values
    named = {role: {"name": "openai/gpt-4o"} for role in ("generator", "attacker")}
    if not any(str(role).startswith(JUDGES) for role in models):
        target = models.get("target")
        name = str(target.get("name", "")) if isinstance(target, dict) else ""
        judges = next(found for part, found in PAPER_JUDGES if part in name.casefold())
        roles = ("judge", *(f"judge_{number}" for number in range(2, len(judges) + 1)))
        named |= {
            role: {"name": f"openai/{judge}"} for role, judge in zip(roles, judges, strict=True)
        }
    return {**values, "models": {**named, **models}}


# What decides how replies are read, and not which are asked for.
READING = ("primary", "margins", "reference", "embedder")


def _with_levels(attribute: perturb.Attribute, levels: tuple[str, ...] | None) -> perturb.Attribute:
    return attribute if levels is None else replace(attribute, levels=levels)
