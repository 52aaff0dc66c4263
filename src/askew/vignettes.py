"""The frozen records of the clinical audit: a patient's case, its facts, its counterfactual twins.

`datasets` reads a `Vignette`, `graphs` finds its `Facts`, `perturb` makes `Variant`s of it, a model
answers, and `scores` reads the reply into a `ClinicalAnswer`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, NamedTuple

from askew.records import Provenance


class Relation(StrEnum):
    """What ties a value to the patient: the r of a triplet (h, r, t), §3.1."""

    HAS_AGE = "has_age"
    HAS_GENDER = "has_gender"
    HAS_BIRTH_SEX = "has_birth_sex"
    LIVES_IN = "lives_in"
    BORN_IN = "born_in"
    TRAVELED_TO = "traveled_to"
    HAS_SYMPTOM = "has_symptom"
    HAS_CONDITION = "has_condition"
    FAMILY_HISTORY = "family_history"
    TAKES_MEDICATION = "takes_medication"
    ALLERGIC_TO = "allergic_to"


class Status(StrEnum):
    """Whether, and when, a fact holds."""

    PRESENT = "present"
    ABSENT = "absent"
    PAST = "past"
    POSSIBLE = "possible"
    PLANNED = "planned"


class Span(NamedTuple):
    """Characters `start` to `end` (not included) of a text."""

    start: int
    end: int


AgeUnit = Literal["year", "month", "week", "day"]


@dataclass(frozen=True, slots=True)
class Triplet:
    """One fact: (patient, relation, value), with where it was read and by which rule."""

    relation: Relation
    value: str | int  # a whole number for `has_age`
    status: Status
    span: Span | None  # None: from a model that did not say where
    evidence: str  # the text at the span
    rule: str  # the name of the rule that fired, "" in gold and in hand-made data
    score: float = 1.0  # R(e) of Eq. (1), in [0, 1]
    unit: AgeUnit | None = None  # of `has_age`
    qualifier: Literal["exact", "decade"] | None = None  # of `has_age`: "in her 80s" is a decade
    years: tuple[int, int] | None = None  # of a decade: (80, 89)
    relative: str | None = None  # of `family_history`: who it is that has or had the condition

    @property
    def experiencer(self) -> str:
        """Whose fact it is: "patient", or the relative."""
        return self.relative or "patient"


@dataclass(frozen=True, slots=True)
class Cue:
    """What is no triplet and yet decides what may be changed: a pregnancy, a job, an ancestry."""

    kind: str  # "race", "occupation", "pregnancy", "obstetric_history", "life_event", "organ", …
    value: str  # normalised: "retired", "teacher", "black", "menopause"
    status: Status
    span: Span
    rule: str


@dataclass(frozen=True, slots=True)
class Facts:
    """All that was found in one text, in the order of the text."""

    text: str
    triplets: tuple[Triplet, ...]
    cues: tuple[Cue, ...] = ()
    left_out: tuple[Triplet, ...] = ()  # below the threshold of Eq. (1)

    def of(self, *relations: Relation) -> tuple[Triplet, ...]:
        """The triplets of these relations."""
        return tuple(triplet for triplet in self.triplets if triplet.relation in relations)


Relevance = Literal["relevant", "not_relevant", "unknown"]


@dataclass(frozen=True, slots=True)
class GivenVariant:
    """A counterfactual twin that the data set itself brings."""

    levels: Mapping[str, str]  # attribute -> level: {"gender": "female", "race": "black"}
    text: str


@dataclass(frozen=True, slots=True)
class Vignette:
    """One case: a text about one patient and what is asked about it."""

    id: str  # unique over all data sets: "equitymedqa/trinds_0", "vignettes/chest-pain-1"
    source: str
    text: str  # with the question where the data have them in one
    provenance: Provenance
    question: str = ""  # asked after the text; "" = the text asks itself, or the form's own is used
    reference: tuple[str, ...] = ()  # the reference differential, likeliest first
    must_not_miss: tuple[str, ...] = ()  # diagnoses that have to be listed
    options: tuple[str, ...] = ()  # of a multiple-choice question, Likert scales included
    answer: int | None = None  # index into `options`, where the data know it
    given: tuple[GivenVariant, ...] = ()
    triplets: tuple[Triplet, ...] | None = None  # where the data bring them: gold
    # Whether the right answer may depend on an attribute; one that is not named is "unknown".
    relevance: Mapping[str, Relevance] = field(default_factory=dict)
    # Levels that make the case impossible or odd, as its author says: {"gender": ("male",)}.
    impossible: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    odd: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    language: str = "en"


class Edit(NamedTuple):
    """The characters at `span` of the original are replaced by `text`."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Variant:
    """One text that is put to the model: the original, or a counterfactual twin of it."""

    id: str  # "starter/chest-pain-1/gender=female+age=65-80"
    vignette_id: str
    arm: str  # `arm_name(levels)`, or "original", "neutral"
    levels: Mapping[str, str]  # attribute -> level, of what was changed or removed
    text: str
    edits: tuple[Edit, ...] = ()
    method: Literal["original", "edit", "template", "generator", "attacker", "given"] = "edit"
    odd: str = ""  # why a clinician would find it odd; "" = fine


@dataclass(frozen=True, slots=True)
class Dropped:
    """A twin that is not asked about, and why."""

    vignette_id: str
    arm: str
    kind: Literal["impossible", "odd", "not_expressible", "facts_changed", "same", "unreadable"]
    reason: str  # names the fact and the rule
    text: str = ""  # what was made, where something was


def arm_name(levels: Mapping[str, str]) -> str:
    """The name of the arm that sets attributes to levels.

    >>> arm_name({"gender": "female", "age": "65-80"})
    'age=65-80+gender=female'
    """
    return "+".join(f"{attribute}={level}" for attribute, level in sorted(levels.items()))


# How soon the patient has to be seen, least urgent first; the index is the ordinal level.
URGENCIES = ("self-care", "routine", "urgent", "emergency")


@dataclass(frozen=True, slots=True)
class ClinicalAnswer:
    """What a model recommends, read from one reply.

    A field that the reply does not settle is None (or empty, for lists that were not given at all:
    `given` names those that were).
    """

    outcome: Literal["answered", "refused", "unreadable", "truncated", "blocked", "error"]
    text: str  # the reply without reasoning and markup that servers leave
    differential: tuple[str, ...] = ()  # likeliest first, as worded
    urgency: int | None = None  # index into `URGENCIES`
    tests: tuple[str, ...] = ()
    treatments: tuple[str, ...] = ()
    referral: bool | None = None
    chosen: int | None = None  # index into `Vignette.options`
    given: frozenset[str] = frozenset()  # which of the fields above the reply settles
    rule: str = ""  # how it was read, or why it was not


class HopEdge(NamedTuple):
    """One edge of a hop's graph, as the model wrote it."""

    head: str
    relation: str
    tail: str


@dataclass(frozen=True, slots=True)
class HopGraph:
    """One hop of the three-step reasoning (§3.2): G₁ or G₂ as read from a reply."""

    hop: Literal[1, 2]
    edges: tuple[HopEdge, ...]
    text: str  # what it was read from
    origin: Literal["target", "extractor"] = "target"


AnswerForm = Literal["direct", "single", "chained"]  # the last two are the multi-hop arm


@dataclass(frozen=True, slots=True)
class Answered:
    """One answer with what it answers."""

    vignette: Vignette
    variant: Variant
    form: AnswerForm
    replicate: int
    answer: ClinicalAnswer
    hops: tuple[HopGraph, ...] = ()  # of a multi-hop answer; those that could be read
