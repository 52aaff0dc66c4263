"""What a report of a run holds of its items: all of them, or the findings and a sample."""

from __future__ import annotations

import threading
from collections.abc import Callable

from askew.report.items import Shelf
from askew.report.items.index import ItemIndex, Stock, shelf_of
from askew.report.items.redacted import RedactedStock, redaction_of
from askew.report.which_audit import Audit, audits_of
from askew.runfolder import RunFolder
from askew.seeds import generator

MOST = 20_000  # items of one audit that a page holds all of
FINDINGS = 2_000  # of more items, the worst findings
SAMPLE = 2_000  # and so many others, drawn at random


class Stocks:
    """All items of a run, audit by audit; each audit's are read when they are first asked for.

    Several threads may ask at once.

    Args:
        folder: the run.

    Raises:
        RunError: its settings cannot be read.
    """

    def __init__(self, folder: RunFolder) -> None:
        self.folder = folder
        self.audits = audits_of(folder)
        self._read: dict[Audit, Stock] = {}
        self._lock = threading.Lock()

    def of(self, audit: Audit) -> Stock:
        """The items of one audit of the run.

        Raises:
            RunError: the run cannot be read.
        """
        with self._lock:
            if audit not in self._read:
                self._read[audit] = stock_of(self.folder, audit)
            return self._read[audit]

    def shown(self, audit: Audit) -> Stock:
        """The same as they may be shown: by the rules of the run's `[redact]` table.

        Raises:
            ConfigError: the rules cannot be used.
            RunError: the run cannot be read.
        """
        rules = redaction_of(self.folder)
        return self.of(audit) if rules is None else RedactedStock(self.of(audit), rules)


def shelves_of(
    folder: RunFolder | Stocks,
    *,
    most: int = MOST,
    findings: int = FINDINGS,
    sample: int = SAMPLE,
) -> tuple[Shelf, ...]:
    """The items of a run, one shelf an audit, in the order of the report.

    Args:
        folder: the run, or its items where they were read already.
        most: so many items of an audit are held whole.
        findings: of more, so many findings, the worst ones.
        sample: of more, so many of the items that are no findings, drawn by a fixed seed.

    Raises:
        RunError: the run cannot be read.
    """
    stocks = folder if isinstance(folder, Stocks) else Stocks(folder)
    return tuple(_limited(stocks.shown(audit), most, findings, sample) for audit in stocks.audits)


def stock_of(folder: RunFolder, audit: Audit) -> Stock:
    """All items of one audit of a run.

    Raises:
        RunError: the run cannot be read.
    """
    return _STOCKS[audit](folder)


def _limited(stock: Stock, most: int, findings: int, sample: int) -> Shelf:
    index = stock.index
    if len(index) <= most:
        return shelf_of(stock)
    flagged = int(index.flagged.sum())
    kept = index.worst[:flagged][:findings].tolist()
    others = index.worst[flagged:]
    luck = generator(0, "items of a report", index.audit).permutation(len(others))[:sample]
    rows = [*kept, *others[sorted(luck)].tolist()]
    return shelf_of(stock, rows, _note(index, flagged, len(kept), len(rows) - len(kept)))


def _note(index: ItemIndex, flagged: int, kept: int, sample: int) -> str:
    title, flag = index.title, index.flag
    others = len(index) - flagged
    return (
        f"This page holds {kept + sample:,} of {len(index):,} {title}: "
        f"{_part(kept, flagged, 'the worst')} {flag}, and "
        f"{_part(sample, others, 'drawn at random')} that are not. "
        "`askew serve` shows every one of them."
    )


def _part(held: int, of: int, how: str) -> str:
    return f"all {of:,}" if held == of else f"{held:,} of the {of:,} ({how})"


def _flex(folder: RunFolder) -> Stock:
    from askew.report.items.flex_shelf import FlexStock

    return FlexStock(folder)


def _clinical(folder: RunFolder) -> Stock:
    from askew.report.items.clinical_shelf import ClinicalStock

    return ClinicalStock(folder)


def _boundary(folder: RunFolder) -> Stock:
    from askew.report.items.boundary_shelf import BoundaryStock

    return BoundaryStock(folder)


_STOCKS: dict[Audit, Callable[[RunFolder], Stock]] = {
    "flex": _flex,
    "clinical": _clinical,
    "boundary": _boundary,
}
