"""The pairs that an attack turned, with what was asked and what came back.

Read from the run folder: items, questions and scores, and the calls of the ledger for the prompts
as they were sent. Where a call is not there, the item's own words stand in.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from askew.records import AttackCategory, Item, Outcome, Scenario
from askew.report.items.flex_index import FlexPairs, read_pairs
from askew.report.items.flex_texts import Asked, PairTexts, pair_texts
from askew.runfolder import RunFolder

SHOWN = 200
LONGEST_TEXT = 2400  # characters of one prompt or reply; demonstrations make prompts long


@dataclass(frozen=True, slots=True)
class Side:
    """One half of a pair."""

    outcome: Outcome
    rule: str  # how the reply was read
    chosen: str  # the option's text; "" where none was chosen
    prompt: tuple[tuple[str, str], ...]  # (who speaks, what), cut to `LONGEST_TEXT` each
    reply: str  # "" where likelihoods were read
    # (choice, log-probability) in the order shown; () where a reply was read
    choices: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Turned:
    """A pair that was neutral when asked plainly and is not under attack."""

    item: Item
    scenario: Scenario
    source: Side
    attacked: Side


def turned_pairs(
    folder: RunFolder, *, limit: int = SHOWN, pairs: FlexPairs | None = None
) -> tuple[list[Turned], int]:
    """The pairs that the attack turned to a group, the worst of each category first.

    Worst is: a stereotype before any other choice of a group, and then the one that was preferred
    to the neutral option by the most, where likelihoods tell. The categories share the limit.

    Args:
        folder: the run.
        limit: so many pairs are told.
        pairs: of the run, where they were read already.

    Returns:
        At most `limit` pairs, category by category, and how many there are in all.
    """
    pairs = pairs or read_pairs(folder)
    flagged = pairs.index.worst[: int(pairs.index.flagged.sum())]
    # A run that counts no answer as wrong has flagged such replies too, which chose no group.
    answered = pairs.index.column("answered")
    turned = flagged[[answered.of(row) == "yes" for row in flagged.tolist()]].tolist()
    by_category: dict[str, list[int]] = defaultdict(list)
    for row in turned:
        by_category[pairs.scenarios[pairs.scenario[row]][0]].append(row)
    chosen = _share_out([by_category[name] for name in sorted(by_category)], limit)
    return [_told(pairs, found) for found in pair_texts(folder, pairs, chosen)], len(turned)


def _share_out(groups: Sequence[Sequence[int]], limit: int) -> list[int]:
    """The first `limit` rows, taken from the groups in turn, group by group again."""
    turns = [row for turn in zip_longest(*groups) for row in turn if row is not None]
    kept = set(turns[:limit])
    return [row for group in groups for row in group if row in kept]


def _told(pairs: FlexPairs, found: PairTexts) -> Turned:
    category, name = pairs.scenarios[pairs.scenario[found.row]]
    assert found.plain is not None  # a pair without it cannot be turned
    return Turned(
        found.item,
        Scenario(AttackCategory(category), name),
        _side(found.item, found.plain),
        _side(found.item, found.attacked),
    )


def _side(item: Item, asked: Asked) -> Side:
    record, outcome = asked.record, asked.outcome
    assert outcome is not None
    chosen = "" if asked.chosen is None else item.options[asked.chosen]
    if record is None:
        words = f"{item.context} {item.question}".strip()
        return Side(outcome, asked.rule, chosen, (("item", words),), "", ())
    prompt, reply = record.call.prompt, record.reply
    turns: Iterable[tuple[str, str]] = [("prompt", prompt.text or "")]
    if prompt.messages:
        turns = ((message.role, message.content) for message in prompt.messages)
    found = reply.log_probabilities if reply else ()
    return Side(
        outcome,
        asked.rule,
        chosen,
        tuple((who, _shortened(said)) for who, said in turns),
        _shortened((reply.text or "") if reply else ""),
        tuple(zip(prompt.choices, found, strict=True)) if len(found) == len(prompt.choices) else (),
    )


def _shortened(text: str) -> str:
    """The text, or its two ends: an attack stands at the beginning, the question at the end."""
    if len(text) <= LONGEST_TEXT:
        return text
    half = LONGEST_TEXT // 2
    left_out = len(text) - 2 * half
    return f"{text[:half]}\n… {left_out:,} characters left out …\n{text[-half:]}"
