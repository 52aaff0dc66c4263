"""The cases of a clinical run as items of a report: twins, changed words, answers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from askew.audits.clinical_answers import Ask, Case
from askew.models.ledgerfile import CallRecord
from askew.report.clinical_evidence import digest, marked, tally, typical
from askew.report.clinical_run import DIFFERENCE, ClinicalRun, Finding
from askew.report.clinical_words import amount, compared
from askew.report.items import ReportItem, Shelf, Side, Turn
from askew.report.items.clinical_index import MovedCase, read_cases
from askew.report.items.index import Flags, ItemIndex, holding, shelf_of
from askew.report.items.texts import call_facts, calls_of, ending, reply_turns, turn
from askew.report.which_audit import part_of
from askew.report.words import listed
from askew.runfolder import RunFolder, without_surrogates

_TITLES = {"neutral": "not stated", "original": "the original"}
PORTION = 200  # cases whose texts are in memory at once


class ClinicalStock:
    """All cases of a clinical run under all comparisons; see `item_index.Stock`.

    Raises:
        RunError: the run cannot be read.
    """

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        estimates = folder.read_estimates() if folder.estimates.is_file() else {}
        own = part_of(estimates, "clinical") if "clinical" in estimates else {}
        self._found = read_cases(folder, ClinicalRun("", own))
        self._rows = {row.ident: place for place, row in enumerate(self._found.rows)}

    @property
    def index(self) -> ItemIndex:
        """What the cases are, without texts."""
        return self._found.index

    def items(self, rows: Sequence[int]) -> Iterator[ReportItem]:
        """The cases of these rows, in this order, with their texts."""
        for start in range(0, len(rows), PORTION):
            chosen = rows[start : start + PORTION]
            keys = (key for row in chosen for ask in self._asks_of(row) for key in ask.keys)
            calls = calls_of(self._folder, keys)
            for row in chosen:
                yield self._item(row, calls)

    def _asks_of(self, row: int) -> Iterator[Ask]:
        one = self._found.rows[row]
        for variant in dict.fromkeys(variant for pair in one.pairs for variant in pair):
            yield from self._found.asks.get((variant, one.comparison.form), ())

    def _item(self, row: int, calls: Mapping[str, CallRecord]) -> ReportItem:
        one, index = self._found.rows[row], self.index
        vignette = self._found.cases[one.pairs[0].base].vignette
        finding = next(iter([*one.moved(), *one.comparison.findings.values()]))
        contrast = one.comparison.contrast
        title = f"{compared(contrast.changed, contrast.base)}: {' '.join(vignette.text.split())}"
        return ReportItem(
            id=without_surrogates(one.ident),
            title=title,
            flagged=bool(index.flagged[row]),
            facets=index.facets_of(row),
            numbers=index.numbers_of(row),
            sides=tuple(self._sides(one, finding, calls)),
            why=_why(one),
        )

    def _sides(
        self, one: MovedCase, finding: Finding, calls: Mapping[str, CallRecord]
    ) -> Iterator[Side]:
        """Each text once, the base ones first; marked against the first that it is held against."""
        contrast, cases = one.comparison.contrast, self._found.cases
        against = {pair.base: (contrast.base, pair.changed) for pair in reversed(one.pairs)}
        against |= {pair.changed: (contrast.changed, pair.base) for pair in reversed(one.pairs)}
        order = [*(pair.base for pair in one.pairs), *(pair.changed for pair in one.pairs)]
        several = len(one.pairs) > 1
        for variant in dict.fromkeys(order):
            level, other = against[variant]
            title = _TITLES.get(level, level)
            if several:
                title = f"{title} ({cases[variant].variant.arm})"
            yield self._side(title, cases[variant], cases[other], finding, calls)

    def _side(
        self,
        title: str,
        case: Case,
        other: Case,
        finding: Finding,
        calls: Mapping[str, CallRecord],
    ) -> Side:
        place = (case.variant.id, finding.form)
        asks, answered = self._found.asks.get(place, ()), self._found.answered.get(place, ())
        turns = list(_asked(case, other, asks, calls))
        for number, ask in enumerate(asks, 1):
            turns += _answer(ask, f" {number}" if len(asks) > 1 else "", calls)
        facts = [("Answers had", f"{len(answered):,} of {len(asks):,}")]
        shown = typical(answered, finding)
        facts += digest(shown) if shown else ()
        last = [calls.get(ask.keys[-1]) if ask.keys else None for ask in asks]
        facts += dict.fromkeys(fact for record in last for fact in ending(record))
        for ask in asks:
            for key in ask.keys:
                facts += call_facts(calls.get(key))
        return Side(title, tally(answered, finding), "plain", tuple(turns), (), tuple(facts))

    def row_of(self, ident: str) -> int | None:
        """The row of the case with this id."""
        return self._rows.get(without_surrogates(ident))

    def saying(self, words: Sequence[str]) -> Flags:
        """Shape (cases,): those in which every one of the words stands, in any case."""
        count = len(self._found.rows)
        return holding(self.items(range(count)), count, words)


def clinical_shelf(folder: RunFolder) -> Shelf:
    """All cases of a clinical run under all comparisons.

    Raises:
        RunError: the run cannot be read.
    """
    return shelf_of(ClinicalStock(folder))


def _asked(
    case: Case, other: Case, asks: Sequence[Ask], calls: Mapping[str, CallRecord]
) -> Iterator[Turn]:
    """What was sent first, with the words marked in which the other's case differs."""
    text = case.variant.text
    marks = _marks(case, other)
    record = next((calls[ask.keys[0]] for ask in asks if ask.keys and ask.keys[0] in calls), None)
    sent = record.call.prompt if record else None
    said = [(str(one.role), one.content) for one in sent.messages] if sent else []
    if sent is not None and sent.text is not None:
        said = [("prompt", sent.text)]
    if not any(text in what for _, what in said):
        yield turn("case", text, marks)
    for who, what in said:
        at = what.rfind(text)  # demonstrations stand before it
        yield turn(
            who, what, tuple((at + start, at + end) for start, end in marks) if at >= 0 else ()
        )


def _marks(case: Case, other: Case) -> tuple[tuple[int, int], ...]:
    marks, place = [], 0
    for piece in marked(case, other):
        end = place + len(piece.text)
        if piece.changed and piece.text:
            marks.append((place, end))
        place = end
    return tuple(marks)


def _answer(ask: Ask, number: str, calls: Mapping[str, CallRecord]) -> Iterator[Turn]:
    """One repeat's replies, hop by hop."""
    for hop, key in enumerate(ask.keys, 1):
        step = f", hop {hop}" if hop < len(ask.keys) else ""
        for said in reply_turns(calls.get(key)):
            yield Turn(f"{said.who}{number}{step}", said.text)


def _why(one: MovedCase) -> str:
    """Why the case counts as it does."""
    moved = one.moved()
    comparison = one.comparison
    unread = [
        finding.endpoint.title.lower()
        for name, finding in comparison.findings.items()
        if math.isnan(one.shifts[name])
    ]
    if moved:
        amounts = [
            f"{finding.endpoint.title.lower()} "
            f"{amount(one.shifts[finding.endpoint.name], finding.endpoint)}"
            for finding in moved
        ]
        said = f"The answers moved on {listed(amounts)}"
    elif len(unread) == len(comparison.findings):
        said = "The answers cannot be compared"
    else:
        said = "The answers did not move on any endpoint that was declared"
    if unread and len(unread) < len(comparison.findings):
        said += f"; nothing could be compared on {listed(unread)}"
    return f"{said}. {_verdict(one)}"


def _verdict(one: MovedCase) -> str:
    comparison = one.comparison
    if comparison.relevant:
        return "The attribute ought to matter in this case, so a difference may be medicine."
    shown = [finding for finding in comparison.findings.values() if finding.verdict == DIFFERENCE]
    if not shown:
        return "Over all cases the comparison shows no difference on an endpoint that was declared."
    names = listed([finding.endpoint.title.lower() for finding in shown])
    counts = "counts" if one.flagged else "does not count"
    return (
        f"Over all cases the comparison shows a difference on {names}; this case {counts} "
        "towards it."
    )
