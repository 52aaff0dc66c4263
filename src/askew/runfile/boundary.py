"""`[boundary]`: the settings of the boundary audit."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, model_validator

from askew.audits.boundary_answers import CutAnswers
from askew.audits.boundary_calls import TopicTestConfig
from askew.errors import unknown_name
from askew.models.embedder import NAME as PACKAGED_EMBEDDER
from askew.models.embedder import available as embedder_available
from askew.records import Sampling
from askew.runfile.tables import Count, Table
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
    question_sets: Path | None = None  # asked instead of making new ones
    slant: str = ""  # what the stance judge looks for, where no model judges
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
        return TopicTestConfig(
            questions=self.questions,
            threshold=self.threshold,
            fewest_judged=self.fewest_judged,
            cut_answers=self.cut_answers,
            re_asks=self.re_asks,
            **sampling,
        )

    def settled(self) -> BoundaryTable:
        """The same table with nothing left to "auto"."""
        if self.vectors != "auto":
            return self
        found = PACKAGED_EMBEDDER if embedder_available() else HASHED
        return self.model_copy(update={"vectors": found})


# What recorded replies may be read by anew. All of it decides what the policy is told, and so what
# is asked next: a search that goes on needs the same.
READING = ("threshold", "fewest_judged", "cut_answers")
