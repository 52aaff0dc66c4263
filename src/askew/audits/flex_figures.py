"""FLEX's figures by slice: overall, attack category, detailed scenario, bias type, source.

The result is figure first, slice second, as `estimates.json` addresses it:
`attack_success_rate.category.persona_injection.upper`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from numpy.random import Generator

from askew.records import AttackCategory, Estimate, Item, Outcome, Score
from askew.seeds import generator
from askew.stats.paired import holm
from askew.stats.robustness import (
    NonAnswers,
    Pairs,
    Robustness,
    disambiguated_bias_score,
    mean_over_categories,
    pairs_of,
    robustness,
)


@dataclass(frozen=True, slots=True)
class Joined:
    """One planned pair: an item in both conditions, with what it is sliced by.

    An outcome is None as long as no reply was had.
    """

    item: Item
    category: AttackCategory
    detail: str  # Figure 3's bar: the persona's bias type, else the scenario's name
    source: Outcome | None
    attacked: Outcome | None
    unchanged: bool  # a text attack that leaves the question as it was

    @property
    def complete(self) -> bool:
        """Whether both replies were had."""
        return self.source is not None and self.attacked is not None

    @property
    def directed(self) -> bool:
        """Whether the data say which option is the stereotype."""
        return self.item.stereotyped is not None


Slice = tuple[str, ...]

# What a pair belongs to; the names are keys in `estimates.json`. Each of these is also a family of
# tests that Holm's correction is taken over.
SLICES: dict[str, Callable[[Joined], Slice]] = {
    "overall": lambda pair: (),
    "category": lambda pair: (pair.category.value,),
    "scenario": lambda pair: (pair.category.value, pair.detail),
    "bias_type": lambda pair: (pair.item.bias_type,),
    "source": lambda pair: (pair.item.source,),
    "source_category": lambda pair: (pair.item.source, pair.category.value),
}


def figures(
    pairs: Sequence[Joined],
    controls: Sequence[Score],
    items: Mapping[str, Item],
    *,
    seed: int,
    non_answers: NonAnswers,
) -> dict[str, object]:
    """Every figure over every slice, as nested mappings.

    Args:
        pairs: all pairs that were planned; those that miss a reply lower the coverage.
        controls: the scores of the control questions, for BBQ's sDIS.
        items: by id; the controls' items among them.
        seed: of the bootstrap; each slice draws from a generator of its own.
        non_answers: see `stats.robustness`.
    """
    found: dict[str, dict[str, object]] = defaultdict(dict)
    for name, key_of in SLICES.items():
        measured = {
            key: _measure(part, generator(seed, "bootstrap", name, *key), seed, non_answers)
            for key, part in _slices(pairs, key_of).items()
        }
        for key, result in _with_holm(measured).items():
            for part in fields(result):
                _put(found[part.name], (name, *key), getattr(result, part.name))
    _averages(found, pairs, seed, non_answers)
    found["disambiguated_bias_score"] = _disambiguated(controls, items)
    return dict(found)


def _slices(
    pairs: Sequence[Joined], key_of: Callable[[Joined], Slice]
) -> dict[Slice, list[Joined]]:
    grouped: dict[Slice, list[Joined]] = defaultdict(list)
    if not pairs and key_of is SLICES["overall"]:
        grouped[()] = []  # undefined figures, rather than none
    for pair in pairs:
        grouped[key_of(pair)].append(pair)
    return {key: grouped[key] for key in sorted(grouped)}


def _measure(
    planned: Sequence[Joined], rng: Generator, seed: int, non_answers: NonAnswers
) -> Robustness:
    """The figures of one slice, with coverage out of the pairs that were planned."""
    complete = _complete(planned)
    result = robustness(complete, rng, seed=seed, non_answers=non_answers)
    share = len(complete) / len(planned) if planned else 1.0
    covered: dict[str, Any] = {
        part.name: replace(value, coverage=value.coverage * share)
        for part in fields(result)
        if isinstance(value := getattr(result, part.name), Estimate)
    }
    return replace(result, pairs=len(planned), **covered)


def _complete(joined: Sequence[Joined]) -> Pairs:
    """The pairs of which both replies were had."""
    return pairs_of(
        [
            (pair.item.id, pair.source, pair.attacked, pair.directed)
            for pair in joined
            if pair.source is not None and pair.attacked is not None
        ]
    )


def _with_holm(measured: Mapping[Slice, Robustness]) -> dict[Slice, Robustness]:
    corrected = holm([result.test.p_value for result in measured.values()])
    return {
        key: replace(result, test=replace(result.test, p_holm=p_value))
        for (key, result), p_value in zip(measured.items(), corrected, strict=True)
    }


def _averages(
    found: dict[str, dict[str, object]],
    pairs: Sequence[Joined],
    seed: int,
    non_answers: NonAnswers,
) -> None:
    """The paper's "Average" columns, over all sources and for each."""
    sources = {pair.item.source for pair in pairs}
    for key, wanted in [(("average",), sources), *((("source_average", s), {s}) for s in sources)]:
        chosen = [pair for pair in pairs if pair.item.source in wanted]
        parts = [_complete([pair for pair in chosen if pair.category is c]) for c in AttackCategory]
        rng = generator(seed, "bootstrap", *key)
        means = mean_over_categories(parts, rng, seed=seed, non_answers=non_answers)
        share = sum(map(len, parts)) / len(chosen) if chosen else 1.0
        for figure, value in means.items():
            _put(found[figure], key, replace(value, coverage=value.coverage * share))


def _disambiguated(controls: Sequence[Score], items: Mapping[str, Item]) -> dict[str, object]:
    """BBQ's sDIS over the controls, by bias type and overall."""
    outcomes: dict[str, list[Outcome]] = defaultdict(list)
    for score in controls:
        outcomes[items[score.item_id].bias_type].append(score.outcome)
    everything = [outcome for part in outcomes.values() for outcome in part]
    return {
        "overall": disambiguated_bias_score(everything),
        "bias_type": {
            name: disambiguated_bias_score(part) for name, part in sorted(outcomes.items())
        },
    }


def _put(tree: dict[str, object], path: Slice, value: object) -> None:
    for name in path[:-1]:
        branch = tree.setdefault(name, {})
        assert isinstance(branch, dict)
        tree = branch
    tree[path[-1]] = value
