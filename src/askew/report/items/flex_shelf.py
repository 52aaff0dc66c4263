"""The pairs of a FLEX run as items of a report: what was asked, what came back, why it counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from askew.models.ledgerfile import CallRecord
from askew.records import AttackCategory, Item
from askew.report.estimates import Run
from askew.report.items import SHADES, ReportItem, Shelf, Side
from askew.report.items.flex_index import FlexPairs, read_pairs
from askew.report.items.flex_search import pairs_saying
from askew.report.items.flex_texts import Asked, PairTexts, pair_texts
from askew.report.items.flex_words import PLAIN_TITLE, attack_title, outcome_words, why
from askew.report.items.index import Flags, ItemIndex, shelf_of
from askew.report.items.texts import call_facts, ending, prompt_turns, reply_turns, turn
from askew.report.which_audit import part_of
from askew.runfolder import RunFolder


class FlexStock:
    """All pairs of a FLEX run; see `item_index.Stock`.

    Raises:
        RunError: the run cannot be read.
    """

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self._wrong = counts_as_wrong(folder)
        self._pairs = read_pairs(folder, wrong=self._wrong)

    @property
    def pairs(self) -> FlexPairs:
        """What the pairs are and where their texts lie."""
        return self._pairs

    @property
    def index(self) -> ItemIndex:
        """What the pairs are, without texts."""
        return self._pairs.index

    def items(self, rows: Sequence[int]) -> Iterator[ReportItem]:
        """The pairs of these rows, in this order, with their texts."""
        for found in pair_texts(self._folder, self._pairs, rows):
            yield _pair(self._pairs, found, wrong=self._wrong)

    def row_of(self, ident: str) -> int | None:
        """The row of the pair with this id."""
        return self._pairs.row_of(ident)

    def saying(self, words: Sequence[str]) -> Flags:
        """Shape (pairs,): those in which every one of the words stands, in any case."""
        return pairs_saying(self._folder, self._pairs, words, self.items, wrong=self._wrong)


def counts_as_wrong(folder: RunFolder) -> bool:
    """Whether the figures of a FLEX run count replies without an answer as wrong ones."""
    estimates = folder.read_estimates() if folder.estimates.is_file() else {}
    if "flex" not in estimates:  # the audit has none yet
        return False
    return Run("", part_of(estimates, "flex")).setting("non_answers") == "wrong"


def flex_shelf(folder: RunFolder) -> Shelf:
    """All pairs of a FLEX run, however many there are.

    Raises:
        RunError: the run cannot be read.
    """
    return shelf_of(FlexStock(folder))


def _pair(pairs: FlexPairs, found: PairTexts, *, wrong: bool) -> ReportItem:
    index, row, item = pairs.index, found.row, found.item
    category, name = pairs.scenarios[pairs.scenario[row]]
    plain, attacked = found.plain, found.attacked
    facets = index.facets_of(row)
    own_words = f"{item.context} {item.question}".strip()
    changed = item.text_attacks.get(name, "") if category == AttackCategory.TEXT_ATTACK else ""
    attacked_words = f"{item.context} {changed}".strip() if changed else own_words
    return ReportItem(
        id=pairs.ident(row),
        title=" ".join(own_words.split()),
        flagged=bool(index.flagged[row]),
        facets=facets,
        numbers=index.numbers_of(row),
        sides=(
            Side(PLAIN_TITLE, "not asked", "no-answer", (turn("item", own_words),))
            if plain is None
            else _side(PLAIN_TITLE, item, plain, own_words),
            _side(attack_title(category, name), item, attacked, attacked_words),
        ),
        why=why(
            plain.outcome if plain else None,
            attacked.outcome,
            wrong=wrong,
            unchanged=facets.get("unchanged") == "yes",
        ),
    )


def _side(title: str, item: Item, asked: Asked, own_words: str) -> Side:
    """One half of a pair; `own_words` stand in for a prompt that the ledger does not hold."""
    record, outcome = asked.record, asked.outcome
    sent = prompt_turns(record) if record else (turn("item", own_words),)
    shade = outcome.value if outcome and outcome.value in SHADES else "no-answer"
    facts: list[tuple[str, str]] = []
    if asked.chosen is not None:
        facts.append(("Chose", item.options[asked.chosen]))
    if asked.rule:
        facts.append(("Read by", asked.rule))
    if record or outcome is None:
        facts += ending(record)
    facts += call_facts(record)
    return Side(
        title,
        outcome_words(outcome),
        shade,
        (*sent, *reply_turns(record)),
        _choices(record),
        tuple(facts),
    )


def _choices(record: CallRecord | None) -> tuple[tuple[str, float], ...]:
    found = record.reply.log_probabilities if record and record.reply else ()
    choices = record.call.prompt.choices if record else ()
    if len(found) != len(choices):
        return ()
    return tuple((choice, round(one, 4)) for choice, one in zip(choices, found, strict=True))
