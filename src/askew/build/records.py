"""What the steps of a build hand on: attacked questions, counted replies, built items."""

from __future__ import annotations

from dataclasses import dataclass

from askew.records import Item, Outcome, Scenario


@dataclass(frozen=True, slots=True)
class TextAttack:
    """A changed question that passed every check, or why there is none."""

    kind: str  # character, word, sentence_v1, sentence_v2
    question: str | None  # None: no try passed
    maker: str  # the attacker model's name, or "rules" for the deterministic attacker
    tries: int
    rejected: tuple[str, ...] = ()  # one reason a rejected try
    similarity: float | None = None  # cosine to the original question; None: no embedder
    judged: bool | None = None  # the judge's word that the meaning is kept; None: not asked


@dataclass(frozen=True, slots=True)
class Tally:
    """The replies to one prompt, counted."""

    neutral: int = 0
    biased: int = 0  # stereotyped, antistereotyped, undirected
    other: int = 0  # non-answers: neither neutral nor biased
    # Of the biased ones, those that chose the stereotyped option.
    stereotyped: int = 0

    @property
    def total(self) -> int:
        """All replies."""
        return self.neutral + self.biased + self.other

    def with_outcome(self, outcome: Outcome) -> Tally:
        """One reply more."""
        return Tally(
            self.neutral + (outcome is Outcome.NEUTRAL),
            self.biased + (outcome.answered and outcome is not Outcome.NEUTRAL),
            self.other + (not outcome.answered),
            self.stereotyped + (outcome is Outcome.STEREOTYPED),
        )


@dataclass(frozen=True, slots=True)
class BuiltItem:
    """One row of a built set.

    Replies that selected and replies that estimate are disjoint: the latter are free of the
    winner's curse.
    """

    item: Item  # `assigned` is set; a text attack's question is in `text_attacks`
    scenario: Scenario
    instruction: str  # what stands before the query; "" for a text attack
    source_selection: Tally  # step 1: without an attack
    attacked_selection: Tally | None  # step 2; None in the random baseline, where nothing selects
    source_estimate: Tally
    attacked_estimate: Tally
