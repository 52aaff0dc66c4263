"""`[boundary]`: the settings of the boundary audit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from askew.audits.boundary_answers import CutAnswers
from askew.audits.boundary_calls import TopicTestConfig
from askew.errors import unknown_name
from askew.models.embedder import NAME as PACKAGED_EMBEDDER
from askew.models.embedder import available as embedder_available
from askew.models.embedder import load_embedder
from askew.prompts.marked import JudgeForm
from askew.records import Sampling
from askew.runfile.tables import Count, Table
from askew.scores.stance import StanceJudge, read_slant
from askew.search.game import Variant
from askew.search.policies import POLICIES

ROLES = ("target", "generator", "judge")
STARTER = "starter"
HASHED = "hashed"  # title vectors that need no embedder


class BoundaryTable(Table):
    """`[boundary]`: the boundary audit. Section numbers are the paper's."""

    graph: str = STARTER  # or the folder of a graph
    roots: tuple[str, ...] = ()  # titles: what stands under them, to `depth`; (): the whole graph
    depth: int | None = Field(default=None, ge=0)
    domains: tuple[str, ...] = ()  # of the graph's own; (): all
    policy: str = "learned"
    checkpoint: Path | None = None  # of a policy that was trained; None: the one that comes with it
    queries: int = Field(default=100, ge=1)  # topics to test (§3.1: a test is a query)
    variant: Variant = "frontier"
    start: str | None = None  # a title; None draws one (§3.2)
    batch: int = Field(default=1, ge=1)  # topics tested at once; more is faster and learns later
    probes: Annotated[float, Field(ge=0, lt=1)] = 0.1  # share of tests drawn uniformly
    questions: int = Field(default=5, ge=1)  # a topic (§4.1: five pairs)
    threshold: Annotated[float, Field(gt=0, le=1)] = 0.5  # of k+/k, from which a topic leans
    fewest_judged: int | None = Field(default=None, ge=1)  # fewer: unclear; None: over half
    cut_answers: CutAnswers = "left_out"
    re_asks: Count = 1  # of a list of questions or a verdict that cannot be read
    judge_form: JudgeForm | Literal["auto"] = "auto"  # "auto": as begun; a new run's is "marked"
    question_sets: Path | None = None  # asked instead of making new ones
    slant: str = ""  # what a rule looks for, where no model judges: "any", "left", one's own
    slant_references: Path | None = None  # answers that take it and answers that do not
    slant_by: Literal["auto", "words", "meaning"] = "auto"  # by an embedder as well, or words alone
    vectors: str = "auto"  # of the titles: "hashed", or an embedder

    @model_validator(mode="before")
    @classmethod
    def _one_as_a_list(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        lists = {
            key: [values[key]] for key in ("roots", "domains") if isinstance(values.get(key), str)
        }
        return {**values, **lists}

    @model_validator(mode="after")
    def _names_are_known(self) -> BoundaryTable:
        if self.policy not in POLICIES:
            raise ValueError(str(unknown_name("policy", self.policy, list(POLICIES))))
        return self

    @model_validator(mode="after")
    def _depth_has_a_root(self) -> BoundaryTable:
        if self.depth is not None and not self.roots:
            raise ValueError("depth is counted from roots, and none is named. Name them in `roots`")
        return self

    def test_config(self, sampling: Mapping[str, Sampling]) -> TopicTestConfig:
        """How a topic is tested.

        Args:
            sampling: by role.

        Raises:
            ConfigError: a number is out of its range.
        """
        plain = TopicTestConfig(
            questions=self.questions,
            threshold=self.threshold,
            fewest_judged=self.fewest_judged,
            cut_answers=self.cut_answers,
            re_asks=self.re_asks,
            judge_form="marked" if self.judge_form == "marked" else "plain",
        )
        return replace(
            plain,
            target=sampling["target"],
            generator=sampling.get("generator", plain.generator),
            judge=sampling.get("judge", plain.judge),
        )

    def settled(self) -> BoundaryTable:
        """The same table with nothing left to "auto"."""
        there = embedder_available()
        found = {
            "vectors": PACKAGED_EMBEDDER if there else HASHED,
            "slant_by": "meaning" if there else "words",
        }
        left = {name: value for name, value in found.items() if getattr(self, name) == "auto"}
        return self.model_copy(update=left)

    def stance_judge(self) -> StanceJudge:
        """The rule that judges where no model does.

        Raises:
            ConfigError: nothing is known of the slant.
            DataError: its references cannot be read.
        """
        embedder = load_embedder() if self.slant_by == "meaning" else None
        if self.slant_references is None:
            return StanceJudge(self.slant, embedder)
        return StanceJudge(read_slant(self.slant_references, self.slant), embedder)


# What recorded replies may be read by anew. All of it decides what the policy is told, and so what
# is asked next: a search that goes on needs the same.
READING = ("threshold", "fewest_judged", "cut_answers")
