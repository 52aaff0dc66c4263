"""A sweep from its plan to its end: cells start as budget and machine allow, and are seen through.

A cell that fails is begun again, and named where it goes on failing, while the others go on. Cells
of one paid model are never under way together, so that an answer that two of them want is paid for
once: the later cell finds it in the folder of the earlier one.
"""

from __future__ import annotations

import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from askew.models.dispatch import StopKind
from askew.models.runlock import RunLock
from askew.run.sweep_budget import Leases
from askew.run.sweep_cells import Cells, Outcome
from askew.run.sweep_plan import CellPlan, SweepPlan
from askew.run.sweep_progress import Counts, SweepProgress
from askew.runfile import BudgetTable
from askew.runfolder import cannot_make

DEATHS = 5  # of the worker of one cell, before the cell counts as failed
WAIT_SECONDS = 0.5  # for a cell to end, before it is looked what else there is to do
LONGEST_PAUSE = 30.0  # before a cell is begun again; the first pause is a second
_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
_STOPS = 2  # wishes to stop that cells hear of; the next one leaves them

Told = Callable[[SweepProgress], None]


class CellState(StrEnum):
    """How a cell has ended."""

    COMPLETE = "complete"
    INCOMPLETE = "incomplete"  # replies are missing
    FAILED = "failed"
    LEFT = "not finished"  # the sweep was stopped before


@dataclass(frozen=True, slots=True)
class CellEnd:
    """How one cell has ended.

    Attributes:
        plan: what it was to ask.
        state: how it has ended.
        why: what is missing, or what it failed with; "" for a complete one.
        starts: how often it was begun now.
    """

    plan: CellPlan
    state: CellState
    why: str
    starts: int


@dataclass(frozen=True, slots=True)
class SweepDone:
    """What came of a sweep.

    Attributes:
        plan: what it was to ask.
        cells: how each ended, in order.
        interrupted: whether it was asked to stop.
    """

    plan: SweepPlan
    cells: tuple[CellEnd, ...]
    interrupted: bool

    @property
    def out(self) -> Path:
        """The folder of all cells."""
        return self.plan.sweep.out

    @property
    def incomplete(self) -> bool:
        """Whether a cell is not complete."""
        return any(one.state is not CellState.COMPLETE for one in self.cells)


def run_sweep(planned: SweepPlan, cells: Cells, told: Told | None = None) -> SweepDone:
    """Run every cell; the same sweep started again goes on where it stopped.

    Args:
        planned: what to run.
        cells: where cells run.
        told: told how far it has come, about twice a second.

    Raises:
        RunError: another process runs the sweep, or its folder cannot be written to.
        KeyboardInterrupt: the third Ctrl-C; the first asks cells to stop, the second insists.
            SIGTERM and a terminal that hangs up count as one.
    """
    out = planned.sweep.out
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as trouble:
        raise cannot_make(out, trouble) from trouble
    lock = RunLock(out / "sweep")
    try:
        with _Wishes() as wishes:
            return _Sweeping(planned, cells, wishes, told).run()
    finally:
        lock.release()


class _Wishes:
    """Counts the signals that ask to stop; one that raised might come while a cell is settled."""

    def __init__(self) -> None:
        self.count = 0
        self._before: dict[int, Any] = {}

    def __enter__(self) -> _Wishes:
        if threading.current_thread() is threading.main_thread():
            for name in _SIGNALS:
                number = getattr(signal, name, None)  # Windows has no hang-up
                # `nohup` ignores the hang-up, and means it.
                if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._arrived)
        return self

    def __exit__(self, *trouble: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _arrived(self, number: int, frame: object) -> None:
        self.count += 1
        if self.count > _STOPS:
            raise KeyboardInterrupt


class _Sweeping:
    def __init__(
        self, planned: SweepPlan, cells: Cells, wishes: _Wishes, told: Told | None
    ) -> None:
        self._planned = planned
        self._cells = cells
        self._wishes = wishes
        self._told = told
        paths = [planned.sweep.out / one.cell.name for one in planned.cells]
        self._leases = Leases(planned.sweep.file.budget, paths)
        self._counts = Counts(paths, planned.new)
        self._waiting = list(range(len(paths)))
        self._under_way: set[int] = set()
        self._ends: dict[int, CellEnd] = {}
        self._leased: dict[int, BudgetTable] = {}  # the last lease of each
        self._short: dict[int, str] = {}  # cells whose last lease was spent, and what they said
        self._starts: Counter[int] = Counter()
        self._tries: Counter[int] = Counter()
        self._deaths: Counter[int] = Counter()
        self._not_before: dict[int, float] = {}
        self._stops = 0

    def run(self) -> SweepDone:
        """All cells."""
        while self._waiting or self._under_way:
            while self._stops < self._wishes.count:
                self._stops += 1
                self._cells.stop()
            if self._stops:
                self._leave_waiting()
            else:
                self._begin()
            for number, outcome in self._cells.ended(WAIT_SECONDS):
                self._end(number, outcome)
            self._tell()
            if self._waiting and not self._under_way and self._pausing():
                time.sleep(WAIT_SECONDS)
        ends = tuple(self._ends[number] for number in range(len(self._planned.cells)))
        self._tell()
        return SweepDone(self._planned, ends, self._stops > 0)

    def _begin(self) -> None:
        """Start what may start now, in order."""
        now = time.monotonic()
        for number in list(self._waiting):
            if len(self._under_way) >= self._planned.at_once:
                return
            if self._not_before.get(number, 0.0) > now or self._must_wait(number):
                continue
            one = self._planned.cells[number]
            lease = self._leases.lease(number, one.wish, one.cell.run.budget)
            if lease is None:
                return  # in order: a later cell must not take what this one waits for
            self._waiting.remove(number)
            if number in self._short and lease == self._leased[number]:
                self._leases.give_back(number)
                self._ended(number, CellState.INCOMPLETE, self._short[number])
                continue
            self._leased[number] = lease
            self._under_way.add(number)
            self._starts[number] += 1
            self._cells.begin(number, one.cell.run.model_copy(update={"budget": lease}))

    def _must_wait(self, number: int) -> bool:
        """Whether what is under way is in the way of a cell."""
        one = self._planned.cells[number]
        others = [self._planned.cells[other] for other in self._under_way]
        if self._planned.alone and one.here:
            return any(other.here for other in others)
        # By name and address: one model may stand in a sweep under two labels.
        asked = one.cell.run.target
        return one.paid and any(
            (asked.name, asked.base_url) == (there.name, there.base_url)
            for there in (other.cell.run.target for other in others)
        )

    def _pausing(self) -> bool:
        now = time.monotonic()
        return all(self._not_before.get(number, 0.0) > now for number in self._waiting)

    def _end(self, number: int, outcome: Outcome) -> None:
        self._under_way.remove(number)
        self._leases.give_back(number)
        self._counts.ended(number)
        if not outcome.incomplete:
            self._ended(number, CellState.COMPLETE, "")
        elif outcome.stopped == StopKind.INTERRUPTED or self._stops:
            self._ended(number, CellState.LEFT, outcome.message or _lacking(outcome))
        elif outcome.stopped == StopKind.BUDGET:
            # Another cell may give something back, or this one's lease was spent on repeated calls.
            self._short[number] = f"stopped (budget): {outcome.message}"
            self._waiting.append(number)
        elif self._may_begin_again(number, outcome):
            self._waiting.append(number)
        elif outcome.error:
            self._ended(number, CellState.FAILED, outcome.message)
        elif outcome.stopped:
            self._ended(number, CellState.FAILED, f"stopped ({outcome.stopped}): {outcome.message}")
        else:
            self._ended(number, CellState.INCOMPLETE, _lacking(outcome))

    def _may_begin_again(self, number: int, outcome: Outcome) -> bool:
        if outcome.died:
            self._deaths[number] += 1
            again = self._deaths[number] <= DEATHS
        else:
            self._tries[number] += 1
            worth_it = outcome.error or outcome.stopped is not None or outcome.failed > 0
            again = worth_it and self._tries[number] < self._planned.sweep.file.tries
        pause = min(2.0 ** (self._starts[number] - 1), LONGEST_PAUSE)
        self._not_before[number] = time.monotonic() + pause
        return again

    def _leave_waiting(self) -> None:
        for number in self._waiting:
            self._ended(number, CellState.LEFT, self._short.get(number, "not begun"))
        self._waiting.clear()

    def _ended(self, number: int, state: CellState, why: str) -> None:
        one = self._planned.cells[number]
        self._ends[number] = CellEnd(one, state, why, self._starts[number])

    def _tell(self) -> None:
        if self._told is None:
            return
        failed = [
            one.plan.cell.name for one in self._ends.values() if one.state is CellState.FAILED
        ]
        under_way = [self._planned.cells[number].cell.name for number in sorted(self._under_way)]
        self._told(
            self._counts.progress(
                sorted(self._under_way), len(self._ends), tuple(under_way), tuple(failed)
            )
        )


def _lacking(outcome: Outcome) -> str:
    """What a cell that ran to its end lacks."""
    counts: Sequence[tuple[int, str]] = (
        (outcome.failed, "calls failed"),
        (
            outcome.unknown,
            "calls were sent and their outcome is unknown (unknown = retry asks again)",
        ),
        (outcome.missing, "replies are missing"),
    )
    return ", ".join(f"{count:,} {words}" for count, words in counts if count)
