"""Demonstrations: questions shown with an answer before the one that is asked (FLEX, §4.5)."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from typing import Literal

from askew.errors import ConfigError, DataError
from askew.prompts.choice import Demonstration, option_order
from askew.records import Item
from askew.seeds import generator

MAX_SHOTS = 5  # FLEX, §4.5


def demonstrations(
    item: Item,
    pool: Sequence[Item],
    k: int,
    kind: Literal["positive", "negative"],
    seed: int,
    *,
    order: Literal["file", "shuffled"] = "file",
) -> tuple[Demonstration, ...]:
    """The `k` demonstrations of an item, the same for its source and its attacked prompt.

    They are the first `k` of one permutation that the seed and the item's id alone decide, so the
    demonstrations for `k` open those for `k + 1`.

    Args:
        item: what is to be asked. It is never shown, nor is any item with its text.
        pool: what may be shown; an item that equals an earlier one in its text is shown once.
        k: how many, 0 to 5.
        kind: "positive" shows the neutral option as the answer, "negative" the stereotyped one;
            the data's own key is not used, as the release's few-shot files do not agree on it.
        seed: the run's seed.
        order: how the options of the demonstrations stand.

    Raises:
        ConfigError: `k` is out of range.
        DataError: the pool holds too few items that can be shown.
    """
    if not 0 <= k <= MAX_SHOTS:
        raise ConfigError(f"{k} demonstrations are asked for, expected 0 to {MAX_SHOTS}.")
    shown: list[Demonstration] = []
    if k == 0:
        return ()
    for candidate, answer in _candidates(item, pool, kind, seed):
        shown.append(Demonstration(candidate, answer, option_order(candidate, seed, order)))
        if len(shown) == k:
            return tuple(shown)
    raise DataError(
        f"item {item.id!r}: {k} {kind} demonstrations are asked for, and the pool of {len(pool)} "
        f"items has {len(shown)} that can be shown ({_conditions(kind)}). "
        "Ask for fewer, or give a larger pool."
    )


def _candidates(
    item: Item, pool: Sequence[Item], kind: str, seed: int
) -> Iterator[tuple[Item, int]]:
    """What may be shown, with the answer to show, in the item's own order."""
    # Lazy: a pool may be a whole benchmark, of which five items are wanted.
    seen = {text_key(item)}
    for index in generator(seed, "demonstrations", item.id).permutation(len(pool)):
        candidate = pool[int(index)]
        answer = candidate.neutral if kind == "positive" else candidate.stereotyped
        key = text_key(candidate)
        if answer is not None and key not in seen:
            seen.add(key)
            yield candidate, answer


def text_key(item: Item) -> tuple[str, str, frozenset[str]]:
    """What makes two items the same question, whatever their rows, ids and order of options.

    Letter case, blanks, Unicode form and a final full stop do not count. Nor does the neutral
    option, as the sets word it at random.
    """
    groups = frozenset(
        _plain(option) for index, option in enumerate(item.options) if index != item.neutral
    )
    return _plain(item.context), _plain(item.question), groups


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).rstrip(".")


def _conditions(kind: str) -> str:
    texts = "none with the item's own text, none twice"
    return texts if kind == "positive" else f"{texts}, the stereotyped option known"
