"""Where the cells of a sweep run: in threads of this process, several at once."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Protocol

from askew.errors import AskewError
from askew.models.interrupts import Interrupts
from askew.run.audit import execute, prepare
from askew.runfile import RunFile


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one start of a cell.

    Attributes:
        stopped: why it stopped early ("budget", "interrupted", …); None where it did not.
        message: why it stopped or failed, with the mend.
        failed: calls that failed.
        unknown: calls that were sent and whose outcome is not known.
        missing: replies that are missing otherwise, and audits that were not begun.
        error: whether it ended with an error, and not by itself.
        died: whether the process that it ran in died.
    """

    stopped: str | None = None
    message: str = ""
    failed: int = 0
    unknown: int = 0
    missing: int = 0
    error: bool = False
    died: bool = False

    @property
    def incomplete(self) -> bool:
        """Whether replies are missing."""
        return bool(self.stopped or self.failed or self.unknown or self.missing or self.error)


class Cells(Protocol):
    """Something that runs cells."""

    def begin(self, number: int, run: RunFile) -> None:
        """Start a cell, which is not under way.

        Args:
            number: by which it is told of.
            run: its run file, with what it may spend.
        """
        ...

    def ended(self, wait_seconds: float) -> list[tuple[int, Outcome]]:
        """The cells that have ended since this was last asked; waits a while for one."""
        ...

    def stop(self) -> None:
        """Ask all cells to stop: at first cleanly, the second time at once."""
        ...


async def run_cell(run: RunFile, interrupts: Interrupts) -> Outcome:
    """Run one cell to its end, in its folder; what goes wrong is told, and not raised.

    Args:
        run: its run file.
        interrupts: counts the wishes to stop.
    """
    try:
        done = await execute(prepare(run), interrupts=interrupts)
    except AskewError as trouble:
        return Outcome(error=True, message=str(trouble))
    except Exception as trouble:  # a fault of a model's code or of askew's: the others go on
        return Outcome(error=True, message=f"{type(trouble).__name__}: {trouble}")
    stops = [part for part in done.parts if part.stopped is not None]
    return Outcome(
        stopped=stops[0].stopped if stops else None,
        message=stops[0].message if stops else "",
        failed=sum(part.failed for part in done.parts),
        unknown=sum(part.unknown for part in done.parts),
        missing=sum(part.missing for part in done.parts) + len(done.left),
    )


class InThreads:
    """A thread a cell, each with an event loop of its own."""

    def __init__(self) -> None:
        self._ended: SimpleQueue[tuple[int, Outcome]] = SimpleQueue()
        self._lock = threading.Lock()
        self._under_way: dict[int, tuple[asyncio.AbstractEventLoop, Interrupts]] = {}
        self._stops = 0

    def begin(self, number: int, run: RunFile) -> None:
        """See `Cells.begin`."""
        # A daemon: the third Ctrl-C leaves cells to themselves, and the ledger loses nothing.
        work = threading.Thread(
            target=self._run, args=(number, run), name=f"cell {number}", daemon=True
        )
        work.start()

    def ended(self, wait_seconds: float) -> list[tuple[int, Outcome]]:
        """See `Cells.ended`."""
        found = []
        try:
            found.append(self._ended.get(timeout=wait_seconds))
            while True:
                found.append(self._ended.get_nowait())
        except Empty:
            return found

    def stop(self) -> None:
        """See `Cells.stop`."""
        with self._lock:
            self._stops += 1
            for loop, interrupts in self._under_way.values():
                loop.call_soon_threadsafe(interrupts.arrived)

    def _run(self, number: int, run: RunFile) -> None:
        try:
            outcome = asyncio.run(self._work(number, run))
        except BaseException as trouble:  # whoever waits for the cell has to be told
            outcome = Outcome(error=True, message=f"{type(trouble).__name__}: {trouble}")
        self._ended.put((number, outcome))

    async def _work(self, number: int, run: RunFile) -> Outcome:
        interrupts = Interrupts()
        with self._lock:
            self._under_way[number] = (asyncio.get_running_loop(), interrupts)
            interrupts.count = self._stops
        try:
            return await run_cell(run, interrupts)
        finally:
            with self._lock:
                del self._under_way[number]
