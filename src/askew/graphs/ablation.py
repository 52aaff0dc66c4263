"""The pattern ablation of §3.1 and Table 5: what each rule set extracts, and what follows from it.

The paper counts relations, with and without its filtering (49 to 297, 166 to 193), and never checks
one. Here precision and recall stand beside every count, and the perturbed questions that follow are
judged by all that is known of the case, not by the rule set that made them: a set that misses a
pregnancy makes more questions, and some of them are of pregnant men.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from askew.datasets.gold_triplets import GoldRecord
from askew.graphs.extract import extract_many
from askew.graphs.rules import RULE_SETS, RuleSet, rule_set
from askew.graphs.scoring import Scoring, score
from askew.vignettes import Facts


@dataclass(frozen=True, slots=True)
class Questions:
    """The perturbed questions of one text: how many were made, and how many make sense."""

    made: int
    coherent: int


@dataclass(frozen=True, slots=True)
class AblationRow:
    """One rule set, over all texts."""

    rules: str
    relations: int  # triplets emitted: the paper's count
    scoring: Scoring | None  # None where there is no gold
    questions: Questions | None  # None where none were asked for

    @property
    def coherent_share(self) -> float:
        """Coherent of made questions, in [0, 1]; NaN where none was made."""
        if self.questions is None or not self.questions.made:
            return math.nan
        return self.questions.coherent / self.questions.made


# (place of the text, its facts by the rule set, the rule set) -> its questions.
Ask = Callable[[int, Facts, RuleSet], Questions]


def ablation(
    texts: Sequence[str],
    rule_sets: Sequence[str | RuleSet] = tuple(RULE_SETS),
    gold: Sequence[GoldRecord] | None = None,
    questions: Ask | None = None,
) -> tuple[AblationRow, ...]:
    """Every rule set on the same texts.

    Args:
        texts: shape (texts,).
        rule_sets: names or sets, in the order of the rows.
        gold: shape (texts,), of the same texts; None where they have none.
        questions: makes and judges the perturbed questions of a text, given its place and facts.

    Raises:
        ConfigError: a rule set is unknown.
        ValueError: gold and texts differ in length.

    >>> rows = ablation(["A 40-year-old man denies fever."], ["patterns", "full"])
    >>> [(row.rules, row.relations) for row in rows]
    [('patterns', 3), ('full', 3)]
    """
    if gold is not None and len(gold) != len(texts):
        raise ValueError(f"{len(gold)} gold records for {len(texts)} texts")
    # Names first: a misspelt one is said before minutes of work.
    chosen = [rule_set(rules) for rules in rule_sets]
    return tuple(_row(list(texts), rules, gold, questions) for rules in chosen)


def _row(
    texts: Sequence[str],
    rules: RuleSet,
    gold: Sequence[GoldRecord] | None,
    questions: Ask | None,
) -> AblationRow:
    found = list(extract_many(texts, rules))
    made = None
    if questions is not None:
        each = [questions(place, facts, rules) for place, facts in enumerate(found)]
        made = Questions(sum(one.made for one in each), sum(one.coherent for one in each))
    return AblationRow(
        rules.name,
        sum(len(facts.triplets) for facts in found),
        None if gold is None else score(found, gold),
        made,
    )
