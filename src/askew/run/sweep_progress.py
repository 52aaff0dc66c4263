"""How far a sweep has come, read from the ledgers of its cells: whoever runs them, wherever."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from askew.errors import RunError
from askew.run.sweep_budget import NOTHING_TAKEN, Taken, taken

READ_SECONDS = 2.0  # between two looks at the ledgers, at least
# A large ledger takes its time to be read: looking may take a twentieth of it, at most.
LOOKS = 20


@dataclass(frozen=True, slots=True)
class SweepProgress:
    """How far a sweep has come.

    Attributes:
        cells_done: cells that have ended, however.
        cells: in all.
        calls_done: calls that have ended in this start.
        calls: that this start makes at most.
        calls_per_second: since the start.
        seconds_left: None before the first call has ended.
        cost: of all cells, earlier starts included; None where a price is missing.
        under_way: names of cells.
        failed: names of cells that are given up.
    """

    cells_done: int
    cells: int
    calls_done: int
    calls: int
    calls_per_second: float
    seconds_left: float | None
    cost: float | None
    under_way: tuple[str, ...]
    failed: tuple[str, ...]


class Counts:
    """Counts what cells have come to.

    Args:
        cells: their folders, by number.
        new: calls that this start makes at most.
    """

    def __init__(self, cells: Sequence[Path], new: int) -> None:
        self._cells = cells
        self._new = new
        self._now = [_read(cell) for cell in cells]
        # Calls that failed before are made again, and so they do not count as had.
        self._before = [one.ended - one.failed for one in self._now]
        self._began = time.monotonic()
        self._next = self._began

    def ended(self, cell: int) -> None:
        """A cell has ended: its ledger says for good what it came to."""
        self._now[cell] = _read(self._cells[cell])

    def progress(
        self,
        under_way: Sequence[int],
        cells_done: int,
        names: tuple[str, ...],
        failed: tuple[str, ...],
    ) -> SweepProgress:
        """How far it has come; ledgers of cells under way are read now and then.

        Args:
            under_way: the numbers of the cells that are.
            cells_done: cells that have ended.
            names: of those under way.
            failed: names of those given up.
        """
        now = time.monotonic()
        if now >= self._next:
            for cell in under_way:
                self._now[cell] = _read(self._cells[cell])
            took = time.monotonic() - now
            self._next = time.monotonic() + max(READ_SECONDS, LOOKS * took)
        done = sum(
            max(0, one.ended - before) for one, before in zip(self._now, self._before, strict=True)
        )
        seconds = now - self._began
        rate = done / seconds if seconds > 0 else 0.0
        left = max(0, self._new - done)
        nanos = [one.spending.total.money for one in self._now]
        known = [money for money in nanos if money is not None]
        return SweepProgress(
            cells_done=cells_done,
            cells=len(self._cells),
            calls_done=done,
            calls=self._new,
            calls_per_second=rate,
            seconds_left=left / rate if rate else None,
            cost=sum(known) if len(known) == len(nanos) else None,
            under_way=names,
            failed=failed,
        )


def _read(cell: Path) -> Taken:
    """What a ledger says; a damaged one is its cell's matter, which says so."""
    with suppress(RunError):
        return taken(cell)
    return NOTHING_TAKEN
