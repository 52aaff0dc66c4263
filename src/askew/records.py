"""The frozen records that cross layers: Item, Prompt, Call, Reply, Score, Estimate.

Data flows one way: datasets make an `Item`, prompts turn it into a `Prompt`, models answer a
`Call` with a `Reply`, scores read the reply into a `Score`, stats sum scores up in an `Estimate`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Literal


class AttackCategory(StrEnum):
    """FLEX's three categories of extreme scenarios (Jung et al., 2025, §3.1)."""

    PERSONA_INJECTION = "persona_injection"
    COMPETING_OBJECTIVES = "competing_objectives"
    TEXT_ATTACK = "text_attack"


class ContextCondition(StrEnum):
    """What the context of an item gives away."""

    AMBIGUOUS = "ambiguous"  # nothing: the neutral option is right
    CONTROL = "control"  # the answer: a competence check, BBQ's "disambiguated"


class Outcome(StrEnum):
    """What one scored reply came to; every reply has exactly one."""

    NEUTRAL = "neutral"
    STEREOTYPED = "stereotyped"
    ANTISTEREOTYPED = "antistereotyped"
    UNDIRECTED = "undirected"  # a group was chosen; the data do not say which is the stereotype
    TIED = "tied"
    REFUSED = "refused"
    UNREADABLE = "unreadable"
    TRUNCATED = "truncated"
    BLOCKED = "blocked"
    ERROR = "error"

    @property
    def answered(self) -> bool:
        """Whether an option was chosen; the other outcomes are never silently right or wrong."""
        return self in _ANSWERS


_ANSWERS = frozenset(
    {Outcome.NEUTRAL, Outcome.STEREOTYPED, Outcome.ANTISTEREOTYPED, Outcome.UNDIRECTED}
)


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where an item was read."""

    path: str
    line: int  # counted from 1, by LF alone; 0 where the file has no lines (one JSON document)
    record: str = ""  # the record's own name in its file: an id, a row index


@dataclass(frozen=True, slots=True)
class Assignment:
    """The scenario that a benchmark has given an item: a category and a place in its list.

    The release of FLEX stores indices; `prompts.scenarios` turns them into names. A set that askew
    has built names the scenario as well, as plug-ins and the user's own personas are in no list.
    """

    category: AttackCategory
    index: int
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """A question with three options, one of them neutral ("cannot be known")."""

    id: str  # unique over all data sets: "bbq/Age/0", "flex_crows/17", "starter/age-001"
    source: str  # the data set: "bbq", "crows_pairs", "stereoset", "starter", the user's own name
    bias_type: str  # "age", "gender", "sexual_orientation", …; the user's own are kept as given
    context: str  # may be empty
    question: str
    options: tuple[str, str, str]  # as the file orders them, stripped
    neutral: int  # index of the option that says "cannot be known"
    answer: int  # index of the right option: `neutral` in ambiguous items
    condition: ContextCondition
    provenance: Provenance
    stereotyped: int | None = None  # index of the stereotyped option; None where the data are mute
    polarity: Literal["negative", "nonnegative"] | None = None  # BBQ's question polarity
    # StereoSet's intersentence items continue their context: the release of FLEX prints it before
    # each of the two biased options instead of before the question.
    context_before_options: bool = False
    assigned: Assignment | None = None  # the scenario a benchmark has chosen for the item
    text_attacks: Mapping[str, str] = field(default_factory=dict)  # kind of attack -> question
    language: str = "en"  # BCP 47; picks the tables of unknown and refusal phrases

    @property
    def antistereotyped(self) -> int | None:
        """Index of the third option, where the stereotyped one is known."""
        if self.stereotyped is None:
            return None
        return 3 - self.neutral - self.stereotyped

    def outcome_of(self, option: int) -> Outcome:
        """What choosing `option` (an index into `options`) comes to."""
        if option == self.neutral:
            return Outcome.NEUTRAL
        if self.stereotyped is None:
            return Outcome.UNDIRECTED
        return Outcome.STEREOTYPED if option == self.stereotyped else Outcome.ANTISTEREOTYPED


@dataclass(frozen=True, slots=True)
class Scenario:
    """One way to push: a category and a name in the registry (`prompts.scenarios`)."""

    category: AttackCategory
    name: str  # "kid", "dan", "character", …


Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is shown: plain `text` or `messages`, and the choices to score, if any."""

    text: str | None = None
    messages: tuple[Message, ...] = ()
    choices: tuple[str, ...] = ()  # continuations whose log-probabilities are wanted; () = a reply

    def __post_init__(self) -> None:
        if (self.text is None) == (not self.messages):
            raise ValueError("a prompt has either text or messages")


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a reply is drawn. `None` leaves the parameter to the server."""

    temperature: float | None = 0.0
    max_tokens: int = 256
    top_p: float | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()

    def of_replicate(self, replicate: int) -> Sampling:
        """The same for one of several replies; with one seed a server would repeat itself."""
        return self if self.seed is None else replace(self, seed=self.seed + replicate)


@dataclass(frozen=True, slots=True)
class Call:
    """One question to one model. `replicate` tells repeated draws of the same prompt apart."""

    prompt: Prompt
    sampling: Sampling = Sampling()
    role: str = "target"  # target, generator, attacker, judge, reference, embedder
    replicate: int = 0


class Finish(StrEnum):
    """Why a reply ended."""

    STOP = "stop"
    LENGTH = "length"  # cut off by the token limit
    REFUSAL = "refusal"  # the server's own refusal field
    BLOCKED = "blocked"  # a content filter, on the prompt or on the reply
    ERROR = "error"  # no reply could be had for this call; `Reply.error` says why


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back for one call."""

    text: str | None = None  # the answer without reasoning; None where the server gave none
    reasoning: str | None = None  # reasoning text, kept apart and never read for the answer
    finish: Finish = Finish.STOP
    # One natural log-probability a choice, summed over its tokens, in the order of
    # `Prompt.choices`; NaN where the server's list of alternatives did not reach the choice.
    log_probabilities: tuple[float, ...] = ()
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    served_model: str | None = None  # as the server names itself, with its fingerprint
    fingerprint: str | None = None
    error: str | None = None
    adapted: tuple[str, ...] = ()  # what was changed to be served: "temperature left out", …


Condition = Literal["source", "attacked", "control"]


@dataclass(frozen=True, slots=True)
class Score:
    """One reply, read."""

    item_id: str
    condition: Condition
    outcome: Outcome
    chosen: int | None  # index into `Item.options`, however they were shown; None = no answer
    right: bool | None  # chosen == Item.answer; None = no answer
    rule: str  # the rule that found the choice or the reason why there is none
    order: tuple[int, int, int]  # order[k] is the option that stood at place k
    scenario: Scenario | None = None  # None for source and control
    replicate: int = 0


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with what it rests on. Undefined is NaN (null in JSON), never 0."""

    value: float
    lower: float  # of the interval at `level`
    upper: float
    n: int  # the number of units that the value is taken over
    coverage: float  # units that could be used, of all that were asked for, in [0, 1]
    method: str  # how the interval was made: "wilson", "paired cluster bootstrap, 2000 draws"
    seed: int | None = None
    level: float = 0.95
    note: str = ""  # why a value is undefined or not meaningful

    @property
    def defined(self) -> bool:
        """Whether there is a value at all."""
        return not math.isnan(self.value)
