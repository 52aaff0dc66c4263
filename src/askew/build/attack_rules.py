"""The attacker without a model: typos, a synonym list and patterns, from a seed."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import combinations, islice

import numpy as np

from askew.build.attack_asks import Ask, Proposal
from askew.build.attack_checks import Fault, FaultCode
from askew.build.attack_templates import either_or, paraphrases
from askew.build.attack_words import folded_words, is_english
from askew.build.synonyms import replaced, replacements
from askew.build.typos import typos
from askew.models.runner import Progress
from askew.records import Item
from askew.seeds import generator

_TRIES = 12  # they cost nothing


class RuleAttacker:
    """Makes text attacks by rule; the same seed and item give the same attacks.

    Words and patterns are English; of an item in another language only characters are changed.

    Args:
        seed: the build's seed.
    """

    name = "rules"
    tries = _TRIES
    variants = 1

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def calls_at_most(self, items: Sequence[Item], kinds: Sequence[str]) -> int:
        """None: nobody is asked."""
        return 0

    def same(self, item: Item, kind: str) -> Hashable:
        """Each item has an attack of its own."""
        return item.id

    async def propose(
        self,
        asks: Sequence[Ask],
        progress: Callable[[Progress], None] | None = None,
    ) -> list[Proposal]:
        """The next way to change each question; an end where there is no further one."""
        return [self._next(ask) for ask in asks]

    def _next(self, ask: Ask) -> Proposal:
        if ask.kind != "character" and not is_english(ask.item.language):
            fault = Fault(FaultCode.NO_RULE, f"no rules for language {ask.item.language!r}")
            return Proposal(None, fault, final=True)
        rng = generator(self._seed, "text_attack", ask.kind, ask.item.id)
        changed = next(islice(_ways(ask.item, ask.kind, rng), ask.attempt, None), None)
        if changed is None:
            fault = Fault(FaultCode.NO_RULE, "no rule finds a further way to change the question")
            return Proposal(None, fault, final=True)
        return Proposal(changed)


def _ways(item: Item, kind: str, rng: np.random.Generator) -> Iterator[str]:
    match kind:
        case "character":
            avoid = frozenset(folded_words(" ".join((item.context, *item.options))))
            return typos(item.question, rng, avoid)
        case "word":
            return synonyms_put(item.question, rng)
        case "sentence_v1":
            return paraphrases(item, rng)
        case _:
            return either_or(item, rng)


def synonyms_put(question: str, rng: np.random.Generator) -> Iterator[str]:
    """The question with one or two words replaced by near synonyms, in random order.

    >>> next(synonyms_put("Who is a lazy boss?", np.random.default_rng(1)))
    'Who is an idle boss?'
    """
    found = replacements(question)
    ways = [(one,) for one in found] + [
        (one, other) for one, other in combinations(found, 2) if one.start != other.start
    ]
    for place in rng.permutation(len(ways)):
        yield replaced(question, ways[int(place)])
