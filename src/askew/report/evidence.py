"""The pairs that an attack turned, with what was asked and what came back.

Read from the run folder: items, questions and scores, and the calls of the ledger for the prompts
as they were sent. Where a call is not there, the item's own words stand in.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from askew.audits.flex import join
from askew.models.ledgerfile import CallRecord, is_ledger, read_records
from askew.records import Item, Outcome, Reply, Scenario, Score
from askew.runfolder import Question, RunFolder

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


@dataclass(frozen=True, slots=True)
class _Pair:
    item: Item
    source: tuple[Question, Score]
    attacked: tuple[Question, Score]

    @property
    def scenario(self) -> Scenario:
        assert self.attacked[0].scenario is not None  # `_turned` sees to it
        return self.attacked[0].scenario


def turned_pairs(folder: RunFolder, *, limit: int = SHOWN) -> tuple[list[Turned], int]:
    """The pairs that the attack turned to a group, the worst of each category first.

    Worst is: a stereotype before any other choice of a group, and then the one that was preferred
    to the neutral option by the most, where likelihoods tell. The categories share the limit.

    Returns:
        At most `limit` pairs, category by category, and how many there are in all.
    """
    items = folder.read_items()
    found = list(_turned(folder.read_questions(), folder.read_scores(), items))
    wanted = {side[0].call_key for pair in found for side in (pair.source, pair.attacked)}
    calls = _calls(folder, wanted)
    by_category: dict[str, list[_Pair]] = defaultdict(list)
    for pair in found:
        by_category[pair.scenario.category.value].append(pair)
    for pairs in by_category.values():
        pairs.sort(key=lambda pair: _badness(pair, calls))
    chosen = _share_out([by_category[name] for name in sorted(by_category)], limit)
    return [_told(pair, calls) for pair in chosen], len(found)


def _turned(
    questions: Sequence[Question], scores: Sequence[Score | None], items: dict[str, Item]
) -> Iterator[_Pair]:
    read = list(zip(questions, scores, strict=True))
    sources = {
        (question.item_id, question.order, question.replicate): (question, score)
        for question, score in read
        if score is not None and score.condition == "source"
    }
    attacked = [(question, score) for question, score in read if question.scenario is not None]
    for pair, (question, score) in zip(join(questions, scores, items), attacked, strict=True):
        if pair.source is Outcome.NEUTRAL and score is not None and _chose_a_group(score):
            source = sources[question.item_id, question.order, question.replicate]
            yield _Pair(pair.item, source, (question, score))


def _chose_a_group(score: Score) -> bool:
    return score.outcome.answered and score.outcome is not Outcome.NEUTRAL


def _calls(folder: RunFolder, wanted: set[str]) -> dict[str, CallRecord]:
    if not wanted or not is_ledger(folder.database):
        return {}
    return {record.key: record for record in read_records(folder.database) if record.key in wanted}


def _badness(pair: _Pair, calls: dict[str, CallRecord]) -> tuple[bool, float, str]:
    question, score = pair.attacked
    record = calls.get(question.call_key)
    margin = _margin(pair.item, score, record.reply) if record and record.reply else math.nan
    mild = score.outcome is not Outcome.STEREOTYPED
    return mild, math.inf if math.isnan(margin) else -margin, pair.item.id


def _margin(item: Item, score: Score, reply: Reply) -> float:
    """By how much the chosen option is likelier than the neutral one, as a log-ratio."""
    if score.chosen is None or len(reply.log_probabilities) != len(score.order):
        return math.nan
    place = {option: place for place, option in enumerate(score.order)}
    found = reply.log_probabilities
    return found[place[score.chosen]] - found[place[item.neutral]]


def _share_out(groups: Sequence[Sequence[_Pair]], limit: int) -> list[_Pair]:
    """The first `limit` pairs, taken from the groups in turn, group by group again."""
    turns = [pair for turn in zip_longest(*groups) for pair in turn if pair is not None]
    kept = set(map(id, turns[:limit]))
    return [pair for group in groups for pair in group if id(pair) in kept]


def _told(pair: _Pair, calls: dict[str, CallRecord]) -> Turned:
    return Turned(
        pair.item,
        pair.scenario,
        _side(pair.item, *pair.source, calls),
        _side(pair.item, *pair.attacked, calls),
    )


def _side(item: Item, question: Question, score: Score, calls: dict[str, CallRecord]) -> Side:
    record = calls.get(question.call_key)
    chosen = "" if score.chosen is None else item.options[score.chosen]
    if record is None:
        words = f"{item.context} {item.question}".strip()
        return Side(score.outcome, score.rule, chosen, (("item", words),), "", ())
    prompt, reply = record.call.prompt, record.reply
    turns: Iterable[tuple[str, str]] = [("prompt", prompt.text or "")]
    if prompt.messages:
        turns = ((message.role, message.content) for message in prompt.messages)
    found = reply.log_probabilities if reply else ()
    return Side(
        score.outcome,
        score.rule,
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
