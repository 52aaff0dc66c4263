"""`[flex]`: the settings of the FLEX audit."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from askew.audits.flex import CONTROLS, FlexConfig
from askew.datasets import DataSpec
from askew.prompts.choice import PromptFormat
from askew.prompts.objectives import published_wording
from askew.prompts.wording import Wording
from askew.records import AttackCategory, Sampling
from askew.runfile.tables import Count, DataTable, Table, named_data
from askew.scores.outcome import ScoreSettings

# What decides how replies are read, and not which questions are put.
READING = ("normalise", "non_answers", "paraphrase")


class WordingTable(Table):
    """`[flex.wording]`: how scenarios are worded."""

    persona_style: Literal["askew", "paper"] = "askew"
    adjective: str = "terrible"
    published: Path | None = None  # a clone of the FLEX release, for its five objectives
    personas: dict[str, tuple[str, ...]] = Field(default_factory=dict)
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
        return named_data(values)

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
